"""Bugs of ours as users meet them: one line, a folder to report, exit code 70, and no verdict."""

from __future__ import annotations

import json
import shlex
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, ClassVar

import pytest
from command_line import document, run
from results import result

from rspverify.answers import Held
from rspverify.litmus import reader
from rspverify.litmus.program import Program
from rspverify.relation.expression import Expression
from rspverify.relation.expression import Test as Question
from rspverify.relation.terms import Terms
from rspverify.render import listings
from rspverify.smt.term import FALSE
from rspverify.soundness.machine_side import MachineExecutions, MachineSide
from rspverify.source import Source
from rspverify.verdict import Outcome

ROOT = Path(__file__).resolve().parents[2]
ORIGINAL, PROPOSED = (str(ROOT / f"schemes/{name}.yaml") for name in ("original", "proposed"))
FIG4, EX1, EX3 = (str(ROOT / f"litmus/rsp/paper/{name}.litmus") for name in ("Fig4", "Ex1", "Ex3"))


@pytest.fixture(autouse=True)
def _in_a_folder_of_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "work").mkdir()
    monkeypatch.chdir(tmp_path / "work")


@pytest.fixture
def lying_engine(monkeypatch: pytest.MonkeyPatch) -> None:
    """An engine that reports the outcome of Fig. 4, whatever the machine does."""

    class Liar(MachineExecutions):
        within: ClassVar[dict[str, int]] = {}

        def completes(self) -> bool:
            return True

        def outcomes(self) -> Iterator[Outcome]:
            yield Outcome(((2, 1), (3, 0)), (("x", 42), ("y", 1)))

        def exclude(self, outcome: Outcome) -> None:
            pass

    monkeypatch.setattr(MachineSide, "executions", lambda *_, **__: Liar())


def lie_about_narf(monkeypatch: pytest.MonkeyPatch) -> None:
    """An encoding that thinks Narf never holds, so that the model allows nothing."""
    real = Terms.holds

    def holds(algebra: Terms, test: Question, expression: Expression, names: Any) -> Any:
        return FALSE if "nal" in str(expression) else real(algebra, test, expression, names)

    monkeypatch.setattr(Terms, "holds", holds)


@pytest.fixture
def lying_model(monkeypatch: pytest.MonkeyPatch) -> None:
    lie_about_narf(monkeypatch)


def report() -> Path:
    """The one report in this folder."""
    (found,) = Path().iterdir()
    assert found.name.startswith("rspverify-report-")
    return found


@pytest.mark.usefixtures("lying_engine")
def test_check_of_an_engine_that_lies() -> None:
    result = run("check", PROPOSED, FIG4)
    assert result.exit_code == 70
    lines = result.stdout.splitlines()
    assert lines[2].split() == ["Fig4", "UNKNOWN"]
    assert lines[3].strip() == (
        "internal error: an engine reports an outcome that no other engine reaches; "
        f"please report it with {report()}"
    )
    assert "UNSOUND" not in result.output
    assert "Traceback" not in result.output
    readme = (report() / "README.md").read_text()
    assert "    1:r0=1 1:r1=0 x=42 y=1" in readme


@pytest.mark.usefixtures("lying_model")
def test_check_of_a_model_that_lies() -> None:
    (found,) = document("check", PROPOSED, FIG4, code=70)["results"]
    assert found["verdict"] == "UNKNOWN"
    assert found["outcome"] is None
    assert found["reason"].startswith("internal error: ")
    assert found["internal"] == {
        "message": "the outcome of a counterexample is that of a consistent execution after all",
        "bundle": str(report()),
    }
    assert {each.name for each in report().iterdir()} >= {"Fig4.litmus", "proposed.yaml", "model"}


def test_the_report_s_command_shows_it_again(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    with monkeypatch.context() as lying:
        lie_about_narf(lying)
        assert run("check", ORIGINAL, FIG4, "--l2", "real").exit_code == 70
        place = report()
        command = json.loads((place / "error.json").read_text())["command"]
        monkeypatch.chdir(place)
        again = run(*shlex.split(command)[1:])
        assert again.exit_code == 70
        assert "internal error: the outcome of a counterexample is that of" in again.stdout
    right = run(*shlex.split(command)[1:])
    assert right.exit_code == 1
    assert "UNSOUND" in right.stdout
    assert "L2 d0" in right.stdout


def test_other_tests_go_on(monkeypatch: pytest.MonkeyPatch) -> None:
    real = reader.read_program

    def fails(source: Source, unroll: int, mixed: bool, **given: bool) -> Program:
        if source.name.endswith("Ex1.litmus"):
            raise AssertionError("something that was never to happen")
        return real(source, unroll, mixed, **given)

    monkeypatch.setattr("rspverify.litmus.reader.read_program", fails)
    result = run("check", ORIGINAL, EX1, EX3, FIG4)
    assert result.exit_code == 70
    words = [line.split()[1] for line in result.stdout.splitlines() if line[:4] in ("  Ex", "  Fi")]
    assert words == ["UNKNOWN", "RACY", "UNSOUND"]
    assert "internal error: AssertionError: something that was never to happen" in result.stdout


def test_internal_errors_are_worse_than_all_else() -> None:
    from rspverify.answers import Internal
    from rspverify.terminal.ending import exit_code_of
    from rspverify.verdict import Word

    bad = result(Word.UNKNOWN, internal=Internal("no", None))
    others = [result(word) for word in Word]
    assert exit_code_of(others) == 2
    assert exit_code_of([*others, bad]) == 70
    assert exit_code_of([bad], Held("expected.yaml", ())) == 70


@pytest.mark.usefixtures("lying_model")
def test_expectations_are_neither_met_nor_written(tmp_path: Path) -> None:
    expected = tmp_path / "expected.yaml"
    expected.write_text("verdicts: {}\n")
    assert run("check", PROPOSED, FIG4, "--expect", str(expected), "--refresh").exit_code == 70
    assert expected.read_text() == "verdicts: {}\n"
    assert run("check", PROPOSED, FIG4, "--expect", str(expected)).exit_code == 70


@pytest.mark.usefixtures("lying_model")
def test_explain() -> None:
    result = run("explain", PROPOSED, FIG4)
    assert result.exit_code == 70
    assert "Fig4 under proposed (model opencl-rsp): UNKNOWN" in result.stdout
    assert f"please report it with {report()}" in " ".join(result.stdout.split())


@pytest.mark.parametrize(
    ("words", "broken", "again"),
    [
        (["explain", PROPOSED, FIG4], "judge.explain._threads", "proposed.yaml Fig4.litmus"),
        (
            ["outcomes", FIG4, "--scheme", ORIGINAL],
            "soundness.outcomes.Questions",
            "Fig4.litmus --scheme original.yaml",
        ),
        (["list"], "render.listings.names", ""),
        (["show", ORIGINAL], "render.listings.scheme", ""),
    ],
)
def test_where_nothing_can_be_shown(
    words: list[str], broken: str, again: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of `explain` the verdict is there, and showing what it rests on goes wrong."""
    monkeypatch.setattr(f"rspverify.{broken}", lambda *_: 1 / 0)
    result = run(*words)
    assert (result.exit_code, result.stdout) == (70, "")
    assert result.stderr == (
        f"internal error: ZeroDivisionError: division by zero; please report it with {report()}\n"
    )
    assert f"    rspverify {words[0]} {again}".rstrip() in (report() / "README.md").read_text()
    assert all((report() / it).is_file() for it in again.split() if it.endswith(".litmus"))


def test_not_even_a_report(monkeypatch: pytest.MonkeyPatch) -> None:
    """A broken installation: what would write the report cannot be loaded."""
    monkeypatch.setitem(sys.modules, "rspverify.judge.incident", None)
    monkeypatch.setattr(listings, "names", lambda *_: 1 / 0)
    result = run("list")
    assert result.exit_code == 70
    assert result.stderr == (
        "internal error: ZeroDivisionError: division by zero; please report it\n"
    )


def test_a_lack_of_memory_is_no_bug(monkeypatch: pytest.MonkeyPatch) -> None:
    def check(*_: Any) -> None:
        raise MemoryError

    monkeypatch.setattr("rspverify.soundness.check.check", check)
    result = run("check", PROPOSED, FIG4)
    assert result.exit_code == 3
    assert "out of memory" in result.stdout
    assert list(Path().iterdir()) == []
