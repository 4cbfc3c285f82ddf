"""Rules as the engine without steps takes them: as cases without conditions, and no fifo in sight.

* What an instruction does under conditions makes several *cases* of it, of which one happens.
* That an instruction is in a fifo is a bit, which it sets, and clears when it leaves in its turn.
* A bit that a step may take away at any time is taken away by whoever wants it false, just before.

docs/proofs.md argues why these are the same executions.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain, product
from typing import Any

from msgspec import Struct

from rspverify.machine import rules as ground
from rspverify.machine.pending import OPEN_READ
from rspverify.machine.routes import Routes
from rspverify.machine.rules import Bit, Fifo, Guard, InstructionRule, Rule, StepRule, Update, Word
from rspverify.machine.shapes import Shapes, may_fire
from rspverify.records import replace

_MOST = 64
"""How many cases an instruction may have."""


class Case(Struct, frozen=True):
    """One of the things that a rule may do, and the steps of the machine that do it."""

    rule: Rule
    steps: tuple[Rule, ...]


def waiting(fifo: Fifo, it: ground.Issued) -> ground.Member:
    """That an instruction is in a fifo."""
    return ground.Member(fifo.structure, fifo.field, fifo.location, it.index)


class InCases:
    """A machine as the engine without steps takes it: rules in cases, and what they are like.

    final: the bits that must be false in the end. A rule that cannot be taken apart stays as it is.
    """

    def __init__(self, rules: Sequence[Rule], shapes: Shapes, memory: Sequence[Word]) -> None:
        self._members: dict[Fifo, dict[ground.Member, None]] = {}
        self._mixed: set[Fifo] = set()
        for rule in rules:
            for it in _enqueued(rule):
                if isinstance(it.element, ground.Issued):
                    member = waiting(it.fifo, it.element)
                    self._members.setdefault(it.fifo, {})[member] = None
                else:
                    self._mixed.add(it.fifo)
        ways = [(it, rule) for rule in rules for it in _split(rule)]
        self._lost = dict(_lost(rules, [it for it, _ in ways]))
        conditional = any(rule.conditional for rule in rules)
        self._needed = bool(self._members or self._lost or conditional)
        self.shapes, ending = shapes, tuple(shapes.complete)
        self._repeated: str | None = None
        in_cases: Sequence[Rule] = rules
        if self._needed:
            made = [self._case(*each).rule for each in ways]
            self._repeated = next(self._repetitions(ways, made), None)
            ending = self._guards(shapes.complete)
            in_cases = [case.rule for it in rules for case in self.of(it)]
            self.shapes = Shapes(in_cases, ending, memory, shapes.starts_true)
        self.final = [bit for it in ending if (bit := cleared_by(it)) is not None]
        firing = may_fire(in_cases, shapes.starts_true)
        self.routes = Routes(self.shapes, firing, frozenset(memory))
        self._steps = {it.key: self.of(it)[0].steps for it in rules if isinstance(it, StepRule)}

    def _repetitions(
        self, ways: Sequence[tuple[Rule, Rule]], made: Sequence[Rule]
    ) -> Iterator[str]:
        """Instructions that may be in a fifo more than once."""
        setting = ground.by(made, lambda rule: rule.sets(True))

        def once(bit: Bit, seen: frozenset[Bit]) -> bool:
            its = setting.get(bit, [])
            if bit in seen or not isinstance(bit, ground.Member):
                return False  # A bit that several may set, or one that is set again and again.
            if all(isinstance(it, InstructionRule) for it in its):
                return True
            cleared = [set(it.cleared) for it in its if isinstance(it, StepRule)]
            if len(cleared) < len(its):
                return False
            common = set.intersection(*cleared)
            return any(once(before, seen | {bit}) for before in common)

        for fifo, members in self._members.items():
            for member in members:
                if not once(member, frozenset()):
                    yield f"{setting[member][0]} puts what may be there already into {fifo}"
        for it, rule in ways:
            entered = _enqueued(it)
            if len(set(entered)) < len(entered):
                yield f"{rule} enters a fifo twice"

    @property
    def queues(self) -> Mapping[Fifo, Iterable[Bit]]:
        """The fifos that instructions wait in, and the bits that say which do."""
        return self._members

    def of(self, rule: Rule) -> list[Case]:
        """The cases of a rule: several only of an instruction."""
        if not self._needed:
            return [Case(rule, (rule,))]
        return [self._case(it, rule) for it in _split(rule)]

    @property
    def unknown(self) -> str | None:
        """Why the engine does not know the machine; None if it does."""
        return self._repeated or self.shapes.unknown

    def steps(self, rule: StepRule) -> tuple[Rule, ...]:
        """The steps of the machine that a step in cases stands for."""
        return self._steps[rule.key]

    def _case(self, rule: Rule, whole: Rule) -> Case:
        guards: list[Any] = []  # No instruction waits for the oldest of a fifo.
        lost: list[Bit] = []
        for guard in self._guards(rule.guards):
            bit = cleared_by(guard)
            if bit in self._lost and rule.key != self._lost[bit].key:
                lost.append(bit)
            else:
                guards.append(guard)
        guards = [_without(guard, {(bit, True) for bit in lost}) for guard in guards]
        made = [ground.SetBit(bit, False) for bit in lost if bit not in rule.may_set]
        updates = (*made, *self._updates(rule))
        steps = (*(self._lost[bit] for bit in lost), whole)
        return Case(replace(rule, guards=(*guards,), updates=updates), steps)

    def _guards(self, guards: Iterable[Guard]) -> tuple[Guard, ...]:
        """The guards over bits alone, each once, also those about instructions in fifos."""
        return tuple(dict.fromkeys(self._of_bits(guards)))

    def _of_bits(self, guards: Iterable[Guard]) -> Iterator[Guard]:
        for guard in guards:
            match guard:
                case ground.Oldest(fifo, ground.Issued() as it) if fifo not in self._mixed:
                    yield ground.holds(waiting(fifo, it))
                    yield guard
                case ground.Without(fifos, elements):
                    yield from self._without(guard, fifos, elements)
                case _:
                    yield guard

    def _without(
        self, guard: ground.Without, fifos: Sequence[Fifo], elements: frozenset[object] | None
    ) -> Iterator[Guard]:
        if any(fifo in self._mixed for fifo in fifos) or guard.of_markers:
            yield guard
            return
        for fifo in fifos:
            for member in self._members.get(fifo, ()):
                if elements is None or ground.Issued(member.index) in elements:
                    yield ground.fails(member)

    def _updates(self, rule: Rule) -> Iterator[Update]:
        leaving = {
            it.fifo: it.element for it in rule.oldest if isinstance(it.element, ground.Issued)
        }
        undone = _undone(rule)
        for update in rule.updates:
            match update:
                case ground.Enqueue(fifo, ground.Issued() as it) if fifo not in self._mixed:
                    yield ground.SetBit(waiting(fifo, it), True)
                case ground.Dequeue(fifo) if fifo in leaving and fifo not in self._mixed:
                    yield ground.SetBit(waiting(fifo, leaving[fifo]), False)
                case ground.SetBit(bit) if bit in undone:
                    pass
                case _:
                    yield update


def _without(guard: Guard, literals: set[ground.Literal]) -> Guard:
    """A guard without literals that do not hold."""
    if not isinstance(guard, ground.AnyBit) or literals.isdisjoint(guard.bits):
        return guard
    return ground.AnyBit(tuple(it for it in guard.bits if it not in literals))


def _lost(rules: Sequence[Rule], ways: Sequence[Rule]) -> Iterator[tuple[Bit, StepRule]]:
    """The bits that a step may take away whenever a rule wants one false, and that step.

    What else the step waits for, each of these rules waits for.
    """
    wanting = ground.by(
        ways, lambda rule: [bit for it in rule.guards if (bit := cleared_by(it)) is not None]
    )
    for step in rules:
        if not isinstance(step, StepRule) or step.loses not in wanting:
            continue
        others = set(step.guards) - {ground.holds(step.loses)}
        if all(others <= set(rule.guards) for rule in wanting[step.loses]):
            yield step.loses, step


def _undone(rule: Rule) -> set[Bit]:
    """The reads that an instruction opens and completes at once."""
    if not isinstance(rule, InstructionRule):
        return set()
    return {
        bit
        for bit in rule.sets(False)
        if isinstance(bit, ground.Member) and bit.structure.name == OPEN_READ
    }


def _split(rule: Rule) -> Sequence[Rule]:
    """The rule for each way in which the conditions of its effects may hold; itself if unknown.

    So it is with a step, and with an instruction of too many ways.
    """
    if isinstance(rule, StepRule):
        return [rule]
    left, found = [rule], list[InstructionRule]()
    while left:
        each = left.pop()
        first = next(iter(each.conditional), None)
        if first is None:
            found.append(each)
            continue
        otherwise = _negated(first.guards)
        if otherwise is None or len(left) + len(found) > _MOST:
            return [rule]
        known = frozenset(it.only for it in each.guards if isinstance(it, ground.AnyBit))
        ways: list[tuple[Any, Any]] = [(it, ()) for it in _ways(otherwise, known)]
        ways += [(it, first.updates) for it in _ways(first.guards, known)]
        for guards, updates in ways:
            made: tuple[Any, ...] = (*each.guards, *guards)
            if _may_hold(made):
                inner = chain.from_iterable(updates if it is first else [it] for it in each.updates)
                left.append(replace(each, guards=made, updates=tuple(inner)))
    if len(found) > _MOST:
        return [rule]
    if not found:  # It never fires.
        plainly = tuple(it for it in rule.updates if not isinstance(it, ground.When))
        return [replace(rule, guards=(ground.AnyBit(()),), updates=plainly)]
    return [
        replace(it, guards=tuple(dict.fromkeys(it.guards)), case=n) for n, it in enumerate(found)
    ]


def _negated(guards: Sequence[Guard]) -> tuple[Guard, ...] | None:
    """Guards that hold exactly where one of these does not; None if there are none."""
    clauses = [it.bits for it in guards if isinstance(it, ground.AnyBit)]
    if len(clauses) < len(guards):
        return None
    if len(clauses) == 1:
        return tuple(ground.AnyBit(((bit, not value),)) for bit, value in clauses[0])
    if all(len(bits) == 1 for bits in clauses):
        return (ground.AnyBit(tuple((bit, not value) for ((bit, value),) in clauses)),)
    return None


def _ways(guards: Sequence[Guard], known: frozenset[object]) -> Iterator[tuple[Guard, ...]]:
    """The ways in which guards may hold: of several bits, one of which is to be false, each is a
    way, as it may be lost at any time. known: what holds already."""
    choices: list[list[Guard]] = []
    for it in guards:
        if not isinstance(it, ground.AnyBit) or all(value for _, value in it.bits):
            choices.append([it])
        elif known.isdisjoint(it.bits):
            choices.append([ground.AnyBit((each,)) for each in it.bits])
    yield from product(*choices)


def _may_hold(guards: Iterable[Guard]) -> bool:
    """Whether no bit has to be true and false."""
    wanted = {it.only for it in guards if isinstance(it, ground.AnyBit) and it.only is not None}
    return not any((bit, not value) in wanted for bit, value in wanted)


def cleared_by(guard: Guard) -> Bit | None:
    """The bit that a guard wants false, if that is all."""
    only = guard.only if isinstance(guard, ground.AnyBit) else None
    return None if only is None or only[1] else only[0]


def _enqueued(rule: Rule) -> list[ground.Enqueue]:
    return [it for it in rule.flat if isinstance(it, ground.Enqueue)]
