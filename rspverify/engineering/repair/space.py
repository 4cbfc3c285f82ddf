"""The codes that each row may have, in the order of their cost, and what was learnt of them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum, auto
from itertools import pairwise
from typing import assert_never

from msgspec import Struct

from rspverify.engineering.repair.codes import Code, Kinds, codes, count, distance, parsed, weaker
from rspverify.engineering.repair.instructions import InstructionPool
from rspverify.limits import LimitReached
from rspverify.scheme.row import AnyRow

Codes = Mapping[int, Code]
"""A code for each of some rows, by their numbers."""


class Relation(Enum):
    """How the codes of a set are related to one."""

    EXACTLY = auto()
    WEAKER = auto()
    STRONGER = auto()
    LONGER = auto()


class CodeSet(Struct, frozen=True):
    """A code alone; it and all that are weaker, or stronger; or all that begin so and go on."""

    relation: Relation
    code: Code

    def has(self, code: Code, pool: InstructionPool) -> bool:
        """Whether a code is among them."""
        match self.relation:
            case Relation.EXACTLY:
                return code == self.code
            case Relation.WEAKER:
                return weaker(code, self.code, pool)
            case Relation.STRONGER:
                return weaker(self.code, code, pool)
            case Relation.LONGER:
                return len(code) > len(self.code) and code[: len(self.code)] == self.code
            case _:
                assert_never(self.relation)


_MOST = 2_000_000

_EDITED = 64
"""What an edited row adds to the distance: more than all edits of its code do."""


class Nogood(Struct, frozen=True):
    """Codes of some rows of which no scheme may have one each: not (row a in A and row b in B …).

    sets: by the number of the row. test: the one that fails with the strongest of them; word: how.
    """

    sets: Mapping[int, CodeSet]
    test: str
    word: str


@dataclass
class Entry:
    """A code of a row. inside: bit i is set if it is in the i-th set that was learnt.

    distance: from the code that is given, 0 for that itself.
    """

    code: Code
    cost: int
    distance: int
    inside: int = 0


@dataclass
class RowSpace:
    """The codes of one row, made up to a cost only, as far as the search has come.

    given: what the scheme has now; fixed: whether it stays.
    """

    row: AnyRow
    kinds: Kinds
    pool: InstructionPool
    given: Code
    fixed: bool
    known: list[Entry] = field(default_factory=list)
    sets: list[CodeSet] = field(default_factory=list)
    made: int = -1
    whole: bool = False
    """Whether there are no codes beyond those that are known."""

    ruled_out: int = 0
    """The sets of which no code may be had, whatever the other rows have."""

    def __post_init__(self) -> None:
        if self.fixed:
            cost = self.pool.cost_of(self.given)
            self.known, self.whole = [Entry(self.given, cost, 0)], True

    @property
    def size(self) -> int:
        """How many codes it may have."""
        return 1 if self.fixed else count(self.kinds, self.pool)

    def make(self, most: int) -> None:
        """Have all codes that cost at most so much."""
        if self.whole or most <= self.made:
            return
        dearest = self.dearest
        impossible = [each for at, each in enumerate(self.sets) if self.ruled_out >> at & 1]
        possible = [(at, each) for at, each in enumerate(self.sets) if not self.ruled_out >> at & 1]
        for code in codes(self.kinds, self.pool, most, self.made):
            if len(self.known) >= _MOST:
                raise LimitReached(
                    f"row {self.row.number} may have more than {_MOST:,} codes that cost at most "
                    f"{most:,}; give fewer instructions (--allow) or a smaller --max-length"
                )
            if any(each.has(code, self.pool) for each in impossible):
                continue
            inside = sum(1 << at for at, each in possible if each.has(code, self.pool))
            self.known.append(Entry(code, self.pool.cost_of(code), self._edits(code), inside))
        self.made = most
        self.whole = most >= dearest

    def _edits(self, code: Code) -> int:
        return 0 if code == self.given else _EDITED + distance(code, self.given)

    def may_have(self, code: Code) -> bool:
        """Whether a code is one of the row's, were nothing learnt."""
        if self.fixed:
            return code == self.given
        kinds, beside = self.kinds, self.pool.pointless_beside
        frees = (self.pool.frees[take] for take in kinds.takes)
        usable = {*kinds.accesses, *kinds.order, *kinds.takes, *kinds.again, *frees}
        accesses = [each for each in code if each in self.pool.accesses]
        ahead = code[: code.index(accesses[0])] if accesses else ()
        return (
            self.pool.behind.isdisjoint(ahead)
            and parsed(code, self.pool) is not None
            and usable >= set(code)
            and len(code) <= kinds.length
            and len(accesses) <= 1 + kinds.repeats
            and accesses[:1] in ([], *([each] for each in kinds.accesses))
            and not any(pair in beside for pair in pairwise(code))
        )

    @property
    def dearest(self) -> int:
        """What no code of the row costs more than."""
        kinds, prices = self.kinds, self.pool.cost
        access = max((prices[each] for each in kinds.accesses), default=0)
        other = max((prices[each] for each in (*kinds.order, *kinds.again)), default=0)
        locks = sum(prices[each] + prices[self.pool.frees[each]] for each in kinds.takes)
        return access + kinds.length * other + locks

    def number_of(self, codeset: CodeSet) -> int:
        """The number of a set, which is learnt if it is new."""
        if codeset in self.sets:
            return self.sets.index(codeset)
        place = len(self.sets)
        self.sets.append(codeset)
        for entry in self.known:
            if codeset.has(entry.code, self.pool):
                entry.inside |= 1 << place
        return place

    def rule_out(self, number: int) -> None:
        """No code of a set may be had, whatever the other rows have."""
        self.ruled_out |= 1 << number
        self.known = [entry for entry in self.known if not entry.inside & self.ruled_out]


def frontier(entries: list[Entry], *, nearest: bool) -> list[Entry]:
    """Entries of which some cheapest choice can be made, or some nearest one of a cost.

    Left out: each that costs no less than another (and is no nearer) and is in all of its sets.
    """
    closest: dict[int, int] = {}
    kept: list[Entry] = []
    for entry in sorted(entries, key=lambda each: (each.cost, each.distance, each.code)):
        if entry.inside in closest and not (nearest and entry.distance < closest[entry.inside]):
            continue
        closest[entry.inside] = entry.distance
        if not any(
            other.inside & entry.inside == other.inside
            and (not nearest or other.distance <= entry.distance)
            for other in kept
        ):
            kept.append(entry)
    return kept
