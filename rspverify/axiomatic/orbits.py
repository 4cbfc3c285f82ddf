"""Outcomes that differ in which of some equal threads did what: one stands for all of them.

Exchanging equal threads, or work-groups of equal threads, turns consistent executions into
consistent ones (symmetry.py), and so their outcomes into each other's. An outcome stands
for those that it can be turned into if what equal ones read ascends with their numbers.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise

from rspverify.axiomatic.symmetry import alike
from rspverify.litmus.program import Program
from rspverify.verdict import Outcome

NOT_READ = -(2**32)
"""What stands for the value of a read that is not executed; no value is as small."""

_Unit = tuple[int, ...]
"""The reads of what can be exchanged, by operation, in their order."""


class Orbits:
    """The outcomes of a program, and which of them stand for others."""

    def __init__(self, program: Program) -> None:
        self._reads = [it.index for it in program.operations if it.reads]
        units = [
            [
                tuple(it.index for each in unit for it in each.operations if it.reads)
                for unit in them
            ]
            for them in alike(program)
        ]
        self._alike: list[Sequence[_Unit]] = [it for it in units if len(it) > 1 and it[0]]

    def stands(self, read: Mapping[int, int]) -> bool:
        """Whether an outcome with these values, of which some are not known yet, may be one that
        stands for others."""
        return all(
            _may_ascend(one, other, read) for them in self._alike for one, other in pairwise(them)
        )

    def of(self, outcome: Outcome) -> Iterator[Outcome]:
        """The outcomes that an outcome stands for, itself among them, each once.

        Work-groups are exchanged before their threads, as they are told apart by what these read
        in ascending order.
        """
        if not self._alike:
            yield outcome
            return
        for read in _images(dict(outcome.reads), [*reversed(self._alike)]):
            yield Outcome(tuple((it, read[it]) for it in self._reads if it in read), outcome.memory)


def _may_ascend(one: _Unit, other: _Unit, read: Mapping[int, int]) -> bool:
    for first, second in zip(one, other, strict=True):
        if first not in read or second not in read or read[first] < read[second]:
            return True
        if read[first] > read[second]:
            return False
    return True


def _images(read: dict[int, int], alike: Sequence[Sequence[_Unit]]) -> Iterator[dict[int, int]]:
    """What is read with the parts of the first exchanged, then those of the second, …"""
    if not alike:
        yield read
        return
    units = alike[0]
    held = [tuple(read.get(it, NOT_READ) for it in unit) for unit in units]
    for arranged in _arrangements(held):
        image = dict(read)
        for unit, values in zip(units, arranged, strict=True):
            image.update(zip(unit, values, strict=True))
        yield from _images(
            {it: value for it, value in image.items() if value != NOT_READ}, alike[1:]
        )


def _arrangements(held: Sequence[tuple[int, ...]]) -> Iterator[tuple[tuple[int, ...], ...]]:
    """The orders of some values, each once."""
    if not held:
        yield ()
    for first in sorted(set(held)):
        rest = [*held]
        rest.remove(first)
        for others in _arrangements(rest):
            yield (first, *others)
