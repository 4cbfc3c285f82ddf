"""Exchangeable threads: which they are, and that one order of them stands for all."""

import random

import pytest
from checks import judged, scheme_named

from rspverify.axiomatic.symmetry import exchangeable, repeated
from rspverify.litmus.program import Program
from rspverify.litmus.reader import read_program
from rspverify.machine.machine import Machine
from rspverify.machine.reductions import placed
from rspverify.scheme.mutants import mutants_of
from rspverify.scheme.reader import read_scheme
from rspverify.soundness import machine_side as reached
from rspverify.source import Source
from rspverify.verdict import Word

ORIGINAL = scheme_named("original")

SCOPES = ["work_group", "device"]
BODIES = {
    "inc": "int r0 = atomic_fetch_add_explicit{R}(x, 1, memory_order_acq_rel, memory_scope_{s});",
    "store": "atomic_store_explicit{R}(x, 2, memory_order_release, memory_scope_{s});",
    "publish": "*d = 1; atomic_store_explicit{R}(x, 3, memory_order_release, memory_scope_{s});",
    "consume": "int r0 = atomic_load_explicit{R}(x, memory_order_acquire, memory_scope_{s}); "
    "if (r0 == 3) {{ int r1 = *d; }}",
    "twice": "int r0 = atomic_load_explicit{R}(x, memory_order_acquire, memory_scope_{s}); "
    "int r1 = atomic_load_explicit{R}(x, memory_order_acquire, memory_scope_{s});",
}


def program(bodies: list[str], places: list[int]) -> Program:
    """Threads with these bodies in work-groups of these numbers, on one device."""
    lines = ["OpenCL symmetric", "{ [x]=0; [d]=0; }"]
    for number, body in enumerate(bodies):
        lines.append(f"P{number} (global atomic_int* x, global int* d) {{ {body} }}")
    groups = [
        "(work_group " + " ".join(f"P{n}" for n, place in enumerate(places) if place == group) + ")"
        for group in sorted(set(places))
    ]
    lines += [f"scopeTree (device {' '.join(groups)})", "exists (x=0)", ""]
    return read_program(Source("symmetric", "\n".join(lines)))


def body(name: str, scope: str = "device", remote: str = "") -> str:
    return BODIES[name].format(s=scope, R=remote)


def fenced(order: str, flags: str = "CLK_GLOBAL_MEM_FENCE") -> str:
    """An increment behind a fence."""
    return f"atomic_work_item_fence({flags}, memory_order_{order}, memory_scope_device); {INC}"


def cas(failure: str) -> str:
    orders = f"memory_order_acq_rel, memory_order_{failure}"
    return (
        f"int r0 = atomic_compare_exchange_strong_explicit(x, d, 5, {orders}, memory_scope_device);"
    )


INC, STORE, STORE_R = body("inc"), body("store"), body("store", remote="_remote")


@pytest.mark.parametrize(
    ("bodies", "places", "pairs"),
    [
        ([INC, INC, INC], [0, 0, 0], [(0, 1), (1, 2)]),
        ([INC, INC, INC], [0, 1, 2], [(0, 1), (1, 2)]),
        ([INC, STORE, INC], [0, 0, 1], []),
        ([INC, STORE, INC], [0, 1, 2], [(0, 2)]),
        ([INC, STORE, STORE, INC], [0, 0, 1, 1], [(0, 3)]),
        ([INC, body("inc", "work_group")], [0, 0], []),
        ([INC, body("inc", remote="_remote")], [0, 0], []),
        ([body("consume"), body("consume")], [0, 0], [(0, 2)]),
        ([body("consume"), body("twice")], [0, 0], []),
        # what Tab. 3 does not have; a fence is no access, and comes first in its thread
        ([fenced("release"), fenced("release")], [0, 1], [(1, 3)]),
        ([fenced("release"), fenced("acquire")], [0, 1], []),
        ([fenced("release"), fenced("release", "CLK_LOCAL_MEM_FENCE")], [0, 1], []),
        ([cas("relaxed"), cas("relaxed")], [0, 1], [(0, 2)]),
        ([cas("relaxed"), cas("acquire")], [0, 1], []),
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
            body(rng.choice(list(BODIES)), rng.choice(SCOPES), rng.choice(["", "_remote"]))
            for _ in range(2)
        ]
        if rng.random() < 0.4:
            broken = [(body("consume"), body("publish")), (body("inc", "work_group"), STORE_R)]
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
    reader = body("consume")
    test = program([reader, body("publish"), reader], [0, 1, 2])
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
