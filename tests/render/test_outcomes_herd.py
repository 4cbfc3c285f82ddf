"""herd's form of `outcomes`: what herd7 prints of each kind of condition, written down by hand."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from typer.testing import CliRunner

from rspverify.cli import app

SB = """OpenCL SB
{{ [x]=0; [y]=0; }}
P0 (global atomic_int* x, global atomic_int* y) {{
  atomic_store_explicit(x, 1, memory_order_release, memory_scope_device);
  int r0 = atomic_load_explicit(y, memory_order_acquire, memory_scope_device);
}}
P1 (global atomic_int* x, global atomic_int* y) {{
  atomic_store_explicit(y, 1, memory_order_release, memory_scope_device);
  int r0 = atomic_load_explicit(x, memory_order_acquire, memory_scope_device);
}}
scopeTree (device (work_group P0) (work_group P1))
{condition}
"""

RACY = """OpenCL racy
{ [x]=0; }
P0 (global int* x) { *x = 1; }
P1 (global int* x) { *x = 2; }
scopeTree (device (work_group P0 P1))
exists (x=1)
"""


def herd(tmp_path: Path, text: str) -> list[str]:
    """What is printed of a test, without the time."""
    place = tmp_path / "test.litmus"
    place.write_text(text)
    result = CliRunner().invoke(app, ["outcomes", str(place), "--format", "herd"])
    assert result.exit_code == 0, result.stderr
    lines = result.stdout.split("\n")
    assert lines[-2:] == ["", ""], "an empty line ends the block"
    assert re.fullmatch(r"Time \S+ \d+\.\d\d", lines[-3])
    return lines[:-3]


def test_exists(tmp_path: Path) -> None:
    assert herd(tmp_path, SB.format(condition="exists (0:r0=0 /\\ 1:r0=0)")) == [
        "Test SB Allowed",
        "States 4",
        "0:r0=0; 1:r0=0;",
        "0:r0=0; 1:r0=1;",
        "0:r0=1; 1:r0=0;",
        "0:r0=1; 1:r0=1;",
        "Ok",
        "Witnesses",
        "Positive: 1 Negative: 3",
        "Condition exists (0:r0=0 /\\ 1:r0=0)",
        "Observation SB Sometimes 1 3",
    ]


def test_the_witnesses_of_a_denied_condition_are_those_that_do_not_satisfy_it(
    tmp_path: Path,
) -> None:
    assert herd(tmp_path, SB.format(condition="~exists (0:r0=0 /\\ 1:r0=0)")) == [
        "Test SB Forbidden",
        "States 4",
        "0:r0=0; 1:r0=0;",
        "0:r0=0; 1:r0=1;",
        "0:r0=1; 1:r0=0;",
        "0:r0=1; 1:r0=1;",
        "No",
        "Witnesses",
        "Positive: 3 Negative: 1",
        "Condition ~exists (0:r0=0 /\\ 1:r0=0)",
        "Observation SB Sometimes 1 3",
    ]


def test_states_tell_what_the_condition_speaks_of(tmp_path: Path) -> None:
    """Registers first, then locations, in brackets; a formula as herd writes it."""
    assert herd(tmp_path, SB.format(condition="forall (x=1 /\\ (1:r0=0 \\/ ~(1:r0=2)))")) == [
        "Test SB Required",
        "States 2",
        "1:r0=0; [x]=1;",
        "1:r0=1; [x]=1;",
        "Ok",
        "Witnesses",
        "Positive: 4 Negative: 0",
        "Condition forall ([x]=1 /\\ (1:r0=0 \\/ not (1:r0=2)))",
        "Observation SB Always 4 0",
    ]


def test_states_tell_what_locations_names_besides(tmp_path: Path) -> None:
    shown = herd(tmp_path, SB.format(condition="locations [x; 0:r0;]\nexists (1:r0=0)"))
    assert shown[1:6] == [
        "States 4",
        "0:r0=0; 1:r0=0; [x]=1;",
        "0:r0=0; 1:r0=1; [x]=1;",
        "0:r0=1; 1:r0=0; [x]=1;",
        "0:r0=1; 1:r0=1; [x]=1;",
    ]


def test_what_locations_names_must_be_there(tmp_path: Path) -> None:
    place = tmp_path / "test.litmus"
    place.write_text(SB.format(condition="locations [q; 0:r7]\nexists (1:r0=0)"))
    result = CliRunner().invoke(app, ["outcomes", str(place)])
    assert result.exit_code == 2
    assert "`q` must be a location of the test" in result.stderr
    assert "`r7` must be a register of P0" in result.stderr


def test_without_a_condition_there_is_one_empty_state(tmp_path: Path) -> None:
    assert herd(tmp_path, SB.format(condition="")) == [
        "Test SB Required",
        "States 1",
        "",
        "Ok",
        "Witnesses",
        "Positive: 4 Negative: 0",
        "Condition forall (true)",
        "Observation SB Always 4 0",
    ]


def test_a_race_makes_it_undefined(tmp_path: Path) -> None:
    """Two plain writes, either of which may be the last: two executions, and a flag."""
    assert herd(tmp_path, RACY) == [
        "Test racy Allowed",
        "States 2",
        "[x]=1;",
        "[x]=2;",
        "Undef",
        "Witnesses",
        "Positive: 1 Negative: 1",
        "Flag *undef*",
        "Condition exists ([x]=1)",
        "Observation racy Sometimes 1 1",
    ]


@pytest.mark.parametrize(
    "name, counts",
    [
        ("rsp/RSP_Test1", "Sometimes 1 15"),
        ("rsp/RSP_Test2", "Never 0 2"),
        ("rsp/RSP_Test6", "Never 0 2"),
        ("rsp/RSP_Test8", "Never 0 13"),
        ("rsp/RSP_Test10", "Never 0 6"),
        ("rsp/RSP_Test11", "Sometimes 6 6"),
        ("rsp/WSQ1", "Never 0 2"),
    ],
)
def test_the_counts_of_the_authors_herd(shared: Path, name: str, counts: str) -> None:
    place = shared / "corpus" / f"{name}.litmus"
    shown = CliRunner().invoke(app, ["outcomes", str(place), "--format", "herd"]).stdout
    observation = next(each for each in shown.split("\n") if each.startswith("Observation"))
    assert observation.endswith(counts)
