"""The events engine: all executions of a machine as events in an order, without steps.

A guard speaks of the last change of a cell before the event, wherever that stands; so nothing
bounds how many steps lie between. docs/proofs.md argues claim by claim why each outcome of
the machine is found, and no other.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TypeVar, assert_never

from rspverify.limits import LimitReached, Limits
from rspverify.machine import rules
from rspverify.machine.event import Event, EventFifos, EventOrder, PossibleEvents
from rspverify.machine.machine import Machine
from rspverify.machine.observation import Observation, ProgramChoice
from rspverify.machine.rules import Bit, Fifo, Guard, Rule, StepRule, Word
from rspverify.machine.shapes import Entry, Shape
from rspverify.smt.choice import Choice, choose, equal
from rspverify.smt.solver import Model
from rspverify.smt.term import FALSE, TRUE, Term, all_of, any_of, variable

V = TypeVar("V")

Origins = Sequence[tuple[int | None, Term]]
"""Which instruction wrote a value, None for the initial one, and when it is that one."""

Versions = list[tuple[Event | None, Term]]
"""The event that gave a word its value, None if it is initial, and when that is the one."""


class ShapeUnknown(LimitReached):
    """A machine that an engine does not know; the text says why."""

    def __init__(self, why: str, engine: str = "events") -> None:
        super().__init__(f"engine {engine} does not know this machine, as {why}")
        self._made_of = (why, engine)

    def __reduce__(self) -> tuple[type[ShapeUnknown], tuple[str, str]]:
        return type(self), self._made_of


class Events(Observation):
    """All complete executions of a machine, as terms and constraints.

    What makes `order` an order is to be added to the constraints when nobody asks for more pairs.
    sources: instruction that reads → where its value comes from. last: location → which instruction
    wrote its final value.
    """

    def __init__(
        self, machine: Machine, limits: Limits, *, chosen: ProgramChoice | None = None
    ) -> None:
        super().__init__(machine.program, limits, chosen)
        self._shapes = machine.in_cases.shapes
        if machine.in_cases.unknown:
            raise ShapeUnknown(machine.in_cases.unknown)
        self.machine = machine
        self._final = frozenset(machine.in_cases.final)
        self.possible = PossibleEvents(machine)
        self.fifos = EventFifos(self.possible)
        self.order = EventOrder(self.possible, self._choose())
        self._origins: dict[tuple[Event, Word], Origins] = {}
        self._looked: dict[tuple[Event, Bit], Versions] = {}
        self._written: dict[int | None, Choice[int]] = {}
        self._delivered: dict[int, list[tuple[Event, Origins]]] = {}
        for each in self.possible.all:
            limits.remaining()
            self._let_happen(each)
        self.sources = {
            register: found[0][1] if len(found) == 1 else self._either(found)
            for register, found in self._delivered.items()
        }
        self._complete()
        self.constraints += self.not_cut()
        self.constraints += self.fifos.constraints(self.order)
        final = {x: word for x in machine.locations if (word := machine.memory(x))}
        self.last = {x: self._traced(self._found(None, word), word) for x, word in final.items()}
        self.memory = {x: self._in_the_end(x, word) for x, word in final.items()}

    def schedule(self, model: Model) -> list[Rule]:
        """The rules of the execution that a model describes, in order; dequeues left out."""
        present = self.order.present(model)
        return [it for each in present if each.shape is not Shape.LEAVES for it in each.steps]

    # What happens

    def _choose(self) -> list[Term]:
        """By event, that it is in the execution."""
        happens: list[Term] = []
        for index, cases in self.possible.cases.items():  # These come first.
            left = self.guards[index]
            for _ in cases[:-1]:
                chosen = variable(f"case{index}")
                happens.append(left & chosen)
                left &= ~chosen
            happens.append(left)
        for each in self.possible.all[len(happens) :]:
            assert isinstance(each.rule, StepRule) and each.owner is not None
            owned = happens[each.owner.number]
            if each.clears and self._must_be_cleared(each.owner, each.clears):
                happens.append(owned)
                continue
            happens.append(variable(f"{each.rule.step}{each.number}"))
            if each.clears:
                self.constraints.append(happens[-1].implies(owned))
        return happens

    def _must_be_cleared(self, setter: Event, bit: Bit) -> bool:
        """Whether the end leaves no choice: an only write is flushed exactly if it happens."""
        possible = self.possible
        alone = len(possible.setting[bit]) == 1 and len(possible.flushes[setter, bit]) == 1
        return alone and bit in self._final and bit not in possible.unsetting

    def _let_happen(self, event: Event) -> None:
        """If it happens, its guards hold, and it reads the values that it finds."""
        happens = self.order.happens(event)
        for guard in event.rule.guards:
            self.constraints.append(happens.implies(self._holds(guard, event)))
        for update in event.rule.takes:
            if isinstance(update, rules.Deliver):
                self._deliver(event, update.register, update.source)
            else:
                self._origins_of(event, update.target)

    def _deliver(self, event: Event, register: int, word: Word) -> None:
        traced = self._traced(self._found(event, word), word)
        self._delivered.setdefault(register, []).append((event, traced))
        for origin, term in traced:
            same = equal(self.written(origin, word), self.reads[register])
            self.constraints.append(any_of((self.order.absent(event), ~term, same)))

    def _either(self, delivered: Iterable[tuple[Event, Origins]]) -> Origins:
        """Where a value comes from that one of several events brings: what is found by the others,
        which do not happen, says nothing."""
        return _merged(
            (origin, term & self.order.happens(event))
            for event, origins in delivered
            for origin, term in origins
        )

    def _complete(self) -> None:
        """In the end nothing is DIRTY: the last write to each entry has been flushed."""
        self.constraints += [self._bit(bit, False, None) for bit in self.machine.in_cases.final]

    # Guards

    def _holds(self, guard: Guard, at: Event) -> Term:
        match guard:
            case rules.AnyBit(bits):
                return any_of(self._bit(bit, value, at) for bit, value in bits)
            case rules.Ready(lock, threads):
                return self.order.ready(lock, threads, at)
            case rules.Oldest(fifo, rules.Issued()):
                return self._in_turn(fifo, at)
            case rules.Oldest() | rules.Without():
                return TRUE  # What stands in fifos is the business of EventFifos.
            case _:
                assert_never(guard)

    def _in_turn(self, fifo: Fifo, at: Event) -> Term:
        """All instructions that entered a fifo before that of a step have left it."""
        own, order, possible = at.owner, self.order, self.possible
        assert own is not None
        return all_of(
            any_of(
                [
                    order.absent(entering),
                    order.before(own, entering),
                    *(
                        order.happens(leaving) & order.before(leaving, at)
                        for leaving in possible.flushes.get((entering, member), ())
                    ),
                ]
            )
            for member in self.machine.in_cases.queues[fifo]
            for entering in possible.setting.get(member, ())
            if entering is not own
        )

    def _bit(self, bit: Bit, value: bool, at: Event | None) -> Term:
        """That a bit has a value when an event, or None: the end, looks."""
        entry = self._shapes.entries.get(bit)
        if entry is not None and at is not None and value:
            return any_of(term for _, term in self._valid_sources(entry, at))
        if at is not None and bit == at.clears:
            return self._still_set(bit, at)
        first = self.machine.starts_true(bit)
        again = self.order.has_again(bit, first, at)
        return again if value is first else ~again

    def _still_set(self, bit: Bit, step: Event) -> Term:
        """Its owner was the last to change a bit before a step clears it."""
        owner = step.owner
        assert owner is not None
        changing = [*self.possible.setting[bit], *self.possible.unsetting.get(bit, ())]
        flushes = self.possible.flushes[owner, bit]
        return all_of(self._not_since(owner, [*changing, *flushes], step))

    # Values

    def _found(self, at: Event | None, word: Word) -> Versions:
        """The versions of a word that an event, or None: the end, may find."""
        entry = self._shapes.of_value.get(word)
        if at is not None and entry is not None and at.rule.awaits(entry.valid):
            return self._valid_sources(entry, at)
        order = self.order
        versions = [each for each in self.possible.versions.get(word, ()) if each is not at]
        untouched = [any_of((order.absent(each), order.before(at, each))) for each in versions]
        found: Versions = []
        for version in (*versions, None):
            needed = untouched if version is None else self._latest(version, versions, at)
            if FALSE not in needed:
                found.append((version, variable("source")))
                self._bind(found[-1][1], needed)
        absent = [] if at is None else [order.absent(at)]
        self.constraints.append(any_of([*absent, *(term for _, term in found)]))
        return found

    def _valid_sources(self, entry: Entry, at: Event) -> Versions:
        """Each version that may be in an entry, VALID, when an event looks at it.

        Its own fetch happens exactly where it is the one.
        """
        found = self._looked.get((at, entry.valid))
        if found is not None:
            return found
        order, versions = self.order, self.possible.versions.get(entry.value, [])
        spoiling = self.possible.unsetting.get(entry.valid, ())
        own = self.possible.fetches[at, entry.valid]
        found = self._looked[at, entry.valid] = []
        for version in versions:
            if version is at or order.before(version, at) is FALSE:
                continue
            term = order.happens(version) if version in own else variable("source")
            self._bind(term, self._latest(version, (*versions, *spoiling), at))
            found.append((version, term))
        return found

    def _latest(self, one: Event, changes: Iterable[Event], at: Event | None) -> list[Term]:
        """That one of the changes of a cell is the last when an event, or None: the end, looks."""
        since = self._not_since(one, changes, at)
        return [self.order.happens(one), self.order.before(one, at), *since]

    def _not_since(self, one: Event, changes: Iterable[Event], at: Event | None) -> list[Term]:
        """That no other change of a cell comes between one and an event that looks."""
        others = (other for other in changes if other is not one and other is not at)
        return [self.order.not_between(other, one, at) for other in others]

    def _bind(self, term: Term, conditions: Iterable[Term]) -> None:
        self.constraints += [term.implies(condition) for condition in conditions]

    def _traced(self, found: Versions, word: Word) -> Origins:
        """Which instructions wrote the values that were found in a word."""
        return _merged(
            (origin, term & when)
            for version, term in found
            for origin, when in self._origins_of(version, word)
        )

    def _origins_of(self, version: Event | None, word: Word) -> Origins:
        if version is None:
            return [(None, TRUE)]
        update = version.rule.changes[word]
        match update:
            case rules.Assign():
                assert version.rule.instruction is not None
                return [(version.rule.instruction.index, TRUE)]
            case rules.Copy(_, source) if self._carries(version, source):
                return self._origins_of(version.owner, source)
            case rules.Copy(_, source):
                known = self._origins.get((version, word))
                if known is None:
                    known = self._traced(self._found(version, source), source)
                    self._origins[version, word] = known
                return known
            case rules.SetBit() | rules.SetLock() | rules.Deliver():
                raise AssertionError(f"{update} gives {word} no value")
            case _:
                assert_never(update)

    def _carries(self, version: Event, source: Word) -> bool:
        """Whether it is a flush of the write of its owner (claim 1)."""
        entry = self._shapes.of_value.get(source)
        return entry is not None and version.clears is not None and entry.dirty == version.clears

    def written(self, origin: int | None, word: Word) -> Choice[int]:
        """The values that an instruction writes; of None, the initial value of a word."""
        if origin is None:
            return {self.machine.program.initial.get(word.location or "", 0): TRUE}
        if origin not in self._written:
            value = self.machine.program.instructions[origin].value
            assert value is not None
            self._written[origin] = choose(value, self.reads)
        return self._written[origin]

    def _in_the_end(self, x: str, word: Word) -> Choice[int]:
        return dict(
            _merged(
                (value, last & term)
                for origin, last in self.last[x]
                for value, term in self.written(origin, word).items()
            )
        )


def _merged(alternatives: Iterable[tuple[V, Term]]) -> list[tuple[V, Term]]:
    """Each thing once, and that one of the terms beside it holds."""
    terms: dict[V, list[Term]] = {}
    for each, term in alternatives:
        terms.setdefault(each, []).append(term)
    return [(each, any_of(found)) for each, found in terms.items()]
