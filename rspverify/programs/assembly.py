"""Tests whose accesses are instructions, as files in their assembly language.

An instruction is called as a table has it, behind its language: `X86: MOV r, [x]`. There r is where
its result goes, x the location, and any other letter what it is given.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache

from rspverify.isa.instruction_set import Form, instruction_set
from rspverify.litmus.assembly import kind_of
from rspverify.litmus.dialects import DIALECTS
from rspverify.litmus.program import Kind, Order, Scope
from rspverify.programs.litmus_test import ONE, Access, LitmusTest
from rspverify.records import replace
from rspverify.value import Constant

_REGISTERS = {
    "X86": ["EBX", "ECX", "EDX", "ESI", "EDI", "EBP", *(f"R{it}" for it in range(8, 16))],
    "AArch64": [f"W{it}" for it in range(30)],
    "RISCV": [f"x{it}" for it in range(5, 32)],
    "PPC": [f"r{it}" for it in range(1, 32)],
}
"""Registers that code may have, those of a thread in their order."""

_ACCUMULATOR = "EAX"
"""Where x86's compare-exchange has what it expects."""


@lru_cache
def form_of(instruction: str) -> Form | None:
    """What an instruction is that a table has, by its language and its text."""
    language, _, text = instruction.partition(": ")
    return instruction_set(DIALECTS[language].instructions).written(text)


def instruction_access(instruction: str) -> Access | None:
    """An instruction as an access of no location; None of what is no access that stands alone and
    no fence, or calculates otherwise than by adding what it is given."""
    form = form_of(instruction)
    if form is None or form.words & {"reserve", "meet"} or form.offset is not None:
        return None
    if form.address is None and "fence" not in form.words:
        return None
    access = Access(
        kind_of(form, form.address is not None),
        order=Order.RELAXED,
        scope=Scope.DV,
        register=0 if form.reads else None,
        instruction=instruction,
    )
    written = form.written
    if access.kind is not Kind.RMW or written is None:
        return None if written and "exclusive" in written.needs else access
    if written.condition is not None:
        return replace(access, operator="compare_exchange", expected=Constant(0))
    if "old" not in written.needs:
        return replace(access, operator="exchange")
    (letter,) = written.needs - {"old"} or {""}
    return replace(access, operator="+", value=ONE) if written.text == f"old + {letter}" else None


def in_assembly(test: LitmusTest) -> str:
    """The language of a test whose accesses are instructions; empty of any other."""
    return next((it.instruction.partition(": ")[0] for it in test.accesses if it.instruction), "")


def assembly_text(test: LitmusTest, title: str, *, comment: str = "") -> str:
    """The text of a test in its assembly language."""
    language = in_assembly(test)
    initial: list[str] = []
    columns = []
    for number, thread in enumerate(test.threads):
        names = iter(_REGISTERS[language])
        column = [f"P{number}"]
        for access in thread.accesses:
            lines, given = _lines(access, language, names)
            column += lines
            initial += (f"{number}:{_whole(name)}={value};" for name, value in given.items())
        columns.append(column)
    most = max(map(len, columns))
    widths = [max(map(len, column)) for column in columns]
    rows = [
        " | ".join(
            (column[at] if at < len(column) else "").ljust(width)
            for column, width in zip(columns, widths, strict=True)
        )
        for at in range(most)
    ]
    initial += (f"{it.name}=0;" for it in test.locations)
    said = f"(* {comment} *)\n" if comment else ""
    body = "".join(f" {row} ;\n" for row in rows)
    return f"{language} {title}\n{said}{{ {' '.join(initial)} }}\n{body}"


def _whole(register: str) -> str:
    return f"X{register[1:]}" if register.startswith("W") else register


def _lines(
    access: Access, language: str, names: Iterator[str]
) -> tuple[list[str], dict[str, str | int]]:
    """The lines of an access, and what registers have before."""
    form = form_of(access.instruction)
    assert form is not None
    given: dict[str, str | int] = {}
    bound: dict[str, str] = {}
    value = access.value.value if isinstance(access.value, Constant) else None
    expected = access.expected.value if isinstance(access.expected, Constant) else None
    lines = []
    if form.address is not None and access.location is not None:
        bound[form.address] = access.location
        if language != "X86":
            bound[form.address] = _whole(next(names))
            given[bound[form.address]] = access.location
    needs = form.written.needs if form.written else frozenset[str]()
    letters = re.findall(r"\b[a-z]\b", " ".join(form.operands))
    for letter in (it for it in letters if it not in bound):
        bound[letter] = next(names)
        if letter in needs:
            its = expected if letter == form.result and expected is not None else value
            given[bound[letter]] = 0 if its is None else its
        elif letter != form.result:
            bound[letter] = letter  # A word, as of a fence.
    if form.result == _ACCUMULATOR:
        lines.append(f"MOV {_ACCUMULATOR},${expected}")
    operands = (
        re.sub(r"\b[a-z]\b", lambda it: bound.get(it[0], it[0]), operand)
        for operand in form.operands
    )
    return [*lines, f"{form.mnemonic} {','.join(operands)}".strip()], given


def spelled_out(access: Access) -> str:
    """An access in a line: `MOV [x],10`, `r0=MOV [x]`, `LOCK CMPXCHG [x],10 if 0`."""
    form = form_of(access.instruction)
    assert form is not None
    needs = form.written.needs if form.written else frozenset[str]()
    known: dict[str, object] = {form.address or "": access.location}
    if isinstance(access.value, Constant):
        known |= dict.fromkeys(needs - {"old", form.result}, access.value.value)
        if access.expected is None and form.result in needs:
            known[form.result or ""] = access.value.value
    operands = [
        re.sub(r"\b[a-z]\b", lambda it: str(known.get(it[0], it[0])), operand)
        for operand in form.operands
        if operand != form.result or operand in known
    ]
    register = "" if access.register is None else f"r{access.register}="
    expected = access.expected
    condition = f" if {expected.value}" if isinstance(expected, Constant) else ""
    return f"{register}{form.mnemonic} {','.join(operands)}".strip() + condition
