"""How often the rules of a machine can matter, and so how many steps are enough (K*)."""

from __future__ import annotations

from collections import Counter
from typing import assert_never

from msgspec import Struct

from rspverify.machine.machine import Machine
from rspverify.machine.rules import AnyBit, Bit, InstructionRule, Rule, StepRule, by, literals
from rspverify.machine.shapes import Shape


class Budget(Struct, frozen=True):
    """How many steps of each kind the executions of a program can need.

    unbounded: the first step of which no bound is known, None if all are bounded.
    """

    instructions: int
    flushes: int
    fetches: int
    dequeues: int
    unbounded: str | None = None

    @property
    def total(self) -> int:
        """K*, where every step is bounded."""
        return self.instructions + self.flushes + self.fetches + self.dequeues


def enough_steps(machine: Machine) -> Budget:
    """K*, by kind: each outcome has an execution with at most this many steps (docs/proofs.md).

    A step that clears a bit which it needs happens at most once each time that the bit was set,
    only the last refresh before a look is needed, and each fifo element leaves once.
    """
    shapes = machine.shapes
    unbounded = next(
        (rule.step for rule in machine.steps if shapes.shape(rule) is None), shapes.circle
    )
    if unbounded is not None:
        return Budget(len(machine.program.instructions), 0, 0, 0, unbounded)
    firings = Firings(machine)
    found: Counter[Shape] = Counter()
    for rule in machine.steps:
        shape = shapes.shape(rule)
        if shape in (Shape.CLEARS, Shape.REFRESHES):
            found[shape] += firings.of(rule)
    elements = sum(len(rule.enqueues) * firings.of(rule) for rule in machine.rules)
    code = len(machine.program.instructions)
    return Budget(code, found[Shape.CLEARS], found[Shape.REFRESHES], elements)


class Firings:
    """How often each rule of a machine can matter, where every step has a shape."""

    def __init__(self, machine: Machine) -> None:
        self._shapes = machine.shapes
        self._setting = by(machine.rules, lambda rule: rule.may_set)
        self._looking = by(machine.rules, self._refreshed_for)
        self._at_the_end = {bit for bit, value in literals(machine.ending) if value}
        self._known: dict[object, int] = {}

    def _refreshed_for(self, rule: Rule) -> dict[Bit, None]:
        """The entries that a rule may need refreshed.

        Where it is content with one that is CLEAN, as the ST of rsp-st-waits is, it needs no
        refresh, which happens over CLEAN entries alone.
        """
        found: dict[Bit, None] = {}
        for guard in (it for it in rule.guards if isinstance(it, AnyBit)):
            for bit, value in guard.bits:
                entry = self._shapes.entries.get(bit) if value else None
                if entry is not None and (entry.dirty, False) not in guard.bits:
                    found[bit] = None
        return found

    def of(self, rule: Rule) -> int:
        """An instruction once; a step as often as it is needed at most."""
        if isinstance(rule, InstructionRule):
            return 1
        if rule.key not in self._known:
            refreshes = self._shapes.shape(rule) is Shape.REFRESHES
            last = int(self._shapes.refreshed(rule) in self._at_the_end) if refreshes else 0
            self._known[rule.key] = sum(map(self.of, self._needing(rule))) + last
        return self._known[rule.key]

    def _needing(self, rule: StepRule) -> list[Rule]:
        """The rules for each firing of which a step may be needed once."""
        shape = self._shapes.shape(rule)
        match shape:
            case Shape.CLEARS:
                return self._setting.get(rule.cleared[0], [])
            case Shape.REFRESHES:
                return self._looking.get(self._shapes.refreshed(rule), [])
            case Shape.LEAVES | Shape.LOSES | None:
                return []
            case _:
                assert_never(shape)
