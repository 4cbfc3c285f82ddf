"""The instructions that codes are made of, and which of them is at least as strong as another.

What an instruction is for is told from its effects (architecture/acts.py), never from its name:

* *order*: nothing but flush markers, invalidations, and waits until nothing is outstanding;
* *take* and *free*: it waits for a kind of lock and takes it, or frees it;
* *access*: it reads or writes a location for the program.

docs/proofs.md argues why a stronger order instruction leaves fewer executions.
"""

from __future__ import annotations

from collections.abc import Iterable
from enum import Enum, auto

from msgspec import Struct

from rspverify.architecture.acts import Act, Deed, acts
from rspverify.architecture.architecture import Architecture, CellKind
from rspverify.machine.machine import effect_of
from rspverify.records import replace
from rspverify.scheme.cost import Costs, priced
from rspverify.scheme.row import Template
from rspverify.source import Span


class Role(Enum):
    """What an instruction does in a code."""

    ACCESS = auto()
    ORDER = auto()
    TAKE = auto()
    FREE = auto()


class CandidateInstruction(Struct, frozen=True):
    """An instruction with its reach, as a part of codes.

    lock: of one that takes or frees locks, their kind. spread: how far these reach, 0 for one lock.
    """

    name: str
    template: Template
    role: Role
    cost: int
    lock: CellKind | None = None
    spread: int = 0

    @property
    def acts(self) -> tuple[Act, ...]:
        """What it does besides its access."""
        return acts(self.template.mnemonic)

    @property
    def alike(self) -> bool:
        """Whether what it does is all of one kind, and nothing but to empty caches or to wait."""
        deeds = {it.deed for it in self.acts}
        return deeds in ({Deed.LOSE}, {Deed.DRAIN})

    def sensible(self, architecture: Architecture, *, devices: int) -> bool:
        """Whether it can be needed on so many devices.

        It is not where it changes nothing, as it flushes what is as good as memory, or where one of
        a narrower reach does the same, as on one device SY does what DV does.
        """
        mnemonic, reach = self.template.mnemonic, self.template.reach
        if self.role is Role.ACCESS or any(it.deed is Deed.DRAIN for it in self.acts):
            return True
        own = effect_of(architecture, mnemonic, reach, devices)
        if not own.updates:
            return False
        narrower = mnemonic.reaches[: mnemonic.reaches.index(reach)] if reach else ()
        alike = (effect_of(architecture, mnemonic, each, devices) for each in narrower)
        return not any((it.guards, it.updates) == (own.guards, own.updates) for it in alike)


class InstructionPool:
    """The instructions that codes are made of, by number, and which covers which.

    span: what stands for the place of an instruction that no file has.
    """

    def __init__(self, architecture: Architecture, costs: Costs, span: Span) -> None:
        every = (
            _candidate(Template(mnemonic, reach, span), architecture, costs)
            for mnemonic in architecture.instructions.values()
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
            frozenset(place for place, b in enumerate(found) if stronger(b, a, architecture))
            for a in found
        ]
        self.synonyms = frozenset(
            (a, b)
            for a in self.order
            for b in self.order
            if a != b and b in self.covered_by[a] and a in self.covered_by[b]
        )
        """Two names for what does the same."""
        self.pointless_beside = frozenset(
            (a, b)
            for a in self.order
            for b in self.order
            if found[a].alike and found[b].alike
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


def stronger(
    one: CandidateInstruction, other: CandidateInstruction, architecture: Architecture
) -> bool:
    """Whether the one, in place of the other, leaves no execution more. Itself included."""
    if one.name == other.name:
        return True
    if one.role is not other.role or one.role is Role.ACCESS:
        return False
    if one.role is not Role.ORDER:
        return one.lock == other.lock and one.spread >= other.spread

    def covers(mine: Act, its: Act) -> bool:
        return mine.covers(its) and mine.far(architecture, one.template.reach) >= its.far(
            architecture, other.template.reach
        )

    return all(any(covers(mine, its) for mine in one.acts) for its in other.acts)


def _candidate(
    template: Template, architecture: Architecture, costs: Costs
) -> CandidateInstruction | None:
    """None if an instruction has effects of which the search knows nothing."""
    name, done = priced(template), acts(template.mnemonic)
    cost = costs.weight(template)
    if template.accesses:
        return CandidateInstruction(name, template, Role.ACCESS, cost)
    if all(each.deed in (Deed.MARK, Deed.LOSE, Deed.DRAIN) for each in done):
        return CandidateInstruction(name, template, Role.ORDER, cost)
    awaited = [(each.kind, each.reach) for each in done if each.deed is Deed.AWAIT]
    match [each for each in done if each.deed is not Deed.AWAIT]:
        case [Act(Deed.TAKE, lock, own) as act] if awaited == [(lock, own)]:
            role = Role.TAKE
        case [Act(Deed.FREE, lock) as act] if not awaited:
            role = Role.FREE
        case _:
            return None
    spread = act.far(architecture, template.reach)
    return CandidateInstruction(name, template, role, cost, lock, spread)
