"""What AMD's instructions write to registers: numbers, masks, and where branches go.

What they calculate with numbers is in the file of the set; moves, comparisons and masks are here.
What is in neither cannot be read.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping

from rspverify.compilers.calculations import (
    FUNCTIONS,
    by_table,
    extended,
    low_bits,
    shifted_right,
)
from rspverify.compilers.registers import (
    Lanes,
    State,
    Value,
    bits,
    half_of,
    merged,
    number,
    registers,
)
from rspverify.isa.conditions import (
    Condition,
    both,
    choice,
    condition_of,
    either,
    expression,
    negated,
)
from rspverify.isa.execution import UNKNOWN, CannotReadError
from rspverify.isa.instruction_set import Form, instruction_set
from rspverify.isa.lines import Instruction
from rspverify.records import replace
from rspverify.value import Constant, Expression, binary, select, wrap

SET = instruction_set("amdgpu")

_HAZARDS = re.compile(r"depctr_(?:sa_sdst|va_vdst|va_sdst|va_ssrc|va_vcc|hold_cnt)\(\d+\)")
"""What s_wait_alu may wait for: results of calculations, and no access of memory."""

_ENDING = re.compile(r"_e(?:32|64)$|_sdwa$")
_PARTS = re.compile(r"(dst|src[01])_sel:(?:DWORD|(BYTE|WORD)_([0-3]))|dst_unused:UNUSED_PAD")
"""Of which part of an operand an instruction makes use; what the result does not have becomes 0."""
_PART_BITS = {"BYTE": 8, "WORD": 16}
_SIGNED = re.compile(r"sext\((v[0-9]+)\)")
_TABLE = re.compile(r"bitop3:(0x[0-9a-f]{1,2}|[0-9]{1,3})")


def spelled(it: Instruction) -> str:
    """The mnemonic of an instruction as its set has it, without what tells encodings apart."""
    return _ENDING.sub("", it.mnemonic).replace("v_dual_", "v_", 1)


def calculated(it: Instruction, before: State) -> Mapping[str, Value] | None:
    """What an instruction writes to registers; None if it is none that calculates.

    Raises CannotReadError.
    """
    mnemonic = spelled(it)
    form = SET.form(mnemonic, it.operands)
    if (form is not None and "nothing" in form.words) or _waits_for_results(it):
        return {}
    parts = _parts(it)
    found: Mapping[str, Value] | None
    if parts and mnemonic == "v_cndmask_b32":
        found = _parts_chosen(it.operands, before, parts)
    else:
        found = _moved(mnemonic, it.operands, before) if not parts else None
    if found is None and form is not None and form.sets:
        found = _by_formulas(form, it.operands, before, parts)
    elif found is None and any(other.sets for other in SET.forms.get(mnemonic, ())):
        raise CannotReadError(f"has {len(it.operands)} operands")
    if found is None and not parts:
        found = _by_table(it, mnemonic, before)
    elif found is not None and (left := [each for each in it.modifiers if each not in parts]):
        raise CannotReadError(f"has {left[0]}, which is not known")
    return found


def _by_formulas(
    form: Form, operands: tuple[str, ...], before: State, parts: Iterable[str]
) -> Mapping[str, Value]:
    """What the description of an instruction calculates, in their order."""
    bound = form.bound(operands)
    masks = "e" in bound and (
        "saveexec" in form.mnemonic
        or form.mnemonic.endswith("64")
        or any(map(before.is_mask, operands[1:]))
    )
    own = _mask_of(bound, before) if masks else operand_of(form, operands, before, parts)
    found: dict[str, Value] = {}
    results: dict[str, Expression | Lanes] = {}
    for letter, formula in form.sets:

        def known(name: str) -> Expression | Lanes:
            return results[name] if name in results else own(name)

        value = formula.value(known, FUNCTIONS, *((_inverted, _together) if masks else ()))
        results[letter] = value
        found |= _assigned(letter, bound.get(letter, letter), value, before, parts)
    return found


def _mask_of(bound: Mapping[str, str], before: State) -> Callable[[str], Lanes]:
    """What the operands of an instruction for masks are."""

    def value(name: str) -> Lanes:
        if name == "exec":
            return Lanes(before.active)
        return Lanes(before.lanes(bound[name]), 0, before.others(bound[name]))

    return value


def _inverted(operator: str, mask: Lanes) -> Lanes:
    return Lanes(negated(mask.condition), 0, others=True)


def _together(operator: str, one: Lanes, other: Lanes) -> Lanes:
    if operator == "&":
        return Lanes(both(one.condition, other.condition), 0, one.others and other.others)
    others = one.others or other.others
    if operator == "|":
        return Lanes(either(one.condition, other.condition), 0, others)
    return Lanes(choice(one.condition, negated(other.condition), other.condition), 0, others)


def _assigned(
    letter: str,
    operand: str,
    value: Expression | Lanes,
    before: State,
    parts: Iterable[str],
) -> Mapping[str, Value]:
    """What an operand becomes, by the kind that its letter says (amdgpu.isa)."""
    if isinstance(value, Lanes):
        if letter == "exec":
            return _masks_like("exec_lo", value.condition, before, value.others)
        return {"scc": value} if letter == "scc" else _mask(operand, value.condition, value.others)
    if letter == "h":
        return _half(operand, value)
    if letter == "w":
        low, high = _targets(operand)
        return {low: value, high: UNKNOWN}
    if value == UNKNOWN:
        return dict.fromkeys(registers(operand), UNKNOWN)
    if letter == "scc":
        return {"scc": Lanes(condition_of(value))}
    if letter in ("m", "exec"):
        holds = both(before.active, condition_of(value))
        if letter == "exec":
            return _masks_like("exec_lo", holds, before)
        return {} if operand == letter else _mask(operand, holds)
    return {_single(operand): _part(value, "dst", parts)}


def operand_of(
    form: Form,
    operands: tuple[str, ...],
    before: State,
    parts: Iterable[str] = (),
    old: Expression = UNKNOWN,
) -> Callable[[str], Expression]:
    """What the operands of an instruction are, by the names that its formulas have for them.

    A mask that is not there has no lane. old: what it has read.
    """
    bound = form.bound(operands)
    targets = sum(letter in bound for letter, _ in form.sets)

    def value(name: str) -> Expression:
        letter, _, index = name.rstrip("]").partition("[")
        if name in ("old", "unknown"):
            return old if name == "old" else UNKNOWN
        if name in _MASKS:
            return expression(_MASKS[name](before))
        if letter not in bound:
            return Constant(0)
        text, at = bound[letter], form.operands.index(letter) - targets
        if index or letter == "p":
            names = registers(text)
            if len(names) != 2 and (index or number(text) is None):
                raise CannotReadError(f"has the operand {text}, which is not known")
            return before.scalar(names[int(index or 0)] if names else text)
        if letter == "k":
            return expression(before.lanes(text))
        return _source(text, at, parts, before)

    return value


def branches(it: Instruction, before: State) -> tuple[str, Condition] | None:
    """Where a branch goes, and when; None if it is no branch."""
    form = SET.form(it.mnemonic, it.operands)
    if form is None or form.target is None or form.branch is None:
        return None
    taken = condition_of(form.branch.value(operand_of(form, it.operands, before), FUNCTIONS))
    return form.bound(it.operands)[form.target], taken


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
        "s_mov_b64",
        "v_mov_b64",
        "v_readfirstlane_b32",
    ):
        target, source = _all(operands, 2)
        to = _targets(target)
        known = bits(source, 32 * len(to))
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


def _by_table(it: Instruction, mnemonic: str, before: State) -> Mapping[str, Value] | None:
    """What instructions do that say in a table what they make of bits."""
    tables = [match for each in it.modifiers if (match := _TABLE.fullmatch(each))]
    if mnemonic not in ("v_bitop2_b32", "v_bitop3_b32") or len(tables) != len(it.modifiers):
        return None
    target, *sources = (*_all(it.operands, 3, 4), "0")[:4]
    values = map(before.scalar, sources)
    return {_single(target): by_table(int(tables[0][1], 0), *values)}


def _any_lane(register: str, before: State) -> Condition:
    """Whether a mask has any lane: that of the work-item, as there is no other."""
    if before.others(register):
        raise CannotReadError("asks for lanes that are of no work-item")
    return before.lanes(register)


def _carried(before: State) -> Condition:
    value = before.value("scc")
    if not isinstance(value, Lanes):
        raise CannotReadError("asks for a carry, which is not known")
    return _any_lane("scc", before)


_MASKS: Mapping[str, Callable[[State], Condition]] = {
    "exec": lambda before: before.active,
    "vcc": lambda before: _any_lane("vcc_lo", before),
    "scc": _carried,
}
"""What the masks that formulas name are where they decide a branch."""


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
