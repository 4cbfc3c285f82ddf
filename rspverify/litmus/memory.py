"""Accesses to memory: of a location, or of the element of an array that an index tells.

An index that depends on what is read makes one guarded operation for each element that it may tell.
At most one of them is executed, so that together they are one access. An index that tells no
element is a fault, and nothing is accessed.
"""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct

from rspverify.litmus.functions import Access
from rspverify.litmus.objects import Object
from rspverify.litmus.operations import FALSE, PLAIN_LOAD, Operations
from rspverify.litmus.program import GLOBAL, Choice, Fault
from rspverify.source import Span
from rspverify.value import Constant, Expression, binary, select
from rspverify.value.interval import interval

MAX_COMPUTED = 5_000
"""How many operations a thread may have for accesses whose index is computed."""


class Target(Struct, frozen=True):
    """What a pointer points to: an object, and which of its elements."""

    object: Object
    index: Expression = FALSE

    def __add__(self, index: Expression) -> Target:
        first = self.index == FALSE
        return Target(self.object, index if first else binary("+", self.index, index))


class Memory:
    """The accesses of one thread, and the faults in them."""

    def __init__(self, operations: Operations) -> None:
        self.faults: list[Fault] = []
        self._operations = operations
        self._computed = 0

    def load(self, target: Target, guard: Expression, span: Span) -> Expression:
        """What a plain load reads."""
        return self.access(PLAIN_LOAD, target, guard, span)

    def access(
        self,
        how: Access,
        target: Target,
        guard: Expression,
        span: Span,
        operand: Expression | None = None,
        expected: Expression | None = None,
    ) -> Expression:
        """Add an access where the guard holds; what it reads, or 0 if it accesses nothing."""
        it, known = target.object, self._operations
        region = it.what.region or GLOBAL
        index = known.bounded(span, target.index)
        low, high = interval(index)
        first, last = max(low, 0), min(high, it.size - 1)
        operand = operand if operand is None or not it.what.boolean else truth(operand)
        within = (first, last) == (low, high)
        if not within:
            self._out_of_bounds(it, index, guard, span)
        if low == high:
            if not within:
                return FALSE
            name = it.element(low)
            return known.add(how, name, guard, span, operand, expected, region=region)
        reads: dict[int, Expression] = {}
        for number in range(first, last + 1):
            self._computed += 1
            if self._computed > MAX_COMPUTED:
                message = f"more than {MAX_COMPUTED:,} operations of a thread for accesses with a"
                known.problems.unsupported(span, f"{message} computed index are not supported")
                break
            chosen = known.both(span, guard, binary("==", index, Constant(number)))
            choice = Choice(guard, index)
            name = it.element(number)
            reads[number] = known.add(
                how, name, chosen, span, operand, expected, choice=choice, region=region
            )
        if not how.kind.reads or not reads:
            return FALSE
        value = _chosen(index, list(reads.items()))
        return known.bounded(span, value if within else select(_beyond(it, index), FALSE, value))

    def _out_of_bounds(self, it: Object, index: Expression, guard: Expression, span: Span) -> None:
        """Note that an execution may access what an object does not have."""
        beyond = self._operations.bounded(span, _beyond(it, index))
        when = self._operations.both(span, guard, beyond)
        if when != FALSE:
            bounds = f"an array of {it.size}" if it.array else "a location and no array"
            what = f"index {{}} of {it.name} is out of bounds, {bounds}"
            thread = self._operations.thread
            self.faults.append(
                Fault("Bounds", thread, self._operations.next, when, span, what, index)
            )


def _beyond(it: Object, index: Expression) -> Expression:
    return binary("||", binary("<", index, FALSE), binary(">=", index, Constant(it.size)))


def _chosen(index: Expression, reads: Sequence[tuple[int, Expression]]) -> Expression:
    """What is read where the index is one of these, ascending."""
    if len(reads) == 1:
        return reads[0][1]
    middle = len(reads) // 2
    lower = binary("<", index, Constant(reads[middle][0]))
    return select(lower, _chosen(index, reads[:middle]), _chosen(index, reads[middle:]))


def truth(value: Expression) -> Expression:
    """The value that a bool has: 1 for what is not 0."""
    return value if interval(value) in ((0, 0), (1, 1), (0, 1)) else binary("!=", value, FALSE)
