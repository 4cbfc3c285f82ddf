"""The instructions that codes are made of, and which of them is at least as strong as another.

What an instruction is for is read off its effects (assembly/instruction.py), never off its name:

* *order*: nothing but flush markers and invalidations;
* *take* and *free*: it waits for a kind of lock and takes it, or frees it;
* *access*: it reads or writes a location for the program.

docs/engineering.md argues why a stronger order instruction leaves fewer executions.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from enum import Enum, auto

from rspverify.assembly import (
    Acquire,
    Await,
    Condition,
    Effect,
    InstructionSet,
    Invalidate,
    Level,
    Lock,
    Mark,
    Mnemonic,
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
class Letter:
    """An instruction with its reach, as a part of codes.

    lock: of one that takes or frees locks, their kind. spread: how far these reach, 0 for one lock.
    """

    name: str
    template: Template
    role: Role
    cost: int
    lock: Lock | None = None
    spread: int = 0


class Alphabet:
    """Letters by number, and the relation between them that monotonicity rests on."""

    def __init__(self, letters: Sequence[Letter]) -> None:
        self.letters = tuple(letters)
        self.number = {letter.name: place for place, letter in enumerate(letters)}
        self.cost = [letter.cost for letter in letters]
        self.role = [letter.role for letter in letters]
        self.order = self._of(Role.ORDER)
        self.accesses = frozenset(self._of(Role.ACCESS))
        self.takes = self._of(Role.TAKE)
        self.frees = {each: self._partner(each) for each in self.takes}
        self.covered_by = [
            frozenset(b for b in range(len(letters)) if stronger(letters[b], letters[a]))
            for a in range(len(letters))
        ]
        self.pointless_beside = frozenset(
            (a, b)
            for a in self.order
            for b in self.order
            if _only_invalidates(letters[a]) and _only_invalidates(letters[b])
            if b in self.covered_by[a] or a in self.covered_by[b]
        )
        """Neighbours that do together what one of them does alone."""

    def _of(self, role: Role) -> tuple[int, ...]:
        return tuple(place for place, each in enumerate(self.role) if each is role)

    def _partner(self, take: int) -> int:
        wanted = self.letters[take].lock, self.letters[take].spread
        (found,) = [
            each
            for each in self._of(Role.FREE)
            if (self.letters[each].lock, self.letters[each].spread) == wanted
        ]
        return found

    def written(self, code: Iterable[int], span: Span) -> tuple[Template, ...]:
        """The code as a row of a scheme has it."""
        return tuple(replace(self.letters[each].template, span=span) for each in code)

    def read(self, code: Iterable[Template]) -> tuple[int, ...]:
        """The numbers of a row's instructions. Raises KeyError where one is no letter."""
        return tuple(self.number[priced(each)] for each in code)


def stronger(one: Letter, other: Letter) -> bool:
    """Whether the one, in place of the other, leaves no execution more. Itself included."""
    if one.name == other.name:
        return True
    if one.role is not other.role or one.role is Role.ACCESS:
        return False
    if one.role is not Role.ORDER:
        return one.lock is other.lock and one.spread >= other.spread
    return all(
        any(_covers(mine, its, one.template.reach, other.template.reach) for mine in _of(one))
        for its in _of(other)
    )


def _of(letter: Letter) -> tuple[Effect, ...]:
    return letter.template.mnemonic.effects


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


def _only_invalidates(letter: Letter) -> bool:
    return all(isinstance(effect, Invalidate) for effect in _of(letter))


def letter_of(mnemonic: Mnemonic, reach: Reach | None, costs: Costs, span: Span) -> Letter | None:
    """The instruction as a letter; None if it has effects of which the search knows nothing."""
    template = Template(mnemonic, reach, span)
    name = priced(template)
    cost = costs.weights[name]
    effects = mnemonic.effects
    if template.accesses:
        return Letter(name, template, Role.ACCESS, cost)
    if all(isinstance(each, Mark | Invalidate) for each in effects):
        return Letter(name, template, Role.ORDER, cost)
    match [each for each in effects if not isinstance(each, Await)]:
        case [Acquire(lock, own)] if _awaited(effects) == [(lock, own)]:
            return Letter(name, template, Role.TAKE, cost, lock, _far(own or reach))
        case [Release(lock, own)] if not _awaited(effects):
            return Letter(name, template, Role.FREE, cost, lock, _far(own or reach))
    return None


def _awaited(effects: Iterable[Effect]) -> list[tuple[Condition | Lock, Reach | None]]:
    return [(each.what, each.reach) for each in effects if isinstance(each, Await)]


def letters_of(
    instructions: InstructionSet, costs: Costs, span: Span, *, devices: int, coherent: bool
) -> dict[str, Letter]:
    """The letters that make sense on so many devices, by name. coherent: their L2s are memory.

    On one device SY is DV. An L2 that is memory, as it is there too, needs no flush and no
    invalidation.
    """
    found: dict[str, Letter] = {}
    for mnemonic in instructions.values():
        for reach in mnemonic.reaches or (None,):
            letter = letter_of(mnemonic, reach, costs, span)
            if letter is None or (devices == 1 and _is_wide(letter)):
                continue
            if (devices == 1 or coherent) and _speaks_of_l2(letter):
                continue
            found[letter.name] = letter
    return found


def _is_wide(letter: Letter) -> bool:
    return letter.role is not Role.ACCESS and letter.template.reach is Reach.SY


def _speaks_of_l2(letter: Letter) -> bool:
    return letter.role is Role.ORDER and all(
        isinstance(effect, Mark | Invalidate) and effect.level is Level.L2 for effect in _of(letter)
    )
