"""Which circles of values a model leaves, asked of the model itself."""

import pytest

from rspverify.axiomatic import read_values
from rspverify.axiomatic.cat import load_model, read_model
from rspverify.axiomatic.catalogue import shipped_models
from rspverify.axiomatic.model import MemoryModel
from rspverify.axiomatic.read_values import increments_are_in_line, values_may_cause_themselves
from rspverify.limits import Limits
from rspverify.litmus.reader import read_program
from rspverify.relation.terms import closure
from rspverify.scheme.reader import read_scheme
from rspverify.soundness.case import Case
from rspverify.soundness.check import check
from rspverify.soundness.settings import Settings
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
    return check(Case(read_program(Source("t", program)), SCHEME, under, Settings())).word


def circular(program: str, under: MemoryModel) -> bool:
    return values_may_cause_themselves(read_program(Source("t", program)), under, Limits())


COPIES = """OpenCL copies
{ [x]=0; [y]=0; }
P0 (global atomic_int* x, global atomic_int* y) {
  int r0 = atomic_load_explicit(x, memory_order_relaxed, memory_scope_device);
  atomic_store_explicit(y, r0 + 1, memory_order_relaxed, memory_scope_device);
}
P1 (global atomic_int* x, global atomic_int* y) {
  int r1 = atomic_load_explicit(y, memory_order_relaxed, memory_scope_device);
  atomic_store_explicit(x, r1, memory_order_relaxed, memory_scope_device);
}
scopeTree (device (work_group P0) (work_group P1))
exists (x=1)
"""
PROGRAMS = {
    "increments": INCREMENTS.format(guard="r0", kind="atomic_int"),
    "plain increments": INCREMENTS.format(guard="r0", kind="int"),
    "own stores": OWN_STORES,
    "copies": COPIES,
}


@pytest.mark.parametrize(
    ("name", "possible"),
    [("opencl-rsp", {"copies"}), ("opencl-rsp-fig2", set()), ("opencl-hrf", {"copies"})],
)
def test_what_the_shipped_models_leave(name: str, possible: set[str]) -> None:
    """Relaxed copies in a circle are consistent, unless each atomic synchronises (Fig. 2)."""
    under = load_model(name)
    assert {each for each, text in PROGRAMS.items() if circular(text, under)} == possible


@pytest.mark.parametrize(
    ("text", "possible"),
    [
        ("let hb = (sb | rf)+\nirreflexive hb as Hb", set()),
        ("let hb = sb | rf\nirreflexive hb as Hb", {"increments", "own stores", "copies"}),
        ("let hb = rf+\nirreflexive rf; sb as Rf", {"increments", "plain increments", "copies"}),
        (
            "let hb = sb+\nirreflexive rf | (mo; rf) as Rmw",
            {"plain increments", "own stores", "copies"},
        ),
        (
            "let hb = sb+\nirreflexive mo; rf as Rmw",
            {"increments", "plain increments", "own stores", "copies"},
        ),
        ("let hb = sb+\nacyclic sb | rf as Base", set()),
        (
            "let rf = rf & int\nlet hb = sb+\nacyclic sb | rf as Base",
            {"increments", "plain increments", "copies"},
        ),
    ],
)
def test_circles_that_a_model_leaves(text: str, possible: set[str]) -> None:
    found = {each for each, program in PROGRAMS.items() if circular(program, model(text))}
    assert found == possible
    assert ordered(model(text)) == ("acyclic sb | rf" in text and "let rf" not in text)


def ordered(under: MemoryModel) -> bool:
    """Whether a model is seen to leave no circle, in whichever program."""
    programs = [read_program(Source("t", text)) for text in PROGRAMS.values()]
    told = {read_values.values_follow_an_order(it, under) for it in programs}
    assert len(told) == 1
    return told.pop()


@pytest.mark.parametrize("name", shipped_models())
def test_of_the_shipped_models_one_says_that_values_follow_an_order(name: str) -> None:
    """The solver, which is not asked then, would say the same."""
    under = load_model(name)
    assert ordered(under) is name.startswith("rc11")
    if name.startswith("rc11"):
        assert not any(circular(text, under) for text in PROGRAMS.values())


@pytest.mark.parametrize("scope", ["device", "work_group"])
def test_what_flows_along_happens_before_is_told_without_looking_for_circles(
    scope: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each read of the one is after the write of the other, if their scopes reach each other."""
    asked = []
    monkeypatch.setattr(read_values, "closure", lambda *given: asked.append(1) or closure(*given))
    text = COPIES.replace("relaxed, memory_scope_device);\n  atomic", "acquire, #);\n  atomic")
    text = text.replace("relaxed, memory_scope_device);\n}", "release, #);\n}")
    assert text.count("#") == 4
    found = circular(text.replace("#", f"memory_scope_{scope}"), load_model("opencl-rsp"))
    assert (found, bool(asked)) == (scope == "work_group", scope == "work_group")


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


@pytest.mark.parametrize(
    ("text", "in_line"),
    [
        ("let hb = sb+\nirreflexive rf | (mo; rf) as Rmw", True),
        ("let hb = sb+\nirreflexive rf | (mo; mo; rf^-1) | (mo; rf) as Rmw", True),
        ("let hb = sb+\nirreflexive (mo;rf) | (hb | (((rf)))) as Rmw", True),
        ("let f(x) = mo; x\nlet hb = sb+\nirreflexive f(rf) | rf as Rmw", True),
        ("let hb = sb+\nirreflexive rf | ((mo | sb); rf) as Rmw", False),
        ("let hb = sb+\nirreflexive mo; rf as Rmw", False),
        ("let hb = sb+\n~irreflexive rf | (mo; rf) as Rmw", False),
        ("let hb = sb+\nlet mo = mo & int\nirreflexive rf | (mo; rf) as Rmw", False),
        ("let hb = sb+\nlet rf = rf & int\nirreflexive rf | (mo; rf) as Rmw", False),
        ("let hb = sb+\nempty rmw & co as X\nirreflexive rf | (mo; rf) as Rmw", False),
    ],
)
def test_increments_in_line(text: str, in_line: bool) -> None:
    """Where the axiom alone tells, the solver says the same."""
    assert increments_are_in_line(model(text)) is in_line
    if in_line:
        assert not circular(PROGRAMS["increments"], model(text))


@pytest.mark.parametrize(
    "name", [it for it in shipped_models() if it.startswith(("c11", "opencl"))]
)
def test_increments_are_in_line_under_shipped_models(name: str) -> None:
    assert increments_are_in_line(load_model(name))
