"""The tests and schemes that an engineer's question is about, read once for all its answers."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from rspverify.answers import Subject
from rspverify.axiomatic import MemoryModel
from rspverify.check.cache import Cache
from rspverify.check.facts import ModelFacts, ProgramFacts, facts_of_program, program_question
from rspverify.check.reading import read_inputs
from rspverify.check.settings import Settings
from rspverify.litmus import Program
from rspverify.scheme import Scheme
from rspverify.source import InputError, Problem, Severity, Source, in_one_line, read_source


@dataclass(frozen=True)
class Case:
    """A test that could be read."""

    file: str
    source: Source
    program: Program
    facts: ProgramFacts

    @property
    def size(self) -> tuple[int, int, int, str]:
        """What makes a test the smaller one: operations, threads, text, and then the name."""
        operations, threads = len(self.program.operations), len(self.program.threads)
        return (operations, threads, len(self.source.text), self.file)


@dataclass(frozen=True)
class Workbench:
    """Schemes, tests and the model, read.

    cases: the smallest first. left_out: tests that this version cannot read, and why.
    """

    scheme_files: tuple[str, ...]
    schemes: tuple[Scheme, ...]
    model: MemoryModel
    model_facts: ModelFacts
    cases: tuple[Case, ...]
    left_out: tuple[tuple[str, str], ...]
    settings: Settings

    @property
    def subject(self) -> Subject:
        """The first scheme, and how it is decided."""
        scheme, engine = self.schemes[0], self.settings.engine
        return Subject(scheme.name, self.scheme_files[0], scheme.machine, self.model.name, engine)


def read_workbench(
    schemes: Sequence[str], tests: Iterable[str], settings: Settings, cache: Cache
) -> Workbench:
    """All that is named, read. Raises InputError for all that is wrong with any of it."""
    problems: list[Problem] = []
    inputs = None
    try:
        inputs = read_inputs(schemes, settings, cache)
    except InputError as error:
        problems += error.problems
    cases: list[Case] = []
    left_out: list[tuple[str, str]] = []
    for test in tests:
        try:
            cases.append(read_case(test, settings, cache))
        except InputError as error:
            if error.severity is Severity.ERROR:
                problems += error.problems
            else:
                left_out.append((test, in_one_line(error.problems)))
    if problems or inputs is None:
        raise InputError(problems)
    decider = inputs.decider()
    return Workbench(
        tuple(each.file for each in decider.schemes),
        tuple(each.scheme for each in decider.schemes),
        decider.model,
        decider.model_facts,
        tuple(sorted(cases, key=lambda case: case.size)),
        tuple(left_out),
        settings,
    )


def read_case(file: str, settings: Settings, cache: Cache) -> Case:
    """A test. Raises InputError."""
    source = read_source(file)
    return case_of(source, file, settings, cache)


def case_of(source: Source, file: str, settings: Settings, cache: Cache) -> Case:
    """A test from its text. Raises InputError."""
    program = settings.read(source)
    facts = facts_of_program(program)
    cache.keep(program_question(source, settings), facts)
    return Case(file, source, program, facts)
