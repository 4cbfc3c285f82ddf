"""What a test says of final states: formulas over registers and locations."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import assert_never

from msgspec import Struct

from rspverify.source import Span


class Atom(Struct, frozen=True):
    """`thread:register = value`, or `location = value` where thread is None."""

    thread: int | None
    name: str
    value: int


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
    def places(self) -> Iterator[tuple[int | None, str]]:
        """The registers, by thread and name, and the locations that it speaks of, in the order of
        the text; twice what it speaks of twice."""
        waiting: list[Formula] = [self.formula]
        while waiting:
            match waiting.pop():
                case Atom(thread, name, _):
                    yield thread, name
                case Negation(argument):
                    waiting.append(argument)
                case Junction(_, arguments):
                    waiting += reversed(arguments)


def satisfies(
    formula: Formula, registers: Mapping[tuple[int, str], int], memory: Mapping[str, int]
) -> bool:
    """Whether a final state satisfies a formula; registers by (thread, name)."""
    match formula:
        case Atom(None, name, value):
            return memory[name] == value
        case Atom(thread, name, value):
            assert thread is not None
            return registers[thread, name] == value
        case Negation(argument):
            return not satisfies(argument, registers, memory)
        case Junction(conjunctive, arguments):
            quantifier = all if conjunctive else any
            return quantifier(satisfies(each, registers, memory) for each in arguments)
        case _:
            assert_never(formula)
