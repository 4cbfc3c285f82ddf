"""A test in assembly becomes the program of a machine: each operation is an instruction already."""

from __future__ import annotations

from collections.abc import Iterator

from rspverify.architecture.architecture import Architecture
from rspverify.assembly.program import AssemblyProgram, ThreadId
from rspverify.litmus.dialects import DIALECTS
from rspverify.litmus.program import Kind, Operation, Program
from rspverify.scheme.compile import instruction
from rspverify.source import InputError, Problem, Severity
from rspverify.wording import alternatives, guess

_OPERANDS = {Kind.LOAD: "rx", Kind.STORE: "xr", Kind.FENCE: ""}
"""The operands of what a test in assembly has, as machines write them."""


def assemble(program: Program, machine: Architecture) -> AssemblyProgram:
    """The program that a machine runs. Raises InputError with everything that the machine has not.

    What is an instruction of PTX all the same is UNSUPPORTED.
    """
    if not program.in_assembly:
        message = f"a test must be in PTX to be put to machine {machine.name}, not in"
        hint = "--scheme names a scheme that compiles it"
        raise InputError([Problem(None, f"{message} {program.language}", hint)])
    problems = [*_of_instructions(program, machine), *_of_memory(program, machine)]
    for spin in program.spins:
        message = f"a loop is not supported by machine {machine.name}"
        problems.append(Problem(spin.span, message, severity=Severity.UNSUPPORTED))
    if problems:
        raise InputError(problems)
    places = tuple(ThreadId(each.device, each.workgroup, each.index) for each in program.threads)
    code = tuple(
        tuple(
            instruction(it.index, machine.instructions[it.instruction or ""], None, it, place)
            for it in thread.operations
        )
        for place, thread in zip(places, program.threads, strict=True)
    )
    initial = {location.name: location.initial for location in program.locations}
    spaces = {location.name: location.region for location in program.locations}
    return AssemblyProgram(places, code, initial, machine, spaces=spaces)


def _of_instructions(program: Program, machine: Architecture) -> Iterator[Problem]:
    """What is wrong with instructions."""
    from rspverify.isa.instruction_set import instruction_set

    known = instruction_set(DIALECTS[program.language].instructions)
    stems = {mnemonic.partition(".")[0] for mnemonic in known.mnemonics}
    for operation in program.operations:
        name = operation.instruction or ""
        mnemonic = machine.instructions.get(name)
        if mnemonic is None:
            stem, dot, _ = name.partition(".")
            beyond = bool(dot) and stem in stems
            yield Problem(
                operation.span,
                f"the instruction {name} is not supported by machine {machine.name}"
                if beyond
                else f"an instruction must be one of machine {machine.name}, not {name}",
                guess(name, machine.instructions) or f"it has {', '.join(machine.instructions)}",
                severity=Severity.UNSUPPORTED if beyond else Severity.ERROR,
            )
        elif not _fits(operation, machine):
            given = _OPERANDS[operation.kind]
            written = " ".join([name, *mnemonic.operands])
            message = f"{name} must have the operands that machine {machine.name} gives it"
            does = {"rx": "loads", "xr": "stores", "": "accesses nothing"}[given]
            hint = f"there it is `{written}`; with operands as here an instruction {does}"
            yield Problem(operation.span, message, hint)


def _fits(operation: Operation, machine: Architecture) -> bool:
    """Whether an instruction of the machine has the operands of an operation, and does as it."""
    mnemonic = machine.instructions[operation.instruction or ""]
    does = (mnemonic.operands, mnemonic.reads, mnemonic.writes)
    return does == (_OPERANDS[operation.kind], operation.reads, operation.writes)


def _of_memory(program: Program, machine: Architecture) -> Iterator[Problem]:
    """What is wrong with locations, and with what the test says of memory in the end."""
    for location in program.locations:
        if location.region not in machine.spaces:
            choice = alternatives(machine.spaces)
            message = f"memory must be {choice} on machine {machine.name}, not {location.region}"
            yield Problem(location.span, message, guess(location.region, machine.spaces))
    if machine.final is not None:
        return
    hint = "what a thread reads there in the end can be loaded into a register"
    without = f"machine {machine.name} has no memory that is the last word"
    if program.condition is not None:
        for name in dict.fromkeys(program.condition.locations):
            message = f"the final condition must not speak of {name}: {without}"
            yield Problem(program.condition.span, message, hint)
    for thread, name in program.watched:
        if thread is None:
            yield Problem(None, f"`locations` must not name {name}: {without}", hint)
