"""Limits hold wherever the time goes, and leave no trace of themselves."""

import re
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from rspverify import limits
from rspverify.architecture.reader import read_architecture
from rspverify.assembly.program import ThreadId
from rspverify.axiomatic.cat import load_model
from rspverify.axiomatic.question import Questions
from rspverify.limits import LimitReached, Limits
from rspverify.machine.placements import placements
from rspverify.soundness.settings import DEFAULT_MODEL, Settings
from rspverify.source import Source


def busy(seconds: float) -> None:
    """Look at no clock of ours."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        pass


def test_who_does_not_look_at_the_clock_is_interrupted() -> None:
    began = time.monotonic()
    with pytest.raises(LimitReached, match=r"^timeout of 0\.1 s$"), Limits(0.1).enforced():
        busy(20)
    assert time.monotonic() - began < 10
    assert not Limits(1).are_enforced


def test_an_alarm_of_somebody_else_is_there_again() -> None:
    rung: list[int] = []
    before = signal.signal(signal.SIGALRM, lambda *_: rung.append(1))
    try:
        signal.setitimer(signal.ITIMER_REAL, 30)
        with Limits(60).enforced(), Limits(50).enforced():
            busy(0.3)
        assert 1 < signal.setitimer(signal.ITIMER_REAL, 0)[0] <= 30
        with Limits(None).enforced():
            busy(0)
        assert not rung
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def test_what_is_asked_within_limits_is_within_them_too() -> None:
    with Limits(60).enforced():
        left = Limits().remaining()
        assert left is not None and left <= 60
        assert (Limits(5).remaining() or 60) <= 5
    assert Limits().remaining() is None


def test_looser_limits_inside_do_not_loosen_those_around_them() -> None:
    message = r"^timeout of 0\.1 s$"
    for looser in (Limits(60), Limits(None)):
        with pytest.raises(LimitReached, match=message), Limits(0.1).enforced(), looser.enforced():
            left = Limits(5).remaining()
            assert left is not None and left <= 0.1
            busy(20)


def test_in_another_thread_the_clock_is_looked_at() -> None:
    told: list[str] = []

    def work() -> None:
        try:
            with Limits(0.01).enforced():
                time.sleep(0.05)
                Limits().remaining()
        except LimitReached as limit:
            told.append(str(limit))

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert told == ["timeout of 0.01 s"]


def test_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    used = iter(range(0, 2**40, 2**30))
    monkeypatch.setattr(limits, "_resident", lambda: next(used))
    message = r"^more than 2 GiB of memory \(--timeout 0 for more\)$"
    with pytest.raises(LimitReached, match=message), Settings().limits().enforced():
        busy(20)


def test_the_default_and_no_limit() -> None:
    usual, none = Settings().limits(), Settings(seconds=0).limits()
    assert (usual.seconds, usual.memory) == (limits.SECONDS, limits.MEMORY)
    assert (none.seconds, none.memory) == (None, None)


def file_of(threads: int, folder: Path) -> Path:
    """A test of so many threads with a location each, of which the rules are many."""
    places = " ".join(f"[x{n}]=0;" for n in range(threads))
    code = "\n".join(
        f"P{n}@wg {n}, dev 0 (global int* x{n}) {{ *x{n} = 1; }}" for n in range(threads)
    )
    file = folder / "large.litmus"
    file.write_text(f"OpenCL large\n{{ {places} }}\n{code}\n")
    return file


def test_a_limit_holds_where_rules_are_spelled_out(tmp_path: Path) -> None:
    """And it is said which test takes so long; the others go on. In a process of its own, in which
    no other test has left anything."""
    large = file_of(36, tmp_path)
    words = ["check", "proposed", str(large), "Fig4", "--timeout", "2", "--no-cache", "-j", "1"]
    code = (
        "import sys, rspverify.judge.workers as workers; workers.LONG = 0.5; "
        f"sys.argv = ['rspverify', *{words!r}]; from rspverify.__main__ import main; main()"
    )
    began = time.monotonic()
    told = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert time.monotonic() - began < 40
    assert told.returncode == 3, told.stderr
    assert "timeout of 2 s" in told.stdout and "1 SOUND" in told.stdout, told.stdout
    assert "warning: large takes more than" in told.stderr


def test_what_is_too_large_is_refused_before_it_is_built(tmp_path: Path) -> None:
    """Rules of a machine, orders of writes, and ways to share places, by time or by memory."""
    words = ["check", "proposed", str(file_of(120, tmp_path)), "--timeout", "6", "--no-cache"]
    began = time.monotonic()
    command = [sys.executable, "-m", "rspverify", *words]  # in which nothing else has left anything
    told = subprocess.run(command, capture_output=True, text=True)
    assert time.monotonic() - began < 15
    assert re.search(
        r"189,240 rules of the machine take longer than the [\d.]+ s left", told.stdout
    )
    stores = "\n".join(
        f"P{n}@wg {n}, dev 0 (global atomic_int* x) {{ *x = 1; }}" for n in range(250)
    )
    source = Source("t", f"OpenCL t\n{{ [x]=0; }}\n{stores}\n")
    message = r"^2,573,000 triples of events to be ordered need more than 2 GiB of memory \("
    with pytest.raises(LimitReached, match=message):
        program, model = Settings().read(source), load_model(DEFAULT_MODEL)
        Questions(program, model, Settings().limits()).race()
    shared = "machine m places thread < workgroup < any cu < device < system"
    kinds = read_architecture(Source("m", shared)).kinds
    threads = tuple(ThreadId(0, n, n) for n in range(12))
    message = r"^4,213,597 ways to share places need more than 2 GiB of memory \("
    with pytest.raises(LimitReached, match=message), Settings().limits().enforced():
        placements(kinds, threads)
    assert len(placements(kinds, threads[:4])) == 15
