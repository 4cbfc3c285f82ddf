"""Which memory orders an operation may have, and which of them a row of a scheme covers."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from enum import Enum
from typing import assert_never

from rspverify.litmus.program import Kind, Operation, Order


class Op(Enum):
    """What an operation is to a scheme. A compare-exchange is an RMW that may fail."""

    LOAD = "load"
    STORE = "store"
    RMW = "rmw"
    CAS = "cas"
    FENCE = "fence"

    @property
    def one(self) -> str:
        """`a load`, `a store`, `an rmw`."""
        return f"{'an' if self is Op.RMW else 'a'} {self.value}"

    @property
    def gives(self) -> bool:
        """Whether it has a result that may be thrown away."""
        return self in (Op.RMW, Op.CAS)


POSSIBLE: Mapping[Op, frozenset[Order]] = {
    Op.LOAD: frozenset({Order.RELAXED, Order.ACQUIRE, Order.SEQ_CST}),
    Op.STORE: frozenset({Order.RELAXED, Order.RELEASE, Order.SEQ_CST}),
    **dict.fromkeys((Op.RMW, Op.CAS, Op.FENCE), frozenset(Order) - {Order.CONSUME}),
}
"""The orders that each kind of atomic operation may have (C11 §7.17.4, §7.17.7).

That of a compare-exchange is the weakest that is as strong as its two orders.
"""

DEFAULT: Mapping[Op, frozenset[Order]] = {
    Op.LOAD: frozenset({Order.ACQUIRE}),
    Op.STORE: frozenset({Order.RELEASE}),
    **dict.fromkeys(
        (Op.RMW, Op.CAS, Op.FENCE), frozenset({Order.ACQUIRE, Order.RELEASE, Order.ACQ_REL})
    ),
}
"""What a row without an order names: the atomics of the paper, which are acquire and release."""

_UP_TO: Mapping[Order, frozenset[Order]] = {
    Order.RELAXED: frozenset({Order.RELAXED}),
    Order.CONSUME: frozenset({Order.RELAXED, Order.CONSUME}),
    Order.ACQUIRE: frozenset({Order.RELAXED, Order.CONSUME, Order.ACQUIRE}),
    Order.RELEASE: frozenset({Order.RELAXED, Order.RELEASE}),
    Order.ACQ_REL: frozenset(Order) - {Order.SEQ_CST},
    Order.SEQ_CST: frozenset(Order),
}


def covered(kind: Op, order: Order) -> frozenset[Order]:
    """The order and every weaker one that an operation of this kind may have."""
    return _UP_TO[order] & POSSIBLE[kind]


def at_least(one: Order, other: Order) -> Order:
    """The weakest order that is as strong as both."""
    both = [order for order, weaker in _UP_TO.items() if {one, other} <= weaker]
    return min(both, key=lambda order: len(_UP_TO[order]))


def closest(order: Order, named: Collection[Order]) -> frozenset[Order]:
    """Of the orders that a row names, the weakest that are as strong as an operation's own."""
    enough = {each for each in named if order in _UP_TO[each]}
    return frozenset(
        each for each in enough if not any(other in _UP_TO[each] for other in enough - {each})
    )


def closer(order: Order, named: Collection[Order], others: Collection[Order]) -> bool:
    """Whether a row that names some orders is meant for an order, rather than one with others.

    It is if each of the others' orders that is strong enough is stronger than one of its own.
    """
    own, theirs = closest(order, named), closest(order, others)
    return all(any(each in _UP_TO[one] - {one} for each in own) for one in theirs)


def op_of(operation: Operation) -> Op | None:
    """The kind of an operation; None for barriers and mutexes, for which there are no rows."""
    if operation.success is not None:
        return Op.CAS
    match operation.kind:
        case Kind.LOAD:
            return Op.LOAD
        case Kind.STORE:
            return Op.STORE
        case Kind.RMW:
            return Op.RMW
        case Kind.FENCE:
            return Op.FENCE
        case Kind.BARRIER | Kind.LOCK | Kind.UNLOCK | Kind.EVENT | Kind.CHOICE:
            return None
        case _:
            assert_never(operation.kind)
