"""What a model rules out about circles of values, and that nothing is assumed of others."""

import pytest

from rspverify.axiomatic import MemoryModel, load_model, read_model
from rspverify.axiomatic.circles import NoCircles, no_circles
from rspverify.check.settings import Settings
from rspverify.check.soundness import check
from rspverify.litmus import read_program
from rspverify.scheme import read_scheme
from rspverify.source import Source
from rspverify.verdict import Word

SCHEME = read_scheme(
    Source(
        "s",
        """\
name: plain
machine: rsp
rows:
  - {op: load, scope: [na, wg, dv], code: [LD r x]}
  - {op: store, scope: [na, wg, dv], code: [ST r x]}
  - {op: rmw, scope: [wg, dv], code: [INC_L1 r x]}
""",
    )
)
RACE = """
let dr = (((W * W) | (R * W) | (W * R)) & loc) \\ hb \\ hb^-1 \\ (A * A) \\ thd \\ id
undefined_unless empty dr as Dr
"""
INCREMENTS = """OpenCL incs
{{ [x]=0; [z]=0; }}
P0 (global {kind}* x, global int* z) {{
  int r0 = atomic_fetch_add_explicit(x, 1, memory_order_acq_rel, memory_scope_work_group);
  if ({guard}) {{ *z = 1; }}
}}
P1 (global {kind}* x) {{
  int r1 = atomic_fetch_add_explicit(x, -1, memory_order_acq_rel, memory_scope_work_group);
}}
P2 (global int* z) {{ *z = 2; }}
scopeTree (device (work_group P0 P1) (work_group P2))
exists (x=0)
"""
OWN_STORES = """OpenCL self
{ [x]=0; [z]=0; }
P0 (global atomic_int* x, global int* z) {
  int r0 = atomic_load_explicit(x, memory_order_acquire, memory_scope_work_group);
  atomic_store_explicit(x, (r0 + 1) & 7, memory_order_release, memory_scope_work_group);
  atomic_store_explicit(x, r0, memory_order_release, memory_scope_work_group);
  if (r0 * r0 == 25) { *z = 1; }
}
P1 (global int* z) { *z = 2; }
scopeTree (device (work_group P0) (work_group P1))
exists (x=0)
"""


def model(text: str) -> MemoryModel:
    return read_model(Source("m.cat", f'"m"\n{text}\n{RACE}'), "m")


def word(program: str, under: MemoryModel) -> Word:
    return check(read_program(Source("t", program)), SCHEME, under, Settings()).word


@pytest.mark.parametrize("name", ["opencl-rsp", "opencl-rsp-fig2", "opencl-hrf"])
def test_the_shipped_models_rule_out_all_three(name: str) -> None:
    assert no_circles(load_model(name)) == NoCircles(forward=True, atomic=True, plain=True)


@pytest.mark.parametrize(
    ("text", "forward", "atomic", "plain"),
    [
        ("let hb = (sb | rf)+\nirreflexive hb as Hb\nirreflexive rf; hb as Rf", True, False, False),
        ("let hb = rf+\nirreflexive hb as Hb\nirreflexive rf; hb as Rf", False, False, False),
        ("let hb = sb+\nirreflexive rf; hb as Rf", False, False, False),
        ("let hb = sb+\nirreflexive rf | (mo; rf) as Rmw", False, True, False),
        ("let hb = sb+\nirreflexive mo; rf as Rmw", False, False, False),
        ("let hb = sb+\nacyclic sb | rf as Base", False, True, True),
        ("let rf = rf & loc\nlet hb = sb+\nacyclic sb | rf as Base", False, False, False),
        (
            "let hb = (sb | rf)+\nlet hbl = hb & loc\n"
            "let vis = (W * R) & loc & hb \\ (hb; [W]; hbl)\n"
            "irreflexive hb as Hb\nempty (rf; [nal]) \\ vis as Narf",
            *(False, False, True),
        ),
    ],
)
def test_shapes(text: str, forward: bool, atomic: bool, plain: bool) -> None:
    assert no_circles(model(text)) == NoCircles(forward, atomic, plain)


@pytest.mark.parametrize("guard", ["r0 == 5", "r0 * r0 == 25"])
def test_increments_in_a_circle(guard: str) -> None:
    """Without Rmw, increments may read from each other, and r0 may be anything: never SOUND."""
    program = INCREMENTS.format(guard=guard, kind="atomic_int")
    loose = model("let hb = sb+\nacyclic hb as Hb")
    assert word(program, loose) in (Word.RACY, Word.UNKNOWN)
    assert word(program, load_model("opencl-rsp")) is Word.SOUND


def test_a_read_of_a_later_store() -> None:
    """Without program order in hb a read may see what its own thread stores later."""
    loose = model(
        "let sw = ([W & REL]; rf; [R & ACQ]) \\ thd\n"
        "let hb = ((sb \\ (thd & loc)) | sw)+\n"
        "irreflexive hb as Hb\nirreflexive rf; hb as Rf"
    )
    assert word(OWN_STORES, loose) is Word.RACY
    assert word(OWN_STORES, load_model("opencl-rsp")) is Word.SOUND
