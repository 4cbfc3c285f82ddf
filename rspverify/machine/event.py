"""The possible events of an execution: each instruction once, and few steps.

An entry is flushed at most once per write to it, and of the fetches of an entry only those matter
whose value somebody looks at (docs/proofs.md, claims 1 and 2). So every write has one
flush that may follow it, its own, and every look at a VALID entry one fetch that may precede it.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise, product
from typing import assert_never

from msgspec import Struct

from rspverify.assembly.program import Instruction
from rspverify.machine import rules
from rspverify.machine.machine import Machine
from rspverify.machine.rules import (
    Bit,
    Element,
    Fifo,
    InstructionRule,
    Lock,
    Rule,
    StepRule,
    Word,
)
from rspverify.machine.shapes import Shape


class Event(Struct, frozen=True, eq=False):
    """One firing of a rule, which may be absent from an execution.

    number: its place in `PossibleEvents.all`. owner: of a step that clears a bit (a flush) what set
    the bit, of a refresh (a fetch) the look that it serves, of a dequeue what enqueued the element;
    None of an instruction. shape: of a step, its shape. clears: the bit that it is the clearing of.
    steps: those of the machine that it stands for.
    """

    number: int
    rule: Rule
    owner: Event | None
    shape: Shape | None = None
    clears: Bit | None = None
    steps: tuple[Rule, ...] = ()

    @property
    def instruction(self) -> Instruction:
        """The instruction that it is; not of a step of the environment."""
        assert isinstance(self.rule, InstructionRule)
        return self.rule.instruction


class PossibleEvents:
    """All that can happen when a machine runs its program.

    all: by number. code: the instructions of each thread in program order, those that are cases of
    one side by side; instructions: one thread after the other. cases: by index of an instruction,
    its cases, of which one happens. flushes: (what set a bit, the bit) → the steps that may clear
    it. fetches: (look, bit of an entry) → the refreshes that may serve it. versions: word → what
    gives it a value. setting, unsetting: bit → what makes it true, or false; not the steps that
    clear it as they need it, nor what gives an entry a value. locking: lock → what sets it. known:
    pairs that can only happen in this order.
    """

    def __init__(self, machine: Machine) -> None:
        self.all: list[Event] = []
        self.flushes: dict[tuple[Event, Bit], list[Event]] = {}
        self.fetches: dict[tuple[Event, Bit], list[Event]] = {}
        self.versions: dict[Word, list[Event]] = {}
        self.setting: dict[Bit, list[Event]] = {}
        self.unsetting: dict[Bit, list[Event]] = {}
        self.locking: dict[Lock, list[Event]] = {}
        self.known: list[tuple[int, int]] = []
        self.shapes = machine.in_cases.shapes
        self.cases: dict[int, list[Event]] = {}
        self._machine = machine
        self.code = [
            [each for rule in thread for each in self._cases_of(rule)] for thread in machine.code
        ]
        for rules_of_thread in machine.code:
            turns = [self.cases[rule.instruction.index] for rule in rules_of_thread]
            for first, second in pairwise(turns):
                self.known += [(a.number, b.number) for a, b in product(first, second)]
        self.instructions = [each for thread in self.code for each in thread]
        place = 0
        while place < len(self.all):
            self._with_steps(self.all[place])
            place += 1

    def add_dequeue(self, enqueuing: Event, fifo: Fifo, element: Element) -> Event:
        """Add an event: the element that another event has put into a fifo leaves it."""
        dequeue = self._add(self.shapes.leaving[fifo, element], enqueuing, Shape.LEAVES)
        self._follow((enqueuing, dequeue))
        return dequeue

    def _cases_of(self, rule: InstructionRule) -> list[Event]:
        found = [
            self._add(each.rule, None, steps=each.steps) for each in self._machine.in_cases.of(rule)
        ]
        self.cases[rule.instruction.index] = found
        return found

    def _add(
        self,
        rule: Rule,
        owner: Event | None,
        shape: Shape | None = None,
        clears: Bit | None = None,
        steps: tuple[Rule, ...] = (),
    ) -> Event:
        if isinstance(rule, StepRule):
            steps = self._machine.in_cases.steps(rule)
        added = Event(len(self.all), rule, owner, shape, clears, steps)
        self.all.append(added)
        if rule.conditional:
            raise AssertionError(f"the events engine does not know {rule.conditional[0]} by {rule}")
        for update in rule.changes.values():
            match update:
                case rules.Assign(word, _) | rules.Copy(word, _):
                    self.versions.setdefault(word, []).append(added)
                case rules.SetBit(bit, value):
                    self._set(bit, value, added)
                case rules.SetLock(lock, _):
                    self.locking.setdefault(lock, []).append(added)
                case rules.Deliver():
                    pass  # Reads change nothing.
                case _:
                    assert_never(update)
        return added

    def _set(self, bit: Bit, value: bool, by: Event) -> None:
        if value and bit in self.shapes.entries:
            return  # A version of an entry counts.
        if value:
            self.setting.setdefault(bit, []).append(by)
        elif bit != by.clears:  # Claim 1.
            self.unsetting.setdefault(bit, []).append(by)

    def _with_steps(self, event: Event) -> None:
        """Add the steps that clear its bits, and the refreshes of the values that it looks at."""
        for bit in event.rule.sets(True):
            for step in self.shapes.clearing.get(bit, ()):
                flush = self._add(step, event, Shape.CLEARS, bit)
                self.flushes.setdefault((event, bit), []).append(flush)
                self._follow((event, flush))
        for bit, _ in event.rule.literals:
            if bit in self.shapes.entries and (event, bit) not in self.fetches:
                fetches = self.fetches[event, bit] = []
                for step in self.shapes.refreshing.get(bit, ()):
                    fetches.append(self._add(step, event, Shape.REFRESHES))
                    self._follow((fetches[-1], event))

    def _follow(self, events: Sequence[Event]) -> None:
        self.known += [(first.number, second.number) for first, second in pairwise(events)]
