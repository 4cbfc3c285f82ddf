"""Random programs, of the assembly language and of the source language.

Each generator takes a `random.Random`, so that a seed gives the same program in every run; the
strategies for hypothesis hand it one of theirs. Those of source programs are the selftest's. `listing` shows a compiled program to a reader.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping
from typing import NamedTuple

from hypothesis import strategies as st

from rspverify.architecture.architecture import Mnemonic
from rspverify.architecture.machines import MACHINES
from rspverify.assembly.program import ARRIVE, DEPART, AssemblyProgram, Instruction, ThreadId
from rspverify.axiomatic.execution import executions
from rspverify.axiomatic.question import Questions
from rspverify.litmus.program import Program, Scope
from rspverify.litmus.reader import read_program
from rspverify.programs.writer import litmus_text
from rspverify.records import replace
from rspverify.selftest.programs import Size, random_counts, random_places, wild_test
from rspverify.selftest.run import Pair, pair_from
from rspverify.source import Source
from rspverify.value import (
    Binary,
    Constant,
    Expression,
    Read,
    Select,
    Unary,
    conjunction,
)
from rspverify.verdict import Outcome

TRUE = Constant(1)
BARRIER = {each.name: each for each in (ARRIVE, DEPART)}


SHAPE = Size()
ONE_DEVICE = replace(SHAPE, devices=1)
TWO_DEVICES = replace(SHAPE, min_threads=2, min_devices=2)
SMALL = Size(threads=3, workgroups=2, devices=1, operations=2, total=4, extra=4)
SMALL_TWO_DEVICES = Size(
    threads=2, operations=2, total=4, extra=4, min_threads=2, min_devices=2, workgroups=2
)
TINY_TWO_DEVICES = replace(SMALL_TWO_DEVICES, total=3, extra=2)
SOURCE = Size(threads=4, operations=3, total=5)
SMALL_SOURCE = Size(threads=3, operations=2, total=4)


# ---- assembly -----------------------------------------------------------------------------------


def assembly(
    *threads: tuple[tuple[int, int], list[str]],
    initial: Mapping[str, int] | None = None,
    machine: str = "rsp",
) -> AssemblyProgram:
    """A program from ((device, work-group), instructions) pairs.

    Instructions are written `LD x`, `ST x 42`, `INC_L1 x` (or `INC_L1 x 3`, to add 3), `RMW_L1 x 5`
    (to exchange), `RMW_L2 x 0?1` (compare and exchange), `FLU_L1 DV`, `UL_L2 x`, `arrive B`; with
    `if 0=1` in the end one is executed only where read number 0 gave 1. Reads are numbered by their
    operations, which are counted through the program: one for each instruction that accesses a
    location.
    """
    ids, code, index, operation = [], [], 0, -1
    names: dict[str, None] = {}
    for number, ((device, workgroup), texts) in enumerate(threads):
        place = ThreadId(device, workgroup, number)
        own = []
        for text in texts:
            text, _, condition = text.partition(" if ")
            name, *operands = text.split()
            mnemonic = BARRIER.get(name) or MACHINES[machine].instructions[name]
            if "r" in mnemonic.operands:
                operation += 1
            location = operands[0] if "x" in mnemonic.operands else None
            if location is not None:
                names.setdefault(location)
            wanted, _, written = (operands[1] if len(operands) > 1 else "1").rpartition("?")
            amount = Constant(int(written))
            value: Expression | None = amount if mnemonic.writes else None
            success: Expression | None = None
            if wanted:
                success = Binary("==", Read(operation), Constant(int(wanted)))
                value = Select(success, amount, Read(operation))
            elif mnemonic.operator == "+":
                value = Binary("+", Read(operation), amount)
            guard: Expression = TRUE
            if condition:
                read, value_read = condition.split("=")
                guard = Binary("==", Read(int(read)), Constant(int(value_read)))
            own.append(
                Instruction(
                    index=index,
                    mnemonic=mnemonic,
                    thread=place,
                    operation=max(operation, 0),
                    guard=guard,
                    location=location,
                    reach=operands[0] if "s" in mnemonic.operands else None,
                    register=operation if mnemonic.reads else None,
                    value=value,
                    success=success,
                    label=operands[0] if name in BARRIER else None,
                )
            )
            index += 1
        ids.append(place)
        code.append(tuple(own))
    memory = dict.fromkeys(names, 0) | dict(initial or {})
    return AssemblyProgram(tuple(ids), tuple(code), memory, MACHINES[machine])


def on_machine(program: AssemblyProgram, name: str) -> AssemblyProgram:
    """A program for another machine that has the same instructions."""
    machine = MACHINES[name]
    code = tuple(
        tuple(replace(it, mnemonic=machine.instructions[it.mnemonic.name]) for it in thread)
        for thread in program.code
    )
    return replace(program, code=code, machine=machine)


def random_assembly(
    rng: random.Random, shape: Size = SHAPE, machine: str = "rsp"
) -> AssemblyProgram:
    """A program whose operations were each compiled by a row of their own, good or bad."""
    places = random_places(rng, shape)
    locations = ["x", "y"][: max(rng.randint(1, shape.locations) for _ in range(2))]
    several = len({device for device, _ in places}) > 1
    extra = _Extra(rng, shape, MACHINES[machine].instructions, locations, several)
    accesses = _accesses(rng, len(places), shape, locations)
    threads, code, index, operation = [], [], 0, 0
    for number, (device, workgroup) in enumerate(places):
        place = ThreadId(device, workgroup, number)
        values = _Values(rng)
        own: list[Instruction] = []
        for name, location in accesses[number]:
            guard = values.guard()
            access = extra.instructions[name]
            register = operation if access.reads else None
            value = values.written(operation if access.reads else None) if access.writes else None
            for mnemonic, operand, reach in extra.around((access, location, None)):
                own_access = mnemonic is access
                own.append(
                    Instruction(
                        index=index,
                        mnemonic=mnemonic,
                        thread=place,
                        operation=operation,
                        guard=guard,
                        location=operand,
                        reach=reach,
                        register=register if own_access else None,
                        value=value if own_access else None,
                    )
                )
                index += 1
            if register is not None:
                values.reads.append((register, guard))
            operation += 1
        threads.append(place)
        code.append(tuple(own))
    initial = {x: rng.choice((0, 0, 0, 1)) for x in locations}
    return AssemblyProgram(tuple(threads), tuple(code), initial, MACHINES[machine])


_STORES = ("ST", "ST", "INC_L1", "INC_L2")
_LOADS = ("LD", "LD", "INC_L1", "INC_L2")
_ANY = ("LD", "LD", "LD", "ST", "ST", "ST", "INC_L1", "INC_L2")


def _accesses(
    rng: random.Random, threads: int, shape: Size, locations: list[str]
) -> list[list[tuple[str, str]]]:
    """What each thread accesses, as (instruction, location).

    Often two threads access two locations in opposite orders, and often so that one tells the
    other: then flushes and invalidations matter, of which most programs do not depend on any.
    """
    enough = threads > 1 and len(locations) > 1 and min(shape.operations, shape.total // 2) > 1
    if enough and rng.random() < 0.7:
        rest = [rng.choice(locations) for _ in range(min(threads - 2, shape.total - 4))]
        where = [["x", "y"], ["y", "x"], *([x] for x in rest)]
        where += [[] for _ in range(threads - len(where))]
        if rng.random() < 0.6:
            return [
                [("ST", "x"), (rng.choice(_STORES), "y")],
                [(rng.choice(_LOADS), "y"), (rng.choice(("LD", "LD", "ST", "ST", "INC_L2")), "x")],
                *([(rng.choice(_ANY), x) for x in each] for each in where[2:]),
            ]
    else:
        counts = random_counts(rng, threads, shape)
        where = [[rng.choice(locations) for _ in range(count)] for count in counts]
    return [[(rng.choice(_ANY), x) for x in each] for each in where]


_ROWS: Mapping[str, tuple[str, ...]] = {
    "LD": (
        "LD, INV_L1 WG",
        "LD, INV_L1 WG",
        "INV_L1 WG, LD",
        "LD, FLU_L1 DV, INV_L1 WG",
        "LK_L2, FLU_L1 DV, INV_L1 WG, LD, UL_L2",
    ),
    "ST": (
        "FLU_L1 WG, ST",
        "FLU_L1 WG, ST",
        "FLU_L1 WG, FLU_L2 DV, ST",
        "FLU_L1 SY, FLU_L2 SY, ST",
        "LK_L2, FLU_L1 WG, ST, INV_L1 DV, UL_L2",
        "LK_rmw DV, FLU_L1 DV, INV_L1 DV, ST, FLU_L1 WG, INV_L1 DV, UL_rmw DV",
    ),
    "INC_L1": ("LK_rmw DV, INC_L1, UL_rmw DV", "FLU_L1 WG, INC_L1, INV_L1 WG"),
    "INC_L2": (
        "FLU_L1 WG, INC_L2, INV_L1 WG",
        "FLU_L1 WG, INV_L1 WG, INC_L2",
        "LK_L2, FLU_L1 DV, INC_L2, INV_L1 WG, UL_L2",
    ),
}
"""Rows of Tab. 3, and rows like them; `_L2` locks are for the location of the access."""

_Template = tuple[Mnemonic, str | None, str | None]


class _Extra:
    """What surrounds the accesses: rows like those of Tab. 3, or just any instructions."""

    def __init__(
        self,
        rng: random.Random,
        shape: Size,
        instructions: Mapping[str, Mnemonic],
        locations: list[str],
        several: bool,
    ) -> None:
        self.instructions = instructions
        self._several = several
        self._rng = rng
        self._sensible = rng.random() < 0.6
        self._left = shape.extra if self._sensible else rng.randint(0, shape.extra)
        self._locations = locations

    def around(self, access: _Template) -> list[_Template]:
        """An access with other instructions before and after it."""
        return self._row(access) if self._sensible else self._anything(access)

    def _row(self, access: _Template) -> list[_Template]:
        rng, code = self._rng, list[_Template]()
        rows = [row.split(", ") for row in _ROWS[access[0].name]]
        fitting = [row for row in rows if len(row) - 1 <= self._left]
        if self._several and rng.random() < 0.7:
            # Across devices nothing short of a flush of the L2 makes a difference.
            fitting = [row for row in fitting if any("FLU_L2" in each for each in row)] or fitting
        if not fitting or rng.random() < 0.2:
            return [access]
        for text in rng.choice(fitting):
            name, *reach = text.split()
            if name == access[0].name:
                code.append(access)
            elif rng.random() < 0.9:
                mnemonic = self.instructions[name]
                own = access[1] if "x" in mnemonic.operands else None
                scope = reach[0] if reach else None
                if scope is not None and rng.random() < 0.2:
                    scope = rng.choice(mnemonic.reaches)
                code.append((mnemonic, own, scope))
                self._left -= 1
        if rng.random() < 0.1:
            rng.shuffle(code)
        return code

    def _anything(self, access: _Template) -> list[_Template]:
        rng = self._rng
        before: list[_Template] = []
        after: list[_Template] = []
        while self._left and rng.random() < 0.6:
            if rng.random() < 0.35 and self._left >= 2:
                # A lock around everything so far; the other kinds of pairs come by chance.
                kind = rng.choice(("L2", "rmw"))
                lock = self._one(f"LK_{kind}", access)
                after.append((self.instructions[f"UL_{kind}"], lock[1], lock[2]))
                before.insert(0, lock)
                self._left -= 2
                continue
            names = ("FLU_L1", "FLU_L1", "FLU_L2", "INV_L1", "INV_L1")
            locks = ("LK_L2", "UL_L2", "LK_rmw", "UL_rmw")
            chosen = self._one(rng.choice(names if rng.random() < 0.8 else locks), access)
            side = rng.choice((before, after))
            side.insert(rng.randint(0, len(side)), chosen)
            self._left -= 1
        return [*before, access, *after]

    def _one(self, name: str, access: _Template) -> _Template:
        rng, mnemonic = self._rng, self.instructions[name]
        if "x" in mnemonic.operands:
            own = access[1] if rng.random() < 0.7 else rng.choice(self._locations)
            return mnemonic, own, None
        return mnemonic, None, rng.choice(mnemonic.reaches)


class _Values:
    """Guards and values of one thread, over what it has read so far."""

    def __init__(self, rng: random.Random) -> None:
        self._rng = rng
        self.reads: list[tuple[int, Expression]] = []

    def guard(self) -> Expression:
        """Mostly true; otherwise a condition on an earlier read that looks only if it happened."""
        rng = self._rng
        if not self.reads or rng.random() < 0.6:
            return TRUE
        register, executed = rng.choice(self.reads)
        conditions: tuple[Expression, ...] = (
            Binary("==", Read(register), Constant(rng.choice((0, 1, 1, 2)))),
            Binary("!=", Read(register), Constant(rng.choice((0, 1)))),
            Unary("!", Read(register)),
            Read(register),
        )
        return conjunction(executed, rng.choice(conditions))

    def written(self, register: int | None) -> Expression:
        """What a store writes, or an RMW that reads into `register`."""
        rng = self._rng
        known = self._known()
        amount: Expression = Constant(rng.choice((1, 1, 2)))
        if known is not None and rng.random() < 0.35:
            amount = rng.choice((known, Binary("+", known, Constant(1))))
        return amount if register is None else Binary("+", Read(register), amount)

    def _known(self) -> Expression | None:
        """The value of an earlier read, or 0 where that was not executed."""
        if not self.reads:
            return None
        register, executed = self._rng.choice(self.reads)
        value = Read(register)
        return value if executed == TRUE else Select(executed, value, Constant(0))


def with_operations(rng: random.Random, program: AssemblyProgram) -> AssemblyProgram:
    """The program with other operations in the place of most INCs, compare-exchanges above all."""
    code = tuple(
        tuple(_other_operation(rng, it) if it.mnemonic.operator == "+" else it for it in thread)
        for thread in program.code
    )
    return replace(program, code=code)


def _other_operation(rng: random.Random, it: Instruction) -> Instruction:
    assert it.register is not None
    read, number = Read(it.register), Constant(rng.choice((0, 1, 2)))
    values: tuple[Expression, ...] = (
        number,
        Binary("|", read, number),
        Binary("^", read, Constant(1)),
        Select(Binary("<", read, number), number, read),
    )
    general = MACHINES["rsp"].instructions[it.mnemonic.name.replace("INC", "RMW")]
    choice = rng.random()
    if choice < 0.2:
        return it
    if choice < 0.4:
        return replace(it, mnemonic=general, value=rng.choice(values))
    success = Binary("==", read, Constant(rng.choice((0, 0, 1, 2))))
    value = Select(success, Constant(rng.choice((1, 2))), read)
    return replace(it, mnemonic=general, value=value, success=success)


def with_cut(rng: random.Random, program: AssemblyProgram) -> AssemblyProgram:
    """The program with a loop cut off where some read gave a certain value."""
    reads = [it for it in program.instructions if it.register is not None]
    if not reads:
        return program
    chosen = rng.choice(reads)
    assert chosen.register is not None
    condition = Binary("==", Read(chosen.register), Constant(rng.choice((0, 0, 1))))
    return replace(program, cuts=(conjunction(chosen.guard, condition),))


def assemblies(shape: Size = SHAPE, machine: str = "rsp") -> st.SearchStrategy[AssemblyProgram]:
    """Compiled programs."""
    return st.randoms(use_true_random=False).map(lambda rng: random_assembly(rng, shape, machine))


def listing(program: AssemblyProgram) -> str:
    """A compiled program, to be read: per thread its place and its instructions."""
    lines = [", ".join(f"{x}={value}" for x, value in program.initial.items())]
    for place, code in zip(program.threads, program.code, strict=True):
        lines.append(f"{place} on device {place.device}, work-group {place.workgroup}:")
        lines += [f"  {_instruction_text(each)}" for each in code]
    return "\n".join(lines)


def _instruction_text(instruction: Instruction) -> str:
    parts = [instruction.mnemonic.name]
    if instruction.register is not None:
        parts.append(f"r{instruction.register}")
    if instruction.location is not None:
        parts.append(instruction.location)
    if instruction.reach is not None:
        parts.append(instruction.reach)
    if instruction.label is not None:
        parts.append(instruction.label)
    if instruction.value is not None:
        parts.append(f":= {_text(instruction.value)}")
    if instruction.guard != TRUE:
        parts.append(f"if {_text(instruction.guard)}")
    return " ".join(parts)


def _text(expression: Expression) -> str:
    match expression:
        case Constant(value):
            return str(value)
        case Read(index):
            return f"r{index}"
        case Unary(operator, argument):
            return f"{operator}{_text(argument)}"
        case Binary(operator, left, right):
            return f"({_text(left)} {operator} {_text(right)})"
        case Select(condition, then, otherwise):
            return f"({_text(condition)} ? {_text(then)} : {_text(otherwise)})"


# ---- litmus texts -------------------------------------------------------------------------------


def random_litmus(rng: random.Random, shape: Size = SOURCE, *, compilable: bool = False) -> str:
    """A litmus test: two threads or more that load, store and add, with `if`s now and then.

    compilable: only what Tab. 3 has rows for (one device, no ALL, orders that synchronise).
    """
    shape = replace(shape, min_threads=max(2, shape.min_threads))
    near = (Scope.WG, Scope.WG, Scope.DV, Scope.DV)
    if compilable:
        shape = replace(shape, devices=1, min_devices=1)
        test = wild_test(rng, shape, scopes=near, weak=False)
        return litmus_text(test, "random")
    return litmus_text(wild_test(rng, shape, scopes=(*near, Scope.ALL), weak=True), "random")


def random_program(
    rng: random.Random, shape: Size = SOURCE, *, compilable: bool = False
) -> Program:
    """The program of a random litmus test; its text is `program.source.text`."""
    text = random_litmus(rng, shape, compilable=compilable)
    return read_program(Source("random.litmus", text))


def litmus_texts(shape: Size = SOURCE, *, compilable: bool = False) -> st.SearchStrategy[str]:
    """Texts of litmus tests."""
    return st.randoms(use_true_random=False).map(
        lambda rng: random_litmus(rng, shape, compilable=compilable)
    )


def programs(shape: Size = SOURCE, *, compilable: bool = False) -> st.SearchStrategy[Program]:
    """Source programs; the text of one is `program.source.text`."""
    return litmus_texts(shape, compilable=compilable).map(
        lambda text: read_program(Source("random.litmus", text))
    )


def pairs(devices: int | None = None) -> st.SearchStrategy[Pair]:
    """A source program and a scheme with a row for each of its operations, as `selftest` has them."""
    return st.randoms(use_true_random=False).map(lambda rng: pair_from(rng, devices))


class Consistent(NamedTuple):
    """A consistent execution: its outcome, its rf and its mo."""

    outcome: Outcome
    relations: Mapping[str, frozenset[tuple[int, int]]]


def consistent_executions(questions: Questions) -> Iterator[Consistent]:
    """Every consistent execution, that is every (values, rf, mo), each once."""
    candidates = questions.candidates
    edges = {"rf": candidates.rf, "mo": candidates.coherence}
    for it in executions(candidates, questions.solver()):
        chosen = {
            name: frozenset(pair for pair, term in relation.items() if it.chosen(term))
            for name, relation in edges.items()
        }
        yield Consistent(it.outcome, chosen)
