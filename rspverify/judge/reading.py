"""The schemes and the model of a run: each file is read once, and parsed only where it must be."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from msgspec import Struct

from rspverify.architecture import machine_named
from rspverify.judge.facts import (
    CompilerFacts,
    ModelFacts,
    SchemeFacts,
    facts_of_model,
    facts_of_scheme,
    model_question,
    scheme_question,
)
from rspverify.records import replace
from rspverify.shipped import COMPILERS
from rspverify.soundness.settings import Engine, Settings
from rspverify.source import (
    MAX_SCHEME_BYTES,
    Given,
    InputError,
    Problem,
    Source,
    name_of,
    read_source,
)

if TYPE_CHECKING:
    from rspverify.architecture import Architecture
    from rspverify.axiomatic import MemoryModel
    from rspverify.judge.judge import Judge
    from rspverify.judge.verdicts import Named, NamedScheme
    from rspverify.scheme import Scheme
    from rspverify.soundness.case import Translator


class SchemeText(Struct, frozen=True):
    """A scheme's text and its facts. parsed: None where the cache knew the facts.

    Of a compiler there is no text.
    """

    file: str
    source: Source
    facts: SchemeFacts
    parsed: Translator | None

    def scheme(self, settings: Settings) -> Translator:
        """The scheme, for the machine that the settings name if they name one."""
        from rspverify.scheme import read_scheme

        return _on_machine(self.parsed or read_scheme(self.source), settings)

    def table(self, settings: Settings) -> Scheme:
        """The same of what is a table."""
        from rspverify.scheme import Scheme

        found = self.scheme(settings)
        assert isinstance(found, Scheme)
        return found


class Inputs(Struct, frozen=True):
    """All that a run takes but its tests. model: None where the cache knew the facts."""

    schemes: tuple[SchemeText, ...]
    model_facts: ModelFacts
    model: MemoryModel | None
    settings: Settings

    @property
    def names(self) -> list[str]:
        """The names of the schemes."""
        return [each.facts.name for each in self.schemes]

    def parsed(self) -> tuple[tuple[Named, ...], MemoryModel]:
        """Schemes and model, for those that decide. Raises InputError if the model has changed."""
        from rspverify.axiomatic import load_model
        from rspverify.judge.verdicts import Named

        schemes = (Named(it.file, it.scheme(self.settings), it.facts) for it in self.schemes)
        return tuple(schemes), self.model or load_model(self.settings.model)

    def tables(self) -> tuple[tuple[NamedScheme, ...], MemoryModel]:
        """The same of schemes that are tables, all of them."""
        from rspverify.judge.verdicts import NamedScheme

        named, model = self.parsed()
        return tuple(NamedScheme(it.file, it.table, it.facts) for it in named), model


def load_scheme(given: Given, settings: Settings) -> Translator:
    """A scheme or a compiler, for the machine that the settings name if they name one."""
    from rspverify.scheme import read_scheme_file

    if names_compiler(given):
        from rspverify.compilers.compilation import compilation

        return _on_machine(compilation(name_of(given)), settings)
    return _on_machine(read_scheme_file(given), settings)


def names_compiler(given: Given) -> bool:
    """Whether a compiler is given in the place of a scheme."""
    return isinstance(given, str) and given.startswith(COMPILERS)


def _on_machine(scheme: Translator, settings: Settings) -> Translator:
    return scheme.on_machine(machine_named(settings.machine)) if settings.machine else scheme


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
    known, model = None, None
    try:
        known, model = _model(settings.model, judge)
    except InputError as error:
        problems += error.problems
    names: dict[str, str] = {}
    schemes: list[SchemeText] = []
    try:
        machine = machine_named(settings.machine) if settings.machine else None
    except InputError as error:
        problems += error.problems
        raise InputError(problems) from None
    for each in given:
        path = name_of(each)
        try:
            if names_compiler(each):
                scheme = _compiler(each, settings)
            else:
                scheme = _scheme(each, judge, machine)
        except InputError as error:
            problems += error.problems
            continue
        name = scheme.facts.name
        if unique and name in names:
            message = f"{path}: its name must be unique in a run, {name} is also {names[name]}"
            hint = "change what stands after name: in one of them"
            problems.append(Problem(None, message, hint))
        names[name] = path
        schemes.append(scheme)
    if problems or known is None:
        raise InputError(problems)
    return Inputs(tuple(schemes), known, model, _decided_by(schemes, settings))


def _decided_by(schemes: Sequence[SchemeText], settings: Settings) -> Settings:
    """With an engine that knows the machines of the schemes, unless one was asked for by name."""
    if not any(each.facts.unbounded for each in schemes):
        return replace(settings, insist=False)
    if settings.engine is Engine.EVENTS and not settings.insist:
        return replace(settings, engine=Engine.EXPLICIT)
    return settings


def _scheme(given: Given, judge: Judge, machine: Architecture | None) -> SchemeText:
    """A scheme, with its facts on a machine if one is given. They are kept unless it names the file
    of a machine itself: what that says now must be read."""
    source = read_source(given, MAX_SCHEME_BYTES)
    question = scheme_question(source, machine)
    facts = judge.known(question)
    if facts is not None:
        return SchemeText(source.name, source, facts, None)
    from rspverify.scheme import read_scheme

    scheme = read_scheme(source)
    facts = facts_of_scheme(scheme if machine is None else scheme.on_machine(machine))
    if not scheme.machine.path:
        judge.keep(question, facts)
    return SchemeText(source.name, source, facts, scheme)


def _no_table(word: str) -> Problem:
    message = f"a scheme must be a table here, not the compiler {word}"
    return Problem(None, message, "rspverify extract makes a table of what a compiler emits")


def _compiler(given: Given, settings: Settings) -> SchemeText:
    from rspverify.compilers.compilation import compilation

    found = compilation(name_of(given))
    if settings.machine:
        found = found.on_machine(machine_named(settings.machine))
    facts = CompilerFacts.of(found, settings)
    return SchemeText(found.word, Source(found.word, ""), facts, found)


def _model(name: str, judge: Judge) -> tuple[ModelFacts, MemoryModel | None]:
    question = model_question(name)
    facts = judge.known(question)
    if facts is not None and all(each.holds() for each in facts.files):
        return facts, None
    from rspverify.axiomatic import load_model

    model = load_model(name)
    facts = facts_of_model(model)
    judge.keep(question, facts)
    return facts, model
