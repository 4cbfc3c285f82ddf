"""`outcomes` of many tests, in each form, and its races."""

from __future__ import annotations

import os
from collections.abc import Iterator
from functools import partial
from importlib.resources import files
from itertools import islice
from pathlib import Path

import command_line
import pytest

from rspverify.architecture.reader import read_architecture
from rspverify.axiomatic.cat import load_model
from rspverify.axiomatic.question import Questions
from rspverify.limits import LimitReached, Limits
from rspverify.litmus.reader import read_program
from rspverify.soundness.outcomes import SoFar, machine_outcomes, outcomes
from rspverify.soundness.settings import Settings
from rspverify.source import Source, read_source
from rspverify.verdict import Outcome

run = partial(command_line.run, "outcomes")
document = partial(command_line.document, "outcomes")

MP = """OpenCL {name}
{{ [x]=0; [y]=0; }}
P0 (global int* x, global atomic_int* y) {{
  *x = 1;
  atomic_store_explicit(y, 1, memory_order_release, memory_scope_device);
}}
P1 (global int* x, global atomic_int* y) {{
  int r0 = atomic_load_explicit(y, memory_order_acquire, memory_scope_{scope});
  int r1 = 7;
  if (r0 == 1) {{ r1 = *x; }}
}}
scopeTree (device (work_group P0) (work_group P1))
exists (1:r0=1 /\\ 1:r1=0)
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A good test, a racy one, a wrong one, one beyond the model, and another good one."""
    (tmp_path / "a.litmus").write_text(MP.format(name="A", scope="device"))
    (tmp_path / "b.litmus").write_text(MP.format(name="B", scope="work_group"))
    (tmp_path / "c.litmus").write_text(MP.format(name="C", scope="galaxy"))
    local = MP.format(name="D", scope="device").replace("global atomic", "local atomic")
    (tmp_path / "d.litmus").write_text(local)
    (tmp_path / "e.litmus").write_text(MP.format(name="E", scope="device"))
    return tmp_path


def test_tests_come_in_order_whoever_answers(folder: Path) -> None:
    one, two = run(folder, "-j", "1"), run(folder, "-j", "2")
    assert one.stdout == two.stdout
    assert one.stderr == two.stderr
    assert one.exit_code == two.exit_code == 2


def test_exit_codes(folder: Path) -> None:
    assert run(folder / "a.litmus", folder / "b.litmus").exit_code == 0
    assert run(folder / "a.litmus", folder / "c.litmus").exit_code == 2
    assert run(folder / "a.litmus", "--timeout", "0.001", folder / "b.litmus").exit_code == 3


def test_json(folder: Path) -> None:
    for options in ([], ["--races"]):
        files = [Path(it["file"]).name for it in document(folder, *options)["results"]]
        assert files == ["a.litmus", "b.litmus", "c.litmus", "d.litmus", "e.litmus"]
    (good, racy, wrong, *_) = document(folder)["results"]
    assert good["final"]["observation"] == "Never" and good["racy"] is False
    assert good["final"]["states"] == [{"1:r0": 0, "1:r1": 7}, {"1:r0": 1, "1:r1": 1}]
    assert [each["allowed"] for each in good["outcomes"]] == [True, True]
    assert racy["race"]["condition"] == "Dr" and racy["violated"] == ["Dr"]
    assert racy["race"]["first"]["access"] == "W[na](x, 1)"
    assert wrong["word"] == "ERROR" and not wrong["answered"] and wrong["outcomes"] is None


def test_many_columns_fit_a_narrow_terminal(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    loads = [
        f"  int register{n} = atomic_load_explicit(x, memory_order_acquire, memory_scope_device);"
        for n in range(7)
    ]
    place = tmp_path / "wide.litmus"
    place.write_text(
        "OpenCL wide\n{ [x]=3; }\nP0 (global atomic_int* x) {\n"
        + "\n".join(loads)
        + "\n}\nscopeTree (device (work_group P0))\n"
    )
    monkeypatch.setattr("rspverify.render.console._WIDTH", 60)
    result = run(place)
    assert result.exit_code == 0, result.stderr
    lines = result.stdout.splitlines()
    assert lines[1].split() == ["outcome", "model"]
    assert max(map(len, lines)) <= 60
    assert "0:register6=3" in " ".join(lines)


def test_a_lost_worker_leaves_an_answer_for_every_test(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("rspverify.judge.listing.OutcomesQuestion.decide", lambda *_: os._exit(9))
    found = document(folder, "-j", "2", code=3)["results"]
    assert [each["word"] for each in found] == ["UNKNOWN"] * 5
    assert all("a worker process ended unexpectedly" in each["reason"] for each in found)


INCREMENTS = """OpenCL increments
{ [x]=0; }
P0 (global atomic_int* x) { atomic_fetch_add_explicit(x, 1, memory_order_relaxed); }
P1 (global atomic_int* x) { int r0 = atomic_fetch_add_explicit(x, 1, memory_order_relaxed); }
P2 (global atomic_int* x) { int r0 = atomic_fetch_add_explicit(x, 1, memory_order_relaxed); }
P3 (global atomic_int* x) { atomic_store_explicit(x, 0, memory_order_relaxed); }
P4 (global atomic_int* x) { atomic_store_explicit(x, 0, memory_order_relaxed); }
scopeTree (device (work_group P0 P1 P2 P3 P4))
exists (1:r0=1)
"""
"""Many executions, and fewer outcomes: two stores cannot be told apart."""


@pytest.fixture
def increments(tmp_path: Path) -> Path:
    file = tmp_path / "increments.litmus"
    file.write_text(INCREMENTS)
    return file


@pytest.mark.parametrize(
    ("error", "reason", "code"),
    [(KeyboardInterrupt, "interrupted", 130), (LimitReached("time"), "time", 3)],
)
def test_what_is_found_is_shown_whatever_comes_after(
    error: BaseException, reason: str, code: int, increments: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def endings(self: Questions) -> Iterator[Outcome]:
        yield from islice(dict.fromkeys(every(self)), 3)
        raise error

    every = Questions.searched_endings
    monkeypatch.setattr(Questions, "searched_endings", endings)
    told = run(increments)
    assert told.exit_code == code
    assert told.stderr == f"UNKNOWN: {reason}\n"
    assert "increments (model opencl-rsp), as far as it is known" in told.stdout
    assert f"These are not all: {reason}. Found were 3 outcomes." in told.stdout
    assert "No consistent execution has a race." in told.stdout
    assert "Observation" not in told.stdout
    (found,) = document(increments)["results"]
    assert (found["answered"], found["word"], found["outcomes"]) == (False, "UNKNOWN", None)
    assert len(found["so_far"]) == 3 and all(each["allowed"] for each in found["so_far"])
    assert "Observation" not in run(increments, "--format", "herd").stdout


def test_an_interrupt_between_tests_says_nothing_of_the_one_before(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def read(path: str) -> Source:
        if path.endswith("b.litmus"):
            raise KeyboardInterrupt
        return read_source(path)

    monkeypatch.setattr("rspverify.judge.listing.read_source", read)
    found = run(folder, "-j", "1")
    assert found.exit_code == 130
    assert "as far as" not in found.stdout


@pytest.mark.parametrize("most", [1, 20, 100])
def test_executions_that_are_not_counted_leave_no_outcome_out(
    most: int, increments: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whether it goes on by executions, or looks for outcomes alone."""
    (whole,) = document(increments)["results"]
    monkeypatch.setattr("rspverify.soundness.outcomes.MAX_EXECUTIONS", most)
    (found,) = document(increments)["results"]
    assert whole["final"]["counted"] and not found["final"]["counted"]
    assert found["outcomes"] == whole["outcomes"]


def test_there_may_be_too_many_outcomes(increments: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Settings, "limits", lambda self: Limits(outcomes=5))
    found = run(increments)
    assert (found.exit_code, found.stderr) == (3, "UNKNOWN: more than 5 outcomes\n")
    assert "These are not all: more than 5 outcomes. Found were 6 outcomes." in found.stdout


def test_how_far_it_is_can_be_told(increments: Path) -> None:
    said: list[str] = []
    program = Settings().read(read_source(increments))
    outcomes(program, load_model("opencl-rsp"), (), "", Settings(), SoFar(said.append))
    assert said[0] == "1 executions, 1 outcomes"
    assert said[-1].startswith("120 executions, ")


# ---- tests in assembly ---------------------------------------------------------------------------

PTX = """PTX A
{ global a=0; global b=0; }
 P0@cta 0,gpu 0 | P1@cta 1,gpu 0 ;
 st a, 1        | ld r1, b       ;
 membar.gl      | membar.cta     ;
 st b, 2        | ld r2, a       ;
exists (1:r1=2 /\\ ~(1:r2=1))
"""


@pytest.fixture
def columns(tmp_path: Path) -> Path:
    """A test in assembly."""
    (tmp_path / "a.litmus").write_text(PTX)
    return tmp_path


def test_tests_in_assembly_as_json(columns: Path) -> None:
    found = document("--machine", "ptx-weak", columns / "a.litmus")
    (answer,) = found["results"]
    assert (answer["machine"], answer["model"], answer["racy"]) == ("ptx-weak", None, None)
    assert found["machine"] == "ptx-weak"
    assert [each["outcome"]["registers"] for each in answer["outcomes"]] == [
        {"1:r1": 0, "1:r2": 0},
        {"1:r1": 0, "1:r2": 1},
        {"1:r1": 2, "1:r2": 1},
    ]


def test_a_machine_that_never_ends_is_vacuous(columns: Path) -> None:
    """So is one out of whose queues no store comes."""
    text = (files("rspverify.architecture") / "machines/ptx-strong.machine").read_text()
    waits = "when oldest queue[x] is self"
    stuck = text.replace(waits, f"{waits}, empty queue[x]")
    assert stuck != text
    machine = read_architecture(Source("stuck.machine", stuck))
    test = read_program(read_source(str(columns / "a.litmus")), assembly=True)
    answer = machine_outcomes(test, machine, "a", Settings())
    assert answer.outcomes == () and answer.notes == ("VACUOUS: no execution completes",)
