"""Machines that are other than the paper's by a few lines, and programs in their assembly."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import yaml
from programs import assembly

from rspverify.architecture.architecture import Architecture, Mnemonic
from rspverify.architecture.reader import read_architecture
from rspverify.assembly.program import AssemblyProgram, Instruction, ThreadId
from rspverify.source import Source
from rspverify.value import Binary, Constant, Expression, Read

NEAR = ((0, 0), (0, 1))
"""Two work-groups of a device."""

PLACES = {"here": (0, 0), "near": (0, 1), "far": (1, 0)}
"""Work-groups: near is another one of the device of here, far one on another device."""

FOLDER = Path(__file__).parent

ALWAYS = Constant(1)

FAR = ((0, 0), (1, 0))
"""Two devices."""


def table(name: str) -> dict[str, Any]:
    """What a file beside this one has, by the reason of each test."""
    read: dict[str, Any] = yaml.safe_load((FOLDER / f"{name}.yaml").read_text(encoding="utf-8"))
    return read


def program_told(told: Mapping[str, Any]) -> AssemblyProgram:
    """A program of such a file: its threads as `near LD x; ST y 1`, its machine the paper's."""
    threads = []
    for thread in told["threads"]:
        place, _, code = thread.partition(" ")
        threads.append((PLACES[place], code.split("; ")))
    return assembly(*threads, machine=told.get("machine", "rsp"))


def text_of(items: str) -> str:
    """The file of a machine that says these items otherwise than the paper's."""
    return f'machine variant "of a test"\ninclude rsp\n{items}\n'


def variant(items: str) -> Architecture:
    """What it says."""
    return read_architecture(Source("variant.machine", text_of(items)))


def instruction(
    index: int,
    mnemonic: Mnemonic,
    thread: ThreadId,
    x: str | None,
    reach: str | None,
    written: Expression | None,
    guard: Expression = ALWAYS,
) -> Instruction:
    """One that has of these what it can have; it adds what is written to what it reads."""
    value = Binary("+", Read(index), written) if written and mnemonic.reads else written
    return Instruction(
        index,
        mnemonic,
        thread,
        index,
        guard,
        x if "x" in mnemonic.operands else None,
        reach if mnemonic.reaches else None,
        index if mnemonic.reads else None,
        value if mnemonic.writes else None,
    )


def program(
    its: Architecture, *threads: str, places: tuple[tuple[int, int], ...] = NEAR
) -> AssemblyProgram:
    """Threads as `ST x 1; LD x; FLU_L1 DV`, in these places.

    `if 0=1`: where read 0 gave 1. `ST x r0`: what read 0 gave.
    """
    ids = tuple(ThreadId(*place, number) for number, place in enumerate(places[: len(threads)]))
    code, index = [], 0
    names: dict[str, int] = {}
    for thread, text in zip(ids, threads, strict=True):
        own = []
        for each in filter(None, map(str.strip, text.split(";"))):
            what, _, condition = each.partition(" if ")
            name, *operands = what.split()
            mnemonic = its.instructions[name]
            first = operands[0] if operands else None
            if "x" in mnemonic.operands:
                names.setdefault(operands[0], 0)
            written = _written(operands[1]) if mnemonic.writes else None
            guard: Expression = ALWAYS
            if condition:
                register, number = map(int, condition.split("="))
                guard = Binary("==", Read(register), Constant(number))
            own.append(instruction(index, mnemonic, thread, first, first, written, guard))
            index += 1
        code.append(tuple(own))
    return AssemblyProgram(ids, tuple(code), names, its)


def _written(operand: str) -> Expression:
    return Read(int(operand[1:])) if operand.startswith("r") else Constant(int(operand))
