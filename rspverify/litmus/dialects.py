"""The assembly languages that tests may be in."""

from __future__ import annotations

from collections.abc import Mapping

from msgspec import Struct


class Dialect(Struct, frozen=True):
    """How tests in an assembly language are written.

    instructions: the set of its instructions; registers: what they are called. place: that of a
    thread in its head; empty where threads have none. is_open: whether a machine may have other
    instructions, which do what their operands say.
    """

    instructions: str
    registers: str
    place: str = ""
    is_open: bool = False


DIALECTS: Mapping[str, Dialect] = {
    "PTX": Dialect("ptx", "r[0-9]+", "@cta 0,gpu 0", is_open=True),
    "X86": Dialect("x86", "E(?:[ABCD]X|[SD]I)|R(?:[89]|1[0-5])"),
}
"""The dialects, by the first word of a test."""
