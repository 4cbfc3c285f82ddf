"""Processes that are killed while a run goes on: what was finished is never lost."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import time
from pathlib import Path

import pytest
from caching import answers, started

SCHEMES = ("schemes/original.yaml", "schemes/proposed.yaml")
TESTS = ("litmus/rsp/MP", "litmus/rsp/paper")

pytestmark = pytest.mark.skipif(
    not Path("/proc/self/task").is_dir(), reason="finds worker processes in /proc"
)


CHECK = ("check", *SCHEMES, "--engine", "explicit")


def wait_for_answers(folder: Path, count: int, process: subprocess.Popen[str]) -> None:
    while answers(folder) < count:
        assert process.poll() is None, process.communicate()
        time.sleep(0.01)


def children(process: subprocess.Popen[str]) -> list[int]:
    text = Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text()
    return [int(each) for each in text.split()]


def goes_on(at_least: int) -> None:
    """The run again, to its end: it takes what is there, and decides the rest."""
    process = started(*CHECK, *TESTS, "--format", "json")
    output, errors = process.communicate(timeout=300)
    assert process.returncode == 1
    assert not errors
    results: list[dict[str, object]] = json.loads(output)["results"]
    assert at_least <= sum(bool(each["cached"]) for each in results) < len(results)
    assert not any(each["verdict"] == "UNKNOWN" for each in results)


def test_a_killed_run_loses_nothing_that_was_finished(cache_folder: Path) -> None:
    process = started(*CHECK, *TESTS, "--all", "-j", "2")
    assert process.stdout is not None
    rows = [process.stdout.readline() for _ in range(8)]
    workers = children(process)
    process.kill()
    rest, _ = process.communicate(timeout=60)
    assert "engine" not in rest, "it was at its end already"
    assert workers
    deadline = time.monotonic() + 30
    while any(Path(f"/proc/{each}").exists() for each in workers):
        assert time.monotonic() < deadline, "a worker outlives the run"
        time.sleep(0.02)
    finished = sum(
        line.split()[1:] != [] and line[:2] == "  " and line[2:3].isalnum() for line in rows[1:]
    )
    assert finished
    goes_on(at_least=2 * finished)


def test_a_killed_worker_loses_nothing_that_was_finished(cache_folder: Path) -> None:
    process = started(*CHECK, *TESTS, "-j", "2")
    wait_for_answers(cache_folder, 12, process)
    os.kill(children(process)[0], signal.SIGKILL)
    output, errors = process.communicate(timeout=60)
    assert "a worker process ended unexpectedly" in output
    assert "Traceback" not in errors
    kept = answers(cache_folder)
    assert kept >= 12
    goes_on(at_least=1)


def test_two_runs_at_once(cache_folder: Path) -> None:
    both = [started(*CHECK, "litmus/rsp/paper", "--format", "json") for _ in range(2)]
    outputs = [each.communicate(timeout=300) for each in both]
    assert [each.returncode for each in both] == [1, 1]
    assert [errors for _, errors in outputs] == ["", ""]
    first, second = ([*json.loads(output)["results"]] for output, _ in outputs)
    for each in (*first, *second):
        del each["cached"], each["seconds"]
    assert first == second
