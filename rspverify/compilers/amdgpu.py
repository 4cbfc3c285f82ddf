"""What AMD's instructions are called in rows of schemes: LLVM's mnemonics and modifiers."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from enum import Enum

from msgspec import Struct

from rspverify.compilers.arithmetic import SET, spelled
from rspverify.isa.instruction_set import Form
from rspverify.isa.lines import Instruction
from rspverify.source import InputError, Problem


class Does(Enum):
    """What an instruction does for a program; nothing if it only waits or orders."""

    LOAD = "loads"
    STORE = "stores"
    RMW = "reads and writes"
    CAS = "compares and exchanges"
    NOTHING = "accesses nothing"


_IN_ROWS = {Does.LOAD: "r x", Does.STORE: "x r", Does.RMW: "r x", Does.CAS: "r x"}
"""The operands of an access as rows have them."""


class Named(Struct, frozen=True):
    """An instruction as a row has it: `global_load_dword r x sc1`. form: None of a wait."""

    name: str
    does: Does
    origin: Instruction
    form: Form | None = None

    def __str__(self) -> str:
        return self.name


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
        form = SET.form(spelled(each), each.operands)
        if form is not None and form.words & {"nothing", "move"}:
            continue
        found = [Named(str(it), Does.NOTHING, each) for it in waits_of(each)]
        if form is not None and (form.address is not None or "fence" in form.words):
            does = done_by(form)
            words = (form.name, _IN_ROWS.get(does, ""), *each.modifiers)
            found = [Named(" ".join(filter(None, words)), does, each, form)]
        if not found:
            message = f"an instruction must be one that is known in rows, not {each.mnemonic}"
            problems.append(Problem(each.span, message))
        code += found
    if problems:
        raise InputError(problems)
    return tuple(code)


def done_by(form: Form) -> Does:
    """What an instruction does for a program."""
    if form.written is None:
        return Does.LOAD if form.reads else Does.NOTHING
    if form.written.condition is not None:
        return Does.CAS
    return Does.RMW if form.reads else Does.STORE


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
