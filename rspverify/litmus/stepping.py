"""Tests in assembly whose instructions are executed one by one, so that loops may do anything."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from msgspec import Struct

from rspverify.isa.addresses import Address, CannotReadError
from rspverify.isa.by_table import Event
from rspverify.isa.conditions import Condition
from rspverify.isa.execution import BY_OPERANDS, UNKNOWN, State
from rspverify.isa.instruction_set import Form
from rspverify.isa.lines import Instruction, Label
from rspverify.litmus.assembly import Code, Column, Frame, SkippedError
from rspverify.litmus.problems import Problems
from rspverify.litmus.program import Location, Thread
from rspverify.litmus.tree import Columns
from rspverify.source import InputError, Problem, Severity
from rspverify.value import Constant, Expression, evaluate

Value = int | Address
"""What a register has: a number, or the address of a location."""

Registers = tuple[tuple[str, Value], ...]
"""Registers in the order of their names, with what they have."""


class Done(Struct, frozen=True):
    """What an instruction does. place: of the next one; registers: what they have then; written:
    the new value of the location that it accesses, None if it writes none."""

    place: int
    registers: Registers
    written: int | None = None


class Effect(Struct, frozen=True):
    """What an instruction does, where `Read(0)` is what it reads. place: of the next one."""

    place: int
    event: Event | None
    _registers: Mapping[str, Expression | Address]

    @property
    def location(self) -> str | None:
        """What it accesses; None if it accesses nothing."""
        return None if self.event is None else self.event.location

    def done(self, reads: int) -> Done:
        """What it does where it reads this."""
        read = {0: reads}
        registers = [
            (name, it if isinstance(it, Address) else evaluate(it, read))
            for name, it in sorted(self._registers.items())
        ]
        event = self.event
        there = event is not None and (event.success is None or evaluate(event.success, read))
        value = event.value if event is not None and there else None
        written = None if value is None else evaluate(value, read)
        return Done(self.place, tuple(registers), written)


class SteppedThread(Column):
    """The instructions of a thread, executed one by one. code: its instructions, by their places.

    placed: the thread and its place, without what it does.
    """

    def __init__(self, frame: Frame, placed: Thread, code: Code) -> None:
        super().__init__(frame, placed.name, placed.index)
        self.placed = placed
        self.code: list[Instruction] = []
        self._labels: dict[str, int] = {}
        self._begin_at_0(code)
        for it in self.lines(code):
            if isinstance(it, Label):
                self._labels[it.name] = len(self.code)
            elif isinstance(it, Instruction):
                self.code.append(it)
                self._require_known(it)
        self._goes: str | None = None
        self._effects: dict[tuple[int, Registers], Effect] = {}
        assert self.state is not None
        values = ((name, _number(it)) for name, it in sorted(self.state.values.items()))
        self.start: Registers = tuple(values)

    def effect(self, place: int, registers: Registers) -> Effect:
        """What an instruction does. Raises InputError if it is not read."""
        found = self._effects.get((place, registers))
        if found is None:
            values = {name: Constant(it) if isinstance(it, int) else it for name, it in registers}
            found = self._effects[place, registers] = self._execute(place, values)
        return found

    def accesses(self, place: int) -> Sequence[Event]:
        """The accesses that an instruction may be, whatever registers have."""
        if self.form(self.code[place]).address is not None:
            self._execute(place, {name: UNKNOWN for name, _ in self.start})
        else:
            self.events.clear()
        return [it for it in self.events if isinstance(it, Event)]

    def _execute(self, place: int, values: Mapping[str, Expression | Address]) -> Effect:
        it = self.code[place]
        self.state, self._goes, self._next = State(True, values), None, 0
        self.events.clear()
        try:
            self.execute(it)
        except CannotReadError as error:
            message = f"{it} cannot be executed: it {error}"
            raise InputError([Problem(it.span, message, severity=Severity.UNSUPPORTED)]) from None
        after = place + 1 if self._goes is None else self._labels[self._goes]
        if self.state is None:
            return Effect(len(self.code), None, {})
        event = next((each for each in self.events if isinstance(each, Event)), None)
        return Effect(after, event, self.state.values)

    def _require_known(self, it: Instruction) -> None:
        """Note an instruction that is not executed."""
        try:
            self.form(it)
        except CannotReadError as error:
            self._found.unsupported(it.span, f"{it} cannot be executed: it {error}")
        except SkippedError:
            pass

    def form(self, it: Instruction) -> Form:
        """The instruction of the set. Raises CannotReadError if it is more than one step."""
        found = super().form(it)
        if BY_OPERANDS in found.tags.write:
            raise CannotReadError("is not known")
        needs = frozenset() if found.written is None else found.written.needs
        if found.meets:
            raise CannotReadError("waits at a barrier, and tests with those are not executed")
        if "reserve" in found.words or "exclusive" in needs:
            raise CannotReadError("is exclusive, and may fail")
        return found

    def branch(self, target: str, taken: Condition, sources: frozenset[int] = frozenset()) -> None:
        """Go there next, or not."""
        if not isinstance(taken, bool):
            raise CannotReadError("branches on what it has just read")
        if target not in self._labels:
            raise CannotReadError(f"goes to {target}, which is no label of its thread")
        self._goes = target if taken else None


class SteppedProgram(Struct, frozen=True, eq=False):
    """A test in assembly, to be executed step by step."""

    title: str
    language: str
    locations: tuple[Location, ...]
    threads: tuple[SteppedThread, ...]


def stepped_program(test: Columns, problems: Problems) -> SteppedProgram:
    """The program that columns mean, as far as they mean one."""
    for it in (*test.aliases, *test.synchronised):
        problems.unsupported(it.span, "a test that is executed step by step must not have this")
    frame = Frame(test, problems)
    threads = (SteppedThread(frame, it, frame.code[it.name]) for it in frame.threads)
    return SteppedProgram(
        test.title, test.language, tuple(frame.locations.values()), tuple(threads)
    )


def _number(it: Expression | Address) -> Value:
    return it if isinstance(it, Address) else evaluate(it, {})
