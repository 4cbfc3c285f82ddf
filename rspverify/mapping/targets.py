"""The architectures that a table may be for: a dialect of assembly, and a model."""

from __future__ import annotations

from collections.abc import Mapping

from msgspec import Struct

from rspverify.litmus.dialects import DIALECTS, Dialect


class Target(Struct, frozen=True):
    """An architecture. language: as tests in its assembly begin; model: which one judges it.

    operators: what `{OP}` stands for in the name of an instruction, by the operator of an RMW.
    """

    name: str
    language: str
    model: str
    operators: Mapping[str, str] = {}

    @property
    def dialect(self) -> Dialect:
        """How its assembly is written."""
        return DIALECTS[self.language]


_RISCV = {"+": "add", "|": "or", "&": "and", "^": "xor", "exchange": "swap"}
_AARCH64 = {"+": "LDADD", "|": "LDSET", "^": "LDEOR", "exchange": "SWP"}

TARGETS: Mapping[str, Target] = {
    it.name: it
    for it in (
        Target("x86", "X86", "x86-tso", {"+": "LOCK XADD", "exchange": "XCHG"}),
        Target("power", "PPC", "power"),
        Target("aarch64", "AArch64", "aarch64", _AARCH64),
        Target("riscv", "RISCV", "riscv", _RISCV),
    )
}
"""By the word after `target:`."""
