"""What Tab. 3 does not have: other read-modify-writes than increments, and fences."""

from __future__ import annotations

import random
from dataclasses import replace

from rspverify.litmus.program import Kind, Order, Scope
from rspverify.programs import Access, LitmusTest, Thread
from rspverify.selftest.schemes import Code, Key, Table, general, key_of, needs_general

EXPECTED = "zero"
"""The plain location that every compare-exchange expects the value of. Nobody writes it."""

_OPERATORS = ("exchange", "|", "compare_exchange", "compare_exchange")
_FENCES: tuple[Code, ...] = (
    ("FLU_L1 WG", "INV_L1 WG"),
    ("FLU_L1 WG", "INV_L1 WG"),
    ("INV_L1 WG", "FLU_L1 DV"),
    ("FLU_L1 WG",),
    ("INV_L1 WG",),
    (),
)
_ORDERS = (Order.ACQUIRE, Order.RELEASE, Order.ACQ_REL)


def with_operations(rng: random.Random, test: LitmusTest, table: Table) -> tuple[LitmusTest, Table]:
    """The test with other operations for some of its increments, and with a fence now and then.

    The table has rows for these; of other rows some have RMW in the place of INC as well.
    """
    threads = [
        Thread(thread.place, tuple(_other(rng, each) for each in thread.accesses))
        for thread in test.threads
    ]
    if rng.random() < 0.2:
        _add_fence(rng, threads)
    changed = test.with_threads(threads)
    return changed, _with_rows(rng, changed, table)


def _other(rng: random.Random, access: Access) -> Access:
    if access.kind is not Kind.RMW or rng.random() < 0.5:
        return access
    operator = rng.choice(_OPERATORS)
    expected = EXPECTED if operator == "compare_exchange" else None
    return replace(access, operator=operator, expected=expected)


def _add_fence(rng: random.Random, threads: list[Thread]) -> None:
    number = rng.randrange(len(threads))
    own = threads[number].accesses
    place = rng.randint(0, len(own))
    scope = rng.choice((Scope.WG, Scope.DV, Scope.DV))
    fence = Access(Kind.FENCE, order=rng.choice(_ORDERS), scope=scope)
    threads[number] = replace(threads[number], accesses=(*own[:place], fence, *own[place:]))


def _with_rows(rng: random.Random, test: LitmusTest, table: Table) -> Table:
    rows = dict(table.rows)
    for key, code in rows.items():
        if key.kind is Kind.RMW and (needs_general(test, key) or rng.random() < 0.2):
            rows[key] = general(code)
    for access in test.accesses:
        if access.kind is Kind.FENCE:
            rows.setdefault(key_of(access), rng.choice(_FENCES))
        if access.expected is not None:
            rows.setdefault(Key(Kind.LOAD, None, False), ("LD r x",))
    return replace(table, rows=rows)
