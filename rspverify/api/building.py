"""Schemes and tests that Python makes, without a text of theirs."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, TypedDict, Unpack

from msgspec import Struct

from rspverify.litmus.program import Kind, Order, Scope
from rspverify.programs.litmus_test import STRONG, Access, Place, Thread, litmus_test
from rspverify.programs.writer import litmus_text
from rspverify.records import replace
from rspverify.source import Source, require
from rspverify.value import BINARY, Constant, Expression, Read, binary, unary

if TYPE_CHECKING:
    from rspverify.litmus.program import Program
    from rspverify.scheme.scheme import Scheme

Words = str | Sequence[str]


class SchemeBuilder:
    """A scheme, row by row, in the words of its YAML (docs/schemes.md).

    Examples:
        >>> mine = rspverify.SchemeBuilder("mine")
        >>> mine.row("load", ["na", "wg"], ["LD r x"])
        >>> mine.row("load", "dv", ["LD r x", "INV_L1 WG"], remote=False)
        >>> mine.row("store", ["na", "wg", "dv"], ["ST r x"])
        >>> next(iter(rspverify.check(mine.scheme(), "Fig4"))).verdict
        <Word.UNSOUND: 'UNSOUND'>
    """

    def __init__(
        self, name: str, machine: str = "rsp", source: str | None = None, note: str | None = None
    ) -> None:
        self._fields = {"name": name, "machine": machine, "source": source, "note": note}
        self._rows: list[dict[str, Any]] = []

    def row(
        self,
        op: str,
        scope: Words,
        code: Sequence[str],
        *,
        order: Words | None = None,
        remote: bool | None = None,
        note: str | None = None,
    ) -> None:
        """One more row: the operations that it matches, and the code that they become.

        remote: None for both. Mistakes are told by `scheme`, all at once.
        """
        fields = {"op": op, "scope": scope, "order": order, "remote": remote, "code": code}
        self._rows.append(_given({**fields, "note": note}))

    def scheme(self) -> Scheme:
        """The scheme. Raises InputError with all of its mistakes."""
        from rspverify.scheme.reader import read_scheme

        lines = [f"{key}: {json.dumps(value)}" for key, value in _given(self._fields).items()]
        rows = [f"  - {json.dumps(row, ensure_ascii=False)}" for row in self._rows]
        text = "\n".join([*lines, "rows:", *rows]) + "\n"
        return read_scheme(Source(f"<{self._fields['name']}>", text))


def _given(fields: dict[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in fields.items() if value is not None}


def _operator(operator: str, *, swapped: bool = False) -> Callable[[Value, int | Value], Value]:
    """An operator of Python between what a thread has read, and an integer or what it has read."""

    def made(self: Value, other: int | Value) -> Value:
        assert operator in BINARY
        if not isinstance(other, int | Value):
            what = "compared" if operator in ("==", "!=") else "calculated"
            raise TypeError(f"a value must be {what} with an integer or a value, not {other!r}")
        given = value_of(other)
        threads = {id(it.thread): it.thread for it in (self, given) if it.thread is not None}
        require(len(threads) < 2, _OTHERS)
        sides = (self.expression, given.expression)
        return Value(binary(operator, *(reversed(sides) if swapped else sides)), *threads.values())

    return made


class Value(Struct, frozen=True, eq=False):
    """An integer that a thread calculates from what it has read, with the operators of Python.

    `==` and the like make conditions for `ThreadBuilder.when`, so that two values cannot be
    compared otherwise. thread: whose it is; None of a number.
    """

    expression: Expression
    thread: ThreadBuilder | None = None

    __add__, __radd__ = _operator("+"), _operator("+", swapped=True)
    __sub__, __rsub__ = _operator("-"), _operator("-", swapped=True)
    __mul__ = __rmul__ = _operator("*")
    __and__, __or__, __xor__ = _operator("&"), _operator("|"), _operator("^")
    __lt__, __le__, __gt__, __ge__ = map(_operator, ("<", "<=", ">", ">="))
    __eq__ = _operator("==")  # type: ignore[assignment]
    __ne__ = _operator("!=")  # type: ignore[assignment]
    __hash__ = None  # type: ignore[assignment]

    def __neg__(self) -> Value:
        return Value(unary("-", self.expression), self.thread)

    def __invert__(self) -> Value:
        return Value(unary("~", self.expression), self.thread)

    def __bool__(self) -> bool:
        raise TypeError("what a thread reads is not known here: use ThreadBuilder.when, not if")


def value_of(given: int | Value) -> Value:
    """An integer of Python, or a value as it is."""
    if isinstance(given, Value):
        return given
    if not isinstance(given, int):
        raise TypeError(f"a value must be an integer or what a thread has read, not {given!r}")
    return Value(Constant(int(given)))


_OTHERS = "a thread must calculate with what it has read itself, not with what another has"


class How(TypedDict, total=False):
    """The order of an operation, by default the paper's, and whether it is remote."""

    order: str | None
    remote: bool


class ThreadBuilder:
    """A thread, operation by operation in program order. scope: `wi`, `wg`, `dv` or `all`.

    Without a scope an operation is plain. order: as in C, without `memory_order_`; by default the
    paper's: acquire for loads, release for stores, both for read-modify-writes.
    """

    def __init__(self, place: Place) -> None:
        self.place = place
        self.accesses: list[Access] = []
        self._guards: tuple[Expression, ...] = ()
        self._registers = 0

    def load(self, location: str, scope: str | None = None, **how: Unpack[How]) -> Value:
        """Read a location; what it reads."""
        return self._reading(self._access(Kind.LOAD, location, None, scope, **how))

    def store(
        self, location: str, value: int | Value, scope: str | None = None, **how: Unpack[How]
    ) -> None:
        """Write a value to a location."""
        written = self._own(value)
        self.accesses.append(self._access(Kind.STORE, location, written, scope, **how))

    def fetch_add(
        self, location: str, value: int | Value = 1, scope: str = "dv", **how: Unpack[How]
    ) -> Value:
        """Add to a location; what was there before."""
        return self.fetch("+", location, value, scope, **how)

    def exchange(
        self, location: str, value: int | Value, scope: str = "dv", **how: Unpack[How]
    ) -> Value:
        """Write a value to a location; what was there before."""
        return self.fetch("exchange", location, value, scope, **how)

    def fetch(
        self,
        operator: str,
        location: str,
        value: int | Value,
        scope: str = "dv",
        **how: Unpack[How],
    ) -> Value:
        """A read-modify-write by an operator: `+ - & | ^ min max exchange`; what was before."""
        operators = ("+", "-", "&", "|", "^", "min", "max", "exchange")
        require(operator in operators, f"the operator must be one of {operators}, not {operator}")
        access = self._access(Kind.RMW, location, self._own(value), scope, **how)
        return self._reading(replace(access, operator=operator))

    def fence(self, order: str, scope: str = "dv", *, remote: bool = False) -> None:
        """A fence."""
        self.accesses.append(self._access(Kind.FENCE, None, None, scope, order, remote))

    @contextmanager
    def when(self, condition: int | Value) -> Iterator[None]:
        """What is inside is executed where the condition is not 0."""
        before, self._guards = self._guards, (*self._guards, self._own(condition))
        try:
            yield
        finally:
            self._guards = before

    def _own(self, given: int | Value) -> Expression:
        """A value of this thread."""
        value = value_of(given)
        require(value.thread in (None, self), _OTHERS)
        return value.expression

    def _reading(self, access: Access) -> Value:
        """Add an access that reads; what it reads."""
        register = self._registers
        self._registers += 1
        self.accesses.append(replace(access, register=register))
        return Value(Read(register), self)

    def _access(
        self,
        kind: Kind,
        location: str | None,
        written: Expression | None,
        scope: str | None,
        order: str | None = None,
        remote: bool = False,
    ) -> Access:
        scopes = {each.value.lower(): each for each in Scope if each is not Scope.SG}
        orders = {each.value: each for each in Order if each is not Order.CONSUME}
        message = f"the scope must be one of {', '.join(scopes)}, not {scope}"
        require(scope is None or scope.lower() in scopes, message)
        message = f"the order must be one of {', '.join(orders)}, not {order}"
        require(order is None or order in orders, message)
        atomic = kind in (Kind.RMW, Kind.FENCE)
        require(scope is not None or not atomic, f"a {kind.value} must have a scope: it is atomic")
        plainly = "a plain operation must have no order and not be remote: give it a scope"
        require(scope is not None or (order is None and not remote), plainly)
        chosen = STRONG.get(kind) if order is None else orders[order]
        return Access(
            kind=kind,
            location=location,
            value=written,
            order=None if scope is None else chosen,
            scope=None if scope is None else scopes[scope.lower()],
            remote=remote,
            guards=self._guards,
        )


class TestBuilder:
    """A litmus test, thread by thread. initial: values of locations at the start that are not 0.

    Examples:
        >>> mp = rspverify.TestBuilder("MP")
        >>> producer, consumer = mp.thread(), mp.thread()
        >>> producer.store("x", 1)
        >>> producer.store("flag", 1, "dv")
        >>> with consumer.when(consumer.load("flag", "dv") == 1):
        ...     read = consumer.load("x")
        >>> next(iter(rspverify.check("proposed", mp.test()))).verdict
        <Word.SOUND: 'SOUND'>
    """

    __test__ = False  # of pytest's, which would collect it

    def __init__(self, title: str, initial: Mapping[str, int] | None = None) -> None:
        named = bool(title.strip()) and title.isprintable() and "(*" not in title
        require(named, f"the title of a test must be a line of text, not {title!r}")
        self._title, self._initial = title, initial
        self._threads: list[ThreadBuilder] = []

    def thread(self, workgroup: int | None = None, device: int = 0) -> ThreadBuilder:
        """One more thread. workgroup: by default one of its own."""
        message = "a device and a work-group must be numbers from 0 on"
        require(device >= 0 and (workgroup is None or workgroup >= 0), message)
        own = -1 - len(self._threads) if workgroup is None else workgroup
        self._threads.append(ThreadBuilder((device, own)))
        return self._threads[-1]

    def test(self, condition: str | None = None) -> Program:
        """The test. condition: its final one, as `exists (1:r0=1)`. Raises InputError."""
        from rspverify.litmus.reader import read_program

        threads = [Thread(each.place, tuple(each.accesses)) for each in self._threads]
        require(all(each.accesses for each in threads), "each thread must have an operation")
        require(bool(threads), "a test must have a thread")
        made = litmus_test(threads, initial=self._initial)
        text = litmus_text(made, self._title, asks=condition)
        return read_program(Source(f"<{self._title}>", text))
