"""The base names of .cat: which events and pairs of a small program they hold (Fig. 2)."""

import pytest

from rspverify.axiomatic import read_model
from rspverify.axiomatic.candidates import Candidates
from rspverify.axiomatic.vocabulary import (
    MODIFICATION_ORDER,
    READS_FROM,
    RELATIONS,
    SETS,
)
from rspverify.limits import Limits
from rspverify.litmus import read_program
from rspverify.smt import TRUE
from rspverify.source import Source

# Events 0 and 1 are the initial writes of x and y; operation i is event i + 2.
TEXT = """OPENCL t
{ [x]=0; [y]=0; }
P0 (global int* x, global atomic_int* y) {
  *x = 1;
  atomic_store_explicit(y, 1, memory_order_release, memory_scope_work_group);
}
P1 (global atomic_int* y) {
  int r0 = atomic_load_explicit_remote(y, memory_order_acquire, memory_scope_device);
}
P2 (global atomic_int* y) {
  int r0 = atomic_fetch_add_explicit(y, 2, memory_order_acq_rel, memory_scope_all_svm_devices);
}
P3 (global atomic_int* y) {
  atomic_store_explicit(y, 3, memory_order_relaxed, memory_scope_device);
  *y = 4;
  int r0 = atomic_load_explicit(y, memory_order_seq_cst, memory_scope_device);
}
scopeTree (system (device (work_group P0 P1) (work_group P2)) (device (work_group P3)))
"""
X0, Y0, STORE_X, RELEASE, ACQUIRE, ADD, RELAXED, PLAIN, STRONG = EVENTS = range(9)
THREADS = [{STORE_X, RELEASE}, {ACQUIRE}, {ADD}, {RELAXED, PLAIN, STRONG}]
X = {X0, STORE_X}
Y = set(EVENTS) - X


STARTED = {(start, event) for start in (X0, Y0) for event in EVENTS[2:]}


def candidates(expression: str, text: str = TEXT) -> Candidates:
    model = read_model(Source("t.cat", f"let hb = sb let it = {expression} acyclic hb as Hb"), "t")
    return Candidates(read_program(Source("t.litmus", text)), model, Limits())


def among(*groups: set[int]) -> set[tuple[int, int]]:
    return {(a, b) for group in groups for a in group for b in group}


@pytest.mark.parametrize(
    ("name", "events"),
    [
        ("_", set(EVENTS)),
        ("R", {ACQUIRE, ADD, STRONG}),
        ("W", {X0, Y0, STORE_X, RELEASE, ADD, RELAXED, PLAIN}),
        ("RMW", {ADD}),
        ("I", {X0, Y0}),
        ("IW", {X0, Y0}),
        ("A", {RELEASE, ACQUIRE, ADD, RELAXED, STRONG}),
        ("na", {X0, Y0, STORE_X, PLAIN}),
        ("nal", {X0, STORE_X}),
        ("REL", {RELEASE}),
        ("ACQ", {ACQUIRE}),
        ("SC", {STRONG}),
        ("WG", {RELEASE}),
        ("DV", {ACQUIRE, RELAXED, STRONG}),
        ("ALL", {ADD}),
        ("rem", {ACQUIRE}),
    ],
)
def test_sets(name: str, events: set[int]) -> None:
    assert candidates(f"[{name}]").relation("it") == {(event, event): TRUE for event in events}


@pytest.mark.parametrize(
    ("name", "pairs"),
    [
        ("id", {(event, event) for event in EVENTS}),
        ("unv", among(set(EVENTS))),
        ("thd", among(*THREADS)),
        ("wg", among(THREADS[0] | THREADS[1], THREADS[2], THREADS[3])),
        ("dv", among(THREADS[0] | THREADS[1] | THREADS[2], THREADS[3])),
        ("loc", among(X, Y)),
        *(
            (name, first | {(a, b) for group in THREADS for a in group for b in group if a < b})
            for name, first in (("sb", STARTED), ("po", set()))
        ),
    ],
)
def test_relations(name: str, pairs: set[tuple[int, int]]) -> None:
    assert candidates(name).relation("it") == dict.fromkeys(pairs, TRUE)


@pytest.mark.parametrize("name", ["mo", "co"])
def test_modification_order(name: str) -> None:
    """Between the writes of an atomic location, whatever they are; the initial one is first."""
    writes = {RELEASE, ADD, RELAXED, PLAIN}
    found = candidates(name).relation("it")
    between = {(a, b) for a in writes for b in writes if a != b}
    plain = {(X0, STORE_X)} if name == "co" else set()
    assert set(found) == between | {(Y0, write) for write in writes} | plain
    assert all(found[Y0, write] is TRUE for write in writes)
    assert all(found[b, a] is ~found[a, b] for a, b in between)


def test_reads_from() -> None:
    """Each read may read any write of its location, itself included."""
    found = candidates("rf").relation("it")
    writes = {Y0, RELEASE, ADD, RELAXED, PLAIN}
    assert set(found) == {(write, read) for write in writes for read in (ACQUIRE, ADD, STRONG)}


def test_every_base_name_is_tested() -> None:
    sets = {row[0] for row in test_sets.pytestmark[0].args[1]}
    relations = {row[0] for row in test_relations.pytestmark[0].args[1]}
    assert sets == set(SETS)
    assert relations == set(RELATIONS)
    assert {*READS_FROM, *MODIFICATION_ORDER} == {"rf", "mo", "co"}


GUARDED = """OPENCL t
{ [x]=0; [y]=0; }
P0@wg 0, dev 0 (global atomic_int* x, global atomic_int* y) {
  int r0 = atomic_load_explicit(x, memory_order_acquire, memory_scope_device);
  if (r0 == 1) { atomic_store_explicit(y, 1, memory_order_release, memory_scope_device); }
}
P1@wg 0, dev 0 (global atomic_int* x) {
  atomic_store_explicit(x, 1, memory_order_release, memory_scope_device);
}
"""


def test_what_is_not_executed_is_in_nothing() -> None:
    load, store, other = 2, 3, 4
    found = candidates("unv", GUARDED)
    executed = found.executed[store]
    assert executed is found.read[load][1]
    pairs = found.relation("it")
    assert pairs[store, store] is pairs[load, store] is pairs[store, other] is executed
    assert pairs[load, other] is TRUE
    assert candidates("[W]", GUARDED).relation("it").keys() == {(i, i) for i in (0, 1, 3, 4)}
    ordered = candidates("sb", GUARDED)
    assert ordered.relation("it")[load, store] is ordered.executed[store]
    assert (load, other) not in ordered.relation("it")
