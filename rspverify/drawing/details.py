"""What findings rest on, to be shown step by step: asked after the verdicts, and apart."""

from __future__ import annotations

from collections.abc import Generator, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from msgspec import Struct

from rspverify.answers import Detail, Explanation, Observed, Reached, Result
from rspverify.judge.answers import (
    command_of,
    progress_question,
    reached_question,
    soundness_question,
)
from rspverify.judge.attempt import Undecided, attempt
from rspverify.judge.cache import Question, digest
from rspverify.judge.facts import program_question
from rspverify.judge.judge import Judge
from rspverify.judge.reading import read_inputs
from rspverify.judge.work import Work, stem
from rspverify.limits import LOST
from rspverify.picture import Picture
from rspverify.records import replace
from rspverify.soundness.settings import Settings
from rspverify.source import InputError, Source, read_source
from rspverify.verdict import Word

if TYPE_CHECKING:
    from rspverify.axiomatic import MemoryModel
    from rspverify.judge.incident import Incident
    from rspverify.judge.loaded_test import LoadedTest
    from rspverify.judge.verdicts import Named, Verdicts

_SECONDS = 5.0
"""Seconds for the outcomes that a machine reaches of one test, unless a time limit is given."""


class Forbidden(Struct, frozen=True):
    """A picture of an execution that the model forbids, or why there is none."""

    picture: Picture | None
    reason: str = ""


class Broken(Struct, frozen=True):
    """A test that a scheme breaks, or of which more is told than that it is SOUND.

    command: what shows it, if any does. word: UNSOUND, or another where it gets stuck or never
    completes. progress: whether its progress is asked for, too. outcome: the wrong one, where it is
    known. code: what a compiler made of it. reached: whether the outcomes that the machine reaches
    are told, if it is SOUND.
    """

    test: Source
    scheme: Named
    word: Word
    progress: bool
    command: str = ""
    outcome: Observed | None = None
    code: str = ""
    reached: bool = False


def details(
    results: Sequence[Result],
    settings: Settings,
    judge: Judge,
    texts: Mapping[str, Source] | None = None,
    *,
    reached: bool = False,
) -> Generator[Detail, None, None]:
    """The detail of each of some results, in their order. Close it when done.

    reached: whether those that are SOUND have the outcomes that the machine reaches.

    The verdicts come from the cache where it has them. texts: those that are no files, by the name
    that results have. Raises InputError.
    """
    from rspverify.judge.verdicts import Verdicts

    if not results:
        return
    settings, known = replace(settings, confirm=None, smt_dir=None), texts or {}
    files = list(dict.fromkeys(each.scheme_file for each in results))
    given = [known.get(it, it) for it in files]
    inputs = read_inputs(given, settings, judge, unique=False, compilers=True)
    schemes, model = inputs.parsed()
    named = {it.file: it for it in schemes}
    asked = [_broken(it, named[it.scheme_file], settings, known, reached) for it in results]
    yield from details_of(asked, Verdicts(judge, model, settings))


def _broken(
    result: Result,
    scheme: Named,
    settings: Settings,
    texts: Mapping[str, Source],
    reached: bool,
) -> Broken | Detail:
    """What is asked of a result; or where its file has gone meanwhile, all that is known of it."""
    command = command_of(result, settings)
    try:
        test = read_source(texts.get(result.file, result.file))
    except InputError as error:
        return Detail("", "", command, reason="\n".join(map(str, error.problems)))
    word, progress, outcome = result.verdict, settings.progress, result.outcome
    code = scheme.code_of(test, settings).text
    return Broken(test, scheme, word, progress, command, outcome, code, reached)


def details_of(
    asked: Sequence[Broken | Detail], verdicts: Verdicts
) -> Generator[Detail, None, None]:
    """The detail of each test that a scheme breaks, in their order. Close it when done."""
    from rspverify.litmus import warm_up

    warm_up()  # before there are workers
    decided = _Details(verdicts)
    known = [(it if isinstance(it, Detail) else None,) for it in asked]
    tasks = [it for it in asked if isinstance(it, Broken)]
    work = Work("details", decided.of, lambda it: stem(it.test.name), decided.asks)
    yield from verdicts.judge.completed(known, work, tasks, lambda it: [_unanswered(it, LOST)])


def detail_here(it: Broken, verdicts: Verdicts, test: LoadedTest | None = None) -> Detail:
    """The detail of one test under a scheme, in this process. test: as it was read, if it was."""
    (detail,) = _Details(verdicts).of(it, test)
    return detail


def _unanswered(it: Broken, reason: str) -> Detail:
    code = it.code or it.scheme.table.source.text
    return Detail(it.test.text, code, it.command, reason=reason)


class _Details:
    """The judge, asked about tests that schemes break."""

    def __init__(self, verdicts: Verdicts) -> None:
        self._verdicts = verdicts

    def asks(self, it: Broken) -> Iterator[Question[Any]]:
        """What is asked of the judge about a test, as far as it is known beforehand."""
        settings, verdicts = self._settings(it), self._verdicts
        facts = verdicts.judge.known(program_question(it.test, settings))
        if facts is not None:
            question = soundness_question(
                it.test, facts, it.scheme.facts, verdicts.model_facts, settings
            )
            yield question
            yield progress_question(question, settings)
            if it.reached and it.word is Word.SOUND:
                yield reached_question(question)
        if it.outcome is not None:
            yield self._question(it.test, it.outcome, settings)

    def _settings(self, it: Broken) -> Settings:
        return replace(self._verdicts.settings, progress=it.progress, shortest=True)

    def of(self, it: Broken, test: LoadedTest | None = None) -> Sequence[Detail]:
        """The detail; what goes wrong meanwhile is why something is not there."""
        from rspverify.judge.verdicts import incident_of

        settings = self._settings(it)
        incident = incident_of(it.test.name, it.scheme.file, settings)
        found = attempt(lambda: self._explained(it, settings, test), incident)
        if isinstance(found, Undecided):
            return [_unanswered(it, found.reason)]
        read, explanation = found
        detail = replace(_unanswered(it, ""), explanation=explanation)
        outcome = explanation.result.outcome
        if outcome is None:
            unlike = f"not found again: {explanation.verdict.reason}"
            if it.reached and explanation.verdict.word is Word.SOUND:
                detail = replace(detail, reached=self._reached(found[0], it, settings, incident))
            return [replace(detail, reason=unlike) if it.word is Word.UNSOUND else detail]
        drawn = attempt(lambda: self._forbidden(read, outcome, settings), incident)
        if isinstance(drawn, Undecided):
            return [replace(detail, reason=f"no picture: {drawn.reason}")]
        return [replace(detail, picture=drawn.picture, reason=drawn.reason)]

    def _explained(
        self, it: Broken, settings: Settings, test: LoadedTest | None
    ) -> tuple[LoadedTest, Explanation]:
        from rspverify.judge.explain import explain
        from rspverify.judge.loaded_test import read_test

        test = test or read_test(it.test, settings)
        return test, explain(test, it.scheme, self._verdicts.by(settings))

    def _reached(
        self, test: LoadedTest, it: Broken, settings: Settings, incident: Incident
    ) -> Reached | None:
        """The outcomes that the machine reaches; None where something went wrong."""
        from rspverify.judge.explain import Reach

        verdicts = self._verdicts.by(settings)
        seconds = settings.seconds or _SECONDS

        def decide() -> Reached:
            limits = replace(settings, seconds=seconds).limits()
            reach = Reach(test, it.scheme, verdicts, limits)
            reach.find()
            return reach.answer()

        question = reached_question(verdicts.question(test, it.scheme))
        found = attempt(
            lambda: verdicts.judge.ask(question, decide, lambda known: known.stopped is None),
            incident,
        )
        return None if isinstance(found, Undecided) else found

    def _forbidden(self, test: LoadedTest, outcome: Observed, settings: Settings) -> Forbidden:
        question, model = self._question(test.source, outcome, settings), self._verdicts.model
        return self._verdicts.judge.ask(
            question, lambda: drawn_forbidden(test, model, outcome, settings)
        )

    def _question(
        self, source: Source, outcome: Observed, settings: Settings
    ) -> Question[Forbidden]:
        """What does an execution look like that the model forbids?"""
        facts = self._verdicts.model_facts
        chosen = replace(settings, model=facts.name, seconds=None)
        content = (digest(source.text), facts.digest, chosen, str(outcome))
        return Question("forbidden", content, Forbidden)


def drawn_forbidden(
    test: LoadedTest, model: MemoryModel, outcome: Observed, settings: Settings
) -> Forbidden:
    """An execution with an outcome that the model forbids, as a picture. Raises LimitReached."""
    from rspverify.drawing.draw import NoExecutionError, Wanted, Which, draw

    try:
        wanted = Wanted(Which.FORBIDDEN, str(outcome))
        (picture,) = draw(test.program, model, wanted, settings.limits())
    except NoExecutionError as error:
        return Forbidden(None, f"no picture: {error}")
    return Forbidden(picture)
