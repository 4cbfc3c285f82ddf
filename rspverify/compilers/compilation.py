"""A compiler in the place of a scheme: each test is compiled, whole threads, and read back.

It is called `amdgpu:gfx942`, with a feature `amdgpu:gfx942+tgsplit`, and with the llc that compiles
`amdgpu:gfx942@llc-22`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping

from msgspec import Struct, field

from rspverify.architecture.architecture import Architecture
from rspverify.architecture.for_machine import ForMachine
from rspverify.architecture.machines import machine_named
from rspverify.assembly.program import AssemblyProgram
from rspverify.compilers.assembly import read_assembly
from rspverify.compilers.llvm import Compiler, llc, llvmlite
from rspverify.compilers.matching import read_back
from rspverify.compilers.processors import Processor, processor
from rspverify.compilers.programs import module, pointers, read_as
from rspverify.compilers.threads import read_thread
from rspverify.isa.lines import Label
from rspverify.litmus.program import LOCAL, Program
from rspverify.records import replace
from rspverify.scheme.compile import beyond, without_subgroups
from rspverify.scheme.memory import without_end
from rspverify.source import InputError, Problem, Problems, Severity, Source

TARGET = "amdgpu"

_WORD = re.compile(rf"{TARGET}:(\w+)((?:[+-]\w+)*)(?:@(.+))?")
_FEATURE = re.compile(r"[+-]\w+")
_AT_A_TIME = 200
"""So many tests are compiled in one module."""

_OWN = re.compile(r"\bt\d+\.(?=P\d)|(?<=\.L)t\d+\.(?=P\d)")
_NUMBERED = re.compile(r"(\.LBB|\.Lfunc_end|\.Ltmp)(\d+)")


class Compilation(ForMachine, Struct, frozen=True, eq=False):
    """What a compiler makes of tests for a processor.

    word: what it is called on command lines. What was emitted is kept, by the module that it was
    made of.
    """

    word: str
    processor: Processor
    compiler: Compiler
    machine: Architecture
    _emitted: dict[str, Source | InputError] = field(default_factory=dict)

    @property
    def name(self) -> str:
        """What it is called, whichever program compiles: `amdgpu:gfx942`."""
        return f"{TARGET}:{self.processor.name}"

    @property
    def source(self) -> Source:
        """A compiler is read from no text."""
        return Source(self.word, "")

    @property
    def origin(self) -> str:
        """Which compiler it is, and for what: `LLVM 22.1.0 by llvmlite 0.50.0, gfx942`."""
        return f"{self.compiler.version}, {self.processor}"

    def on_machine(self, machine: Architecture) -> Compilation:
        """The same with its code on another machine. Raises InputError where that has not the
        instructions of the own one, or does not say which memory is final."""
        if problems := without_end(machine):
            raise InputError(problems)
        if lacking := sorted({*self.machine.instructions} - {*machine.instructions}):
            message = f"the machine of {self.name} must have {len(lacking)} instructions more"
            message += f", {lacking[0]} among them, and {machine.name} has not"
            raise InputError([Problem(None, message, f"its own is {self.machine.name}")])
        return replace(self, machine=machine)

    @property
    def whole(self) -> bool:
        """A compiler translates whole threads, and no loop is read out of their code."""
        return True

    def key(self, program: Program) -> tuple[object, ...]:
        """What it emits but for comments, whichever compiler does."""
        lines = (line.partition(";")[0].split() for line in self.emitted(program).text.splitlines())
        return tuple(" ".join(words) for words in lines if words)

    def code_of(self, program: Callable[[], Program]) -> Source:
        """What is emitted for a program."""
        return self.emitted(program())

    def compiled(self, program: Program) -> AssemblyProgram:
        """The program that was emitted for a test.

        Raises InputError where the test, or the code, is beyond what can be read.
        """
        return read_back_text(self.emitted(program), read_as(program), self.machine)

    def emitted(self, program: Program) -> Source:
        """The assembly of a test. Raises InputError."""
        self.prepare([program])
        found = self._emitted[self.module(program)]
        if isinstance(found, InputError):
            raise found
        return found

    def prepare(self, programs: Iterable[Program]) -> None:
        """Compile tests, many at a time, as far as they can be and have not been."""
        waiting: dict[str, Program] = {}
        for each in programs:
            try:
                text = self.module(each)
            except InputError:
                continue  # It will be said where the test is asked about.
            if text not in self._emitted:
                waiting[text] = read_as(each)
        texts = list(waiting)
        for at in range(0, len(texts), _AT_A_TIME):
            self._compile({it: waiting[it] for it in texts[at : at + _AT_A_TIME]})

    def module(self, program: Program) -> str:
        """The module of IR of a test alone. Raises InputError where it cannot be compiled."""
        program = read_as(program)
        problems = list(_beyond(program, self))
        if problems:
            raise InputError(problems)
        return module({"": program}, has_local=self.processor.has_local)

    def _compile(self, waiting: Mapping[str, Program]) -> None:
        """Compile tests together; where that fails one by one, so that only the guilty one does."""
        names = {f"t{at}.": text for at, text in enumerate(waiting)}
        programs = {name: waiting[text] for name, text in names.items()}
        try:
            whole = module(programs, has_local=self.processor.has_local)
            source = self.compiler.emit(whole, self.processor)
            parts = _parted(source, programs)
        except InputError as error:
            if len(waiting) > 1:
                for text, program in waiting.items():
                    self._compile({text: program})
                return
            (text,) = waiting
            unsupported = (replace(it, severity=Severity.UNSUPPORTED) for it in error.problems)
            self._emitted[text] = InputError(unsupported)
            return
        for name, text in names.items():
            title = f"{waiting[text].title}.{self.processor.name}.s"
            self._emitted[text] = Source(title, parts[name])


def translator(word: str) -> Compilation:
    """The compiler that a word names. Raises InputError."""
    match = _WORD.fullmatch(word)
    if match is None:
        message = f"a compiler must be called as {TARGET}:gfx942, not {word}"
        hint = f"with a feature {TARGET}:gfx942+tgsplit, by an llc {TARGET}:gfx942@PATH"
        raise InputError([Problem(None, message, hint)])
    cpu, features, path = match.groups()
    meant = processor(cpu, ",".join(_FEATURE.findall(features)))
    machine = machine_named(meant.machine)
    return Compilation(word, meant, llc(path) if path else llvmlite(), machine)


def read_back_text(source: Source, program: Program, machine: Architecture) -> AssemblyProgram:
    """The assembly of a test, read. Raises InputError with all that cannot be."""
    lines = read_assembly(source)
    places = {it.name: at for at, it in enumerate(lines) if isinstance(it, Label)}
    threads, problems = [], Problems()
    for thread in program.threads:
        first, last = places.get(thread.name), places.get(f".Lfunc_end{thread.index}")
        if first is None or last is None:
            message = f"{source.name}: must have the function {thread.name}, and has not"
            raise InputError([Problem(None, message, severity=Severity.UNSUPPORTED)])
        with problems:
            threads.append(read_thread(lines[first:last], pointers(thread, program), machine))
    problems.tell()
    return read_back(program, threads, machine)


def _beyond(program: Program, it: Compilation) -> Iterable[Problem]:
    yield from without_subgroups(program, it.machine)
    if program.spins:
        message = "a loop that never ends cannot be unrolled, and loops are not read"
        yield Problem(program.spins[0].span, message, severity=Severity.UNSUPPORTED)
    if any(each.remote for each in program.operations):
        message = f"remote operations are beyond {it.name}: compilers do not know them"
        yield Problem(None, message, severity=Severity.UNSUPPORTED)
    for each in program.operations:
        reason = beyond(each, program)
        if (
            reason is None
            and each.location
            and LOCAL in each.regions
            and not it.processor.has_local
        ):
            reason = f"is in local memory, and {it.processor.name} has none"
        if reason is None and each.order is not None and each.scope is None:
            reason = "has no scope"
        if reason is not None:
            message = f"{each} is beyond {it.name}: it {reason}"
            yield Problem(each.span, message, severity=Severity.UNSUPPORTED)


def _parted(source: Source, programs: Mapping[str, Program]) -> Mapping[str, str]:
    """The functions of each test, as if it had been compiled alone.

    Raises InputError where one is missing.
    """
    lines = source.text.split("\n")
    starts = {
        line.split(":")[0]: at for at, line in enumerate(lines) if re.match(r"t?\d*\.?P\d+:", line)
    }
    found: dict[str, str] = {}
    for name, program in programs.items():
        text: list[str] = []
        for thread in program.threads:
            first = starts.get(f"{name}{thread.name}")
            if first is None:
                message = f"{source.name}: must have the function {thread.name}, and has not"
                raise InputError([Problem(None, message)])
            text += _alone(lines, first, thread.index)
        found[name] = "\n".join(text) + "\n"
    return found


def _alone(lines: list[str], first: int, number: int) -> Iterable[str]:
    """The lines of a function to its end, with the names that they have without others."""
    for line in lines[first:]:
        bare = _NUMBERED.sub(lambda match: f"{match[1]}{number}", _OWN.sub("", line))
        if not bare.strip().startswith(";;"):
            yield bare
        if bare.startswith(".Lfunc_end"):
            return
