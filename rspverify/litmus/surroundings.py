"""What a thread is read in: what the rest of the test says."""

from __future__ import annotations

from collections.abc import Mapping
from collections.abc import Set as AbstractSet

from msgspec import Struct

from rspverify.litmus.objects import Object
from rspverify.litmus.problems import Problems
from rspverify.litmus.tree import FunctionText
from rspverify.source import Span


class Surroundings(Struct, frozen=True):
    """The language, what the test declares, and the bound of its loops.

    no_spins: the loops that are not to be read as spins, None: all of them.
    arguments: the values of the parameters of a kernel that are no pointers. circular: the
    functions that call themselves. no_spins: the loops that are not to be read as spins, None: all
    of them. mixed: whether declarations of one location may differ.
    """

    language: str
    objects: Mapping[str, Object]
    constants: Mapping[str, int]
    arguments: Mapping[str, int]
    functions: Mapping[str, FunctionText]
    circular: frozenset[str]
    unroll: int
    no_spins: AbstractSet[Span] | None
    mixed: bool
    problems: Problems
