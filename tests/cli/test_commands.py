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

ORIGINAL, PROPOSED = "schemes/original.yaml", "schemes/proposed.yaml"


def test_explain_unsound_is_figure_4() -> None:
    result = run("explain", ORIGINAL, "litmus/rsp/paper/Fig4.litmus")
    assert result.exit_code == 1
    text = result.stdout
    for part in (
        "Fig4 under original (model opencl-rsp): UNSOUND",
        "FLU_L1 WG; ST r y",
        "FETCH_L1(x, 0)",
        "FLUSH_L1(x, 42)",
        "{x=42 D,V} [x]",
        "[FLUSH(P0) x]",
        "DEQMARKER_L1",
        "LD r x (reads 0)",
        "It ends with 1:r0=1 1:r1=0 x=42 y=1, after 12 steps.",
        "every candidate with these values breaks",
        "Narf: empty (rf; [nal]) \\ vis",
        "none is shorter",
    ):
        assert part in text


def test_explain_shows_locks_and_inv_d_entries() -> None:
    text = run("explain", ORIGINAL, "litmus/rsp/paper/Ex4.litmus").stdout
    assert "{x=2 D,I} [x]" in text
    assert "lock of x on d0: P1" in text
    assert "all free" in text


def test_explain_sound_says_how_far_it_reaches() -> None:
    exact = run("explain", PROPOSED, "litmus/rsp/paper/Fig4.litmus")
    assert exact.exit_code == 0
    assert "Exact: it holds for every execution of the machine (no bound on steps" in exact.stdout
    assert "The machine reaches 2 of the 2 outcomes that the model allows" in exact.stdout
    bounded = run("explain", PROPOSED, "litmus/rsp/paper/Fig4.litmus", "--steps", "11")
    assert "within 11 steps, every outcome of the compiled program is allowed" in bounded.stdout
    assert "Only executions within 11 steps; 13 steps would be enough" in bounded.stdout
    explicit = run("explain", PROPOSED, "litmus/rsp/paper/Fig4.litmus", "--engine", "explicit")
    assert "every reachable state was visited" in explicit.stdout


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


def test_explain_racy_shows_the_execution() -> None:
    result = run("explain", PROPOSED, "litmus/rsp/paper/Ex3.litmus")
    assert result.exit_code == 0
    assert "A consistent execution of the source with the race" in result.stdout
    assert "W[DV,N](x, 2)" in result.stdout


def test_explain_vacuous_shows_where_the_machine_stops(tmp_path: Path) -> None:
    scheme = tmp_path / "stuck.yaml"
    rows = "  - {op: store, scope: dv, code: [LK_rmw DV, ST r x]}\n"
    rows += "  - {op: rmw, scope: dv, code: [LK_rmw DV, INC_L2 r x]}\n"
    scheme.write_text(f"name: stuck\nrows:\n{rows}")
    result = run("explain", str(scheme), "litmus/rsp/paper/Ex1.litmus")
    assert result.exit_code == 3
    assert "The machine cannot go on from here:" in result.stdout
    assert "at LK_rmw DV waits for the rmw d0 w0 and the rmw d0 w1, held by" in result.stdout


def test_explain_unsupported() -> None:
    result = run(
        "explain", PROPOSED, "litmus/rsp/multi-device/MD+st.na-st.ALL+ld.ALL-ld.na@0--1.litmus"
    )
    assert result.exit_code == 3
    assert "UNSUPPORTED" in result.stdout


def test_outcomes_side_by_side() -> None:
    result = run(
        "outcomes", "litmus/rsp/paper/Ex4.litmus", "--scheme", ORIGINAL, "--scheme", PROPOSED
    )
    assert result.exit_code == 0
    rows = [line.split() for line in result.stdout.splitlines()]
    assert ["1", "forbidden", "reached", "-"] in rows
    assert ["2", "allowed", "reached", "reached", "holds"] in rows
    assert ["Observation", "Ex4", "Always", "2", "0", "states", "2"] in rows


def test_outcomes_of_a_scheme_without_a_row() -> None:
    name = "litmus/rsp/multi-device/MD+st.na-st.ALL+ld.ALL-ld.na@0--1.litmus"
    result = run("outcomes", name, "--scheme", PROPOSED)
    assert result.exit_code == 0, result.output
    assert "proposed: UNSUPPORTED: scheme proposed has no row for store ALL,N" in result.stdout


def test_show_is_tab_3(monkeypatch: pytest.MonkeyPatch) -> None:
    assert max(map(len, run("show", PROPOSED).stdout.splitlines())) <= 80
    monkeypatch.setenv("COLUMNS", "120")
    text = run("show", PROPOSED).stdout
    assert "LK_rmw DV; FLU_L1 DV; INV_L1 DV; ST r x; FLU_L1 WG; INV_L1 DV; UL_rmw DV" in text
    assert "rmw WG,_" in text


def test_show_has_the_orders_of_an_operation_in_one_line(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "120")
    lines = [line.strip() for line in run("show", "gfx900").stdout.splitlines()]
    start = next(number for number, line in enumerate(lines) if "load na" in line)
    assert lines[start + 1 : start + 3] == ["load WI,N", "load SG,N (relaxed, acquire, seq_cst)"]


def test_explain_sound_says_which_switches_it_rests_on() -> None:
    machine = "amdgpu-gfx9+WAITS_COVER_UNIT"
    text = run("explain", "gfx900", "ISA2-wg-dv", "--machine", machine).stdout
    assert f"it holds for every execution of the machine {machine} (" in text


def test_list_names_everything() -> None:
    text = run("list").stdout
    for name in (
        "opencl-rsp",
        "opencl-rsp-fig2",
        "opencl-hrf",
        "rsp-st-waits",
        "explicit",
        "unroll",
    ):
        assert name in text
    assert "schemes/original.yaml" in text
    assert "litmus/rsp/MP: " in text
    assert "litmus/amdgpu: " in text


def test_version_and_help() -> None:
    assert run("--version").stdout.startswith("rspverify ")
    assert "explain" in run("--help").stdout


def test_output_goes_where_it_is_sent(tmp_path: Path) -> None:
    """Through a link, and into a pipe that is there, which stays one; a stranger's .part stays."""
    target, link = tmp_path / "target.txt", tmp_path / "link.txt"
    link.symlink_to(target)
    (tmp_path / "target.txt.part").write_text("mine")
    assert run("check", PROPOSED, "litmus/rsp/paper/Fig4.litmus", "-o", str(link)).exit_code == 0
    assert link.is_symlink()
    assert "SOUND" in target.read_text()
    assert (tmp_path / "target.txt.part").read_text() == "mine"
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    reader = subprocess.Popen(["cat", str(pipe)], stdout=subprocess.PIPE, text=True)
    assert run("check", PROPOSED, "litmus/rsp/paper/Fig4.litmus", "-o", str(pipe)).exit_code == 0
    assert "SOUND" in reader.communicate(timeout=60)[0]
    assert pipe.is_fifo()


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
