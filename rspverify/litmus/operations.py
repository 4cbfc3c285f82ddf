"""The operations of one thread, in program order, as they are met on the way through it.

An access of an array whose index depends on what is read is one guarded operation for each element
that it may tell. At most one of them is executed, so that together they are one access. An index
that tells no element is a fault, and nothing is accessed.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from msgspec import Struct

from rspverify.litmus.functions import Access
from rspverify.litmus.objects import Object
from rspverify.litmus.problems import Problems
from rspverify.litmus.program import GLOBAL, Choice, Cut, Fault, Kind, Operation, Spin
from rspverify.source import Span
from rspverify.value import Constant, Expression, Read, binary, conjunction, parts, select, unary
from rspverify.value.interval import interval

FALSE, TRUE = Constant(0), Constant(1)

UNKNOWN = Read(-1)
"""The value of what has a problem; it never reaches a Program, and no guard over it is constant."""

MAX_SIZE, MAX_DEPTH = 10_000, 100
"""How many parts (constants, reads and operators) an expression may have, and how deep they may be
nested. Registers are replaced by what they hold, so `r = r + r;` doubles an expression. All that
works on expressions visits each part, mostly by recursion: the limits are here, at the door."""

MAX_UNSEQUENCED, MAX_COMPUTED = 1_000, 5_000
"""How many operations one expression may have that are not sequenced with each other; and a thread
for accesses whose index is computed."""

_TOO_LARGE = (
    f"an expression with more than {MAX_SIZE:,} parts, or nested deeper than {MAX_DEPTH}, is not"
    " supported"
)
_TOO_WIDE = (
    f"an expression with more than {MAX_UNSEQUENCED:,} operations that are not sequenced with each"
    " other is not supported"
)
_TOO_MANY = (
    f"more than {MAX_COMPUTED:,} operations of a thread for accesses with a computed index are not"
    " supported"
)

PLAIN_LOAD, PLAIN_STORE = Access(Kind.LOAD, None, None), Access(Kind.STORE, None, None)
"""`*x` in an expression, and `*x = e`."""


class Target(Struct, frozen=True):
    """What a pointer points to: an object, and which of its elements."""

    object: Object
    index: Expression = FALSE

    def __add__(self, index: Expression) -> Target:
        first = self.index == FALSE
        return Target(self.object, index if first else binary("+", self.index, index))


class Operations:
    """The operations, faults and loops found so far, and the limits on the expressions in them.

    first: the index of the first one.
    """

    def __init__(self, thread: int, first: int, problems: Problems) -> None:
        self.found: list[Operation] = []
        self.faults: list[Fault] = []
        self.cuts: list[Cut] = []
        self.spins: list[Spin] = []
        self.thread, self.first, self.problems = thread, first, problems
        # The expressions are kept, so that an id stays that of its expression.
        self._measured: dict[int, tuple[Expression, int, int]] = {}
        self._unsequenced: frozenset[int] = frozenset()
        self._computed = 0
        self._told: set[str] = set()

    @property
    def next(self) -> int:
        """The index of the next operation."""
        return self.first + len(self.found)

    @contextmanager
    def beside(self, first: int, span: Span) -> Iterator[None]:
        """Operations added now are not sequenced after those from index `first` on."""
        before, others = self._unsequenced, range(first, self.next)
        if len(before) + len(others) <= MAX_UNSEQUENCED:
            self._unsequenced = before | frozenset(others)
        else:
            self._beyond_limit(span, _TOO_WIDE)
        yield
        self._unsequenced = before

    def _beyond_limit(self, span: Span, message: str, hint: str | None = None) -> None:
        """Note a limit, once for the thread."""
        if message not in self._told:
            self._told.add(message)
            self.problems.unsupported(span, message, hint)

    def bounded(self, span: Span, expression: Expression) -> Expression:
        """The expression, unless it is too large to work with."""
        size, depth = self._measure(expression)
        if size <= MAX_SIZE and depth <= MAX_DEPTH:
            return expression
        hint = "registers are replaced by what they hold: `r = r + r` doubles the expression"
        self._beyond_limit(span, _TOO_LARGE, hint)
        return UNKNOWN

    def _measure(self, expression: Expression) -> tuple[int, int]:
        """How many parts an expression has, and how deep it is."""
        if isinstance(expression, Constant | Read):
            return 1, 1
        known = self._measured.get(id(expression))
        if known is not None:
            return known[1:]
        sizes, depths = zip(*map(self._measure, parts(expression)), strict=True)
        size, depth = 1 + sum(sizes), 1 + max(depths)
        self._measured[id(expression)] = (expression, size, depth)
        return size, depth

    def both(self, span: Span, guard: Expression, condition: Expression) -> Expression:
        """The guard of what is executed where a guard and a condition hold."""
        if isinstance(condition, Constant) and condition.value:
            return guard
        return self.bounded(span, conjunction(guard, condition))

    def unless(self, span: Span, guard: Expression, condition: Expression) -> Expression:
        """The guard of what is executed where a guard holds and a condition does not."""
        return self.both(span, guard, self.bounded(span, unary("!", condition)))

    def fault(
        self, name: str, guard: Expression, span: Span, what: str, value: Expression | None = None
    ) -> None:
        """Note what is undefined where a guard holds."""
        if guard != FALSE:
            self.faults.append(Fault(name, self.thread, self.next, guard, span, what, value))

    def add(
        self,
        how: Access,
        location: str | None,
        guard: Expression,
        span: Span,
        operand: Expression | None = None,
        expected: Expression | None = None,
        label: str | None = None,
        choice: Choice | None = None,
        region: str = GLOBAL,
    ) -> Expression:
        """Add an operation, unless its guard is never true; what it reads.

        region: of the location, if it has one.
        """
        if guard == FALSE:
            return FALSE
        read, value, success = Read(self.next), operand, None
        if how.kind is Kind.RMW and operand is not None:
            value = self.bounded(span, written(how.operator, read, operand))
        if expected is not None:
            success = self.bounded(span, binary("==", read, expected))
        self.found.append(
            Operation(
                index=self.next,
                thread=self.thread,
                kind=how.kind,
                location=location,
                order=how.order,
                scope=how.scope,
                remote=how.remote,
                guard=guard,
                value=value,
                span=span,
                operator=how.operator,
                operand=operand if how.kind is Kind.RMW else None,
                success=success,
                failure=how.failure,
                regions=how.regions if location is None else frozenset({region}),
                label=label,
                weak=how.weak,
                used=how.used,
                unsequenced=self._unsequenced,
                meets=how.meets,
                choice=choice,
            )
        )
        return read

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
        it, region = target.object, target.object.what.region or GLOBAL
        index = self.bounded(span, target.index)
        low, high = interval(index)
        first, last = max(low, 0), min(high, it.size - 1)
        operand = truth(operand) if operand is not None and it.what.boolean else operand
        within = (first, last) == (low, high)
        beyond: Expression = FALSE
        if not within:
            beyond = binary("||", binary("<", index, FALSE), binary(">=", index, Constant(it.size)))
            when = self.both(span, guard, self.bounded(span, beyond))
            bounds = f"an array of {it.size}" if it.array else "a location and no array"
            self.fault(
                "Bounds", when, span, f"index {{}} of {it.name} is out of bounds, {bounds}", index
            )
        if low == high and within:
            return self.add(how, it.element(low), guard, span, operand, expected, region=region)
        reads: list[tuple[int, Expression]] = []
        for number in range(first, last + 1):
            self._computed += 1
            if self._computed > MAX_COMPUTED:
                self._beyond_limit(span, _TOO_MANY)
                break
            chosen = self.both(span, guard, binary("==", index, Constant(number)))
            place, choice = it.element(number), Choice(guard, index)
            read = self.add(how, place, chosen, span, operand, expected, None, choice, region)
            reads.append((number, read))
        if not how.kind.reads or not reads:
            return FALSE
        value = _chosen(index, reads)
        return self.bounded(span, value if within else select(beyond, FALSE, value))


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


def written(operator: str | None, read: Expression, operand: Expression) -> Expression:
    """What a read-modify-write writes, by what it read and by its operand."""
    match operator:
        case "exchange" | "compare_exchange" | None:
            return operand
        case "min" | "max":
            return select(binary("<" if operator == "min" else ">", read, operand), read, operand)
        case _:
            return binary(operator, read, operand)
