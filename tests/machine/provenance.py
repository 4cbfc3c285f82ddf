"""Tabs 1 and 2 with provenance: which writes each entry carries, and what memory got.

Written from the tables, sharing nothing with the rules of the engines: instructions are told apart
by their names. An entry has the write whose value it holds, and the writes that it has merged since
it was last CLEAN, in order; a flush takes these below together. Memory is the sequence of writes that
reached it. From that follow rf (the write whose value reached the read), mo (§6.2: the order
in which writes reached memory, those of one flush in the order in which they were merged) and the
last write of each location. A compare-exchange that fails writes back what it has read, as the write
that it has read, and adds no write. There is no EVICT: it changes neither values nor provenance.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NamedTuple

from rspverify.assembly.program import AssemblyProgram, Instruction
from rspverify.machine.rules import InstructionRule, Rule
from rspverify.value import evaluate
from rspverify.verdict import Outcome

Cache = tuple[int, int | None]
"""(device, work-group) of an L1, (device, None) of an L2."""

Write = int | None
"""The operation that wrote; None is the initial write."""

Label = tuple[Any, ...]
"""("P", thread), or (step, cache, location)."""

State = Mapping[tuple[Any, ...], Any]


class Entry(NamedTuple):
    """A present cache entry: its value and whose it is, and the writes since it was last CLEAN."""

    value: int
    source: Write
    merged: tuple[int, ...]
    valid: bool
    dirty: bool


class Generated(NamedTuple):
    """What an execution generates: per read its write; per location the writes in their order.

    stays: per location the write whose value is in memory at the end.
    """

    rf: frozenset[tuple[Write, int]]
    order: frozenset[tuple[str, tuple[int, ...]]]
    stays: frozenset[tuple[str, Write]]

    def last(self, x: str) -> Write:
        """The last write to reach memory at a location."""
        writes = dict(self.order)[x]
        return writes[-1] if writes else None

    @property
    def overtaken(self) -> bool:
        """Whether an older write than the last of some location has stayed."""
        return any(write != self.last(x) for x, write in self.stays)


class Simulation:
    """One program on the machine; states are mappings that are never changed."""

    def __init__(self, program: AssemblyProgram, *, elide_l2: bool) -> None:
        self._program = program
        self._places = [(each.device, each.workgroup) for each in program.threads]
        self._devices = sorted({device for device, _ in self._places})
        self._l1s: list[Cache] = sorted(set(self._places))
        self._l2s: list[Cache] = [] if elide_l2 else [(d, None) for d in self._devices]
        start: dict[tuple[Any, ...], Any] = {("pc", t): 0 for t in range(len(self._places))}
        for x, value in program.initial.items():
            start["memory", x] = (value, (), None)
        self.initial = self._skipped(start)

    # ---- Looking at states ----

    def complete(self, state: State) -> bool:
        """Whether all has been dispatched and nothing is DIRTY."""
        done = all(state["pc", t] == len(code) for t, code in enumerate(self._program.code))
        dirty = any(isinstance(it, Entry) and it.dirty for it in state.values())
        cut = done and any(evaluate(each, self._values(state)) for each in self._program.cuts)
        return done and not dirty and not cut

    def outcome(self, state: State) -> Outcome:
        """The outcome of a complete state."""
        reads = tuple(sorted(self._values(state).items()))
        return Outcome(reads, tuple((x, state["memory", x][0]) for x in self._program.initial))

    def generated(self, state: State) -> Generated:
        """rf and mo of a complete state."""
        rf = frozenset((it[1], key[1]) for key, it in state.items() if key[0] == "read")
        memory = {x: state["memory", x] for x in self._program.initial}
        order = frozenset((x, writes) for x, (_, writes, _) in memory.items())
        return Generated(rf, order, frozenset((x, source) for x, (_, _, source) in memory.items()))

    def _values(self, state: State) -> dict[int, int]:
        return {key[1]: it[0] for key, it in state.items() if key[0] == "read"}

    # ---- Executions ----

    def replay(self, schedule: Iterable[Rule]) -> State:
        """The state after a schedule without dequeues: fifos dequeue as soon as they can."""
        state = self.initial
        for rule in schedule:
            if isinstance(rule, InstructionRule):
                label: Label = ("P", rule.thread)
            else:
                device, group = (*rule.structure.place.path, None)[:2]
                label = (rule.step[:-3], (device, group), rule.about[0])
            moves = dict(self.moves(state))
            assert label in moves, f"{label} may not happen there"
            state = moves[label]
            while dequeued := [it for name, it in self.moves(state) if name[0] == "DEQ"]:
                state = dequeued[0]
        return state

    def executions(self, most: int) -> set[tuple[Outcome, Generated]] | None:
        """What all complete executions generate; None if there are too many states."""
        seen, waiting = {frozenset(self.initial.items())}, [self.initial]
        found = set()
        while waiting:
            state = waiting.pop()
            if self.complete(state):
                found.add((self.outcome(state), self.generated(state)))
            for _, after in self.moves(state):
                key = frozenset(after.items())
                if key not in seen:
                    seen.add(key)
                    waiting.append(after)
            if len(seen) > most:
                return None
        return found

    def moves(self, state: State) -> Iterator[tuple[Label, State]]:
        """Every step from a state."""
        for t, code in enumerate(self._program.code):
            marked = any(key[0] == "fifo" and ("marker", t) in it for key, it in state.items())
            if state["pc", t] < len(code) and not marked:
                after = self._execute(state, t, code[state["pc", t]])
                if after is not None:
                    yield ("P", t), self._skipped({**after, ("pc", t): state["pc", t] + 1})
        for cache in (*self._l1s, *self._l2s):
            for x in self._program.initial:
                yield from self._steps(state, cache, x)
            fifo = state.get(("fifo", cache), ())
            if fifo and (isinstance(fifo[0], tuple) or not self._dirty(state, cache, fifo[0])):
                yield ("DEQ", cache), {**state, ("fifo", cache): fifo[1:]}

    # ---- Tab. 1 ----

    def _execute(self, state: State, t: int, it: Instruction) -> State | None:
        device, group = self._places[t]
        own, below, x = (device, group), (device, None), it.location
        reach = it.reach or ""
        groups = [each for each in self._l1s if reach == "SY" or each[0] == device]
        groups = [own] if reach == "WG" else groups

        def ready(*lock: Any) -> bool:
            return state.get(("lock", *lock)) in (None, t)

        entry = state.get(("entry", own, x))
        match it.mnemonic.name:
            case "LD" | "INC_L1" | "RMW_L1" as name:
                if not (entry and entry.valid) or (name != "LD" and not ready(own)):
                    return None
                after = {**state, ("read", it.register): (entry.value, entry.source)}
                return after if name == "LD" else self._stored(after, own, it)
            case "ST":
                waits = bool(it.mnemonic.conditions)  # The variant rsp-st-waits.
                if waits and entry and entry.dirty and not entry.valid:
                    return None
                return self._stored(state, own, it)
            case "INC_L2" | "RMW_L2":
                found = self._found(state, below, str(x))
                if not ready(own) or not ready(device, x) or found is None:
                    return None
                if self._dirty(state, own, str(x)):
                    return None
                after = self._invalid(state, [own, *self._l2s], [str(x)])
                return self._stored({**after, ("read", it.register): found}, below, it)
            case "FLU_L1" | "FLU_L2" as name:
                l2s = [each for each in self._l2s if reach == "SY" or each[0] == device]
                marked = {
                    ("fifo", each): (*state.get(("fifo", each), ()), ("marker", t))
                    for each in (groups if name == "FLU_L1" else l2s)
                }
                return {**state, **marked}
            case "INV_L1":
                return self._invalid(state, groups, self._program.initial)
            case "LK_L2":
                return {**state, ("lock", device, x): t} if ready(device, x) else None
            case "UL_L2":
                return {**state, ("lock", device, x): None}
            case "LK_rmw":
                free = all(ready(each) for each in groups)
                return {**state, **{("lock", each): t for each in groups}} if free else None
            case "UL_rmw":
                return {**state, **{("lock", each): None for each in groups}}
        raise AssertionError(it.mnemonic.name)

    def _skipped(self, state: dict[tuple[Any, ...], Any]) -> State:
        for t, code in enumerate(self._program.code):
            while state["pc", t] < len(code) and not evaluate(
                code[state["pc", t]].guard, self._values(state)
            ):
                state["pc", t] += 1
        return state

    # ---- Caches ----

    def _dirty(self, state: State, cache: Cache, x: str) -> bool:
        entry = state.get(("entry", cache, x))
        return entry is not None and entry.dirty

    def _found(self, state: State, cache: Cache | None, x: str) -> tuple[int, Write] | None:
        """The VALID value and its write in a cache, or in memory."""
        if cache not in self._l1s + self._l2s:
            value, _, source = state["memory", x]
            return value, source
        entry = state.get(("entry", cache, x))
        return (entry.value, entry.source) if entry is not None and entry.valid else None

    def _invalid(self, state: State, caches: Iterable[Cache], names: Iterable[str]) -> State:
        names = list(names)
        entries = {("entry", cache, x) for cache in caches for x in names}
        return {k: it._replace(valid=False) if k in entries else it for k, it in state.items()}

    def _stored(self, state: State, cache: Cache, it: Instruction) -> State:
        assert it.value is not None
        value = evaluate(it.value, self._values(state))
        writes, source = (it.operation,), it.operation
        if it.success is not None and not evaluate(it.success, self._values(state)):
            writes, source = (), state["read", it.register][1]
        return self._merged(state, cache, str(it.location), value, writes, source)

    def _merged(
        self,
        state: State,
        cache: Cache | None,
        x: str,
        value: int,
        writes: tuple[int, ...],
        source: Write,
    ) -> State:
        """store(C, x, v), or a write to memory, of writes that come together; v is the source's."""
        if cache not in self._l1s + self._l2s:
            before = state["memory", x][1]
            return {**state, ("memory", x): (value, (*before, *writes), source)}
        before = state.get(("entry", cache, x))
        merged = (*(before.merged if before else ()), *writes)
        fifo = (*state.get(("fifo", cache), ()), x)
        entry = Entry(value, source, merged, True, True)
        return {**state, ("entry", cache, x): entry, ("fifo", cache): fifo}

    # ---- Tab. 2 ----

    def _steps(self, state: State, cache: Cache, x: str) -> Iterator[tuple[Label, State]]:
        device, group = cache
        below = (device, None) if group is not None else None
        holder = state.get(("lock", device, x))
        if holder is not None:
            place = self._places[holder]
            if place[0] != device or (group is not None and place != cache):
                return
        entry = state.get(("entry", cache, x))
        if entry is not None and entry.dirty:
            after = self._invalid(state, self._l2s, [x]) if group is not None else state
            after = self._merged(after, below, x, entry.value, entry.merged, entry.source)
            clean = entry._replace(merged=(), dirty=False)
            yield ("FLUSH", cache, x), {**after, ("entry", cache, x): clean}
        elif (found := self._found(state, below, x)) is not None:
            yield (
                ("FETCH", cache, x),
                {**state, ("entry", cache, x): Entry(*found, (), True, False)},
            )
