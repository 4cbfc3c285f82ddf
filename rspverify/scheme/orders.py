"""Which memory orders an operation may have, and which of them a row of a scheme covers."""

from __future__ import annotations

from collections.abc import Mapping

from rspverify.litmus.program import Kind, Order

POSSIBLE: Mapping[Kind, frozenset[Order]] = {
    Kind.LOAD: frozenset({Order.RELAXED, Order.ACQUIRE, Order.SEQ_CST}),
    Kind.STORE: frozenset({Order.RELAXED, Order.RELEASE, Order.SEQ_CST}),
    Kind.RMW: frozenset(Order) - {Order.CONSUME},
}
"""The orders that each kind of atomic operation may have (C11 §7.17.7)."""

DEFAULT: Mapping[Kind, frozenset[Order]] = {
    Kind.LOAD: frozenset({Order.ACQUIRE}),
    Kind.STORE: frozenset({Order.RELEASE}),
    Kind.RMW: frozenset({Order.ACQUIRE, Order.RELEASE, Order.ACQ_REL}),
}
"""What a row without an order covers: the atomics of the paper, which are acquire and release."""

_UP_TO: Mapping[Order, frozenset[Order]] = {
    Order.RELAXED: frozenset({Order.RELAXED}),
    Order.ACQUIRE: frozenset({Order.RELAXED, Order.ACQUIRE}),
    Order.RELEASE: frozenset({Order.RELAXED, Order.RELEASE}),
    Order.ACQ_REL: frozenset(Order) - {Order.SEQ_CST},
    Order.SEQ_CST: frozenset(Order),
}


def covered(kind: Kind, order: Order) -> frozenset[Order]:
    """The order and every weaker one that an operation of this kind may have."""
    return _UP_TO[order] & POSSIBLE[kind]
