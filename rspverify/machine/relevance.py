"""Which rules and cells of a machine can matter to an outcome.

A FETCH matters only where an instruction looks at the entry, or a FETCH from the level above does;
fifos matter only where something marks them (docs/proofs.md says why nothing is lost).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import TypeVar

from rspverify.assembly.program import AssemblyProgram, Instruction
from rspverify.machine import rules as ground
from rspverify.machine.machine import Machine
from rspverify.machine.pending import OPEN_READ
from rspverify.machine.rules import Bit, Cell, Fifo, InstructionRule, Issued, Rule, StepRule, Update
from rspverify.machine.shapes import Shape
from rspverify.records import replace
from rspverify.value import Constant, reads

T = TypeVar("T")

LastPlaces = list[tuple[int, int]]
"""(thread, place): the last place in the thread's code that does something."""

_ANYBODY = -1
"""The thread of what may happen at any time."""


def last_looks(machine: Machine) -> Mapping[Bit, LastPlaces]:
    """Where each thread last wants a value to count, by the bit that says so; none is none.

    What a refresh of another value wants is wanted where that is. Values that other steps want, or
    the end, are left out: these may happen at any time.
    """
    shapes = machine.shapes
    looks: dict[Bit, dict[int, int]] = {bit: {} for bit in shapes.entries}
    waiting = [*_last(machine, lambda rule: [bit for bit, _ in rule.wants]).items()]
    others = (it for it in machine.steps if shapes.shape(it) not in (Shape.REFRESHES, Shape.LOSES))
    wanted = [*ground.literals(machine.ending), *(it for rule in others for it in rule.wants)]
    waiting += [(bit, {_ANYBODY: 0}) for bit, _ in wanted]
    while waiting:
        bit, last = waiting.pop()
        mine = looks.get(bit, last)
        later = {thread: place for thread, place in last.items() if place > mine.get(thread, -1)}
        if later:
            mine |= later
            refreshes = shapes.refreshing.get(bit, ())
            waiting += [(it, later) for rule in refreshes for it, _ in rule.wants]
    return {bit: sorted(last.items()) for bit, last in looks.items() if _ANYBODY not in last}


def last_marks(machine: Machine) -> Mapping[Fifo, LastPlaces]:
    """Per fifo, where each thread last puts a marker into it."""
    marks = _last(machine, lambda rule: rule.marks)
    return {fifo: sorted(marks.get(fifo, {}).items()) for fifo in machine.fifos}


def _last(
    machine: Machine, found: Callable[[InstructionRule], Iterable[T]]
) -> dict[T, dict[int, int]]:
    """Per thing that instructions have, and thread, the last place of one that has it.

    Of one in a loop it is the last place of the loop, as the thread may come back.
    """
    last: dict[T, dict[int, int]] = {}
    for thread, rules in enumerate(machine.code):
        spins = [it for it in machine.program.spins if it.thread == thread]
        for place, rule in enumerate(rules):
            latest = max([place, *(it.end - 1 for it in spins if it.first <= place < it.end)])
            for each in found(rule):
                mine = last.setdefault(each, {})
                mine[thread] = max(latest, mine.get(thread, 0))
    return last


def plain_fifos(machine: Machine) -> frozenset[Fifo]:
    """The fifos of which nobody sees more than that a marker has left.

    Elements leave them by steps that do nothing else.
    """
    seen: set[Fifo] = set()
    for guards in (*(rule.guards for rule in machine.rules), machine.ending):
        for guard in guards:
            if isinstance(guard, ground.Without) and not guard.of_markers:
                seen.update(guard.fifos)
    for rule in machine.rules:
        if rule.conditional:
            return frozenset()
        if isinstance(rule, StepRule) and machine.shapes.shape(rule) is not Shape.LEAVES:
            seen.update(it.fifo for it in rule.oldest)
        if any(not isinstance(it.element, (str, ground.Marker)) for it in rule.enqueues):
            seen.update(it.fifo for it in rule.enqueues)
    return frozenset(machine.fifos) - seen


def begun_at_once(machine: Machine) -> frozenset[object]:
    """The keys of instructions that lose nothing if they are begun as soon as they are reached.

    They wait for nothing, and only enter fifos which their own thread alone fills, and of which
    nobody sees more than the oldest element.
    """
    if not machine.program.completes_later:
        return frozenset()
    filling = ground.by(machine.rules, lambda rule: [it.fifo for it in rule.enqueues])
    looked = {
        fifo
        for rule in machine.rules
        for guard, _ in rule.asked
        if isinstance(guard, ground.Without)
        for fifo in guard.fifos
    }

    def is_own(fifo: Fifo, thread: int) -> bool:
        fillers = filling[fifo]
        return all(isinstance(it, InstructionRule) and it.thread == thread for it in fillers)

    return frozenset(
        rule.key
        for code in machine.code
        for rule in code
        if rule.enqueues and not rule.guards and all(map(_only_begins, rule.updates))
        if all(isinstance(it.element, Issued) for it in rule.enqueues)
        if all(it.fifo not in looked and is_own(it.fifo, rule.thread) for it in rule.enqueues)
    )


def _only_begins(update: Update) -> bool:
    """Whether it puts something into a fifo, or says that a read is open (machine/pending.py)."""
    opens = isinstance(update, ground.SetBit) and update.bit.structure.name == OPEN_READ
    return isinstance(update, ground.Enqueue) or opens


def rests(machine: Machine) -> bool:
    """Whether memory stays as it is once an execution is complete."""
    shapes, memory = machine.shapes, {machine.memory(x) for x in machine.locations}
    resting = {bit for bit in machine.final() if bit in shapes.clearing}

    def waits(step: StepRule) -> bool:
        return any(step.awaits(bit) for bit in resting)

    while True:
        moving = [step for step in machine.steps if not waits(step)]
        set_again = {bit for step in moving for bit in step.may_set} & resting
        if not set_again:
            return memory.isdisjoint(word for step in moving for word in step.changed_words)
        resting -= set_again


def relevant_rules(machine: Machine) -> list[Rule]:
    """The rules without dequeues, and without refreshes of values that nobody looks at."""
    looks = last_looks(machine)
    return [rule for rule in machine.rules if _matters(machine, rule, looks)]


def _matters(machine: Machine, rule: Rule, looks: Mapping[Bit, LastPlaces]) -> bool:
    if isinstance(rule, InstructionRule):
        return True
    shape = machine.shapes.shape(rule)
    if shape is Shape.REFRESHES:
        return looks.get(machine.shapes.refreshed(rule)) != []
    return shape is not Shape.LEAVES


def may_stand_before(one: Rule, other: Rule) -> bool:
    """Whether the element of one rule may be older in a fifo than that of another."""
    if isinstance(one, StepRule) or isinstance(other, StepRule) or one.thread != other.thread:
        return True
    return one.instruction.index < other.instruction.index


def watched_cells(machine: Machine, rules: list[Rule]) -> list[Cell]:
    """The cells that some of these rules look at, that completion needs, and final memory."""
    memory = [word for x in machine.locations if (word := machine.memory(x))]
    looked = [cell for rule in rules for cell in rule.looks]
    leaving = [cell for rule in machine.shapes.leaving.values() for cell in rule.looks]
    needed = [cell for guard in machine.ending for cell in ground.cells_of(guard)]
    ending = [cell for cell in needed if not isinstance(cell, Fifo)]
    return list(dict.fromkeys([*ending, *memory, *looked, *leaving]))


# ---- Values --------------------------------------------------------------------------------------


def deciding_locations(program: AssemblyProgram) -> frozenset[str | None]:
    """The locations on whose values a guard depends, by whatever way."""
    guards = (*(each.guard for each in program.instructions), *program.goes_on)
    deciding = {index for guard in guards for index in reads(guard)}
    while True:
        locations = {it.location for it in program.instructions if it.register in deciding}
        written = (it.value for it in program.instructions if it.location in locations)
        more = deciding.union(*(reads(value) for value in written if value is not None))
        if more == deciding:
            return frozenset(locations)
        deciding = more


def without_idle_values(program: AssemblyProgram) -> AssemblyProgram:
    """The program with 0 for every value that no guard depends on, by whatever way.

    It goes through the same states but for those values, by the same rules, so that it comes to a
    stop where the program does; a search has fewer states to tell apart. Guards are those of
    instructions, and those by which loops go on.
    """
    locations = deciding_locations(program)

    def kept(it: Instruction) -> Instruction:
        idle = it.value is not None and it.location not in locations
        return replace(it, value=Constant(0)) if idle else it

    code = tuple(tuple(kept(it) for it in thread) for thread in program.code)
    initial = {x: value if x in locations else 0 for x, value in program.initial.items()}
    return replace(program, code=code, initial=initial, within={})
