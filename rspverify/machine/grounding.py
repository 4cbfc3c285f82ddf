"""A machine's file spelled out for the threads and locations of one program: cells and rules."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from itertools import chain, product
from types import MappingProxyType
from typing import Any, NamedTuple, TypeVar, assert_never

from rspverify.architecture import architecture as files
from rspverify.architecture.architecture import Architecture, CellAt, CellKind, Sort, cells_of
from rspverify.assembly.program import WIDEST, Instruction, Placement, ThreadId
from rspverify.limits import LimitReached
from rspverify.machine import rules
from rspverify.machine.rules import Bit, Fifo, Guard, InstructionRule, Place, StepRule, Structure

_KINDS: Mapping[Sort, type[Bit | rules.Word | rules.Lock | Fifo]] = {
    Sort.VALUE: rules.Word,
    Sort.BIT: Bit,
    Sort.LOCK: rules.Lock,
    Sort.FIFO: Fifo,
}


_NONE: Mapping[str, Any] = MappingProxyType({})

_MOST_BOUND = 100_000
"""How many choices of places and locations one rule may have, which takes a second."""


_Sort = TypeVar("_Sort", Bit, rules.Word, rules.Lock, Fifo)


class _Never(Exception):
    """A condition that holds nowhere, whatever the state is."""


class _Here(NamedTuple):
    """The meaning of names where a rule is made.

    own: where it happens; places, locations: by variable; thread: who executes it; instructions:
    all of the program.
    """

    own: Place
    places: Mapping[str, Place] = _NONE
    locations: Mapping[str, str] = _NONE
    thread: ThreadId | None = None
    instruction: Instruction | None = None
    instructions: tuple[Instruction, ...] = ()


class Grounding:
    """A machine with the places of some threads, and some locations.

    spaces: of locations that are not in the first space, which. placement: by open kind of place,
    the number of the one that each thread is in.
    """

    def __init__(
        self,
        architecture: Architecture,
        threads: tuple[ThreadId, ...],
        locations: tuple[str, ...],
        spaces: tuple[tuple[str, str], ...] = (),
        placement: Placement = (),
    ) -> None:
        self.architecture = architecture
        self.threads = threads
        self.locations = locations
        self._spaces = dict(spaces)
        self._cells: dict[object, rules.Cell | Fifo] = {}
        self._always: dict[ThreadId | None, tuple[Guard, ...]] = {}
        self._entering: dict[object, frozenset[object]] = {}
        numbers: Mapping[str, Sequence[int | None]] = dict(placement)
        nobody = (None,) * len(threads)
        self._of_thread = {
            kind: {
                it: self._place(kind, it, number)
                for it, number in zip(threads, numbers.get(kind, nobody), strict=True)
            }
            for kind in architecture.places
        }
        within: dict[Place, list[ThreadId]] = {}
        for its in self._of_thread.values():
            for thread, place in its.items():
                within.setdefault(place, []).append(thread)
        self._threads_of = {place: frozenset(its) for place, its in within.items()}
        self._places = {
            kind: sorted(dict.fromkeys(its.values()), key=lambda it: (it.path, it.number or 0))
            for kind, its in self._of_thread.items()
        }
        self._everywhere = Place(architecture.places[-1], ())
        self._rule_name, self._choices = "", 0

    # Places and cells

    def _place(self, kind: str, thread: ThreadId, number: int | None) -> Place:
        if number is not None:
            return Place(kind, (), number)
        return Place(kind, thread.path(self.architecture.kinds.alike.get(kind, kind)))

    def threads_of(self, place: Place) -> frozenset[ThreadId]:
        """The threads in a place."""
        return self._threads_of[place]

    def _around(self, own: Place, kind: str) -> Place:
        """The place of a kind that a place is, or lies in."""
        if own == self._everywhere:
            return own
        return self._of_thread[kind][next(iter(self._threads_of[own]))]

    @cached_property
    def cells(self) -> tuple[rules.Cell | Fifo, ...]:
        """All cells but those of pools."""
        return tuple(
            cell
            for kind in self.architecture.cells
            if kind.sort is not Sort.POOL
            for cell in self.of_kind(kind)
        )

    def of_kind(self, kind: CellKind) -> list[rules.Cell | Fifo]:
        """All cells of a kind, place by place."""
        locations = self.locations if kind.located else (None,)
        return [self._cell(kind, *it) for it in product(self._places[kind.place], locations)]

    def _cell(self, kind: CellKind, place: Place, location: str | None) -> rules.Cell | Fifo:
        key = (kind.structure, kind.field, place.path, place.number, location)
        found = self._cells.get(key)
        if found is None:
            found = _KINDS[kind.sort](Structure(kind.structure, place), kind.field, location)
            self._cells[key] = found
        return found

    def memory(self, location: str) -> rules.Word | None:
        """The word that has the value of a location in the end; None if the machine has none."""
        final = self.architecture.final
        if final is None:
            return None
        (found,) = (it for it in self.of_kind(final) if it.location == location)
        assert isinstance(found, rules.Word)
        return found

    def starts_true(self, bit: Bit) -> bool:
        """The initial value of a bit."""
        return (bit.structure.name, bit.field) in self._starting

    @cached_property
    def _starting(self) -> frozenset[tuple[str, str]]:
        return frozenset((it.structure, it.field) for it in self.architecture.cells if it.start)

    def _at(self, at: CellAt, here: _Here) -> tuple[Place, str | None]:
        around = here.own if at.place is None else here.places[at.place]
        location = None if at.location is None else here.locations[at.location]
        return self._around(around, at.kind.place), location

    def _found(self, at: CellAt, here: _Here, sort: type[_Sort]) -> _Sort:
        """The cell that is named, which is of this sort."""
        found = self._cell(at.kind, *self._at(at, here))
        assert isinstance(found, sort)
        return found

    def _member(self, at: CellAt, here: _Here, index: int) -> rules.Member:
        """That an instruction is in a pool."""
        place, location = self._at(at, here)
        return rules.Member(Structure(at.kind.structure, place), at.kind.field, location, index)

    # Binders

    def _bound(self, binder: files.Binder, here: _Here) -> Iterator[_Here]:
        """Raises LimitReached where the variables of a rule stand for too many, each with each."""
        for each in self._stood_for(binder, here):
            self._choices += 1
            if self._choices > _MOST_BOUND:
                most = f"{_MOST_BOUND:,} choices of places and locations"
                raise LimitReached(f"{self._rule_name} is for more than {most}")
            yield each

    def _stood_for(self, binder: files.Binder, here: _Here) -> Iterator[_Here]:
        match binder:
            case files.Locations(variable, space):
                for x in self.locations:
                    if space is None or self._space(x) == space:
                        yield here._replace(locations={**here.locations, variable: x})
            case files.Places(variable):
                for place in self._spoken_of(binder, here):
                    yield here._replace(places={**here.places, variable: place})
            case _:
                assert_never(binder)

    def _all_bound(self, binders: Sequence[files.Binder], here: _Here) -> Iterator[_Here]:
        if not binders:
            yield here
            return
        for each in self._bound(binders[0], here):
            yield from self._all_bound(binders[1:], each)

    def _spoken_of(self, binder: files.Places, here: _Here) -> Iterator[Place]:
        inside = None if binder.inside is None else self._reach(binder.inside, here)
        outside = None if binder.outside is None else self._reach(binder.outside, here)
        for place in self._places[binder.kind]:
            threads = self._threads_of[place]
            if inside is not None and inside.isdisjoint(threads):
                continue
            if outside is not None and not outside.isdisjoint(threads):
                continue
            if not (binder.other and place == self._around(here.own, binder.kind)):
                yield place

    def _reach(self, kind: str, here: _Here) -> frozenset[ThreadId]:
        """The threads in the own place of a kind."""
        if kind == files.REACH:
            assert here.instruction is not None and here.instruction.reach is not None
            kind = self.architecture.reaches[here.instruction.reach]
        return self._threads_of[self._around(here.own, kind)]

    def _space(self, x: str) -> str:
        return self._spaces.get(x, self.architecture.spaces[0]).removesuffix(WIDEST)

    # Conditions

    def _guards(self, conditions: Iterable[files.Condition], here: _Here) -> Iterator[Guard]:
        """Raises _Never where they hold in no state."""
        for each in conditions:
            yield from self._guard(each, here)

    def _guard(self, condition: files.Condition, here: _Here) -> Iterator[Guard]:
        match condition:
            case files.Holds() | files.Occupied() | files.Either():
                bits = condition.bits if isinstance(condition, files.Either) else (condition,)
                literals = tuple(self._literals(bits, here))
                if not literals:
                    raise _Never
                yield rules.AnyBit(literals)
            case files.IsReady(at):
                own = frozenset({here.thread}) if here.thread else self.threads_of(here.own)
                yield rules.Ready(self._found(at, here, rules.Lock), own)
            case files.IsOldest(at, element):
                yield rules.Oldest(self._found(at, here, Fifo), self._element(element, here))
            case files.Lacks():
                yield from self._lacks(condition, here)
            case files.IsIn(at):
                assert here.instruction is not None
                yield rules.holds(self._member(at, here, here.instruction.index))
            case files.InSpace(location, space, value):
                if (self._space(here.locations[location]) == space) is not value:
                    raise _Never
            case files.OfWidestScope(location, value):
                space = self._spaces.get(here.locations[location], "")
                if space.endswith(WIDEST) is not value:
                    raise _Never
            case files.IsSwitched(switch, on):
                if self.architecture.is_on(switch) is not on:
                    raise _Never
            case files.All(binder, conditions):
                for each in self._bound(binder, here):
                    yield from self._guards(conditions, each)
            case _:
                assert_never(condition)

    def _literals(
        self, bits: Iterable[files.Holds | files.Occupied], here: _Here
    ) -> Iterator[tuple[Bit, bool]]:
        for each in bits:
            if isinstance(each, files.Holds):
                yield self._found(each.bit, here, Bit), each.value
                continue
            for it in here.instructions:
                if self._may_be_in(each.where, here, it):
                    yield self._member(each.where, here, it.index), True

    def _element(self, element: files.FifoElement, here: _Here) -> rules.Element:
        match element:
            case files.LocationElement(variable):
                return here.locations[variable]
            case files.MarkerOf(None):
                assert here.thread is not None
                return rules.Marker(here.thread)
            case files.MarkerOf(variable):
                assert variable is not None
                (thread,) = self.threads_of(here.places[variable])
                return rules.Marker(thread)
            case files.Element.SELF:
                assert here.instruction is not None
                return rules.Issued(here.instruction.index, str(here.instruction))
            case _:
                assert_never(element)

    def _lacks(self, it: files.Lacks, here: _Here) -> Iterator[Guard]:
        if it.marker is not None:
            marker = self._element(it.marker, here)
            yield rules.Without((self._found(it.where, here, Fifo),), frozenset({marker}))
            return
        found = [
            each
            for each in here.instructions
            if not it.instructions or each.mnemonic.name in it.instructions
            if not it.own or each.thread == here.thread
            if it.location is None or each.location == here.locations[it.location]
            if self._may_be_in(it.where, here, each)
        ]
        if it.where.kind.sort is Sort.POOL:
            for each in found:
                yield rules.fails(self._member(it.where, here, each.index))
            return
        elements = frozenset[rules.Element](rules.Issued(each.index, str(each)) for each in found)
        every = not (it.instructions or it.own or it.location)
        yield rules.Without((self._found(it.where, here, Fifo),), None if every else elements)

    def _may_be_in(self, at: CellAt, here: _Here, it: Instruction) -> bool:
        """Whether an instruction enters a fifo or pool, at once or later."""
        key = (it.mnemonic, it.thread, it.location, it.reach)
        if key not in self._entering:
            self._entering[key] = frozenset()  # What it leaves matters not.
            own = self._here(it, ())
            updates = [*self._updates(it.mnemonic.effects, own)]
            for step in it.mnemonic.later:
                for each in self._all_bound(step.variables, own):
                    updates += self._updates(step.effects, each)
            self._entering[key] = frozenset(_entered(updates))
        place, location = self._at(at, here)
        return (Structure(at.kind.structure, place), at.kind.field, location) in self._entering[key]

    def _possible(
        self, conditions: Iterable[files.Condition], here: _Here
    ) -> tuple[Guard, ...] | None:
        """The guards that conditions are; None where they hold in no state."""
        try:
            return tuple(self._guards(conditions, here))
        except _Never:
            return None

    # Effects

    def _updates(self, effects: Iterable[files.Effect], here: _Here) -> Iterator[rules.Update]:
        for each in effects:
            yield from self._update(each, here)

    def _update(self, effect: files.Effect, here: _Here) -> Iterator[rules.Update]:
        match effect:
            case files.SetTo(at, value):
                yield rules.SetBit(self._found(at, here, Bit), value)
            case files.CopyTo(target, source):
                yield rules.Copy(
                    self._found(target, here, rules.Word), self._found(source, here, rules.Word)
                )
            case files.Read(source):
                assert here.instruction is not None and here.instruction.register is not None
                yield rules.Deliver(
                    here.instruction.register, self._found(source, here, rules.Word)
                )
            case files.Write(target):
                assert here.instruction is not None and here.instruction.value is not None
                yield rules.Assign(self._found(target, here, rules.Word), here.instruction.value)
            case files.Take(at):
                yield rules.SetLock(self._found(at, here, rules.Lock), here.thread)
            case files.Free(at):
                yield rules.SetLock(self._found(at, here, rules.Lock), None)
            case files.Enter(at, element) if at.kind.sort is Sort.POOL:
                assert element is files.Element.SELF and here.instruction is not None
                yield rules.SetBit(self._member(at, here, here.instruction.index), True)
            case files.Enter(at, element):
                yield rules.Enqueue(self._found(at, here, Fifo), self._element(element, here))
            case files.Leave(at) if at.kind.sort is Sort.POOL:
                assert here.instruction is not None
                if self._may_be_in(at, here, here.instruction):
                    yield rules.SetBit(self._member(at, here, here.instruction.index), False)
            case files.Leave(at):
                yield rules.Dequeue(self._found(at, here, Fifo))
            case files.If(conditions, effects):
                yield from self._if(conditions, effects, here)
            case files.Each(binder, effects):
                for each in self._bound(binder, here):
                    yield from self._updates(effects, each)
            case _:
                assert_never(effect)

    def _if(
        self,
        conditions: tuple[files.Condition, ...],
        effects: tuple[files.Effect, ...],
        here: _Here,
    ) -> Iterator[rules.Update]:
        guards = self._possible(conditions, here)
        if guards is None:
            return
        updates = tuple(self._updates(effects, here))
        if not guards:
            yield from updates
        elif updates:
            yield rules.When(guards, updates)

    # Rules

    def _begin(self, name: str) -> None:
        """Begin a rule, of an instruction or a step of this name."""
        self._rule_name, self._choices = name, 0

    def _here(self, it: Instruction, instructions: tuple[Instruction, ...]) -> _Here:
        locations = {} if it.location is None else {files.OPERAND: it.location}
        own = self._of_thread[self.architecture.places[0]][it.thread]
        return _Here(own, {}, locations, it.thread, it, instructions)

    def instruction(
        self, it: Instruction, instructions: tuple[Instruction, ...] = ()
    ) -> InstructionRule:
        """The rule of an instruction of a program."""
        self._begin(it.mnemonic.name)
        here = self._here(it, instructions)
        try:
            own = self._guards(it.mnemonic.conditions, here)
            guards = _merged((*own, *self._always_of(here)))
        except _Never:
            guards = (rules.AnyBit(()),)
        waits = tuple(each for each in guards if not isinstance(each, rules.Oldest))
        assert len(waits) == len(guards)
        return InstructionRule(waits, tuple(self._updates(it.mnemonic.effects, here)), it)

    def _always_of(self, here: _Here) -> tuple[Guard, ...]:
        """The guards of every instruction of a thread. Raises _Never if they hold in no state.

        It is the same for all, where it does not speak of the instructions of the program.
        """
        known = self._always.get(here.thread)
        if known is None or self.architecture.completes_later:
            known = tuple(self._guards(self.architecture.always, here))
            self._always[here.thread] = known
        return known

    def later(self, it: Instruction, instructions: tuple[Instruction, ...]) -> Iterator[StepRule]:
        """The steps that complete what an instruction of a program begins."""
        here = self._here(it, instructions)
        for kind in it.mnemonic.later:
            yield from self._steps(kind, here)

    def count(self) -> int:
        """How many steps of the environment there are, those included that are never possible."""
        found = 0
        for kind in self.architecture.steps:
            for place in self._places[kind.place]:
                self._begin(kind.name)
                found += sum(1 for _ in self._all_bound(kind.variables, _Here(place)))
        return found

    def steps(self, instructions: tuple[Instruction, ...] = ()) -> tuple[StepRule, ...]:
        """The steps of the environment.

        Structure by structure, and in it location by location; what leaves fifos comes last.
        """
        kinds = self.architecture.steps
        structures = list(dict.fromkeys(map(_shown, kinds)))
        found: list[tuple[tuple[object, ...], StepRule]] = []
        for number, kind in enumerate(kinds):
            for place in self._places[kind.place]:
                thread = None
                if kind.place == self.architecture.places[0]:
                    (thread,) = self.threads_of(place)
                here = _Here(place, thread=thread, instructions=instructions)
                for turn, rule in enumerate(self._steps(kind, here)):
                    leaves = bool(rule.oldest)
                    order = (number, turn) if leaves else (turn, number)
                    where = structures.index(rule.structure.name), place.path, place.number or 0
                    found.append(((leaves, *where, *order), rule))
        return tuple(rule for _, rule in sorted(found, key=lambda each: each[0]))

    def _steps(self, kind: files.StepKind, own: _Here) -> Iterator[StepRule]:
        self._begin(kind.name)
        shown = Structure(_shown(kind), own.own)
        for here in self._all_bound(kind.variables, own):
            try:
                guards = _merged(self._guards(kind.conditions, here))
            except _Never:
                continue
            updates = tuple(self._updates(kind.effects, here))
            about = tuple(self._stands_for(each, here) for each in kind.variables)
            yield StepRule(guards, updates, kind.name, shown, about, here.instruction)

    def _stands_for(self, binder: files.Binder, here: _Here) -> object:
        if isinstance(binder, files.Locations):
            return here.locations[binder.variable]
        place = here.places[binder.variable]
        threads = self.threads_of(place)
        return next(iter(threads)) if place.kind == self.architecture.places[0] else place

    def complete(self, instructions: tuple[Instruction, ...]) -> tuple[Guard, ...]:
        """The guards that hold in a complete execution, when all instructions are executed."""
        self._begin("complete")
        here = _Here(self._everywhere, instructions=instructions)
        found = self._guards(self.architecture.complete, here)
        return _merged(_for_nobody(it) for it in found)


def _for_nobody(guard: Guard) -> Guard:
    """A guard of the end, where no place is the own one: a lock is ready if it is free."""
    return rules.Ready(guard.lock, frozenset()) if isinstance(guard, rules.Ready) else guard


def _shown(kind: files.StepKind) -> str:
    """The structure at which a step is shown, of its own place: whose bit it clears, or whose value
    it changes, or else the first that it speaks of.
    """
    wanted = {it.bit for it in kind.conditions if isinstance(it, files.Holds) and it.value}
    cleared = [it.bit for it in kind.effects if isinstance(it, files.SetTo) and not it.value]
    changed = [it.target for it in kind.effects if isinstance(it, files.CopyTo)]
    first = [*(it for it in cleared if it in wanted), *changed]
    for each in chain(first, cells_of((*kind.conditions, *kind.effects))):
        if each.place is None and each.kind.place == kind.place:
            return each.kind.structure
    return ""


def _entered(updates: Iterable[rules.Update]) -> Iterator[object]:
    """The fifos and pools that an instruction itself enters."""
    for it in rules.plain(updates):
        match it:
            case rules.Enqueue(cell, rules.Issued()) | rules.SetBit(rules.Member() as cell, True):
                yield cell.structure, cell.field, cell.location


def _merged(guards: Iterable[Guard]) -> tuple[Guard, ...]:
    """The guards, those that want the same elements in no fifo as one."""
    found: dict[object, Guard] = {}
    for number, each in enumerate(guards):
        if not isinstance(each, rules.Without):
            found[number] = each
            continue
        before = found.get(each.elements)
        fifos = before.fifos if isinstance(before, rules.Without) else ()
        found[each.elements] = rules.Without((*fifos, *each.fifos), each.elements)
    return tuple(found.values())
