"""Tests in one line: `st.na x 5; st.DV.R y 1 || r0=ld.DV y; if r0==1: r1=ld.na x @01 (atomic x)`.

Threads are joined by `||`, the accesses of a thread by `;`. An access is what it does, by its name
in titles of tests (litmus/README.md, litmus-full/README.md), its location, and its value if it
writes one; a compare-exchange `cas.DV x zero 1` has the location before it whose value it expects.
`r0=` keeps what it reads, of a compare-exchange whether it succeeds; values and conditions are
expressions over registers. `if r0==1: …` covers what follows in its thread, `if r0==1 {…}` what is
in the braces.

After the threads comes the grouping as titles say it; without one each thread has a work-group of
its own. In brackets stands what accesses do not tell of a location: `(atomic x)` that it is
declared atomic, `(x=1)` what its value is at the start.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace

from rspverify.litmus.orders import REFUSED
from rspverify.litmus.program import Kind, Scope
from rspverify.programs.expressions import Token, Tokens, Wrong, register_number, spelled
from rspverify.programs.litmus_test import (
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
from rspverify.source import InputError, Problem, Source
from rspverify.value import Binary, Expression, reads, wrap

# ---- writing ------------------------------------------------------------------------------------


def notation(test: LitmusTest) -> str:
    """A test in one line, which reads as that test."""
    parts = [" || ".join(_sequence(list(blocks(each.accesses))) for each in test.threads)]
    parts += [test.grouping] if test.grouping else []
    plainly = {it.location for it in test.accesses if it.plain}.union(
        it.expected for it in test.accesses
    )
    for x in test.locations:
        declared = "atomic " if x.atomic and x.name in plainly else ""
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
    register = "" if access.register is None else f"r{access.register}="
    words = [register + access.name, *access.locations]
    if access.value is not None and access.operation != "inc":
        words.append(_expression(access.value))
    return " ".join(words)


def _expression(expression: Expression) -> str:
    """Without blanks, and `||` in brackets, as it separates threads elsewhere."""
    text = spelled(expression, "")
    return f"({text})" if isinstance(expression, Binary) and expression.operator == "||" else text


# ---- reading ------------------------------------------------------------------------------------

_LOCATION = re.compile(r"(?!r\d+\b)[a-z]\w*")
_DECLARED = rf"\((atomic )?({_LOCATION.pattern})(?:=(-?\d+))?\)"
_SUFFIX = re.compile(rf"(?:\s@(?P<grouping>[\d,-]+))?(?P<declared>(?:\s*{_DECLARED})*)\s*$")


def access_named(name: str) -> Access:
    """The access of a name such as `ld.DV.R`, without its operands. Raises ValueError."""
    operation, *parts = name.split(".")
    if operation not in OPERATIONS:
        raise ValueError(f"an operation must be one of {', '.join(OPERATIONS)}, not `{operation}`")
    kind, operator = OPERATIONS[operation]
    value = ONE if operation == "inc" else None
    if parts == ["na"] and operation in ("ld", "st"):
        return Access(kind)
    order = SHORT_ORDERS[parts.pop(0)] if parts and parts[0] in SHORT_ORDERS else STRONG.get(kind)
    if order is None:
        raise ValueError(f"a fence must have one of the orders {', '.join(SHORT_ORDERS)}: `{name}`")
    if order in REFUSED.get(kind.value, ()):
        raise ValueError(f"`{operation}` must not have the order {order.value}: `{name}`")
    scopes = [scope.value for scope in Scope]
    if parts not in [[it] for it in scopes] + [[it, "R"] for it in scopes]:
        plain = "na, " if operation in ("ld", "st") else ""
        raise ValueError(
            f"`{operation}` must be followed by {plain}{', '.join(scopes)}, the last four also with"
            f" `.R` for remote: `{name}`"
        )
    return Access(
        kind, None, value, None, order, Scope(parts[0]), len(parts) == 2, operator=operator
    )


def read_notation(text: str | Source) -> LitmusTest:
    """The test of a line. Raises InputError, with all of its mistakes."""
    source = text if isinstance(text, Source) else Source("notation", text)
    suffix = _SUFFIX.search(source.text)
    assert suffix is not None
    problems: list[Problem] = []
    bodies = []
    start = 0
    for end in [*_bars(source.text[: suffix.start()]), suffix.start()]:
        bodies.append(_ThreadReader(source, start, end, problems).thread())
        start = end + 2
    tokens = Tokens(source, 0, 0)

    def wrong(place: str, message: str) -> None:
        said = suffix[place].lstrip()
        at = Token("name", said, suffix.end(place) - len(said))
        problems.append(tokens.problem(at, message))

    places = [(0, number) for number in range(len(bodies))]
    if suffix["grouping"] is not None:
        found = _places(suffix["grouping"], len(bodies))
        if found is None:
            message = "a grouping must name each thread once, as `@01-2` or `@0-1--2`"
            wrong("grouping", f"{message}, not be `@{suffix['grouping']}`")
        else:
            places = found
    accessed = {name for body in bodies for each in body for name in each.locations}
    declared = re.findall(_DECLARED, suffix["declared"])
    for says_atomic, name, value in declared:
        if (
            name not in accessed
            or not (says_atomic or value)
            or int(value or 0) != wrap(int(value or 0))
        ):
            message = "of a location that is accessed must be said `(atomic x)`, `(x=1)` or both"
            wrong("declared", f"{message} as `(atomic x=1)`, not `({says_atomic}{name})`")
    atomic = {name for says_atomic, name, _ in declared if says_atomic}
    initial = {name: int(value) for _, name, value in declared if value}
    if problems:
        raise InputError(problems)
    threads = (Thread(place, body) for place, body in zip(places, bodies, strict=True))
    return litmus_test(threads, atomic, initial)


def _bars(text: str) -> Iterator[int]:
    """Where threads end: `||` outside of brackets."""
    depth = 0
    for found in re.finditer(r"[({})]|\|\|", text):
        depth += {"(": 1, "{": 1, "}": -1, ")": -1}.get(found[0], 0)
        if found[0] == "||" and depth <= 0:
            yield found.start()


def _places(grouping: str, threads: int) -> list[Place] | None:
    """The place of each thread; None if it is not for so many threads."""
    found: dict[int, Place] = {}
    count = 0
    for device, groups in enumerate(grouping.split("--")):
        for group, members in enumerate(groups.split("-")):
            numbers: Iterable[str] = members.rstrip(",").split(",") if "," in members else members
            for number in numbers:
                count += 1
                if number:
                    found[int(number)] = (device, group)
    if count != threads or sorted(found) != list(range(threads)):
        return None
    return [found[number] for number in range(threads)]


class _ThreadReader:
    """Reads one thread, and notes the mistakes in it."""

    def __init__(self, source: Source, start: int, end: int, problems: list[Problem]) -> None:
        self._tokens = Tokens(source, start, end)
        self._problems = problems
        self._assigned: set[int] = set()
        self._found: list[Access] = []

    def thread(self) -> tuple[Access, ...]:
        """Its accesses."""
        self._sequence(())
        while self._tokens.next.kind != "end":
            self._note(self._tokens.wrong("an access must be followed by `;` or `||`"))
            self._tokens.take()
            self._sequence(())
        return tuple(self._found)

    def _note(self, mistake: Wrong) -> None:
        self._problems.append(self._tokens.problem(mistake.token, mistake.message))

    def _sequence(self, guards: tuple[Expression, ...]) -> None:
        """What is joined by `;` up to a closing brace or the end."""
        tokens = self._tokens
        while True:
            try:
                covers = self._item(guards)
            except Wrong as mistake:
                self._note(mistake)
                covers = False
                while tokens.next.kind != "end" and tokens.next.text not in (";", "}"):
                    tokens.take()
            if covers or not tokens.skip(";"):
                return

    def _item(self, guards: tuple[Expression, ...]) -> bool:
        """An access, or an `if`; whether the `if` covers all that follows."""
        tokens = self._tokens
        if tokens.next.text in ("", "}", ";") and (self._found or tokens.next.text == ""):
            return False  # an empty thread, or a `;` too many
        if tokens.next.text != "if":
            self._access(guards)
            return False
        tokens.take()
        condition = self._known(tokens.expression)
        braces = tokens.skip("{")
        if not braces:
            tokens.need(":", "after the condition of an `if`")
        self._sequence((*guards, condition))
        if braces:
            tokens.need("}", "after what an `if` covers")
        return not braces

    def _known(self, read: Callable[[], Expression]) -> Expression:
        """An expression, whose registers must have been read into."""
        first = self._tokens.next
        expression = read()
        for register in sorted(reads(expression) - self._assigned):
            self._note(Wrong(first, f"r{register} must be read into before in its thread"))
        return expression

    def _access(self, guards: tuple[Expression, ...]) -> None:
        tokens = self._tokens
        register = None
        first = tokens.next
        if tokens.after.text == "=":
            register = register_number(tokens.take().text)
            tokens.take()
            if register is None:
                self._note(Wrong(first, f"a register must be like r0, not `{first.text}`"))
            elif register in self._assigned:
                self._note(Wrong(first, f"{first.text} must be read into once in its thread"))
        named = tokens.next
        try:
            access = access_named(named.text)
        except ValueError as error:
            raise Wrong(named, str(error)) from None
        tokens.take()
        if register is not None and not access.reads:
            self._note(Wrong(first, f"`{named.text}` reads nothing for {first.text} to keep"))
        location = None if access.kind is Kind.FENCE else self._location()
        expected = self._location() if access.operator == "compare_exchange" else None
        value = access.value
        if access.writes and value is None:
            value = self._known(tokens.expression)
        if tokens.next.text not in ("", ";", "}"):
            raise tokens.wrong(f"`{named.text}` must end after its operands")
        self._found.append(
            replace(
                access,
                location=location,
                expected=expected,
                value=value,
                register=register,
                guards=guards,
            )
        )
        if register is not None:
            self._assigned.add(register)

    def _location(self) -> str:
        tokens = self._tokens
        it = tokens.next
        if not _LOCATION.fullmatch(it.text):
            raise tokens.wrong("a location must be a name such as x, which is not a register's")
        return tokens.take().text
