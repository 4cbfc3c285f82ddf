"""The architectures that a table may be for: a dialect of assembly, and a model."""

from __future__ import annotations

from collections.abc import Mapping

from msgspec import Struct

from rspverify.litmus.dialects import DIALECTS, Dialect
from rspverify.litmus.program import Scope


class Target(Struct, frozen=True):
    """An architecture. language: as tests in its assembly begin; model: which one judges it.

    operators, scopes: what `{OP}` and `{SCOPE}` stand for in the name of an instruction, by the
    operator of an RMW and by the scope of an operation. Without scopes all threads are alike to it.
    """

    name: str
    language: str
    model: str
    operators: Mapping[str, str] = {}
    scopes: Mapping[Scope, str] = {}

    @property
    def dialect(self) -> Dialect:
        """How its assembly is written."""
        return DIALECTS[self.language]


_RISCV = {"+": "add", "|": "or", "&": "and", "^": "xor", "exchange": "swap"}
_AARCH64 = {"+": "LDADD", "|": "LDSET", "^": "LDEOR", "exchange": "SWP"}
_PTX = {"+": "add", "|": "or", "&": "and", "^": "xor", "exchange": "exch"}
_PTX |= {"min": "min", "max": "max"}
_CTA = dict.fromkeys((Scope.WI, Scope.SG, Scope.WG), "cta")
_VULKAN = {"+": ".add", "-": ".sub", "|": ".or", "&": ".and", "^": ".xor", "exchange": ""}
_WG = dict.fromkeys((Scope.WI, Scope.WG), "wg")

TARGETS: Mapping[str, Target] = {
    it.name: it
    for it in (
        Target("x86", "X86", "x86-tso", {"+": "LOCK XADD", "exchange": "XCHG"}),
        Target("power", "PPC", "power"),
        Target("aarch64", "AArch64", "aarch64", _AARCH64),
        Target("armv7", "ARM", "armv7"),
        Target("riscv", "RISCV", "riscv", _RISCV),
        Target("ptx", "PTX", "ptx", _PTX, {**_CTA, Scope.DV: "gpu", Scope.ALL: "sys"}),
        Target("vulkan", "Vulkan", "vulkan", _VULKAN, {**_WG, Scope.SG: "sg", Scope.DV: "dv"}),
    )
}
"""By the word after `target:`."""
