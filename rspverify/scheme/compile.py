"""What compiling an operation takes, whichever table or compiler does it (§5.4)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import assert_never

from rspverify.architecture.architecture import Architecture, Mnemonic
from rspverify.assembly.program import ARRIVE, DEPART, WIDEST, Instruction, SpinLoop, ThreadId
from rspverify.litmus.program import Kind, Operation, Program, Scope, Spin, one_subgroup
from rspverify.scheme.memory import IN_LOCAL, has_local
from rspverify.source import Problem, Severity
from rspverify.value import Expression, Read, select

_AS_XF = " (write it out with atomics, as litmus/barrier/compiled/xf-2x2.litmus does)"


def without_subgroups(program: Program, machine: Architecture) -> Iterator[Problem]:
    """A problem if threads share a sub-group: a thread of a machine is one work-item."""
    for number, thread in enumerate(program.threads):
        others = [it.name for it in program.threads[:number] if one_subgroup(it, thread)]
        if others and thread.operations:
            message = f"{thread.name} is in one sub-group with {others[0]}, and machine"
            message += f" {machine.name} has no place for sub-groups"
            yield Problem(thread.operations[0].span, message, severity=Severity.UNSUPPORTED)


def spaces_of(program: Program, machine: Architecture) -> dict[str, str]:
    """The kind of memory of each location that is not in the machine's first, and whether its
    operations have the widest scope, where that matters."""
    local, widest = has_local(machine), frozenset[str | None]()
    if machine.tells_widest_scope:
        widest = frozenset(it.location for it in program.operations if it.scope is Scope.ALL)
    spaces = {
        it.name: f"{it.region if local else machine.spaces[0]}{WIDEST * (it.name in widest)}"
        for it in program.locations
    }
    return {x: space for x, space in spaces.items() if space != machine.spaces[0]}


def beyond(operation: Operation, program: Program) -> str | None:
    """Why no scheme can compile an operation, in words that follow its name; None if one may.

    A location in local memory is one of the test. OpenCL would give each work-group its own, so
    that it must belong to one.
    """
    match operation.kind:
        case Kind.LOCK | Kind.UNLOCK:
            return "needs a mutex, which no target has"
        case Kind.BARRIER if operation.meets is not Scope.WG:
            return f"is a barrier of a device, and machines have those of work-groups alone{_AS_XF}"
        case Kind.LOAD | Kind.STORE | Kind.RMW | Kind.FENCE | Kind.BARRIER:
            pass
        case Kind.EVENT | Kind.CHOICE:
            return "is a choice of a program in assembly"
        case _:
            assert_never(operation.kind)
    if operation.location is not None and operation.regions == IN_LOCAL:
        places = {
            (thread.device, thread.workgroup)
            for thread in program.threads
            if any(it.location == operation.location for it in thread.operations)
        }
        if len(places) > 1:
            return "accesses local memory that another work-group does, too, and each has its own"
    return None


def written_by(operation: Operation) -> Expression | None:
    """What the machine writes: a compare-exchange that fails writes back what it has read."""
    if operation.success is None or operation.value is None:
        return operation.value
    return select(operation.success, operation.value, Read(operation.index))


def spin_loop(spin: Spin, code: tuple[Instruction, ...]) -> SpinLoop:
    first, end = (sum(it.operation < bound for it in code) for bound in (spin.first, spin.end))
    return SpinLoop(spin.thread, spin.guard, first, end)


def instruction(
    index: int, mnemonic: Mnemonic, reach: str | None, operation: Operation, place: ThreadId
) -> Instruction:
    """An instruction of a row with the operation put in."""
    return Instruction(
        index=index,
        mnemonic=mnemonic,
        thread=place,
        operation=operation.index,
        guard=operation.guard,
        location=operation.location if "x" in mnemonic.operands else None,
        reach=reach,
        register=operation.index if mnemonic.reads else None,
        value=written_by(operation) if mnemonic.writes else None,
        success=operation.success if mnemonic.writes else None,
        label=operation.label if mnemonic is ARRIVE or mnemonic is DEPART else None,
    )
