"""What AMD's instructions write to registers: numbers, conditions, masks, and where branches go.

Which numbers they calculate is in calculations.py. What is in neither cannot be read.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping

from rspverify.compilers.assembly import Instruction
from rspverify.compilers.calculations import (
    CARRYING,
    SCALAR,
    SHORT,
    UNTOLD,
    VECTOR,
    Calculation,
    by_table,
    extended,
    low_bits,
    shifted_right,
    unsigned,
)
from rspverify.compilers.conditions import (
    Condition,
    both,
    choice,
    compared,
    condition_of,
    either,
    expression,
    negated,
)
from rspverify.compilers.registers import (
    UNKNOWN,
    CannotReadError,
    Lanes,
    State,
    Value,
    bits,
    half_of,
    merged,
    number,
    registers,
)
from rspverify.records import replace
from rspverify.value import Constant, Expression, binary, select, unary, wrap

NOTHING = re.compile(
    r"s_nop|v_nop|s_clause|s_delay_alu|s_inst_prefetch|s_set_inst_prefetch_distance|s_setprio"
)
"""What passes time, and does nothing else."""

_HAZARDS = re.compile(r"depctr_(?:sa_sdst|va_vdst|va_sdst|va_ssrc|va_vcc|hold_cnt)\(\d+\)")
"""What s_wait_alu may wait for: results of calculations, and no access of memory."""

_ENDING = re.compile(r"_e(?:32|64)$|_sdwa$")
_PARTS = re.compile(r"(dst|src[01])_sel:(?:DWORD|(BYTE|WORD)_([0-3]))|dst_unused:UNUSED_PAD")
"""Of which part of an operand an instruction makes use; what the result does not have becomes 0."""
_PART_BITS = {"BYTE": 8, "WORD": 16}
_SIGNED = re.compile(r"sext\((v[0-9]+)\)")
_WIDE = ("v_mad_u64_u32", "v_mad_co_u64_u32")
_TABLE = re.compile(r"bitop3:(0x[0-9a-f]{1,2}|[0-9]{1,3})")
_COMPARES = {"eq": "==", "ne": "!=", "lg": "!=", "lt": "<", "le": "<=", "gt": ">", "ge": ">="}
_VECTOR_COMPARES = re.compile(r"v_cmp(x?)_(eq|ne|lt|le|gt|ge)_([iu])(16|32)")
_SCALAR_COMPARES = re.compile(r"s_cmpk?_(eq|lg|lt|le|gt|ge)_([iu])32")

_BITWISE: Mapping[str, tuple[Callable[[Condition, Condition], Condition], str, bool]] = {
    "and": (both, "&", False),
    "or": (either, "|", False),
    "xor": (lambda one, other: choice(one, negated(other), other), "^", False),
    "andn2": (both, "&", True),
    "and_not1": (both, "&", True),
    "orn2": (either, "|", True),
    "or_not1": (either, "|", True),
}
"""By word: what it makes of masks, of numbers, and whether the second operand is inverted first."""
_BITWISE_SCALARS = re.compile(rf"s_({'|'.join(_BITWISE)})_b(32|64)")
_SAVES = re.compile(r"s_(and|or|andn2|and_not1)_saveexec_b(?:32|64)")


def calculated(it: Instruction, before: State) -> Mapping[str, Value] | None:
    """What an instruction writes to registers; None if it is none that calculates.

    Raises CannotReadError.
    """
    mnemonic = _ENDING.sub("", it.mnemonic)
    mnemonic = mnemonic.replace("v_dual_", "v_", 1)
    if NOTHING.fullmatch(mnemonic) or _waits_for_results(it):
        return {}
    parts = _parts(it)
    found: Mapping[str, Value] | None
    if parts and mnemonic == "v_cndmask_b32":
        found = _parts_chosen(it.operands, before, parts)
    else:
        found = _moved(mnemonic, it.operands, before) if not parts else None
    if found is None:
        found = _compared(mnemonic, it.operands, before, parts)
    if found is None and not parts:
        found = _masked(mnemonic, it.operands, before)
    if found is None and not parts:
        found = _carrying(mnemonic, it.operands, before)
    if found is None:
        found = _numbers(mnemonic, it.operands, before, parts)
    if found is None and not parts:
        found = _by_table(it, mnemonic, before)
    elif found is not None and (left := [each for each in it.modifiers if each not in parts]):
        raise CannotReadError(f"has {left[0]}, which is not known")
    return found


def _parts(it: Instruction) -> Mapping[str, str]:
    """The modifiers of an instruction that tell which parts of its operands it takes."""
    return {each: each for each in it.modifiers if _PARTS.fullmatch(each)}


def _part(
    value: Expression, operand: str, parts: Iterable[str], *, signed: bool = False
) -> Expression:
    """The part of a value that is taken as `src0`, `src1`, or given as `dst`."""
    for each in parts:
        match = _PARTS.fullmatch(each)
        if match is None or match[1] != operand or match[2] is None:
            continue
        size = _PART_BITS[match[2]]
        first = Constant(size * int(match[3]))
        if operand == "dst":
            return binary("<<", low_bits(value, size), first)
        found = shifted_right(value, first)
        return extended(found, size) if signed else low_bits(found, size)
    return value


def _source(text: str, at: int, parts: Iterable[str], before: State) -> Expression:
    """The part of an operand that is taken; `sext(v5)` is taken as signed."""
    signed = _SIGNED.fullmatch(text)
    value = before.scalar(signed[1] if signed else text)
    return _part(value, f"src{at}", parts, signed=signed is not None)


def _waits_for_results(it: Instruction) -> bool:
    words = [*it.operands, *it.modifiers]
    known = bool(words) and all(map(_HAZARDS.fullmatch, words))
    return it.mnemonic in ("s_wait_alu", "s_waitcnt_depctr") and known


def _moved(mnemonic: str, operands: tuple[str, ...], before: State) -> Mapping[str, Value] | None:
    if mnemonic in (
        "v_mov_b32",
        "s_mov_b32",
        "s_movk_i32",
        "s_mov_b64",
        "v_mov_b64",
        "v_readfirstlane_b32",
    ):
        target, source = _all(operands, 2)
        to = _targets(target)
        known = _short(source) if mnemonic == "s_movk_i32" else bits(source, 32 * len(to))
        if known is not None:
            halves = [wrap(known), wrap(known >> 32)] if len(to) == 2 else [wrap(known)]
            return {name: Constant(it) for name, it in zip(to, halves, strict=True)}
        sources = registers(source)
        if len(sources) != len(to):
            raise CannotReadError(f"has the operand {source}, which is not known")
        return {name: before.value(each) for name, each in zip(to, sources, strict=True)}
    if mnemonic in ("v_cndmask_b32", "v_cndmask_b16"):
        target, otherwise, then, *masks = _all(operands, 3, 4)
        holds = before.lanes(masks[0] if masks else "vcc_lo")
        if mnemonic == "v_cndmask_b16":
            chosen = (before.scalar(then), before.scalar(otherwise))
            return _half(target, select(expression(holds), *chosen))
        values = [_any(each, before) for each in (then, otherwise)]
        return {name: merged(holds, *values) for name in _targets(target)}
    if mnemonic in ("s_cselect_b32", "s_cselect_b64"):
        target, then, otherwise = _all(operands, 3)
        holds = _carried(before)
        to = _targets(target)
        if len(to) == 2 or before.is_mask(then) or before.is_mask(otherwise):
            mask = choice(holds, before.lanes(then), before.lanes(otherwise))
            return _mask(target, mask, before.others(then) or before.others(otherwise))
        value = select(expression(holds), before.scalar(then), before.scalar(otherwise))
        return dict.fromkeys(to, value)
    return None


def _compared(
    mnemonic: str, operands: tuple[str, ...], before: State, parts: Iterable[str]
) -> Mapping[str, Value] | None:
    if vector := _VECTOR_COMPARES.fullmatch(mnemonic):
        *targets, left, right = _all(operands, 2 if vector[1] else 3, 3)
        signed = vector[3] == "i" or vector[2] in ("eq", "ne")
        one, other = (_source(it, at, parts, before) for at, it in enumerate((left, right)))
        if vector[4] == "16":
            one, other = (extended(it, 16) if signed else low_bits(it, 16) for it in (one, other))
        holds = both(before.active, _comparison(vector[2], one, other, signed))
        found: dict[str, Value] = {}
        for target in targets:
            found |= _mask(target, holds)
        if vector[1]:
            found |= _masks_like("exec_lo", holds, before)
        return found
    if scalar := _SCALAR_COMPARES.fullmatch(mnemonic):
        left, right = _all(operands, 2)
        if mnemonic.startswith("s_cmpk") and scalar[2] == "i":
            right = str(_short(right))
        signed = scalar[2] == "i" or scalar[1] in ("eq", "lg")
        first, second = before.scalar(left), before.scalar(right)
        return {"scc": Lanes(_comparison(scalar[1], first, second, signed))}
    return None


def _comparison(word: str, left: Expression, right: Expression, signed: bool) -> Condition:
    if not signed:
        left, right = unsigned(left), unsigned(right)
    return compared(_COMPARES[word], left, right)


def _masked(mnemonic: str, operands: tuple[str, ...], before: State) -> Mapping[str, Value] | None:
    if saves := _SAVES.fullmatch(mnemonic):
        target, source = _all(operands, 2)
        join, _, inverted = _BITWISE[saves[1]]
        active = before.active
        other = negated(active) if inverted else active
        holds = join(before.lanes(source), other)
        others = _join_others(saves[1], before.others(source), inverted)
        changed = _masks_like("exec_lo", holds, before, others)
        return {**_mask(target, active), **changed, "scc": Lanes(holds, 0, others)}
    if bitwise := _BITWISE_SCALARS.fullmatch(mnemonic):
        target, left, right = _all(operands, 3)
        join, operator, inverted = _BITWISE[bitwise[1]]
        if bitwise[2] == "64" or any(map(before.is_mask, (left, right))):
            one, two = before.lanes(left), before.lanes(right)
            holds = join(one, negated(two) if inverted else two)
            its = before.others(left), inverted or before.others(right)
            others = _join_others(bitwise[1], *its)
            return {**_mask(target, holds, others), "scc": Lanes(holds, 0, others)}
        first, second = before.scalar(left), before.scalar(right)
        value = binary(operator, first, unary("~", second) if inverted else second)
        return {_single(target): value, "scc": Lanes(condition_of(value))}
    if mnemonic in ("s_not_b32", "s_not_b64"):
        target, source = _all(operands, 2)
        if mnemonic == "s_not_b64" or before.is_mask(source):
            holds = negated(before.lanes(source))
            return {**_mask(target, holds, others=True), "scc": Lanes(holds, 0, others=True)}
        value = unary("~", before.scalar(source))
        return {_single(target): value, "scc": Lanes(condition_of(value))}
    return None


def _carrying(
    mnemonic: str, operands: tuple[str, ...], before: State
) -> Mapping[str, Value] | None:
    """A sum, or a difference, and the mask that tells what does not fit."""
    if mnemonic not in CARRYING:
        return None
    calculation, carry, reverse = CARRYING[mnemonic]
    target, mask, *sources, given = (*_all(operands, 4, 5), "0")[:5]
    left, right = (before.scalar(each) for each in (sources[::-1] if reverse else sources))
    more = expression(before.lanes(given))
    value = calculation(calculation(left, right), more)
    holds = both(before.active, condition_of(carry(left, right, more)))
    return {_single(target): value, **_mask(mask, holds)}


def _numbers(
    mnemonic: str, operands: tuple[str, ...], before: State, parts: Iterable[str]
) -> Mapping[str, Value] | None:
    known = {**VECTOR, **SHORT, **UNTOLD}.get(mnemonic)
    untold: Calculation | None = None
    if mnemonic in SCALAR:
        known, untold = SCALAR[mnemonic]
    if mnemonic in _WIDE:
        return _wide(operands, before)
    if known is None:
        return None
    target, *sources = operands or ("",)
    values = [_source(it, at, parts, before) for at, it in enumerate(sources)]
    try:
        value = _part(known(*values), "dst", parts)
    except TypeError:
        raise CannotReadError(f"has {len(operands)} operands") from None
    if mnemonic in SHORT:
        return _half(target, value)
    if mnemonic not in SCALAR:
        return {_single(target): value}
    # What is not told of scc may not be asked for.
    told = UNKNOWN if untold is None else Lanes(condition_of(untold(value, *values)))
    return {_single(target): value, "scc": told}


def _parts_chosen(
    operands: tuple[str, ...], before: State, parts: Iterable[str]
) -> Mapping[str, Value]:
    """One of two parts of operands, by a mask."""
    target, otherwise, then, mask = _all(operands, 4)
    first, second = (_source(it, at, parts, before) for at, it in enumerate((otherwise, then)))
    value = select(expression(before.lanes(mask)), second, first)
    return {_single(target): _part(value, "dst", parts)}


def _half(target: str, value: Expression) -> Mapping[str, Value]:
    """Half of a register, which becomes the low half of a value."""
    name = half_of(target)
    if name is None:
        raise CannotReadError(f"has the operand {target}, which is not half of a register")
    return {name: extended(value, 16)}


def _wide(operands: tuple[str, ...], before: State) -> Mapping[str, Value]:
    """The low half of a product of 64 bits and a sum with it; the high one may not be asked for."""
    target, mask, left, right, more = _all(operands, 5)
    low, high = _targets(target)
    added = before.scalar(more if number(more) is not None else registers(more)[0])
    value = binary("+", binary("*", before.scalar(left), before.scalar(right)), added)
    return {low: value, high: UNKNOWN, **dict.fromkeys(registers(mask), UNKNOWN)}


def _by_table(it: Instruction, mnemonic: str, before: State) -> Mapping[str, Value] | None:
    """What instructions do that say in a table what they make of bits."""
    tables = [match for each in it.modifiers if (match := _TABLE.fullmatch(each))]
    if mnemonic not in ("v_bitop2_b32", "v_bitop3_b32") or len(tables) != len(it.modifiers):
        return None
    target, *sources = (*_all(it.operands, 3, 4), "0")[:4]
    values = map(before.scalar, sources)
    return {_single(target): by_table(int(tables[0][1], 0), *values)}


def branches(it: Instruction, before: State) -> Condition | None:
    """When a branch is taken; None if it is no branch."""
    match it.mnemonic:
        case "s_branch":
            return True
        case "s_cbranch_execz" | "s_cbranch_execnz":
            return _if(it, before.active)
        case "s_cbranch_vccz" | "s_cbranch_vccnz":
            return _if(it, _any_lane("vcc_lo", before))
        case "s_cbranch_scc0" | "s_cbranch_scc1":
            return _if(it, _carried(before))
        case _:
            return None


def _if(it: Instruction, holds: Condition) -> Condition:
    return negated(holds) if it.mnemonic.endswith(("cz", "c0")) else holds


def _any_lane(register: str, before: State) -> Condition:
    """Whether a mask has any lane: that of the work-item, as there is no other."""
    if before.others(register):
        raise CannotReadError("asks for lanes that are of no work-item")
    return before.lanes(register)


def _join_others(word: str, left: bool, right: bool) -> bool:
    """Whether masks that are joined may have lanes of no work-item; a second one as inverted."""
    return left and right if word.startswith("and") else left or right


def _carried(before: State) -> Condition:
    value = before.value("scc")
    if not isinstance(value, Lanes):
        raise CannotReadError("asks for a carry, which is not known")
    return _any_lane("scc", before)


def _all(operands: tuple[str, ...], count: int, most: int = 0) -> tuple[str, ...]:
    if not count <= len(operands) <= max(count, most):
        wanted = f"{count} to {most}" if most > count else count
        raise CannotReadError(f"must have {wanted} operands, not {len(operands)}")
    return operands


def _single(operand: str) -> str:
    """The one register that an operand is."""
    names = _targets(operand)
    if len(names) != 1:
        raise CannotReadError(f"has the operand {operand}, which is not known")
    return names[0]


def _targets(operand: str) -> tuple[str, ...]:
    names = registers(operand)
    if not names or len(names) > 2:
        raise CannotReadError(f"has the operand {operand}, which is not known")
    return names


def _short(operand: str) -> int:
    """A signed number of 16 bits: 0xfc18 is -1000."""
    known = number(operand)
    if known is None:
        raise CannotReadError(f"has the operand {operand}, which is not known")
    return (known & 0xFFFF) - ((known & 0x8000) << 1)


def _any(operand: str, before: State) -> Value:
    """What an operand is, whatever its kind."""
    names = registers(operand)
    return before.value(names[0]) if len(names) == 1 else before.scalar(operand)


def _mask(target: str, holds: Condition, others: bool = False) -> Mapping[str, Value]:
    """A mask in the register, or the two, that have it; in none where it is thrown away."""
    if target == "null":
        return {}
    return {name: Lanes(holds, at, others) for at, name in enumerate(_targets(target))}


def _masks_like(
    register: str, holds: Condition, before: State, others: bool = False
) -> Mapping[str, Value]:
    """The mask `exec` with another condition; in as many registers as it has."""
    names = [register, register.replace("_lo", "_hi")]
    old = {name: before.values.get(name) for name in names}
    return {
        name: replace(mask, condition=holds, others=others)
        for name, mask in old.items()
        if isinstance(mask, Lanes)
    }
