"""The explicit engine: concrete states, searched exhaustively. The reference, and the replayer.

The rules become closures over states, which are flat tuples. With `reduced`, states that differ
only in what can never be looked at again are one state, and fifos dequeue by themselves; both
change no outcome (docs/machine.md), and tests hold the reduced search against the full one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from rspverify.limits import LimitReached, Limits
from rspverify.machine.machine import Machine
from rspverify.machine.rules import (
    AnyBit,
    Assign,
    Cache,
    Cell,
    Copy,
    Deliver,
    Dequeue,
    Enqueue,
    Guard,
    IsDirty,
    IsPresent,
    IsValid,
    Marker,
    Memory,
    Oldest,
    Ready,
    Rule,
    SetBit,
    SetLock,
    ValueOf,
)
from rspverify.value import Constant, Expression, evaluate
from rspverify.verdict import Outcome

State = tuple[Any, ...]
"""pc of each thread, then reads, bits, words, locks (-1: free) and fifos (oldest first)."""

_CLOCK_EVERY = 2048


@dataclass(frozen=True)
class Search:
    """What an exhaustive search found.

    outcomes: of all complete executions; states: how many were visited; deepest: the state in
    which the most instructions were dispatched (the first such).
    """

    outcomes: frozenset[Outcome]
    states: int
    deepest: State


@dataclass
class _Layout:
    """Where each cell stands in a state, and which instructions still look at it."""

    slots: dict[Any, int] = field(default_factory=dict)
    start: list[Any] = field(default_factory=list)

    def add(self, key: Any, value: Any) -> None:
        self.slots[key] = len(self.start)
        self.start.append(value)


class ExplicitMachine:
    """A machine with concrete states: its initial state, its steps, and searches over them."""

    def __init__(
        self, machine: Machine, *, reduced: bool = True, dequeue_alone: bool = True
    ) -> None:
        """`dequeue_alone`: fifos dequeue by themselves, without steps (only where reduced)."""
        self.machine = machine
        self._reduced = reduced
        self._alone = reduced and dequeue_alone
        self._locations = {x: place for place, x in enumerate(machine.locations)}
        self._layout = self._lay_out()
        self._slots = self._layout.slots
        self._dirty = [self._slots[bit] for bit in machine.final()]
        self._fifos = [self._slots["fifo", cache] for cache in machine.caches]
        self._threads = machine.program.threads
        self._code = self._instruction_rules()
        self._rules = {rule.key: rule for rule in machine.rules}
        self._compiled = {key: self._compile(rule) for key, rule in self._rules.items()}
        self._fires = [[self._compiled[rule.key] for rule in code] for code in self._code]
        self._steps = [
            (rule, self._compiled[rule.key])
            for rule in machine.rules
            if rule.instruction is None and not (self._alone and rule.dequeues)
        ]
        self._looks = self._last_looks()
        self._marks = self._last_marks()
        self._settle_plan = self._plan()
        self.initial = self._settled(self._advanced(list(self._layout.start), None))

    # States

    def _lay_out(self) -> _Layout:
        machine, layout = self.machine, _Layout()
        for thread in machine.program.threads:
            layout.add(("pc", thread.thread), 0)
        for instruction in machine.program.instructions:
            if instruction.register is not None:
                layout.add(("read", instruction.register), None)
        for cache in machine.caches:
            for x in machine.locations:
                layout.add(IsDirty(cache, x), False)
                layout.add(IsValid(cache, x), False)
                if machine.evict:
                    layout.add(IsPresent(cache, x), False)
                layout.add(ValueOf(cache, x), 0)
        for x, value in machine.program.initial.items():
            layout.add(Memory(x), value)
        for lock in machine.locks:
            layout.add(lock, -1)
        for cache in machine.caches:
            layout.add(("fifo", cache), ())
        return layout

    def _instruction_rules(self) -> list[list[Rule]]:
        code: list[list[Rule]] = [[] for _ in self._threads]
        for rule in self.machine.rules:
            if rule.instruction is not None:
                code[rule.instruction.thread.thread].append(rule)
        return code

    def _element(self, element: str | Marker) -> int:
        """Locations are counted from 0, markers are -1 - thread."""
        return (
            -1 - element.thread.thread if isinstance(element, Marker) else self._locations[element]
        )

    def _reads(self, state: State | list[Any]) -> dict[int, int]:
        return {
            key[1]: state[slot]
            for key, slot in self._slots.items()
            if isinstance(key, tuple) and key[0] == "read" and state[slot] is not None
        }

    def _advanced(self, state: list[Any], thread: int | None) -> list[Any]:
        """Move the pc of a thread (None: of all) past instructions whose guard is false."""
        threads = range(len(self._threads)) if thread is None else (thread,)
        for each in threads:
            code, place = self._code[each], state[each]
            while place < len(code):
                instruction = code[place].instruction
                assert instruction is not None
                guard = instruction.guard
                if (
                    guard.value
                    if isinstance(guard, Constant)
                    else evaluate(guard, self._reads(state))
                ):
                    break
                place += 1
            state[each] = place
        return state

    # Rules

    def _compile(self, rule: Rule) -> Callable[[State], list[Any] | None]:
        """The rule as a function from a state to the next one, or None where it may not fire."""
        slots = self._slots
        bits = [
            tuple((slots[bit], value) for bit, value in guard.bits)
            for guard in rule.guards
            if isinstance(guard, AnyBit)
        ]
        ready = [
            (slots[guard.lock], frozenset({-1} | {thread.thread for thread in guard.threads}))
            for guard in rule.guards
            if isinstance(guard, Ready)
        ]
        oldest = [
            (slots["fifo", guard.cache], self._element(guard.element))
            for guard in rule.guards
            if isinstance(guard, Oldest)
        ]
        instruction = rule.instruction
        marker = -1 - instruction.thread.thread if instruction else 0
        fifos = self._fifos if instruction else []
        delivered = [
            (slots["read", update.register], slots[update.source])
            for update in rule.updates
            if isinstance(update, Deliver)
        ]
        writes = [self._write(update) for update in rule.updates if not isinstance(update, Deliver)]

        def fire(state: State) -> list[Any] | None:
            for alternatives in bits:
                if not any(state[slot] == value for slot, value in alternatives):
                    return None
            for slot, holders in ready:
                if state[slot] not in holders:
                    return None
            for slot, element in oldest:
                if not state[slot] or state[slot][0] != element:
                    return None
            for slot in fifos:
                if marker in state[slot]:
                    return None
            after = list(state)
            for target, source in delivered:
                after[target] = state[source]
            for write in writes:
                write(state, after)
            return after

        return fire

    def _write(self, update: Any) -> Callable[[State, list[Any]], None]:
        slots = self._slots
        match update:
            case SetBit(bit, value):
                return _setter(slots[bit], value)
            case SetLock(lock, holder):
                return _setter(slots[lock], -1 if holder is None else holder.thread)
            case Copy(target, source):
                return _copier(slots[target], slots[source])
            case Assign(target, Constant(value)):
                return _setter(slots[target], value)
            case Assign(target, expression):
                place = slots[target]

                def assign(state: State, after: list[Any]) -> None:
                    after[place] = evaluate(expression, self._reads(after))

                return assign
            case Enqueue(cache, element):
                place, number = slots["fifo", cache], self._element(element)

                def enqueue(state: State, after: list[Any]) -> None:
                    after[place] = (*after[place], number)

                return enqueue
            case Dequeue(cache):
                place = slots["fifo", cache]

                def dequeue(state: State, after: list[Any]) -> None:
                    after[place] = after[place][1:]

                return dequeue
        raise AssertionError(f"not an update: {update}")

    def apply(self, state: State, rule: Rule) -> State | None:
        """The state after a rule (of any machine of this program); None where it may not fire."""
        rule = self._rules[rule.key]
        instruction = rule.instruction
        if instruction is not None:
            thread = instruction.thread.thread
            place = state[thread]
            if place >= len(self._code[thread]) or self._code[thread][place] is not rule:
                return None
        after = self._compiled[rule.key](state)
        return None if after is None else self._after(rule, after)

    def _after(self, rule: Rule, after: list[Any]) -> State:
        if rule.instruction is not None:
            thread = rule.instruction.thread.thread
            after[thread] += 1
            self._advanced(after, thread)
        return self._settled(after)

    def successors(self, state: State) -> Iterator[tuple[Rule, State]]:
        """Every step from a state."""
        for thread, code in enumerate(self._code):
            place = state[thread]
            if place < len(code):
                after = self._fires[thread][place](state)
                if after is not None:
                    yield code[place], self._after(code[place], after)
        for rule, fire in self._steps:
            if self._reduced and rule.step == "FETCH" and not self._wanted(rule, state):
                continue
            after = fire(state)
            if after is not None:
                yield rule, self._settled(after)

    # Reductions

    def _last_looks(self) -> Mapping[Any, list[tuple[int, int]]]:
        """Per (cache, x): for each thread the last place in its code that looks at IsValid."""
        looks: dict[Any, dict[int, int]] = {}
        for thread, code in enumerate(self._code):
            for place, rule in enumerate(code):
                for guard in rule.guards:
                    for bit, _ in guard.bits if isinstance(guard, AnyBit) else ():
                        if isinstance(bit, IsValid):
                            looks.setdefault((bit.cache, bit.location), {})[thread] = place
        for cache in self.machine.caches:
            if cache.level == 2:
                self._add_looks_from_above(cache, looks)
        return {key: sorted(last.items()) for key, last in looks.items()}

    def _add_looks_from_above(self, l2: Cache, looks: dict[Any, dict[int, int]]) -> None:
        """Whoever looks at an L1 of the device may want it fetched from this L2."""
        for l1 in self.machine.l1s:
            if l1.device == l2.device:
                for x in self.machine.locations:
                    for thread, place in looks.get((l1, x), {}).items():
                        mine = looks.setdefault((l2, x), {})
                        mine[thread] = max(place, mine.get(thread, 0))

    def _last_marks(self) -> Mapping[Cache, list[tuple[int, int]]]:
        """Per cache: for each thread the last place in its code that marks the cache's fifo."""
        marks: dict[Cache, dict[int, int]] = {cache: {} for cache in self.machine.caches}
        for thread, code in enumerate(self._code):
            for place, rule in enumerate(code):
                for update in rule.updates:
                    if isinstance(update, Enqueue) and isinstance(update.element, Marker):
                        marks[update.cache][thread] = place
        return {cache: sorted(last.items()) for cache, last in marks.items()}

    def _wanted(self, rule: Rule, state: State) -> bool:
        looks = self._looks.get((rule.cache, rule.location), ())
        return any(state[thread] <= place for thread, place in looks)

    def _plan(self) -> list[tuple[int, list[int], list[tuple[int, int]], list[Any]]]:
        """Per cache: its fifo, the dirty bit of each location, who marks it, and its entries."""
        plan = []
        for cache in self.machine.caches:
            dirty = [self._slots[IsDirty(cache, x)] for x in self.machine.locations]
            entries = [
                (
                    self._slots[IsDirty(cache, x)],
                    self._slots[IsValid(cache, x)],
                    self._slots[ValueOf(cache, x)],
                    self._looks.get((cache, x), []),
                )
                for x in self.machine.locations
            ]
            plan.append((self._slots["fifo", cache], dirty, self._marks[cache], entries))
        return plan

    def _settled(self, state: list[Any]) -> State:
        """The representative of a state: what nobody can look at any more is forgotten."""
        for fifo, dirty, marks, entries in self._settle_plan:
            for is_dirty, is_valid, value, looks in entries:
                if self._reduced and not state[is_dirty]:
                    if state[is_valid]:
                        state[is_valid] = any(state[thread] <= place for thread, place in looks)
                    if not state[is_valid]:
                        state[value] = 0
            queue = state[fifo]
            if not queue or not self._reduced:
                continue
            if self._alone:
                while queue and (queue[0] < 0 or not state[dirty[queue[0]]]):
                    queue = queue[1:]
            if min(queue, default=0) >= 0 and not any(state[t] <= place for t, place in marks):
                queue = ()
            state[fifo] = queue
        return tuple(state)

    # Looking at states

    def cell(self, state: State, cell: Cell) -> Any:
        """What a cell holds: a value, a bit, or the thread that holds a lock (-1: none)."""
        return state[self._slots[cell]]

    def value_read(self, state: State, register: int) -> int:
        """What read number `register` read; it must have happened."""
        value: int = state[self._slots["read", register]]
        return value

    def value_of(self, state: State, expression: Expression) -> int:
        """The value of an expression over values read."""
        return evaluate(expression, self._reads(state))

    def fifo(self, state: State, cache: Cache) -> tuple[str | Marker, ...]:
        """The elements of a fifo, oldest first."""
        numbers = state[self._slots["fifo", cache]]
        return tuple(
            self.machine.locations[number] if number >= 0 else Marker(self._threads[-1 - number])
            for number in numbers
        )

    def next_rules(self, state: State) -> Iterator[Rule]:
        """The instruction that each unfinished thread has come to."""
        for thread, code in enumerate(self._code):
            if state[thread] < len(code):
                yield code[state[thread]]

    def failing(self, state: State, rule: Rule) -> list[Guard]:
        """The guards of an instruction that do not hold in a state."""
        return [guard for guard in rule.guards if not self._guard_holds(state, guard)]

    def _guard_holds(self, state: State, guard: Guard) -> bool:
        match guard:
            case AnyBit(bits):
                return any(state[self._slots[bit]] == value for bit, value in bits)
            case Ready(lock, threads):
                return state[self._slots[lock]] in {-1, *(thread.thread for thread in threads)}
            case Oldest(cache, element):
                return self.fifo(state, cache)[:1] == (element,)

    # Searches

    def complete(self, state: State) -> bool:
        """Whether every instruction has been dispatched and no cache entry is DIRTY."""
        return all(
            state[thread] >= len(code) for thread, code in enumerate(self._code)
        ) and not any(state[slot] for slot in self._dirty)

    def outcome(self, state: State) -> Outcome:
        """The outcome of a complete state."""
        memory = [(x, state[self._slots[Memory(x)]]) for x in self.machine.locations]
        return Outcome(tuple(sorted(self._reads(state).items())), tuple(memory))

    def search(self, limits: Limits) -> Search:
        """All outcomes. Raises LimitReached beyond the limits on states or time."""
        seen = {self.initial}
        stack = [self.initial]
        found: set[Outcome] = set()
        deepest, depth = self.initial, -1
        threads = len(self._code)
        while stack:
            state = stack.pop()
            done = sum(state[:threads])
            if done > depth:
                deepest, depth = state, done
            if self.complete(state):
                found.add(self.outcome(state))
                continue
            for _, after in self.successors(state):
                if after not in seen:
                    seen.add(after)
                    stack.append(after)
            _mind(limits, len(seen))
        return Search(frozenset(found), len(seen), deepest)

    def shortest(self, wanted: Callable[[Outcome], bool], limits: Limits) -> list[Rule] | None:
        """A shortest complete execution with a wanted outcome, or None if there is none."""
        came: dict[State, tuple[State, Rule] | None] = {self.initial: None}
        frontier = [self.initial]
        while frontier:
            following = []
            for state in frontier:
                if self.complete(state) and wanted(self.outcome(state)):
                    return _path(came, state)
                for rule, after in self.successors(state):
                    if after not in came:
                        came[after] = (state, rule)
                        following.append(after)
                _mind(limits, len(came))
            frontier = following
        return None


def _mind(limits: Limits, states: int) -> None:
    if states > limits.states:
        raise LimitReached(f"more than {limits.states:,} machine states")
    if states % _CLOCK_EVERY < 8:
        limits.remaining()


def _path(came: Mapping[State, tuple[State, Rule] | None], state: State) -> list[Rule]:
    rules = []
    step = came[state]
    while step is not None:
        rules.append(step[1])
        step = came[step[0]]
    return rules[::-1]


def _setter(place: int, value: Any) -> Callable[[State, list[Any]], None]:
    def put(state: State, after: list[Any]) -> None:
        after[place] = value

    return put


def _copier(target: int, source: int) -> Callable[[State, list[Any]], None]:
    def copy(state: State, after: list[Any]) -> None:
        after[target] = state[source]

    return copy
