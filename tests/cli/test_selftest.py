"""`selftest` as users meet it: counts, files, exit codes."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from command_line import run

import rspverify.selftest.run as runs
from rspverify.judge.judge import Judge
from rspverify.litmus.reader import read_program_file
from rspverify.render import progress
from rspverify.scheme.reader import read_scheme_file
from rspverify.soundness.machine_side import UnrolledExecutions

FEW = ("selftest", "--programs", "6", "--limit-states", "2000", "--limit-steps", "16", "-j", "1")


def test_json() -> None:
    result = run(*FEW, "--engines", "explicit,unroll", "--start", "4", "--format", "json")
    found = json.loads(result.stdout)
    assert (found["seed"], found["start"], found["asked"]) == (0, 4, 6)
    assert found["engines"] == ["unroll", "explicit"]
    assert found["total"]["pairs"] == 6
    assert found["disagreements"] == []
    devices = found["kinds"]["devices"].values()
    assert sum(each["pairs"] for each in devices) == 6


def forget(monkeypatch: pytest.MonkeyPatch) -> None:
    """A bug: unroll never ends with 1 in memory."""
    right = UnrolledExecutions.outcomes

    def wrong(self: Any) -> Any:
        return (it for it in right(self) if 1 not in dict(it.memory).values())

    monkeypatch.setattr(UnrolledExecutions, "outcomes", wrong)


def test_a_disagreement_is_written_down(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    forget(monkeypatch)
    folder = tmp_path / "found"
    result = run(*FEW, "--start", "24", "-o", str(folder))
    assert result.exit_code == 1
    files = sorted(each.name for each in folder.iterdir())
    assert files and len(files) % 2 == 0
    count = len(files) // 2
    assert result.stdout.endswith(f"{count} disagreement{'s' * (count > 1)}\n")
    test, scheme = folder / files[0], folder / files[1]
    number = int(test.stem.split("-")[2])
    assert (test.stem, scheme.suffix) == (scheme.stem, ".yaml")
    program = read_program_file(test)
    assert (program.title, len(program.operations)) == (test.stem, 1)
    assert len(read_scheme_file(scheme).rows) == 1
    command = f"rspverify selftest --seed 0 --start {number} --programs 1"
    assert command in result.stdout and command in test.read_text()
    again = run(*command.split()[1:], "-j", "1", "-o", str(tmp_path / "again"))
    assert again.exit_code == 1
    assert (tmp_path / "again" / test.name).read_text() == test.read_text()
    assert (tmp_path / "again" / scheme.name).read_text() == scheme.read_text()
    words = ("outcomes", str(test), "--scheme", str(scheme), "--engine")
    assert run(*words, "explicit").stdout != run(*words, "unroll").stdout, "as a user would look"


def test_interrupted(monkeypatch: pytest.MonkeyPatch) -> None:
    """What is decided so far is printed, and how to go on."""
    right = runs.Task.decide

    def decide(task: runs.Task) -> Any:
        if task.number == 13:
            raise KeyboardInterrupt
        return right(task)

    monkeypatch.setattr(runs.Task, "decide", decide)
    result = run(*FEW, "--start", "10")
    assert result.exit_code == 130
    assert result.stdout.startswith("3 pairs of seed 0 from number 10, ")
    assert "go on with --seed 0 --start 13 --programs 3" in result.stdout


def test_a_lost_worker(monkeypatch: pytest.MonkeyPatch) -> None:
    from rspverify.limits import LimitReached

    def lost(judge: object, tasks: object) -> Iterator[Any]:
        raise LimitReached("a worker process ended unexpectedly")
        yield

    monkeypatch.setattr(Judge, "run", lost)
    result = run(*FEW)
    assert result.exit_code == 3
    assert "a worker process ended unexpectedly" in result.stderr
    assert "interrupted after 0 of 6" in result.stdout


def test_progress(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(progress, "_BETWEEN_LINES", 0.01)
    result = run(*FEW, "--programs", "2", "--progress")
    assert "0 min: pairs: 1 of 2, " in result.stderr
    assert run(*FEW, "--programs", "2", "--no-progress").stderr == ""
