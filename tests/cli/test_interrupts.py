"""An interrupt is never lost, wherever it hits, nor is SIGTERM."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from rspverify.cli import _silently


class _Hit:
    """Its destructor is hit by an interrupt, as one of the solver's library may be."""

    def __del__(self) -> None:
        raise KeyboardInterrupt


def test_an_interrupt_in_a_destructor_is_raised_again(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "unraisablehook", _silently)
    hit = _Hit()
    with pytest.raises(KeyboardInterrupt):
        del hit
        time.sleep(5)
    assert "Traceback" not in capsys.readouterr().err


AT_WORK = """
import sys
from itertools import combinations
from rspverify.cli import Termination
from rspverify.smt.solver import Solver
from rspverify.smt.term import any_of, variable

solver, places = Solver(), 14
doves = [[variable(f"{n} {m}") for m in range(places)] for n in range(places + 1)]
for each in doves:
    solver.add(any_of(each))
for one, other in combinations(doves, 2):
    solver.add(*(~(a & b) for a, b in zip(one, other)))
termination = Termination()
print("at work", flush=True)
try:
    solver.find()
except KeyboardInterrupt:
    print("interrupted", termination.came)
"""
"""A question that takes the solver for ever: more doves than places."""


def stopped(command: list[str], number: int, *, group: bool, lines: int) -> tuple[int, str, str]:
    """How a process ends that gets a signal after so many lines."""
    process = subprocess.Popen(
        command,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONUNBUFFERED": "1"},
        start_new_session=True,
    )
    assert process.stdout is not None
    for _ in range(lines):
        process.stdout.readline()
    time.sleep(0.2)
    if group:
        os.killpg(process.pid, number)
    else:
        process.send_signal(number)
    try:
        rest, errors = process.communicate(timeout=60)
    finally:
        process.kill()
    return process.returncode, rest, errors


@pytest.mark.parametrize(
    ("number", "background"),
    [(signal.SIGINT, False), (signal.SIGTERM, False), (signal.SIGTERM, True)],
)
def test_the_solver_is_interrupted(number: int, background: bool) -> None:
    """Also where Ctrl-C is ignored, as a shell has it for what it starts with &."""
    before = "import signal; signal.signal(signal.SIGINT, signal.SIG_IGN)" if background else ""
    command = [sys.executable, "-c", before + AT_WORK]
    code, output, _ = stopped(command, number, group=False, lines=1)
    assert (code, output) == (0, f"interrupted {number == signal.SIGTERM}\n")


@pytest.mark.parametrize(
    ("number", "code", "jobs"), [(signal.SIGTERM, 143, "2"), (signal.SIGINT, 130, "1")]
)
def test_what_is_known_is_shown(number: int, code: int, jobs: str, root: Path) -> None:
    """All processes are sent it, as by `timeout`: workers leave it to their parent."""
    schemes = [str(root / "schemes" / f"{each}.yaml") for each in ("original", "proposed")]
    tests = root / "litmus/rsp"
    command = [sys.executable, "-m", "rspverify", "check", *schemes, str(tests), "--all"]
    command += ["--expect", str(tests / "expected.yaml"), "-j", jobs]
    ended, rest, errors = stopped(command, number, group=True, lines=3)
    assert (ended, errors) == (code, "")
    assert "interrupted: " in rest and "verdicts decided, the rest not" in rest
    assert f"every verdict that was decided is as in {tests}/expected.yaml" in rest
    assert "worker process" not in rest


def test_repair_says_what_is_known_at_sigterm(root: Path) -> None:
    scheme = str(root / "schemes" / "original.yaml")
    command = [sys.executable, "-m", "rspverify", "repair", scheme, "--forbid", "LK_L2,UL_L2"]
    command += ["litmus/rsp/MP", "litmus/rsp/RMW", "-j", "1"]
    process = subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=root
    )
    assert process.stderr is not None
    while "may change" not in process.stderr.readline():  # how many candidates there are
        assert process.poll() is None
    time.sleep(0.5)
    process.send_signal(signal.SIGTERM)
    output, errors = process.communicate(timeout=60)
    assert process.returncode == 143
    assert "interrupted: not finished; " in output
    assert "Traceback" not in errors
