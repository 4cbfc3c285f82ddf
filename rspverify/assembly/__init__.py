"""The assembly language of Tab. 1 as data, and programs in it."""

from rspverify.assembly.architecture import MACHINES, Architecture
from rspverify.assembly.instruction import (
    Acquire,
    Await,
    Condition,
    Effect,
    InstructionSet,
    Invalidate,
    Level,
    Lock,
    Mark,
    Mnemonic,
    Reach,
    ReadEntry,
    Release,
    WriteEntry,
)
from rspverify.assembly.program import AssemblyProgram, Instruction, ThreadId

__all__ = [
    "MACHINES",
    "Acquire",
    "Architecture",
    "AssemblyProgram",
    "Await",
    "Condition",
    "Effect",
    "Instruction",
    "InstructionSet",
    "Invalidate",
    "Level",
    "Lock",
    "Mark",
    "Mnemonic",
    "Reach",
    "ReadEntry",
    "Release",
    "ThreadId",
    "WriteEntry",
]
