"""What Tab. 3 does not have: other read-modify-writes than increments, and fences."""

from __future__ import annotations

import random

from rspverify.litmus.program import Kind, Order, Scope
from rspverify.programs.litmus_test import Access, LitmusTest
from rspverify.records import replace
from rspverify.scheme.orders import Op
from rspverify.scheme.scheme import Scheme
from rspverify.selftest.schemes import (
    PLAIN_LOAD,
    code,
    general,
    needs_general,
    scheme_of,
    shape_for,
)

EXPECTED = "zero"
"""The plain location that every compare-exchange expects the value of. Nobody writes it."""

_OPERATORS = ("exchange", "|", "compare_exchange", "compare_exchange")
_FENCES = (
    code("FLU_L1 WG", "INV_L1 WG"),
    code("FLU_L1 WG", "INV_L1 WG"),
    code("INV_L1 WG", "FLU_L1 DV"),
    code("FLU_L1 WG"),
    code("INV_L1 WG"),
    code(),
)


def with_operations(
    rng: random.Random, test: LitmusTest, scheme: Scheme
) -> tuple[LitmusTest, Scheme]:
    """The test with other operations for some of its increments, and with a fence now and then.

    The scheme has rows for these; of other rows some have RMW in the place of INC as well.
    """
    threads = [
        replace(thread, accesses=tuple(_other(rng, each) for each in thread.accesses))
        for thread in test.threads
    ]
    if rng.random() < 0.2:
        number = rng.randrange(len(threads))
        threads[number] = replace(threads[number], accesses=_fenced(rng, threads[number].accesses))
    changed = test.with_threads(threads)
    return changed, _with_rows(rng, changed, scheme)


def _other(rng: random.Random, access: Access) -> Access:
    if access.kind is not Kind.RMW or rng.random() < 0.5:
        return access
    operator = rng.choice(_OPERATORS)
    expected = EXPECTED if operator == "compare_exchange" else None
    return replace(access, operator=operator, expected=expected)


def _fenced(rng: random.Random, own: tuple[Access, ...]) -> tuple[Access, ...]:
    place = rng.randint(0, len(own))
    scope = rng.choice((Scope.WG, Scope.DV, Scope.DV))
    order = rng.choice((Order.ACQUIRE, Order.RELEASE, Order.ACQ_REL))
    return (*own[:place], Access(Kind.FENCE, order=order, scope=scope), *own[place:])


def _with_rows(rng: random.Random, test: LitmusTest, scheme: Scheme) -> Scheme:
    rows = {replace(row.shapes[-1], used=True): row.code for row in scheme.rows}
    for shape, own in rows.items():
        if shape.kind is Op.RMW and (needs_general(test, shape) or rng.random() < 0.2):
            rows[shape] = general(own)
    for access in test.accesses:
        if access.kind is Kind.FENCE:
            rows.setdefault(shape_for(access), rng.choice(_FENCES))
        if access.expected is not None:
            rows.setdefault(PLAIN_LOAD, code("LD r x"))
    return scheme_of(rows, scheme.machine)
