"""The instructions that codes are made of, and which of them is at least as strong as another.

What an instruction is for is read off its effects (assembly/instruction.py), never off its name:

* *order*: nothing but flush markers and invalidations;
* *take* and *free*: it waits for a kind of lock and takes it, or frees it;
* *access*: it reads or writes a location for the program.

docs/engineering.md argues why a stronger order instruction leaves fewer executions.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from enum import Enum, auto

from rspverify.assembly import (
    Acquire,
    Await,
    Effect,
    InstructionSet,
    Invalidate,
    Level,
    Lock,
    Mark,
    Reach,
    Release,
)
from rspverify.scheme import Template
from rspverify.scheme.cost import Costs, priced
from rspverify.source import Span

_RANK = {Reach.WG: 0, Reach.DV: 1, Reach.SY: 2}


class Role(Enum):
    """What an instruction does in a code."""

    ACCESS = auto()
    ORDER = auto()
    TAKE = auto()
    FREE = auto()


@dataclass(frozen=True)
class CandidateInstruction:
    """An instruction with its reach, as a part of codes.

    lock: of one that takes or frees locks, their kind. spread: how far these reach, 0 for one lock.
    """

    name: str
    template: Template
    role: Role
    cost: int
    lock: Lock | None = None
    spread: int = 0

    @property
    def effects(self) -> tuple[Effect, ...]:
        """What it does."""
        return self.template.mnemonic.effects

    @property
    def only_invalidates(self) -> bool:
        """Whether it does nothing but empty caches."""
        return all(isinstance(effect, Invalidate) for effect in self.effects)

    def sensible(self, *, devices: int, coherent: bool) -> bool:
        """Whether it can be needed on so many devices. coherent: their L2s are memory.

        On one device SY is DV. An L2 that is memory, as it is there too, needs no flush and no
        invalidation.
        """
        if devices == 1 and self.role is not Role.ACCESS and self.template.reach is Reach.SY:
            return False
        l2_alone = all(
            isinstance(effect, Mark | Invalidate) and effect.level is Level.L2
            for effect in self.effects
        )
        return not (self.role is Role.ORDER and l2_alone and (devices == 1 or coherent))


class InstructionPool:
    """The instructions that codes are made of, by number, and which covers which.

    span: what stands for the place of an instruction that no file has.
    """

    def __init__(self, instructions: InstructionSet, costs: Costs, span: Span) -> None:
        every = (
            _candidate(Template(mnemonic, reach, span), costs)
            for mnemonic in instructions.values()
            for reach in mnemonic.reaches or (None,)
        )
        self.instructions = found = tuple(each for each in every if each is not None)
        self.number = {each.name: place for place, each in enumerate(found)}
        self.cost = [each.cost for each in found]
        self.order = self._of(Role.ORDER)
        self.accesses = frozenset(self._of(Role.ACCESS))
        self.takes = self._of(Role.TAKE)
        by_lock = {(found[free].lock, found[free].spread): free for free in self._of(Role.FREE)}
        self.frees = {take: by_lock[found[take].lock, found[take].spread] for take in self.takes}
        self.covered_by = [
            frozenset(place for place, b in enumerate(found) if stronger(b, a)) for a in found
        ]
        self.pointless_beside = frozenset(
            (a, b)
            for a in self.order
            for b in self.order
            if found[a].only_invalidates and found[b].only_invalidates
            if b in self.covered_by[a] or a in self.covered_by[b]
        )
        """Neighbours that do together what one of them does alone."""

    def _of(self, role: Role) -> tuple[int, ...]:
        return tuple(place for place, it in enumerate(self.instructions) if it.role is role)

    def written(self, code: Iterable[int], span: Span) -> tuple[Template, ...]:
        """The code as a row of a scheme has it."""
        return tuple(replace(self.instructions[each].template, span=span) for each in code)

    def text(self, code: Iterable[int]) -> tuple[str, ...]:
        """The code as a scheme's file has it."""
        return tuple(str(self.instructions[each].template) for each in code)

    def read(self, code: Iterable[Template]) -> tuple[int, ...]:
        """The numbers of a row's instructions. Raises KeyError where one is not in the pool."""
        return tuple(self.number[priced(each)] for each in code)

    def cost_of(self, code: Iterable[int]) -> int:
        """What a code costs."""
        return sum(self.cost[each] for each in code)


def stronger(one: CandidateInstruction, other: CandidateInstruction) -> bool:
    """Whether the one, in place of the other, leaves no execution more. Itself included."""
    if one.name == other.name:
        return True
    if one.role is not other.role or one.role is Role.ACCESS:
        return False
    if one.role is not Role.ORDER:
        return one.lock is other.lock and one.spread >= other.spread
    return all(
        any(_covers(mine, its, one.template.reach, other.template.reach) for mine in one.effects)
        for its in other.effects
    )


def _covers(mine: Effect, its: Effect, reach: Reach | None, its_reach: Reach | None) -> bool:
    match mine, its:
        case Mark(level, own), Mark(its_level, its_own):
            far = True
        case Invalidate(level, own, every), Invalidate(its_level, its_own, its_every):
            far = every or not its_every
        case _:
            return False
    return far and level is its_level and _far(own or reach) >= _far(its_own or its_reach)


def _far(reach: Reach | None) -> int:
    return 0 if reach is None else _RANK[reach]


def _candidate(template: Template, costs: Costs) -> CandidateInstruction | None:
    """None if an instruction has effects of which the search knows nothing."""
    name, effects = priced(template), template.mnemonic.effects
    cost = costs.weights[name]
    if template.accesses:
        return CandidateInstruction(name, template, Role.ACCESS, cost)
    if all(isinstance(each, Mark | Invalidate) for each in effects):
        return CandidateInstruction(name, template, Role.ORDER, cost)
    awaited = [(each.what, each.reach) for each in effects if isinstance(each, Await)]
    match [each for each in effects if not isinstance(each, Await)]:
        case [Acquire(lock, own)] if awaited == [(lock, own)]:
            role = Role.TAKE
        case [Release(lock, own)] if not awaited:
            role = Role.FREE
        case _:
            return None
    spread = _far(own or template.reach)
    return CandidateInstruction(name, template, role, cost, lock, spread)
