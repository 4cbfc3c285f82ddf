"""A text on its way, of a thread or of a call of a function: what it knows, and how it is left."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from rspverify.litmus.names import Names
from rspverify.litmus.registers import Way
from rspverify.litmus.tree import Labelled
from rspverify.source import Span


@dataclass
class Frame:
    """One text: a thread's, or a function's in one call.

    ordinals: what barriers and calls in it are called, by the id of the call; path: what stands
    before the labels of its barriers, by the calls that led here. ignored: the calls at whose value
    nothing looks, by their ids. gives: "void", "int" or "bool". depth, rounds: how many layers of
    registers and how many loops there were at its beginning. returned: who has left it by `return`.
    blocks: where the blocks around, the innermost last, declare their registers. booleans: the
    registers that are declared bool.
    """

    title: str
    names: Names
    ordinals: Mapping[int, str]
    ignored: frozenset[int]
    gives: str = "void"
    path: str = ""
    depth: int = 0
    rounds: int = 0
    returned: list[Way] = field(default_factory=list)
    blocks: list[dict[str, Span]] = field(default_factory=list)
    labels: dict[str, Labelled] = field(default_factory=dict)
    booleans: set[str] = field(default_factory=set)

    @property
    def result(self) -> str:
        """What `Registers` calls the value that it gives back; no register has this name."""
        return f"{self.names.prefix}return"
