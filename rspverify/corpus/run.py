"""A suite is run: every test put to everything that its tests are put to, in order."""

from __future__ import annotations

import time
from collections.abc import Generator, Iterator, Mapping, Sequence
from contextlib import closing
from typing import TYPE_CHECKING, Any, assert_never

from rspverify.answers import ModelAnswer, Result
from rspverify.architecture.architecture import Architecture
from rspverify.architecture.machines import machine_named
from rspverify.corpus.suite import OF_PROOFS, Kind, Suite
from rspverify.judge.inputs import LoadedTest, NamedModel, named_model
from rspverify.judge.judge import Judge
from rspverify.judge.question import Incident, Question, Undecided
from rspverify.judge.run import read_inputs
from rspverify.records import replace
from rspverify.schedulers import schedulers_of
from rspverify.soundness.settings import Settings
from rspverify.verdict import ProgressWord

if TYPE_CHECKING:
    from rspverify.proof.proof import Proof


def suite_results(
    suite: Suite, settings: Settings, tests: Sequence[str], judge: Judge
) -> Generator[Result | ModelAnswer, None, None]:
    """The results of a suite, test by test, each as soon as those before it are there.

    Close it when done. Raises InputError if a scheme, a model or a machine cannot be read.
    """
    columns: dict[str, NamedModel | Architecture] = {}
    match suite.kind:
        case Kind.SCHEMES:
            run = read_inputs(suite.columns, settings, judge, compilers=True)
            yield from run.results(tests)
            return
        case Kind.MODELS:
            columns |= {name: named_model(name) for name in suite.columns}
        case Kind.MACHINES:
            columns |= {name: machine_named(name) for name in suite.columns}
        case Kind.SCHEDULERS:
            from rspverify.judge.waits import Waits, model_answer

            model, schedulers = named_model(settings.model).model, schedulers_of(suite.columns)
            waits = Waits(judge, model, schedulers, settings, suite.unit)
            with closing(waits.answers(tests)) as coming:
                yield from map(model_answer, coming)
            return
        case Kind.PROOFS:
            from rspverify.proof.proof import proof_questions

            with closing(judge.run(proof_questions(tests, settings, judge))) as proofs:
                for proof in proofs:
                    yield from _of_proof(proof)
            return
        case _:
            assert_never(suite.kind)
    assembly = suite.kind in (Kind.MACHINES, Kind.MODELS)
    loaded = [LoadedTest(it, settings, assembly=assembly) for it in tests]
    questions = [_Observation(test, name, columns) for test in loaded for name in columns]
    with closing(judge.run(questions)) as answers:
        yield from answers


def _of_proof(it: Proof) -> Iterator[ModelAnswer]:
    """What is known of all programs of a scheme, and of their progress."""
    progress = it.progress or ProgressWord.UNKNOWN
    answers = (it.word, it.reason), (progress, it.progress_reason or it.reason)
    internal = it.internal[0] if it.internal else None
    for column, (word, reason) in zip(OF_PROOFS, answers, strict=True):
        known = (it.subject.scheme, it.subject.file, column, str(word), reason)
        seconds = it.seconds if column == OF_PROOFS[0] else 0.0
        yield ModelAnswer(*known, {}, seconds, internal)


class _Observation(Question[ModelAnswer], frozen=True):
    """What does a model or a machine say of a test? column: which of those that are loaded."""

    answer = ModelAnswer
    kind = "what is observed"

    test: LoadedTest
    column: str
    columns: Mapping[str, NamedModel | Architecture]

    @property
    def content(self) -> tuple[Any, ...]:
        it, settings = self.columns[self.column], self.test.settings
        if isinstance(it, Architecture):
            settings, asked = replace(settings, allow_fallback=True), f"machine {it.identity}"
        else:
            settings, asked = replace(settings, model=self.column), f"model {it.digest}"
        return self.test.source.digest, asked, replace(settings, seconds=None)

    @property
    def incident(self) -> Incident:
        settings = self.test.settings
        if isinstance(self.columns[self.column], Architecture):
            settings = replace(settings, machine=self.column)
        else:
            settings = replace(settings, model=self.column)
        return Incident("outcomes", (self.test.file,), (), settings)

    def prepare(self) -> None:
        super().prepare()
        for it in self.columns.values():
            if isinstance(it, NamedModel):
                _ = it.model

    def known(self, judge: Judge) -> ModelAnswer | None:
        if self.test.unreadable is not None:
            return self.lost(self.test.unreadable)
        found = judge.kept(self)
        return found and replace(found, file=self.test.file, model=self.column, cached=True)

    def decide(self) -> ModelAnswer:
        started, test = time.perf_counter(), self.test
        answer, within = self._observed()
        seconds = time.perf_counter() - started
        return ModelAnswer(test.title, test.file, self.column, answer, "", within, seconds)

    def lost(self, why: Undecided) -> ModelAnswer:
        test, said = self.test, (why.word, why.reason)
        return ModelAnswer(test.title, test.file, self.column, *said, {}, why.seconds, why.internal)

    def _observed(self) -> tuple[str, Mapping[str, int]]:
        """What is observed, and within which bounds."""
        from rspverify.soundness.outcomes import machine_outcomes, observed_by

        it, settings, program = self.columns[self.column], self.incident.settings, self.test.program
        assert settings is not None
        if isinstance(it, Architecture):
            found = machine_outcomes(program, it, self.test.file, settings)
            assert found.final is not None, "outcomes were asked for"
            answer = found.final.observation if found.outcomes else "VACUOUS"
            return str(answer), dict(found.within)
        seen = observed_by(program, it.model, settings)
        return f"{seen.observation}{' racy' * seen.racy}", dict(seen.within)
