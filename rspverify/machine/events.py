"""The events engine: all executions of a machine as events in an order, without steps.

A guard speaks of the last change of a cell before the event, wherever that stands; so nothing
bounds how many steps lie between. docs/events-encoding.md argues claim by claim why each outcome of
the machine is found, and no other.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import assert_never

from rspverify.limits import Limits
from rspverify.machine import rules
from rspverify.machine.event import Event, PossibleEvents
from rspverify.machine.event_fifos import EventFifos
from rspverify.machine.event_order import EventOrder
from rspverify.machine.machine import Machine
from rspverify.machine.observation import Observation, ProgramChoice
from rspverify.machine.rules import Bit, Entry, Guard, InstructionRule, Rule, Step, Word
from rspverify.smt import FALSE, TRUE, Choice, Model, Term, all_of, any_of, choose, variable
from rspverify.smt.choice import equal

Origins = Sequence[tuple[int | None, Term]]
"""Which instruction wrote a value, None for the initial one, and when it is that one."""

Versions = list[tuple[Event | None, Term]]
"""What gave a word its value, None for its initial one, and when it is that."""


class Events(Observation):
    """All complete executions of a machine, as terms and constraints; or all, complete or not.

    What makes `order` an order is to be added to the constraints when nobody asks for more pairs.
    sources: instruction that reads → where its value comes from. last: location → which instruction
    wrote its final value.
    """

    def __init__(
        self,
        machine: Machine,
        limits: Limits,
        *,
        complete: bool = True,
        chosen: ProgramChoice | None = None,
    ) -> None:
        super().__init__(machine.program, limits, chosen)
        self.machine = machine
        self._to_the_end = complete
        self.possible = PossibleEvents(machine)
        self.fifos = EventFifos(self.possible)
        self.order = EventOrder(self.possible, self._choose())
        self._origins: dict[Event, Origins] = {}
        self._looked: dict[tuple[Event, Entry], Versions] = {}
        self._written: dict[int | None, Choice[int]] = {}
        self.sources: dict[int, Origins] = {}
        for each in self.possible.all:
            limits.remaining()
            self._let_happen(each)
        if complete:
            self._complete()
            self.constraints += self.not_cut()
        self.constraints += self.fifos.constraints(self.order)
        self.last = {x: self._traced(self._found(None, rules.Memory(x))) for x in machine.locations}
        self.memory = {x: self._final(x) for x in machine.locations}

    def schedule(self, model: Model) -> list[Rule]:
        """The rules of the execution that a model describes, in order; dequeues left out."""
        return [each.rule for each in self.order.present(model) if not each.rule.dequeues]

    # What happens

    def _choose(self) -> list[Term]:
        """By event, that it is in the execution."""
        happens: list[Term] = []
        for each in self.possible.all:
            if isinstance(each.rule, InstructionRule):
                happens.append(self._dispatched(each.rule, happens))
                continue
            assert each.owner is not None
            owned, flush = happens[each.owner.number], each.does(Step.FLUSH)
            if flush and self._must_be_flushed(each.rule.entry):
                happens.append(owned)
                continue
            happens.append(variable(f"{each.rule.step}{each.number}"))
            if flush:
                self.constraints.append(happens[-1].implies(owned))
        return happens

    def _dispatched(self, rule: InstructionRule, happens: Sequence[Term]) -> Term:
        """That an instruction is executed: by its guard, and in turn."""
        index = rule.instruction.index
        guard = self.guards[index]
        if self._to_the_end or guard is FALSE:
            return guard
        term = variable(f"dispatched{index}")
        self.constraints.append(term.implies(guard))
        for earlier in self.machine.program.code[rule.thread]:
            if earlier.index < index:
                passed = happens[earlier.index] | ~self.guards[earlier.index]
                self.constraints.append(term.implies(passed))
        return term

    def _must_be_flushed(self, entry: Entry) -> bool:
        """Whether the end leaves no choice: an only write is flushed exactly if it happens."""
        return self._to_the_end and len(self.possible.dirtying[entry]) == 1

    def _let_happen(self, event: Event) -> None:
        """Its guards hold where it happens, and what it reads is what it finds."""
        happens = self.order.happens(event)
        for guard in event.rule.guards:
            self.constraints.append(happens.implies(self._holds(guard, event)))
        for update in event.rule.takes:
            if isinstance(update, rules.Deliver):
                self._deliver(event, update.register, update.source)
            else:
                self._origins_of(event)

    def _deliver(self, event: Event, register: int, word: Word) -> None:
        traced = self.sources[register] = self._traced(self._found(event, word))
        for origin, term in traced:
            same = equal(self.written(origin, word.location), self.reads[register])
            self.constraints.append(any_of((self.order.absent(event), ~term, same)))

    def _complete(self) -> None:
        """In the end nothing is DIRTY: the last write to each entry has been flushed."""
        for entry, writes in self.possible.dirtying.items():
            for write in writes:
                later = (
                    all_of((self.order.happens(other), self.order.before(write, other)))
                    for other in writes
                    if other is not write
                )
                flush = self.possible.flushes[write, entry]
                wanted = any_of((self.order.happens(flush), *later))
                self.constraints.append(self.order.happens(write).implies(wanted))

    # Guards

    def _holds(self, guard: Guard, at: Event) -> Term:
        match guard:
            case rules.AnyBit(bits):
                return any_of(self._bit(bit, value, at) for bit, value in bits)
            case rules.Ready(lock, threads):
                return self.order.ready(lock, threads, at)
            case rules.Oldest():
                return TRUE  # What stands before it in its fifo is the business of EventFifos.
            case _:
                assert_never(guard)

    def _bit(self, bit: Bit, value: bool, at: Event) -> Term:
        entry = bit.entry
        match bit:
            case rules.IsDirty() if not value:
                return self.order.clean(entry, at)
            case rules.IsDirty() if (
                at.does(Step.FLUSH) and at.owner in self.possible.dirtying[entry]
            ):
                return self._still_dirty(entry, at)
            case rules.IsValid() if value:
                return any_of(term for _, term in self._valid_sources(entry, at))
            case rules.IsDirty() | rules.IsValid() | rules.IsPresent():
                raise AssertionError(f"the events engine does not know {bit} being {value}")
            case _:
                assert_never(bit)

    def _still_dirty(self, entry: Entry, flush: Event) -> Term:
        """What its owner wrote has not been overwritten when a flush happens."""
        assert flush.owner is not None
        return all_of(
            self.order.not_between(other, flush.owner, flush)
            for other in self.possible.dirtying[entry]
            if other is not flush.owner
        )

    # Values

    def _found(self, at: Event | None, word: Word) -> Versions:
        """What gave a word the value that an event, or None: the end, finds there."""
        if at is not None and isinstance(word, rules.ValueOf) and at.rule.awaits_valid(word.entry):
            return self._valid_sources(word.entry, at)
        found = self._last_versions(word, at)
        absent = [] if at is None else [self.order.absent(at)]
        self.constraints.append(any_of([*absent, *(term for _, term in found)]))
        return found

    def _valid_sources(self, entry: Entry, at: Event) -> Versions:
        """Each version that may be in an entry, VALID, when an event looks at it.

        Its own fetch happens exactly where it is the one.
        """
        found = self._looked.get((at, entry))
        if found is not None:
            return found
        order, versions = self.order, self.possible.versions[rules.ValueOf(*entry)]
        spoiling = self.possible.invalidating.get(entry, ())
        own = self.possible.fetches[at, entry]
        found = self._looked[at, entry] = []
        for version in versions:
            if version is at or order.before(version, at) is FALSE:
                continue
            term = order.happens(own) if version is own else variable("source")
            self._bind(term, self._latest(version, (*versions, *spoiling), at))
            found.append((version, term))
        return found

    def _last_versions(self, word: Word, at: Event | None) -> Versions:
        order = self.order
        versions = [each for each in self.possible.versions.get(word, ()) if each is not at]
        conditions = [(each, self._latest(each, versions, at)) for each in versions]
        untouched = [any_of((order.absent(each), order.before(at, each))) for each in versions]
        found: Versions = []
        for version, needed in [*conditions, (None, untouched)]:
            if FALSE not in needed:
                found.append((version, variable("source")))
                self._bind(found[-1][1], needed)
        return found

    def _latest(self, one: Event, changes: Iterable[Event], at: Event | None) -> list[Term]:
        """That one of the changes of a cell is the last when an event, or None: the end, looks."""
        others = (other for other in changes if other is not one and other is not at)
        since = (self.order.not_between(other, one, at) for other in others)
        return [self.order.happens(one), self.order.before(one, at), *since]

    def _bind(self, term: Term, conditions: Iterable[Term]) -> None:
        self.constraints += [term.implies(condition) for condition in conditions]

    def _traced(self, found: Versions) -> Origins:
        """Which instructions wrote the values that were found."""
        origins: dict[int | None, list[Term]] = {}
        for version, term in found:
            for origin, when in self._origins_of(version):
                origins.setdefault(origin, []).append(term & when)
        return [(origin, any_of(terms)) for origin, terms in origins.items()]

    def _origins_of(self, version: Event | None) -> Origins:
        while version is not None and version.does(Step.FLUSH):
            version = version.owner
        if version is None:
            return [(None, TRUE)]
        if isinstance(version.rule, InstructionRule):
            return [(version.rule.instruction.index, TRUE)]
        if version not in self._origins:
            (update,) = version.rule.takes
            self._origins[version] = self._traced(self._found(version, update.source))
        return self._origins[version]

    def written(self, origin: int | None, location: str) -> Choice[int]:
        """What an instruction writes; without one, the initial value of the location."""
        if origin is None:
            return {self.machine.program.initial[location]: TRUE}
        if origin not in self._written:
            value = self.machine.program.instructions[origin].value
            assert value is not None
            self._written[origin] = choose(value, self.reads)
        return self._written[origin]

    def _final(self, x: str) -> Choice[int]:
        values: dict[int, list[Term]] = {}
        for origin, last in self.last[x]:
            for value, term in self.written(origin, x).items():
                values.setdefault(value, []).append(last & term)
        return {value: any_of(terms) for value, terms in values.items()}
