"""Tests in one line: `st.na x 5; st.DV.R y 1 || r0=ld.DV y; if r0==1: r1=ld.na x @01 (atomic x)`.

Threads are joined by `||`, the accesses of a thread by `;`. An access is what it does, by its name
in titles of tests (README.md of litmus/rsp and litmus/all-orders), its location, and its value if
it writes one; a compare-exchange `cas.DV x zero 1` has the location before it whose value it
expects, or that value (`cas.DV x 0 1`), and may have a second order, for where it fails
(`cas.ar.acq.DV`). `r0=` keeps what it reads, of a compare-exchange whether it
succeeds; values and conditions are expressions over registers. `if r0==1: …` covers what follows in
its thread, `if r0==1 {…}` what is in the braces.

After the threads comes the grouping as titles say it; without one each thread has a work-group of
its own. In brackets stands what accesses do not tell of a location: `(local x)` that it is in local
memory, `(atomic x)` that it is declared atomic, `(x=1)` what its value is at the start. Fences are
for both memories where a test has local memory; `F.acq.DV.both` is one anywhere, and
`F.acq.DV.local` and `F.acq.DV.global` are for one memory.
"""

from __future__ import annotations

import re
from contextlib import suppress

from rspverify.litmus.orders import REFUSED
from rspverify.litmus.program import Kind, Order, Scope
from rspverify.programs.assembly import spelled_out
from rspverify.programs.expressions import PREFIX, Tokens, Wrong, register_number, spelled
from rspverify.programs.litmus_test import (
    FENCED_MEMORIES,
    ONE,
    OPERATIONS,
    SHORT_ORDERS,
    STRONG,
    Access,
    Branch,
    LitmusTest,
    Place,
    Thread,
    blocks,
    litmus_test,
)
from rspverify.records import replace
from rspverify.source import InputError, Source
from rspverify.value import Binary, Constant, Expression, reads

# ---- writing ------------------------------------------------------------------------------------


def notation(test: LitmusTest) -> str:
    """A test in one line, which reads as that test."""
    parts = [" || ".join(_sequence(list(blocks(each.accesses))) for each in test.threads)]
    parts += [test.grouping] if test.grouping else []
    plainly = {it.location for it in test.accesses if it.plain}.union(
        it.expected for it in test.accesses if isinstance(it.expected, str)
    )
    for x in test.locations:
        declared = "local " if x.name in test.local else ""
        declared += "atomic " if x.atomic and x.name in plainly else ""
        value = f"={x.initial}" if x.initial else ""
        parts += [f"({declared}{x.name}{value})"] if declared or value else []
    return " ".join(parts)


def _sequence(items: list[Access | Branch]) -> str:
    parts = []
    for item in items:
        if isinstance(item, Access):
            parts.append(_access(item))
            continue
        condition, body = _expression(item.condition), _sequence(list(item.body))
        parts.append(
            f"if {condition}: {body}" if item is items[-1] else f"if {condition} {{{body}}}"
        )
    return "; ".join(parts)


def _access(access: Access) -> str:
    if access.instruction:
        return spelled_out(access)
    register = "" if access.register is None else f"r{access.register}="
    words = [register + access.name, *access.locations]
    if isinstance(access.expected, Constant):
        words.append(_expression(access.expected))
    if access.value is not None and access.operation != "inc":
        words.append(_expression(access.value))
    return " ".join(words)


def _expression(expression: Expression) -> str:
    """Without blanks, and `||` in brackets, as it separates threads elsewhere."""
    text = spelled(expression, "")
    return f"({text})" if isinstance(expression, Binary) and expression.operator == "||" else text


# ---- reading ------------------------------------------------------------------------------------

_LOCATION = re.compile(r"(?!r\d+\b)[a-z]\w*")


def access_named(name: str) -> Access:
    """The access of a name such as `ld.DV.R`, without its operands. Raises ValueError."""
    operation, *parts = name.split(".")
    names_memory = operation == "F" and parts and parts[-1] in FENCED_MEMORIES
    memory = parts.pop() if names_memory else ""
    if operation not in OPERATIONS:
        raise ValueError(f"an operation must be one of {', '.join(OPERATIONS)}, not `{operation}`")
    kind, operator, _ = OPERATIONS[operation]
    value = ONE if operation == "inc" else None
    if parts == ["na"] and operation in ("ld", "st"):
        return Access(kind)
    order = SHORT_ORDERS[parts.pop(0)] if parts and parts[0] in SHORT_ORDERS else STRONG.get(kind)
    if order is None:
        raise ValueError(f"a fence must have one of the orders {', '.join(SHORT_ORDERS)}: `{name}`")
    failure = Order.RELAXED
    if operator == "compare_exchange" and parts and parts[0] in SHORT_ORDERS:
        failure = SHORT_ORDERS[parts.pop(0)]
    for each, refused in (
        (order, REFUSED.get(kind.value, ())),
        (failure, REFUSED[Kind.LOAD.value]),
    ):
        if each in refused:
            raise ValueError(f"`{operation}` must not have the order {each.value}: `{name}`")
    scopes = [scope.value for scope in Scope]
    if parts not in [[it] for it in scopes] + [[it, "R"] for it in scopes]:
        plain = "na, " if operation in ("ld", "st") else ""
        raise ValueError(
            f"`{operation}` must be followed by {plain}{', '.join(scopes)}, the scopes also with"
            f" `.R` for remote: `{name}`"
        )
    return Access(
        kind,
        None,
        value,
        None,
        order,
        Scope(parts[0]),
        len(parts) == 2,
        operator=operator,
        failure=failure,
        memory=memory,
    )


def read_notation(text: str | Source) -> LitmusTest:
    """The test of a line. Raises InputError, with all of its mistakes."""
    reader = _Reader(text if isinstance(text, Source) else Source("notation", text))
    test = reader.test()
    if test is None:
        raise InputError(reader.problems)
    return test


class _Reader(Tokens):
    """Reads a line. assigned, found: the registers and the accesses of the thread so far."""

    def __init__(self, source: Source) -> None:
        super().__init__(source)
        self._assigned: set[int] = set()
        self._found: list[Access] = []

    def test(self) -> LitmusTest | None:
        """The test, None if there are mistakes."""
        bodies = [self._thread()]
        while self.skip("||"):
            bodies.append(self._thread())
        places = self._places(len(bodies))
        known = {name for body in bodies for each in body for name in each.locations}
        atomic: set[str] = set()
        local: set[str] = set()
        initial: dict[str, int] = {}
        with suppress(Wrong):
            while self.next.kind != "end":
                self._declaration(known, atomic, local, initial)
        if self.problems:
            return None
        return litmus_test(map(Thread, places, bodies), atomic, initial, local)

    def _thread(self) -> tuple[Access, ...]:
        self._assigned, self._found = set(), []
        self._sequence(())
        while self.next.kind not in ("end", "grouping") and self.next.text not in ("||", "("):
            self.wrong("an access must be followed by `;` or `||`")
            self.take()
            self._sequence(())
        return tuple(self._found)

    def _places(self, threads: int) -> list[Place]:
        """The place of each thread."""
        alone = [(0, number) for number in range(threads)]
        if self.next.kind != "grouping":
            return alone
        token = self.take()
        found: list[tuple[int, Place]] = []
        for device, groups in enumerate(token.text[1:].split("--")):
            for group, members in enumerate(groups.split("-")):
                each = members.removesuffix(",").split(",") if "," in members else members
                found += [(int(number or -1), (device, group)) for number in each]
        if sorted(number for number, _ in found) != list(range(threads)):
            must = "a grouping must name each thread once, as `@01-2` or `@0-1--2`"
            self.note(token, f"{must}, not be `{token.text}`")
            return alone
        return [place for _, place in sorted(found)]

    def _declaration(
        self, known: set[str], atomic: set[str], local: set[str], initial: dict[str, int]
    ) -> None:
        """What brackets say of a location."""
        self.need("(", "after the threads and their grouping")
        says_local = self.after.kind == "name" and self.skip("local")
        says_atomic = self.after.kind == "name" and self.skip("atomic")
        token = self.next
        name = self._location()
        says_value = self.skip("=")
        value = self.expression() if says_value else Constant(0)
        self.need(")", f"after what is said of {name}")
        says = says_local or says_atomic or says_value
        if name not in known or not says or not isinstance(value, Constant):
            must = "of a location that is accessed must be said `(local x)`, `(atomic x)`, `(x=1)`"
            self.note(token, f"{must} or all as `(local atomic x=1)`")
        elif says_value:
            initial[name] = value.value
        atomic |= {name} if says_atomic else set()
        local |= {name} if says_local else set()

    def _sequence(self, guards: tuple[Expression, ...]) -> None:
        """What is joined by `;` up to a closing brace or the end of the thread."""
        covers = False
        while not covers:
            try:
                covers = self._item(guards)
            except Wrong:
                while self.next.kind != "end" and self.next.text not in (";", "}", "||"):
                    self.take()
            if not self.skip(";"):
                return

    def _item(self, guards: tuple[Expression, ...]) -> bool:
        """An access, or an `if`; whether the `if` covers all that follows."""
        if self.next.kind in ("end", "grouping") or self.next.text in ("}", ";", "||", "("):
            return False  # an empty thread, or a `;` too many
        if not self.skip("if"):
            self._access(guards)
            return False
        condition = self._known()
        braces = self.skip("{")
        if not braces:
            self.need(":", "after the condition of an `if`")
        self._sequence((*guards, condition))
        if braces:
            self.need("}", "after what an `if` covers")
        return not braces

    def _known(self) -> Expression:
        """An expression, whose registers must have been read into."""
        first = self.next
        expression = self.expression()
        for register in sorted(reads(expression) - self._assigned):
            self.note(first, f"r{register} must be read into before in its thread")
        return expression

    def _access(self, guards: tuple[Expression, ...]) -> None:
        first, register = self.next, None
        if self.after.text == "=":
            register = register_number(self.take().text)
            self.take()
            if register is None:
                self.note(first, f"a register must be like r0, not `{first.text}`")
            elif register in self._assigned:
                self.note(first, f"{first.text} must be read into once in its thread")
        named = self.next
        try:
            access = access_named(named.text)
        except ValueError as error:
            raise self.note(named, str(error)) from None
        self.take()
        if register is not None and not access.reads:
            self.note(first, f"`{named.text}` reads nothing for {first.text} to keep")
        location = None if access.kind is Kind.FENCE else self._location()
        expected = self._expected() if access.operator == "compare_exchange" else None
        value = self._known() if access.writes and access.value is None else access.value
        if self.next.kind in ("name", "number", "wrong"):
            raise self.wrong(f"`{named.text}` must end after its operands")
        access = replace(access, location=location, expected=expected, value=value)
        self._found.append(replace(access, register=register, guards=guards))
        self._assigned |= set() if register is None else {register}

    def _expected(self) -> str | Constant:
        """What a compare-exchange expects: a value, or the location that has it."""
        if _LOCATION.fullmatch(self.next.text):
            return self._location()
        first, value = self.next, self.expression(PREFIX)
        if not isinstance(value, Constant):
            raise self.note(first, "what is expected must be a location or a number")
        return value

    def _location(self) -> str:
        if not _LOCATION.fullmatch(self.next.text):
            raise self.wrong("a location must be a name such as x, which is not a register's")
        return self.take().text
