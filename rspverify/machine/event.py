"""What can happen in an execution, for the events engine: each instruction once, and few steps.

An entry is flushed at most once per write to it, and of the fetches of an entry only those matter
whose value somebody looks at (docs/events-encoding.md, claims 1 and 2). So every write has one
flush that may follow it, its own, and every look at a VALID entry one fetch that may precede it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import assert_never

from rspverify.assembly import Instruction
from rspverify.machine import rules
from rspverify.machine.machine import Machine
from rspverify.machine.rules import Entry, InstructionRule, LockCell, Rule, Step, StepRule, Word


@dataclass(frozen=True, eq=False)
class Event:
    """One firing of a rule, which may be absent from an execution.

    number: its place in `PossibleEvents.all`. owner: of a flush the write that it flushes, of a
    fetch the look that it serves, of a dequeue what enqueued the location; None of an instruction.
    """

    number: int
    rule: Rule
    owner: Event | None

    @property
    def instruction(self) -> Instruction:
        """The instruction that it is; not of a step of the environment."""
        assert isinstance(self.rule, InstructionRule)
        return self.rule.instruction

    def does(self, step: Step) -> bool:
        """Whether it is this step of the environment."""
        return isinstance(self.rule, StepRule) and self.rule.step is step


class PossibleEvents:
    """All that can happen when a machine runs its program.

    all: by number. code: the instructions of each thread in program order; instructions: one
    thread after the other. flushes: (write, entry) → its flush. fetches: (look, entry) → its fetch.
    versions: word → what gives it a value. dirtying, invalidating: entry → what makes it DIRTY,
    INV'D. locking: lock → what sets it. known: pairs that can only happen in this order.
    """

    def __init__(self, machine: Machine) -> None:
        self.all: list[Event] = []
        self.flushes: dict[tuple[Event, Entry], Event] = {}
        self.fetches: dict[tuple[Event, Entry], Event] = {}
        self.versions: dict[Word, list[Event]] = {}
        self.dirtying: dict[Entry, list[Event]] = {}
        self.invalidating: dict[Entry, list[Event]] = {}
        self.locking: dict[LockCell, list[Event]] = {}
        self.known: list[tuple[int, int]] = []
        self._steps = {
            (rule.step, rule.entry): rule for rule in machine.steps if _is_event(rule.step)
        }
        self.code = [[self._add(rule, None) for rule in thread] for thread in machine.code]
        for thread in self.code:
            self._follow(thread)
        self.instructions = [each for thread in self.code for each in thread]
        place = 0
        while place < len(self.all):
            self._with_steps(self.all[place])
            place += 1

    def add_dequeue(self, enqueuing: Event, entry: Entry) -> Event:
        """One more: what an event has put into the fifo of an entry's cache leaves it."""
        dequeue = self._add(self._steps[Step.DEQLOC, entry], enqueuing)
        self._follow((enqueuing, dequeue))
        return dequeue

    def _add(self, rule: Rule, owner: Event | None) -> Event:
        added = Event(len(self.all), rule, owner)
        self.all.append(added)
        for update in rule.changes.values():
            match update:
                case rules.Assign(word, _) if isinstance(rule, InstructionRule):
                    self.versions.setdefault(word, []).append(added)
                case rules.Copy(word, _) if isinstance(rule, StepRule):
                    self.versions.setdefault(word, []).append(added)
                case rules.SetBit(rules.IsDirty(cache, x), True):
                    self.dirtying.setdefault((cache, x), []).append(added)
                case rules.SetBit(rules.IsDirty(), False) if added.does(Step.FLUSH):
                    pass  # Claim 1.
                case rules.SetBit(rules.IsValid(cache, x), True) if (
                    rules.ValueOf(cache, x) in rule.changes
                ):
                    pass  # A version of an entry is VALID.
                case rules.SetBit(rules.IsValid(cache, x), False):
                    self.invalidating.setdefault((cache, x), []).append(added)
                case rules.SetLock(lock, _):
                    self.locking.setdefault(lock, []).append(added)
                case rules.Deliver() | rules.SetBit(rules.IsPresent()):
                    pass  # Reads change nothing, and only EVICT looks at what is present.
                case rules.Assign() | rules.Copy() | rules.SetBit():
                    raise AssertionError(f"the events engine does not know {update} by {rule}")
                case _:
                    assert_never(update)
        return added

    def _with_steps(self, event: Event) -> None:
        """Add the flushes of what it writes and the fetches of what it looks at."""
        for entry in event.rule.written:
            flush = self.flushes[event, entry] = self._add(self._steps[Step.FLUSH, entry], event)
            self._follow((event, flush))
        for entry in event.rule.valid_entries:
            if (event, entry) not in self.fetches:
                fetch = self._add(self._steps[Step.FETCH, entry], event)
                self.fetches[event, entry] = fetch
                self._follow((fetch, event))

    def _follow(self, events: Sequence[Event]) -> None:
        self.known += [(first.number, second.number) for first, second in pairwise(events)]


def _is_event(step: Step) -> bool:
    match step:
        case Step.FLUSH | Step.FETCH | Step.DEQLOC:
            return True
        case Step.EVICT:
            return False  # It adds nothing (claim 3).
        case Step.DEQMARKER:
            return False  # A marker leaves as soon as it is the oldest (claim 6).
        case _:
            assert_never(step)
