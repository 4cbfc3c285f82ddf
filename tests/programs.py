"""Random programs, of the assembly language and of the source language.

Each generator takes a `random.Random`, so that a seed gives the same program in every run; the
strategies for hypothesis hand it one of theirs. `listing` shows a compiled program to a reader.
"""

from __future__ import annotations

import random
from collections.abc import Mapping
from dataclasses import dataclass, replace

from hypothesis import strategies as st

from rspverify.assembly import (
    INSTRUCTION_SETS,
    AssemblyProgram,
    Instruction,
    Mnemonic,
    Reach,
    ThreadId,
)
from rspverify.litmus import Program, read_program
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

TRUE = Constant(1)


@dataclass(frozen=True)
class Shape:
    """How large a random program may be.

    threads, workgroups, devices, locations: at most so many, except that at least min_threads and
    min_devices; operations: at most so many in a thread, and in the program; extra: at most so
    many instructions beside the accesses in the whole program.
    """

    threads: int = 4
    workgroups: int = 3
    devices: int = 2
    locations: int = 2
    operations: int = 3
    total: int = 5
    extra: int = 7
    min_threads: int = 1
    min_devices: int = 1


SHAPE = Shape()
ONE_DEVICE = replace(SHAPE, devices=1)
TWO_DEVICES = replace(SHAPE, min_threads=2, min_devices=2)
SMALL = Shape(threads=3, workgroups=2, devices=1, operations=2, total=4, extra=4)
SMALL_TWO_DEVICES = Shape(
    threads=2, operations=2, total=4, extra=4, min_threads=2, min_devices=2, workgroups=2
)
TINY_TWO_DEVICES = replace(SMALL_TWO_DEVICES, total=3, extra=2)
SOURCE = Shape(threads=4, operations=3, total=5)
SMALL_SOURCE = Shape(threads=3, operations=2, total=4)


def _places(rng: random.Random, shape: Shape) -> list[tuple[int, int]]:
    """The device and work-group of each thread; both count from 0 without gaps."""
    threads = rng.randint(shape.min_threads, shape.threads)
    most = min(shape.devices, threads, shape.workgroups)
    devices = rng.randint(min(shape.min_devices, most), most)
    groups = rng.randint(devices, max(devices, min(shape.workgroups, threads)))
    device_of = [*range(devices), *(rng.randrange(devices) for _ in range(groups - devices))]
    rank: list[tuple[int, int]] = []
    for place, device in enumerate(device_of):
        rank.append((device, device_of[:place].count(device)))
    members = [*range(groups), *(rng.randrange(groups) for _ in range(threads - groups))]
    rng.shuffle(members)
    return [rank[member] for member in members]


def _counts(rng: random.Random, threads: int, shape: Shape) -> list[int]:
    """How many operations each thread has: at least one, as long as there are enough."""
    counts = [1 if thread < shape.total else 0 for thread in range(threads)]
    more = max(0, shape.total - threads)
    for _ in range(max(rng.randint(0, more), rng.randint(0, more))):
        thread = rng.randrange(threads)
        if counts[thread] < shape.operations:
            counts[thread] += 1
    return counts


# ---- assembly -----------------------------------------------------------------------------------


def assembly(
    *threads: tuple[tuple[int, int], list[str]],
    initial: Mapping[str, int] | None = None,
    machine: str = "rsp",
) -> AssemblyProgram:
    """A program from ((device, work-group), instructions) pairs.

    Instructions are written `LD x`, `ST x 42`, `INC_L1 x` (or `INC_L1 x 3`, to add 3), `FLU_L1 DV`,
    `UL_L2 x`; with `if 0=1` in the end one is executed only where read number 0 gave 1. Reads are
    numbered by their operations, which are counted through the program: one for each instruction
    that accesses a location.
    """
    ids, code, index, operation = [], [], 0, -1
    names: dict[str, None] = {}
    for number, ((device, workgroup), texts) in enumerate(threads):
        place = ThreadId(device, workgroup, number)
        own = []
        for text in texts:
            text, _, condition = text.partition(" if ")
            name, *operands = text.split()
            mnemonic = INSTRUCTION_SETS[machine][name]
            if "r" in mnemonic.operands:
                operation += 1
            location = operands[0] if "x" in mnemonic.operands else None
            if location is not None:
                names.setdefault(location)
            amount = Constant(int(operands[1]) if len(operands) > 1 else 1)
            value: Expression | None = amount if mnemonic.writes else None
            if mnemonic.reads and mnemonic.writes:
                value = Binary("+", Read(operation), amount)
            guard: Expression = TRUE
            if condition:
                read, wanted = condition.split("=")
                guard = Binary("==", Read(int(read)), Constant(int(wanted)))
            own.append(
                Instruction(
                    index=index,
                    mnemonic=mnemonic,
                    thread=place,
                    operation=max(operation, 0),
                    guard=guard,
                    location=location,
                    reach=Reach[operands[0]] if "s" in mnemonic.operands else None,
                    register=operation if mnemonic.reads else None,
                    value=value,
                )
            )
            index += 1
        ids.append(place)
        code.append(tuple(own))
    return AssemblyProgram(tuple(ids), tuple(code), dict.fromkeys(names, 0) | dict(initial or {}))


def random_assembly(
    rng: random.Random, shape: Shape = SHAPE, machine: str = "rsp"
) -> AssemblyProgram:
    """A program whose operations were each compiled by a row of their own, good or bad."""
    places = _places(rng, shape)
    locations = ["x", "y"][: max(rng.randint(1, shape.locations) for _ in range(2))]
    several = len({device for device, _ in places}) > 1
    extra = _Extra(rng, shape, INSTRUCTION_SETS[machine], locations, several)
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
    return AssemblyProgram(tuple(threads), tuple(code), initial)


_STORES = ("ST", "ST", "INC_L1", "INC_L2")
_LOADS = ("LD", "LD", "INC_L1", "INC_L2")
_ANY = ("LD", "LD", "LD", "ST", "ST", "ST", "INC_L1", "INC_L2")


def _accesses(
    rng: random.Random, threads: int, shape: Shape, locations: list[str]
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
        counts = _counts(rng, threads, shape)
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

_Template = tuple[Mnemonic, str | None, Reach | None]


class _Extra:
    """What surrounds the accesses: rows like those of Tab. 3, or just any instructions."""

    def __init__(
        self,
        rng: random.Random,
        shape: Shape,
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
                scope = Reach[reach[0]] if reach else None
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


def assemblies(shape: Shape = SHAPE, machine: str = "rsp") -> st.SearchStrategy[AssemblyProgram]:
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
        parts.append(instruction.reach.value)
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

_SCOPES = {
    "WG": "memory_scope_work_group",
    "DV": "memory_scope_device",
    "ALL": "memory_scope_all_svm_devices",
}
_STRONG = {"load": "acquire", "store": "release", "fetch_add": "acq_rel"}
_ORDERS = {
    "load": ("relaxed", "acquire", "seq_cst"),
    "store": ("relaxed", "release", "seq_cst"),
    "fetch_add": ("relaxed", "acquire", "release", "acq_rel", "seq_cst"),
}


def random_litmus(rng: random.Random, shape: Shape = SOURCE, *, compilable: bool = False) -> str:
    """A litmus test: two threads or more that load, store and add, with `if`s now and then.

    compilable: only what Tab. 3 has rows for (one device, no ALL, orders that synchronise).
    """
    if compilable:
        shape = replace(shape, devices=1, min_devices=1)
    shape = replace(shape, min_threads=max(2, shape.min_threads))
    places = _places(rng, shape)
    atomic = {x: rng.random() < 0.7 for x in ("x", "y")[: rng.randint(1, shape.locations)]}
    counts = _counts(rng, len(places), shape)
    parts = ["OpenCL random", _initial_text(rng, atomic)]
    for number, count in enumerate(counts):
        parts.append(_thread_text(rng, number, count, atomic, compilable))
    parts.append(_tree_text(places))
    return "\n".join(parts) + "\n"


def _initial_text(rng: random.Random, atomic: Mapping[str, bool]) -> str:
    return "{ " + " ".join(f"[{x}]={rng.choice((0, 0, 0, 1))};" for x in atomic) + " }"


def _tree_text(places: list[tuple[int, int]]) -> str:
    devices = []
    for device in sorted({device for device, _ in places}):
        groups = sorted({group for each, group in places if each == device})
        texts = [
            f"(work_group {' '.join(f'P{i}' for i, at in enumerate(places) if at == (device, w))})"
            for w in groups
        ]
        devices.append(f"(device {' '.join(texts)})")
    inner = " ".join(devices)
    return f"scopeTree (system {inner})" if len(devices) > 1 else f"scopeTree {inner}"


def _thread_text(
    rng: random.Random,
    number: int,
    count: int,
    atomic: Mapping[str, bool],
    compilable: bool,
) -> str:
    names = {
        x: f"global {'atomic_int' if is_atomic else 'int'}* {x}" for x, is_atomic in atomic.items()
    }
    lines: list[str] = []
    registers: list[str] = []
    for _ in range(count):
        x = rng.choice(list(atomic))
        # Atomic accesses are for atomic locations; those may be accessed plainly too.
        plain = not atomic[x] or (not compilable and rng.random() < 0.1)
        kinds = ("load", "store") if plain else ("load", "load", "store", "store", "fetch_add")
        kind = rng.choice(kinds)
        target = f"r{len(registers)}"
        value = _value_text(rng, registers)
        call = _plain_text(kind, x, value) if plain else _call_text(rng, kind, x, value, compilable)
        statement = call if kind == "store" else f"{target} = {call}"
        if registers and rng.random() < 0.35:
            statement = f"if ({_condition_text(rng, registers)}) {{ {statement}; }}"
        else:
            statement += ";"
        lines.append(f"  {statement}")
        if kind != "store":
            registers.append(target)
    parameters = ", ".join(names.values())
    declared = [f"  int {', '.join(registers)};"] if registers else []
    return "\n".join([f"P{number} ({parameters}) {{", *declared, *lines, "}"])


def _plain_text(kind: str, x: str, value: str) -> str:
    return f"*{x}" if kind == "load" else f"*{x} = {value}"


def _call_text(rng: random.Random, kind: str, x: str, value: str, compilable: bool) -> str:
    scope = rng.choice(("WG", "WG", "DV", "DV") if compilable else ("WG", "WG", "DV", "DV", "ALL"))
    order = _STRONG[kind]
    if not compilable and rng.random() < 0.4:
        order = rng.choice(_ORDERS[kind])
    remote = "_remote" if rng.random() < 0.3 else ""
    operands = [x] if kind == "load" else [x, value]
    arguments = ", ".join([*operands, f"memory_order_{order}", _SCOPES[scope]])
    return f"atomic_{kind}_explicit{remote}({arguments})"


def _value_text(rng: random.Random, registers: list[str]) -> str:
    constant = str(rng.choice((1, 1, 2)))
    if not registers or rng.random() < 0.7:
        return constant
    register = rng.choice(registers)
    return rng.choice((register, f"{register} + {constant}", f"{register} ? 1 : 2"))


def _condition_text(rng: random.Random, registers: list[str]) -> str:
    register = rng.choice(registers)
    return rng.choice((f"{register} == 1", f"{register} != 1", register, f"!{register}"))


def random_program(
    rng: random.Random, shape: Shape = SOURCE, *, compilable: bool = False
) -> Program:
    """The program of a random litmus test; its text is `program.source.text`."""
    text = random_litmus(rng, shape, compilable=compilable)
    return read_program(Source("random.litmus", text))


def litmus_texts(shape: Shape = SOURCE, *, compilable: bool = False) -> st.SearchStrategy[str]:
    """Texts of litmus tests."""
    return st.randoms(use_true_random=False).map(
        lambda rng: random_litmus(rng, shape, compilable=compilable)
    )


def programs(shape: Shape = SOURCE, *, compilable: bool = False) -> st.SearchStrategy[Program]:
    """Source programs; the text of one is `program.source.text`."""
    return litmus_texts(shape, compilable=compilable).map(
        lambda text: read_program(Source("random.litmus", text))
    )
