"""One way through the code of a thread: registers, labels and branches, on all paths at once.

What is read is `Read(i)` for the i-th event; a register is an expression over these, or an address.
A branch goes forward: where it comes to, what is known on both paths is joined under their
conditions. A dialect says what its instructions do: by a table (`TableExecutor`), or by a `step` of
its own.
"""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from itertools import groupby
from typing import Any, Generic, TypeVar

from msgspec import Struct, field

from rspverify.isa.conditions import (
    Condition,
    both,
    choice,
    condition_of,
    expression,
    negated,
)
from rspverify.isa.formula import Formula
from rspverify.isa.instruction_set import Form, InstructionSet
from rspverify.isa.lines import Instruction, Label, Line
from rspverify.records import replace
from rspverify.source import InputError, Problem, Severity, Span
from rspverify.value import Constant, Expression, Read, select, wrap

UNKNOWN = Read(-1)
"""What a register has that nothing was written to."""

_NUMBER = re.compile(r"[$#]?(-?(?:0x[0-9a-fA-F]{1,16}|0|[1-9][0-9]{0,19}))")


class CannotReadError(Exception):
    """Why an instruction cannot be read, in words that follow its text."""


class Address(Struct, frozen=True):
    """The address of a location, in a register, or a part of it: 0 is the low one."""

    location: str
    part: int = 0


class State(Struct, frozen=True):
    """What is known at a place in the code.

    path: when it is reached. values: of registers. sources: the reads from which a register comes,
    whatever it was made of them. control: the reads on which the branches before depend.
    """

    path: Condition
    values: Mapping[str, Any]
    sources: Mapping[str, frozenset[int]] = field(default_factory=dict)
    control: frozenset[int] = frozenset()


S = TypeVar("S", bound=State)


class Executor(ABC, Generic[S]):
    """Follows the lines of a thread. state: None where no path comes to."""

    def __init__(self, start: S) -> None:
        self.state: S | None = start
        self.problems: list[Problem] = []
        self._targets: dict[str, list[S]] = {}
        self._branches: dict[str, Span] = {}
        self._at: Span | None = None
        self._passed: set[str] = set()

    @abstractmethod
    def step(self, together: Sequence[Instruction]) -> None:
        """What is issued at a time, where a path comes to it."""

    @abstractmethod
    def joined(self, one: S, other: S) -> S:
        """What is known where two paths meet."""

    def passes(self, label: Label) -> None:
        """What a label means besides, where a path comes to it."""

    def follow(self, lines: Iterable[Line]) -> None:
        """Follow lines to the last."""
        kept = [it for it in lines if isinstance(it, Instruction | Label)]
        for _, group in groupby(kept, key=lambda it: (it.span.line, isinstance(it, Label))):
            together = list(group)
            for label in (it for it in together if isinstance(it, Label)):
                self._come_to(label)
            instructions = [it for it in together if isinstance(it, Instruction)]
            if instructions and self.state is not None:
                self._at = instructions[0].span
                self.step(instructions)
        for target in self._targets:
            message = f"a branch must go to a label of its thread, not to {target}"
            self.refuse(self._branches.get(target), message)

    def _come_to(self, label: Label) -> None:
        self._passed.add(label.name)
        for state in self._targets.pop(label.name, []):
            self.state = state if self.state is None else self.joined(self.state, state)
        if self.state is not None:
            self.passes(label)

    def branch(self, target: str, taken: Condition, sources: frozenset[int] = frozenset()) -> None:
        """Go on in both directions, as far as each can be taken. Raises CannotReadError."""
        assert self.state is not None
        before = replace(self.state, control=self.state.control | sources)
        there, on = both(before.path, taken), both(before.path, negated(taken))
        if there is not False:
            if target in self._passed:
                raise CannotReadError(f"goes back to {target}, and loops are not read")
            self._targets.setdefault(target, []).append(replace(before, path=there))
            if self._at is not None:
                self._branches.setdefault(target, self._at)
        self.state = replace(before, path=on) if on is not False else None

    def refuse(self, span: Span | None, message: str) -> None:
        """Note what cannot be read."""
        self.problems.append(Problem(span, message, severity=Severity.UNSUPPORTED))

    def require(self) -> None:
        """Raises InputError with all that cannot be read."""
        if self.problems:
            raise InputError(self.problems)


def sources_joined(one: State, other: State) -> dict[str, frozenset[int]]:
    """The reads from which registers come where two paths meet."""
    names = dict.fromkeys((*one.sources, *other.sources))
    none = frozenset[int]()
    return {it: one.sources.get(it, none) | other.sources.get(it, none) for it in names}


# ---- by a table ----------------------------------------------------------------------------------


class Event(Struct, frozen=True):
    """An access or a fence of a thread, in its place; guard: when it is executed.

    index: `Read(index)` is what it reads. value, success: what it writes, and where it does.
    address, data, control: the reads of its thread that it depends on, by the text of the code.
    """

    index: int
    form: Form
    instruction: Instruction
    guard: Condition
    location: str | None
    value: Expression | None
    success: Expression | None = None
    address: frozenset[int] = frozenset()
    data: frozenset[int] = frozenset()
    control: frozenset[int] = frozenset()


class TableExecutor(Executor[State]):
    """Executes what the description of an instruction set says, and nothing else.

    registers: how they are called. locations: those of a test, which operands may name. first: the
    index of the first event.
    """

    def __init__(
        self,
        instructions: InstructionSet,
        registers: re.Pattern[str],
        locations: Iterable[str],
        initial: Mapping[str, Expression | Address],
        first: int = 0,
    ) -> None:
        super().__init__(State(True, initial))
        self._set, self._registers, self._locations = instructions, registers, {*locations}
        self._next = first
        self.events: list[Event] = []

    def form(self, it: Instruction) -> Form:
        """The instruction of the set that is written so. Raises CannotReadError."""
        found = self._set.form(it.mnemonic, it.operands)
        if found is None:
            known = it.mnemonic in self._set.forms
            raise CannotReadError(f"has {len(it.operands)} operands" if known else "is not known")
        return found

    def step(self, together: Sequence[Instruction]) -> None:
        """One instruction after the other."""
        for it in together:
            try:
                self._one(it, self.form(it))
            except CannotReadError as error:
                self.refuse(it.span, f"{it} cannot be read: it {error}")

    def _one(self, it: Instruction, form: Form) -> None:
        assert self.state is not None
        before, bound = self.state, form.bound(it.operands)
        functions = self._set.functions

        def sources(*of: Formula | None) -> frozenset[int]:
            names = (name for each in of if each is not None for name in each.names)
            texts = (bound[name] for name in names if name in bound)
            return frozenset[int]().union(*(before.sources.get(text, ()) for text in texts))

        def value(name: str) -> Expression:
            if name == "old":
                return Read(self._next)
            found = self.operand(bound[name])
            if isinstance(found, Address):
                raise CannotReadError(f"calculates with {bound[name]}, an address")
            return found

        if form.target is not None:
            assert form.branch is not None
            taken = condition_of(form.branch.value(value, functions))
            self.branch(bound[form.target], taken, sources(form.branch))
        for name, formula in form.sets:
            plain = formula.text in bound
            found = self.operand(bound[formula.text]) if plain else formula.value(value, functions)
            self._put(self._register(bound[name]), found, sources(formula))
        if form.address is not None or "fence" in form.words:
            self._event(it, form, bound, value, sources)
        if "end" in form.words:
            self.state = None

    def _event(
        self, it: Instruction, form: Form, bound: Mapping[str, str], value: Any, sources: Any
    ) -> None:
        assert self.state is not None
        place = bound.get(form.address or "")
        found = None if place is None else self.operand(place)
        if place is not None and not isinstance(found, Address):
            raise CannotReadError(f"has the address {place}, which is not that of a location")
        written, index = form.written, self._next
        succeeds = None if written is None else written.condition
        event = Event(
            index,
            form,
            it,
            self.state.path,
            found.location if isinstance(found, Address) else None,
            None if written is None else written.value(value, self._set.functions),
            None if succeeds is None else succeeds.value(value, self._set.functions),
            self.state.sources.get(place or "", frozenset()),
            sources(written, succeeds),
            self.state.control,
        )
        if form.result is not None:
            self._put(self._register(bound[form.result]), Read(index), frozenset({index}))
        self.events.append(event)
        self._next += 1

    def operand(self, text: str) -> Expression | Address:
        """What an operand is: a number, what a register has, the address of a location."""
        assert self.state is not None
        if number := _NUMBER.fullmatch(text):
            return Constant(wrap(int(number[1], 0)))
        if self._registers.fullmatch(text):
            if text not in self.state.values:
                raise CannotReadError(f"uses {text}, which has no value")
            found: Expression | Address = self.state.values[text]
            return found
        if text.strip("[]") in self._locations:
            return Address(text.strip("[]"))
        inner = text.strip("[]")
        if inner != text and self._registers.fullmatch(inner):
            return self.operand(inner)
        raise CannotReadError(f"has the operand {text}, which is not known")

    def _register(self, text: str) -> str:
        if not self._registers.fullmatch(text):
            raise CannotReadError(f"has the operand {text}, which is not a register")
        return text

    def _put(self, register: str, value: Expression | Address, sources: frozenset[int]) -> None:
        assert self.state is not None
        values = {**self.state.values, register: value}
        own = {**self.state.sources, register: sources}
        self.state = replace(self.state, values=values, sources=own)

    def joined(self, one: State, other: State) -> State:
        """Registers have what the path has put there that was taken."""
        values = {
            name: _merged(one.path, one.values.get(name, UNKNOWN), other.values.get(name, UNKNOWN))
            for name in dict.fromkeys((*one.values, *other.values))
        }
        path = choice(one.path, True, other.path)
        return State(path, values, sources_joined(one, other), one.control | other.control)


def _merged(
    condition: Condition, then: Expression | Address, otherwise: Expression | Address
) -> Expression | Address:
    if then == otherwise:
        return then
    if isinstance(then, Address) or isinstance(otherwise, Address):
        return UNKNOWN
    return select(expression(condition), then, otherwise)
