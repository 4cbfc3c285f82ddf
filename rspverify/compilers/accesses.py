"""What an instruction of AMD's does to memory: to which location, and what it writes there."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping

from msgspec import Struct

from rspverify.compilers.amdgpu import Does
from rspverify.compilers.assembly import Instruction
from rspverify.compilers.registers import CannotReadError, State, registers
from rspverify.value import Constant, Expression, Read, binary, select, wrap

_ATOMIC = re.compile(r"(?:global_atomic|ds)_([us]?)([a-z]+?)(?:_rtn)?(?:_([biu])32)?")
_EXCHANGES = ("swap", "wrxchg", "storexchg")
_CALCULATES = {"add": "+", "sub": "-", "and": "&", "or": "|", "xor": "^"}
_LOWEST = Constant(wrap(1 << 31))
_NEWER_FIRST = "cmpstore"
"""In the name of a compare-exchange of local memory whose new value comes before the expected one;
in others it comes after it."""


class Access(Struct, frozen=True):
    """What is accessed. value, success: over what it reads; register: where that is put."""

    location: str
    register: str | None
    value: Expression | None
    success: Expression | None = None


def access(it: Instruction, does: Does, before: State, read: int) -> Access:
    """What an instruction accesses; `Read(read)` is what it reads. Raises CannotReadError."""
    operands = list(it.operands)
    if it.mnemonic.startswith("global_") and (not operands or operands.pop() != "off"):
        raise CannotReadError("has an address with a base, which is not known")
    returns = does is Does.LOAD or len(operands) == _WITHOUT_RESULT[does](it) + 1
    target = operands.pop(0) if returns else None
    if target is not None and (len(registers(target)) != 1 or not target.startswith("v")):
        raise CannotReadError(f"has the operand {target}, which is not known")
    if len(operands) != _WITHOUT_RESULT[does](it):
        raise CannotReadError(f"has {len(it.operands)} operands")
    address, *data = operands
    place = before.pointer(address)
    match does:
        case Does.LOAD:
            return Access(place, target, None)
        case Does.STORE:
            return Access(place, None, before.scalar(data[0]))
        case Does.CAS:
            new, expected = _compared_with(it, data, before)
            success = binary("==", Read(read), expected)
            return Access(place, target, select(success, new, Read(read)), success)
        case Does.RMW:
            return Access(place, target, _written(it, Read(read), before.scalar(data[0])))
        case Does.NOTHING:
            raise AssertionError("it was told that it accesses memory")


_WITHOUT_RESULT: Mapping[Does, Callable[[Instruction], int]] = {
    Does.LOAD: lambda it: 1,
    Does.STORE: lambda it: 2,
    Does.RMW: lambda it: 2,
    Does.CAS: lambda it: 3 if it.mnemonic.startswith("ds_") else 2,
    Does.NOTHING: lambda it: 0,
}
"""How many operands there are besides the one for what was read."""


def _compared_with(
    it: Instruction, data: list[str], before: State
) -> tuple[Expression, Expression]:
    """What a compare-exchange writes, and what it expects."""
    pair = list(data) if len(data) == 2 else list(registers(data[0]))
    if len(pair) != 2:
        raise CannotReadError(f"has the operand {data[0]}, which is not known")
    new, expected = pair if _newer_first(it) else reversed(pair)
    return before.scalar(new), before.scalar(expected)


def _newer_first(it: Instruction) -> bool:
    return not it.mnemonic.startswith("ds_") or _NEWER_FIRST in it.mnemonic


def _written(it: Instruction, read: Expression, operand: Expression) -> Expression:
    """What a read-modify-write writes."""
    match = _ATOMIC.fullmatch(it.mnemonic)
    if match is None:
        raise CannotReadError("does what is not known")
    sign, word, kind = match.groups()
    if sign + word in _EXCHANGES:
        return operand
    if sign + word in _CALCULATES:
        return binary(_CALCULATES[sign + word], read, operand)
    if word not in ("min", "max"):
        raise CannotReadError("does what is not known")
    left, right = read, operand
    if sign == "u" or kind == "u":
        left, right = binary("^", read, _LOWEST), binary("^", operand, _LOWEST)
    return select(binary("<" if word == "min" else ">", left, right), read, operand)
