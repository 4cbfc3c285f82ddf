"""What AMD's instructions write to registers: numbers, masks, and where branches go.

What they calculate is in the file of the set (isa/sets/amdgpu.isa); what their operands are, and
what becomes of registers, is here. What is not in the file cannot be read.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping

from rspverify.compilers.registers import (
    Lanes,
    State,
    Value,
    bits,
    half_of,
    mask,
    merged,
    number,
    registers,
)
from rspverify.isa.addresses import CannotReadError
from rspverify.isa.conditions import Condition, both, choice, condition_of, either, negated
from rspverify.isa.conditions import expression as number_of
from rspverify.isa.execution import UNKNOWN
from rspverify.isa.formula import Formula, Operators
from rspverify.isa.instruction_set import Form, instruction_set
from rspverify.isa.lines import Instruction
from rspverify.records import replace
from rspverify.value import Constant, Expression, binary, unary, wrap

SET = instruction_set("amdgpu")

_BITS = 32
_HAZARDS = re.compile(r"depctr_(?:sa_sdst|va_vdst|va_sdst|va_ssrc|va_vcc|hold_cnt)\(\d+\)")
_OTHER_HAZARDS = 0x7C
"""What s_wait_alu may wait for: results of calculations, and no access of memory. As a number of 16
bits, in which a bit that is 1 waits for nothing, the others are 1."""

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
    form = SET.form(spelled(it), it.operands)
    if _waits_for_results(it) or (form is not None and "nothing" in form.words):
        return {}
    if form is None and any(other.sets for other in SET.forms(spelled(it))):
        raise CannotReadError(f"has {len(it.operands)} operands")
    if form is None or not (form.sets or "move" in form.words):
        return None
    by_table = any("t" in formula.names for _, formula in form.sets)
    for each in it.modifiers:
        if not (_PARTS.fullmatch(each) or (by_table and _TABLE.fullmatch(each))):
            raise CannotReadError(f"has {each}, which is not known")
    operands = _Operands(form, it, before)
    if "move" in form.words and not operands.parts:
        return _moved(*operands.bound.values(), before=before)
    found: dict[str, Value] = {}
    for letter, formula in form.sets:
        value = operands.results[letter] = operands.value(formula)
        found |= operands.assigned(letter, value)
    return found


def branches(it: Instruction, before: State) -> tuple[str, Condition] | None:
    """Where a branch goes, and when; None if it is no branch."""
    form = SET.form(it.mnemonic, it.operands)
    if form is None or form.target is None or form.branch is None:
        return None
    # It asks whether there is any lane: that of the work-item, as there is no other.
    if "vcc" in form.branch.names and before.others("vcc_lo"):
        raise CannotReadError("asks for lanes that are of no work-item")
    operands = _Operands(form, it, before)
    return operands.bound[form.target], _holds(operands.value(form.branch))


def stored(
    form: Form, it: Instruction, before: State, old: Expression
) -> tuple[Expression, Expression | None]:
    """What an access writes, and where a compare-exchange succeeds. old: what it has read."""
    assert form.written is not None
    operands = _Operands(form, it, before, old)
    value, condition = _number(operands.value(form.written)), form.written.condition
    return value, None if condition is None else _number(operands.value(condition))


class _Operands:
    """What the operands of an instruction are, by the letters that its formulas have for them."""

    def __init__(
        self, form: Form, it: Instruction, before: State, old: Expression = UNKNOWN
    ) -> None:
        self._form, self._before, self._old = form, before, old
        self.bound = form.bound(it.operands)
        self.parts = [each for each in it.modifiers if _PARTS.fullmatch(each)]
        self._table = next(filter(None, map(_TABLE.fullmatch, it.modifiers)), None)
        self._targets = sum(letter in self.bound for letter, _ in form.sets)
        self.results: dict[str, Value] = {}

    def value(self, formula: Formula) -> Value:
        """What a formula says."""
        return formula.value(self.operand, _FUNCTIONS, _OPERATORS)  # type: ignore[no-any-return]

    def operand(self, name: str) -> Value:
        """What a name in a formula is; a mask that is not there has no lane."""
        letter, _, index = name.rstrip("]").partition("[")
        before = self._before
        match letter:
            case _ if name in self.results:
                return self.results[name]
            case "old" | "unknown":
                return self._old if letter == "old" else UNKNOWN
            case "exec":
                return Lanes(before.active)
            case "vcc":
                return Lanes(before.lanes("vcc_lo"))
            case "scc":
                return _carry(before)
            case "t":
                if self._table is None:
                    raise CannotReadError("has no table of bits")
                return Constant(int(self._table[1], 0))
            case _ if letter not in self.bound:
                return Constant(0)
        text = self.bound[letter]
        if index or letter == "p":
            names = registers(text)
            if len(names) != 2 and (index or number(text) is None):
                raise CannotReadError(f"has the operand {text}, which is not known")
            return before.scalar(names[int(index or 0)] if names else text)
        if letter == "k":
            return number_of(before.lanes(text))
        masks = letter in "efg" and self._form.mnemonic.endswith("64")
        if masks or (letter in "efg" and before.is_mask(text)):
            return Lanes(before.lanes(text), 0, before.others(text))
        if letter in "yz" and not self.parts and len(registers(text)) == 1:
            return before.value(text)
        return self._source(text, self._form.operands.index(letter) - self._targets)

    def _source(self, text: str, at: int) -> Expression:
        """The part of an operand that is taken; `sext(v5)` is taken as signed."""
        signed = _SIGNED.fullmatch(text)
        value = self._before.scalar(signed[1] if signed else text)
        for first, size in self._part(f"src{at}"):
            function = SET.functions["signed" if signed else "low"]
            return function(SET.functions["shr"](value, first), size)  # type: ignore[no-any-return]
        return value

    def _part(self, operand: str) -> Iterable[tuple[Constant, Constant]]:
        """The first bit and the number of those that are taken as `src0`, or given as `dst`."""
        for match in map(_PARTS.fullmatch, self.parts):
            if match is not None and match[1] == operand and match[2] is not None:
                size = _PART_BITS[match[2]]
                yield Constant(size * int(match[3])), Constant(size)

    def assigned(self, letter: str, value: Value) -> Mapping[str, Value]:
        """What registers become where an operand is given a value, by the kind of its letter."""
        operand, before = self.bound.get(letter, letter), self._before
        if letter == "h":
            if (name := half_of(operand)) is None:
                raise CannotReadError(f"has the operand {operand}, which is not half of a register")
            return {name: SET.functions["signed"](value, Constant(16))}
        if letter == "w":
            low, high = _targets(operand)
            return {low: value, high: UNKNOWN}
        if value == UNKNOWN:
            return dict.fromkeys(registers(operand), UNKNOWN)
        if letter == "d":
            for first, size in self._part("dst"):
                value = binary("<<", SET.functions["low"](value, size), first)
            return {_single(operand): value}
        if letter == "e" and not isinstance(value, Lanes):
            return {_single(operand): value}
        if letter == "scc":
            return {"scc": value if isinstance(value, Lanes) else Lanes(_holds(value))}
        own = isinstance(value, Lanes)
        holds = _holds(value) if own else both(before.active, _holds(value))
        others = isinstance(value, Lanes) and value.others
        if letter == "exec":
            old = {name: before.values.get(name) for name in registers("exec")}
            return {
                name: replace(it, condition=holds, others=others)
                for name, it in old.items()
                if isinstance(it, Lanes)
            }
        if operand in (letter, "null"):  # It has no operand for it, or throws it away.
            return {}
        return {name: Lanes(holds, at, others) for at, name in enumerate(_targets(operand))}


# ---- operators and functions ---------------------------------------------------------------------


def _inverted(operator: str, value: Value) -> Value:
    if isinstance(value, Lanes):
        return Lanes(negated(value.condition), 0, others=True)
    return unary(operator, _number(value))


def _together(operator: str, one: Value, other: Value) -> Value:
    if not (isinstance(one, Lanes) or isinstance(other, Lanes)):
        return binary(operator, _number(one), _number(other))
    first, second = mask(one), mask(other)
    holds, beside = first.condition, second.condition
    if operator == "&":
        return Lanes(both(holds, beside), 0, first.others and second.others)
    others = first.others or second.others
    if operator == "|":
        return Lanes(either(holds, beside), 0, others)
    return Lanes(choice(holds, negated(beside), beside), 0, others)


def _chosen(condition: Value, then: Value, otherwise: Value) -> Value:
    return merged(_holds(condition), then, otherwise)


_OPERATORS = Operators(_inverted, _together, _chosen)


def _holds(value: Value) -> Condition:
    return value.condition if isinstance(value, Lanes) else condition_of(_number(value))


def _number(value: Value) -> Expression:
    assert isinstance(value, Expression)
    return value


def _known(value: Expression) -> int:
    if not isinstance(value, Constant):
        raise CannotReadError("calculates with a number that is not known")
    return value.value


def _high(both: Expression) -> Expression:
    """How many bits a scalar field has: its operand tells from bit 16 on."""
    count: Expression = SET.functions["low"](binary(">>", both, Constant(16)), Constant(7))
    if _known(count) >= _BITS:
        raise CannotReadError("takes more bits than a register has")
    return count


def _backwards(value: Expression) -> Expression:
    return Constant(wrap(int(f"{_known(value) % (1 << _BITS):0{_BITS}b}"[::-1], 2)))


def _by_table(table: Expression, *of: Expression) -> Expression:
    """What a table of eight bits says of each three bits; its highest is for three ones."""
    found: Expression = Constant(0)
    for at in range(8):
        term: Expression = Constant(-1 if _known(table) >> at & 1 else 0)
        for it, bit in zip(of, (4, 2, 1), strict=True):
            term = _joined("&", term, it if at & bit else unary("~", it))
        found = _joined("|", found, term)
    return found


def _joined(operator: str, one: Expression, other: Expression) -> Expression:
    """`&` or `|` of two values, without what makes no difference."""
    nothing, all_ = (Constant(-1), Constant(0)) if operator == "&" else (Constant(0), Constant(-1))
    if all_ in (one, other):
        return all_
    if nothing in (one, other):
        return other if one == nothing else one
    return binary(operator, one, other)


_FUNCTIONS: Mapping[str, Callable[..., Expression]] = {
    **SET.functions,
    "high": _high,
    "backwards": _backwards,
    "by_table": _by_table,
}


# ---- registers -----------------------------------------------------------------------------------


def _waits_for_results(it: Instruction) -> bool:
    words = [*it.operands, *it.modifiers]
    if it.mnemonic not in ("s_wait_alu", "s_waitcnt_depctr") or not words:
        return False
    if (number := bits(words[0], _BITS)) is not None:
        return number & _OTHER_HAZARDS == _OTHER_HAZARDS
    return all(map(_HAZARDS.fullmatch, words))


def _moved(target: str, source: str, *, before: State) -> Mapping[str, Value]:
    """One register or two, of any kind."""
    to = _targets(target)
    if (known := bits(source, _BITS * len(to))) is not None:
        return {name: Constant(wrap(known >> _BITS * at)) for at, name in enumerate(to)}
    sources = registers(source)
    if len(sources) != len(to):
        raise CannotReadError(f"has the operand {source}, which is not known")
    return {name: before.value(each) for name, each in zip(to, sources, strict=True)}


def _carry(before: State) -> Lanes:
    value = before.value("scc")
    if not isinstance(value, Lanes):
        raise CannotReadError("asks for a carry, which is not known")
    if value.others:
        raise CannotReadError("asks for lanes that are of no work-item")
    return value


def _targets(operand: str) -> tuple[str, ...]:
    names = registers(operand)
    if not names or len(names) > 2:
        raise CannotReadError(f"has the operand {operand}, which is not known")
    return names


def _single(operand: str) -> str:
    names = _targets(operand)
    if len(names) != 1:
        raise CannotReadError(f"has the operand {operand}, which is not known")
    return names[0]
