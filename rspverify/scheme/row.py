"""The rows of a scheme: the operations that each of them matches, and its code (Tab. 3)."""

from __future__ import annotations

from functools import cached_property

from msgspec import Struct

from rspverify.architecture.architecture import Mnemonic
from rspverify.litmus.program import Operation, Order, Scope
from rspverify.scheme.memory import IN_GLOBAL, Memory, memory_words
from rspverify.scheme.orders import DEFAULT, Op, at_least, closer, op_of
from rspverify.source import Span


class Template(Struct, frozen=True):
    """An instruction of a row's code: a mnemonic, with its reach if it takes one.

    Its register and location are always those of the source operation, so they need no mention.
    """

    mnemonic: Mnemonic
    reach: str | None
    span: Span

    @property
    def accesses(self) -> bool:
        """Whether it is an instruction that reads or writes a location for the program."""
        return self.mnemonic.reads or self.mnemonic.writes

    def __str__(self) -> str:
        """The paper's notation: `LD r x`, `INV_L1 WG`."""
        operands = (
            self.reach or "" if letter == "s" else letter for letter in self.mnemonic.operands
        )
        return self.mnemonic.written(operands)


UNUSED = "unused"
"""The word for an RMW whose result nothing looks at."""


class Shape(Struct, frozen=True):
    """All of an operation that a scheme looks at. order is None if it is non-atomic; scope is, too,
    and of all operations of a language without scopes.

    used: whether the result of an RMW is; true of all else.
    """

    kind: Op
    scope: Scope | None
    order: Order | None
    remote: bool
    memory: Memory = IN_GLOBAL
    used: bool = True

    def __str__(self) -> str:
        words = [self.kind.value, *memory_words([self.memory])]
        if self.order is None:
            words.append("na")
        elif self.scope is None:
            words.append(f"({self.order.value})")
        else:
            words.append(f"{self.scope.value},{'R' if self.remote else 'N'} ({self.order.value})")
        return " ".join([*words, *([] if self.used else [UNUSED])])


def shape_of(operation: Operation) -> Shape | None:
    """The shape of a source operation; None if a scheme can have no row for it.

    So it is with barriers, locks and unlocks. A compare-exchange has the weakest order that is as
    strong as both of its own.
    """
    kind, order = op_of(operation), operation.order
    if kind is None or (order is None and operation.scope is not None):
        return None
    if order is not None and operation.failure is not None:
        order = at_least(order, operation.failure)
    used = operation.used or not kind.gives
    return Shape(kind, operation.scope, order, operation.remote, operation.regions, used)


EITHER = frozenset({False, True})


class Row(Struct, frozen=True, dict=True):
    """One row: the operations that it matches, and the code that each of them becomes.

    scopes: None in it is non-atomic; where it is empty, the row is for the atomics of languages
    without scopes. orders, remotes: of the atomic operations that it matches, so both are empty
    where it matches no atomic one. number: its place in the table, from 1.
    code: exactly one of its instructions accesses memory, and as the operation does, but that ST
    may store again what has been written; of a fence none does.
    named: of its orders those that it names; it covers the others as weaker ones.
    memories: of the operations that it matches. results: of an RMW, whether they are used.
    written: its code in the assembly of an architecture, where it is for one; `code` is empty then.
    """

    number: int
    kind: Op
    scopes: frozenset[Scope | None]
    orders: frozenset[Order]
    remotes: frozenset[bool]
    code: tuple[Template, ...]
    span: Span
    note: str | None = None
    named: frozenset[Order] = frozenset()
    memories: frozenset[Memory] = frozenset({IN_GLOBAL})
    results: frozenset[bool] = EITHER
    written: tuple[str, ...] = ()

    @cached_property
    def shapes(self) -> tuple[Shape, ...]:
        """Every shape of operation that it matches, in a fixed order."""
        atomic = tuple(
            (scope, order, remote)
            for scope in (
                [each for each in Scope if each in self.scopes] if self.scopes else [None]
            )
            for remote in (False, True)
            for order in Order
            if order in self.orders and remote in self.remotes
        )
        plain: tuple[tuple[Scope | None, Order | None, bool], ...] = ((None, None, False),)
        results = sorted(self.results, reverse=True) if self.kind.gives else [True]
        return tuple(
            Shape(self.kind, *each, memory, used)
            for memory in sorted(self.memories, key=sorted)
            for used in results
            for each in (*(plain if None in self.scopes else ()), *atomic)
        )

    @property
    def text(self) -> tuple[str, ...]:
        """Its code as text."""
        return self.written or tuple(map(str, self.code))

    @property
    def adds(self) -> bool:
        """Whether its code does nothing but add, of all that an RMW may do."""
        return any(each.mnemonic.operator == "+" for each in self.code)

    def before(self, other: Row, shape: Shape) -> bool:
        """Whether it compiles a shape that both match: the order it names for it is the weaker."""
        return shape.order is not None and closer(shape.order, self.named, other.named)

    def __str__(self) -> str:
        """The left column of Tab. 3: `load DV,R`, or `load na, load WG,_` for either flag.

        Orders stand there as the row names them, unless it has those of every row by default.
        """
        flag = "_" if len(self.remotes) == 2 else "R" if True in self.remotes else "N"
        names = ["na"] if None in self.scopes else []
        names += [f"{scope.value},{flag}" for scope in Scope if scope in self.scopes]
        usual = self.orders == DEFAULT[self.kind]
        kind = " ".join([self.kind.value, *memory_words(self.memories)])
        if not self.scopes:
            return f"{kind}{self._result}{self._in_brackets}"
        return ", ".join(f"{kind} {name}{self._result}" for name in names) + (
            "" if usual else self._in_brackets
        )

    @property
    def _result(self) -> str:
        if len(self.results) == 2 or not self.kind.gives:
            return ""
        return " used" if True in self.results else f" {UNUSED}"

    @property
    def with_orders(self) -> str:
        """The same with its orders in any case."""
        usual = self.orders == DEFAULT[self.kind]
        return f"{self}{self._in_brackets if usual and self.scopes else ''}"

    @property
    def _in_brackets(self) -> str:
        orders = ", ".join(order.value for order in Order if order in self.named)
        return f" ({orders})" if orders else ""
