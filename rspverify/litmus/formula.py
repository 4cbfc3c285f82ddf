"""What a test says of final states: formulas over registers and locations."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import assert_never

from msgspec import Struct

from rspverify.source import Span

Place = tuple[int | None, str]
"""A register, by its thread and its name, or a location, by None and its name."""


class Atom(Struct, frozen=True):
    """`thread:register = value`, or `location = value` where thread is None. The value may be what
    another place has."""

    thread: int | None
    name: str
    value: int | Place

    @property
    def places(self) -> tuple[Place, ...]:
        """Those that it speaks of."""
        own = (self.thread, self.name)
        return (own,) if isinstance(self.value, int) else (own, self.value)


class Negation(Struct, frozen=True):
    """`~ f`."""

    argument: Formula


class Junction(Struct, frozen=True):
    """`f /\\ g /\\ …` or `f \\/ g \\/ …`; `conjunctive` tells which.

    The empty ones are true and false.
    """

    conjunctive: bool
    arguments: tuple[Formula, ...]


Formula = Atom | Negation | Junction


class Condition(Struct, frozen=True):
    """The final condition of a test: `exists`, `~exists` or `forall` over a formula."""

    quantifier: str
    formula: Formula
    span: Span

    @property
    def locations(self) -> Iterator[str]:
        """The locations that it speaks of, in the order of the text."""
        yield from (name for thread, name in self.places if thread is None)

    @property
    def places(self) -> Iterator[Place]:
        """Those that it speaks of, in the order of the text; twice what it speaks of twice."""
        return places_of(self.formula)


def places_of(formula: Formula) -> Iterator[Place]:
    """The places that a formula speaks of, in the order of the text."""
    waiting = [formula]
    while waiting:
        match waiting.pop():
            case Atom() as atom:
                yield from atom.places
            case Negation(argument):
                waiting.append(argument)
            case Junction(_, arguments):
                waiting += reversed(arguments)


def satisfies(
    formula: Formula, registers: Mapping[tuple[int, str], int], memory: Mapping[str, int]
) -> bool:
    """Whether a final state satisfies a formula; registers by (thread, name)."""
    match formula:
        case Atom(value=value) as atom:
            values = [memory[it] if at is None else registers[at, it] for at, it in atom.places]
            return values == [value] if len(values) == 1 else values[0] == values[1]
        case Negation(argument):
            return not satisfies(argument, registers, memory)
        case Junction(conjunctive, arguments):
            quantifier = all if conjunctive else any
            return quantifier(satisfies(each, registers, memory) for each in arguments)
        case _:
            assert_never(formula)
