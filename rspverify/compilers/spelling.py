"""What compilers write for processors, in the spelling of the dialects that tests are in.

Each function takes an instruction apart as it was emitted, and gives those of the dialect.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence

from rspverify.isa.lines import Instruction, Label, Line
from rspverify.records import replace

Spelled = Callable[[Instruction], Iterable[Line]]
"""An instruction as it was emitted, to those of the dialect."""

_NUMBERED = re.compile(r"(\d+)([bf])")
_TO_THE_NEXT = re.compile(r"[.$]\+4")
_SIZE = re.compile(r"(?:byte|dword|qword) ptr ", re.IGNORECASE)
_BYTE = re.compile(r"byte ptr ", re.IGNORECASE)
_QWORD = re.compile(r"qword ptr ", re.IGNORECASE)
_BEFORE_BASE = re.compile(r"(-?\d+)\[([^\]]*)\]")
_WHOLE = re.compile(r"R(?:[ABCD]X|[SD]I|[BS]P|[89]|1[0-5])")
_STACK = re.compile(r"\[RSP[^\]]*\]")
_SIGNED = r"(?<!setp\.[lg][te])(?<!shr)(?<!min)(?<!max)"
"""Behind these a type tells: without a sign numbers are compared and shifted otherwise."""
_TYPES = re.compile(rf"{_SIGNED}\.[ub](?:32|64)$|\.[sf](?:32|64)$|(?<!not)\.pred$|\.uni$|\.to$")
_ORDERS_OF_PTX = ("relaxed", "acquire", "release", "acq_rel")
_SCOPES_OF_PTX = ("cta", "gpu", "sys")
_FUNCTION = re.compile(r"^\.visible \.func ([\w.]+)\([^)]*\)\s*(?://.*\n)?\{", re.MULTILINE)
_PREDICATED = re.compile(r"@(!?)(%p\d+) bra")
_OPPOSITE = {"eq": "ne", "ne": "eq", "lt": "ge", "ge": "lt", "gt": "le", "le": "gt"}
_WRITES = ("ADD", "SUB", "AND", "OR", "XOR", "INC", "DEC", "NEG", "NOT", "SHL", "SAR", "SHR")
_ACCESSES = ("MOV", "XCHG", "LEA")
_PAIRS = {"STP": "STR", "LDP": "LDR", "STRD": "STR", "LDRD": "LDR"}
_SHIFTED = re.compile(r"^([la]s[lr]) #?", re.IGNORECASE)
_ON_STACK = re.compile(r"\[(SP)(?:,(-?\d+))?\](!?)")
_BIT = re.compile(r"(?:4\*cr([0-7])\+)?(lt|gt|eq)")
_OF_BITS = {"crxor": "crclr", "creqv": "crset"}
_IMM = re.compile(r"-?(?:0x)?[0-9a-fA-F]+")
_ASIDE = "%aside"
"""The register of what an instruction of x86 calculates with memory."""


def lines_of(emitted: Sequence[Line], spelled: Spelled) -> Iterator[Line]:
    """The lines of a function in the spelling of its dialect.

    A branch over nothing, `bne- cr7, .+4`, has a label behind it; a label that is a number is of
    the place before, `1b`, or behind, `1f`.
    """
    passed: dict[str, int] = {}

    def named(number: str, later: int) -> str:
        return f".Lnumber{number}.{passed.get(number, 0) + later}"

    for at, it in enumerate(emitted):
        if isinstance(it, Label) and it.name.isdigit():
            passed[it.name] = passed.get(it.name, 0) + 1
            yield replace(it, name=named(it.name, 0))
            continue
        if not isinstance(it, Instruction):
            yield it
            continue
        following, operands = f".Lfollowing{at}", list(it.operands)
        for place, operand in enumerate(operands):
            if _TO_THE_NEXT.fullmatch(operand):
                operands[place] = following
            elif numbered := _NUMBERED.fullmatch(operand):
                operands[place] = named(numbered[1], int(numbered[2] == "f"))
        yield from spelled(replace(it, operands=tuple(operands)))
        if following in operands:
            yield Label(following, it.span)


def arm(it: Instruction) -> Iterable[Line]:
    """A32 and A64: in capitals, but for labels, numbers without a sign before them."""
    parts = (part for each in it.operands for part in _SHIFTED.split(each) if part)
    operands = [_plain(each, _in_capitals) for each in parts]
    mnemonic = it.mnemonic.upper()
    made = replace(it, mnemonic=mnemonic, operands=tuple(operands))
    if mnemonic in _PAIRS and (place := _ON_STACK.fullmatch(operands[2])):
        yield from _pair(made, place)
        return
    if mnemonic in ("PUSH", "POP") or operands[:2] == ["PC", "[SP]"]:
        yield from _on_stack(made)
        return
    if (returns := re.fullmatch(r"BX(EQ|NE|LT|GT|LE|GE)", mnemonic)) is None:
        yield made
    else:
        opposite = f"B{_OPPOSITE[returns[1].lower()].upper()}"
        yield from _unless(made, opposite, (), replace(made, mnemonic="BX"))


def _pair(it: Instruction, place: re.Match[str]) -> Iterator[Instruction]:
    """Two accesses of the stack that are one instruction, with what becomes of its pointer."""
    mnemonic, (one, other, _, *behind) = _PAIRS[it.mnemonic], it.operands
    first, size = int(place[2] or 0), 8 if one[0] == "X" else 4
    stack = place[1]
    if place[3]:
        yield _made(it, "ADD", stack, stack, str(first))
        first = 0
    yield _made(it, mnemonic, one, f"[{stack},{first}]")
    yield _made(it, mnemonic, other, f"[{stack},{first + size}]")
    if behind:
        yield _made(it, "ADD", stack, stack, *behind)


def _on_stack(it: Instruction) -> Iterator[Instruction]:
    """`PUSH {R4,LR}` stores registers, `POP {R4,PC}` loads them, and returns; so does a load."""
    names = it.operands[0].strip("{}").split(",")
    size = str(4 * len(names))
    if it.mnemonic == "PUSH":
        yield _made(it, "SUB", "SP", "SP", size)
    for at, name in enumerate(names):
        if name != "PC":
            does = "STR" if it.mnemonic == "PUSH" else "LDR"
            yield _made(it, does, name, f"[SP,{4 * at}]")
    if it.mnemonic != "PUSH":
        yield _made(it, "ADD", "SP", "SP", size)
    if "PC" in names:
        yield _made(it, "BX", "LR")


def _made(it: Instruction, mnemonic: str, *operands: str) -> Instruction:
    """A part of an instruction."""
    return replace(it, mnemonic=mnemonic, operands=operands)


def riscv(it: Instruction) -> Iterable[Instruction]:
    """RISC-V: `(a0)` is `0(a0)`; of a fence, without devices."""
    operands = [_plain(each) for each in it.operands]
    if it.mnemonic == "fence":
        operands = [re.sub("[io]", "", each) for each in operands]
    operands = [f"0{each}" if each[:1] == "(" else each for each in operands]
    yield replace(it, operands=tuple(operands))


def power(it: Instruction) -> Iterable[Line]:
    """Power: without a hint which way a branch goes, and without the sign of registers.

    A return on a condition, `beqlr cr0`, is a branch over one.
    """
    operands = tuple(_plain(each).removeprefix("%") for each in it.operands)
    mnemonic = it.mnemonic.rstrip("+-") if it.mnemonic[0] == "b" else it.mnemonic
    operands = tuple(each.replace("(%", "(") for each in operands)
    operands = tuple(
        _BIT.sub(lambda bit: f"{bit[2]}_cr{bit[1] or 0}", each) if _BIT.fullmatch(each) else each
        for each in operands
    )
    if mnemonic == "cmpd" and operands[-1] == operands[-2]:
        mnemonic = "cmpw"  # What is compared with itself is of any size.
    if mnemonic in _OF_BITS and len({*operands}) == 1:
        mnemonic, operands = _OF_BITS[mnemonic], operands[:1]
    returns = re.fullmatch(r"b(eq|ne|lt|gt|le|ge)lr", mnemonic)
    if returns is None:
        yield replace(it, mnemonic=mnemonic, operands=operands)
        return
    ends = replace(it, mnemonic="blr", operands=())
    yield from _unless(it, f"b{_OPPOSITE[returns[1]]}", operands, ends)


def x86(it: Instruction) -> Iterable[Instruction]:
    """x86 as Intel writes it; what calculates with memory and does not lock it is taken apart.

    What locks the thread's own stack is a fence.
    """
    mnemonic, given = it.mnemonic.upper(), list(it.operands)
    if mnemonic == "LOCK" and given:
        word, _, first = given[0].partition(" ")
        mnemonic, given[0] = f"LOCK {word.upper()}", first
    operands = [_memory(_plain(_SIZE.sub("", each), _in_capitals)) for each in given]
    operands = [_signed(each) for each in operands]
    move = "MOVB" if any(map(_BYTE.match, given)) else "MOV"
    if mnemonic.startswith("LOCK") and operands and _STACK.fullmatch(operands[0]):
        mnemonic, operands = "MFENCE", []
    if mnemonic in ("PUSH", "POP", "LEAVE"):
        yield from _of_frame(it, mnemonic, operands)
        return
    made = replace(it, mnemonic=mnemonic, operands=tuple(operands))
    whole = any(map(_WHOLE.fullmatch, operands))
    if any(map(_QWORD.match, given)) and not whole and mnemonic != "MFENCE":
        yield replace(made, mnemonic=f"{mnemonic} of 64 bits")
        return
    if whole and mnemonic not in ("MOV", "LEA", "MOVSXD"):
        minus = mnemonic == "SUB" and _IMM.fullmatch(operands[1])
        if mnemonic != "ADD" and not minus:  # Nothing of 64 bits is compared, or shifted.
            yield replace(made, mnemonic=f"{mnemonic} of 64 bits")
            return
        register, by = operands
        sign = "-" if minus else "+"
        mnemonic = "LEA"
        operands = [register, _signed(f"[{register}{sign}{by}]")]
        made = replace(it, mnemonic=mnemonic, operands=tuple(operands))
    places = [at for at, each in enumerate(operands) if each.startswith("[")]
    if mnemonic == "LEA" and len(operands) == 2:
        yield replace(made, operands=(operands[0], operands[1].strip("[]")))
    elif mnemonic in ("XOR", "SUB") and operands[0] == operands[1]:
        yield replace(it, mnemonic="MOV", operands=(operands[0], "0"))
        yield replace(it, mnemonic="TEST", operands=tuple(operands))
    elif not places or mnemonic.startswith("LOCK") or mnemonic in _ACCESSES:
        yield made if mnemonic != "MOV" else replace(made, mnemonic=move)
    else:
        aside = [_ASIDE if at in places else each for at, each in enumerate(operands)]
        if not mnemonic.startswith("SET"):
            yield _made(it, move, _ASIDE, operands[places[0]])
        yield replace(made, operands=tuple(aside))
        if places == [0] and (mnemonic in _WRITES or mnemonic.startswith("SET")):
            yield _made(it, move, operands[0], _ASIDE)


def _of_frame(it: Instruction, mnemonic: str, operands: Sequence[str]) -> Iterator[Instruction]:
    """What stores and loads registers on top of the stack of x86."""
    (register,) = operands or ("RBP",)
    if mnemonic == "PUSH":
        yield _made(it, "LEA", "RSP", "RSP-8")
        yield _made(it, "MOV", "[RSP]", register)
        return
    if mnemonic == "LEAVE":
        yield _made(it, "MOV", "RSP", "RBP")
    yield _made(it, "MOV", register, "[RSP]")
    yield _made(it, "LEA", "RSP", "RSP+8")


def _signed(sum_: str) -> str:
    """A sum in which no sign stands before another."""
    return sum_.replace("+-", "-").replace("--", "+")


def ptx(it: Instruction) -> Iterable[Line]:
    """PTX without types, but where they tell. What an atomic leaves open is relaxed, of the device.

    `@%p bra L` goes there where a predicate holds, `@!%p bra L` where it does not.
    """
    mnemonic = _TYPES.sub("", it.mnemonic)
    operands = tuple(_plain(each).strip("[]") for each in it.operands)
    if mnemonic.startswith(("atom", "red")):
        name, *words = mnemonic.split(".")
        words = words if words[0] in _ORDERS_OF_PTX else ["relaxed", *words]
        words = words if words[1] in _SCOPES_OF_PTX else [words[0], "gpu", *words[1:]]
        mnemonic = ".".join((name, *words))
    if mnemonic == "ld.param":
        mnemonic, operands = "mov", (operands[0], "%block")
    if branch := _PREDICATED.fullmatch(mnemonic):
        mnemonic, operands = f"b{'eq' if branch[1] else 'ne'}", (branch[2], "0", *operands)
    yield replace(it, mnemonic=mnemonic, operands=operands)


def laid_out(ptx: str) -> str:
    """PTX as other assembly is laid out: a function is a label, and a label ends it."""
    return re.sub(r"^\}$", ".Lfunc_end:", _FUNCTION.sub(r"\1:", ptx), flags=re.MULTILINE)


def _unless(
    it: Instruction, branch: str, operands: Sequence[str], done: Instruction
) -> Iterator[Line]:
    """An instruction that is done unless a branch goes over it."""
    beyond = f".Lgoes.on.{it.span.line}"
    yield replace(it, mnemonic=branch, operands=(*operands, beyond))
    yield done
    yield Label(beyond, it.span)


def _plain(operand: str, spelled: Callable[[str], str] = str) -> str:
    """An operand without spaces, and signs before numbers; a label as it is."""
    if operand.startswith("."):
        return operand
    return spelled(re.sub(r"#(?=-?\d)", "", operand.replace(" ", "")))


def _in_capitals(operand: str) -> str:
    """In capitals, but for the sign of a number to the base of 16."""
    return re.sub(r"\b0X", "0x", operand.upper())


def _memory(operand: str) -> str:
    """`64[RDI]` as `[RDI+64]`."""
    before = _BEFORE_BASE.fullmatch(operand)
    return operand if before is None else f"[{before[2]}+{before[1]}]"
