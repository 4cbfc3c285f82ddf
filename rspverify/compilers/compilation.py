"""A compiler in the place of a scheme: each test is compiled, whole threads, and read back."""

from __future__ import annotations

import re
from abc import abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import takewhile

from rspverify.assembly.program import AssemblyProgram
from rspverify.compilers.assembly import Syntax, read_assembly
from rspverify.compilers.llvm import Compiler, Kind
from rspverify.compilers.processors import Goal
from rspverify.compilers.programs import read_as
from rspverify.compilers.spelling import laid_out
from rspverify.isa.lines import Directive, Label, Line
from rspverify.litmus.program import Operation, Program, Thread
from rspverify.mapping.mapped import Mapped
from rspverify.records import replace
from rspverify.scheme.compile import beyond
from rspverify.source import InputError, Problem, Severity, Source

_AT_A_TIME = 200
"""So many tests are compiled in one module."""

_OWN = re.compile(r"\bt\d+\.(?=P\d)|(?<=\.L)t\d+\.(?=P\d)")
_NUMBERED = re.compile(r"(\.LBB|\.Lfunc_end|\.Ltmp)(\d+)")


class Compilation:
    """What a compiler makes of tests for a processor.

    word: what it is called on command lines. goal: what code is made for. emitted_before: what was
    emitted, by the module that it was made of.
    """

    __slots__ = ()
    word: str
    goal: Goal
    compiler: Compiler
    emitted_before: dict[str, Source | InputError]

    @property
    @abstractmethod
    def syntax(self) -> Syntax:
        """How its assembly is written."""

    @property
    @abstractmethod
    def name(self) -> str:
        """What it is called, whichever program compiles."""

    @abstractmethod
    def compiled(self, program: Program) -> AssemblyProgram | Mapped:
        """The program of the target. Raises InputError with all that cannot be read."""

    @abstractmethod
    def written(self, programs: Mapping[str, Program]) -> str:
        """The module with tests that is compiled, whose functions begin with their names."""

    @abstractmethod
    def why_not(self, operation: Operation) -> str | None:
        """Why an operation cannot be compiled for this processor, in words that follow its name."""

    def beyond(self, program: Program) -> Iterator[Problem]:
        """Why a test cannot be compiled."""
        if program.spins:
            message = "a loop that never ends cannot be unrolled, and loops are not read"
            yield Problem(program.spins[0].span, message, severity=Severity.UNSUPPORTED)
        for each in program.operations:
            reason = beyond(each, program) or self.why_not(each)
            if reason is not None:
                message = f"{each} is beyond {self.name}: it {reason}"
                yield Problem(each.span, message, severity=Severity.UNSUPPORTED)

    @property
    def source(self) -> Source:
        """A compiler is read from no text."""
        return Source(self.word, "")

    @property
    def origin(self) -> str:
        """Which compiler it is, and for what: `LLVM 22.1.0 by llvmlite 0.50.0, gfx942`."""
        return f"{self.compiler.version}, {self.goal}"

    @property
    def whole(self) -> bool:
        """A compiler translates whole threads, and no loop is read out of their code."""
        return True

    @property
    def text_ending(self) -> str:
        """How files are called with what is compiled."""
        return "c" if self.compiler.kind is Kind.GCC else "ll"

    def key(self, program: Program) -> tuple[object, ...]:
        """What it emits but for comments, whichever compiler does."""
        lines = (self.syntax.bare(it).split() for it in self.emitted(program).text.splitlines())
        return tuple(" ".join(words) for words in lines if words)

    def code_of(self, program: Callable[[], Program]) -> Source:
        """What is emitted for a program."""
        return self.emitted(program())

    def emitted(self, program: Program) -> Source:
        """The assembly of a test. Raises InputError."""
        self.prepare([program])
        found = self.emitted_before[self.module(program)]
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
            if text not in self.emitted_before:
                waiting[text] = read_as(each)
        texts = list(waiting)
        for at in range(0, len(texts), _AT_A_TIME):
            self._compile({it: waiting[it] for it in texts[at : at + _AT_A_TIME]})

    def module(self, program: Program) -> str:
        """The module of a test alone. Raises InputError where it cannot be compiled."""
        program = read_as(program)
        problems = list(self.beyond(program))
        if problems:
            raise InputError(problems)
        return self.written({"": program})

    def _compile(self, waiting: Mapping[str, Program]) -> None:
        """Compile tests together; where that fails by halves, so that only the guilty one does."""
        names = {f"t{at}.": text for at, text in enumerate(waiting)}
        programs = {name: waiting[text] for name, text in names.items()}
        try:
            whole = self.written(programs)
            parts = _parted(laid_out(self.compiler.emit(whole, self.goal).text), programs)
        except InputError as error:
            if len(waiting) > 1:
                every = list(waiting.items())
                middle = len(every) // 2
                self._compile(dict(every[:middle]))
                self._compile(dict(every[middle:]))
                return
            (text,) = waiting
            unsupported = (replace(it, severity=Severity.UNSUPPORTED) for it in error.problems)
            self.emitted_before[text] = InputError(unsupported)
            return
        for name, text in names.items():
            title = f"{waiting[text].title}.{self.goal.name}.s"
            self.emitted_before[text] = Source(title, parts[name])


def functions(
    source: Source, program: Program, syntax: Syntax
) -> Iterator[tuple[Thread, Sequence[Line]]]:
    """The threads of a test, with the lines of their functions. Raises InputError where one is
    missing."""
    lines = read_assembly(source, syntax)
    starts = {it.name: at for at, it in enumerate(lines) if isinstance(it, Label)}
    for thread in program.threads:
        if thread.name not in starts:
            message = f"{source.name}: must have the function {thread.name}, and has not"
            raise InputError([Problem(None, message, severity=Severity.UNSUPPORTED)])
        yield thread, list(takewhile(_is_inside, lines[starts[thread.name] :]))


def _is_inside(it: Line) -> bool:
    """Whether a line is of a function: its end has a label, or a directive for its size."""
    if isinstance(it, Label):
        return not it.name.startswith((".Lfunc_end", ".LFE"))
    return not (isinstance(it, Directive) and it.name == ".size")


def _parted(text: str, programs: Mapping[str, Program]) -> Mapping[str, str]:
    """The functions of each test that are there, as if it had been compiled alone."""
    lines = text.split("\n")
    starts = {
        line.split(":")[0]: at for at, line in enumerate(lines) if re.match(r"t?\d*\.?P\d+:", line)
    }
    found: dict[str, str] = {}
    for name, program in programs.items():
        own: list[str] = []
        for thread in program.threads:
            first = starts.get(f"{name}{thread.name}", len(lines))
            own += _alone(lines, first, thread.index)
        found[name] = "\n".join(own) + "\n"
    return found


def _alone(lines: list[str], first: int, number: int) -> Iterable[str]:
    """The lines of a function to its end, with the names that they have without others."""
    for line in lines[first:]:
        bare = _NUMBERED.sub(lambda match: f"{match[1]}{number}", _OWN.sub("", line))
        if not bare.strip().startswith(";;"):
            yield bare
        if bare.startswith(".Lfunc_end") or bare.strip().startswith(".size"):
            return
