"""A suite is run: every test put to everything that its tests are put to, in order."""

from __future__ import annotations

import time
from collections.abc import Generator, Sequence
from contextlib import closing
from typing import TYPE_CHECKING, Any, assert_never

from rspverify.answers import ModelAnswer, Result
from rspverify.architecture.architecture import Architecture
from rspverify.architecture.machines import machine_named
from rspverify.corpus.suite import Kind, Suite
from rspverify.judge.inputs import LoadedModel, LoadedTest, read_inputs
from rspverify.judge.judge import Judge
from rspverify.judge.question import Incident, Question, Undecided, digest, stem
from rspverify.judge.run import Run
from rspverify.records import replace
from rspverify.schedulers import schedulers_of
from rspverify.soundness.settings import Settings

if TYPE_CHECKING:
    pass


def suite_results(
    suite: Suite, settings: Settings, tests: Sequence[str], judge: Judge
) -> Generator[Result | ModelAnswer, None, None]:
    """The results of a suite, test by test, each as soon as those before it are there.

    Close it when done. Raises InputError if a scheme, a model or a machine cannot be read.
    """
    columns: dict[str, LoadedModel | Architecture]
    match suite.kind:
        case Kind.SCHEMES:
            run = Run(read_inputs(suite.columns, settings, judge, compilers=True), judge)
            yield from run.results(tests)
            return
        case Kind.MODELS:
            columns = {
                it: read_inputs((), replace(settings, model=it), judge).model
                for it in suite.columns
            }
        case Kind.MACHINES:
            columns = {it: machine_named(it) for it in suite.columns}
        case Kind.SCHEDULERS:
            from rspverify.axiomatic.cat import load_model
            from rspverify.judge.waits import Waits, model_answer

            model, schedulers = load_model(settings.model), schedulers_of(suite.columns)
            with closing(Waits(judge, model, schedulers, settings).answers(tests)) as coming:
                yield from map(model_answer, coming)
            return
        case _:
            assert_never(suite.kind)
    machines = suite.kind is Kind.MACHINES
    loaded = [LoadedTest(it, settings, assembly=machines) for it in tests]
    questions = [_RowQuestion(it, columns, judge) for it in loaded]
    with closing(judge.run(questions)) as rows:
        for row in rows:
            yield from row


class _RowQuestion(Question[Sequence[ModelAnswer]], frozen=True):
    """What do models or machines say of a test?"""

    kind = "suite"

    test: LoadedTest
    columns: dict[str, LoadedModel | Architecture]
    judge: Judge

    @property
    def name(self) -> str:
        return stem(self.test.file)

    def parts(self) -> list[_ColumnQuestion]:
        return [_ColumnQuestion(self, name) for name in self.columns]

    def prepare(self) -> None:
        from rspverify.litmus.syntax import warm_up

        warm_up()
        for column in self.columns.values():
            if isinstance(column, LoadedModel):
                _ = column.model

    def known(self, judge: Judge) -> Sequence[ModelAnswer] | None:
        if self.test.unreadable is not None:
            return self.lost(self.test.unreadable)
        answers = [it for it in map(judge.known, self.parts()) if it is not None]
        return answers if len(answers) == len(self.columns) else None

    def decide(self) -> Sequence[ModelAnswer]:
        return [self.judge.ask(each) for each in self.parts()]

    def lost(self, why: Undecided) -> Sequence[ModelAnswer]:
        return [each.lost(why) for each in self.parts()]


class _ColumnQuestion(Question[ModelAnswer], frozen=True):
    """What does a model or a machine say of a test?"""

    answer = ModelAnswer
    kind = "what is observed"

    row: _RowQuestion
    column: str

    @property
    def content(self) -> tuple[Any, ...]:
        it, settings = self.row.columns[self.column], self.row.test.settings
        if isinstance(it, Architecture):
            settings, asked = replace(settings, allow_fallback=True), f"machine {it.identity}"
        else:
            settings, asked = replace(settings, model=self.column), f"model {it.facts.digest}"
        return digest(self.row.test.source.text), asked, replace(settings, seconds=None)

    @property
    def incident(self) -> Incident:
        it, settings = self.row.columns[self.column], self.row.test.settings
        if isinstance(it, Architecture):
            settings = replace(settings, machine=self.column)
        else:
            settings = replace(settings, model=self.column)
        return Incident("outcomes", (self.row.test.file,), (), settings)

    def known(self, judge: Judge) -> ModelAnswer | None:
        found = judge.kept(self)
        file = self.row.test.file
        return found and replace(found, file=file, model=self.column, cached=True)

    def decide(self) -> ModelAnswer:
        started, test = time.perf_counter(), self.row.test
        answer, within = self._observed()
        seconds = time.perf_counter() - started
        return ModelAnswer(test.title, test.file, self.column, answer, "", within, seconds)

    def lost(self, why: Undecided) -> ModelAnswer:
        test, said = self.row.test, (why.word, why.reason)
        return ModelAnswer(test.title, test.file, self.column, *said, {}, why.seconds, why.internal)

    def _observed(self) -> tuple[str, dict[str, int]]:
        """What is observed, and within which bounds."""
        it, settings = self.row.columns[self.column], self.incident.settings
        program = self.row.test.program
        assert settings is not None
        if isinstance(it, Architecture):
            from rspverify.soundness.outcomes import machine_outcomes

            found = machine_outcomes(program, it, self.row.test.file, settings)
            assert found.final is not None, "outcomes were asked for"
            answer = found.final.observation if found.outcomes else "VACUOUS"
            return str(answer), dict(found.within)
        from rspverify.soundness.outcomes import observed_by

        seen = observed_by(program, it.model, settings)
        return f"{seen.observation}{' racy' * seen.racy}", dict(seen.within)
