"""`report`: A site with all counterexamples; a report of one for a tracker."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rspverify.answers import SuiteReport
from rspverify.api.parameters import Question
from rspverify.commands.check import Check, CheckCommand, code_of, reports_of
from rspverify.files import make_folder, write
from rspverify.options import argument, option
from rspverify.soundness.settings import OPTIONS, Settings
from rspverify.source import InputError, Problem, require
from rspverify.terminal.command import EVERYWHERE, Command
from rspverify.terminal.ending import exit_code_of, first_of
from rspverify.terminal.output import Output, note

LISTED = "files.txt"
"""The file of a site that lists all its files, itself left out."""
_NAME = re.compile(r"(cases/)?[A-Za-z0-9+@_][A-Za-z0-9+@_.-]*")


def require_site(folder: str) -> None:
    """Raises InputError unless a folder is a site from before, empty, or not there yet."""
    place = Path(folder)
    if not folder or (place.exists() and not place.is_dir()):
        raise InputError([Problem(None, f"--site must be a folder, not {folder or 'nothing'}")])
    if place.is_dir() and not (place / LISTED).is_file() and any(place.iterdir()):
        message = f"--site {folder}: must be a site from before, an empty folder, or not exist"
        raise InputError([Problem(None, message, "nothing in it was touched")])


def write_site(folder: str, reports: Sequence[SuiteReport]) -> Mapping[str, str]:
    """Write the site of some reports, and remove what only the one before had; its files.

    Raises InputError.

    Until all is written the list has the files of both, so that a run that was ended half-way
    can be repeated.
    """
    from rspverify.render.site import CASES, site

    require_site(folder)
    place = Path(folder)
    before = _listed(place)
    make_folder(place / CASES)
    texts = dict(site(reports))
    write(place / LISTED, _lines({*before, *texts}))
    for name, text in texts.items():
        write(place / name, text)
    for name in before - texts.keys():
        with suppress(OSError):
            (place / name).unlink()
    write(place / LISTED, _lines(texts))
    return texts


def _lines(names: Iterable[str]) -> str:
    return "".join(f"{each}\n" for each in sorted(names))


def _listed(place: Path) -> set[str]:
    """The files of the site that is there; only names that one may have."""
    try:
        lines = (place / LISTED).read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        return set()
    here = (place / "cases").is_symlink()
    return {it for it in lines if _NAME.fullmatch(it) and not (here and "/" in it)}


@dataclass(frozen=True)
class ReportParameters(Question):
    """Which results, and how many of them have a page."""

    site: str | None = option(
        None,
        "Write the site to this folder: a new one, an empty one, or a site from before.",
        metavar="DIR",
    )
    bug: bool = option(
        False,
        "Of one SCHEME and one TEST: what a tracker is to be told, as Markdown. SCHEME may be a "
        "compiler, as amdgpu:gfx942.",
    )
    inputs: tuple[str, ...] = argument(
        "As of check: schemes and tests, or suites (default: litmus).",
        metavar="[SCHEME… [TEST…] | SUITE…]",
        completes="scheme or test",
        default=(),
    )
    settings: Settings = Settings()
    most: int = option(
        3_000, "So many results have a page of their own, counterexamples first.", least=0
    )
    broken: bool = option(False, "Only counterexamples have a page of their own.")

    def __post_init__(self) -> None:
        super().__post_init__()
        require((self.site is None) is self.bug, "one of --site and --bug must be given")
        if self.site is not None:
            require_site(self.site)


def report(asked: ReportParameters, output: Output) -> int:
    """Write a site of static pages: what `check` says as a matrix, and a page for each result
    that there is something to show of.

    UNSOUND and STUCK: the execution, step by step through the caches, and what the model forbids.
    SOUND: what outcomes are allowed, which of them the machine reaches, and how far the verdict
    reaches. A gallery has all counterexamples. The pages contact nothing, and open out of the
    folder. The same command goes on where it was ended, and decides nothing twice.

    Or, by --bug, all that a tracker is to be told of one result: the test, the IR and the assembly,
    the execution with the sentences of the compiler's document, and the smallest change of the
    table that mends it.

    Exit: as of check; 2 also where the site cannot be written.
    """
    return _bug(asked, output) if asked.site is None else _site(asked.site, asked, output)


def _bug(asked: ReportParameters, output: Output) -> int:
    from rspverify.api.explained import bug, explain
    from rspverify.corpus.inputs import split
    from rspverify.render.forms import write as written
    from rspverify.render.progress import working

    schemes, tests = split(asked.inputs)
    one = len(schemes) == 1 and len(tests or ()) == 1
    require(one, "--bug must come with one scheme and one test")
    assert tests is not None
    with working(f"{tests[0]} under {schemes[0]}", asked.settings.seconds):
        found = explain(schemes[0], tests[0], asked.settings)
        text = written("markdown", bug(found))
    output.write(text)
    return exit_code_of([found.explanation.result])


def _site(site: str, asked: ReportParameters, output: Output) -> int:
    from rspverify.render.document import Told
    from rspverify.render.progress import Stream

    given = CheckCommand(asked.inputs, settings=asked.settings)
    parts = given.parts(output.judge(asked.settings))
    note(parts[0].notes)

    def cases(part: Check, report: SuiteReport, before: int) -> SuiteReport:
        left = asked.most - before
        return part.details.with_cases(report, left, broken=asked.broken)

    with output.opened() as console:
        reports = reports_of(parts, Stream[Any, Any](console, Told(), text=False), cases)
    written = write_site(site, reports)
    many = sum(len(it.details) for it in reports)
    size = sum(len(text.encode()) for text in written.values())
    print(f"{len(written):,} files, {size / 1e6:.1f} MB, {many:,} results with a page")
    print(f"open {Path(site, 'index.html')}")
    return first_of([code_of(it) for it in reports])


COMMAND = Command(report, ReportParameters, takes=OPTIONS, also=EVERYWHERE)
