"""Which pair of rows an instruction is needed for: what a table would not meet without it."""

from __future__ import annotations

from collections.abc import Iterator

from msgspec import Struct

from rspverify.convert import Place
from rspverify.proof.covered import Pair, named
from rspverify.proof.obligations import failures
from rspverify.proof.table import proof_table
from rspverify.scheme.mutants import Mutation, mutants_of
from rspverify.scheme.scheme import Scheme

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
