"""From the columns of a test in assembly to its Program, whose operations are instructions.

Which instructions there are, and of which kinds memory is, is not asked here: a machine says it.
Here it is told by its operands what an instruction does: `r1, x` loads, `x, 1` and `x, r1` store,
and one without operands accesses nothing.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

from rspverify.litmus.condition import Claims
from rspverify.litmus.declarations import initial_registers, initial_values
from rspverify.litmus.literal import number
from rspverify.litmus.placement import PTX, Place, numbered, placed_by_heads
from rspverify.litmus.problems import Problems, quote
from rspverify.litmus.program import GLOBAL, Kind, Location, Operation, Program, Thread
from rspverify.litmus.tree import Columns, InstructionText, Integer, Name, walk
from rspverify.source import Source
from rspverify.value import Constant, Expression, Read

LANGUAGE = "PTX"

MAX_INSTRUCTIONS = 250
"""How many instructions a test may have: a machine is spelled out for each of them."""

_REGISTER = re.compile(r"r[0-9]+")
_DEFAULT = re.compile(r"\.weak\b")
"""What a load or store is where nothing stands (PTX ISA, ld and st)."""

_KINDS = {"rx": Kind.LOAD, "xr": Kind.STORE, "": Kind.FENCE}
OPERANDS = {kind: operands for operands, kind in _KINDS.items()}
"""The operands of an instruction, as a machine writes them: r is a register or a value."""


def assembly_program(test: Columns, source: Source, problems: Problems) -> Program:
    """The program that columns mean, as far as they mean one."""
    heads = numbered(test.heads, problems)
    hint = f"write `P0{PTX} | P1@cta 1,gpu 0 ;` above the columns"
    places = placed_by_heads(heads, PTX, problems, hint)
    known = _locations(test, problems)
    initial = initial_registers(test.registers, heads, problems)
    columns = _columns(test, problems)
    if (count := sum(map(len, columns.values()))) > MAX_INSTRUCTIONS:
        message = f"a test in assembly must have at most {MAX_INSTRUCTIONS} instructions, not"
        problems.unsupported(test.heads[0].span, f"{message} {count:,}")
    threads: list[Thread] = []
    for name, head in heads.items():
        first = sum(len(each.operations) for each in threads)
        column = _Column(len(threads), first, initial.get(name, {}), problems)
        threads.append(column.run(name, places.get(name, (0, 0)), columns[id(head)]))
    claims = Claims({thread.name: thread.registers for thread in threads}, known, problems)
    return Program(
        test.title,
        source,
        tuple(known.values()),
        tuple(threads),
        None if test.condition is None else claims.condition(test.condition),
        LANGUAGE,
        (),
        claims.watched(test.watched),
    )


def _columns(test: Columns, problems: Problems) -> Mapping[int, list[InstructionText]]:
    """The instructions below each head, by its identity."""
    found: list[list[InstructionText]] = [[] for _ in test.heads]
    for row in test.rows:
        if len(row.cells) != len(found):
            message = f"a row must have as many columns as threads, {len(found)}, not"
            problems.error(row.span, f"{message} {len(row.cells)}")
        for column, cell in zip(found, row.cells, strict=False):
            if cell is not None:
                column.append(cell)
    return {id(head): column for head, column in zip(test.heads, found, strict=True)}


def _locations(test: Columns, problems: Problems) -> dict[str, Location]:
    """What the initial state declares, then what instructions name besides, which is global."""
    found: dict[str, Location] = {}
    for name, (entry, value) in initial_values(test.entries, problems).items():
        if _REGISTER.fullmatch(name):
            message = f"a location must not be called as a register is, {quote(name)}"
            problems.error(entry.name.span, message, f"write `0:{name}` for the register of P0")
        space = entry.specifiers[0].text if entry.specifiers else GLOBAL
        span = entry.specifiers[0].span if entry.specifiers else entry.span
        found[name] = Location(name, False, space, value, span)
    for row in test.rows:
        for each in walk(row):
            if isinstance(each, InstructionText):
                for operand in each.operands:
                    if isinstance(operand, Name) and not _is_register(operand):
                        new = Location(operand.text, False, GLOBAL, 0, operand.span)
                        found.setdefault(operand.text, new)
    return found


def _is_register(operand: Name | Integer) -> bool:
    return isinstance(operand, Name) and _REGISTER.fullmatch(operand.text) is not None


def _holds_value(operand: Name | Integer) -> bool:
    return isinstance(operand, Integer) or _is_register(operand)


class _Column:
    """The instructions of a thread, one after the other."""

    def __init__(
        self, index: int, first: int, initial: Mapping[str, int], problems: Problems
    ) -> None:
        self._index, self._next, self._problems = index, first, problems
        self._registers: dict[str, Expression] = {
            name: Constant(value) for name, value in initial.items()
        }
        self._operations: list[Operation] = []

    def run(self, name: str, place: Place, code: Iterable[InstructionText]) -> Thread:
        """The thread that executes code."""
        for each in code:
            self._execute(each)
        device, group = place
        operations = tuple(self._operations)
        return Thread(name, self._index, device, group, operations, self._registers)

    def _execute(self, it: InstructionText) -> None:
        shape = "".join("r" if _holds_value(each) else "x" for each in it.operands)
        name = _DEFAULT.sub("", it.name.text)
        if name == "mov" and shape == "rr" and _is_register(it.operands[0]):
            self._registers[it.operands[0].text] = self._value(it.operands[1])
            return
        if shape not in _KINDS or (shape == "rx" and not _is_register(it.operands[0])):
            self._not_such(it, shape)
            return
        kind = _KINDS[shape]
        places = [each for each in it.operands if not _holds_value(each)]
        value = self._value(it.operands[1]) if kind is Kind.STORE else None
        operation = Operation(
            index=self._next,
            thread=self._index,
            kind=kind,
            location=places[0].text if places else None,
            order=None,
            scope=None,
            remote=False,
            guard=Constant(1),
            value=value,
            span=it.span,
            instruction=name,
        )
        if kind is Kind.LOAD:
            self._registers[it.operands[0].text] = Read(self._next)
        self._operations.append(operation)
        self._next += 1

    def _value(self, operand: Name | Integer) -> Expression:
        if isinstance(operand, Integer):
            return Constant(number(operand, self._problems))
        if operand.text not in self._registers:
            message = f"{quote(operand.text)} must have a value before P{self._index} uses it"
            hint = f"write `{self._index}:{operand.text}=0;` in the initial state"
            self._problems.error(operand.span, message, hint)
        return self._registers.get(operand.text, Constant(0))

    def _not_such(self, it: InstructionText, shape: str) -> None:
        """Note operands that mean nothing here; what is said of their register may be right."""
        for each in filter(_is_register, it.operands[:1]):
            self._registers.setdefault(each.text, Constant(0))
        may = "`r1, x` (it loads), `x, 1` or `x, r1` (it stores), or none"
        if len(shape) > 2:
            message = (
                f"an instruction with {len(shape)} operands is not supported: {quote(it.name.text)}"
            )
            self._problems.unsupported(it.span, message, f"operands are {may}")
            return
        written = ", ".join(each.text for each in it.operands)
        hint = "registers are called r0, r1 and so on; any other name is that of a location"
        message = f"the operands of {quote(it.name.text)} must be {may}, not {quote(written)}"
        self._problems.error(it.span, message, hint)
