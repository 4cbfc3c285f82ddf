"""The assembly languages that tests may be in."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from msgspec import Struct

from rspverify.records import replace


class Dialect(Struct, frozen=True):
    """How tests in an assembly language are written.

    instructions: the set of its instructions; registers: what they are called, or `%` and any name,
    and spelled: each by the one of its names that counts; zero: the one that is always 0. place:
    that of a thread in its head; empty where threads have none. is_open: whether a machine may have
    other instructions, which do what their operands say. bare: whether operands name locations
    without brackets. anywhere: whether a store-exclusive may succeed at another location than its
    load. partial: whether writes to a location may be in no order.
    """

    instructions: str
    registers: str
    spelled: Callable[[str], str] = str
    zero: str | None = None
    place: str = ""
    is_open: bool = False
    bare: bool = False
    anywhere: bool = False
    partial: bool = False


NAMED = "%[A-Za-z_][A-Za-z0-9_]*"
"""A register of the one thread that names it so."""

_RISCV = {
    "zero": 0,
    "ra": 1,
    "sp": 2,
    "gp": 3,
    "tp": 4,
    "fp": 8,
    **{f"a{it}": it + 10 for it in range(8)},
    **{f"t{it}": it + (5 if it < 3 else 25) for it in range(7)},
    **{f"s{it}": it + (8 if it < 2 else 16) for it in range(12)},
}
"""Registers by their names in the ABI (The RISC-V Instruction Set Manual, ch. 25)."""


def _riscv(name: str) -> str:
    return f"x{_RISCV[name]}" if name in _RISCV else name


def _x86(name: str) -> str:
    """Registers of 64 bits are those of 32, `RAX` is `EAX` and `R8D` is `R8`."""
    return (
        name.removesuffix("D")
        if name[1:2].isdigit()
        else f"E{name[1:]}"
        if name[0] == "R"
        else name
    )


_ARMV7 = {"FP": "R11", "IP": "R12", "SP": "R13", "LR": "R14"}
"""Registers by their names in the procedure call standard (AAPCS32, §6.1.1), but for PC."""


def _armv7(name: str) -> str:
    return name if name[0] == "%" else _ARMV7.get(name.upper(), name.upper())


_OF_LANGUAGES = {
    "PTX": Dialect("ptx", "r[0-9]+", place="@cta 0,gpu 0", is_open=True, bare=True, partial=True),
    "Vulkan": Dialect("vulkan", "r[0-9]+", place="@sg 0,wg 0,qf 0", bare=True),
    "X86": Dialect("x86", "[ER](?:[ABCD]X|[SD]I|[BS]P)|R(?:[89]|1[0-5])D?", _x86),
    "AArch64": Dialect(
        "aarch64",
        "[WX](?:[12]?[0-9]|30|ZR)|SP",
        lambda name: f"X{name[1:]}" if name[0] == "W" else name,
        "XZR",
        anywhere=True,
    ),
    "ARM": Dialect("arm", f"[Rr](?:[0-9]|1[0-4])|{'|'.join(_ARMV7)}", _armv7, anywhere=True),
    "PPC": Dialect("power", "r(?:[12]?[0-9]|3[01])|(?:lt|gt|eq)_cr[0-7]"),
    "RISCV": Dialect("riscv", f"x(?:[12]?[0-9]|3[01])|{'|'.join(_RISCV)}", _riscv, "x0"),
}

DIALECTS: Mapping[str, Dialect] = {
    name: replace(it, registers=f"{it.registers}|{NAMED}") for name, it in _OF_LANGUAGES.items()
}
"""The dialects, by the first word of a test."""


def is_partial(language: str) -> bool:
    """Whether writes to a location may be in no order in tests in a language."""
    return language in DIALECTS and DIALECTS[language].partial
