"""What a command line says besides the question: forms and files of the answer, who decides it."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterable, Mapping
from contextlib import AbstractContextManager, ExitStack
from dataclasses import dataclass, field
from functools import cache
from typing import TYPE_CHECKING

from rspverify.options import option
from rspverify.source import Problem, Problems
from rspverify.terminal.ending import tell

if TYPE_CHECKING:
    from rich.console import Console

    from rspverify.api.judges import Judge
    from rspverify.render.document import Block
    from rspverify.soundness.settings import Settings


@dataclass(frozen=True)
class Output:
    """How an answer is given.

    files: the form of each report that is written besides. started: ends what was started for it.
    """

    format: str = "text"
    report: tuple[str, ...] = option(
        (),
        "Also write this form, as of --format, to this file. As often as wanted.",
        metavar="FORM=FILE",
    )
    output: str | None = option(
        None, "Write to this file, not to the terminal.", name="-o --output"
    )
    jobs: int | None = option(None, "Processes. Default: one per core.", name="-j --jobs", least=1)
    cluster: str | None = option(
        None,
        "Run on the workers of this scheduler of dask.distributed, or of local:N.",
        metavar="ADDRESS",
    )
    no_cache: bool = option(False, "Decide everything anew, and keep nothing.")
    files: Mapping[str, str] = field(default_factory=dict)
    started: ExitStack = field(default_factory=ExitStack)

    @property
    def text(self) -> bool:
        """Whether the answer is for people."""
        return self.format == "text"

    def judge(self, settings: Settings | None = None) -> Judge:
        """Who decides, until the command ends. Raises InputError."""
        from rspverify.api.judges import judge_of

        judge = judge_of(
            self.jobs,
            cluster=self.cluster,
            cache=not self.no_cache,
            settings=settings,
            warn=warn_once(),
        )
        self.started.callback(judge.end)
        return judge

    def opened(self, *, page: bool = False) -> AbstractContextManager[Console]:
        """A console on the file, or on the terminal. page: what is laid out is to be read."""
        from rspverify.render.console import opened

        return opened(self.output, page=page)

    def print(self, blocks: Iterable[Block]) -> None:
        """Print all of it."""
        from rspverify.render.forms.text import show

        with self.opened(page=True) as console:
            show(blocks, console)

    def write(self, text: str) -> None:
        """Write a text as it is."""
        with self.opened() as console:
            console.file.write(text)

    def write_reports(self, form: Callable[[str], str]) -> list[Problem]:
        """Write each form to its file, whole or not at all; what could not be written is said."""
        from rspverify.files import write

        problems = Problems()
        for file, name in self.files.items():
            with problems:
                write(file, form(name))
        tell(problems)
        return problems


def warn_once() -> Callable[[str], None]:
    """Says a warning on standard error, the same one only once."""
    return cache(lambda message: print(f"warning: {message}", file=sys.stderr))


def note(notes: Iterable[str]) -> None:
    """Says on standard error what should be known of an answer: what counts for nothing, or is left
    out."""
    for note in notes:
        print(f"note: {note}", file=sys.stderr)


def reports_meant(
    given: Iterable[str], taken: Iterable[str], forms: Iterable[str]
) -> dict[str, str]:
    """The form that is to be written to each file, from `FORM=FILE`.

    taken: files that are read, or written otherwise. Raises InputError with all that is wrong.
    """
    places = {os.path.realpath(each) for each in taken}
    known = list(forms)
    found: dict[str, str] = {}
    problems = Problems()
    for each in given:
        name, _, file = each.partition("=")
        place = os.path.realpath(file)
        if name not in known or not file:
            message = f"--report must be FORM=FILE, FORM one of {', '.join(known)}, not {each}"
            problems.append(Problem(None, message))
        elif not os.path.isdir(os.path.dirname(place)):
            message = f"--report {each}: the folder of the file must exist"
            problems.append(Problem(None, message))
        elif place in places:
            message = f"--report {each}: the file must be named once, and be no input"
            problems.append(Problem(None, message))
        else:
            found[file] = name
        places.add(place)
    problems.tell()
    return found
