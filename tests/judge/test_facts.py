"""What a run must know of its inputs says all that their answers depend on."""

from pathlib import Path

import pytest

from rspverify.judge.facts import facts_of_program, facts_of_scheme
from rspverify.litmus.reader import read_program
from rspverify.scheme.reader import read_scheme
from rspverify.source import Source

FULL = (Path(__file__).parents[2] / "schemes" / "proposed-full.yaml").read_text()

BARRIER = """OpenCL t
{ [x]=0; }
P0 (global int* x) { *x = 1; work_group_barrier(%s); }
scopeTree (device (work_group P0))
"""


@pytest.mark.parametrize(
    "flags, depends",
    [
        ("CLK_GLOBAL_MEM_FENCE, memory_scope_device", True),
        ("CLK_LOCAL_MEM_FENCE, memory_scope_device", False),
        ("CLK_GLOBAL_MEM_FENCE", False),
    ],
)
def test_a_barrier_depends_on_the_rows_of_its_fences(flags: str, depends: bool) -> None:
    program = facts_of_program(read_program(Source("t", BARRIER % flags)))
    row = "order: release, remote: false,  code: [FLU_L1 WG]}"
    assert row in FULL
    texts = (FULL, FULL.replace(row, row.replace("FLU_L1 WG", "")))
    one, other = (facts_of_scheme(read_scheme(Source("t", text))) for text in texts)
    assert (one.rows_used(program) != other.rows_used(program)) is depends


def test_a_barrier_without_rows_is_refused_by_name() -> None:
    flags = "CLK_GLOBAL_MEM_FENCE, memory_scope_device"
    program = facts_of_program(read_program(Source("t", BARRIER % flags)))
    text = "name: t\nmachine: rsp\nrows:\n  - {op: store, scope: [na], code: [ST r x]}\n"
    (refused,) = facts_of_scheme(read_scheme(Source("t", text))).rows_used(program)
    assert refused == ("barrier global DV", "no row", "t")


def test_a_barrier_for_local_memory_depends_on_what_the_machine_has() -> None:
    program = facts_of_program(read_program(Source("t", BARRIER % "CLK_LOCAL_MEM_FENCE")))
    folder = Path(__file__).parents[1] / "scheme/local"
    store = "  - {op: store, scope: na, code: [ST r x]}\n"
    text = f"name: t\nmachine: {folder}/scratchpad.machine\nrows:\n{store}"
    rows = [
        "- {op: fence, scope: wg, memory: local, code: [DS_WAIT]}",
        "- {op: fence, scope: wg, code: []}",
    ]
    found = [facts_of_scheme(read_scheme(Source("t", f"{text}  {row}\n"))) for row in rows]
    used = [each.rows_used(program)[0] for each in found]
    assert used == [
        ("barrier local WG", "DS_WAIT", "DS_WAIT"),
        ("barrier local WG", "no row", "t", "fence WG,_"),
    ]
