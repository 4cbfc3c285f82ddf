"""What is proved of some operations of a scheme, whatever its other rows are; and what each of its
instructions is needed for."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping

from msgspec import Struct

from rspverify.convert import Count, Place
from rspverify.proof.obligations import Obligation, failures, obligations
from rspverify.proof.table import proof_table
from rspverify.scheme.mutants import Mutation, mutants_of
from rspverify.scheme.row import Shape
from rspverify.scheme.scheme import Scheme


class Pair(Struct, frozen=True):
    """An obligation by its kind and its operations."""

    kind: str
    first: str
    second: str


class Obligations(Struct, frozen=True):
    """How many obligations a scheme has to meet, and those that it does not."""

    total: Count
    broken: tuple[Pair, ...]


def named(it: Obligation) -> Pair:
    """An obligation by its names."""
    return Pair(str(it.kind), str(it.first), str(it.second))


def obligations_of(scheme: Scheme) -> Obligations | None:
    """What a scheme has to meet; None if the proof does not speak of all of it."""
    table = proof_table(scheme)
    total = sum(1 for _ in obligations(table))
    return (
        None if table.refused or not total else Obligations(total, (*map(named, failures(table)),))
    )


class Proved(Struct, frozen=True):
    """All programs of these operations on one device are compiled soundly, whatever their size.

    obligations: that hold, how many by kind (docs/proof.md).
    """

    operations: tuple[str, ...]
    obligations: Mapping[str, Count]


def proved(scheme: Scheme, shapes: Iterable[Shape]) -> Proved | None:
    """What is proved of the operations of these shapes; None if nothing is.

    Of locations that are accessed atomically and otherwise it says nothing.
    """
    table = proof_table(scheme).of(shapes, scheme)
    if table is None or failures(table):
        return None
    number = Counter(str(it.kind) for it in obligations(table))
    return Proved(tuple(map(str, table.operations)), number) if number else None


_LESS = (Mutation.DROP, Mutation.DROP_PAIR, Mutation.NARROW)


class Reason(Struct, frozen=True):
    """What a row with an instruction less, or a narrower one, would break; nothing if no proof
    needs it. place: of the instruction, from 1. change: in words."""

    row: Place
    operations: str
    place: Place
    instruction: str
    change: str
    broken: tuple[Pair, ...]


def reasons(scheme: Scheme) -> Iterator[Reason]:
    """For each instruction of a scheme that meets its obligations, in the order of its rows."""
    covered = {it.row.number for it in proof_table(scheme).operations}
    for row in mutants_of(scheme):
        for mutant in row.mutants if row.row.number in covered else ():
            for step in mutant.steps:
                if step.mutation in _LESS:
                    broken = failures(proof_table(mutant.of(scheme)))
                    yield Reason(
                        row.row.number,
                        str(row.row),
                        step.place,
                        step.instruction,
                        step.words,
                        tuple(map(named, broken)),
                    )
