"""Translators: what makes a program of a target of a source program, and what each is called.

A scheme is one, and is called by its file; a compiler is one, and is called by a prefix. Another
kind is a class with these methods, and a line in `COMPILERS`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from importlib import import_module
from typing import TYPE_CHECKING, Protocol

from msgspec import Struct

from rspverify.architecture.architecture import Architecture
from rspverify.architecture.machines import machine_named
from rspverify.source import (
    MAX_SCHEME_BYTES,
    Given,
    InputError,
    Problem,
    Severity,
    Source,
    name_of,
    read_source,
)
from rspverify.wording import in_a_file_name

if TYPE_CHECKING:
    from rspverify.assembly.program import AssemblyProgram
    from rspverify.litmus.program import Program
    from rspverify.mapping.mapped import Mapped
    from rspverify.mapping.table import Table
    from rspverify.scheme.scheme import Scheme

    Rows = Scheme | Table


class Translator(Protocol):
    """What makes a program of a target of a source program.

    name: as reports call it. source: the text that it is read from, empty of a compiler. machine:
    what executes the code; None where a model says what its executions are. runs_on: the name of
    either; identity: what keys have of it; path: its file, empty where it ships. language: of the
    assembly that it translates from; None where it is from OpenCL and C. whole: whether it
    translates whole programs, as a compiler does: loops that only spin are unrolled for it.
    """

    @property
    def name(self) -> str: ...
    @property
    def source(self) -> Source: ...
    @property
    def machine(self) -> Architecture | None: ...
    @property
    def runs_on(self) -> str: ...
    @property
    def identity(self) -> str: ...
    @property
    def path(self) -> str: ...
    @property
    def language(self) -> str | None: ...
    @property
    def whole(self) -> bool: ...

    def on_machine(self, machine: Architecture) -> Translator:
        """The same for another machine. Raises InputError where that cannot execute its code."""

    def prepare(self, programs: Iterable[Program]) -> None:
        """Translate several programs at a time, if that takes less."""

    def compiled(self, program: Program) -> AssemblyProgram | Mapped:
        """The program of the target. Raises InputError with all that cannot be translated."""

    def key(self, program: Program) -> tuple[object, ...]:
        """All that the compiled form of a program depends on. Raises InputError where there is
        none."""

    def code_of(self, program: Callable[[], Program]) -> Source:
        """The text that says what code a program becomes. Raises InputError where there is none."""


class Compilers(Struct, frozen=True):
    """Compilers of one kind. called: how, in messages; words: what a word is that stands in the
    place of a scheme; module: whose `translator(word)` it means."""

    called: str
    words: str
    module: str


_CPU = r"aarch64|armv7|nvptx:sm_\d+|ppc64le|riscv64|x86-64"
COMPILERS = (
    Compilers("amdgpu:CPU", r"amdgpu:.*", "rspverify.compilers.gpus"),
    Compilers(
        "a processor",
        rf"(?:gcc|clang):.*|(?:{_CPU})(?:[+:,].*|-O.*|@.*)?",
        "rspverify.compilers.cpus",
    ),
)
"""What may stand in the place of a scheme beside a file."""


def _module_of(word: str) -> str | None:
    """Where the compiler is that a word names."""
    return next((it.module for it in COMPILERS if re.fullmatch(it.words, word)), None)


def names_compiler(given: Given) -> bool:
    """Whether a compiler is given in the place of a scheme."""
    return isinstance(given, str) and _module_of(given) is not None


def has_rows(translator: Translator) -> bool:
    """Whether it has rows, each with one code; a compiler has none, nor has a mixed table
    until `rows_in` joins its parts."""
    return bool(getattr(translator, "rows", ()))


def rows_in(translator: Translator) -> Rows:
    """What has rows, of that; of a table of several with those of all. Raises InputError."""
    if getattr(translator, "parts", ()):
        return translator.joined  # type: ignore[attr-defined, no-any-return]
    if not has_rows(translator):
        message = f"{translator.name} must be a table with rows here"
        raise InputError([Problem(None, message, severity=Severity.UNSUPPORTED)])
    return translator  # type: ignore[return-value]


def table_of(translator: Translator) -> Scheme:
    """The scheme, of what is one for a machine: a compiler has no table. Raises InputError."""
    if not is_scheme(translator):
        message = f"{translator.name} must be a scheme for a machine here"
        raise InputError([Problem(None, message, severity=Severity.UNSUPPORTED)])
    return translator  # type: ignore[return-value]


def is_scheme(translator: Translator) -> bool:
    """Whether it is a scheme for a machine, which `table_of` gives."""
    from rspverify.scheme.scheme import Scheme

    return isinstance(translator, Scheme) and not translator.whole


def machine_behind(translator: Translator) -> Architecture:
    """The machine that executes the code. Raises InputError where there is none."""
    if translator.machine is None:
        message = f"{translator.name} must be for a machine here, not for {translator.runs_on}"
        raise InputError([Problem(None, message, severity=Severity.UNSUPPORTED)])
    return translator.machine


def read_scheme_or_table(given: Given) -> Scheme | Table:
    """A scheme for a machine, or a table for a target. Raises InputError."""
    from rspverify.scheme.reader import is_for_target, read_scheme

    source = read_source(given, MAX_SCHEME_BYTES)
    if not is_for_target(source):
        return read_scheme(source)
    from rspverify.mapping.reader import read_table

    return read_table(source)


def table_name(compiler: str) -> str:
    """What the table is called that is read out of a compiler: `llvm-gfx942`, `gcc-riscv64`; or
    those out of several whose code is linked."""
    names = (it.removeprefix("amdgpu:") for it in compiler.split(","))
    each = (it if it.startswith("gcc:") else f"llvm-{it}" for it in names)
    return in_a_file_name(",".join(each))


def read_translator(given: Given, machine: str | None = None) -> Translator:
    """A scheme or a compiler, for a machine if one is named. Raises InputError."""
    found: Translator
    module = _module_of(given) if isinstance(given, str) else None
    if module is not None:
        found = import_module(module).translator(name_of(given))
    else:
        found = read_scheme_or_table(given)
    return found.on_machine(machine_named(machine)) if machine else found
