"""The program of a target that a model judges, and what of it the source looks at."""

from __future__ import annotations

from collections.abc import Mapping

from msgspec import Struct

from rspverify.axiomatic.model import MemoryModel
from rspverify.litmus.program import Program


class Mapped(Struct, frozen=True):
    """A program of a target that a source program becomes.

    model: whose executions are those of the target. told: by the index of each source operation
    that reads, the read that gives its result. texts: by the index of each, its code. others: what
    it may become besides.
    """

    program: Program
    model: MemoryModel
    told: Mapping[int, int]
    texts: Mapping[int, tuple[str, ...]]
    others: tuple[Mapped, ...] = ()

    @property
    def all(self) -> tuple[Mapped, ...]:
        """It, and what else it may be."""
        return (self, *self.others)
