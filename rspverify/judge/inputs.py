"""The tests, the schemes and the model of a run, and what a test becomes under a scheme.

That is itself an answer that is kept, so that a run whose answers are all known parses no test.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import cached_property
from typing import TYPE_CHECKING, Any

from msgspec import Struct

from rspverify.architecture.architecture import Architecture
from rspverify.architecture.machines import machine_named
from rspverify.axiomatic.catalogue import shipped_models
from rspverify.judge.question import Question, Undecided, refused
from rspverify.litmus.comments import title_of
from rspverify.soundness.settings import Settings
from rspverify.source import (
    MAX_SCHEME_BYTES,
    Given,
    InputError,
    Problem,
    Severity,
    Source,
    digest,
    in_one_line,
    name_of,
    read_source,
)
from rspverify.translators import names_compiler, read_translator, rows_in

if TYPE_CHECKING:
    from rspverify.axiomatic.model import MemoryModel
    from rspverify.judge.judge import Judge
    from rspverify.litmus.program import Program
    from rspverify.translators import Rows, Translator


class LoadedTest:
    """A test, and its program once that is asked for, which may raise InputError.

    assembly: whether it may be a test in assembly. unreadable: why its file cannot be read.
    """

    def __init__(self, given: Given, settings: Settings, *, assembly: bool = False) -> None:
        self.settings = settings
        self.assembly = assembly
        self.unreadable: Undecided | None = None
        try:
            self.source = read_source(given)
        except InputError as error:
            self.source, self.unreadable = Source(name_of(given), ""), refused(error)

    @property
    def file(self) -> str:
        """Its file, as the user names it."""
        return self.source.name

    @cached_property
    def program(self) -> Program:
        """Its program, read as the settings say."""
        return self.settings.read(self.source, assembly=self.assembly)

    @cached_property
    def title(self) -> str:
        """Its title as far as it can be told; or else its file."""
        return self.file if self.unreadable else title_of(self.source) or self.file

    @property
    def size(self) -> tuple[int, int, int, str]:
        """What makes a test the smaller one: operations, threads, text, and then the name."""
        operations, threads = len(self.program.operations), len(self.program.threads)
        return (operations, threads, len(self.source.text), self.file)


class Form(Struct, frozen=True):
    """What a test becomes under a scheme.

    code: a digest of all that its compiled form depends on. refusal: why it is not compiled.
    unread: why not even the test can be read by this version.
    """

    code: str = ""
    refusal: str | None = None
    unread: str | None = None


class FormQuestion(Question[Form], frozen=True):
    """What does a test become under a scheme? Where that is kept, neither is parsed again."""

    kind = "form"
    answer = Form

    test: LoadedTest
    scheme: NamedScheme

    @property
    def content(self) -> tuple[Any, ...] | None:
        if self.scheme.table is None:
            return None
        test, scheme, settings = self.test, self.scheme, self.test.settings
        texts = test.source.digest, scheme.source.digest
        return *texts, scheme.identity, settings.unroll, settings.mixed, settings.dependencies

    def decide(self) -> Form:
        try:
            program = self.test.program
        except InputError as error:
            if error.severity is Severity.ERROR:
                raise
            return Form(unread=in_one_line(error.problems))
        try:
            key = self.scheme.translator.key(program)
        except InputError as error:
            return Form(refusal=in_one_line(error.problems))
        return Form(digest(repr(key)))


def read_test(source: Source, settings: Settings, *, assembly: bool = False) -> LoadedTest:
    """A test whose program could be read. assembly: whether it may be in assembly. Raises
    InputError."""
    test = LoadedTest(source, settings, assembly=assembly)
    _ = test.program
    return test


def read_tests(
    given: Iterable[Given], settings: Settings, problems: list[Problem], *, assembly: bool = False
) -> tuple[tuple[LoadedTest, ...], tuple[tuple[str, str], ...]]:
    """Tests, the smallest first; and those that this version cannot read, each with the reason.

    What is wrong with any of them goes to `problems`. assembly: whether they may be in assembly.
    """
    tests: list[LoadedTest] = []
    left_out: list[tuple[str, str]] = []
    for each in given:
        try:
            tests.append(read_test(read_source(each), settings, assembly=assembly))
        except InputError as error:
            if error.severity is Severity.ERROR:
                problems += error.problems
            else:
                left_out.append((name_of(each), in_one_line(error.problems)))
    return tuple(sorted(tests, key=lambda test: test.size)), tuple(left_out)


class Table(Struct, frozen=True):
    """What a run must know of a scheme before it decides anything.

    machine: its part of keys; unbounded: why the engine without steps does not know it, if it does
    not; switches: what those of its switches are that are off, by name.
    """

    name: str
    machine: str
    unbounded: str | None
    switches: Mapping[str, str]
    language: str | None = None


class TableQuestion(Question[Table], frozen=True, dict=True):
    """What does a run know of a scheme? Where that is kept, neither it nor its machine is parsed.

    on: the machine instead of the one that it names.
    """

    kind = "table"
    answer = Table

    source: Source
    on: str | None

    @cached_property
    def scheme(self) -> Translator:
        """The scheme that the text says. Raises InputError."""
        from rspverify.translators import read_scheme_or_table

        scheme = read_scheme_or_table(self.source)
        return scheme.on_machine(machine_named(self.on)) if self.on else scheme

    @property
    def content(self) -> tuple[Any, ...]:
        return self.source.digest, self.on

    def decide(self) -> Table:
        it, machine = self.scheme, self.scheme.machine
        switches = {} if machine is None else machine.off
        return Table(it.name, it.identity, _unbounded(machine), switches, it.language)

    def worth_keeping(self, answer: Table) -> bool:
        """The file of a machine or of a model may change."""
        return not self.scheme.path


class NamedScheme(Struct, frozen=True, eq=False, dict=True):
    """A scheme or a compiler by the name of its file.

    source: its text; of a compiler there is none. origin: what it is, or the question that reads
    it. table: what is known of one that says just what the text does. called: what reports call
    it, if not by its own name.
    """

    file: str
    source: Source
    origin: Translator | TableQuestion
    table: Table | None = None
    called: str = ""

    @staticmethod
    def by(translator: Translator, file: str = "") -> NamedScheme:
        """A scheme or a compiler, and the file that reports of internal errors are to name."""
        return NamedScheme(file, translator.source, translator)

    def __reduce__(self) -> tuple[Any, ...]:
        return NamedScheme, (self.file, self.source, self.translator, self.table, self.called)

    @cached_property
    def translator(self) -> Translator:
        """It itself, read when it is asked for."""
        return self.origin.scheme if isinstance(self.origin, TableQuestion) else self.origin

    @property
    def name(self) -> str:
        """As reports call it."""
        return self.called or (self.table.name if self.table else self.translator.name)

    @property
    def identity(self) -> str:
        """What keys have of its machine."""
        return self.table.machine if self.table else self.translator.identity

    @property
    def language(self) -> str | None:
        """Of the assembly that it translates from; None where it is from OpenCL and C."""
        return self.table.language if self.table else self.translator.language

    @property
    def unbounded(self) -> str | None:
        """Why the engine without steps does not know its machine; None if it does."""
        return self.table.unbounded if self.table else _unbounded(self.machine)

    @property
    def off(self) -> Mapping[str, str]:
        """What those switches of its machine are that are off, by name."""
        if self.table:
            return self.table.switches
        return self.machine.off if self.machine else {}

    @property
    def machine(self) -> Architecture | None:
        """What executes its code; None where that is a model."""
        return self.translator.machine

    @property
    def scheme(self) -> Rows:
        """It, of what is a table with rows: a compiler has none. Raises InputError."""
        return rows_in(self.translator)

    def code_of(self, test: Source, settings: Settings) -> Source:
        """The text that says what code a test becomes."""
        try:
            return self.translator.code_of(lambda: settings.read(test))
        except InputError:
            return Source(self.file, "")


class NamedModel(Struct, frozen=True, dict=True):
    """A memory model by its name. One that ships has no mistakes, and is read when it is needed.

    read: any other.
    """

    name: str
    read: MemoryModel | None = None

    @staticmethod
    def by(model: MemoryModel) -> NamedModel:
        """A model that is read."""
        return NamedModel(model.name, model)

    @cached_property
    def model(self) -> MemoryModel:
        """The model itself."""
        from rspverify.axiomatic.cat import load_model

        return self.read or load_model(self.name)

    @property
    def digest(self) -> str:
        """Its part of keys: of a model that ships its name, as its text is part of our code."""
        return self.read.text_digest if self.read else self.name


def named_model(name: str) -> NamedModel:
    """A model by its name or path. Raises InputError."""
    named = NamedModel(name)
    return named if name in shipped_models() else NamedModel.by(named.model)


def read_named(given: Given, machine: str | None, judge: Judge) -> NamedScheme:
    """A scheme or a compiler, on a machine if one is given."""
    if names_compiler(given):
        return NamedScheme.by(read_translator(given, machine), name_of(given))
    asked = TableQuestion(read_source(given, MAX_SCHEME_BYTES), machine)
    return NamedScheme(asked.source.name, asked.source, asked, judge.ask(asked))


def _unbounded(machine: Architecture | None) -> str | None:
    from rspverify.machine.machine import unbounded

    return None if machine is None else unbounded(machine)
