"""Programs in the assembly language of a machine."""

from rspverify.assembly.program import AssemblyProgram, Instruction, ThreadId

__all__ = ["AssemblyProgram", "Instruction", "ThreadId"]
