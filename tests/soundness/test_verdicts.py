"""The verdicts other than SOUND and UNSOUND, limits, and schemes that are broken on purpose."""

from __future__ import annotations

from pathlib import Path

import pytest
from checks import ROOT, judged, litmus, scheme_named

from rspverify.axiomatic.cat import load_model
from rspverify.litmus.reader import read_program, read_program_file
from rspverify.programs.meaning import program_of
from rspverify.programs.notation import read_notation
from rspverify.scheme.reader import read_scheme, read_scheme_file
from rspverify.soundness.settings import Engine, Settings
from rspverify.source import Source
from rspverify.verdict import Reading, Word

PROPOSED = scheme_named("proposed")
BROKEN = sorted((ROOT / "tests/scheme/broken").glob("*.yaml"))


DEADLOCK = """
name: deadlock
rows:
  - {op: load, scope: [na, wg, dv], code: [LD r x]}
  - {op: store, scope: [na, wg, dv], code: [LK_rmw DV, ST r x]}
  - {op: rmw, scope: [wg, dv], code: [LK_rmw DV, INC_L1 r x]}
"""


@pytest.mark.parametrize("engine", Engine)
def test_vacuous_says_where_the_machine_stops(engine: Engine) -> None:
    """Two threads of different work-groups that take the rmw locks and keep them."""
    scheme = read_scheme(Source("deadlock.yaml", DEADLOCK))
    verdict = judged(litmus("rsp/paper/Ex1"), scheme, engine=engine)
    assert verdict.word is Word.VACUOUS
    assert verdict.within == {}
    assert verdict.reason == "no execution of the compiled program completes"
    (waits,) = verdict.blocked
    locks = "the rmw d0 w0 and the rmw d0 w1, held by"
    assert waits in (
        f"P0 at LK_rmw DV waits for {locks} P1, which has ended",
        f"P1 at LK_rmw DV waits for {locks} P0, which has ended",
    )


def test_unsupported_names_operation_and_line() -> None:
    source = read_program(
        Source(
            "t.litmus",
            "OpenCL t\n{}\nP0 (global atomic_int* x) {\n"
            "  int r0 = atomic_load_explicit(x, memory_order_relaxed, memory_scope_device);\n}\n"
            "scopeTree (device (work_group P0))\n",
        )
    )
    verdict = judged(source, PROPOSED)
    assert verdict.word is Word.UNSUPPORTED
    assert verdict.reason == (
        "line 4: scheme proposed has no row for load DV,N (relaxed) on x "
        "(its load rows: load na, load WG,_ (acquire); load DV,N (acquire); load DV,R (acquire); "
        "the scheme proposed-full has rows for all orders)"
    )


def test_seq_cst_is_beyond_models_without_it() -> None:
    source = read_program(
        Source(
            "t.litmus",
            "OpenCL t\n{}\nP0 (global atomic_int* x) {\n"
            "  atomic_store_explicit(x, 1, memory_order_seq_cst, memory_scope_device);\n}\n"
            "scopeTree (device (work_group P0))\n",
        )
    )
    anything = "{op: store, scope: dv, order: seq_cst, code: [ST r x]}"
    scheme = read_scheme(Source("s.yaml", f"name: s\nrows:\n  - {anything}\n"))
    verdict = judged(source, scheme, model=load_model("opencl-rsp-fig2"))
    assert verdict.word is Word.UNSUPPORTED
    assert verdict.reason.startswith("line 4: seq_cst is beyond the model opencl-rsp-fig2")


def test_racy_names_both_accesses() -> None:
    verdict = judged(litmus("rsp/paper/Ex3"), PROPOSED)
    assert verdict.word is Word.RACY
    assert verdict.race is not None
    assert {verdict.race.first.thread, verdict.race.second.thread} == {0, 1}
    assert verdict.race.first.line == 11
    assert verdict.race.second.line == 15


def test_limits_are_unknown_never_sound() -> None:
    test = litmus("rsp/IRIW/IRIW+st.WG+st.WG+ld.WG-ld.WG+ld.DV.R-ld.DV.R@012-3")
    states = judged(test, PROPOSED, engine=Engine.EXPLICIT, states=20)
    assert (states.word, states.reason) == (Word.UNKNOWN, "more than 20 machine states")
    late = judged(test, PROPOSED, seconds=1e-6)
    assert (late.word, late.reason) == (Word.UNKNOWN, "timeout of 1e-06 s")


def test_too_many_values_are_unknown() -> None:
    adds = " || ".join(f"add.DV x {3**i}" for i in range(9))
    source = program_of(read_notation(adds), "t")
    verdict = judged(source, PROPOSED)
    assert verdict.word is Word.UNKNOWN
    assert verdict.reason == "x may take more than 256 values"


@pytest.mark.parametrize("path", BROKEN, ids=lambda path: path.stem)
def test_broken_siblings(path: Path) -> None:
    """Each broken sibling of Proposed is found unsound, unless only progress can catch it."""
    scheme = read_scheme_file(path)
    tests = sorted((ROOT / "litmus/rsp/MP").glob("*.litmus")) + sorted(
        (ROOT / "litmus/rsp/RMW").glob("*")
    )
    words = {judged(read_program_file(test), scheme).word for test in tests}
    only_stuck = path.stem in ("proposed-no-rmw-unlock", "proposed-no-lock-order")
    assert (Word.UNSOUND in words) is not only_stuck


def test_same_counterexample_every_time() -> None:
    original = scheme_named("original")
    name = "rsp/ISA2/ISA2+st.na-st.WG+ld.WG-st.DV+ld.DV-ld.na@01-2"
    first = judged(litmus(name), original)
    judged(litmus("rsp/paper/Ex4"), original)
    second = judged(litmus(name), original)
    assert first.execution == second.execution
    assert first == judged(litmus(name), original, engine=Engine.EXPLICIT)
    assert first == second


LOOP = """OpenCL t
{{}}
P0@wg 0, dev 0 (global atomic_int* x) {{
  int n;
  while (atomic_load_explicit(x, memory_order_acquire, memory_scope_{scope}) == {value}) n++;
}}
P1@wg 1, dev 0 (global atomic_int* x) {{
  atomic_store_explicit(x, 1, memory_order_release, memory_scope_{scope});
}}
"""


def test_a_verdict_says_how_far_loops_were_looked_at() -> None:
    """No execution goes round three times, but that is not known when the loop is cut."""
    source = read_program(Source("t", LOOP.format(scope="device", value=2)), unroll=3)
    verdict = judged(source, PROPOSED)
    assert verdict.word is Word.SOUND
    assert verdict.within == {"iterations": 3}
    assert verdict.reason == (
        "within 3 iterations, every outcome of the compiled program is allowed"
    )


def test_a_race_that_is_found_is_one_whatever_the_bound_of_loops() -> None:
    source = read_program(Source("t", LOOP.format(scope="work_group", value=1)))
    verdict = judged(source, PROPOSED)
    assert (verdict.word, verdict.within) == (Word.RACY, {})


def test_a_model_that_chooses_more_than_rf_and_mo_judges_no_witness() -> None:
    """The machine generates no order of seq_cst events: sound by outcome says less than is asked."""
    model = load_model("opencl")
    assert model.chooses
    by_outcome = judged(litmus("rsp/paper/Ex1"), PROPOSED, model=model)
    assert by_outcome.word is Word.SOUND
    settings = Settings(reading=Reading.WITNESS)
    by_witness = judged(litmus("rsp/paper/Ex1"), PROPOSED, settings, model=model)
    assert by_witness.word is Word.UNKNOWN
    assert by_witness.reason.startswith(
        "no outcome is wrong, but the model lets an execution choose"
    )
    assert judged(litmus("rsp/paper/Ex1"), PROPOSED, settings).word is Word.SOUND
