"""What findings rest on, to be shown step by step: asked after the verdicts, and apart."""

from __future__ import annotations

from collections.abc import Generator, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from msgspec import Struct

from rspverify.answers import Detail, Observed, Reached, Result, RowsAtFault
from rspverify.judge.faults import fault_of
from rspverify.judge.inputs import LoadedTest, NamedScheme
from rspverify.judge.judge import Judge
from rspverify.judge.question import Incident, Question, Undecided
from rspverify.judge.run import read_inputs
from rspverify.judge.verdicts import ProgressQuestion, VerdictQuestion, Verdicts, command_of
from rspverify.picture import Picture
from rspverify.records import replace
from rspverify.soundness.settings import Settings
from rspverify.source import Given, Source
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
    known. reached: whether the outcomes that the machine reaches are told, if it is SOUND.
    """

    test: Given
    scheme: NamedScheme
    word: Word
    progress: bool = False
    command: str = ""
    outcome: Observed | None = None
    reached: bool = False


def details(asked: Iterable[Broken], verdicts: Verdicts) -> Generator[Detail, None, None]:
    """What each of these rests on, in their order. Close it when done.

    The verdicts come from the cache where it has them.
    """
    yield from verdicts.judge.run([detail_question(it, verdicts) for it in asked])


def faults(asked: Iterable[Broken], verdicts: Verdicts) -> Generator[RowsAtFault, None, None]:
    """The rows at fault of each of these, which are UNSOUND, in their order. Close it when done."""
    settings = verdicts.settings
    tests = ((LoadedTest(it.test, settings), it.scheme) for it in asked)
    yield from verdicts.judge.run([fault_of(test, scheme, verdicts) for test, scheme in tests])


def of_results(
    results: Sequence[Result],
    settings: Settings,
    judge: Judge,
    texts: Mapping[str, Source],
    *,
    reached: bool = False,
) -> tuple[list[Broken], Verdicts]:
    """What is asked of results, and by whom. texts: those that are no files, by the name that
    results have. Raises InputError."""
    settings = replace(settings, confirm=None, smt_dir=None)
    files = list(dict.fromkeys(each.scheme_file for each in results))
    given = [texts.get(it, it) for it in files]
    run = read_inputs(given, settings, judge, unique=False, compilers=True)
    schemes = {it.file: it for it in run.schemes}
    asked = [
        Broken(
            texts.get(it.file, it.file),
            schemes[it.scheme_file],
            it.verdict,
            settings.progress,
            command_of(it, settings),
            it.outcome,
            reached,
        )
        for it in results
    ]
    return asked, run.verdicts.by(settings)


def detail_question(
    it: Broken, verdicts: Verdicts, test: LoadedTest | None = None
) -> DetailQuestion:
    """What a test rests on. test: as it was read, if it was."""
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
        gone = self.verdict.test.unreadable
        return Detail("", "", self.of.command, reason=gone.reason) if gone else None

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
        it, test = self.of, self.verdict.test
        code = it.scheme.code_of(test.source, test.settings).text or it.scheme.source.text
        return Detail(test.source.text, code, it.command, reason=reason)


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
