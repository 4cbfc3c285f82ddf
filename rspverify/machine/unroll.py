"""The unroll engine: K steps of the machine as one formula, exactly one rule firing in each.

A step may also be idle, but only if all later ones are. At K* steps (`enough_steps`) every outcome
of the machine has an execution that fits, so that what the formula lacks the machine lacks.

What an execution needs only one copy of has one: the value of each read, and the order in which
two elements entered a fifo.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from itertools import combinations
from typing import Any, assert_never

from msgspec import Struct

from rspverify.limits import LimitReached, Limits
from rspverify.machine import rules
from rspverify.machine.firings import Firings
from rspverify.machine.machine import Machine
from rspverify.machine.observation import Observation
from rspverify.machine.relevance import (
    may_stand_before,
    plain_fifos,
    relevant_rules,
    watched_cells,
)
from rspverify.machine.rules import Change, Fifo, Guard, InstructionRule, Rule, StepRule, changed_by
from rspverify.smt.choice import Choice, choose
from rspverify.smt.solver import Model
from rspverify.smt.term import FALSE, TRUE, Term, all_of, any_of, at_most_one, variable

Firing = dict[Any, tuple[Rule, Term]]
"""By key of a rule, the rule, and that it fires in a step."""


class Unrolling(Observation):
    """All executions of a machine with at most so many steps, as terms and constraints.

    fires: by step, the rules that may fire. With `dequeue_alone` fifos dequeue between steps and
    dequeues do not count as steps.
    """

    def __init__(
        self, machine: Machine, steps: int, limits: Limits, *, dequeue_alone: bool = True
    ) -> None:
        super().__init__(machine.program, limits)
        _refuse(machine)
        self.machine = machine
        self.steps = steps
        self._rules = relevant_rules(machine)
        self._fifos = UnrollFifos(machine, self._rules)
        if not dequeue_alone:
            self._rules += self._fifos.leaving
        self._state: dict[Any, Any] = {
            cell: self._at_first(cell) for cell in watched_cells(machine, self._rules)
        }
        self._done: dict[int, Term] = {each.index: FALSE for each in machine.program.instructions}
        self._bounds = self._earliest_and_latest()
        self.fires: list[Firing] = []
        self.idle: list[Term] = []
        for _ in range(steps):
            limits.remaining()
            if dequeue_alone:
                self.constraints += self._fifos.settle(self)
            self._step()
        self.constraints += self.not_cut()
        for index, done in self._done.items():
            self.constraints.append(self.guards[index].implies(done))
        self.constraints += [self._holds(guard) for guard in machine.ending]
        final = {x: word for x in machine.locations if (word := machine.memory(x))}
        self.memory = {x: self._state[word] for x, word in final.items()}

    def schedule(self, model: Model) -> list[Rule]:
        """The rules that fire in the execution that a model describes, in order."""
        return [rule for fires in self.fires for rule, term in fires.values() if model[term]]

    def _at_first(self, cell: rules.Cell) -> Term | Choice[Any]:
        """Empty caches, free locks, initial memory."""
        match cell:
            case rules.Word():
                return {self.machine.program.initial.get(cell.location or "", 0): TRUE}
            case rules.Lock():
                return {None: TRUE}
            case rules.Bit():
                return TRUE if self.machine.starts_true(cell) else FALSE
            case _:
                assert_never(cell)

    # Steps

    def _earliest_and_latest(self) -> dict[object, tuple[int, int]]:
        """Between which steps an instruction can fire, given those that must be around it."""
        bounds: dict[object, tuple[int, int]] = {}
        for code in self.machine.program.code:
            sure = [self.guards[each.index] is TRUE for each in code]
            for place, each in enumerate(code):
                later = self.steps - 1 - sum(sure[place + 1 :])
                bounds[each.index] = (sum(sure[:place]), later)
        return bounds

    def _step(self) -> None:
        step = len(self.fires)
        fires: Firing = {}
        for rule in self._rules:
            earliest, latest = self._bounds.get(rule.key, (0, step))
            if not earliest <= step <= latest:
                continue
            possible = all_of((*self._turn(rule), *map(self._holds, rule.guards)))
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

    def _turn(self, rule: Rule) -> Iterator[Term]:
        """Of an instruction, that every earlier one of its thread has been executed, or never will
        be, and that it has not been executed itself.
        """
        if isinstance(rule, StepRule):
            return
        own, guard = rule.instruction, self.guards[rule.instruction.index]
        yield from (guard, ~self._done[own.index])
        code = self.machine.program.code[rule.thread]
        for earlier in reversed(code[: own.index - code[0].index]):
            before = self.guards[earlier.index]
            yield self._done[earlier.index] | ~before
            if before is TRUE or before is guard:
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

    def _change(self, fires: Firing) -> None:
        """The state after the step."""
        changes: dict[Any, list[tuple[Term, Any]]] = {}
        for rule, term in fires.values():
            if isinstance(rule, InstructionRule):
                self._done[rule.instruction.index] |= term
            for update, under in self._that_count(rule):
                happens = term & under
                if isinstance(update, rules.Deliver):
                    self._deliver(update, happens)
                elif happens is not FALSE and (cell := changed_by(update)) in self._state:
                    changes.setdefault(cell, []).append((happens, self._new(update)))
        after = dict(self._state)
        for cell, alternatives in changes.items():
            change = _next_bit if isinstance(self._state[cell], Term) else _next_choice
            after[cell] = change(self._state[cell], alternatives)
        self._state = after

    def _that_count(self, rule: Rule) -> Iterator[tuple[Change, Term]]:
        """The changes of cells, and when each counts: of two of one cell the later one does."""
        overridden: dict[object, list[Term]] = {}
        for update, under in reversed(list(self._flat(rule.updates, TRUE))):
            cell = update.register if isinstance(update, rules.Deliver) else changed_by(update)
            later = overridden.setdefault(cell, [])
            yield update, all_of([under, *(~each for each in later)])
            later.append(under)

    def _flat(self, updates: Iterable[rules.Update], under: Term) -> Iterator[tuple[Change, Term]]:
        for update in updates:
            match update:
                case rules.When(guards, inner):
                    yield from self._flat(inner, all_of((under, *map(self._holds, guards))))
                case rules.Enqueue() | rules.Dequeue():
                    pass
                case _:
                    yield update, under

    def _deliver(self, update: rules.Deliver, happens: Term) -> None:
        read = self.reads[update.register]
        self.constraints += [
            any_of((~happens, ~holds, read.get(value, FALSE)))
            for value, holds in self._state[update.source].items()
        ]

    def _new(self, update: Change) -> Any:
        """What a cell holds after a change of it."""
        match update:
            case rules.SetBit(_, value):
                return TRUE if value else FALSE
            case rules.SetLock(_, holder):
                return {holder: TRUE}
            case rules.Copy(_, source) | rules.Deliver(_, source):
                return self._state[source]
            case rules.Assign(_, value):
                return choose(value, self.reads)
            case _:
                assert_never(update)


def _refuse(machine: Machine) -> None:
    """Raises LimitReached for a machine that the engine does not know."""
    plain = plain_fifos(machine)
    entered = {(it.fifo, it.element) for rule in machine.rules for it in rule.enqueues}
    why = None
    if not entered <= machine.shapes.leaving.keys() or any(it not in plain for it, _ in entered):
        why = "what is in its fifos is seen, or stays there"
    elif (mixing := machine.shapes.mixing) is not None:
        why = f"{mixing} takes the value of one location for that of another"
    if why is not None:
        raise LimitReached(f"engine unroll does not know this machine, as {why}")


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


class Occurrence(Struct, frozen=True, eq=False):
    """An element that a rule may enqueue; `turn` counts the firings of a rule that may repeat."""

    enqueue: rules.Enqueue
    rule: Rule
    turn: int


class UnrollFifos:
    """The fifos of a machine, in the state that the unrolling has reached.

    Each element has a term for «it has entered» and one for «it has left». Only elements that can
    stand before a marker matter.
    """

    def __init__(self, machine: Machine, firing: list[Rule]) -> None:
        self._leaving = machine.shapes.leaving
        self._by_fifo: dict[Fifo, list[Occurrence]] = {}
        for each in _relevant(machine, firing):
            self._by_fifo.setdefault(each.enqueue.fifo, []).append(each)
        every = [each for its in self._by_fifo.values() for each in its]
        self._entered: dict[Occurrence, Term] = dict.fromkeys(every, FALSE)
        self._gone: dict[Occurrence, Term] = dict.fromkeys(every, FALSE)
        self._older: dict[tuple[Occurrence, Occurrence], Term] = {}
        self._unordered: list[tuple[Occurrence, Occurrence]] = []
        for its in self._by_fifo.values():
            for a, b in combinations(its, 2):
                self._order(a, b)

    def _order(self, a: Occurrence, b: Occurrence) -> None:
        if a.rule is b.rule:
            known = TRUE if a.turn <= b.turn else FALSE
        elif not may_stand_before(b.rule, a.rule):
            known = TRUE
        elif not may_stand_before(a.rule, b.rule):
            known = FALSE
        else:
            known = variable("older")
            self._unordered.append((a, b))
        self._older[a, b], self._older[b, a] = known, ~known

    def _step(self, each: Occurrence) -> StepRule:
        """The step by which an element leaves."""
        return self._leaving[each.enqueue.fifo, each.enqueue.element]

    @property
    def leaving(self) -> list[Rule]:
        """The steps by which elements leave."""
        return list({step.key: step for step in map(self._step, self._entered)}.values())

    def holds(self, guard: rules.Oldest | rules.Without) -> Term:
        """That a guard of a fifo holds."""
        if isinstance(guard, rules.Oldest):
            its = self._by_fifo.get(guard.fifo, ())
            return any_of(self._first(it) for it in its if it.enqueue.element == guard.element)
        return all_of(
            ~self._entered[each] | self._gone[each]
            for fifo in guard.fifos
            for each in self._by_fifo.get(fifo, ())
            if guard.elements is None or each.enqueue.element in guard.elements
        )

    def _first(self, each: Occurrence) -> Term:
        """That an element is the oldest of its fifo."""
        return all_of([self._entered[each], ~self._gone[each], *self._none_older(each)])

    def _none_older(self, each: Occurrence) -> Iterator[Term]:
        for other in self._by_fifo[each.enqueue.fifo]:
            if other is not each:
                entered, older = self._entered[other], self._older[other, each]
                yield any_of((~entered, ~older, self._gone[other]))

    def settle(self, unrolling: Unrolling) -> Iterator[Term]:
        """Between two steps elements leave, several at once."""
        before = dict(self._gone)
        leaves: dict[Occurrence, list[Term]] = {}
        for each, entered in self._entered.items():
            guards = (it for it in self._step(each).guards if not isinstance(it, rules.Oldest))
            may = [entered, *map(unrolling._holds, guards)]
            if FALSE not in may and before[each] is not TRUE:
                self._gone[each], leaves[each] = variable("gone"), may
        for each, may in leaves.items():
            gone = self._gone[each]
            yield before[each].implies(gone)
            yield (gone & ~before[each]).implies(all_of([*may, *self._none_older(each)]))

    def advance(self, fires: Mapping[Any, tuple[Rule, Term]]) -> Iterator[Term]:
        """The changes of a step: the oldest elements leave, and others enter."""
        leaving = {
            each: fires[self._step(each).key][1] & self._first(each)
            for each in self._entered
            if self._step(each).key in fires
        }
        entering = {
            each: fires[each.rule.key][1] & self._turn(each)
            for each in self._entered
            if each.rule.key in fires
        }
        for a, b in self._unordered:
            if entering.get(b, FALSE) is not FALSE:
                yield entering[b].implies(self._older[a, b].iff(self._entered[a]))
        for each, leaves in leaving.items():
            self._gone[each] |= leaves
        for each, enters in entering.items():
            self._entered[each] |= enters

    def _turn(self, each: Occurrence) -> Term:
        """That the next firing of its rule enqueues this element."""
        earlier = [
            self._entered[other]
            for other in self._by_fifo[each.enqueue.fifo]
            if other.rule is each.rule and other.turn < each.turn
        ]
        return all_of([*earlier, ~self._entered[each]])


def _relevant(machine: Machine, firing: list[Rule]) -> Iterator[Occurrence]:
    """The elements that can stand before a marker, and the markers."""
    firings = Firings(machine)
    every = [
        Occurrence(enqueue, rule, turn)
        for rule in firing
        for enqueue in rule.enqueues
        for turn in range(firings.of(rule))
    ]
    markers = [each for each in every if isinstance(each.enqueue.element, rules.Marker)]
    for each in every:
        if each in markers or any(
            marker.enqueue.fifo == each.enqueue.fifo and may_stand_before(each.rule, marker.rule)
            for marker in markers
        ):
            yield each
