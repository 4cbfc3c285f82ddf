"""Processes that are killed while a run goes on: what was finished is never lost."""

from __future__ import annotations

import json
import subprocess
import time
from pathlib import Path

import pytest
from caching import started

SCHEMES = ("schemes/original.yaml", "schemes/proposed.yaml")
TESTS = ("litmus/rsp/MP", "litmus/rsp/paper")

pytestmark = pytest.mark.skipif(
    not Path("/proc/self/task").is_dir(), reason="finds worker processes in /proc"
)


CHECK = ("check", *SCHEMES, "--engine", "explicit")


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
