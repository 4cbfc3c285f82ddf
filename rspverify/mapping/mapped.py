"""The program of a target that a model judges, and what of it the source looks at."""

from __future__ import annotations

from collections.abc import Mapping

from msgspec import Struct

from rspverify.assembly.program import Seen
from rspverify.axiomatic.model import MemoryModel
from rspverify.litmus.program import Program


class Mapped(Struct, frozen=True):
    """A program of a target that a source program becomes.

    model: whose executions are those of the target. seen: what each read of the source has read.
    texts: by the index of each operation of the source, its code. others: what it may become
    besides.
    """

    program: Program
    model: MemoryModel
    seen: tuple[Seen, ...]
    texts: Mapping[int, tuple[str, ...]]
    others: tuple[Mapped, ...] = ()

    @property
    def all(self) -> tuple[Mapped, ...]:
        """It, and what else it may be."""
        return (self, *self.others)
