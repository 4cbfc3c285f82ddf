"""What a run must know of its inputs before it decides anything, small enough to be cached.

Reading a test takes a grammar, and deciding takes a solver; a run whose answers are all known loads
neither, as these facts are themselves answers, to the question what a text says.
"""

from __future__ import annotations

from collections.abc import Mapping
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING

from msgspec import Struct

from rspverify.judge.question import digest
from rspverify.source import InputError, Source, read_source

if TYPE_CHECKING:
    from rspverify.architecture.architecture import Architecture
    from rspverify.axiomatic.model import MemoryModel
    from rspverify.litmus.program import Operation, Program
    from rspverify.scheme.row import Shape
    from rspverify.scheme.scheme import Ordering, Scheme
    from rspverify.soundness.settings import Settings
    from rspverify.translators import Translator


class Use(Struct, frozen=True):
    """A kind of operation that a program has. adds: whether the operation, if an RMW, adds.

    shape: as a row's; of an operation that no scheme can compile, why not.
    """

    kind: str
    shape: str
    adds: bool


class ProgramFacts(Struct, frozen=True):
    """The title of a test and the kinds of its operations; or why this version cannot read it.

    title: None only where it is refused and has none that can be told.
    """

    title: str | None
    uses: tuple[Use, ...] = ()
    refusal: str | None = None


class SchemeFacts(Struct, frozen=True):
    """A scheme: code by the shape of operation; rows: its rows by kind, as messages name them.

    machine: what answers depend on of the machine that it is for; unbounded: why the engine without
    steps does not know that machine, None if it does.

    adding: the shapes whose code can only add, and the row that says so.
    """

    name: str
    machine: str
    code: Mapping[str, tuple[str, ...]]
    rows: Mapping[str, tuple[str, ...]]
    adding: Mapping[str, str]
    unbounded: str | None = None

    def row_for(self, shape: Shape) -> tuple[str, ...]:
        """The code of a shape; a word where there is no row, as a row may have no instruction."""
        return self.code.get(str(shape), ("no row",))

    def made_of(self, source: Source, program: ProgramFacts) -> tuple[object, ...]:
        """All that the compiled form of a test depends on."""
        return self.rows_used(program)

    def rows_used(self, program: ProgramFacts) -> tuple[tuple[str, ...], ...]:
        """All that the compiled form of a program, or its refusal, depends on in this scheme.

        A refusal, which names the scheme and its rows of a kind, says nothing of the operations
        that could be compiled (scheme/compile.py).
        """
        used, refused = [], []
        for use in program.uses:
            code = self.code.get(use.shape)
            if code is None:
                refused.append((use.shape, "no row", self.name, *self.rows.get(use.kind, ())))
            elif not use.adds and use.shape in self.adding:
                refused.append((use.shape, "can only add", self.name, self.adding[use.shape]))
            else:
                used.append((use.shape, *code))
        return tuple(refused or used)


class ReadingFacts(Struct, frozen=True, eq=False):
    """The facts of a translator that must read a test to tell what its answer depends on.

    settings: how tests are read.
    """

    translator: Translator
    settings: Settings

    @property
    def name(self) -> str:
        """As reports call it."""
        return self.translator.name

    @property
    def machine(self) -> str:
        """What answers depend on of the machine that it is for."""
        return self.translator.machine.identity

    @property
    def unbounded(self) -> str | None:
        """Why the engine without steps does not know that machine, None if it does."""
        return unbounded_on(self.translator.machine)

    def made_of(self, source: Source, program: ProgramFacts) -> tuple[object, ...]:
        """All that the compiled form of a test depends on."""
        return (digest(repr(self.translator.key(self.settings.read(source)))),)


TranslatorFacts = SchemeFacts | ReadingFacts
"""What a run must know of what compiles its tests."""


def facts_of(translator: Translator, settings: Settings) -> TranslatorFacts:
    """The facts of a translator. settings: how tests are read."""
    from rspverify.scheme.scheme import Scheme

    if isinstance(translator, Scheme):
        return facts_of_scheme(translator)
    return ReadingFacts(translator, settings)


class LookedFor(Struct, frozen=True):
    """A place where a model's reading looked for a file; digest is None if there was none."""

    path: str
    digest: str | None

    def holds(self) -> bool:
        """Whether the same would be found there now."""
        try:
            now = digest(read_source(self.path).text) if Path(self.path).is_file() else None
        except (InputError, OSError):
            return False
        return now == self.digest


class ModelFacts(Struct, frozen=True):
    """A model by its texts, and where they were found."""

    name: str
    digest: str
    files: tuple[LookedFor, ...]


def facts_of_program(program: Program) -> ProgramFacts:
    """The facts of a test that could be read."""
    from rspverify.litmus.program import Kind
    from rspverify.scheme.compile import beyond
    from rspverify.scheme.row import shape_of
    from rspverify.scheme.scheme import ordering

    def use(it: Operation) -> Use:
        reason = beyond(it, program)
        if it.kind is Kind.BARRIER:
            return Use("fence", reason or _barrier(ordering(it)), True)
        kind = "cas" if it.success else it.kind.value
        return Use(kind, reason or str(shape_of(it)), it.kind is not Kind.RMW or it.operator == "+")

    uses = set(map(use, program.operations))
    return ProgramFacts(program.title, tuple(sorted(uses, key=lambda use: (use.shape, use.adds))))


def facts_of_scheme(scheme: Scheme) -> SchemeFacts:
    """The facts of a scheme."""
    from rspverify.litmus.program import Scope
    from rspverify.scheme.memory import IN_BOTH, IN_GLOBAL, IN_LOCAL
    from rspverify.scheme.row import Shape
    from rspverify.scheme.scheme import fence_code

    code = {
        str(shape): tuple(str(each) for each in row.code) for shape, row in scheme.table.items()
    }
    for what in product(Scope, (IN_GLOBAL, IN_LOCAL, IN_BOTH)):
        if not isinstance(fences := scheme.fences(what), Shape):
            code[_barrier(what)] = tuple("; ".join(map(str, fence_code(it))) for it in fences)
    adding = {str(shape): f"{row.number} {row}" for shape, row in scheme.table.items() if row.adds}
    rows: dict[str, tuple[str, ...]] = {}
    for row in scheme.rows:
        rows[row.kind.value] = (*rows.get(row.kind.value, ()), str(row))
    machine = scheme.machine
    unbounded = unbounded_on(machine)
    return SchemeFacts(scheme.name, machine.identity, code, rows, adding, unbounded)


def unbounded_on(machine: Architecture) -> str | None:
    """Why the engine without steps does not know a machine, None if it does."""
    from rspverify.machine.machine import unbounded

    return unbounded(machine)


def _barrier(what: Ordering) -> str:
    """What a barrier is to a scheme: the scope in which it orders memory, and which."""
    scope, memory = what
    return f"barrier {'+'.join(sorted(memory))} {scope.value}"


def facts_of_model(model: MemoryModel) -> ModelFacts:
    """The facts of a model."""
    files = tuple(
        LookedFor(each.path, None if each.text is None else digest(each.text))
        for each in model.files
    )
    texts = " ".join(each.digest for each in files if each.digest is not None)
    return ModelFacts(model.name, digest(texts), files)
