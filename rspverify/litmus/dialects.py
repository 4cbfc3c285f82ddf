"""The assembly languages that tests may be in."""

from __future__ import annotations

from collections.abc import Mapping

from msgspec import Struct


class Dialect(Struct, frozen=True):
    """How tests in an assembly language are written: the set of its instructions, its registers,
    and the place of a thread in its head."""

    instructions: str
    registers: str
    place: str


DIALECTS: Mapping[str, Dialect] = {"PTX": Dialect("ptx", "r[0-9]+", "@cta 0,gpu 0")}
"""The dialects, by the first word of a test."""
