"""A solver chooses the cheapest codes that nothing learnt rules out, or the nearest of a cost."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import chain
from typing import Literal

from msgspec import Struct

from rspverify.engineering.repair.space import Codes, Entry, Nogood, RowSpace, frontier
from rspverify.smt.choice import pick
from rspverify.smt.solver import Solver
from rspverify.smt.term import Term, any_of, variable

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
