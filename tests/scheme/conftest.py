"""Source programs made by hand, so that these tests need no litmus file."""

from collections.abc import Callable
from typing import Any

import pytest

from rspverify.litmus.program import Kind, Operation, Order, Scope
from rspverify.source import Source, Span
from rspverify.value import Binary, Constant, Expression, Read

MakeOperation = Callable[..., Operation]

_SOURCE = Source("hand.litmus", "\n".join(f"operation {index}" for index in range(20)))
_USUAL = {
    Kind.LOAD: Order.ACQUIRE,
    Kind.STORE: Order.RELEASE,
    Kind.RMW: Order.ACQ_REL,
    Kind.FENCE: Order.ACQ_REL,
}
_PLACELESS = (Kind.FENCE, Kind.BARRIER)
_WRITES = (Kind.STORE, Kind.RMW)


@pytest.fixture
def operation() -> MakeOperation:
    """Makes an operation; it stands in line index + 1 of its source."""

    def make(
        kind: Kind,
        scope: Scope | None = None,
        remote: bool = False,
        location: str = "x",
        *,
        index: int = 0,
        thread: int = 0,
        order: Order | None = None,
        value: Expression | None = None,
        guard: Expression | None = None,
        operator: str = "+",
        **more: Any,
    ) -> Operation:
        increment = kind is Kind.RMW
        written = value or Constant(1)
        return Operation(
            index=index,
            thread=thread,
            kind=kind,
            location=None if kind in _PLACELESS else location,
            order=order if scope is None else order or _USUAL.get(kind),
            scope=scope,
            remote=remote,
            guard=guard or Constant(1),
            value=Binary(operator, Read(index), written)
            if increment
            else (written if kind in _WRITES else None),
            span=Span(_SOURCE, index + 1, 1, index + 1, 10),
            operator=operator if increment else None,
            operand=written if increment else None,
            **more,
        )

    return make
