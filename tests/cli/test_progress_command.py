"""`progress`: its two forms, its exit codes, and what the cache keeps."""

from __future__ import annotations

import json
from functools import partial
from pathlib import Path
from typing import Any

import command_line
import pytest
from soundness.waiting import load, store, test
from typer.testing import CliRunner, Result

import rspverify
from rspverify.cli import app
from rspverify.source import Source

run = partial(command_line.run, "progress", "-j", "1")

FLAG = test((0, f"while ({load('x')} != 1);"), (1, store("x", 1)))


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Three tests: one that may hang, one that races, one with a lock of C11."""
    (tmp_path / "flag.litmus").write_text(FLAG)
    racy = test((0, "*d = 1;"), (1, "*d = 2;"), plain=["d"])
    (tmp_path / "racy.litmus").write_text(racy)
    (tmp_path / "mutex.litmus").write_text("C mutex\n{ }\nP0 (mutex* m) { lock(m); }\n")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def results(result: Result) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = json.loads(result.stdout)["results"]
    return found


def test_one_test_is_shown_with_the_execution_that_hangs(folder: Path) -> None:
    result = run("flag.litmus")
    assert result.exit_code == 1
    assert result.stdout.splitlines()[:7] == [
        "waiting (model opencl-rsp)",
        "  fair  LIVE     every execution that the scheduler allows comes to its end",
        "  obe   STUCK",
        "",
        "Under obe this execution hangs, 1 group occupant at once:",
        "  P0 goes round in the loop in line 3 for ever",
        "    R[DV,N](x, 0) is from W(x, 0) initial: nothing is later",
    ]
    assert "  group 1 never starts: P1 before line 4\n" in result.stdout
    assert result.stdout.endswith("rspverify draw --scheduler obe flag.litmus\n")


def test_of_many_there_is_a_table(folder: Path) -> None:
    result = run(".", "--scheduler", "fair", "--scheduler", "obe:2")
    assert result.exit_code == 3
    head, flag, mutex, why, racy, race, total = result.stdout.splitlines()
    assert head.split() == ["test", "fair", "obe:2"]
    assert flag.split() == ["flag.litmus", "LIVE", "LIVE"]
    assert mutex.split() == ["mutex.litmus", "UNKNOWN", "UNKNOWN"]
    assert why.startswith("  fair, obe:2: UNSUPPORTED: line 3: a mutex is ")
    assert racy.split() == ["racy.litmus", "UNKNOWN", "UNKNOWN"]
    assert race.startswith("  fair, obe:2: undefined behaviour: race (Dr): P0 line 3 ")
    assert total == "3 tests, 2 schedulers, model opencl-rsp, 2 LIVE, 4 UNKNOWN"


def test_the_document_has_the_hang(folder: Path) -> None:
    result = run("flag.litmus", "--scheduler", "hsa", "--format", "json")
    (found,) = results(result)
    assert result.exit_code == 1
    assert (found["test"], found["scheduler"], found["progress"]) == ("waiting", "hsa", "STUCK")
    assert found["hang"]["stuck"][0]["reads"][0]["write"]["access"] == "W(x, 0) initial"
    assert found["hang"]["stopped"] == [
        {"group": 1, "started": False, "threads": [{"thread": 1, "line": 4}]}
    ]


def test_exit_codes(folder: Path) -> None:
    (folder / "wrong.litmus").write_text("OpenCL wrong\n")
    assert run("flag.litmus", "--scheduler", "fair").exit_code == 0
    wrong = run("flag.litmus", "wrong.litmus", "--scheduler", "obe")
    assert wrong.exit_code == 2
    assert wrong.stderr.startswith("wrong.litmus:1:13: ")
    assert "flag.litmus" in wrong.stdout  # the others go on
    nobody = run("flag.litmus", "--scheduler", "obe:0", "--scheduler", "quick")
    assert nobody.exit_code == 2
    assert [line.split(" must ")[0] for line in nobody.stderr.splitlines()] == [
        "the N of obe:N",
        "a scheduler",
    ]
    assert run("flag.litmus", "--timeout", "0.001", "--no-cache").exit_code == 3


def test_answers_are_kept(folder: Path) -> None:
    """A change of the test, of the scheduler or of a setting is another question."""

    def cached(*words: str) -> list[bool]:
        return [each["cached"] for each in results(run("flag.litmus", *words, "--format", "json"))]

    assert (cached(), cached()) == ([False, False], [True, True])
    assert cached("--scheduler", "obe") == [True]
    assert cached("--scheduler", "obe", "--scheduler", "lobe") == [True, False]
    assert cached("--unroll", "3") == [False, False]
    assert cached("--no-cache") == [False, False]
    (folder / "flag.litmus").write_text(FLAG.replace("!= 1", "!= 2"))
    assert cached() == [False, False]


def test_a_text_is_asked_about() -> None:
    (answer,) = rspverify.progress(Source("<mine>", FLAG), ["obe:1"]).report().results
    assert answer.hang is not None and answer.hang.stuck[0].thread == 0


def test_a_hang_is_drawn(folder: Path) -> None:
    drawn = CliRunner().invoke(app, ["draw", "flag.litmus", "--scheduler", "obe"])
    assert "a consistent execution that hangs under obe" in drawn.stdout
    assert "P0 is stuck in the loop in line 3; group 1 never starts" in drawn.stdout
