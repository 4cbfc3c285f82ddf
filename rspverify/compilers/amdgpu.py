"""What AMD's instructions are called in rows of schemes: LLVM's mnemonics and modifiers."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from enum import Enum

from msgspec import Struct

from rspverify.compilers.assembly import Instruction
from rspverify.source import InputError, Problem


class Does(Enum):
    """What an instruction does for a program; nothing if it only waits or orders."""

    LOAD = "loads"
    STORE = "stores"
    RMW = "reads and writes"
    CAS = "compares and exchanges"
    NOTHING = "accesses nothing"


class Named(Struct, frozen=True):
    """An instruction as a row has it: `global_load_dword r x sc1`."""

    name: str
    does: Does
    origin: Instruction

    def __str__(self) -> str:
        return self.name


_OPERATORS = "add|sub|and|or|xor|swap|wrxchg|storexchg|[us]?max|[us]?min"
_SIZE = "(?:_[biu]32)?"
_ACCESSES: tuple[tuple[str, str, str, Does], ...] = (
    (r"(global_load_(?:dword|b32))", r"\1", "r x", Does.LOAD),
    (r"(global_store_(?:dword|b32))", r"\1", "x r", Does.STORE),
    (rf"(global_atomic_cmpswap){_SIZE}", r"\1", "r x", Does.CAS),
    (rf"(global_atomic)_(?:{_OPERATORS}){_SIZE}", r"\1", "r x", Does.RMW),
    (r"(ds_(?:read|load)_b32)", r"\1", "r x", Does.LOAD),
    (r"(ds_(?:write|store)_b32)", r"\1", "x r", Does.STORE),
    (rf"(ds_cmpst(?:ore)?)(?:_rtn)?{_SIZE}", r"\1", "r x", Does.CAS),
    (rf"(ds)_(?:{_OPERATORS})(?:_rtn)?{_SIZE}", r"\1_atomic", "r x", Does.RMW),
)
"""Mnemonics that access memory; what they are called in rows, which are for all operators.

In local memory one name is for those that return what was read and for those that do not: one
counter counts both, and an exchange always returns it.
"""

_ORDERING = re.compile(
    r"buffer_(?:wbinvl1(?:_vol)?|wbl2|invl2|inv|gl[01]_inv)|global_(?:inv|wb|wbinv)"
)
_REGISTERS = re.compile(r"v_mov_b32(?:_e32|_e64)?|v_dual_mov_b32|s_mov_b32|s_nop|s_delay_alu")
"""What moves registers or passes time, and is nothing to memory."""

_COUNTERS = ("vmcnt", "expcnt", "lgkmcnt")
"""In the order in which a wait for several is taken apart."""
_NUMBER = re.compile(r"0x[0-9a-f]{1,4}|0|[1-9][0-9]{0,4}")
_COUNT = re.compile(r"(\w+)\(([0-9]{1,4})\)")
_WAIT = re.compile(r"s_wait_(\w+cnt)")
_BOTH = re.compile(r"(load|store)cnt_(ds)cnt")
_FIRST = 1 << 8
"""What the first number of a wait for two counters is multiplied by."""


class Wait(Struct, frozen=True):
    """A wait until so many operations that a counter counts, or fewer, have not completed.

    form: how it is written, with a place for the number.
    """

    form: str
    number: int

    def __str__(self) -> str:
        return self.form.format(self.number)


def named(instructions: Iterable[Instruction]) -> tuple[Named, ...]:
    """What instructions are in a row: waits for several counters are one for each.

    What only moves registers is left out. Raises InputError with every instruction that is not
    known.
    """
    code: list[Named] = []
    problems: list[Problem] = []
    for each in instructions:
        try:
            code += [Named(name, does, each) for name, does in _names(each)]
        except InputError as error:
            problems += error.problems
    if problems:
        raise InputError(problems)
    return tuple(code)


def _names(instruction: Instruction) -> Iterator[tuple[str, Does]]:
    mnemonic = instruction.mnemonic
    if _REGISTERS.fullmatch(mnemonic):
        return
    for pattern, name, operands, does in _ACCESSES:
        if match := re.fullmatch(pattern, mnemonic):
            yield " ".join((match.expand(name), operands, *instruction.modifiers)), does
            return
    if _ORDERING.fullmatch(mnemonic):
        yield " ".join((mnemonic, *instruction.modifiers)), Does.NOTHING
        return
    waits = waits_of(instruction)
    if not waits:
        message = "an instruction must be one that is known in rows, not"
        raise InputError([Problem(instruction.span, f"{message} {mnemonic}")])
    for wait in waits:
        yield str(wait), Does.NOTHING


def waits_of(instruction: Instruction) -> tuple[Wait, ...]:
    """A wait for each counter that an instruction waits for; none if it is another one."""
    mnemonic, operands = instruction.mnemonic, instruction.operands
    if mnemonic == "s_waitcnt" and not operands:
        counts = [_COUNT.fullmatch(each) for each in instruction.modifiers]
        numbers = {count[1]: int(count[2]) for count in counts if count}
        if len(numbers) == len(counts) and numbers.keys() <= set(_COUNTERS):
            return tuple(
                Wait(f"s_waitcnt {it}({{}})", numbers[it]) for it in _COUNTERS if it in numbers
            )
    if not operands or not _NUMBER.fullmatch(operands[-1]):
        return ()
    number = int(operands[-1], 0)
    if mnemonic == "s_waitcnt_vscnt" and operands[:-1] == ("null",):
        return (Wait("s_waitcnt_vscnt null {:#x}", number),)
    counter = _WAIT.fullmatch(mnemonic)
    if counter is None or len(operands) != 1:
        return ()
    both = _BOTH.fullmatch(counter[1])
    if both is None:
        return (Wait(f"{mnemonic} {{:#x}}", number),)
    counters = zip(both.groups(), divmod(number, _FIRST), strict=True)
    return tuple(Wait(f"s_wait_{it}cnt {{:#x}}", each) for it, each in counters)


def with_waits_joined(instructions: Iterable[Instruction]) -> list[str]:
    """Instructions as text, where of waits that follow each other the strongest stand, sorted."""
    text: list[str] = []
    together: dict[str, int] = {}
    for each in instructions:
        waits = waits_of(each)
        for wait in waits:
            together[wait.form] = min(wait.number, together.get(wait.form, wait.number))
        if not waits:
            text += [*_written(together), str(each)]
            together = {}
    return text + _written(together)


def _written(waits: Mapping[str, int]) -> list[str]:
    return sorted(str(Wait(form, number)) for form, number in waits.items())
