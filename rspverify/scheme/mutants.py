"""One-step mutants of a table: what a slip of whoever wrote it would have made of it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from enum import StrEnum
from itertools import zip_longest
from typing import TypeVar

from msgspec import Struct

from rspverify.convert import Place
from rspverify.records import replace
from rspverify.scheme.row import AnyRow
from rspverify.scheme.rows import Code, OfRows, Steps

T = TypeVar("T", bound=OfRows)


class Mutation(StrEnum):
    """The kinds of step from a code to a mutant of it."""

    DROP = "drop"
    DROP_PAIR = "drop pair"
    NARROW = "narrow"
    SWAP = "swap"
    WIDEN = "widen"


class Step(Struct, frozen=True):
    """A step at one instruction of a code.

    place: of the instruction, from 1; instruction: as the code has it. words: the step in words,
    as in `swap with ST r x`. removes: the places of the instructions that are gone after it.
    """

    mutation: Mutation
    place: Place
    instruction: str
    words: str
    removes: tuple[Place, ...] = ()


class Mutant(Struct, frozen=True):
    """A code that is one step from that of a row, and no other mutant of the row has it.

    also: other steps that lead to the same code, as dropping either of two equal neighbours does.
    number: among the mutants of one kind at one instruction.
    """

    row: AnyRow
    step: Step
    code: Code
    also: tuple[Step, ...] = ()
    number: int = 1

    @property
    def steps(self) -> tuple[Step, ...]:
        """Every step that leads to it."""
        return (self.step, *self.also)

    @property
    def name(self) -> str:
        """A name among the mutants of the scheme, as in `row6-2-narrow`."""
        mutation = self.step.mutation.value.replace(" ", "-")
        name = f"row{self.row.number}-{self.step.place}-{mutation}"
        return name if self.number == 1 else f"{name}-{self.number}"

    def of(self, scheme: T) -> T:
        """The scheme with this code in place of its row's, under a name that says so."""
        changed = scheme.with_code(self.row.number, self.code)
        return replace(changed, name=f"{scheme.name}-{self.name}")  # type: ignore[type-var]


class RowMutants(Struct, frozen=True):
    """The mutants of a row, in the order of its code; unchanged: steps that lead to its own."""

    row: AnyRow
    mutants: tuple[Mutant, ...]
    unchanged: tuple[Step, ...] = ()


def mutants_of(scheme: OfRows) -> tuple[RowMutants, ...]:
    """Every mutant of every row: one without an instruction, with a narrower one, and so on.

    The access of a row stays, as without it a row means nothing; of several stores of its value
    any but one may go. A read-modify-write stays before what stores its value again. In the
    assembly of a target an instruction goes only where the rest does the same without it.
    """
    return tuple(mutants_in(row, scheme.steps) for row in scheme.rows)


def mutants_in(row: AnyRow, steps: Steps) -> RowMutants:
    """The mutants of one row, by the steps of its scheme."""
    return _different(row, _weaker(row, steps), steps)


def wider_mutants_of(scheme: OfRows) -> tuple[RowMutants, ...]:
    """Every mutant in which one instruction reaches one step further, or is one step stronger."""
    steps = scheme.steps
    return tuple(_different(row, _wider(row, steps), steps) for row in scheme.rows)


def _different(row: AnyRow, made: Iterator[tuple[Step, Code]], steps: Steps) -> RowMutants:
    """Each code that a row may have once, with every step that leads to it."""
    found: dict[tuple[str, ...], tuple[Code, list[Step]]] = {}
    for step, code in made:
        if steps.mean(row, code):
            found.setdefault(tuple(map(str, code)), (code, []))[1].append(step)
    _, unchanged = found.pop(row.text, ((), []))
    alike = Counter[tuple[Mutation, int]]()
    mutants: list[Mutant] = []
    for code, (first, *also) in found.values():
        alike[first.mutation, first.place] += 1
        number = alike[first.mutation, first.place]
        mutants.append(Mutant(row, first, code, tuple(also), number))
    return RowMutants(row, tuple(mutants), tuple(unchanged))


def _weaker(row: AnyRow, steps: Steps) -> Iterator[tuple[Step, Code]]:
    """Every step at each instruction in turn; a pair belongs to the one that takes the lock."""
    code = tuple(row.code)
    pairs = steps.pairs(code)
    for place, (it, after) in enumerate(zip_longest(code, code[1:])):
        here, name = place + 1, str(it)
        before, rest = code[:place], code[place + 1 :]
        if not steps.stays(code, place):
            yield Step(Mutation.DROP, here, name, "drop", (here,)), (*before, *rest)
        if place in pairs:
            other = pairs[place]
            words, removes = f"drop with {code[other]}", (here, other + 1)
            left = (*before, *code[place + 1 : other], *code[other + 1 :])
            yield Step(Mutation.DROP_PAIR, here, name, words, removes), left
        for words, less in steps.weaker(row, place):
            yield Step(Mutation.NARROW, here, name, words), (*before, *less, *rest)
        if after and steps.swap(it, after):
            step = Step(Mutation.SWAP, here, name, f"swap with {after}")
            yield step, (*before, after, it, *rest[1:])


def _wider(row: AnyRow, steps: Steps) -> Iterator[tuple[Step, Code]]:
    code = tuple(row.code)
    for place, it in enumerate(code):
        for words, more in steps.stronger(row, place):
            step = Step(Mutation.WIDEN, place + 1, str(it), words)
            yield step, (*code[:place], *more, *code[place + 1 :])
