"""An interrupt is never lost, wherever it hits, nor is SIGTERM."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from command_line import document

IN_A_DESTRUCTOR = """
import time
from rspverify.cli import Interrupts

class Hit:
    def __del__(self):
        raise KeyboardInterrupt

interrupts = Interrupts()
hit = Hit()
try:
    del hit
    time.sleep(5)
except KeyboardInterrupt:
    print("interrupted")
"""
"""A destructor is hit by an interrupt, as one of the solver's library may be."""


def test_an_interrupt_in_a_destructor_is_raised_again() -> None:
    ended = subprocess.run([sys.executable, "-c", IN_A_DESTRUCTOR], capture_output=True, text=True)
    assert (ended.stdout, ended.stderr) == ("interrupted\n", "")


SMALL_QUESTIONS = """
import os, sys, threading, time
from random import Random
from rspverify.cli import Interrupts
from rspverify.smt.solver import Solver
from rspverify.smt.term import any_of, variable

number, random, found = int(sys.argv[1]), Random(1), 0
Interrupts()
solver, named = Solver(), [variable(f"{each}") for each in range(6)]
solver.add(any_of(named))
for _ in range(200):
    end = time.monotonic() + 1
    try:
        threading.Timer(random.uniform(0.002, 0.008), os.kill, (os.getpid(), number)).start()
        while time.monotonic() < end:
            solver.find([random.choice(named)])
    except KeyboardInterrupt:
        found += 1
print(found)
"""
"""Interrupts that come while small questions are asked, one after the other."""


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_no_interrupt_is_lost_as_the_solver_finds_its_answer(number: int) -> None:
    """When the solver heeded Ctrl-C itself, 3 in 100 were."""
    command = [sys.executable, "-c", SMALL_QUESTIONS, str(int(number))]
    ended = subprocess.run(command, capture_output=True, text=True, timeout=100)
    assert ended.stdout == "200\n"


AT_WORK = """
import sys
from itertools import combinations
from rspverify.cli import Interrupts
from rspverify.smt.solver import Solver
from rspverify.smt.term import any_of, variable

interrupts = Interrupts()
solver, places = Solver(), 14
doves = [[variable(f"{n} {m}") for m in range(places)] for n in range(places + 1)]
for each in doves:
    solver.add(any_of(each))
for one, other in combinations(doves, 2):
    solver.add(*(~(a & b) for a, b in zip(one, other)))
print("at work", flush=True)
try:
    solver.find()
except KeyboardInterrupt:
    print("interrupted", interrupts.terminated)
"""
"""A question that takes the solver for ever: more doves than places."""


def stopped(
    command: list[str], number: int, cue: str, *, group: bool = False, told: str = "stdout"
) -> tuple[int, str, str]:
    """How a process ends that gets a signal soon after it said a line with this cue.

    group: whether all of its processes get it. told: where it says the line.
    """
    process = subprocess.Popen(
        command,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONUNBUFFERED": "1"},
        start_new_session=True,
    )
    said = getattr(process, told)
    while cue not in (line := said.readline()):
        assert line, process.communicate()
    time.sleep(0.2)
    try:
        (os.killpg if group else os.kill)(process.pid, number)
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
    code, output, _ = stopped(command, number, "at work")
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
    ended, rest, errors = stopped(command, number, "2+2W+", group=True)
    assert (ended, errors) == (code, "")
    assert "interrupted: " in rest and "verdicts decided, the rest not" in rest
    assert f"every verdict that was decided is as in {tests}/expected.yaml" in rest
    assert "worker process" not in rest


@pytest.mark.usefixtures("in_repository")
def test_what_is_compared_is_shown_and_kept() -> None:
    command = [sys.executable, "-m", "rspverify", "compare", "original", "proposed", "litmus/rsp"]
    ended, rest, errors = stopped([*command, "-j", "1"], signal.SIGINT, "2+2W")
    assert ended == 130
    assert "interrupted: " in rest and "tests compared, the rest not" in rest
    assert "Traceback" not in errors
    again = document("compare", "original", "proposed", "litmus/rsp/2+2W")
    assert again["tests"][0]["old"]["cached"] is True


@pytest.mark.usefixtures("in_repository")
def test_repair_says_what_is_known_at_sigterm() -> None:
    command = [sys.executable, "-m", "rspverify", "repair", "original", "--forbid", "LK_L2,UL_L2"]
    command += ["litmus/rsp/RMW", "-j", "1"]
    ended, output, errors = stopped(command, signal.SIGTERM, "may change", told="stderr")
    assert ended == 143
    assert "interrupted: not finished; " in output
    assert "Traceback" not in errors
