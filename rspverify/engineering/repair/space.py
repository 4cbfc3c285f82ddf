"""The codes of each row in the order of their cost, and the cheapest choice of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum, auto
from itertools import chain, pairwise
from typing import Literal, assert_never

from msgspec import Struct

from rspverify.engineering.repair.codes import Code, Kinds, codes, count, distance, parsed, weaker
from rspverify.engineering.repair.instructions import InstructionPool
from rspverify.limits import LimitReached
from rspverify.scheme.row import AnyRow
from rspverify.smt.choice import pick
from rspverify.smt.solver import Solver
from rspverify.smt.term import Term, any_of, variable

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


_STEP = 64
_Measure = Literal["cost", "distance"]


class Chosen(Struct, frozen=True):
    """A code for each row, what they cost together, and how far they are from what is given."""

    codes: Codes
    cost: int
    distance: int


class Chooser:
    """Knows the rows' codes and what was learnt; `least` is a lower bound of every cost."""

    def __init__(self, rows: Mapping[int, RowSpace]) -> None:
        self.rows = rows
        self.nogoods: list[Nogood] = []
        self.least = 0
        self._sets: list[dict[int, int]] = []

    def learn(self, nogood: Nogood) -> None:
        """No scheme may have a code of each of these sets. Only sets of open rows count."""
        self.nogoods.append(nogood)
        self.exclude(nogood)

    def exclude(self, nogood: Nogood) -> None:
        """The same for schemes that are not to be chosen although nothing is wrong with them."""
        sets = {row: each for row, each in nogood.sets.items() if not self.rows[row].fixed}
        numbers = {row: self.rows[row].number_of(each) for row, each in sets.items()}
        self._sets.append(numbers)
        if len(numbers) == 1:
            ((row, number),) = numbers.items()
            self.rows[row].rule_out(number)

    def cheapest(self) -> Chosen | None:
        """A choice of the least cost; None if there is no choice at all."""
        step = _STEP
        while (floors := self._floors()) is not None:
            self.least = max(self.least, sum(floors.values()))
            most = self.least + step
            found = _Question(self._made(most, floors), self._sets).cheapest(self.least, most)
            if found is not None:
                self.least = found.cost
                return found
            spaces = self.rows.values()
            if all(it.whole for it in spaces) and most >= sum(it.dearest for it in spaces):
                return None
            self.least = most + 1
            step *= 2
        return None

    def nearest(self, most: int) -> Chosen | None:
        """Of the choices that cost at most so much one that is nearest to what is given."""
        floors = self._floors()
        if floors is None or sum(floors.values()) > most:
            return None
        return _Question(self._made(most, floors, nearest=True), self._sets).nearest(most)

    def _made(
        self, most: int, floors: Mapping[int, int], *, nearest: bool = False
    ) -> dict[int, list[Entry]]:
        """The codes that may matter to a choice of at most this cost."""
        found: dict[int, list[Entry]] = {}
        for number, space in self.rows.items():
            cap = most - (sum(floors.values()) - floors[number])
            space.make(cap)
            within = [entry for entry in space.known if entry.cost <= cap]
            found[number] = frontier(within, nearest=nearest)
        return found

    def _floors(self) -> dict[int, int] | None:
        """The least that each row can cost; None if there is no choice at all."""
        if not all(self._sets):
            return None
        floors: dict[int, int] = {}
        for number, space in self.rows.items():
            while not space.known and not space.whole:
                space.make(max(8, 2 * space.made))
            if not space.known:
                return None
            floors[number] = min(entry.cost for entry in space.known)
        return floors


class _Question:
    """Which codes to choose, put to a solver once for several bounds."""

    def __init__(
        self, entries: Mapping[int, Sequence[Entry]], nogoods: Sequence[Mapping[int, int]]
    ) -> None:
        self._choices: dict[int, list[tuple[Entry, Term]]] = {}
        self._solver = Solver(reproducible=True)
        for number, each in entries.items():
            choice, constraints = pick(f"row {number}", range(len(each)))
            self._choices[number] = [(entry, choice[place]) for place, entry in enumerate(each)]
            self._solver.add(*constraints)
        for nogood in nogoods:
            outside = (
                term
                for number, place in nogood.items()
                for entry, term in self._choices[number]
                if not entry.inside >> place & 1
            )
            self._solver.add(any_of(outside))

    def cheapest(self, least: int, most: int) -> Chosen | None:
        """A choice of the least cost between the two."""
        found = self._within({"cost": least})
        return found or self._least("cost", self._within({"cost": most}), least + 1, {})

    def nearest(self, most: int) -> Chosen | None:
        """A choice of the least distance that costs at most so much."""
        return self._least("distance", self._within({"cost": most}), 0, {"cost": most})

    def _least(
        self, what: _Measure, best: Chosen | None, low: int, also: Mapping[_Measure, int]
    ) -> Chosen | None:
        """By bisection: a choice of the least cost or distance, which is not below `low`."""
        while best is not None and low < (known := _measured(best, what)):
            middle = (low + known - 1) // 2
            found = self._within({**also, what: middle})
            if found is None:
                low = middle + 1
            else:
                best = found
        return best

    def _within(self, bounds: Mapping[_Measure, int]) -> Chosen | None:
        model = self._solver.find([self._bounded(most, what) for what, most in bounds.items()])
        if model is None:
            return None
        chosen = {
            number: next(entry for entry, term in choices if model[term])
            for number, choices in self._choices.items()
        }
        return Chosen(
            {number: entry.code for number, entry in chosen.items()},
            sum(entry.cost for entry in chosen.values()),
            sum(entry.distance for entry in chosen.values()),
        )

    def _bounded(self, most: int, what: _Measure) -> Term:
        holds = variable(f"{what} at most {most}")
        every = chain.from_iterable(self._choices.values())
        self._solver.bound(holds, [(term, _measured(entry, what)) for entry, term in every], most)
        return holds


def _measured(it: Entry | Chosen, what: _Measure) -> int:
    return it.cost if what == "cost" else it.distance
