"""Random tests whose loops spin, and what a model says of them."""

from __future__ import annotations

import random

from rspverify.axiomatic.model import MemoryModel
from rspverify.axiomatic.question import Questions
from rspverify.limits import Limits
from rspverify.litmus.program import Program
from rspverify.value import evaluate

ORDERS = {
    "load": ("acquire", "relaxed", "seq_cst"),
    "store": ("release", "relaxed", "seq_cst"),
    "exchange": ("acq_rel", "relaxed", "seq_cst"),
}
GIVEN = "global atomic_int* x, global atomic_int* y, global atomic_int* m, global int* d"

State = tuple[tuple[object, ...], tuple[tuple[str, int], ...]]


def outcomes_and_race(program: Program, model: MemoryModel) -> tuple[frozenset[State], bool]:
    """What registers and memory hold in the ends of consistent executions; whether any races."""
    asked = Questions(program, model, Limits())
    found = set()
    for outcome in asked.endings():
        read = dict(outcome.reads)
        registers = tuple(
            (thread.name, name, evaluate(value, read))
            for thread in program.threads
            for name, value in thread.registers.items()
        )
        found.add((registers, tuple(outcome.memory)))
    return frozenset(found), asked.race() is not None


def spinning_test(draw: random.Random) -> str:
    """The text of a test of two or three threads, some of whose loops only spin."""
    strong = draw.random() < 0.5

    def how(kind: str) -> str:
        order = ORDERS[kind][0] if strong else draw.choice(ORDERS[kind])
        narrow = draw.random() < (0.05 if strong else 0.25)
        return f"memory_order_{order}, memory_scope_{'work_group' if narrow else 'device'}"

    def load(place: str) -> str:
        return f"atomic_load_explicit({place}, {how('load')})"

    def statement(number: int) -> str:
        place, value = draw.choice("xy"), draw.choice((1, 1, 2))
        until = draw.choice(("== 0", "!= 1", "!= 2", "== 1"))
        other = draw.choice((load(draw.choice("xy")), "*d"))
        r = f"r{number}"
        return draw.choice(
            (
                f"atomic_store_explicit({place}, {value}, {how('store')});",
                f"*d = {value};",
                f"int {r} = *d;",
                f"int {r} = {load(place)};",
                f"int {r} = atomic_exchange_explicit({place}, {value}, {how('exchange')});",
                f"int {r}; do {r} = {load(place)}; while ({r} {until});",
                f"int {r}; do {r} = {load(place)}; while ({r} {until});",
                f"int {r}, s{number}; do {{ {r} = {load(place)}; s{number} = {other}; }}"
                f" while ({r} {until});",
                f"while (atomic_exchange_explicit(m, 1, {how('exchange')}) != 0) ;",
            )
        )

    threads = []
    for number in range(draw.choice((2, 2, 3))):
        body = [statement(place) for place in range(draw.choice((1, 2, 2)))]
        if draw.random() < 0.3:
            body.append(f"atomic_store_explicit(m, 0, {how('store')});")
        group = draw.randrange(3)
        threads.append(f"P{number}@wg {group}, dev 0 ({GIVEN}) {{ {' '.join(body)} }}")
    return "\n".join(["OpenCL t", "{ }", *threads, ""])
