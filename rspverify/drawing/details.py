"""What findings rest on, to be shown step by step: asked after the verdicts, and apart."""

from __future__ import annotations

from collections.abc import Generator, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from msgspec import Struct

from rspverify.answers import Detail, Observed, Reached, Result
from rspverify.judge.answers import command_of
from rspverify.judge.inputs import LoadedTest, NamedScheme, read_inputs
from rspverify.judge.judge import Judge
from rspverify.judge.question import Incident, Question, Undecided
from rspverify.judge.verdicts import ProgressQuestion, VerdictQuestion, Verdicts
from rspverify.picture import Picture
from rspverify.records import replace
from rspverify.soundness.settings import Settings
from rspverify.source import InputError, Source, read_source
from rspverify.verdict import WRONG, Word

if TYPE_CHECKING:
    from rspverify.axiomatic.model import MemoryModel

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
    are told, if it is SOUND. gone: why its file cannot be read any more.
    """

    test: Source
    scheme: NamedScheme
    word: Word
    progress: bool
    command: str = ""
    outcome: Observed | None = None
    code: str = ""
    reached: bool = False
    gone: str = ""


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
    if not results:
        return
    settings, known = replace(settings, confirm=None, smt_dir=None), texts or {}
    files = list(dict.fromkeys(each.scheme_file for each in results))
    given = [known.get(it, it) for it in files]
    inputs = read_inputs(given, settings, judge, unique=False, compilers=True)
    named = {it.file: it for it in inputs.schemes}
    asked = [_broken(it, named[it.scheme_file], settings, known, reached) for it in results]
    yield from details_of(asked, Verdicts(judge, inputs.named, settings))


def _broken(
    result: Result,
    scheme: NamedScheme,
    settings: Settings,
    texts: Mapping[str, Source],
    reached: bool,
) -> Broken:
    """What is asked of a result."""
    command = command_of(result, settings)
    try:
        test = read_source(texts.get(result.file, result.file))
    except InputError as error:
        gone = "\n".join(map(str, error.problems))
        test = Source(result.file, "")
        return Broken(test, scheme, result.verdict, settings.progress, command, gone=gone)
    word, progress, outcome = result.verdict, settings.progress, result.outcome
    code = scheme.code_of(test, settings).text
    return Broken(test, scheme, word, progress, command, outcome, code, reached)


def details_of(asked: Sequence[Broken], verdicts: Verdicts) -> Generator[Detail, None, None]:
    """The detail of each test that a scheme breaks, in their order. Close it when done."""
    yield from verdicts.judge.run([_question(it, verdicts) for it in asked])


def detail_here(it: Broken, verdicts: Verdicts, test: LoadedTest) -> Detail:
    """The detail of one test under a scheme, in this process. test: as it was read."""
    return verdicts.judge.ask(_question(it, verdicts, test))


def _question(it: Broken, verdicts: Verdicts, test: LoadedTest | None = None) -> DetailQuestion:
    settings = replace(verdicts.settings, progress=it.progress, shortest=True)
    test = test or LoadedTest(it.test, settings)
    return DetailQuestion(it, verdicts.by(settings).question(test, it.scheme))


class DetailQuestion(Question[Detail], frozen=True):
    """What is to be shown of a test that a scheme breaks?"""

    kind = "details"

    of: Broken
    verdict: VerdictQuestion

    @property
    def incident(self) -> Incident:
        return self.verdict.incident

    def parts(self) -> Iterator[Question[Any]]:
        verdict = self.verdict
        if verdict.known_form:
            yield from (verdict, ProgressQuestion(verdict), ReachedQuestion(verdict))
        if self.of.outcome is not None:
            yield ForbiddenQuestion(verdict, self.of.outcome)

    def known(self, judge: Judge) -> Detail | None:
        return Detail("", "", self.of.command, reason=self.of.gone) if self.of.gone else None

    def decide(self) -> Detail:
        """What goes wrong meanwhile is why something is not there."""
        from rspverify.judge.explain import explain

        it, verdict, judge = self.of, self.verdict, self.verdict.verdicts.judge
        explanation = explain(verdict.test, it.scheme, verdict.verdicts)
        detail = replace(self._without(""), explanation=explanation)
        outcome = explanation.result.outcome
        if outcome is not None:
            drawn = judge.ask(ForbiddenQuestion(verdict, outcome))
            return replace(detail, picture=drawn.picture, reason=drawn.reason)
        if it.word in WRONG:
            unlike = f"not found again: {explanation.verdict.reason}"
            return replace(detail, reason=unlike)
        if it.reached and explanation.verdict.word is Word.SOUND:
            return replace(detail, reached=judge.ask(ReachedQuestion(verdict)))
        return detail

    def lost(self, why: Undecided) -> Detail:
        return self._without(why.reason)

    def _without(self, reason: str) -> Detail:
        it = self.of
        code = it.code or it.scheme.source.text
        return Detail(it.test.text, code, it.command, reason=reason)


class ReachedQuestion(Question["Reached | None"], frozen=True):
    """Which outcomes does the machine reach? None where something went wrong."""

    kind = "reached"
    answer = Reached

    verdict: VerdictQuestion

    @property
    def content(self) -> tuple[Any, ...]:
        return self.verdict.content

    @property
    def incident(self) -> Incident:
        return self.verdict.incident

    def decide(self) -> Reached | None:
        from rspverify.judge.explain import Reach

        it, settings = self.verdict, self.verdict.verdicts.settings
        limits = replace(settings, seconds=settings.seconds or _SECONDS).limits()
        reach = Reach(it.test, it.scheme, it.verdicts, limits)
        reach.find()
        return reach.answer()

    def lost(self, why: Undecided) -> Reached | None:
        return None

    def worth_keeping(self, answer: Reached | None) -> bool:
        return answer is not None and answer.stopped is None


class ForbiddenQuestion(Question[Forbidden], frozen=True):
    """What does an execution with an outcome look like that the model forbids?"""

    kind = "forbidden"
    answer = Forbidden

    verdict: VerdictQuestion
    outcome: Observed

    @property
    def content(self) -> tuple[Any, ...]:
        verdicts, source = self.verdict.verdicts, self.verdict.test.source
        chosen = replace(verdicts.settings, model=verdicts.named.name, seconds=None)
        return source.digest, verdicts.named.digest, chosen, str(self.outcome)

    @property
    def incident(self) -> Incident:
        return self.verdict.incident

    def decide(self) -> Forbidden:
        it = self.verdict
        return drawn_forbidden(it.test, it.verdicts.model, self.outcome, it.verdicts.settings)

    def lost(self, why: Undecided) -> Forbidden:
        return Forbidden(None, f"no picture: {why.reason}")


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
