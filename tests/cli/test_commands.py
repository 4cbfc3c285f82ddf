"""`explain`, `outcomes`, `show` and `list` as users meet them."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import Any

import pytest
from command_line import run

from rspverify.answers import Explanation
from rspverify.judge.explain import explain
from rspverify.limits import LimitReached, Limits
from rspverify.soundness.machine_side import EventsExecutions
from rspverify.verdict import Outcome

pytestmark = pytest.mark.usefixtures("in_repository")

PROPOSED = "schemes/proposed.yaml"


def increments(folder: Path, threads: int) -> str:
    """A test in which each thread increments x: any order of them is an outcome."""
    line = "int r0 = atomic_fetch_add_explicit(x, 1, memory_order_acq_rel, memory_scope_device);"
    parts = [f"P{n} (global atomic_int* x) {{ {line} }}" for n in range(threads)]
    groups = " ".join(f"(work_group P{n})" for n in range(threads))
    file = folder / "increments.litmus"
    text = [
        "OpenCL increments",
        "{ [x]=0; }",
        *parts,
        f"scopeTree (device {groups})",
        "exists (x=1)",
    ]
    file.write_text("\n".join(text))
    return str(file)


def test_explain_lists_some_of_many_outcomes(tmp_path: Path) -> None:
    few = run("explain", PROPOSED, increments(tmp_path, 4))
    assert "The machine reaches 24 of the 24 outcomes that the model allows:" in few.stdout
    many = run("explain", PROPOSED, increments(tmp_path, 6))
    assert "The machine reaches these 100 outcomes, and others:" in many.stdout
    assert many.stdout.count("x=6") == 100
    assert (few.exit_code, many.exit_code) == (0, 0)


def test_explain_counts_no_further_than_it_must(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("rspverify.judge.explain.MOST_COUNTED", 20)
    found = run("explain", PROPOSED, increments(tmp_path, 4))
    assert "24 of the more than 20 outcomes that the model allows" in found.stdout


@pytest.mark.parametrize(
    ("error", "words", "code"),
    [
        (KeyboardInterrupt, "interrupted", 130),
        (LimitReached("timeout of 1 s"), "timeout of 1 s", 0),
    ],
)
def test_explain_says_the_verdict_whatever_comes_after(
    error: Exception, words: str, code: int, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    def outcomes(self: EventsExecutions) -> Iterator[Outcome]:
        yield from islice(known(self), count)
        raise error

    known, count = EventsExecutions.outcomes, 3
    monkeypatch.setattr(EventsExecutions, "outcomes", outcomes)
    found = run("explain", PROPOSED, increments(tmp_path, 4))
    assert "proposed (model opencl-rsp): SOUND" in found.stdout
    said = f"The machine reaches these 3 outcomes, and perhaps others ({words}):\n  0:r0="
    assert said in found.stdout
    count = 0
    found = run("explain", PROPOSED, increments(tmp_path, 4))
    assert f"Which outcomes the machine reaches is not known: {words}." in found.stdout
    assert found.exit_code == code


def test_explain_has_one_clock(monkeypatch: pytest.MonkeyPatch) -> None:
    """The outcomes are looked for in what the verdict has left of the time."""
    seen: list[float] = []

    def target(machine: object, settings: object, limits: Limits) -> None:
        seen.append(limits.started)
        raise LimitReached("time")

    def decided(*asked: Any) -> Explanation:
        found = explain(*asked)
        seen.append(time.monotonic())
        return found

    monkeypatch.setattr("rspverify.judge.explain.side_of", target)
    monkeypatch.setattr("rspverify.api.explained.explained", decided)
    run("explain", PROPOSED, "litmus/rsp/paper/Fig4.litmus", "--timeout", "9")
    verdict, clock = seen
    assert clock < verdict


def test_show_is_tab_3(monkeypatch: pytest.MonkeyPatch) -> None:
    assert max(map(len, run("show", PROPOSED).stdout.splitlines())) <= 80
    monkeypatch.setenv("COLUMNS", "120")
    text = run("show", PROPOSED).stdout
    assert "LK_rmw DV; FLU_L1 DV; INV_L1 DV; ST r x; FLU_L1 WG; INV_L1 DV; UL_rmw DV" in text
    assert "rmw WG,_" in text


def test_output_goes_into_a_pipe_that_is_there(tmp_path: Path) -> None:
    """It stays one; a stranger's .part stays."""
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    (tmp_path / "pipe.part").write_text("mine")
    reader = subprocess.Popen(["cat", str(pipe)], stdout=subprocess.PIPE, text=True)
    assert run("check", PROPOSED, "litmus/rsp/paper/Fig4.litmus", "-o", str(pipe)).exit_code == 0
    assert "SOUND" in reader.communicate(timeout=60)[0]
    assert pipe.is_fifo() and (tmp_path / "pipe.part").read_text() == "mine"


def test_nobody_reads_or_nothing_fits() -> None:
    command = f"{sys.executable} -m rspverify show {PROPOSED}"
    piped = subprocess.run(
        ["bash", "-c", f"{command} | true; exit ${{PIPESTATUS[0]}}"], capture_output=True
    )
    assert piped.returncode in (0, 141)
    assert piped.stderr == b""
    if not Path("/dev/full").exists():
        pytest.skip("no /dev/full")
    for written in (command, f"{sys.executable} -m rspverify --help"):
        full = subprocess.run(["bash", "-c", f"{written} > /dev/full"], capture_output=True)
        assert full.returncode == 2
        assert full.stderr == b"standard output: cannot be written: No space left on device\n"


@pytest.mark.parametrize(
    "words",
    [
        ["check", "--help"],
        ["explain", "gfx942", "ISA2-wg-dv"],
        ["explain", "…", "─"],
        ["draw", "litmus/rsp/paper/Fig4.litmus"],
    ],
)
def test_a_terminal_that_has_not_our_characters(words: list[str]) -> None:
    """What it has not is replaced, in errors too."""
    environment = os.environ | {"PYTHONIOENCODING": "latin-1", "PYTHONUTF8": "0", "LC_ALL": "C"}
    ended = subprocess.run(
        [sys.executable, "-m", "rspverify", *words], capture_output=True, env=environment
    )
    said = (ended.stdout + ended.stderr).decode("latin-1")
    assert "?" in said or words[0] == "draw"
    assert "Traceback" not in said and "internal error:" not in said
    assert ended.returncode == run(*words).exit_code
