"""The program of a target that a model judges, and what of it the source looks at."""

from __future__ import annotations

from collections.abc import Collection, Mapping

from msgspec import Struct

from rspverify.assembly.program import AssemblyProgram, Seen
from rspverify.axiomatic.model import MemoryModel
from rspverify.litmus.program import Program
from rspverify.value import Read


def seen_but(program: Program, untold: Collection[int]) -> list[Seen] | None:
    """What reads of a program have read, as each of them says; None where all are told."""
    if not untold:
        return None
    told = (it for it in program.operations if it.reads and it.index not in untold)
    return [Seen(it.index, it.guard, Read(it.index)) for it in told]


class Mapped(Struct, frozen=True):
    """A program of a target that a source program becomes.

    model: whose executions are those of the target. seen: what each read of the source has read.
    texts: by the index of each operation of the source, its code. others: what it may become
    besides. untold: the reads of the source at which nothing looks, and of which it is not told
    what they have read, as a compiler may have left them out.
    """

    program: Program
    model: MemoryModel
    seen: tuple[Seen, ...]
    texts: Mapping[int, tuple[str, ...]]
    others: tuple[Mapped, ...] = ()
    untold: frozenset[int] = frozenset()

    @property
    def all(self) -> tuple[Mapped, ...]:
        """It, and what else it may be."""
        return (self, *self.others)


def untold_in(made: AssemblyProgram | Mapped) -> frozenset[int]:
    """The reads of the source of which a compiled program does not tell what they have read."""
    return made.untold if isinstance(made, Mapped) else frozenset()
