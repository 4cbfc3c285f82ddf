"""Compilers for AMD's processors: each test is compiled whole, and read back for a machine.

It is called `amdgpu:gfx942`, with a feature `amdgpu:gfx942+tgsplit`, and with the llc that compiles
`amdgpu:gfx942@llc-22`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from msgspec import Struct, field

from rspverify.architecture.architecture import Architecture, ForMachine
from rspverify.architecture.machines import machine_named
from rspverify.assembly.program import AssemblyProgram
from rspverify.compilers.assembly import AMDGPU, Syntax
from rspverify.compilers.compilation import Compilation, functions
from rspverify.compilers.llvm import Compiler, compiler_at, llvmlite
from rspverify.compilers.matching import read_back
from rspverify.compilers.processors import Processor, processor
from rspverify.compilers.programs import module, pointers, read_as
from rspverify.compilers.threads import read_thread
from rspverify.litmus.program import LOCAL, Operation, Program
from rspverify.records import replace
from rspverify.scheme.compile import without_subgroups
from rspverify.scheme.memory import without_end
from rspverify.source import InputError, Problem, Problems, Severity, Source

TARGET = "amdgpu"

_WORD = re.compile(rf"{TARGET}:(\w+)((?:[+-]\w+)*)(?:@(.+))?")
_FEATURE = re.compile(r"[+-]\w+")


class ForGpu(Struct, ForMachine, Compilation, frozen=True, eq=False):
    """What a compiler makes of tests for a processor of AMD's, on a machine."""

    word: str
    goal: Processor
    compiler: Compiler
    machine: Architecture
    emitted_before: dict[str, Source | InputError] = field(default_factory=dict)

    @property
    def name(self) -> str:
        """What it is called, whichever program compiles: `amdgpu:gfx942`."""
        return f"{TARGET}:{self.goal.name}"

    @property
    def syntax(self) -> Syntax:
        """How its assembly is written."""
        return AMDGPU

    def on_machine(self, machine: Architecture) -> ForGpu:
        """The same with its code on another machine. Raises InputError where that has not the
        instructions of the own one, or does not say which memory is final."""
        if problems := without_end(machine):
            raise InputError(problems)
        if lacking := sorted({*self.machine.instructions} - {*machine.instructions}):
            message = f"the machine of {self.name} must have {len(lacking)} instructions more"
            message += f", {lacking[0]} among them, and {machine.name} has not"
            raise InputError([Problem(None, message, f"its own is {self.machine.name}")])
        return replace(self, machine=machine)

    def compiled(self, program: Program) -> AssemblyProgram:
        """The program that was emitted for a test.

        Raises InputError where the test, or the code, is beyond what can be read.
        """
        return read_back_text(self.emitted(program), read_as(program), self.machine)

    def written(self, programs: Mapping[str, Program]) -> str:
        """A module of IR with tests, whose functions begin with their names."""
        return module(programs, has_local=self.goal.has_local)

    def why_not(self, operation: Operation) -> str | None:
        """Why an operation cannot be compiled for this processor, in words that follow its name."""
        local = operation.location and LOCAL in operation.regions
        if local and not self.goal.has_local:
            return f"is in local memory, and {self.goal.name} has none"
        if operation.order is not None and operation.scope is None:
            return "has no scope"
        return None

    def beyond(self, program: Program) -> Iterator[Problem]:
        """Why a test cannot be compiled."""
        yield from without_subgroups(program, self.machine)
        if any(each.remote for each in program.operations):
            message = f"remote operations are beyond {self.name}: compilers do not know them"
            yield Problem(None, message, severity=Severity.UNSUPPORTED)
        yield from super().beyond(program)


def translator(word: str) -> ForGpu:
    """The compiler that a word names. Raises InputError."""
    match = _WORD.fullmatch(word)
    if match is None:
        message = f"a compiler must be called as {TARGET}:gfx942, not {word}"
        hint = f"with a feature {TARGET}:gfx942+tgsplit, by an llc {TARGET}:gfx942@PATH"
        raise InputError([Problem(None, message, hint)])
    cpu, features, path = match.groups()
    meant = processor(cpu, ",".join(_FEATURE.findall(features)))
    compiler = compiler_at(path, meant) if path else llvmlite()
    return ForGpu(word, meant, compiler, machine_named(meant.machine))


def read_back_text(source: Source, program: Program, machine: Architecture) -> AssemblyProgram:
    """The assembly of a test, read. Raises InputError with all that cannot be."""
    threads, problems = [], Problems()
    for thread, lines in functions(source, program, AMDGPU):
        with problems:
            threads.append(read_thread(lines, pointers(thread, program), machine))
    problems.tell()
    return read_back(program, threads, machine)
