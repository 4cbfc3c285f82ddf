"""The rows of a scheme: the operations that each of them matches, and its code (Tab. 3)."""

from __future__ import annotations

from functools import cached_property
from typing import Protocol

from msgspec import Struct

from rspverify.architecture.architecture import Mnemonic
from rspverify.litmus.program import GLOBAL, Operation, Order, Scope
from rspverify.scheme.memory import IN_GLOBAL, Memory, memory_words
from rspverify.scheme.orders import DEFAULT, Op, at_least, closer, op_of
from rspverify.source import Span

FAR = ("device", "system")
"""The kinds of places whose caches a thread has not at hand."""


class CodeItem(Protocol):
    """An instruction of a row's code, of whichever instruction set.

    accesses: whether it reads or writes a location for the program. priced: as a file of costs
    names it, without register and location; cost: what it costs where no file does.
    """

    @property
    def accesses(self) -> bool: ...
    @property
    def priced(self) -> str: ...
    @property
    def cost(self) -> int: ...
    @property
    def span(self) -> Span: ...


class AnyRow(Protocol):
    """A row of any table: what it is for, in words, and the code of that."""

    @property
    def number(self) -> int: ...
    @property
    def code(self) -> tuple[CodeItem, ...]: ...
    @property
    def text(self) -> tuple[str, ...]: ...
    @property
    def span(self) -> Span: ...


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

    @property
    def priced(self) -> str:
        """As a file of costs names it: without register and location."""
        return f"{self.mnemonic.name} {self.reach}" if self.reach else self.mnemonic.name

    @property
    def cost(self) -> int:
        """An access that may stay near is 1, and one of local memory; all else is 10, and four
        times as much for each reach. A load may stay near that can be served there, a store that is
        left there.
        """
        mnemonic, reach = self.mnemonic, self.reach
        if self.accesses:
            near = [it.kind.place not in FAR for it in mnemonic.accessed]
            both = mnemonic.reads and mnemonic.writes
            if not mnemonic.serves(GLOBAL) or (any(near) and not both) or all(near):
                return 1
        times: int = 4 ** (mnemonic.reaches.index(reach) if reach else 0)
        return 10 * times


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


class OfOperations(Struct, frozen=True, dict=True):
    """One row: the operations of OpenCL or C that it matches.

    scopes: None in it is non-atomic; where it is empty, the row is for the atomics of languages
    without scopes. orders, remotes: of the atomic operations that it matches, so both are empty
    where it matches no atomic one. number: its place in the table, from 1.
    named: of its orders those that it names; it covers the others as weaker ones.
    memories: of the operations that it matches. results: of an RMW, whether they are used.
    """

    number: int
    kind: Op
    scopes: frozenset[Scope | None]
    orders: frozenset[Order]
    remotes: frozenset[bool]
    span: Span
    note: str | None = None
    named: frozenset[Order] = frozenset()
    memories: frozenset[Memory] = frozenset({IN_GLOBAL})
    results: frozenset[bool] = EITHER
    code: tuple[CodeItem, ...] = ()

    @property
    def text(self) -> tuple[str, ...]:
        """Its code as text."""
        return tuple(map(str, self.code))

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

    def before(self, other: OfOperations, shape: Shape) -> bool:
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


class Row(OfOperations, frozen=True, dict=True):
    """A row of a scheme for a machine, and the code that its operations become.

    code: exactly one of its instructions accesses memory, and as the operation does, but that ST
    may store again what has been written; of a fence none does.
    """

    code: tuple[Template, ...] = ()

    @property
    def adds(self) -> bool:
        """Whether its code does nothing but add, of all that an RMW may do."""
        return any(each.mnemonic.operator == "+" for each in self.code)
