"""The explicit engine: concrete states, searched exhaustively. The reference, and the replayer.

The rules become closures over states, which are flat tuples. With `reduced`, states that differ
only in what can never be looked at again are one state, and fifos dequeue by themselves; both
change no outcome (docs/proofs.md), and tests hold the reduced search against the full one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from msgspec import Struct

from rspverify.assembly.program import AssemblyProgram
from rspverify.graph import BreadthFirst
from rspverify.limits import LimitReached, Limits
from rspverify.machine import rules
from rspverify.machine.closures import compile_guards, compile_rule, known_value
from rspverify.machine.draining import NOTHING_RESTS, Resting
from rspverify.machine.machine import Machine
from rspverify.machine.reduction import Reduction
from rspverify.machine.relevance import begun_at_once, rests
from rspverify.machine.rules import Cell, Fifo, InstructionRule, Marker, Rule, StepRule, Wait
from rspverify.machine.state import Layout, State
from rspverify.value import Constant, Expression, evaluate
from rspverify.verdict import Outcome


class Exploration(Struct, frozen=True):
    """What an exhaustive search found.

    outcomes: of all complete executions; states: how many were visited; deepest: the state in
    which the most instructions were dispatched (the first such).
    """

    outcomes: frozenset[Outcome]
    states: int
    deepest: State


class ExplicitMachine:
    """A machine with concrete states: its initial state, its steps, and searches over them."""

    def __init__(
        self,
        machine: Machine,
        *,
        reduced: bool = True,
        dequeue_alone: bool = True,
        looping: bool = False,
        resting: Resting = NOTHING_RESTS,
    ) -> None:
        """`dequeue_alone`: fifos dequeue by themselves, without steps (only where reduced).

        So do instructions begin that complete later, where that loses nothing. looping: spins are
        loops: where one goes on, its thread is back at its first instruction, what it has read is
        forgotten, and no execution is left out for that. resting: entries that are
        CLEAN and VALID again after each step, by steps that are not told.
        """
        self.machine = machine
        self.layout = Layout(machine)
        self._code = machine.code
        self._goes_on = machine.program.cuts if looping else machine.program.goes_on
        self._loops = _Loops(machine.program, self.layout) if looping else None
        self._rules = {rule.key: rule for rule in machine.rules}
        self._compiled = {key: compile_rule(rule, self.layout) for key, rule in self._rules.items()}
        self._fires = [[self._compiled[rule.key] for rule in code] for code in self._code]
        alone = reduced and dequeue_alone
        self._reduction = Reduction(machine, self.layout, dequeue_alone=alone) if reduced else None
        self._resting = [
            (self.layout.cell(cell), value)
            for entry in machine.shapes.entries.values()
            if entry.value.location in resting.idle
            for cell, value in ((entry.valid, True), (entry.dirty, False), (entry.value, 0))
            if cell is not None
        ]
        self._kept = [
            self._compiled[step.key] for it in resting.kept for step in (it.flush, it.fetch)
        ]
        looks = self._reduction.looks if self._reduction else lambda _: None
        begun = begun_at_once(machine) if alone else frozenset()
        self._at_once = [[rule.key in begun for rule in code] for code in self._code]
        steps = [
            rule
            for rule in machine.steps
            if not (self._reduction and self._reduction.happens_alone(rule))
            if not any(resting.of(bit.location) for bit, _ in rule.literals)
        ]
        self._steps = [
            (it, self._compiled[it.key], looks(it), *self._head(it))  # As tuples these are fast.
            for it in steps
        ]
        self._memory_rests = rests(machine)
        self._at_the_end = compile_guards(machine.ending, self.layout)
        start = list(self.layout.start)
        for thread in range(len(self._code)):
            self._skip(start, thread)
        self.initial = self._settled(start)

    def _head(self, step: StepRule) -> tuple[int, int] | tuple[None, None]:
        """The place of a fifo, and the element that must be its oldest for a step."""
        for it in step.oldest:
            return self.layout.cell(it.fifo), self.layout.number(it.element)
        return None, None

    # Steps

    def _skip(self, state: list[Any], thread: int) -> None:
        """Move the pc of a thread past instructions whose guard is false, as far as that is known.

        Those that begin at once are begun.
        """
        code, place = self._code[thread], state[thread]
        rounds = set[int]()
        while True:
            if self._loops is not None:
                first = self._loops.again(state, thread, place)
                if first is not None:
                    if first in rounds:
                        raise LimitReached("a loop goes round for ever and executes nothing")
                    rounds.add(first)
                    place = first
                    continue
            if place >= len(code):
                break
            guard = code[place].instruction.guard
            if isinstance(guard, Constant):
                holds: int | None = guard.value
            else:
                holds = known_value(guard, self.layout.values(state))
            if holds is None:
                break
            if holds:
                if not self._at_once[thread][place]:
                    break
                state[:] = self._fires[thread][place](tuple(state)) or state
            place += 1
        state[thread] = place

    def apply(self, state: State, rule: Rule) -> State | None:
        """The state after a rule (of any machine of this program); None where it may not fire."""
        rule = self._rules[rule.key]
        if isinstance(rule, InstructionRule):
            code, place = self._code[rule.thread], state[rule.thread]
            if place >= len(code) or code[place] is not rule:
                return None
        after = self._compiled[rule.key](state)
        return None if after is None else self._after(rule, after)

    def _after(self, rule: Rule, after: list[Any]) -> State:
        if isinstance(rule, InstructionRule):
            after[rule.thread] += 1
            self._skip(after, rule.thread)
        elif rule.instruction is not None:  # It may have delivered what a guard looks at.
            self._skip(after, rule.instruction.thread.thread)
        return self._settled(after)

    def _settled(self, state: list[Any]) -> State:
        for slot, value in self._resting:
            state[slot] = value
        for flush_or_fetch in self._kept:
            state[:] = flush_or_fetch(tuple(state)) or state
        if self._reduction is not None:
            self._reduction.settle(state)
        return tuple(state)

    def successors(self, state: State) -> Iterator[tuple[Rule, State]]:
        """Every step from a state."""
        for thread, code in enumerate(self._code):
            place = state[thread]
            if place < len(code):
                after = self._fires[thread][place](state)
                if after is not None:
                    yield code[place], self._after(code[place], after)
        for step, fire, looks, slot, head in self._steps:
            if slot is not None and (not state[slot] or state[slot][0] != head):
                continue
            if looks is not None:
                for thread, place in looks:
                    if state[thread] <= place:
                        break
                else:
                    continue
            after = fire(state)
            if after is not None:
                late = step.instruction is not None
                yield step, self._after(step, after) if late else self._settled(after)

    # Looking at states

    def cell(self, state: State, cell: Cell) -> Any:
        """What a cell holds: a value, a bit, or the thread that holds a lock (-1: none)."""
        return state[self.layout.cell(cell)]

    def fifo(self, state: State, fifo: Fifo) -> tuple[rules.Element, ...]:
        """The elements of a fifo, oldest first."""
        return tuple(self.layout.element(each) for each in state[self.layout.cell(fifo)])

    def next_rules(self, state: State) -> Iterator[InstructionRule]:
        """The instruction that each unfinished thread has come to."""
        for thread, code in enumerate(self._code):
            if state[thread] < len(code):
                yield code[state[thread]]

    def failing(self, state: State, rule: InstructionRule) -> list[Wait]:
        """The guards of an instruction that do not hold in a state."""
        return [it for it in rule.guards if not compile_guards([it], self.layout)(state)]

    def marked(self, state: State, rule: InstructionRule) -> list[Fifo]:
        """The fifos in which the thread of an instruction has markers that it waits for."""
        marker = Marker(rule.instruction.thread)
        return [
            fifo
            for guard in rule.guards
            if isinstance(guard, rules.Without) and marker in (guard.elements or ())
            for fifo in guard.fifos
            if marker in self.fifo(state, fifo)
        ]

    # Searches

    def ended(self, state: State) -> bool:
        """Whether every instruction has been dispatched, and the machine is done."""
        done = all(state[thread] >= len(code) for thread, code in enumerate(self._code))
        return done and self._at_the_end(state)

    def cut(self, state: State) -> bool:
        """Whether a thread goes on where the unrolling of a loop has ended, or in a spin.

        Of a thread that has not come so far this is said only where it is known already.
        """
        if not self._goes_on:
            return False
        values = self.layout.values(state)
        return any(known_value(guard, values) for guard in self._goes_on)

    def complete(self, state: State) -> bool:
        """Whether it is the end of an execution that counts: nothing is left to do, or cut."""
        return self.ended(state) and not self.cut(state)

    def outcome(self, state: State) -> Outcome:
        """The outcome of a complete state."""
        memory = ((x, self.machine.memory(x)) for x in self.machine.locations)
        last = tuple((x, self.cell(state, word)) for x, word in memory if word)
        return Outcome(tuple(sorted(self._seen(state).items())), last)

    def _seen(self, state: State) -> Mapping[int, int]:
        """What the reads of the source have read."""
        values, seen = self.layout.values(state), self.machine.program.seen
        if seen is None:
            return values
        return {
            it.operation: evaluate(it.value, values) for it in seen if evaluate(it.guard, values)
        }

    def search(self, limits: Limits) -> Exploration:
        """All outcomes. Raises LimitReached beyond the limits on states or time."""
        walk: BreadthFirst[State, Rule] = BreadthFirst([self.initial], limits, "machine states")
        found: set[Outcome] = set()
        deepest, depth = self.initial, -1
        threads = len(self._code)
        for place in walk:
            state = walk.states[place]
            done = sum(state[:threads])
            if done > depth:
                deepest, depth = state, done
            if self.ended(state):
                if not self.cut(state):
                    found.add(self.outcome(state))
                if self._memory_rests:
                    continue
            for rule, after in self.successors(state):
                walk.reach(place, rule, after)
        return Exploration(frozenset(found), len(walk.states), deepest)

    def shortest(self, wanted: Callable[[Outcome], bool], limits: Limits) -> list[Rule] | None:
        """A shortest complete execution with a wanted outcome, or None if there is none."""
        walk: BreadthFirst[State, Rule] = BreadthFirst([self.initial], limits, "machine states")
        for place in walk:
            state = walk.states[place]
            if self.complete(state) and wanted(self.outcome(state)):
                return list(walk.path_to(place))
            for rule, after in self.successors(state):
                walk.reach(place, rule, after)
        return None


class _Loops:
    """The loops of a program that only spin.

    Raises LimitReached where what is read may come after it is needed.
    """

    def __init__(self, program: AssemblyProgram, layout: Layout) -> None:
        if program.completes_later:
            raise LimitReached(
                "a loop may go on before what it reads is there"
                if program.spins
                else "where accesses complete later, it is not known which group has begun"
            )
        self._layout = layout
        self._ending: dict[tuple[int, int], list[tuple[int, Expression, list[int]]]] = {}
        for spin in sorted(program.spins, key=lambda it: -it.first):  # Inner ones come first.
            iteration = program.code[spin.thread][spin.first : spin.end]
            slots = [layout.read(it.register) for it in iteration if it.register is not None]
            found = self._ending.setdefault((spin.thread, spin.end), [])
            found.append((spin.first, spin.guard, slots))

    def again(self, state: list[Any], thread: int, place: int) -> int | None:
        """Where a thread that has come to the end of an iteration goes on, if it does.

        What it has read in that is forgotten.
        """
        for first, going, slots in self._ending.get((thread, place), ()):
            if known_value(going, self._layout.values(state)):
                for slot in slots:
                    state[slot] = None
                return first
        return None
