"""What a barrier of a work-group becomes: a fence, a rendezvous, and a fence (OpenCL 2.0 §3.3.6.2).

Its entry fence is a release and its exit fence an acquire, of the barrier's scope and of the memory
that it orders. The rendezvous every machine has (`ARRIVE`, `DEPART`).
"""

from __future__ import annotations

from rspverify.litmus.program import Operation, Order, Scope
from rspverify.scheme.memory import IN_LOCAL, Memory, has_local
from rspverify.scheme.orders import Op
from rspverify.scheme.scheme import Row, Scheme, Shape, Template

Code = tuple[Template, ...]

Ordering = tuple[Scope, Memory]
"""The scope in which a barrier orders memory, and which memory."""

ENTRY, EXIT = Order.RELEASE, Order.ACQUIRE

_ACCESS = {ENTRY: Op.STORE, EXIT: Op.LOAD}


def ordering(barrier: Operation) -> Ordering:
    """What a barrier orders."""
    assert barrier.scope is not None
    return barrier.scope, barrier.regions


def fence_rows(what: Ordering, order: Order, scheme: Scheme) -> tuple[Row, ...]:
    """The rows that say what a fence of a barrier becomes; none if nothing does.

    That is the row of a fence. Where there is none, and an access of this scope and order has the
    code of a plain one, in each of its memories, the order costs nothing, and the fence becomes
    nothing.
    """
    row = scheme.table.get(_fence(what, order))
    if row is not None:
        return (row,)
    found: list[Row] = []
    for region in sorted(_ordered(what, scheme)):
        of = frozenset({region})
        access = scheme.table.get(Shape(_ACCESS[order], what[0], order, False, of))
        plain = scheme.table.get(Shape(_ACCESS[order], None, None, False, of))
        if access is None or plain is None or _text(access.code) != _text(plain.code):
            return ()
        found += (access, plain)
    return tuple(found)


def barrier_rows(barrier: Operation, scheme: Scheme) -> tuple[Row, ...]:
    """The rows that say what a barrier becomes."""
    what = ordering(barrier)
    if not _ordered(what, scheme):
        return ()
    return (*fence_rows(what, ENTRY, scheme), *fence_rows(what, EXIT, scheme))


def barrier_code(what: Ordering, scheme: Scheme) -> tuple[Code, Code] | None:
    """What stands before and after the rendezvous of a barrier; None if a row for it is missing."""
    if not _ordered(what, scheme):
        return (), ()
    if missing(what, scheme) is not None:
        return None
    entry, leave = (fence_rows(what, order, scheme) for order in (ENTRY, EXIT))
    return _of_fence(entry), _of_fence(leave)


def missing(what: Ordering, scheme: Scheme) -> Shape | None:
    """The first fence of a barrier for which a scheme has no code."""
    memory = _ordered(what, scheme)
    for order in (ENTRY, EXIT) if memory else ():
        if not fence_rows(what, order, scheme):
            return _fence((what[0], memory), order)
    return None


def _ordered(what: Ordering, scheme: Scheme) -> Memory:
    """The memory that a barrier orders, as far as the machine has it."""
    return what[1] if has_local(scheme.machine) else what[1] - IN_LOCAL


def _fence(what: Ordering, order: Order) -> Shape:
    scope, memory = what
    return Shape(Op.FENCE, scope, order, False, memory)


def _of_fence(rows: tuple[Row, ...]) -> Code:
    return next((row.code for row in rows if row.kind is Op.FENCE), ())


def _text(code: Code) -> tuple[str, ...]:
    return tuple(map(str, code))
