"""The unroll engine: K steps of the machine as one formula, exactly one rule firing in each.

A step may also be idle, but only if all later ones are. At K* steps (`enough_steps`) every outcome
of the machine has an execution that fits, so that what the formula lacks the machine lacks.

What an execution needs only one copy of has one: the value of each read, and the order in which
two elements entered a fifo.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, assert_never

from rspverify.limits import LimitReached, Limits
from rspverify.machine import rules
from rspverify.machine.machine import Machine
from rspverify.machine.observation import Observation
from rspverify.machine.relevance import plain_fifos, relevant_rules, watched_cells
from rspverify.machine.rules import (
    Cell,
    Change,
    Guard,
    InstructionRule,
    Rule,
    StepRule,
    Update,
    changed_by,
)
from rspverify.machine.unroll_fifos import UnrollFifos
from rspverify.smt.choice import Choice, choose
from rspverify.smt.solver import Model
from rspverify.smt.term import FALSE, TRUE, Term, all_of, any_of, at_most_one, variable


class Unrolling(Observation):
    """All executions of a machine with at most so many steps, as terms and constraints.

    fires: (rule, step) → term. With `dequeue_alone` fifos dequeue between steps and dequeues do not
    count as steps.
    """

    def __init__(
        self, machine: Machine, steps: int, limits: Limits, *, dequeue_alone: bool = True
    ) -> None:
        super().__init__(machine.program, limits)
        entered = {(it.fifo, it.element) for rule in machine.rules for it in rule.enqueues}
        if not entered <= machine.shapes.leaving.keys() or any(
            fifo not in plain_fifos(machine) for fifo, _ in entered
        ):
            why = "what is in its fifos is seen, or stays there"
            raise LimitReached(f"engine unroll does not know this machine, as {why}")
        if (mixing := machine.shapes.mixing) is not None:
            why = f"{mixing} takes the value of one location for that of another"
            raise LimitReached(f"engine unroll does not know this machine, as {why}")
        self.machine = machine
        self.steps = steps
        self._rules = relevant_rules(machine)
        self._code = machine.program.code
        self._alone = dequeue_alone
        self._fifos = UnrollFifos(machine, self._rules)
        if not dequeue_alone:
            self._rules += self._fifos.leaving
        self._state = self._initial()
        self._done: dict[int, Term] = {each.index: FALSE for each in machine.program.instructions}
        self._bounds = self._earliest_and_latest()
        self.fires: list[dict[Any, tuple[Rule, Term]]] = []
        self.idle: list[Term] = []
        for step in range(steps):
            limits.remaining()
            self._step(step)
        self._end()
        final = {x: word for x in machine.locations if (word := machine.memory(x))}
        self.memory = {x: self._state[word] for x, word in final.items()}

    def schedule(self, model: Model) -> list[Rule]:
        """The rules that fire in the execution that a model describes, in order."""
        return [rule for fires in self.fires for rule, term in fires.values() if model[term]]

    def _initial(self) -> dict[Any, Any]:
        """Empty caches, free locks, initial memory; only cells that some rule looks at."""
        program = self.machine.program
        state: dict[Any, Any] = {}
        for cell in watched_cells(self.machine, self._rules):
            match cell:
                case rules.Word():
                    state[cell] = {program.initial.get(cell.location or "", 0): TRUE}
                case rules.Lock():
                    state[cell] = {None: TRUE}
                case rules.Bit():
                    state[cell] = TRUE if self.machine.starts_true(cell) else FALSE
                case _:
                    assert_never(cell)
        return state

    # Steps

    def _earliest_and_latest(self) -> dict[int, tuple[int, int]]:
        """Between which steps an instruction can fire, given those that must be around it."""
        bounds = {}
        for code in self._code:
            sure = [self.guards[each.index] is TRUE for each in code]
            for place, each in enumerate(code):
                later = self.steps - 1 - sum(sure[place + 1 :])
                bounds[each.index] = (sum(sure[:place]), later)
        return bounds

    def _step(self, step: int) -> None:
        fires: dict[Any, tuple[Rule, Term]] = {}
        if self._alone:
            self.constraints += self._fifos.settle(self._holds)
        for rule in self._rules:
            possible = self._possible(rule, step)
            if possible is not FALSE:
                term = variable(f"fires@{step}")
                fires[rule.key] = (rule, term)
                self.constraints.append(term.implies(possible))
        idle = variable(f"idle@{step}")
        choices = [*(term for _, term in fires.values()), idle]
        self.constraints += [any_of(choices), *at_most_one(choices)]
        if self.idle:
            self.constraints.append(self.idle[-1].implies(idle))
        self.idle.append(idle)
        self._change(fires)
        self.constraints += self._fifos.advance(fires)
        self.fires.append(fires)

    def _possible(self, rule: Rule, step: int) -> Term:
        if isinstance(rule, StepRule):
            return all_of(self._holds(guard) for guard in rule.guards)
        instruction = rule.instruction
        earliest, latest = self._bounds[instruction.index]
        if not earliest <= step <= latest:
            return FALSE
        return all_of(
            [
                self.guards[instruction.index],
                ~self._done[instruction.index],
                *self._preceded(rule),
                *(self._holds(guard) for guard in rule.guards),
            ]
        )

    def _preceded(self, rule: InstructionRule) -> Iterable[Term]:
        """Every earlier instruction of the thread has been executed, or never will be."""
        code, instruction = self._code[rule.thread], rule.instruction
        place = next(i for i, each in enumerate(code) if each is instruction)
        for earlier in reversed(code[:place]):
            guard = self.guards[earlier.index]
            yield self._done[earlier.index] | ~guard
            if guard is TRUE or guard is self.guards[instruction.index]:
                return

    def _holds(self, guard: Guard) -> Term:
        match guard:
            case rules.AnyBit(bits):
                return any_of(
                    self._state[bit] if value else ~self._state[bit] for bit, value in bits
                )
            case rules.Ready(lock, threads):
                holders = sorted(threads, key=lambda each: each.thread)  # The same in every run.
                return any_of(self._state[lock].get(it, FALSE) for it in (None, *holders))
            case rules.Without() | rules.Oldest():
                return self._fifos.holds(guard)
            case _:
                assert_never(guard)

    def _change(self, fires: Mapping[Any, tuple[Rule, Term]]) -> None:
        """The state after the step."""
        changes: dict[Any, list[tuple[Term, Any]]] = {}
        for rule, term in fires.values():
            if isinstance(rule, InstructionRule):
                index = rule.instruction.index
                self._done[index] = self._done[index] | term
            self._record_all(rule.updates, term, changes)
        after = dict(self._state)
        for cell, alternatives in changes.items():
            if isinstance(self._state[cell], Term):
                after[cell] = _next_bit(self._state[cell], alternatives)
            else:
                after[cell] = _next_choice(self._state[cell], alternatives)
        self._state = after

    def _record_all(
        self, updates: Sequence[Update], term: Term, changes: dict[Any, list[tuple[Term, Any]]]
    ) -> None:
        """The updates of a rule that fires; of two of one cell the later one counts."""
        overridden: dict[object, list[Term]] = {}
        for update, under in reversed(list(self._flat(updates, TRUE))):
            cell = update.register if isinstance(update, rules.Deliver) else changed_by(update)
            left = all_of([term, under, *(~later for later in overridden.get(cell, ()))])
            overridden.setdefault(cell, []).append(under)
            if left is not FALSE:
                self._record(update, left, changes)

    def _flat(self, updates: Sequence[Update], under: Term) -> Iterator[tuple[Change, Term]]:
        """The changes of cells, and under which condition each happens."""
        for update in updates:
            match update:
                case rules.When(guards, inner):
                    condition = all_of((under, *(self._holds(guard) for guard in guards)))
                    yield from self._flat(inner, condition)
                case rules.Enqueue() | rules.Dequeue():
                    pass
                case _:
                    yield update, under

    def _record(
        self, update: Change, term: Term, changes: dict[Any, list[tuple[Term, Any]]]
    ) -> None:
        cell: Cell
        match update:
            case rules.Deliver(register, source):
                read = self.reads[register]
                self.constraints += [
                    any_of((~term, ~holds, read.get(value, FALSE)))
                    for value, holds in self._state[source].items()
                ]
                return
            case rules.SetBit(cell, value):
                new: Any = TRUE if value else FALSE
            case rules.SetLock(cell, holder):
                new = {holder: TRUE}
            case rules.Copy(cell, source):
                new = self._state.get(source)
            case rules.Assign(cell, value):
                new = choose(value, self.reads)
            case _:
                assert_never(update)
        if cell in self._state:
            changes.setdefault(cell, []).append((term, new))

    def _end(self) -> None:
        """Every instruction was executed or has a false guard, nothing is DIRTY, or cut."""
        self.constraints += self.not_cut()
        for index, done in self._done.items():
            self.constraints.append(self.guards[index].implies(done))
        self.constraints += [self._holds(guard) for guard in self.machine.ending]


def _next_bit(old: Term, alternatives: list[tuple[Term, Term]]) -> Term:
    sets = any_of(term for term, new in alternatives if new is TRUE)
    clears = any_of(term for term, new in alternatives if new is FALSE)
    return sets | (old & ~clears)


def _next_choice(old: Choice[Any], alternatives: list[tuple[Term, Choice[Any]]]) -> Choice[Any]:
    kept = ~any_of(term for term, _ in alternatives)
    values: dict[Any, list[Term]] = {value: [holds & kept] for value, holds in old.items()}
    for term, new in alternatives:
        for value, holds in new.items():
            values.setdefault(value, []).append(term & holds)
    merged = {value: any_of(terms) for value, terms in values.items()}
    return {value: term for value, term in merged.items() if term is not FALSE}
