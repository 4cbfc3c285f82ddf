"""A solver chooses the cheapest codes that nothing learnt rules out, or the nearest of a cost."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from rspverify.engineering.repair.codes import Code
from rspverify.engineering.repair.space import Codes, Entry, Nogood, RowSpace, frontier
from rspverify.smt import Model, Solver, Term, any_of, pick, variable

_STEP = 64
_NONE: Codes = {}


@dataclass(frozen=True)
class Chosen:
    """A code for each row, what they cost together, and how far they are from what is given."""

    codes: Mapping[int, Code]
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
        while True:
            floors = [self._floor(space) for space in self.rows.values()]
            if any(not numbers for numbers in self._sets) or None in floors:
                return None
            self.least = max(self.least, sum(floor for floor in floors if floor is not None))
            spaces = self._made(self.least + step)
            if spaces is None:
                return None
            question = _Question(spaces, self._sets, self.least + step)
            found = question.cheapest(self.least, self.least + step)
            if found is not None:
                self.least = found.cost
                return found
            if all(space.whole for space in self.rows.values()) and self.least + step >= sum(
                space.dearest for space in self.rows.values()
            ):
                return None
            self.least += step + 1
            step *= 2

    def nearest(self, most: int, held: Codes | None = None) -> Chosen | None:
        """Of the choices that cost at most so much one that is nearest to what is given.

        held: what some rows must have.
        """
        spaces = self._made(most, nearest=True, held=held or {})
        if spaces is None or any(not numbers for numbers in self._sets):
            return None
        return _Question(spaces, self._sets, most).nearest(most)

    def _made(
        self, most: int, *, nearest: bool = False, held: Codes = _NONE
    ) -> dict[int, list[Entry]] | None:
        """The codes that may matter to a choice of at most this cost; None if a row has none."""
        floors = {number: self._floor(space) for number, space in self.rows.items()}
        if any(floor is None for floor in floors.values()):
            return None
        known = {number: floor for number, floor in floors.items() if floor is not None}
        total = sum(known.values())
        found: dict[int, list[Entry]] = {}
        for number, space in self.rows.items():
            cap = most - (total - known[number])
            space.make(cap)
            within = [entry for entry in space.known if entry.cost <= cap]
            if number in held:
                within = [entry for entry in within if entry.code == held[number]]
            found[number] = frontier(within, nearest=nearest)
        return found

    def _floor(self, space: RowSpace) -> int | None:
        """The least that a row can cost; None if none of its codes is left."""
        while not space.known and not space.whole:
            space.make(max(8, 2 * space.made))
        return min((entry.cost for entry in space.known), default=None)


class _Question:
    """Which codes to choose, put to a solver once for several bounds."""

    def __init__(
        self,
        entries: Mapping[int, Sequence[Entry]],
        nogoods: Sequence[Mapping[int, int]],
        most: int,
    ) -> None:
        self._entries = entries
        self._choices: dict[int, list[Term]] = {}
        self._solver = Solver(reproducible=True)
        self._possible = all(entries.values())
        if not self._possible:
            return
        for number, each in entries.items():
            choice, constraints = pick(f"row {number}", range(len(each)))
            self._choices[number] = [choice[place] for place in range(len(each))]
            self._solver.add(*constraints)
        for nogood in nogoods:
            self._solver.add(any_of(self._outside(nogood)))

    def _outside(self, nogood: Mapping[int, int]) -> list[Term]:
        return [
            term
            for number, place in nogood.items()
            for entry, term in zip(self._entries[number], self._choices[number], strict=True)
            if not entry.inside >> place & 1
        ]

    def cheapest(self, least: int, most: int) -> Chosen | None:
        """A choice of the least cost between the two."""
        found = self._within(cost=least)
        if found is not None:
            return found
        best = self._within(cost=most)
        low = least + 1
        while best is not None and low < best.cost:
            middle = (low + best.cost - 1) // 2
            found = self._within(cost=middle)
            if found is None:
                low = middle + 1
            else:
                best = found
        return best

    def nearest(self, most: int) -> Chosen | None:
        """A choice of the least distance that costs at most so much."""
        best = self._within(cost=most)
        low = 0
        while best is not None and low < best.distance:
            middle = (low + best.distance - 1) // 2
            found = self._within(cost=most, distance=middle)
            if found is None:
                low = middle + 1
            else:
                best = found
        return best

    def _within(self, cost: int, distance: int | None = None) -> Chosen | None:
        if not self._possible:
            return None
        assumed = [self._bounded(cost, "cost")]
        if distance is not None:
            assumed.append(self._bounded(distance, "distance"))
        model = self._solver.find(assumed)
        return None if model is None else self._read(model)

    def _bounded(self, most: int, what: str) -> Term:
        holds = variable(f"{what} at most {most}")
        weights = [
            (term, entry.cost if what == "cost" else entry.distance)
            for number, terms in self._choices.items()
            for entry, term in zip(self._entries[number], terms, strict=True)
        ]
        self._solver.bound(holds, weights, most)
        return holds

    def _read(self, model: Model) -> Chosen:
        chosen = {
            number: next(
                entry
                for entry, term in zip(self._entries[number], terms, strict=True)
                if model[term]
            )
            for number, terms in self._choices.items()
        }
        return Chosen(
            {number: entry.code for number, entry in chosen.items()},
            sum(entry.cost for entry in chosen.values()),
            sum(entry.distance for entry in chosen.values()),
        )
