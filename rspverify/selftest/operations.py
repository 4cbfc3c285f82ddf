"""What Tab. 3 does not have: other read-modify-writes than increments, and fences."""

from __future__ import annotations

import random
from dataclasses import replace

from rspverify.litmus.program import Kind, Location, Order, Scope
from rspverify.selftest.draft import EXPECTED, Draft, Statement, ThreadDraft
from rspverify.selftest.schemes import Code, Key, Table, general, key_of, needs_general

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


def with_operations(rng: random.Random, draft: Draft, table: Table) -> tuple[Draft, Table]:
    """The test with other operations for some of its increments, and with a fence now and then.

    The table has rows for these; of other rows some have RMW in the place of INC as well.
    """
    threads = tuple(
        ThreadDraft(thread.place, tuple(_other(rng, each) for each in thread.statements))
        for thread in draft.threads
    )
    if rng.random() < 0.2:
        threads = _with_fence(rng, threads)
    changed = completed(Draft(threads, draft.locations))
    return changed, _with_rows(rng, changed, table)


def completed(draft: Draft) -> Draft:
    """With the location that compare-exchanges look at, if there are any."""
    others = tuple(x for x in draft.locations if x.name != EXPECTED)
    compared = any(each.compares for each in draft.statements)
    zero = (Location(EXPECTED, False, "global", 0),) if compared else ()
    return Draft(draft.threads, others + zero)


def _other(rng: random.Random, statement: Statement) -> Statement:
    if statement.kind is not Kind.RMW or rng.random() < 0.5:
        return statement
    return replace(statement, operator=rng.choice(_OPERATORS))


def _with_fence(rng: random.Random, threads: tuple[ThreadDraft, ...]) -> tuple[ThreadDraft, ...]:
    number = rng.randrange(len(threads))
    own = threads[number].statements
    place = rng.randint(0, len(own))
    scope = rng.choice((Scope.WG, Scope.DV, Scope.DV))
    fence = Statement(Kind.FENCE, "", None, None, scope, rng.choice(_ORDERS))
    longer = replace(threads[number], statements=(*own[:place], fence, *own[place:]))
    return (*threads[:number], longer, *threads[number + 1 :])


def _with_rows(rng: random.Random, draft: Draft, table: Table) -> Table:
    rows = dict(table.rows)
    for key, code in rows.items():
        if key.kind is Kind.RMW and (needs_general(draft, key) or rng.random() < 0.2):
            rows[key] = general(code)
    for statement in draft.statements:
        if statement.kind is Kind.FENCE:
            rows.setdefault(key_of(statement), rng.choice(_FENCES))
        if statement.compares:
            rows.setdefault(Key(Kind.LOAD, None, False), ("LD r x",))
    return replace(table, rows=rows)
