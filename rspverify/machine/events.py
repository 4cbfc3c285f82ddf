"""The events engine: all executions of a machine as happenings in an order, without steps.

A guard speaks of the last change of a cell before the happening, wherever that stands; so nothing
bounds how many steps lie between. docs/events-encoding.md argues claim by claim why each outcome of
the machine is found, and no other.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from rspverify.assembly import ThreadId
from rspverify.limits import Limits
from rspverify.machine.happening import Entry, Happening, Happenings
from rspverify.machine.machine import Machine
from rspverify.machine.observation import Chosen, Observation
from rspverify.machine.queues import Queues
from rspverify.machine.rules import (
    AnyBit,
    Bit,
    Copy,
    Deliver,
    Guard,
    IsDirty,
    IsValid,
    LockCell,
    Memory,
    Ready,
    Rule,
    SetLock,
    ValueOf,
)
from rspverify.smt import FALSE, TRUE, Choice, Model, Term, all_of, any_of, choose, variable
from rspverify.smt.choice import equal
from rspverify.smt.order import Order

Origins = Sequence[tuple[int | None, Term]]
"""Which instruction wrote a value, None for the initial one, and when it is that one."""

Versions = list[tuple[Happening | None, Term]]
"""What gave a word its value, None for its initial one, and when it is that."""


class Events(Observation):
    """All complete executions of a machine, as terms and constraints; or all, complete or not.

    What makes `order` an order is to be added to the constraints when nobody asks for more pairs.
    happens: per happening, that it is in the execution. sources: instruction that reads → where
    its value comes from. last: location → which instruction wrote its final value.
    """

    def __init__(
        self,
        machine: Machine,
        limits: Limits,
        *,
        complete: bool = True,
        chosen: Chosen | None = None,
    ) -> None:
        super().__init__(machine.program, limits, chosen)
        self.machine = machine
        self._to_the_end = complete
        self.happenings = Happenings(machine)
        self.queues = Queues(self.happenings)
        self.order = Order(len(self.happenings.all), self.happenings.known)
        self.happens: list[Term] = []
        self._origins: dict[int, Origins] = {}
        self._ready: dict[object, Term] = {}
        self._looked: dict[tuple[Happening, Entry], Versions] = {}
        self._written: dict[int | None, Choice[int]] = {}
        self.sources: dict[int, Origins] = {}
        self._choose_happenings()
        for each in self.happenings.all:
            limits.remaining()
            self._let_happen(each)
        if complete:
            self._complete()
            self.constraints += self.not_cut()
        self.constraints += self.queues.constraints(self)
        self.last = {x: self._last_in_memory(x) for x in machine.locations}
        self.memory = {x: self._final(x) for x in machine.locations}

    def schedule(self, model: Model) -> list[Rule]:
        """The rules of the execution that a model describes, in order; dequeues left out."""
        return [each.rule for each in self.present(model) if not each.rule.dequeues]

    def present(self, model: Model) -> list[Happening]:
        """What happens in the execution that a model describes, in order."""
        found = [each for each, term in enumerate(self.happens) if model[term]]
        return [self.happenings.all[number] for number in self.order.sorted(model, found)]

    def before(self, a: Happening | None, b: Happening | None) -> Term:
        """That a comes before b, if both happen; None is the end, after everything."""
        if a is None:
            return FALSE
        return TRUE if b is None else self.order.before(a.number, b.number)

    def absent(self, happening: Happening) -> Term:
        """That it is not in the execution."""
        return ~self.happens[happening.number]

    def not_between(self, middle: Happening, a: Happening, b: Happening | None) -> Term:
        """That it is absent, or before a, or after b."""
        return any_of((self.absent(middle), self.before(middle, a), self.before(b, middle)))

    def between(self, middle: Happening, a: Happening, b: Happening | None) -> Term:
        """That it happens after a and before b."""
        after, before = self.before(a, middle), self.before(middle, b)
        return all_of((self.happens[middle.number], after, before))

    def clean(self, entry: Entry, at: Happening | None) -> Term:
        """That an entry is not DIRTY: each write to it is flushed, or overwritten, before."""
        writes = self.happenings.dirtying.get(entry, ())
        return all_of(
            any_of(
                [
                    self.absent(write),
                    self.before(at, write),
                    self.between(self.happenings.flushes[write, entry], write, at),
                    *(self.between(o, write, at) for o in writes if o is not write and o is not at),
                ]
            )
            for write in writes
            if write is not at
        )

    def ready(self, lock: LockCell, threads: frozenset[ThreadId], at: Happening | None) -> Term:
        """That a lock is ready: whoever else took it before, it has been set again since."""
        setting = [each for each in self.happenings.locking.get(lock, ()) if each is not at]
        holders = {each: _holder(each, lock) for each in setting}
        alike = (at, tuple(holders.items()), threads)
        if alike not in self._ready:
            self._ready[alike] = all_of(
                any_of(
                    [
                        self.absent(taking),
                        self.before(at, taking),
                        *(self.between(o, taking, at) for o in setting if o is not taking),
                    ]
                )
                for taking, holder in holders.items()
                if holder is not None and holder not in threads
            )
        return self._ready[alike]

    # What happens

    def _choose_happenings(self) -> None:
        happenings = self.happenings
        for each in happenings.all:
            owner, entry = each.owner, each.entry
            if owner is None:
                term = self._dispatched(each)
            elif each.rule.step == "FLUSH" and entry and self._must_be_flushed(entry):
                term = self.happens[owner.number]
            else:
                term = variable(f"{each.rule.step}{each.number}")
                if each.rule.step == "FLUSH":
                    self.constraints.append(term.implies(self.happens[owner.number]))
            self.happens.append(term)

    def _dispatched(self, happening: Happening) -> Term:
        """That an instruction is executed: by its guard, and in turn."""
        instruction = happening.rule.instruction
        assert instruction is not None
        guard = self.guards[instruction.index]
        if self._to_the_end or guard is FALSE:
            return guard
        term = variable(f"dispatched{instruction.index}")
        self.constraints.append(term.implies(guard))
        for earlier in self.machine.program.code[instruction.thread.thread]:
            if earlier.index < instruction.index:
                passed = self.happens[earlier.index] | ~self.guards[earlier.index]
                self.constraints.append(term.implies(passed))
        return term

    def _must_be_flushed(self, entry: Entry) -> bool:
        """Whether the end leaves no choice: an only write is flushed exactly if it happens."""
        return self._to_the_end and len(self.happenings.dirtying[entry]) == 1

    def _let_happen(self, happening: Happening) -> None:
        """Its guards hold where it happens, and what it reads is what it finds."""
        happens = self.happens[happening.number]
        for guard in happening.rule.guards:
            self.constraints.append(happens.implies(self._holds(guard, happening)))
        for update in happening.changes.values():
            match update:
                case Deliver(register, word):
                    self._deliver(happening, register, word)
                case Copy() if happening.rule.step == "FETCH":
                    self._origins_of(happening)

    def _deliver(self, happening: Happening, register: int, word: ValueOf | Memory) -> None:
        happens = self.happens[happening.number]
        traced = self.sources[register] = self._traced(self._found(happening, word))
        for origin, term in traced:
            same = equal(self.written(origin, word.location), self.reads[register])
            self.constraints.append(any_of((~happens, ~term, same)))

    def _complete(self) -> None:
        """In the end nothing is DIRTY: the last write to each entry has been flushed."""
        for entry, writes in self.happenings.dirtying.items():
            for write in writes:
                later = (
                    all_of((self.happens[other.number], self.before(write, other)))
                    for other in writes
                    if other is not write
                )
                flush = self.happenings.flushes[write, entry]
                wanted = any_of((self.happens[flush.number], *later))
                self.constraints.append(self.happens[write.number].implies(wanted))

    # Guards

    def _holds(self, guard: Guard, at: Happening) -> Term:
        match guard:
            case AnyBit(bits):
                return any_of(self._bit(bit, value, at) for bit, value in bits)
            case Ready(lock, threads):
                return self.ready(lock, threads, at)
        return TRUE  # fifos are the business of Queues

    def _bit(self, bit: Bit, value: bool, at: Happening) -> Term:
        entry = (bit.cache, bit.location)
        match bit:
            case IsDirty() if value and at.rule.step == "FLUSH" and at.entry == entry:
                return self._still_dirty(entry, at)
            case IsDirty():
                clean = self.clean(entry, at)
                return ~clean if value else clean
            case IsValid() if value:
                return any_of(term for _, term in self._valid_sources(entry, at))
        raise AssertionError(f"no rule looks at {bit} being {value}")

    def _still_dirty(self, entry: Entry, flush: Happening) -> Term:
        """What its owner wrote has not been overwritten when a flush happens."""
        assert flush.owner is not None
        return all_of(
            self.not_between(other, flush.owner, flush)
            for other in self.happenings.dirtying[entry]
            if other is not flush.owner
        )

    # Values

    def _found(self, at: Happening, word: ValueOf | Memory) -> Versions:
        """What gave a word the value that a happening finds there."""
        if isinstance(word, ValueOf) and at.awaits_valid((word.cache, word.location)):
            return self._valid_sources((word.cache, word.location), at)
        found = self._last_versions(word, at)
        self.constraints.append(any_of([self.absent(at), *(term for _, term in found)]))
        return found

    def _valid_sources(self, entry: Entry, at: Happening) -> Versions:
        """Each version that may be in an entry, VALID, when a happening looks at it.

        Its own fetch happens exactly where it is the one.
        """
        found = self._looked.get((at, entry))
        if found is not None:
            return found
        versions = self.happenings.versions[ValueOf(*entry)]
        spoiling = self.happenings.invalidating.get(entry, ())
        own = self.happenings.fetches[at, entry]
        found = self._looked[at, entry] = []
        for version in versions:
            if version is at or self.before(version, at) is FALSE:
                continue
            term = self.happens[own.number] if version is own else variable("source")
            conditions = [self.happens[version.number], self.before(version, at)]
            conditions += [
                self.not_between(other, version, at)
                for other in (*versions, *spoiling)
                if other is not version and other is not at
            ]
            self._bind(term, conditions)
            found.append((version, term))
        return found

    def _last_versions(self, word: ValueOf | Memory, at: Happening) -> Versions:
        versions = [each for each in self.happenings.versions.get(word, ()) if each is not at]
        found: Versions = []
        for version in versions:
            conditions = [self.happens[version.number], self.before(version, at)]
            conditions += [
                self.not_between(other, version, at) for other in versions if other is not version
            ]
            if FALSE not in conditions:
                found.append((version, variable("source")))
                self._bind(found[-1][1], conditions)
        untouched = [any_of((self.absent(each), self.before(at, each))) for each in versions]
        if FALSE not in untouched:
            found.append((None, variable("source")))
            self._bind(found[-1][1], untouched)
        return found

    def _bind(self, term: Term, conditions: Iterable[Term]) -> None:
        self.constraints += [term.implies(condition) for condition in conditions]

    def _traced(self, found: Versions) -> Origins:
        """Which instructions wrote the values that were found."""
        origins: dict[int | None, list[Term]] = {}
        for version, term in found:
            for origin, when in self._origins_of(version):
                origins.setdefault(origin, []).append(term & when)
        return [(origin, any_of(terms)) for origin, terms in origins.items()]

    def _origins_of(self, version: Happening | None) -> Origins:
        while version is not None and version.rule.step == "FLUSH":
            version = version.owner
        if version is None:
            return [(None, TRUE)]
        if version.rule.instruction is not None:
            return [(version.rule.instruction.index, TRUE)]
        if version.number not in self._origins:
            (word,) = (each.source for each in version.changes.values() if isinstance(each, Copy))
            self._origins[version.number] = self._traced(self._found(version, word))
        return self._origins[version.number]

    def written(self, origin: int | None, location: str) -> Choice[int]:
        """What an instruction writes; without one, the initial value of the location."""
        if origin is None:
            return {self.machine.program.initial[location]: TRUE}
        if origin not in self._written:
            value = self.machine.program.instructions[origin].value
            assert value is not None
            self._written[origin] = choose(value, self.reads)
        return self._written[origin]

    def _last_in_memory(self, x: str) -> Origins:
        versions = self.happenings.versions.get(Memory(x), [])
        found: Versions = []
        for version in versions:
            found.append((version, variable("last")))
            after = [
                any_of((self.absent(other), self.before(other, version)))
                for other in versions
                if other is not version
            ]
            self._bind(found[-1][1], [self.happens[version.number], *after])
        found.append((None, all_of(self.absent(each) for each in versions)))
        self.constraints.append(any_of(term for _, term in found))
        return self._traced(found)

    def _final(self, x: str) -> Choice[int]:
        values: dict[int, list[Term]] = {}
        for origin, last in self.last[x]:
            for value, term in self.written(origin, x).items():
                values.setdefault(value, []).append(last & term)
        return {value: any_of(terms) for value, terms in values.items()}


def _holder(happening: Happening, lock: LockCell) -> object:
    update = happening.changes[lock]
    assert isinstance(update, SetLock)
    return update.holder
