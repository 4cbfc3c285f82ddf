"""What findings rest on, to be shown step by step: asked after the verdicts, and apart."""

from __future__ import annotations

from collections.abc import Generator, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

from rspverify.answers import Detail, Observed, Result
from rspverify.judge.answers import progress_question, soundness_question
from rspverify.judge.cache import Question, digest
from rspverify.judge.facts import program_question
from rspverify.judge.judge import Judge
from rspverify.judge.reading import read_inputs
from rspverify.judge.work import Work, stem
from rspverify.limits import LOST
from rspverify.picture import Picture
from rspverify.soundness.settings import Settings, explain_command
from rspverify.source import InputError, Source, read_source
from rspverify.verdict import ProgressWord, Word

if TYPE_CHECKING:
    from rspverify.answers import Explanation
    from rspverify.axiomatic import MemoryModel
    from rspverify.judge.loaded_test import LoadedTest
    from rspverify.judge.verdicts import NamedScheme, Verdicts


@dataclass(frozen=True)
class Forbidden:
    """A picture of an execution that the model forbids, or why there is none."""

    picture: Picture | None
    reason: str = ""


def details(
    results: Sequence[Result],
    settings: Settings,
    judge: Judge,
    texts: Mapping[str, Source] | None = None,
) -> Generator[Detail, None, None]:
    """The detail of each of some UNSOUND or STUCK results, in their order. Close it when done.

    The verdicts come from the cache where it has them. texts: those that are no files, by the name
    that results have. Raises InputError.
    """
    asked = _Details(results, settings, judge, texts or {})
    if results:
        _ = asked.parsed
    tasks = [asked.task(each) for each in results]
    known = [(None if isinstance(each, _Task) else each,) for each in tasks]
    rest = [each for each in tasks if isinstance(each, _Task)]
    work = Work("details", asked.decided, lambda task: stem(task.result.file), asked.asks)
    yield from judge.completed(known, work, rest, lambda it: [asked.missing(it, LOST)])


@dataclass(frozen=True)
class _Task:
    """A result, and the text of its test."""

    result: Result
    source: Source


class _Details:
    """The judge, asked about the schemes and the model of some results."""

    def __init__(
        self,
        results: Sequence[Result],
        settings: Settings,
        judge: Judge,
        texts: Mapping[str, Source],
    ) -> None:
        self._texts = texts
        self._settings = replace(settings, confirm=None, smt_dir=None)
        files = list(dict.fromkeys(each.scheme_file for each in results))
        given = [texts.get(file, file) for file in files]
        self._inputs = read_inputs(given, self._settings, judge)
        self._judge = judge

    @cached_property
    def parsed(self) -> tuple[dict[str, NamedScheme], Verdicts]:
        """The schemes by file, and who decides: read before there are workers."""
        from rspverify.judge.verdicts import Verdicts
        from rspverify.litmus import warm_up

        warm_up()
        schemes, model = self._inputs.parsed()
        return {it.file: it for it in schemes}, Verdicts(self._judge, model, self._settings)

    def task(self, result: Result) -> _Task | Detail:
        """What is to be asked of a result, or why there is nothing to ask."""
        try:
            return _Task(result, read_source(self._texts.get(result.file, result.file)))
        except InputError as error:  # a file has gone meanwhile
            reason = "\n".join(map(str, error.problems))
            return Detail("", "", self._command(result), reason=reason)

    def asks(self, task: _Task) -> Iterator[Question[Any]]:
        """What is asked of the judge about a result, as far as it is known beforehand."""
        facts = self._judge.known(program_question(task.source, self._settings))
        if facts is not None:
            scheme = self.parsed[0][task.result.scheme_file]
            model, settings = self._inputs.model_facts, self._settings
            question = soundness_question(task.source, facts, scheme.facts, model, settings)
            yield question
            yield progress_question(question)
        if task.result.outcome is not None:
            yield self._question(task.source, task.result.outcome)

    def decided(self, task: _Task) -> Sequence[Detail]:
        """The detail; what goes wrong meanwhile is why something is not there."""
        from rspverify.judge.attempt import Undecided, attempt
        from rspverify.judge.verdicts import incident_of

        result = task.result
        incident = incident_of(result.file, result.scheme_file, self._settings)
        found = attempt(lambda: self._explained(task), incident)
        if isinstance(found, Undecided):
            return [self.missing(task, found.reason)]
        test, explanation = found
        detail = replace(self.missing(task, ""), explanation=explanation)
        outcome = explanation.result.outcome
        if outcome is None:
            return [replace(detail, reason=_unlike(result, explanation))]
        drawn = attempt(lambda: self._forbidden(test, outcome), incident)
        if isinstance(drawn, Undecided):
            return [replace(detail, reason=f"no picture: {drawn.reason}")]
        return [replace(detail, picture=drawn.picture, reason=drawn.reason)]

    def missing(self, task: _Task, reason: str) -> Detail:
        """What is known without asking: the texts, and the command."""
        file = task.result.scheme_file
        (scheme,) = (each.source.text for each in self._inputs.schemes if each.file == file)
        return Detail(task.source.text, scheme, self._command(task.result), reason=reason)

    def _command(self, result: Result) -> str:
        stuck = result.progress is ProgressWord.STUCK and result.verdict is not Word.UNSOUND
        return explain_command(result.scheme_file, result.file, self._settings, progress=stuck)

    def _explained(self, task: _Task) -> tuple[LoadedTest, Explanation]:
        from rspverify.judge.explain import explain
        from rspverify.judge.loaded_test import read_test

        schemes, verdicts = self.parsed
        test = read_test(task.source, self._settings)
        return test, explain(test, schemes[task.result.scheme_file], verdicts)

    def _forbidden(self, test: LoadedTest, outcome: Observed) -> Forbidden:
        question, model = self._question(test.source, outcome), self.parsed[1].model
        return self._judge.ask(question, lambda: _drawn(test, model, str(outcome), self._settings))

    def _question(self, source: Source, outcome: Observed) -> Question[Forbidden]:
        """What does an execution look like that the model forbids?"""
        settings = replace(self._settings, model=self._inputs.model_facts.name, seconds=None)
        content = (
            digest(source.text),
            self._inputs.model_facts.digest,
            settings,
            str(outcome),
        )
        return Question("forbidden", content, Forbidden)


def _drawn(test: LoadedTest, model: MemoryModel, outcome: str, settings: Settings) -> Forbidden:
    from rspverify.drawing.draw import NoExecutionError, Wanted, Which, draw

    try:
        wanted = Wanted(Which.FORBIDDEN, outcome)
        (picture,) = draw(test.program, model, wanted, settings.limits())
    except NoExecutionError as error:
        return Forbidden(None, f"no picture: {error}")
    return Forbidden(picture)


def _unlike(result: Result, explanation: Explanation) -> str:
    """Why an outcome is not shown, where there was one."""
    if result.outcome is None:
        return ""
    return f"not found again: {explanation.verdict.reason}"
