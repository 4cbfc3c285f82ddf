"""Exchangeable threads: which they are, and that one order of them stands for all."""

import random

import pytest
from checks import judged, scheme_named

from rspverify.axiomatic.symmetry import exchangeable, repeated
from rspverify.litmus.program import Program
from rspverify.litmus.reader import read_program
from rspverify.machine.machine import Machine
from rspverify.machine.reductions import placed
from rspverify.programs.meaning import program_of
from rspverify.programs.notation import read_notation
from rspverify.scheme.mutants import mutants_of
from rspverify.scheme.reader import read_scheme
from rspverify.soundness import machine_side as reached
from rspverify.source import Source
from rspverify.verdict import Word

ORIGINAL = scheme_named("original")

SCOPES = ["WG", "DV"]
CONSUME, PUBLISH = "r0=ld.DV x; if r0==3: r1=ld.na d", "st.na d 1; st.DV x 3"
INC, STORE = "r0=inc.DV x", "st.DV x 2"
BODIES = [INC, STORE, PUBLISH, CONSUME, "r0=ld.DV x; r1=ld.DV x"]


def program(bodies: list[str], places: list[int]) -> Program:
    """Threads with these bodies in work-groups of these numbers, on one device."""
    groups = (
        "".join(str(n) for n, place in enumerate(places) if place == group)
        for group in sorted(set(places))
    )
    line = f"{' || '.join(bodies)} @{'-'.join(groups)} (atomic x)"
    return program_of(read_notation(line), "symmetric")


@pytest.mark.parametrize(
    ("bodies", "places", "pairs"),
    [
        ([INC, INC, INC], [0, 0, 0], [(0, 1), (1, 2)]),
        ([INC, INC, INC], [0, 1, 2], [(0, 1), (1, 2)]),
        ([INC, STORE, INC], [0, 0, 1], []),
        ([INC, STORE, INC], [0, 1, 2], [(0, 2)]),
        ([INC, STORE, STORE, INC], [0, 0, 1, 1], [(0, 3)]),
        ([INC, "r0=inc.WG x"], [0, 0], []),
        ([INC, "r0=inc.DV.R x"], [0, 0], []),
        ([CONSUME, CONSUME], [0, 0], [(0, 2)]),
        ([CONSUME, BODIES[4]], [0, 0], []),
        # what Tab. 3 does not have; a fence is no access, and comes first in its thread
        ([f"F.rel.DV; {INC}", f"F.rel.DV; {INC}"], [0, 1], [(1, 3)]),
        ([f"F.rel.DV; {INC}", f"F.acq.DV; {INC}"], [0, 1], []),
        ([f"F.rel.DV; {INC}", f"F.rel.DV.local; {INC}"], [0, 1], []),
        (["r0=cas.DV x d 5", "r0=cas.DV x d 5"], [0, 1], [(0, 2)]),
        (["r0=cas.DV x d 5", "r0=cas.ar.acq.DV x d 5"], [0, 1], []),
    ],
)
def test_exchangeable(bodies: list[str], places: list[int], pairs: list[tuple[int, int]]) -> None:
    assert exchangeable(program(bodies, places)) == pairs


def test_the_same_verdict_without_it(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of random programs with equal threads; sound and unsound ones must be among them."""
    rng = random.Random(7)
    words = []
    for _ in range(40):
        kinds = [
            rng.choice(BODIES).replace("DV", rng.choice(SCOPES) + rng.choice(["", ".R"]))
            for _ in range(2)
        ]
        if rng.random() < 0.4:
            broken = [(CONSUME, PUBLISH), ("r0=inc.WG x", "st.DV.R x 2")]
            kinds = list(rng.choice(broken))
        threads = [rng.choice(kinds) for _ in range(rng.randint(2, 4))]
        test = program(threads, [rng.randrange(2) for _ in threads])
        with monkeypatch.context() as patched:
            patched.setattr(reached, "exchangeable", lambda *_: [])
            without = judged(test, ORIGINAL)
        found = judged(test, ORIGINAL)
        assert found.word is without.word, threads
        assert found.outcome == without.outcome
        words.append((found.word, bool(exchangeable(test))))
    assert words.count((Word.SOUND, True)) >= 5, words
    assert words.count((Word.UNSOUND, True)) >= 3, words


def test_of_placements_that_an_exchange_turns_into_each_other_one_is_asked_about(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Three equal threads share compute units in five ways, of which two are exchanges of others.
    With two of them on one unit only these come in one order."""
    table = scheme_named("amdgpu/gfx900")
    test = program([INC, INC, INC], [0, 1, 2])
    made = [it.program for it in placed(Machine(table.compiled(test)))]
    units = [dict(it.placement)["cu"] for it in made]
    kept = [it for at, it in enumerate(units) if at not in repeated(test, made)]
    assert kept == [(0, 1, 2), (0, 0, 1), (0, 0, 0)] and len(units) == 5
    pairs = {dict(it.placement)["cu"]: exchangeable(test, it) for it in made}
    assert pairs[0, 1, 2] == pairs[0, 0, 0] == [(0, 1), (1, 2)]
    assert [pairs[0, 0, 1], pairs[0, 1, 0], pairs[0, 1, 1]] == [[(0, 1)], [(0, 2)], [(1, 2)]]
    test = program([CONSUME, PUBLISH, CONSUME], [0, 1, 2])
    for code in (table, *(it.of(table) for it in mutants_of(table)[4].mutants[1:3])):
        with monkeypatch.context() as patched:
            patched.setattr(reached, "exchangeable", lambda *_: [])
            patched.setattr(reached, "repeated", lambda *_: frozenset())
            without = judged(test, code, shortest=False)
        assert judged(test, code, shortest=False).word is without.word


def test_threads_that_differ_in_what_is_sequenced_are_not_exchangeable() -> None:
    """The first loads in two operands, the second one after the other: only the second may fail."""
    first = "if (r == 0) { int a = FIRST + SECOND; }"
    second = "if (r == 0) { int a = FIRST; int b = SECOND; }"
    loads = {
        "FIRST": "atomic_load_explicit(y, memory_order_acquire, memory_scope_device)",
        "SECOND": "atomic_load_explicit(x, memory_order_relaxed, memory_scope_device)",
    }
    stale = read_scheme(
        Source(
            "stale.yaml",
            """\
name: stale
machine: rsp
rows:
  - {op: load, scope: dv, code: [LD r x]}
  - {op: load, scope: dv, order: relaxed, code: [LD r x]}
  - {op: store, scope: dv, order: release, code: [FLU_L1 WG, ST r x]}
  - {op: rmw, scope: wg, order: relaxed, code: [RMW_L1 r x]}
""",
        )
    )
    parameters = "(global atomic_int* x, global atomic_int* y, global atomic_int* c)"
    increment = "atomic_fetch_add_explicit(c, 1, memory_order_relaxed, memory_scope_work_group)"
    for bodies in ((first, second), (second, first)):
        lines = ["OpenCL t", "{ }"]
        for number, body in enumerate(bodies):
            for name, load in loads.items():
                body = body.replace(name, load)
            lines.append(f"P{number} {parameters} {{ int r = {increment}; {body} }}")
        lines.append(
            f"P2 {parameters} {{ "
            "atomic_store_explicit(x, 1, memory_order_relaxed, memory_scope_device); "
            "atomic_store_explicit(y, 1, memory_order_release, memory_scope_device); }"
        )
        lines.append("scopeTree (device (work_group P0 P1) (work_group P2))")
        it = read_program(Source("t", "\n".join(lines)))
        assert exchangeable(it) == []
        assert judged(it, stale).word is Word.UNSOUND


def test_ten_equal_threads_are_decided_as_one_order_of_them_is() -> None:
    """Of their 3,628,800 orders; without this reduction it takes minutes."""
    found = judged(program([INC] * 10, list(range(10))), ORIGINAL, seconds=60)
    assert found.word is Word.SOUND
