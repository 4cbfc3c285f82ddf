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

from rspverify.litmus.functions import REFUSED
from rspverify.litmus.program import Kind, Order, Scope
from rspverify.programs.assembly import spelled_out
from rspverify.programs.expressions import PREFIX, Line, spelled
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
from rspverify.source import Source
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
    """The test of a line. Raises InputError at its first mistake."""
    return _Reader(text if isinstance(text, Source) else Source("notation", text)).test()


class _Reader(Line):
    """Reads a line. found: the accesses of the thread so far."""

    def __init__(self, source: Source) -> None:
        super().__init__(source)
        self._found: list[Access] = []

    def test(self) -> LitmusTest:
        """The test."""
        bodies = [self._thread()]
        while self.skip("||"):
            bodies.append(self._thread())
        places = self._places(len(bodies))
        declared: dict[str, set[str]] = {"atomic": set(), "local": set()}
        initial: dict[str, int] = {}
        while self.skip("("):
            words = []
            while self.next in declared:
                words.append(declared[self.take()])
            name = self._location()
            for those in words:
                those.add(name)
            if self.skip("="):
                initial[name] = self._constant().value
            self.need(self.skip(")"), f"behind what is said of {name} must be `)`")
        self.need(not self.next, "an access must be followed by `;` or `||`")
        return litmus_test(
            map(Thread, places, bodies), declared["atomic"], initial, declared["local"]
        )

    def _thread(self) -> tuple[Access, ...]:
        self._found = []
        self._sequence(())
        return tuple(self._found)

    def _places(self, threads: int) -> list[Place]:
        """The place of each thread."""
        if not self.next.startswith("@"):
            return [(0, number) for number in range(threads)]
        found: dict[int, Place] = {}
        for device, groups in enumerate(self.next[1:].split("--")):
            for group, members in enumerate(groups.split("-")):
                each = members.removesuffix(",").split(",") if "," in members else members
                found |= {int(number or -1): (device, group) for number in each}
        must = "a grouping must name each thread, as `@01-2` or `@0-1--2`"
        self.need(found.keys() == {*range(threads)} and self.take(), must)
        return [found[number] for number in range(threads)]

    def _sequence(self, guards: tuple[Expression, ...]) -> None:
        """What is joined by `;` up to a closing brace or the end of the thread."""
        while self.next and self.next not in ("}", "||", "(") and self.next[0] != "@":
            if self.skip("if"):
                condition = self._known()
                if self.skip("{"):
                    self._sequence((*guards, condition))
                    self.need(self.skip("}"), "behind what an `if` covers must be `}`")
                else:
                    self.need(self.skip(":"), "behind the condition of an `if` must be `:`")
                    self._sequence((*guards, condition))
                    return
            else:
                self._found.append(replace(self._access(), guards=guards))
            if not self.skip(";"):
                return

    def _known(self) -> Expression:
        """An expression, whose registers must have been read into."""
        expression = self.expression()
        known = {each.register for each in self._found}
        self.need(reads(expression) <= known, "registers must be read into before in their thread")
        return expression

    def _access(self) -> Access:
        register = None
        if found := re.fullmatch(r"r(\d+)", self.next):
            register = int(found[1])
            self.take()
            self.need(self.skip("="), f"behind {found[0]} must be `=`")
        try:
            access = access_named(self.next)
        except ValueError as error:
            self.need(False, f"an access must begin with an operation ({error})")
        name = self.take()
        self.need(register is None or access.reads, f"{name} reads nothing to keep")
        location = None if access.kind is Kind.FENCE else self._location()
        expected: str | Constant | None = None
        if access.compares:
            is_place = _LOCATION.fullmatch(self.next)
            expected = self._location() if is_place else self._constant()
        value = self._known() if access.writes and access.value is None else access.value
        return replace(access, location=location, expected=expected, value=value, register=register)

    def _constant(self) -> Constant:
        value = self.expression(PREFIX)
        self.need(isinstance(value, Constant), "behind a number must be what follows it")
        assert isinstance(value, Constant)
        return value

    def _location(self) -> str:
        self.need(_LOCATION.fullmatch(self.next), "a location must be a name such as x")
        return self.take()
