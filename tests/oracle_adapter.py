"""Programs as the oracle takes them, and its outcomes as ours."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from oracle import machine as oracle_machine
from oracle import model as oracle_model

from rspverify.assembly.program import AssemblyProgram, Instruction
from rspverify.litmus.program import Operation, Program
from rspverify.value import Constant, Expression, constants, evaluate
from rspverify.verdict import Outcome

Plain = dict[str, Any]
PlainOutcome = tuple[tuple[tuple[int, int], ...], tuple[tuple[str, int], ...]]


def plain_assembly(program: AssemblyProgram) -> Plain:
    """The plain data of oracle.machine for a compiled program."""
    return {
        "initial": dict(program.initial),
        "threads": [
            {
                "device": place.device,
                "workgroup": place.workgroup,
                "code": [(_of_reads(each.guard), _plain_instruction(each)) for each in code],
            }
            for place, code in zip(program.threads, program.code, strict=True)
        ],
    }


def _plain_instruction(instruction: Instruction) -> tuple[Any, ...]:
    name, x = instruction.mnemonic.name, instruction.location
    match name:
        case "LD":
            return name, instruction.register, x
        case "ST":
            return name, _value(instruction.value), x
        case "INC_L1" | "INC_L2" | "RMW_L1" | "RMW_L2":
            like = name.replace(
                "RMW", "INC"
            )  # The oracle's INC writes any function of what it reads.
            return like, instruction.register, x, _value(instruction.value)
        case "LK_L2" | "UL_L2":
            return name, x
        case "arrive" | "depart":
            return name.upper(), instruction.label
    assert instruction.reach is not None
    return name, instruction.reach


def _of_reads(expression: Expression) -> Callable[[dict[int, int]], int]:
    return lambda env: evaluate(expression, env)


def _value(expression: Expression | None) -> Callable[[dict[int, int]], int]:
    assert expression is not None
    return _of_reads(expression)


def machine_outcomes(program: AssemblyProgram, **how: Any) -> frozenset[Outcome]:
    """What oracle.machine finds; `how` goes to it. Raises oracle.machine.TooLarge."""
    found = oracle_machine.outcomes(plain_assembly(program), **how)
    return _as_ours(found, program.initial)


def plain_program(program: Program) -> Plain:
    """The plain data of oracle.model for a source program."""
    written = [each.value for each in program.operations if each.value is not None]
    guards = [it.guard for it in program.operations if not isinstance(it.guard, Constant)]
    return {
        "locations": {
            each.name: {"atomic": each.atomic, "initial": each.initial}
            for each in program.locations
        },
        "constants": sorted({value for each in [*written, *guards] for value in constants(each)}),
        "threads": [
            {
                "device": thread.device,
                "workgroup": thread.workgroup,
                "operations": [_plain_operation(each) for each in thread.operations],
            }
            for thread in program.threads
        ],
    }


def _plain_operation(operation: Operation) -> Plain:
    return {
        "id": operation.index,
        "kind": operation.kind.value,
        "location": operation.location,
        "order": operation.order.value if operation.order else None,
        "scope": operation.scope.value if operation.scope else None,
        "remote": operation.remote,
        "guard": _of_reads(operation.guard),
        "value": None if operation.value is None else _of_reads(operation.value),
    }


def model_outcomes(program: Program) -> tuple[frozenset[Outcome], bool, int]:
    """What oracle.model finds: outcomes of consistent executions, whether one races, how many."""
    found, racy, executions = oracle_model.outcomes(plain_program(program))
    return _as_ours(found, [each.name for each in program.locations]), racy, executions


def plain_outcome(outcome: Outcome) -> PlainOutcome:
    """An outcome of ours as the oracle writes it."""
    return outcome.reads, tuple(sorted(outcome.memory))


def _as_ours(found: Iterable[PlainOutcome], locations: Iterable[str]) -> frozenset[Outcome]:
    names = list(locations)
    return frozenset(
        Outcome(reads, tuple((name, dict(memory)[name]) for name in names))
        for reads, memory in found
    )
