"""What conditions hold behind an instruction, held to flags that are calculated bit by bit.

The flags and what conditions make of them are those of the manuals: Arm ARM, AddWithCarry and
ConditionHolds; Intel, Software Developer's Manual, vol. 1, app. B.
"""

import re
from itertools import product
from typing import NamedTuple

import pytest

from rspverify.isa.by_table import TableExecutor
from rspverify.isa.instruction_set import instruction_set
from rspverify.isa.lines import Instruction
from rspverify.source import InputError, Source, Span
from rspverify.value import Read, evaluate

ALL = (1 << 32) - 1
VALUES = (0, 1, 2, 5, 6, -1, -2, -5, 2**31 - 1, -(2**31))


class Flags(NamedTuple):
    negative: bool
    zero: bool
    carry: bool
    overflow: bool


def added(a: int, b: int, carry: int) -> Flags:
    """AddWithCarry of the Arm ARM."""
    total = (a & ALL) + (b & ALL) + carry
    result = total & ALL
    signed = a + (b if not carry else ~(~b)) + carry
    number = result - (1 << 32) if result >> 31 else result
    return Flags(bool(result >> 31), result == 0, total > ALL, number != signed)


def compared(a: int, b: int) -> Flags:
    return added(a, ~b, 1)


def logical(result: int) -> Flags:
    return Flags(result < 0, result == 0, False, False)


ARM = {
    "EQ": lambda it: it.zero,
    "NE": lambda it: not it.zero,
    "HS": lambda it: it.carry,
    "CS": lambda it: it.carry,
    "LO": lambda it: not it.carry,
    "CC": lambda it: not it.carry,
    "MI": lambda it: it.negative,
    "PL": lambda it: not it.negative,
    "HI": lambda it: it.carry and not it.zero,
    "LS": lambda it: not it.carry or it.zero,
    "GE": lambda it: it.negative == it.overflow,
    "LT": lambda it: it.negative != it.overflow,
    "GT": lambda it: not it.zero and it.negative == it.overflow,
    "LE": lambda it: it.zero or it.negative != it.overflow,
}
X86 = {
    "E": lambda it: it.zero,
    "NE": lambda it: not it.zero,
    "AE": lambda it: not it.carry,
    "B": lambda it: it.carry,
    "A": lambda it: not it.carry and not it.zero,
    "BE": lambda it: it.carry or it.zero,
    "S": lambda it: it.negative,
    "NS": lambda it: not it.negative,
    "GE": lambda it: it.negative == it.overflow,
    "L": lambda it: it.negative != it.overflow,
    "G": lambda it: not it.zero and it.negative == it.overflow,
    "LE": lambda it: it.zero or it.negative != it.overflow,
}


def borrowed(it: Flags) -> Flags:
    """Of x86, whose carry of a subtraction is the opposite of Arm's."""
    return it._replace(carry=not it.carry)


def given(bits: int) -> Flags:
    return Flags(*(bool(bits & each) for each in (8, 4, 2, 1)))


AARCH64 = {
    "CMP W1,W2": compared,
    "SUBS W3,W1,W2": compared,
    "CMP W1,5": lambda a, _: compared(a, 5),
    "CMN W1,5": lambda a, _: added(a, 5, 0),
    "CMN W1,0": lambda a, _: added(a, 0, 0),
    "ADDS W3,W1,5": lambda a, _: added(a, 5, 0),
    "TST W1,W2": lambda a, b: logical(a & b),
    "ANDS W3,W1,W2": lambda a, b: logical(a & b),
    "BICS W3,W1,W2": lambda a, b: logical(a & ~b),
    **{
        f"CMP W2,1; CCMP W1,W2,{bits},{word}": (
            lambda a, b, bits=bits, holds=holds: (
                compared(a, b) if holds(compared(b, 1)) else given(bits)
            )
        )
        for bits in (0, 2, 4, 8)
        for word, holds in ARM.items()
    },
    **{
        f"CMP W2,1; CCMN W1,{n},{bits},GT": (
            lambda a, b, bits=bits, n=n: added(a, n, 0) if b > 1 else given(bits)
        )
        for bits in (0, 2, 4, 8)
        for n in (0, 3)
    },
}
A32 = {
    "CMP R1,R2": compared,
    "SUBS R3,R1,R2": compared,
    "RSBS R3,R1,R2": lambda a, b: compared(b, a),
    "CMN R1,5": lambda a, _: added(a, 5, 0),
    "CMN R1,0": lambda a, _: added(a, 0, 0),
    "CMP R1,R2; CMPNE R1,1": lambda a, b: compared(a, 1) if a != b else compared(a, b),
}
A32_LOGICAL = {
    "TST R1,R2": lambda a, b: logical(a & b),
    "ORRS R3,R1,R2": lambda a, b: logical(a | b),
    "MOVS R3,R1": lambda a, _: logical(a),
    "TEQ R1,R2": lambda a, b: logical(a ^ b),
}
INTEL = {
    "CMP EAX,EBX": lambda a, b: borrowed(compared(a, b)),
    "SUB EAX,EBX": lambda a, b: borrowed(compared(a, b)),
    "TEST EAX,EBX": lambda a, b: logical(a & b),
    "AND EAX,EBX": lambda a, b: logical(a & b),
    "NEG EBX": lambda _, b: borrowed(compared(0, b)),
}
INTEL_SUMS = {
    "ADD EAX,5": lambda a, _: added(a, 5, 0),
    "INC EAX": lambda a, _: added(a, 1, 0),
    "DEC EAX": lambda a, _: compared(a, 1),
}
UNSIGNED = {"A", "AE", "B", "BE", "HI", "HS", "CS", "LO", "CC", "LS"}
SETS = {
    "aarch64": (r"W\d", ("W1", "W2"), "CSET W9,{}", "W9"),
    "arm": (r"R\d", ("R1", "R2"), "MOV R9,0; MOV{} R9,1", "R9"),
    "x86": (r"E[A-D]X", ("EAX", "EBX"), "SET{} EDX", "EDX"),
}


def held(name: str, lines: str, condition: str) -> TableExecutor:
    """Whether a condition holds behind lines; their operands are the reads 0 and 1."""
    registers, (one, other), asks, _ = SETS[name]
    executor = TableExecutor(
        instruction_set(name), re.compile(registers), {}, {one: Read(0), other: Read(1)}
    )
    code = f"{lines}; {asks.format(condition)}".split("; ")
    source = Source("t", "\n".join(code))
    executor.follow(
        Instruction(word, tuple(rest.split(",")), (), Span(source, number, 1, number, 2))
        for number, (word, _, rest) in enumerate((it.partition(" ") for it in code), start=1)
    )
    executor.require()
    return executor


@pytest.mark.parametrize(
    ("name", "conditions", "unknown", "lines", "flags"),
    [
        *(("aarch64", ARM, (), *each) for each in AARCH64.items()),
        *(("arm", ARM, (), *each) for each in A32.items()),
        *(("x86", X86, (), *each) for each in INTEL.items()),
        *(("arm", ARM, UNSIGNED, *each) for each in A32_LOGICAL.items()),
        *(("x86", X86, UNSIGNED, *each) for each in INTEL_SUMS.items()),
    ],
)
def test_conditions_are_those_of_the_flags(name, conditions, unknown, lines, flags) -> None:
    """What a carry decides is not read where the carry is not known."""
    for word, holds in conditions.items():
        if word in unknown:
            with pytest.raises(InputError, match="is not known"):
                held(name, lines, word)
            continue
        executor = held(name, lines, word)
        assert executor.state is not None
        found = executor.state.values[SETS[name][3]]
        for a, b in product(VALUES, VALUES):
            wanted = holds(flags(a, b))
            assert bool(evaluate(found, {0: a, 1: b})) == wanted, (word, a, b)


@pytest.mark.parametrize(
    ("name", "conditions", "lines"),
    [
        ("x86", X86, "ADD EAX,-2147483648"),
        ("x86", X86, "ADD EAX,0x80000000"),
        ("arm", ARM, "CMN R1,0x80000000"),
    ],
)
def test_a_sum_with_the_least_number_is_read_as_no_comparison(name, conditions, lines) -> None:
    """It has no opposite: a negative number and it overflow, and no difference does so."""
    for word in conditions:
        with pytest.raises(InputError, match="is not known"):
            held(name, lines, word)
