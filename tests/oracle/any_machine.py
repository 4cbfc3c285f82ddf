"""Any machine by its file alone: an interpreter of docs/machines.md that has nothing of ours but the reader.

States are dictionaries, conditions and effects are looked at again in every state, and nothing is left out.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from rspverify.architecture import architecture as a
from rspverify.assembly.program import WIDEST, AssemblyProgram, Instruction, ThreadId
from rspverify.records import replace
from rspverify.value import evaluate

Path = tuple[int, ...]
State = dict[Any, Any]
"""By (structure, field, place, location) what is there; by ("pc", t) and ("r", register), too."""


class TooMany(Exception):
    """More states than were asked for."""


@dataclass(frozen=True)
class _At:
    """Where something happens: its own place, what variables stand for, and who executes it."""

    own: Path
    places: Mapping[str, Path] = field(default_factory=dict)
    locations: Mapping[str, str] = field(default_factory=dict)
    threads: frozenset[int] = frozenset()
    it: Instruction | None = None


def outcomes(program: AssemblyProgram, most: int) -> frozenset[tuple[Any, Any]]:
    """(reads, memory) of every complete execution. Raises TooMany."""
    return _Interpreter(program).outcomes(most)


class _Interpreter:
    def __init__(self, program: AssemblyProgram) -> None:
        self.program, self.machine = program, program.machine
        self.paths = [(it.device, it.workgroup, it.thread) for it in program.threads]

    def depth(self, kind: str) -> int:
        kind = self.machine.kinds.alike.get(kind, kind)
        return {"system": 0, "device": 1, "workgroup": 2, "thread": 3}[kind]

    def all_places(self, kind: str) -> list[Path]:
        return sorted({path[: self.depth(kind)] for path in self.paths})

    def start(self) -> State:
        state: State = {("pc", number): 0 for number in range(len(self.paths))}
        for kind in self.machine.cells:
            for place in self.all_places(kind.place):
                for x in self.program.initial if kind.located else [None]:
                    state[kind.structure, kind.field, place, x] = {
                        a.Sort.VALUE: self.program.initial.get(x or "", 0),
                        a.Sort.BIT: kind.start,
                        a.Sort.LOCK: None,
                        a.Sort.FIFO: (),
                        a.Sort.POOL: frozenset(),
                    }[kind.sort]
        return self.passed(state)

    def regs(self, state: State) -> dict[int, int]:
        return {key[1]: value for key, value in state.items() if key[0] == "r"}

    def passed(self, state: State) -> State:
        """With each thread at the next instruction that is executed, as far as that is known."""
        for number, code in enumerate(self.program.code):
            while state["pc", number] < len(code):
                try:
                    if evaluate(code[state["pc", number]].guard, self.regs(state)):
                        break
                except KeyError:
                    break
                state["pc", number] += 1
        return state

    def known(self, it: Instruction, state: State) -> bool:
        regs = {**self.regs(state), **({} if it.register is None else {it.register: 0})}
        try:
            evaluate(it.guard, regs)
            if it.value is not None:
                evaluate(it.value, regs)
        except KeyError:
            return False
        return True

    # ---- names

    def key(self, at: a.CellAt, here: _At) -> Any:
        place = here.own if at.place is None else here.places[at.place]
        x = None if at.location is None else here.locations[at.location]
        return at.kind.structure, at.kind.field, place[: self.depth(at.kind.place)], x

    def bound(self, binder: a.Binder, here: _At) -> Iterator[_At]:
        if isinstance(binder, a.Locations):
            for x in self.program.initial:
                if binder.space in (None, self.space(x)):
                    yield replace(here, locations={**here.locations, binder.variable: x})
            return
        for place in self.all_places(binder.kind):
            if binder.inside is not None:
                around = here.own[: self.reach(binder.inside, here)]
                if not all(one == other for one, other in zip(place, around, strict=False)):
                    continue
            if binder.outside is not None:
                around = here.own[: self.reach(binder.outside, here)]
                if all(one == other for one, other in zip(place, around, strict=False)):
                    continue
            if binder.other and here.own[: len(place)] == place:
                continue
            yield replace(here, places={**here.places, binder.variable: place})

    def reach(self, kind: str, here: _At) -> int:
        if kind == a.REACH:
            assert here.it is not None and here.it.reach is not None
            kind = self.machine.reaches[here.it.reach]
        return self.depth(kind)

    def space(self, x: str) -> str:
        return self.program.spaces.get(x, self.machine.spaces[0]).removesuffix(WIDEST)

    def element(self, element: a.FifoElement, here: _At) -> Any:
        if isinstance(element, a.LocationElement):
            return "location", here.locations[element.location]
        if isinstance(element, a.MarkerOf):
            if element.thread is None:
                (own,) = here.threads
                return "marker", own
            return "marker", here.places[element.thread][2]
        assert here.it is not None
        return "instruction", here.it.index

    # ---- conditions

    def hold(self, conditions: Iterable[a.Condition], here: _At, state: State) -> bool:
        return all(self.holds(each, here, state) for each in conditions)

    def holds(self, it: a.Condition, here: _At, state: State) -> bool:
        if isinstance(it, a.Holds):
            return bool(state[self.key(it.bit, here)] is it.value)
        if isinstance(it, a.Either):
            return any(self.holds(each, here, state) for each in it.bits)
        if isinstance(it, a.IsReady):
            holder = state[self.key(it.lock, here)]
            return holder is None or holder in here.threads
        if isinstance(it, a.IsOldest):
            fifo = state[self.key(it.fifo, here)]
            return bool(fifo) and fifo[0] == self.element(it.element, here)
        if isinstance(it, a.IsIn):
            assert here.it is not None
            return here.it.index in state[self.key(it.pool, here)]
        if isinstance(it, a.InSpace):
            return (self.space(here.locations[it.location]) == it.space) is it.value
        if isinstance(it, a.OfWidestScope):
            space = self.program.spaces.get(here.locations[it.location], "")
            return space.endswith(WIDEST) is it.value
        if isinstance(it, a.Occupied):
            return bool(state[self.key(it.where, here)])
        if isinstance(it, a.IsSwitched):
            return self.machine.is_on(it.switch) is it.on
        if isinstance(it, a.All):
            return all(self.hold(it.conditions, at, state) for at in self.bound(it.binder, here))
        return not any(self.unwanted(each, it, here) for each in state[self.key(it.where, here)])

    def unwanted(self, element: Any, it: a.Lacks, here: _At) -> bool:
        if it.marker is not None:
            return bool(element == self.element(it.marker, here))
        if not (it.instructions or it.own or it.location):
            return True
        index = element if isinstance(element, int) else element[1]
        if not isinstance(index, int) or (not isinstance(element, int) and element[0] == "marker"):
            return False
        other = self.program.instructions[index]
        if it.instructions and other.mnemonic.name not in it.instructions:
            return False
        if it.own and other.thread.thread not in here.threads:
            return False
        return it.location is None or other.location == here.locations[it.location]

    # ---- effects

    def done(self, effects: Iterable[a.Effect], here: _At, before: State) -> State:
        flat = list(self.flat(effects, here, before))
        after = dict(before)
        for effect, at in flat:
            if isinstance(effect, a.Read):
                assert at.it is not None
                after["r", at.it.register] = before[self.key(effect.source, at)]
        for effect, at in flat:
            self.do(effect, at, before, after)
        return after

    def flat(
        self, effects: Iterable[a.Effect], here: _At, before: State
    ) -> Iterator[tuple[Any, _At]]:
        for effect in effects:
            if isinstance(effect, a.If):
                if self.hold(effect.conditions, here, before):
                    yield from self.flat(effect.effects, here, before)
            elif isinstance(effect, a.Each):
                for at in self.bound(effect.binder, here):
                    yield from self.flat(effect.effects, at, before)
            else:
                yield effect, here

    def do(self, effect: Any, at: _At, before: State, after: State) -> None:
        if isinstance(effect, a.SetTo):
            after[self.key(effect.bit, at)] = effect.value
        elif isinstance(effect, a.CopyTo):
            after[self.key(effect.target, at)] = before[self.key(effect.source, at)]
        elif isinstance(effect, a.Write):
            assert at.it is not None and at.it.value is not None
            after[self.key(effect.target, at)] = evaluate(at.it.value, self.regs(after))
        elif isinstance(effect, a.Take):
            (after[self.key(effect.lock, at)],) = at.threads
        elif isinstance(effect, a.Free):
            after[self.key(effect.lock, at)] = None
        elif isinstance(effect, a.Enter | a.Leave):
            key = self.key(effect.where, at)
            pool = effect.where.kind.sort is a.Sort.POOL
            own = frozenset() if at.it is None else frozenset({at.it.index})
            if isinstance(effect, a.Enter):
                more = own if pool else (self.element(effect.element, at),)
                after[key] = after[key] | more if pool else after[key] + more
            else:
                after[key] = after[key] - own if pool else after[key][1:]

    # ---- the search

    def here(self, it: Instruction) -> _At:
        thread: ThreadId = it.thread
        locations = {} if it.location is None else {a.OPERAND: it.location}
        path = (thread.device, thread.workgroup, thread.thread)
        return _At(path, {}, locations, frozenset({thread.thread}), it)

    def successors(self, state: State) -> Iterator[State]:
        for number, code in enumerate(self.program.code):
            if state["pc", number] < len(code):
                it = code[state["pc", number]]
                here = self.here(it)
                waits = (*it.mnemonic.conditions, *self.machine.always)
                if self.known(it, state) and self.hold(waits, here, state):
                    after = self.done(it.mnemonic.effects, here, state)
                    after["pc", number] += 1
                    yield self.passed(after)
        for kind, own in self.steps():
            places = [own]
            for variable in kind.variables:
                places = [each for at in places for each in self.bound(variable, at)]
            for at in places:
                if self.hold(kind.conditions, at, state):
                    yield self.passed(self.done(kind.effects, at, state))

    def steps(self) -> Iterator[tuple[a.StepKind, _At]]:
        for kind in self.machine.steps:
            for place in self.all_places(kind.place):
                inside = frozenset(it[2] for it in self.paths if it[: len(place)] == place)
                yield kind, _At(place, threads=inside)
        for it in self.program.instructions:
            for kind in it.mnemonic.later:
                yield kind, self.here(it)

    def ended(self, state: State) -> bool:
        for number, code in enumerate(self.program.code):
            if state["pc", number] < len(code):
                return False
            for it in code:
                needed = evaluate(it.guard, self.regs(state)) and it.register is not None
                if needed and ("r", it.register) not in state:
                    return False
        return self.hold(self.machine.complete, _At(()), state)

    def outcomes(self, most: int) -> frozenset[tuple[Any, Any]]:
        first = self.start()
        seen, stack = {frozenset(first.items())}, [first]
        found = set()
        while stack:
            state = stack.pop()
            if self.ended_safely(state):
                found.add((tuple(sorted(self.regs(state).items())), self.memory(state)))
            for after in self.successors(state):
                frozen = frozenset(after.items())
                if frozen not in seen:
                    seen.add(frozen)
                    stack.append(after)
            if len(seen) > most:
                raise TooMany
        return frozenset(found)

    def ended_safely(self, state: State) -> bool:
        try:
            return self.ended(state)
        except KeyError:
            return False  # A guard needs what has not been read yet.

    def memory(self, state: State) -> tuple[tuple[str, int], ...]:
        final = self.machine.final
        if final is None:
            return ()
        return tuple((x, state[final.structure, final.field, (), x]) for x in self.program.initial)
