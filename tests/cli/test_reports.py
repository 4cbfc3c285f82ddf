"""`check --format` and `--report`: several forms of one run, each whole or not at all."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Generator
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import command_line
import pytest

from rspverify.commands.check import FORMS
from rspverify.judge.run import Run
from rspverify.limits import LimitReached

pytestmark = pytest.mark.usefixtures("in_repository", "one_cache", "in_one_process")
run = partial(command_line.run, "check")

ORIGINAL, PROPOSED = "schemes/original.yaml", "schemes/proposed.yaml"
FIG4, EX3 = "litmus/rsp/paper/Fig4.litmus", "litmus/rsp/paper/Ex3.litmus"
SUITE = "litmus/all-orders"


def reports(folder: Path) -> list[str]:
    return [word for form in FORMS for word in ("--report", f"{form}={folder / form}")]


def without_times(text: str) -> str:
    """Nor the command that goes on from here, which is for those who are here."""
    text = re.sub(r"^to see why: .*\n", "", text, flags=re.MULTILINE)
    return re.sub(r'("seconds": |time=")[\d.]+', r"\1…", re.sub(r"\d+\.\d s\b", "… s", text))


@pytest.mark.parametrize("given", [(ORIGINAL, PROPOSED, FIG4, EX3), (SUITE,)])
def test_a_report_is_what_the_format_prints(given: tuple[str, ...], tmp_path: Path) -> None:
    run(*given)  # from here on all is from the cache
    result = run(*given, *reports(tmp_path))
    assert without_times((tmp_path / "text").read_text()) == without_times(result.stdout)
    for form in FORMS:
        printed = run(*given, "--format", form, f"--report=sarif={tmp_path / 'again'}")
        assert printed.exit_code == result.exit_code
        assert without_times(printed.stdout) == without_times((tmp_path / form).read_text())


def test_every_form_is_documented() -> None:
    text = Path("docs/check.md").read_text()
    assert {*re.findall(r"^\| `(\w+)` \| ", text.partition("| form |")[2], re.M)} == {*FORMS}


def test_text_in_a_file_has_no_colours(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """CI often forces them for its own log."""
    monkeypatch.setenv("FORCE_COLOR", "1")
    place = tmp_path / "text"
    run(ORIGINAL, FIG4, "--report", f"text={place}")
    assert "UNSOUND" in place.read_text() and "\x1b" not in place.read_text()


def test_rows_at_fault_are_asked_for_only_where_they_are_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Not of a verdict that is as expected, either."""
    monkeypatch.setattr("rspverify.drawing.details.faults", lambda *_: 1 / 0)
    others = [
        f"--report={form}={tmp_path / form}" for form in ("text", "json", "junit", "markdown")
    ]
    assert run(ORIGINAL, FIG4, *others).exit_code == 1
    assert "at fault" not in (tmp_path / "junit").read_text()
    held = (ORIGINAL, FIG4, "--expect", "litmus/rsp/expected.yaml")
    assert run(*held, "--format", "sarif").exit_code == 0
    assert run(PROPOSED, FIG4, "--format", "sarif").exit_code == 0


# ---- what is wrong with a --report ---------------------------------------------------------------


def test_a_report_that_cannot_be_written_loses_nothing_else(tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    given = (f"sarif={tmp_path / 'folder'}", f"junit={tmp_path / 'junit'}")
    result = run(PROPOSED, FIG4, *(f"--report={each}" for each in given))
    assert result.exit_code == 2
    assert f"{tmp_path / 'folder'}: must be a file to write to" in result.stderr
    assert "1 SOUND" in result.stdout
    assert ElementTree.parse(tmp_path / "junit").getroot().get("tests") == "1"
    assert sorted(each.name for each in tmp_path.iterdir()) == ["folder", "junit"]


# ---- after an interrupt, and at a limit ----------------------------------------------------------


def stopping_after(taken: int, error: BaseException) -> Callable[..., Generator[Any, None, None]]:
    """As `Run.results`, but that it ends so after some results."""
    results = Run.results

    def some(self: Run, files: Any) -> Generator[Any, None, None]:
        yield from islice(results(self, files), taken)
        raise error

    return some


@pytest.mark.parametrize(
    ("error", "code", "words"),
    [
        (KeyboardInterrupt(), 130, "interrupted: 1 of 4 verdicts decided, the rest not"),
        (LimitReached("out of memory"), 3, "out of memory: 1 of 4 verdicts decided, the rest not"),
    ],
)
def test_reports_have_what_is_known(
    error: BaseException, code: int, words: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Run, "results", stopping_after(1, error))
    result = run(PROPOSED, ORIGINAL, FIG4, EX3, *reports(tmp_path))
    assert result.exit_code == code
    for form in FORMS.keys() - {"json"}:
        assert words in (tmp_path / form).read_text(), form
    assert len(json.loads((tmp_path / "json").read_text())["results"]) == 1


@pytest.mark.parametrize(("what", "blamed"), [("faults", False), ("details", True)])
def test_an_interrupt_while_reasons_are_asked(
    what: str, blamed: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Every verdict is there, and the reasons that are known by then."""

    def asked(*_: Any, **__: Any) -> Generator[Any, None, None]:
        raise KeyboardInterrupt
        yield

    monkeypatch.setattr(f"rspverify.drawing.details.{what}", asked)
    result = run(ORIGINAL, FIG4, *reports(tmp_path))
    assert result.exit_code == 130
    for form in ("markdown", "html"):
        text = (tmp_path / form).read_text()
        assert "interrupted after all 1 verdicts" in text
        assert ("row 2, load DV,N" in text) == blamed
    assert json.loads((tmp_path / "json").read_text())["summary"]["UNSOUND"] == 1
    place = "schemes/original.yaml,line=12" if blamed else FIG4
    assert f"::error file={place}" in (tmp_path / "github").read_text()
