"""Many expressions over the same names, to be calculated again and again as some names change."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from rspverify.relation.concrete import Operation, Value, bound_recursively, operation
from rspverify.relation.expression import (
    Complement,
    Difference,
    Expression,
    Name,
    names_in,
    operands,
)


@dataclass(frozen=True)
class _Step:
    """One operation. Of the names that change: which it depends on, rises with, and falls with.

    A value rises with a name if it can only grow as that grows, and falls if it can only shrink.
    """

    apply: Operation
    operands: tuple[int, ...]
    depends: frozenset[str]
    rises: frozenset[str]
    falls: frozenset[str]


class Calculation:
    """Expressions as one list of steps: equal operations once, each after its operands.

    Names are given from outside; `changing` are those whose values may be replaced. A place is the
    number of a step, under which values are kept.
    """

    def __init__(self, fixed: Iterable[str], changing: Iterable[str]) -> None:
        self._changing = frozenset(changing)
        self._steps: list[_Step] = []
        self._known: dict[tuple[object, ...], int] = {}
        self.given = {name: self._name(name) for name in [*fixed, *sorted(self._changing)]}

    def _name(self, name: str) -> int:
        own = frozenset({name}) & self._changing
        self._steps.append(_Step(_given, (), own, self._changing, self._changing - own))
        return len(self._steps) - 1

    def place(self, expression: Expression, scope: Mapping[str, int]) -> int:
        """Where the value of an expression will be, if `scope` tells the places of its names."""
        if isinstance(expression, Name):
            return scope[expression.name]
        places = tuple(self.place(each, scope) for each in operands(expression))
        key = (type(expression), expression.sort, places)
        if key not in self._known:
            self._known[key] = len(self._steps)
            self._steps.append(self._step(expression, places))
        return self._known[key]

    def recursion(
        self, definitions: Sequence[tuple[str, Expression]], scope: Mapping[str, int]
    ) -> dict[str, int]:
        """Where the values of names will be that are defined by each other.

        How they change with the names that change is not told: they depend on them.
        """
        defined = [name for name, _ in definitions]
        free = sorted(frozenset().union(*(names_in(each) for _, each in definitions)) - {*defined})
        places = tuple(scope[name] for name in free)

        def fixpoint(events: int, *values: Value) -> tuple[Value, ...]:
            found = bound_recursively(definitions, events, dict(zip(free, values, strict=True)))
            return tuple(found[name] for name in defined)

        whole = self._append(fixpoint, places)
        return {
            name: self._append(lambda events, all_, at=at: all_[at], (whole,))
            for at, name in enumerate(defined)
        }

    def _append(self, apply: Operation, places: tuple[int, ...]) -> int:
        """A step of which is known only what it depends on."""
        depends = frozenset().union(*(self._steps[place].depends for place in places))
        still = self._changing - depends
        self._steps.append(_Step(apply, places, depends, still, still))
        return len(self._steps) - 1

    def _step(self, expression: Expression, places: tuple[int, ...]) -> _Step:
        below = [self._steps[place] for place in places]
        rises = [each.rises for each in below]
        falls = [each.falls for each in below]
        if isinstance(expression, Complement | Difference):
            rises[-1], falls[-1] = falls[-1], rises[-1]
        return _Step(
            operation(expression),
            places,
            frozenset().union(*(each.depends for each in below)),
            self._changing.intersection(*rises),
            self._changing.intersection(*falls),
        )

    def depends(self, place: int) -> frozenset[str]:
        """The changing names that a value depends on."""
        return self._steps[place].depends

    def rises(self, place: int, name: str) -> bool:
        """Whether a value can only grow as that of a changing name grows."""
        return name in self._steps[place].rises

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

    def run(self, places: Iterable[int], values: list[Any], events: int) -> None:
        """Calculate some steps, in this order, from the values and into them."""
        for place in places:
            step = self._steps[place]
            values[place] = step.apply(events, *[values[each] for each in step.operands])


def _given(events: int) -> Value:
    raise AssertionError("a name that is given is not calculated")
