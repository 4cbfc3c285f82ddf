"""Compilers for processors whose executions a model says: each test is compiled whole, and read
back as a test in their assembly.

They are called `aarch64`, with a feature `aarch64+lse`, with how much is optimised `aarch64-O1`,
and with the program that compiles `aarch64@llc-19`; `clang:aarch64` and `gcc:aarch64` are short for
those that are called so.
"""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterable, Mapping, Sequence
from itertools import product
from math import prod
from typing import ClassVar

from msgspec import Struct, field

from rspverify.architecture.architecture import Architecture
from rspverify.axiomatic.cat import load_model
from rspverify.axiomatic.model import MemoryModel
from rspverify.compilers.assembly import Syntax
from rspverify.compilers.c_source import c_source
from rspverify.compilers.compilation import Compilation, functions
from rspverify.compilers.executed import Entry, mapped
from rspverify.compilers.ir import Backend
from rspverify.compilers.llvm import Compiler, Kind, compiler_at, llvmlite
from rspverify.compilers.processors import Goal
from rspverify.compilers.programs import module
from rspverify.compilers.spelling import Spelled, arm, lines_of, power, ptx, riscv, x86
from rspverify.isa.lines import Instruction, Line
from rspverify.litmus.program import GLOBAL, Operation, Program, Scope
from rspverify.litmus.program import Kind as Does
from rspverify.mapping.mapped import Mapped
from rspverify.mapping.table import MOST_MIXED
from rspverify.mapping.targets import TARGETS, Target
from rspverify.records import replace
from rspverify.source import InputError, Problem, Severity, Source
from rspverify.wording import alternatives


class Feature(Struct, frozen=True):
    """A feature that may be asked for. gcc: what GCC adds for it to the name of the architecture,
    empty where it has none; model: which one judges the code, if it is another."""

    gcc: str = ""
    model: str = ""


class Cpu(Struct, frozen=True):
    """A processor that compilers know.

    target: its assembly and model. entry: what registers have at the entry of a function.
    comments: what begins one in assembly; spelled: what makes the dialect of what is emitted. base:
    the features that it always has; offered: others. scopes: what IR calls those of OpenCL, none
    where it has none. cpu: which is meant where several are, as LLVM calls it. march: the name of
    the architecture without features, as GCC calls it. spelling: options of LLVM, gcc: of GCC, and
    driver: of GCC and clang. debian: the triple by which Debian calls its GCC, if it is another.
    """

    name: str
    triple: str
    target: Target
    entry: Entry
    comments: str
    spelled: Spelled
    base: tuple[str, ...] = ()
    offered: Mapping[str, Feature] = {}
    scopes: Mapping[Scope, str] = {}
    cpu: str = ""
    march: str = "armv8-a"
    spelling: tuple[str, ...] = ()
    gcc: tuple[str, ...] = ()
    driver: tuple[str, ...] = ()
    debian: str = ""

    @property
    def backend(self) -> Backend:
        """What IR says for it."""
        return Backend(self.triple, {GLOBAL: "ptr"}, self.scopes)


CPUS: Mapping[str, Cpu] = {
    it.name: it
    for it in (
        Cpu(
            "aarch64",
            "aarch64-linux-gnu",
            TARGETS["aarch64"],
            Entry("X0", "SP", r"\w+ X.*"),
            r"//|^\s*#",
            arm,
            base=("-outline-atomics",),
            offered={"lse": Feature("+lse"), "rcpc": Feature("+rcpc")},
            driver=("-mno-outline-atomics",),
        ),
        Cpu(
            "x86-64",
            "x86_64-linux-gnu",
            TARGETS["x86"],
            Entry("RDI", "RSP", r"MOV (?:.*, )?R(?:[ABCD]X|[SD]I|[BS]P|[89]|1\d)(?:, \[.*)?"),
            "#",
            x86,
            spelling=("-x86-asm-syntax=intel",),
            gcc=("-masm=intel", "-fcf-protection=none"),
        ),
        Cpu(
            "riscv64",
            "riscv64-linux-gnu",
            TARGETS["riscv"],
            Entry("a0", "sp", r"[ls]d .*"),
            "#",
            riscv,
            base=("+m", "+a"),
            offered={
                "zalasr": Feature(model="riscv-zalasr"),
                "ztso": Feature("_ztso", "riscv-ztso"),
            },
            march="rv64gc",
        ),
        Cpu(
            "ppc64le",
            "powerpc64le-linux-gnu",
            TARGETS["power"],
            Entry("r3", "r1", r"(?:ld|stdu?) .*"),
            "#",
            power,
            spelling=("-ppc-asm-full-reg-names",),
            gcc=("-mregnames",),
        ),
        Cpu(
            "armv7",
            "armv7-linux-gnueabihf",
            TARGETS["armv7"],
            Entry("R0", "SP"),
            r"@|^\s*#",
            arm,
            gcc=("-march=armv7-a+fp", "-marm"),
            debian="arm-linux-gnueabihf",
        ),
        *(
            Cpu(
                f"nvptx:{it}",
                "nvptx64-nvidia-cuda",
                TARGETS["ptx"],
                Entry("%block"),
                "//",
                ptx,
                scopes={
                    Scope.WI: "singlethread",
                    Scope.SG: "block",
                    Scope.WG: "block",
                    Scope.DV: "device",
                },
                cpu=it,
            )
            for it in ("sm_70", "sm_80", "sm_90")
        ),
    )
}
"""By the name on command lines."""

_WORD = re.compile(rf"(?:(gcc|clang):)?({'|'.join(CPUS)})((?:\+\w+)*)(?:-O([0-3]))?(?:@(.+))?")
_LEVEL = "2"
_ALWAYS = (
    "-std=gnu11",
    "-fwrapv",
    "-fno-stack-protector",
    "-fno-asynchronous-unwind-tables",
    "-fno-ipa-icf",
    "-Wno-invalid-memory-model",
)
"""Of GCC: integers wrap, a function is nothing but its code, and the order of a compare-exchange
that fails may be stronger than the other, as C17 allows."""


class Setup(Goal, frozen=True, kw_only=True):
    """A processor with features, and how much is optimised. under: the model that a feature asks
    for; None where it is that of the processor."""

    of: Cpu
    chosen: tuple[str, ...]
    under: str | None


def setup(of: Cpu, chosen: tuple[str, ...] = (), level: str = _LEVEL) -> Setup:
    """What code is made for: `aarch64+lse`, `aarch64-O1`."""
    name = f"{of.name}{''.join(f'+{it}' for it in chosen)}{f'-O{level}' * (level != _LEVEL)}"
    asked = [of.offered[it] for it in chosen]
    architecture = [f"-march={of.march}{''.join(it.gcc for it in asked)}"] if asked else []
    return Setup(
        name,
        f"{name} -O{level}",
        of.triple,
        of.cpu,
        (*of.base, *(f"+{it}" for it in chosen)),
        level,
        of.spelling,
        (*_ALWAYS, *of.gcc, *of.driver, *architecture),
        of.driver,
        of=of,
        chosen=chosen,
        under=next((it.model for it in asked if it.model), None),
    )


class ForCpu(Struct, Compilation, frozen=True, eq=False):
    """What a compiler makes of tests for a processor whose executions a model says."""

    word: str
    goal: Setup
    compiler: Compiler
    emitted_before: dict[str, Source | InputError] = field(default_factory=dict)
    machine: ClassVar[None] = None

    @property
    def name(self) -> str:
        """What it is called, whichever version compiles: `aarch64+lse`, `gcc:aarch64`."""
        by = "gcc:" if self.compiler.kind is Kind.GCC else ""
        return f"{by}{self.goal.name}"

    @property
    def syntax(self) -> Syntax:
        """How its assembly is written."""
        return Syntax(self.goal.of.comments)

    @property
    def model(self) -> MemoryModel:
        """The model that says what executions of its code are."""
        return load_model(self.goal.under or self.target.model)

    @property
    def runs_on(self) -> str:
        """The name of its target."""
        return self.target.name

    @property
    def identity(self) -> str:
        """What keys have of the model."""
        return self.model.text_digest

    @property
    def path(self) -> str:
        """Its model ships."""
        return ""

    @property
    def language(self) -> None:
        """It compiles OpenCL and C."""
        return None

    @property
    def target(self) -> Target:
        """Its assembly and model."""
        return self.goal.of.target

    @property
    def has_scopes(self) -> bool:
        """Whether operations of other scopes become other code."""
        return bool(self.goal.of.scopes)

    @property
    def version_tells(self) -> bool:
        """Whether its version tells what it emits: a program may be built again under the same."""
        return self.compiler.kind is Kind.LLVMLITE

    def row_for(self, operation: Operation) -> None:
        """A compiler has no rows."""

    def on_machine(self, machine: Architecture) -> ForCpu:
        """Raises InputError: a model says what the executions of its code are."""
        message = f"{self.name} is for a processor, which is no machine"
        raise InputError([Problem(None, f"{message}: --machine must be left out")])

    def compiled(self, program: Program) -> Mapped:
        """The program that was emitted for a test.

        Raises InputError where the test, or the code, is beyond what can be read.
        """
        return mapped(program, self.code(program), self.goal.of.entry, self.target, self.model)

    def code(self, program: Program) -> Mapping[str, Sequence[Line]]:
        """The lines of each thread, in the spelling of the dialect. Raises InputError."""
        found = functions(self.emitted(program), program, self.syntax)
        return {it.name: list(lines_of(own, self.goal.of.spelled)) for it, own in found}

    def written(self, programs: Mapping[str, Program]) -> str:
        """A module with tests, whose functions begin with their names: C for GCC, IR for LLVM."""
        if self.compiler.kind is Kind.GCC:
            return c_source(programs)
        return module(programs, has_local=False, backend=self.goal.of.backend)

    def why_not(self, operation: Operation) -> str | None:
        """Why an operation cannot be compiled for this processor, in words that follow its name."""
        if operation.kind is Does.BARRIER:
            return "is a barrier, which is not read back"
        if operation.remote and self.has_scopes:
            return "is remote, and compilers do not know that"
        return None


class Linked(ForCpu, frozen=True, eq=False):
    """Compilers for one processor, of which any may have compiled each thread, as in object files
    that are linked. others: those beside the first."""

    others: tuple[ForCpu, ...] = ()

    @property
    def each(self) -> tuple[ForCpu, ...]:
        """All of them."""
        return ForCpu(super().name, self.goal, self.compiler), *self.others

    @property
    def name(self) -> str:
        """`gcc:riscv64,riscv64`."""
        return ",".join([super().name, *(it.name for it in self.others)])

    @property
    def origin(self) -> str:
        """Which compilers they are."""
        return "; ".join([super().origin, *(it.origin for it in self.others)])

    @property
    def model(self) -> MemoryModel:
        """That of the processor with all their features, in whatever order they are named."""
        each = [super().model, *(it.model for it in self.others)]
        return next((it for it in each if it.name != self.target.model), each[0])

    @property
    def version_tells(self) -> bool:
        """Whether those of all tell."""
        return super().version_tells and all(it.version_tells for it in self.others)

    def key(self, program: Program) -> tuple[object, ...]:
        """What each of them emits."""
        return super().key(program), *(it.key(program) for it in self.others)

    def prepare(self, programs: Iterable[Program]) -> None:
        """Compile tests by each of them."""
        programs = list(programs)
        super().prepare(programs)
        for it in self.others:
            it.prepare(programs)

    def compiled(self, program: Program) -> Mapped:
        """What a test may be: the threads by any of them, those with the same code once."""
        each = [self.code(program), *(it.code(program) for it in self.others)]
        choices = [list({_text(it[name]): it[name] for it in each}.values()) for name in each[0]]
        if (number := prod(map(len, choices))) > MOST_MIXED:
            message = f"linked code must be at most {MOST_MIXED} programs of a test, not {number:,}"
            raise InputError([Problem(None, message, severity=Severity.UNSUPPORTED)])
        first, *others = (
            mapped(
                program,
                dict(zip(each[0], chosen, strict=True)),
                self.goal.of.entry,
                self.target,
                self.model,
            )
            for chosen in product(*choices)
        )
        return replace(first, others=tuple(others))


def _text(code: Sequence[Line]) -> tuple[str, ...]:
    """What a thread executes, as text."""
    return tuple(str(it) for it in code if isinstance(it, Instruction))


def translator(word: str) -> ForCpu:
    """The compiler that a word names, or those whose code is linked. Raises InputError."""
    first, *others = map(_one, word.split(","))
    if not others:
        return first
    if wrong := [it.word for it in others if it.target != first.target]:
        message = f"linked code must be for one processor, not {first.word} and {wrong[0]}"
        raise InputError([Problem(None, message)])
    return Linked(word, first.goal, first.compiler, others=tuple(others))


def _one(word: str) -> ForCpu:
    match = _WORD.fullmatch(word)
    if match is None:
        message = f"a compiler must be called as aarch64, aarch64+lse or gcc:riscv64, not {word}"
        raise InputError([Problem(None, message, f"processors are {', '.join(CPUS)}")])
    by, name, features, level, path = match.groups()
    of = CPUS[name]
    chosen = tuple(dict.fromkeys(filter(None, features.split("+"))))
    problems = [
        Problem(None, f"a feature of {name} must be {alternatives([*of.offered])}, not {each}")
        for each in chosen
        if each not in of.offered
    ]
    if problems:
        raise InputError(problems)
    goal = setup(of, chosen, level or _LEVEL)
    if by == "gcc":
        path = path or f"{of.debian or of.triple}-gcc"
    elif by == "clang":
        path = path or "clang"
    if by and path is not None and shutil.which(path) is None:
        message = f"{path} must be installed, and is not"
        raise InputError([Problem(None, message, f"name another: {word.partition('@')[0]}@PATH")])
    compiler = compiler_at(path, goal) if path else llvmlite()
    if compiler.kind is Kind.GCC and (lacks := [it for it in chosen if not of.offered[it].gcc]):
        raise InputError([Problem(None, f"{word}: GCC has no feature {lacks[0]}")])
    return ForCpu(word, goal, compiler)
