"""The tests, the schemes and the model of a run: read once, and parsed only where they must be.

What a text says is an answer that the cache keeps, so that a run whose answers are all known loads
neither grammars nor solvers.
"""

from __future__ import annotations

import os.path
from collections.abc import Iterable, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any

from msgspec import Struct

from rspverify.architecture.machines import machine_named
from rspverify.judge.facts import (
    ModelFacts,
    ProgramFacts,
    SchemeFacts,
    TranslatorFacts,
    facts_of,
    facts_of_model,
    facts_of_program,
    facts_of_scheme,
)
from rspverify.judge.question import Question, Undecided, digest, refused
from rspverify.records import replace
from rspverify.soundness.settings import Engine, Settings
from rspverify.source import (
    MAX_SCHEME_BYTES,
    Given,
    InputError,
    Problem,
    Severity,
    Source,
    in_one_line,
    name_of,
    read_source,
)
from rspverify.translators import names_compiler, read_translator, table_of

if TYPE_CHECKING:
    from rspverify.architecture.architecture import Architecture
    from rspverify.axiomatic.model import MemoryModel
    from rspverify.judge.judge import Judge
    from rspverify.litmus.program import Program
    from rspverify.scheme.scheme import Scheme
    from rspverify.translators import Translator


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

    @property
    def title(self) -> str:
        """Its title as far as it can be told; or else its file."""
        from rspverify.litmus.reader import title_of

        return self.file if self.unreadable else title_of(self.source) or self.file

    @cached_property
    def facts(self) -> ProgramFacts:
        """What answers depend on of its program; a `ProgramQuestion` sets what is kept."""
        return facts_of_program(self.program)

    @property
    def size(self) -> tuple[int, int, int, str]:
        """What makes a test the smaller one: operations, threads, text, and then the name."""
        operations, threads = len(self.program.operations), len(self.program.threads)
        return (operations, threads, len(self.source.text), self.file)


class ProgramQuestion(Question[ProgramFacts], frozen=True):
    """What does a test say? A language that this version cannot read is an answer."""

    kind = "program"
    answer = ProgramFacts

    test: LoadedTest

    @property
    def content(self) -> tuple[Any, ...]:
        settings = self.test.settings
        return digest(self.test.source.text), settings.unroll, settings.mixed

    def known(self, judge: Judge) -> ProgramFacts | None:
        facts = judge.kept(self)
        if facts is not None:
            self.test.facts = facts
        return facts

    def decide(self) -> ProgramFacts:
        from rspverify.litmus.reader import title_of

        try:
            return self.test.facts
        except InputError as error:
            if error.severity is Severity.ERROR:
                raise
            title, reason = title_of(self.test.source), in_one_line(error.problems)
            return ProgramFacts(title, (), reason)


def read_test(source: Source, settings: Settings, judge: Judge | None = None) -> LoadedTest:
    """A test whose program could be read; its facts are kept by the judge. Raises InputError."""
    test = LoadedTest(source, settings)
    facts = test.facts
    if judge is not None:
        judge.keep(ProgramQuestion(test), facts)
    return test


def read_tests(
    given: Iterable[Given], settings: Settings, judge: Judge, problems: list[Problem]
) -> tuple[tuple[LoadedTest, ...], tuple[tuple[str, str], ...]]:
    """Tests, the smallest first; and those that this version cannot read, each with the reason.

    What is wrong with any of them goes to `problems`.
    """
    tests: list[LoadedTest] = []
    left_out: list[tuple[str, str]] = []
    for each in given:
        try:
            tests.append(read_test(read_source(each), settings, judge))
        except InputError as error:
            if error.severity is Severity.ERROR:
                problems += error.problems
            else:
                left_out.append((name_of(each), in_one_line(error.problems)))
    return tuple(sorted(tests, key=lambda test: test.size)), tuple(left_out)


class NamedScheme(Struct, frozen=True, eq=False, dict=True):
    """A scheme or a compiler by the name of its file, and its facts.

    machine: by name, of the settings. parsed: None where it is still to be read from its text. Of
    a compiler there is no text.
    """

    file: str
    source: Source
    facts: TranslatorFacts
    machine: str | None = None
    parsed: Translator | None = None

    @staticmethod
    def by(translator: Translator, file: str, settings: Settings) -> NamedScheme:
        """A scheme or a compiler. settings: how tests are read."""
        source = Source(file, "") if translator.whole else table_of(translator).source
        return NamedScheme(file, source, facts_of(translator, settings), None, translator)

    @staticmethod
    def of(scheme: Scheme, file: str = "") -> NamedScheme:
        """A scheme, and the file that reports of internal errors are to name."""
        return NamedScheme(file, scheme.source, facts_of_scheme(scheme), None, scheme)

    @cached_property
    def translator(self) -> Translator:
        """What compiles tests, for the machine that the settings name if they name one."""
        if self.parsed is None:
            return read_translator(self.source, self.machine)
        return self.parsed.on_machine(machine_named(self.machine)) if self.machine else self.parsed

    @property
    def scheme(self) -> Scheme:
        """The same of a scheme: a compiler has no rows."""
        return table_of(self.translator)

    def code_of(self, test: Source, settings: Settings) -> Source:
        """The text that says what code a test becomes."""
        try:
            return self.translator.code_of(lambda: settings.read(test))
        except InputError:
            return Source(self.file, "")

    def __reduce__(self) -> tuple[Any, ...]:
        """Parsed: another machine does not have the files that it includes."""
        return NamedScheme, (self.file, self.source, self.facts, None, self.translator)


class SchemeQuestion(Question[SchemeFacts], frozen=True):
    """What does the text of a scheme say, on another machine than its own if one is given?

    parsed: is given the scheme where it had to be read.
    """

    kind = "scheme"
    answer = SchemeFacts

    source: Source
    machine: Architecture | None
    parsed: list[Scheme]

    @property
    def content(self) -> tuple[Any, ...]:
        where = () if self.machine is None else (self.machine.identity,)
        return (digest(self.source.text), *where)

    def decide(self) -> SchemeFacts:
        from rspverify.scheme.reader import read_scheme

        scheme = read_scheme(self.source)
        self.parsed.append(scheme)
        return facts_of_scheme(scheme.on_machine(self.machine) if self.machine else scheme)

    def worth_keeping(self, answer: SchemeFacts) -> bool:
        """Not where it names the file of a machine itself: what that says now must be read."""
        return not self.parsed[-1].machine.path


class LoadedModel(Struct, frozen=True, eq=False, dict=True):
    """A model by its name or path, and its facts. parsed: None where it is still to be read."""

    path: str
    facts: ModelFacts
    parsed: MemoryModel | None = None

    @staticmethod
    def of(model: MemoryModel) -> LoadedModel:
        """A model that was read."""
        return LoadedModel(model.name, facts_of_model(model), model)

    @cached_property
    def model(self) -> MemoryModel:
        """The model. Raises InputError if it has changed."""
        from rspverify.axiomatic.cat import load_model

        return self.parsed or load_model(self.path)

    def __reduce__(self) -> tuple[Any, ...]:
        """Parsed: another machine does not have its files."""
        return LoadedModel, (self.path, self.facts, self.model)


class ModelQuestion(Question[ModelFacts], frozen=True):
    """Which model has this name or path? parsed: is given the model where it had to be read."""

    kind = "model"
    answer = ModelFacts

    path: str
    parsed: list[MemoryModel]

    @property
    def content(self) -> tuple[Any, ...]:
        return self.path, os.path.abspath(self.path)

    def known(self, judge: Judge) -> ModelFacts | None:
        """What is kept, if its files still say the same."""
        facts = judge.kept(self)
        return facts if facts is not None and all(it.holds() for it in facts.files) else None

    def decide(self) -> ModelFacts:
        from rspverify.axiomatic.cat import load_model

        self.parsed.append(load_model(self.path))
        return facts_of_model(self.parsed[-1])


class Inputs(Struct, frozen=True):
    """All that a run takes but its tests."""

    schemes: tuple[NamedScheme, ...]
    model: LoadedModel
    settings: Settings

    @property
    def facts(self) -> tuple[SchemeFacts, ...]:
        """The facts of the schemes, where all are tables."""
        return tuple(it.facts for it in self.schemes if isinstance(it.facts, SchemeFacts))

    @property
    def names(self) -> list[str]:
        """The names of the schemes."""
        return [each.facts.name for each in self.schemes]

    def parse(self) -> None:
        """Parse all of it, before there are worker processes. Raises InputError."""
        from rspverify.litmus.syntax import warm_up

        warm_up()
        _ = self.model.model, [each.translator for each in self.schemes]


def read_inputs(
    given: Sequence[Given],
    settings: Settings,
    judge: Judge,
    *,
    unique: bool = True,
    compilers: bool = False,
) -> Inputs:
    """Read schemes and model. Raises InputError for all that is wrong with them.

    unique: whether two schemes must have two names. compilers: whether there may be compilers.
    """
    problems: list[Problem] = []
    if not compilers:
        problems += [_no_table(name_of(each)) for each in given if names_compiler(each)]
        given = [each for each in given if not names_compiler(each)]
    model = None
    try:
        parsed: list[MemoryModel] = []
        facts = judge.ask(ModelQuestion(settings.model, parsed))
        model = LoadedModel(settings.model, facts, *parsed)
    except InputError as error:
        problems += error.problems
    names: dict[str, str] = {}
    schemes: list[NamedScheme] = []
    try:
        machine = machine_named(settings.machine) if settings.machine else None
    except InputError as error:
        problems += error.problems
        raise InputError(problems) from None
    for each in given:
        try:
            if names_compiler(each):
                scheme = _compiler(each, settings)
            else:
                scheme = _scheme(each, settings, judge, machine)
        except InputError as error:
            problems += error.problems
            continue
        path, name = name_of(each), scheme.facts.name
        if unique and name in names:
            message = f"{path}: its name must be unique in a run, {name} is also {names[name]}"
            hint = "change what stands after name: in one of them"
            problems.append(Problem(None, message, hint))
        names[name] = path
        schemes.append(scheme)
    if problems or model is None:
        raise InputError(problems)
    return Inputs(tuple(schemes), model, _decided_by(schemes, settings))


def _decided_by(schemes: Sequence[NamedScheme], settings: Settings) -> Settings:
    """With an engine that knows the machines of the schemes, unless one was asked for by name."""
    if not any(each.facts.unbounded for each in schemes):
        return replace(settings, allow_fallback=True)
    if settings.engine is Engine.EVENTS and settings.allow_fallback:
        return replace(settings, engine=Engine.EXPLICIT)
    return settings


def _scheme(
    given: Given, settings: Settings, judge: Judge, machine: Architecture | None
) -> NamedScheme:
    """A scheme, with its facts on a machine if one is given."""
    source = read_source(given, MAX_SCHEME_BYTES)
    parsed: list[Scheme] = []
    facts = judge.ask(SchemeQuestion(source, machine, parsed))
    return NamedScheme(source.name, source, facts, settings.machine, *parsed)


def _no_table(word: str) -> Problem:
    message = f"a scheme must be a table here, not the compiler {word}"
    return Problem(None, message, "rspverify extract makes a table of what a compiler emits")


def _compiler(given: Given, settings: Settings) -> NamedScheme:
    word = name_of(given)
    return NamedScheme.by(read_translator(word, settings.machine), word, settings)
