"""Programs in the assembly language of a machine."""

from rspverify.assembly.program import (
    ARRIVE,
    DEPART,
    AssemblyProgram,
    Instruction,
    Placement,
    Seen,
    SpinLoop,
    ThreadId,
)

__all__ = [
    "ARRIVE",
    "DEPART",
    "AssemblyProgram",
    "Instruction",
    "Placement",
    "Seen",
    "SpinLoop",
    "ThreadId",
]
