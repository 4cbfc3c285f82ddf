"""Spins as awaits: held to loops that are unrolled, and what must be unrolled."""

from __future__ import annotations

import random

import pytest
from litmus.spins import outcomes_and_race, spinning_test

from rspverify.axiomatic.awaits import awaited, iterations_needed
from rspverify.axiomatic.cat import load_model, read_model
from rspverify.axiomatic.catalogue import SHIPPED, shipped_models
from rspverify.axiomatic.model import MemoryModel
from rspverify.litmus.program import Program
from rspverify.litmus.reader import read_program
from rspverify.records import replace
from rspverify.source import Source, read_source

GIVEN = "global atomic_int* x, global atomic_int* y, global atomic_int* m, global int* d"
LOAD = "atomic_load_explicit({}, memory_order_{}, memory_scope_{})"
STORE = "atomic_store_explicit({}, {}, memory_order_{}, memory_scope_{});"


def program(first: str, second: str, unroll: int = 3) -> Program:
    text = (
        f"OpenCL t\n{{ }}\nP0@wg 0, dev 0 ({GIVEN}) {{ {first} }}\n"
        f"P1@wg 1, dev 0 ({GIVEN}) {{ {second} }}\n"
    )
    return read_program(Source("t", text), unroll)


def load(place: str, order: str = "acquire", scope: str = "device") -> str:
    return LOAD.format(place, order, scope)


def store(place: str, value: int, order: str = "release", scope: str = "device") -> str:
    return STORE.format(place, value, order, scope)


@pytest.mark.parametrize(
    "model", ["opencl-rsp", "opencl-hrf", "opencl", "opencl-scoped-sc", "rc11"]
)
def test_the_same_outcomes_and_races_as_unrolled(model: str) -> None:
    judged = load_model(model)
    draw = random.Random(model)
    compared = 0
    while compared < 4:
        text = spinning_test(draw)
        read = read_program(Source("t", text))
        if not read.spins or awaited(read, judged) is not read:
            continue
        found, races = outcomes_and_race(read, judged)
        unrolled = read_program(Source("t", text), 2).unrolled
        assert unrolled is not None
        expected, races_too = outcomes_and_race(unrolled, judged)
        assert races == races_too, text
        assert races or found == expected, text
        compared += 1


def test_a_race_of_an_iteration_that_goes_on_is_found() -> None:
    """The last iteration reads d when it is ready; the ones before may read it too early."""
    body = f"int r, s; do {{ r = {load('y')}; s = *d; }} while (r == 0);"
    model = load_model("opencl-rsp")
    _, races = outcomes_and_race(program(body, f"*d = 1; {store('y', 1)}"), model)
    assert races
    without = f"int r, s; do {{ r = {load('y')}; }} while (r == 0); s = *d;"
    _, races = outcomes_and_race(program(without, f"*d = 1; {store('y', 1)}"), model)
    assert not races


def test_a_race_of_an_execution_that_never_ends_is_found() -> None:
    model = load_model("opencl-rsp")
    waits = program("while (*d != 1) ;", "*d = 1;")
    assert outcomes_and_race(waits, model) == (frozenset(), True)
    assert waits.unrolled is not None
    assert outcomes_and_race(waits.unrolled, model) == (frozenset(), True)
    behind = program(f"while ({load('x')} != 7) ; *d = 1;", "*d = 2;")
    assert outcomes_and_race(behind, model) == (frozenset(), False)
    beside = program(f"*d = 1; while ({load('x')} != 7) ;", "*d = 2;")
    assert outcomes_and_race(beside, model) == (frozenset(), True)


def test_an_axiom_that_more_events_satisfy_forbids_it() -> None:
    """By this one a read must have another before it: the iteration that goes on may be that."""
    spins = program(f"while ({load('x')} == 0) ;", store("x", 1))
    for name in shipped_models():
        assert iterations_needed(load_model(name), spins) is None
    model = read_model_text("empty ([R & A] \\ (rf^-1; [W]; rf)) as Fine")
    assert awaited(spins, model) is spins
    model = read_model_text("empty ([R] \\ (sb^-1; [R]; sb)) as Before")
    assert awaited(spins, model) is spins.unrolled
    model = read_model_text("undefined_unless empty (R * R & sb) as Many")
    assert awaited(spins, model) is spins
    model = read_model_text("undefined_unless empty ((R * R & sb); (R * R & sb)) as Many")
    assert awaited(spins, model) is spins.unrolled


RMW_SPINS = f"""OpenCL t
{{ [m] = 2; }}
P0@wg 0, dev 0 ({GIVEN}) {{ {store("x", 1, "relaxed")} {store("m", 1)} {store("m", 0, "relaxed")} }}
P1@wg 1, dev 0 ({GIVEN}) {{
  int c; do c = atomic_exchange_explicit(m, 1, memory_order_relaxed, memory_scope_device);
  while (c == 1);
}}
P2@wg 2, dev 0 ({GIVEN}) {{ int r = {load("m")}; int s = {load("x", "relaxed")}; int t = {load("m")}; }}
"""


def test_a_release_sequence_goes_through_a_read_modify_write_that_is_left_out() -> None:
    """By RC11 who reads from it synchronises with whom it reads from. Where that is not so, P2 may read
    x as 0 between an m of 1 that an iteration that goes on has written, and one of 0."""
    spins, rc11 = read_program(Source("t", RMW_SPINS), 2), load_model("rc11")
    assert spins.unrolled is not None and awaited(spins, rc11) is spins
    found = outcomes_and_race(spins, rc11)
    assert found == outcomes_and_race(spins.unrolled, rc11)
    model = read_source(SHIPPED / "rc11.cat")
    other = read_model(replace(model, text=model.text.replace("; (rf; rmw)*", "")), "other")
    assert awaited(spins, other) is spins.unrolled
    assert outcomes_and_race(spins.unrolled, other)[0] > outcomes_and_race(spins, other)[0]


def test_where_a_plain_access_may_race_with_it_no_read_modify_write_is_left_out() -> None:
    last = RMW_SPINS.rindex("P2")
    text = RMW_SPINS[:last] + "P2@wg 2, dev 0 (global int* m) { int r = *m; }"
    spins = read_program(Source("t", text), 2, mixed=True)
    for name in ("rc11", "opencl-rsp"):
        assert awaited(spins, load_model(name)) is spins.unrolled


def read_model_text(text: str) -> MemoryModel:
    return read_model(Source("m.cat", f'"m"\nacyclic sb as Order\n{text}\n'), "m")


def test_what_must_be_there_may_be_there_by_an_iteration_that_goes_on() -> None:
    model = read_model_text("~empty ((R * R) & sb) as Twice")
    spins = program(f"while ({load('x')} == 0) ;", store("x", 1))
    assert awaited(spins, model) is spins.unrolled
    kept = read_model_text("~empty ((W * W) & sb) as Twice")
    assert awaited(spins, kept) is spins


def test_a_race_may_need_iterations_of_two_loops_in_one_another() -> None:
    """d is read only where both are 0, and written only after both loops have ended."""
    inner = f"do {{ s = {load('y', 'relaxed')}; if (r == 0 && s == 0) *d; }} while (s == 0);"
    body = f"int r, s; do {{ r = {load('x', 'relaxed')}; {inner} }} while (r == 0);"
    text = (
        f"C t\n{{ }}\nP0({GIVEN}) {{ {body} {store('m', 1, 'relaxed')} }}\n"
        f"P1({GIVEN}) {{ {store('y', 1, 'relaxed')} {store('x', 1, 'relaxed')} }}\n"
        f"P2({GIVEN}) {{ if ({load('m', 'relaxed')} == 1) *d = 5; }}\n"
    )
    text = text.replace("global ", "").replace(", memory_scope_device", "")
    spins = read_program(Source("t", text), 2)
    model = load_model("rc11")
    assert len(spins.spins) == 2 and awaited(spins, model) is spins
    assert outcomes_and_race(spins, model)[1]


def test_a_circle_through_a_plain_read_forbids_it() -> None:
    model = load_model("opencl-rsp")
    first = f"while ({load('x', 'relaxed')} == 0) ; int r = *d; {store('y', 1, 'relaxed')}"
    second = f"int r = {load('y', 'relaxed')}; *d = r; {store('x', 1, 'relaxed')}"
    loose = program(first, second)
    assert awaited(loose, model) is loose.unrolled
    tight = program(first.replace("relaxed", "seq_cst"), second.replace("relaxed", "seq_cst"))
    assert awaited(tight, model) is tight


@pytest.mark.parametrize("order", ["release", "relaxed"])
def test_along_one_location_there_is_no_circle(order: str) -> None:
    """An exchange that acquires need not synchronise with one that took the lock before."""
    take = "atomic_exchange_explicit(m, 1, memory_order_acquire, memory_scope_device)"
    locked = f"while ({take} != 0) ; *d = *d + 1; {store('m', 0, order)}"
    spins, model = program(locked, locked, unroll=2), load_model("opencl-rsp")
    assert awaited(spins, model) is spins
    found, races = outcomes_and_race(spins, model)
    assert spins.unrolled is not None and races == (order == "relaxed")
    assert races or found == outcomes_and_race(spins.unrolled, model)[0]


def test_a_read_that_goes_on_counts_once() -> None:
    """The lock alone is on no circle, nor is x; but where an iteration goes on both may be."""
    take = "atomic_exchange_explicit(m, 1, memory_order_acquire, memory_scope_device)"
    first = f"while ({take} != 0) ; int r = *d; {store('x', 1, 'relaxed')}"
    second = f"int r = {load('x', 'relaxed')}; *d = 1; while ({take} != 0) ;"
    spins, model = program(first, second, unroll=2), load_model("opencl-rsp")
    assert awaited(spins, model) is spins.unrolled
    strong = program(first, second.replace("relaxed", "acquire"), unroll=2)
    assert awaited(strong, model) is strong.unrolled
    strong = program(first.replace("relaxed", "release"), second.replace("relaxed", "acquire"))
    assert awaited(strong, model) is strong


def test_of_an_unknown_model_no_read_modify_write_is_left_out() -> None:
    lock = "while (atomic_exchange(m, 1) != 0) ; atomic_store(m, 0);"
    spins = program(lock, lock)
    assert spins.spins
    assert awaited(spins, load_model("opencl-rsp")) is spins
    model = read_model_text("acyclic sb | rf | mo as Order")
    assert awaited(spins, model) is spins.unrolled
