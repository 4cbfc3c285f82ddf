"""What a barrier of a work-group becomes: a fence, a rendezvous, and a fence (OpenCL 2.0 §3.3.6.2).

Its entry fence is a release and its exit fence an acquire, of the barrier's scope. The rendezvous
every machine has (`ARRIVE`, `DEPART`).
"""

from __future__ import annotations

from rspverify.litmus.program import GLOBAL, Operation, Order, Scope
from rspverify.scheme.orders import Op
from rspverify.scheme.scheme import Row, Scheme, Shape, Template

Code = tuple[Template, ...]

ENTRY, EXIT = Order.RELEASE, Order.ACQUIRE

_ACCESS = {ENTRY: Op.STORE, EXIT: Op.LOAD}


def ordered_scope(barrier: Operation) -> Scope | None:
    """The scope in which a barrier orders global memory; None if it is for local memory alone."""
    return barrier.scope if GLOBAL in barrier.regions else None


def fence_rows(scope: Scope, order: Order, scheme: Scheme) -> tuple[Row, ...]:
    """The rows that say what a fence of a barrier becomes; none if nothing does.

    That is the row of a fence. Where there is none, and an access of this scope and order has the
    code of a plain one, the order costs nothing, and the fence becomes nothing.
    """
    row = scheme.table.get(Shape(Op.FENCE, scope, order, False))
    if row is not None:
        return (row,)
    kind = _ACCESS[order]
    access = scheme.table.get(Shape(kind, scope, order, False))
    plain = scheme.table.get(Shape(kind, None, None, False))
    if access is None or plain is None or _text(access.code) != _text(plain.code):
        return ()
    return (access, plain)


def barrier_rows(barrier: Operation, scheme: Scheme) -> tuple[Row, ...]:
    """The rows that say what a barrier becomes."""
    scope = ordered_scope(barrier)
    if scope is None:
        return ()
    return (*fence_rows(scope, ENTRY, scheme), *fence_rows(scope, EXIT, scheme))


def barrier_code(scope: Scope | None, scheme: Scheme) -> tuple[Code, Code] | None:
    """What stands before and after the rendezvous of a barrier; None if a row for it is missing."""
    if scope is None:
        return (), ()
    if missing(scope, scheme) is not None:
        return None
    entry, leave = (fence_rows(scope, order, scheme) for order in (ENTRY, EXIT))
    return _of_fence(entry), _of_fence(leave)


def missing(scope: Scope, scheme: Scheme) -> Shape | None:
    """The first fence of a barrier for which a scheme has no code."""
    for order in (ENTRY, EXIT):
        if not fence_rows(scope, order, scheme):
            return Shape(Op.FENCE, scope, order, False)
    return None


def _of_fence(rows: tuple[Row, ...]) -> Code:
    return next((row.code for row in rows if row.kind is Op.FENCE), ())


def _text(code: Code) -> tuple[str, ...]:
    return tuple(map(str, code))
