"""The possible events of an execution, each at most once, and in which order they happen, as terms.

An entry is flushed at most once per write to it, and of the fetches of an entry only those matter
whose value somebody looks at (docs/proofs.md, claims 1 and 2). So every write has one
flush that may follow it, its own, and every look at a VALID entry one fetch that may precede it.
A guard speaks of the last change of a cell before an event, wherever that stands (claims 4 and 5).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise, product
from typing import assert_never

from msgspec import Struct

from rspverify.assembly.program import Instruction, ThreadId
from rspverify.limits import Limits
from rspverify.machine import rules
from rspverify.machine.machine import Machine
from rspverify.machine.relevance import may_stand_before
from rspverify.machine.rules import Bit, InstructionRule, Lock, Rule, StepRule, Word
from rspverify.machine.shapes import Shape
from rspverify.smt.order import Order
from rspverify.smt.solver import Model
from rspverify.smt.term import FALSE, TRUE, Term, all_of, any_of


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
    clear it as they need it. locking: lock → what sets it. known:
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

    def add_dequeue(self, enqueuing: Event, enqueue: rules.Enqueue) -> Event:
        """Add an event: the element that another event has put into a fifo leaves it."""
        step = self.shapes.leaving[enqueue.fifo, enqueue.element]
        return self._add_after(enqueuing, step, Shape.LEAVES)

    def _cases_of(self, rule: InstructionRule) -> list[Event]:
        cases = self._machine.in_cases.of(rule)
        found = [self._add(each.rule, None, steps=each.steps) for each in cases]
        self.cases[rule.instruction.index] = found
        return found

    def _add_after(
        self, owner: Event, step: StepRule, shape: Shape, clears: Bit | None = None
    ) -> Event:
        steps = self._machine.in_cases.steps(step)
        added = self._add(step, owner, shape, clears, steps)
        self.known.append((owner.number, added.number))
        return added

    def _add(
        self,
        rule: Rule,
        owner: Event | None,
        shape: Shape | None = None,
        clears: Bit | None = None,
        steps: tuple[Rule, ...] = (),
    ) -> Event:
        added = Event(len(self.all), rule, owner, shape, clears, steps)
        self.all.append(added)
        if rule.conditional:
            raise AssertionError(f"the events engine does not know {rule.conditional[0]} by {rule}")
        for update in rule.changes.values():
            match update:
                case rules.Assign(word, _) | rules.Copy(word, _):
                    self.versions.setdefault(word, []).append(added)
                case rules.SetBit(bit, True):
                    self.setting.setdefault(bit, []).append(added)
                case rules.SetBit(bit, False) if bit == clears:
                    pass  # Claim 1.
                case rules.SetBit(bit, _):
                    self.unsetting.setdefault(bit, []).append(added)
                case rules.SetLock(lock, _):
                    self.locking.setdefault(lock, []).append(added)
                case rules.Deliver():
                    pass  # Reads change nothing.
                case _:
                    assert_never(update)
        return added

    def _with_steps(self, event: Event) -> None:
        """Add the steps that clear its bits, and the refreshes of the values that it looks at."""
        for bit in event.rule.sets(True):
            for step in self.shapes.clearing.get(bit, ()):
                flush = self._add_after(event, step, Shape.CLEARS, bit)
                self.flushes.setdefault((event, bit), []).append(flush)
        for bit, value in event.rule.literals:
            if value and bit in self.shapes.entries and (event, bit) not in self.fetches:
                fetches = self.fetches[event, bit] = []
                for step in self.shapes.refreshing.get(bit, ()):
                    steps = self._machine.in_cases.steps(step)
                    fetches.append(self._add(step, event, Shape.REFRESHES, steps=steps))
                    self.known.append((fetches[-1].number, event.number))


class EventOrder:
    """The order of possible events; `happens[i]` says that event i is in the execution.

    An event that is None is the end, after everything. Each pair that is asked about gets a
    variable; what makes the pairs an order is to be taken when nobody asks for more.
    """

    def __init__(self, possible: PossibleEvents, happens: Sequence[Term]) -> None:
        self._possible = possible
        self._happens = happens
        self._order = Order(len(possible.all), possible.known)
        self._ready: dict[object, Term] = {}

    @property
    def pairs(self) -> int:
        """How many pairs have been asked about by now."""
        return self._order.pairs

    def constraints(self, limits: Limits | None = None) -> list[Term]:
        """Constraints: these pairs are a part of a total order. Raises LimitReached."""
        return self._order.constraints(limits)

    def present(self, model: Model) -> list[Event]:
        """The events of the execution that a model describes, in order."""
        found = [each for each, term in enumerate(self._happens) if model[term]]
        return [self._possible.all[number] for number in self._order.sorted(model, found)]

    def happens(self, event: Event) -> Term:
        """That it is in the execution."""
        return self._happens[event.number]

    def absent(self, event: Event) -> Term:
        """That it is not in the execution."""
        return ~self._happens[event.number]

    def before(self, a: Event | None, b: Event | None) -> Term:
        """That a comes before b, if both happen."""
        if a is None:
            return FALSE
        return TRUE if b is None else self._order.before(a.number, b.number)

    def not_between(self, middle: Event, a: Event, b: Event | None) -> Term:
        """That it is absent, or before a, or after b."""
        return any_of((self.absent(middle), self.before(middle, a), self.before(b, middle)))

    def between(self, middle: Event, a: Event, b: Event | None) -> Term:
        """That it happens after a and before b."""
        return all_of((self.happens(middle), self.before(a, middle), self.before(middle, b)))

    def undone(self, event: Event, by: Iterable[Event], at: Event | None) -> Term:
        """That before `at` an event is absent, or followed by one of those that undo it."""
        followed = (self.between(other, event, at) for other in by if other is not at)
        return any_of([self.absent(event), self.before(at, event), *followed])

    def has_again(self, bit: Bit, value: bool, at: Event | None) -> Term:
        """That a bit has its first value: each change of it, such as a write that makes an entry
        DIRTY, is undone before `at`, by a flush say.

        Or it is followed by another such change, of which the same holds.
        """
        possible = self._possible
        away, back = possible.setting.get(bit, ()), possible.unsetting.get(bit, ())
        if value:
            away, back = back, away
        return all_of(
            self.undone(
                each,
                [
                    *possible.flushes.get((each, bit), ()),
                    *(other for other in away if other is not each),
                    *back,
                ],
                at,
            )
            for each in away
            if each is not at
        )

    def ready(self, lock: Lock, threads: frozenset[ThreadId], at: Event | None) -> Term:
        """That a lock is ready: it was set again since any other thread took it."""
        setting = [each for each in self._possible.locking.get(lock, ()) if each is not at]
        holders = {each: each.rule.holders[lock] for each in setting}
        alike = (at, tuple(holders.items()), threads)
        if alike not in self._ready:
            self._ready[alike] = all_of(
                self.undone(taking, [other for other in setting if other is not taking], at)
                for taking, holder in holders.items()
                if holder is not None and holder not in threads
            )
        return self._ready[alike]


class Enqueued(Struct, frozen=True):
    """An element that an event puts into a fifo, the `place`-th of its elements."""

    enqueue: rules.Enqueue
    by: Event
    place: int

    @property
    def fifo(self) -> rules.Fifo:
        """The fifo that it stands in."""
        return self.enqueue.fifo

    @property
    def marks(self) -> bool:
        """Whether it is the marker of a thread."""
        return isinstance(self.enqueue.element, rules.Marker)

    def may_stand_before(self, other: Enqueued) -> bool:
        """Whether it may be older than another element of its fifo."""
        if self.by is other.by:
            return self.place < other.place
        return may_stand_before(self.by.rule, other.by.rule)


class EventFifos:
    """The elements of all fifos that can hold somebody up: when a marker lets its thread go on.

    Only locations that may stand before a marker matter. Each leaves at some time, in fifo order,
    when its entry is CLEAN. Where an entry has just one write it is CLEAN for good from that
    write's flush on, so that the location leaves as good as then; otherwise its leaving is one more
    of the possible events.
    """

    def __init__(self, possible: PossibleEvents) -> None:
        self._possible = possible
        every = [
            Enqueued(enqueue, by, place)
            for by in possible.all
            for place, enqueue in enumerate(by.rule.enqueues)
        ]
        self._markers = [it for it in every if it.marks and any(self._followers(it))]
        self._leaving = {
            it: self._leaves(it)
            for it in every
            if not it.marks
            if any(it.fifo == each.fifo and it.may_stand_before(each) for each in self._markers)
        }

    def constraints(self, order: EventOrder) -> Iterator[Term]:
        """Locations leave in order, and threads wait for their markers."""
        for each, leaving in self._leaving.items():
            if leaving.shape is Shape.LEAVES:
                yield from self._in_turn(order, each, leaving)
        for marker in self._markers:
            marks = order.happens(marker.by)
            for following in self._followers(marker):
                goes_on = order.happens(following)
                for first in self._in_turn(order, marker, following):
                    yield any_of((~marks, first))
                if goes_on is TRUE or goes_on is marks:
                    break

    def _in_turn(self, order: EventOrder, one: Enqueued, what: Event) -> Iterator[Term]:
        """Something waits until all that entered before an element has left."""
        for other in self._leaving:
            if other.fifo == one.fifo and other is not one:
                yield self._first(order, other, one, what)

    def _first(self, order: EventOrder, one: Enqueued, other: Enqueued, what: Event) -> Term:
        """If one entered before another, something waits until it has left."""
        leaving = self._leaving[one]
        left = order.happens(leaving) & order.before(leaving, what)
        return any_of((order.absent(what), ~self._entered(order, one, other), left))

    def _entered(self, order: EventOrder, one: Enqueued, other: Enqueued) -> Term:
        """That one entered, before another."""
        if one.by is other.by:
            return order.happens(one.by) if one.place < other.place else FALSE
        return order.happens(one.by) & order.before(one.by, other.by)

    def _followers(self, marker: Enqueued) -> Iterator[Event]:
        """The instructions that come after a marker in its thread, and wait for it."""
        for code in self._possible.code:
            if marker.by in code:
                for each in code[code.index(marker.by) + 1 :]:
                    waits = (it for it in each.rule.guards if isinstance(it, rules.Without))
                    if any(marker.fifo in it.fifos for it in waits):
                        yield each

    def _leaves(self, each: Enqueued) -> Event:
        """Its leaving; the flush of its entry where there can be no other write to it."""
        possible = self._possible
        step = possible.shapes.leaving[each.fifo, each.enqueue.element]
        clean = self.wanted_clean(each)
        if len(clean) == 1 and len(step.guards) == 2 and clean[0] not in possible.unsetting:
            flushes = possible.flushes.get((each.by, clean[0]), ())
            if len(possible.setting.get(clean[0], ())) == 1 and len(flushes) == 1:
                return flushes[0]
        return possible.add_dequeue(each.by, each.enqueue)

    def wanted_clean(self, each: Enqueued) -> list[Bit]:
        """The bits that must be false for it to leave."""
        step = self._possible.shapes.leaving[each.fifo, each.enqueue.element]
        return [bit for bit, value in step.literals if not value]
