"""The operations of one thread, in program order, as they are met on the way through it."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager

from rspverify.litmus.functions import BARRIERS, Access
from rspverify.litmus.problems import Problems
from rspverify.litmus.program import GLOBAL, Choice, Kind, Operation, Scope
from rspverify.litmus.tree import Block, Call, walk
from rspverify.source import Span
from rspverify.value import Constant, Expression, Read, binary, conjunction, parts, select, unary

FALSE, TRUE = Constant(0), Constant(1)

UNKNOWN = Read(-1)
"""The value of what has a problem; it never reaches a Program, and no guard over it is constant."""

MAX_SIZE, MAX_DEPTH = 10_000, 100
"""How many parts (constants, reads and operators) an expression may have, and how deep they may be
nested. Registers are replaced by what they hold, so `r = r + r;` doubles an expression. All that
works on expressions visits each part, mostly by recursion: the limits are here, at the door."""

_TOO_LARGE = (
    f"an expression with more than {MAX_SIZE:,} parts, or nested deeper than {MAX_DEPTH}, is not"
    " supported"
)

MAX_UNSEQUENCED = 1_000
"""How many operations one expression may have that are not sequenced with each other."""

_TOO_WIDE = (
    f"an expression with more than {MAX_UNSEQUENCED:,} operations that are not sequenced with each"
    " other is not supported"
)

PLAIN_LOAD, PLAIN_STORE = Access(Kind.LOAD, None, None), Access(Kind.STORE, None, None)
"""`*x` in an expression, and `*x = e`."""


class Operations:
    """The operations found so far, and the limits on the expressions in them.

    first: the index of the first one.
    """

    def __init__(self, thread: int, first: int, problems: Problems) -> None:
        self.found: list[Operation] = []
        self.thread, self.first = thread, first
        self.problems = problems
        # The expressions are kept, so that an id stays that of its expression.
        self._measured: dict[int, tuple[Expression, int, int]] = {}
        self._too_large = False
        self._unsequenced: frozenset[int] = frozenset()
        self._too_wide = False

    @property
    def next(self) -> int:
        """The index of the next operation."""
        return self.first + len(self.found)

    @contextmanager
    def beside(self, first: int, span: Span) -> Iterator[None]:
        """Operations added now are not sequenced after those found from place `first` on."""
        before = self._unsequenced
        others = range(self.first + first, self.first + len(self.found))
        if len(before) + len(others) > MAX_UNSEQUENCED:
            if not self._too_wide:
                self._too_wide = True
                self.problems.unsupported(span, _TOO_WIDE)
        else:
            self._unsequenced = before | frozenset(others)
        yield
        self._unsequenced = before

    def bounded(self, span: Span, expression: Expression) -> Expression:
        """The expression, unless it is too large to work with."""
        size, depth = self._measure(expression)
        if size <= MAX_SIZE and depth <= MAX_DEPTH:
            return expression
        if not self._too_large:
            self._too_large = True
            hint = "registers are replaced by what they hold: `r = r + r` doubles the expression"
            self.problems.unsupported(span, _TOO_LARGE, hint)
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
        index = self.first + len(self.found)
        read, value, success = Read(index), operand, None
        if how.kind is Kind.RMW and operand is not None:
            value = self.bounded(span, written(how.operator, read, operand))
        if expected is not None:
            success = self.bounded(span, binary("==", read, expected))
        self.found.append(
            Operation(
                index=index,
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


def written(operator: str | None, read: Expression, operand: Expression) -> Expression:
    """What a read-modify-write writes, by what it read and by its operand."""
    match operator:
        case "exchange" | "compare_exchange" | None:
            return operand
        case "min":
            return select(binary("<", read, operand), read, operand)
        case "max":
            return select(binary(">", read, operand), read, operand)
        case _:
            return binary(operator, read, operand)


def ordinals(body: Block, functions: Collection[str] = ()) -> Mapping[int, str]:
    """The labels of barriers that have none, by the id of the call.

    `#2` is the second at which the threads of a work-group meet, or those of a device. Also those
    of the calls of functions that the test has: `f#2` is its second call of f.
    """
    found: dict[int, str] = {}
    numbers: dict[str | Scope, int] = {}
    for each in walk(body):
        if isinstance(each, Call) and each.function.text in (*BARRIERS, *functions):
            name = each.function.text
            kind = BARRIERS.get(name, name)
            numbers[kind] = numbers.get(kind, 0) + 1
            found[id(each)] = f"{'' if name in BARRIERS else name}#{numbers[kind]}"
    return found


def label_in(label: str, iterations: Sequence[int]) -> str:
    """The label of a barrier in an iteration of each loop around it: `B1[2]`, or `B1` in none."""
    return f"{label}[{','.join(map(str, iterations))}]" if iterations else label
