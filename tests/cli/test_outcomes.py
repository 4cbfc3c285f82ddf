"""`outcomes` of many tests, in each form, and its races."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from functools import partial
from importlib.resources import files
from itertools import islice
from pathlib import Path

import command_line
import jsonschema
import pytest
from typer.testing import CliRunner

from rspverify.architecture.reader import read_architecture
from rspverify.axiomatic.cat import load_model
from rspverify.axiomatic.question import Questions
from rspverify.cli import app
from rspverify.limits import LimitReached, Limits
from rspverify.litmus.reader import read_program
from rspverify.soundness.outcomes import SoFar, machine_outcomes, outcomes
from rspverify.soundness.settings import Settings
from rspverify.source import Source, read_source
from rspverify.verdict import Outcome

run = partial(command_line.run, "outcomes")

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


def test_what_is_wrong_with_one_test_does_not_stop_the_others(folder: Path) -> None:
    result = run(folder)
    assert result.exit_code == 2
    assert f"{folder}/c.litmus:8:" in result.stderr and "memory_scope_galaxy" in result.stderr
    titles = [line.split()[0] for line in result.stdout.splitlines() if "(model" in line]
    assert [title for title in titles if title != "D"] == ["A", "B", "E"]
    assert result.stdout.splitlines()[-1].startswith("5 tests, model opencl-rsp, ")


def test_tests_come_in_order_whoever_answers(folder: Path) -> None:
    one, two = run(folder, "-j", "1"), run(folder, "-j", "2")
    assert one.stdout == two.stdout
    assert one.stderr == two.stderr
    assert one.exit_code == two.exit_code == 2


def test_exit_codes(folder: Path) -> None:
    assert run(folder / "a.litmus", folder / "b.litmus").exit_code == 0
    assert run(folder / "a.litmus", folder / "c.litmus").exit_code == 2
    assert run(folder / "a.litmus", "--timeout", "0.001", folder / "b.litmus").exit_code == 3


def test_json(folder: Path, root: Path) -> None:
    schema = json.loads((root / "rspverify/render/outcomes.schema.json").read_text())
    for options in ([], ["--races"]):
        document = json.loads(run(folder, "--format", "json", *options).stdout)
        jsonschema.validate(document, schema)
        files = [Path(each["file"]).name for each in document["results"]]
        assert files == ["a.litmus", "b.litmus", "c.litmus", "d.litmus", "e.litmus"]
    (good, racy, wrong, *_) = json.loads(run(folder, "--format", "json").stdout)["results"]
    assert good["final"]["observation"] == "Never" and good["racy"] is False
    assert good["final"]["states"] == [{"1:r0": 0, "1:r1": 7}, {"1:r0": 1, "1:r1": 1}]
    assert [each["allowed"] for each in good["outcomes"]] == [True, True]
    assert racy["race"]["condition"] == "Dr" and racy["violated"] == ["Dr"]
    assert racy["race"]["first"]["access"] == "W[na](x, 1)"
    assert wrong["word"] == "ERROR" and not wrong["answered"] and wrong["outcomes"] is None


def test_herd_over_a_folder(folder: Path) -> None:
    shown = run(folder, "--format", "herd").stdout
    blocks = shown.split("\n\n")
    heads = [each.splitlines()[0] for each in blocks if each]
    assert [each for each in heads if " D " not in each] == [
        "Test A Allowed",
        "Test B Allowed",
        "Test E Allowed",
    ]


def test_races_in_a_line_per_test(folder: Path) -> None:
    lines = run(folder / "a.litmus", folder / "b.litmus", "--races").stdout.splitlines()
    assert lines[0] == f"{folder}/a.litmus: race-free"
    accesses = "P0 line 4: W[na](x, 1) and P1 line 10: R[na](x, "
    assert lines[1][:-2] == f"{folder}/b.litmus: RACY Dr: {accesses}"
    assert lines[2:] == ["2 tests, model opencl-rsp, 2 answered, 1 racy"]


def test_the_execution_that_has_the_race(folder: Path) -> None:
    text = run(folder / "b.litmus", "--races").stdout
    assert "RACY: a consistent execution violates Dr." in text
    assert "P0 line 4: W[na](x, 1)" in text and "P1 line 10: R[na](x, " in text
    rows = {line.split()[0]: line.split() for line in text.splitlines() if line[:1] == "e"}
    assert rows["e0"][1:] == ["W(x,", "0)", "initial"]
    assert rows["e3"][1:6] == ["P0", "5", "W[DV,N](y,", "1)", "e1"], "after the initial write in mo"
    assert rows["e4"][-1] == "e3", "reads from the release"
    assert f"rspverify draw --race -o race.svg {folder}/b.litmus" in text


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


def test_each_read_of_a_line_has_a_column(tmp_path: Path) -> None:
    """The outcomes differ in what was read first, which no register tells in the end."""
    load = "r0 = atomic_load_explicit(x, memory_order_acquire, memory_scope_device);"
    store = "atomic_store_explicit(x, 1, memory_order_release, memory_scope_device);"
    place = tmp_path / "line.litmus"
    place.write_text(
        "OpenCL line\n{ [x]=0; }\n"
        f"P0 (global atomic_int* x) {{\n  int r0; {load} {load}\n}}\n"
        f"P1 (global atomic_int* x) {{ {store} }}\n"
        "scopeTree (device (work_group P0) (work_group P1))\n"
    )
    head = run(place).stdout.splitlines()[1]
    columns = [each for each in head.split("  ") if "line 4:" in each]
    assert len(columns) == 2 and len({each.strip() for each in columns}) == 2, head


def test_what_of_a_model_counts_for_nothing_is_said(folder: Path, tmp_path: Path) -> None:
    model = tmp_path / "shown.cat"
    model.write_text('"shown"\ninclude "opencl-rsp.cat"\nshow sw\n')
    result = run(folder / "a.litmus", "--model", model)
    assert result.exit_code == 0
    assert result.stderr == f"note: {model}: show and unshow count for nothing (line 3)\n"


def test_a_lost_worker_leaves_an_answer_for_every_test(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("rspverify.judge.listing.OutcomesQuestion.decide", lambda *_: os._exit(9))
    result = run(folder, "-j", "2", "--format", "json")
    assert result.exit_code == 3
    found = json.loads(result.stdout)["results"]
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
    (found,) = json.loads(run(increments, "--format", "json").stdout)["results"]
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
    (whole,) = json.loads(run(increments, "--format", "json").stdout)["results"]
    monkeypatch.setattr("rspverify.soundness.outcomes.MAX_EXECUTIONS", most)
    (found,) = json.loads(run(increments, "--format", "json").stdout)["results"]
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

PTX = """PTX {name}
{{ global a=0; global b=0; }}
 P0@cta 0,gpu 0 | P1@cta 1,gpu 0 ;
 st a, 1        | ld r1, b       ;
 {fence}        | membar.cta     ;
 st b, 2        | ld r2, a       ;
exists (1:r1=2 /\\ ~(1:r2=1))
"""


@pytest.fixture
def columns(tmp_path: Path) -> Path:
    """A test in assembly that the fence decides, twice, one with a mistake, one beyond a machine."""
    for name, fence in (
        ("a", "membar.gl"),
        ("b", "membar.cta"),
        ("c", "membar_gl"),
        ("d", "fence.sc.gpu"),
    ):
        (tmp_path / f"{name}.litmus").write_text(PTX.format(name=name.upper(), fence=fence))
    return tmp_path


def test_a_test_in_assembly_is_put_to_a_machine(columns: Path) -> None:
    result = run("--machine", "ptx-weak", columns / "b.litmus")
    assert result.exit_code == 0
    assert [line.rstrip() for line in result.stdout.splitlines()] == [
        "B (machine ptx-weak)",
        "1:r1   1:r2   condition",
        "───────────────────────",
        "   0      0",
        "   0      1",
        "   2      0   holds",
        "   2      1",
        "",
        "Condition exists (1:r1=2 /\\ ~(1:r2=1))",
        "Observation B Sometimes 1 3   states 4",
    ]


def test_of_several_tests_in_assembly_those_with_mistakes_do_not_stop_the_others(
    columns: Path,
) -> None:
    result = run("--machine", "ptx-strong", "-j", "2", columns)
    assert result.exit_code == 2
    said = [line for line in result.stdout.splitlines() if line.startswith("Observation")]
    assert said == ["Observation A Never 0 3   states 3", "Observation B Sometimes 1 3   states 4"]
    assert result.stdout.splitlines()[-1] == (
        "4 tests, machine ptx-strong, 2 answered, 1 UNSUPPORTED, 1 ERROR"
    )
    assert "c.litmus:5:2: an instruction must be one of machine ptx-strong" in result.stderr
    assert "did you mean membar.gl?" in result.stderr
    assert "the instruction fence.sc.gpu is not supported by machine ptx-strong" in result.stderr


def test_tests_in_assembly_as_herd_prints_them(columns: Path) -> None:
    result = run("--machine", "ptx-weak", "--format", "herd", columns / "a.litmus")
    lines = result.stdout.splitlines()
    assert lines[:6] == [
        "Test A Allowed",
        "States 3",
        "1:r1=0; 1:r2=0;",
        "1:r1=0; 1:r2=1;",
        "1:r1=2; 1:r2=1;",
        "No",
    ]
    assert "Observation A Never 0 3" in lines and not result.stderr


def test_tests_in_assembly_as_json(columns: Path) -> None:
    result = run("--machine", "ptx-weak", "--format", "json", columns / "a.litmus")
    document = json.loads(result.stdout)
    schema = json.loads((files("rspverify.render") / "outcomes.schema.json").read_text())
    jsonschema.validate(document, schema)
    (answer,) = document["results"]
    assert (answer["machine"], answer["model"], answer["racy"]) == ("ptx-weak", None, None)
    assert document["machine"] == "ptx-weak"
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


def test_the_machine_may_be_another_than_that_of_the_scheme(folder: Path) -> None:
    assert run("--machine", "rsp", "--scheme", "proposed", folder / "a.litmus").exit_code == 0


def test_who_compiles_is_told_that_there_is_nothing_to_compile(columns: Path) -> None:
    result = CliRunner().invoke(app, ["check", "proposed", str(columns / "a.litmus")])
    assert result.exit_code == 2
    assert "a test must be in OpenCL or C here, and one in PTX is assembly already" in (
        result.stdout + result.stderr
    )
