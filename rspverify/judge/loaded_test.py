"""A test that was read, with what a question about it depends on."""

from __future__ import annotations

from collections.abc import Iterable

from msgspec import Struct

from rspverify.judge.facts import ProgramFacts, facts_of_program, program_question
from rspverify.judge.judge import Judge
from rspverify.litmus import Program
from rspverify.soundness.settings import Settings
from rspverify.source import (
    Given,
    InputError,
    Problem,
    Severity,
    Source,
    in_one_line,
    name_of,
    read_source,
)


class LoadedTest(Struct, frozen=True, eq=False, weakref=True):
    """A test that could be read. file: as the user names it."""

    file: str
    source: Source
    program: Program
    facts: ProgramFacts

    @property
    def size(self) -> tuple[int, int, int, str]:
        """What makes a test the smaller one: operations, threads, text, and then the name."""
        operations, threads = len(self.program.operations), len(self.program.threads)
        return (operations, threads, len(self.source.text), self.file)


def read_test(source: Source, settings: Settings, judge: Judge | None = None) -> LoadedTest:
    """A test from its text; its facts are kept by the judge. Raises InputError."""
    program = settings.read(source)
    facts = facts_of_program(program)
    if judge is not None:
        judge.keep(program_question(source, settings), facts)
    return LoadedTest(source.name, source, program, facts)


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
