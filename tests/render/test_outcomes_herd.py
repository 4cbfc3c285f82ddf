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


BLOCKS = Path(__file__).with_name("herd.txt").read_text().removesuffix("\n").split("\n\n")


@pytest.mark.parametrize("block", BLOCKS, ids=lambda it: it.partition("\n")[0])
def test_a_block(block: str, tmp_path: Path) -> None:
    """For a condition, what herd7 prints: states tell what it and `locations` speak of; of a
    denied one the witnesses are those that do not satisfy it."""
    condition, *expected = block.split("\n")
    assert herd(tmp_path, SB.format(condition=condition)) == expected


def test_what_locations_names_must_be_there(tmp_path: Path) -> None:
    place = tmp_path / "test.litmus"
    place.write_text(SB.format(condition="locations [q; 0:r7]\nexists (1:r0=0)"))
    result = CliRunner().invoke(app, ["outcomes", str(place)])
    assert result.exit_code == 2
    assert "`q` must be a location of the test" in result.stderr
    assert "`r7` must be a register of P0" in result.stderr


def test_without_a_condition_there_is_one_empty_state(tmp_path: Path) -> None:
    shown = herd(tmp_path, SB.format(condition=""))
    assert shown[:4] == ["Test SB Required", "States 1", "", "Ok"]
    assert shown[6:] == ["Condition forall (true)", "Observation SB Always 4 0"]


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
