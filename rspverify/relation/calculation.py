"""Many expressions over the same names, to be calculated again and again as some names change."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from msgspec import Struct

from rspverify.relation.algebra import Algebra, Definitions, Polarity, polarity_of
from rspverify.relation.concrete import Concrete, Operation, Value, operation
from rspverify.relation.expression import (
    Complement,
    Composition,
    Difference,
    Intersection,
    Nothing,
    Operator,
    Sort,
    names_in,
)


class _Step(Struct, frozen=True):
    """One operation. polarity: of the names that change. emptied: the operands that leave nothing
    of the value, whatever the others are, where they are empty. operator: that of an expression."""

    apply: Operation
    operands: tuple[int, ...]
    polarity: Polarity
    emptied: tuple[int, ...] = ()
    operator: Operator | None = None


class Calculation(Algebra[int]):
    """Expressions as one list of steps: equal operations once, each after its operands.

    Names are given from outside; `changing` are those whose values may be replaced. The value of an
    expression is here its place: the number of a step, under which values are kept.
    """

    def __init__(self, fixed: Iterable[str], changing: Iterable[str]) -> None:
        changing = sorted(changing)
        self._steps: list[_Step] = []
        self._known: dict[object, int] = {}
        self.given = {name: self._add(_given, (), Polarity()) for name in fixed}
        for name in changing:
            self.given[name] = self._add(_given, (), Polarity(frozenset({name})))

    def _add(
        self,
        apply: Operation,
        operands: tuple[int, ...],
        polarity: Polarity,
        emptied: tuple[int, ...] = (),
        operator: Operator | None = None,
    ) -> int:
        self._steps.append(_Step(apply, operands, polarity, emptied, operator))
        return len(self._steps) - 1

    def apply(self, operator: Operator, operands: tuple[int, ...]) -> int:
        """Where the value of an operator will be, if those of its operands are at these places."""
        key = (type(operator), operands) if operands else operator
        if key not in self._known:
            below = [self._steps[place].polarity for place in operands]
            own = polarity_of(operator, below)
            emptied = operands if isinstance(operator, Composition | Intersection) else ()
            if isinstance(operator, Difference):
                emptied = operands[:1]
            self._known[key] = self._add(operation(operator), operands, own, emptied, operator)
        return self._known[key]

    def least(self, definitions: Definitions, names: Mapping[str, int]) -> Mapping[str, int]:
        """Where the values of names will be that are defined by each other.

        How they change with the names that change is not told: they depend on them.
        """
        defined = [name for name, _ in definitions]
        free = sorted(frozenset().union(*(names_in(each) for _, each in definitions)) - {*defined})
        places = tuple(names[name] for name in free)

        def fixpoint(events: int, *values: Value) -> tuple[Value, ...]:
            found = Concrete(events).least(definitions, dict(zip(free, values, strict=True)))
            return tuple(found[name] for name in defined)

        depends = frozenset[str]().union(*(self.depends(place) for place in places))
        either = Polarity(depends, depends)
        whole = self._add(fixpoint, places, either)
        return {
            name: self._add(lambda events, all_, at=at: all_[at], (whole,), either)
            for at, name in enumerate(defined)
        }

    def depends(self, place: int) -> frozenset[str]:
        """The changing names that a value depends on."""
        return self._steps[place].polarity.names

    def rises(self, place: int, name: str) -> bool:
        """Whether a value can only grow as that of a changing name grows."""
        return name not in self._steps[place].polarity.negative

    def rising(self, place: int) -> int:
        """Where that part of a value will be which can only grow as changing names grow.

        What may shrink is taken for empty, below operators that only grow with their operands.
        """
        step = self._steps[place]
        if not step.polarity.negative:
            return place
        operator, below = step.operator, step.operands
        if operator is None or isinstance(operator, Complement | Difference):
            if not isinstance(operator, Difference) or self.depends(below[1]):
                return self.apply(Nothing(Sort.RELATION), ())
            return self.apply(operator, (self.rising(below[0]), below[1]))
        return self.apply(operator, tuple(map(self.rising, below)))

    def needed(self, places: Iterable[int], known: Iterable[int] = ()) -> tuple[int, ...]:
        """The steps that values rest on, in the order of calculation, without those known."""
        wanted: set[int] = set()
        stack = list(places)
        done = set(known)
        while stack:
            place = stack.pop()
            if place not in wanted and place not in done and self._steps[place].apply is not _given:
                wanted.add(place)
                stack += self._steps[place].operands
        return tuple(sorted(wanted))

    def values(self, given: Mapping[str, Value]) -> list[Any]:
        """A list for the values of all places, filled where a name is given."""
        found: list[Any] = [None] * len(self._steps)
        for name, value in given.items():
            found[self.given[name]] = value
        return found

    def settled(self, places: Iterable[int], values: list[Any], events: int) -> tuple[int, ...]:
        """Calculate those steps whose values are known already, into the values; the others.

        They rest on known ones alone, or on one that is empty and leaves nothing of them.
        """
        rest = []
        for place in places:
            step = self._steps[place]
            if all(values[each] is not None for each in step.operands):
                self.run([place], values, events)
                continue
            known = (values[each] for each in step.emptied if values[each] is not None)
            values[place] = next((each for each in known if not each), None)
            if values[place] is None:
                rest.append(place)
        return tuple(rest)

    def run(self, places: Iterable[int], values: list[Any], events: int) -> None:
        """Calculate some steps, in this order, from the values and into them."""
        for place in places:
            step = self._steps[place]
            values[place] = step.apply(events, *[values[each] for each in step.operands])


def _given(events: int) -> Value:
    raise AssertionError("a name that is given is not calculated")
