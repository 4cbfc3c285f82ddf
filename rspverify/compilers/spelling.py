"""What compilers write for processors, in the spelling of the dialects that tests are in.

Each function takes an instruction apart as it was emitted, and gives those of the dialect.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence

from rspverify.isa.lines import Instruction, Label, Line
from rspverify.records import replace

Spelled = Callable[[Instruction], Iterable[Instruction]]
"""An instruction as it was emitted, to those of the dialect."""

_TO_THE_NEXT = re.compile(r"[.$]\+4")
_SIZE = re.compile(r"(?:dword|qword) ptr ", re.IGNORECASE)
_BEFORE_BASE = re.compile(r"(-?\d+)\[([^\]]*)\]")
_STACK = re.compile(r"\[RSP[^\]]*\]")
_CALCULATES = ("ADD", "SUB", "AND", "OR", "XOR", "INC", "DEC", "NEG", "NOT")
_ASIDE = "%aside"
"""The register of what an instruction of x86 calculates with memory."""


def lines_of(emitted: Sequence[Line], spelled: Spelled) -> Iterator[Line]:
    """The lines of a function in the spelling of its dialect.

    A branch over nothing, `bne- cr7, .+4`, has a label behind it.
    """
    for number, it in enumerate(emitted):
        if not isinstance(it, Instruction):
            yield it
            continue
        following = f".Lfollowing{number}"
        operands = tuple(
            following if _TO_THE_NEXT.fullmatch(each) else each for each in it.operands
        )
        yield from spelled(replace(it, operands=operands))
        if following in operands:
            yield Label(following, it.span)


def arm(it: Instruction) -> Iterable[Instruction]:
    """A32 and A64: in capitals, but for labels, numbers without a sign before them."""
    operands = [_plain(each, str.upper) for each in it.operands]
    mnemonic = it.mnemonic.upper()
    if mnemonic == "POP" and "PC" in operands[-1]:
        mnemonic, operands = "BX", ["LR"]
    yield replace(it, mnemonic=mnemonic, operands=tuple(operands))


def riscv(it: Instruction) -> Iterable[Instruction]:
    """RISC-V: `(a0)` is `0(a0)`; of a fence, without devices."""
    operands = [_plain(each) for each in it.operands]
    if it.mnemonic == "fence":
        operands = [re.sub("[io]", "", each) for each in operands]
    operands = [f"0{each}" if each[:1] == "(" else each for each in operands]
    yield replace(it, operands=tuple(operands))


def power(it: Instruction) -> Iterable[Instruction]:
    """Power: without a hint which way a branch goes, and without the sign of registers."""
    operands = tuple(_plain(each).removeprefix("%") for each in it.operands)
    mnemonic = it.mnemonic.rstrip("+-") if it.mnemonic[0] == "b" else it.mnemonic
    operands = tuple(re.sub(r"\(%", "(", each) for each in operands)
    yield replace(it, mnemonic=mnemonic, operands=operands)


def x86(it: Instruction) -> Iterable[Instruction]:
    """x86 as Intel writes it; what calculates with memory and does not lock it is taken apart.

    What locks the thread's own stack is a fence.
    """
    mnemonic, given = it.mnemonic.upper(), list(it.operands)
    if mnemonic == "LOCK" and given:
        word, _, first = given[0].partition(" ")
        mnemonic, given[0] = f"LOCK {word.upper()}", first
    operands = [_memory(_plain(_SIZE.sub("", each), str.upper)) for each in given]
    if mnemonic.startswith("LOCK") and operands and _STACK.fullmatch(operands[0]):
        mnemonic, operands = "MFENCE", []
    made = replace(it, mnemonic=mnemonic, operands=tuple(operands))
    places = [at for at, each in enumerate(operands) if each.startswith("[")]
    if mnemonic == "LEA" and len(operands) == 2:
        yield replace(made, operands=(operands[0], operands[1].strip("[]")))
    elif not (mnemonic in _CALCULATES and places):
        yield made
    else:
        load = replace(it, mnemonic="MOV", operands=(_ASIDE, operands[places[0]]))
        aside = [_ASIDE if at in places else each for at, each in enumerate(operands)]
        yield load
        yield replace(made, operands=tuple(aside))
        if places == [0]:
            yield replace(it, mnemonic="MOV", operands=(operands[0], _ASIDE))


def _plain(operand: str, spelled: Callable[[str], str] = str) -> str:
    """An operand without spaces, and signs before numbers; a label as it is."""
    if operand.startswith("."):
        return operand
    return spelled(re.sub(r"#(?=-?\d)", "", operand.replace(" ", "")))


def _memory(operand: str) -> str:
    """`64[RDI]` as `[RDI+64]`."""
    before = _BEFORE_BASE.fullmatch(operand)
    return operand if before is None else f"[{before[2]}+{before[1]}]"
