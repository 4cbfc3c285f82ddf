"""Answers that are worth keeping, and the questions under which they are kept."""

from __future__ import annotations

from dataclasses import dataclass, replace

from rspverify.answers import Internal, Observed, Result
from rspverify.check.cache import Question, digest
from rspverify.check.facts import ModelFacts, ProgramFacts, SchemeFacts
from rspverify.check.settings import Settings
from rspverify.source import Source
from rspverify.verdict import Progress, ProgressWord, Verdict, Word

_KEPT = {Word.SOUND, Word.UNSOUND, Word.RACY, Word.VACUOUS, Word.UNSUPPORTED}
_CLOSE = 0.9
"""An answer that took more of its time limit than this may have been cut short by it."""


@dataclass(frozen=True)
class Answer:
    """A verdict as far as it depends on content alone, and what deciding it took.

    internal: the internal error that came instead of a verdict or of progress. progress: if it was
    asked for and has a meaning.
    """

    verdict: Verdict
    observed: Observed | None
    seconds: float
    internal: Internal | None = None
    progress: Progress | None = None


@dataclass(frozen=True)
class Job:
    """One test under one scheme, by the names that the user gave them."""

    file: str
    scheme_file: str


@dataclass(frozen=True)
class Task:
    """A test to decide under schemes, which are given by their place among those of the run."""

    file: str
    source: Source
    schemes: tuple[int, ...]


def soundness_question(
    source: Source,
    program: ProgramFacts,
    scheme: SchemeFacts,
    model: ModelFacts,
    settings: Settings,
) -> Question:
    """Is the program compiled soundly? Its answer is an Answer.

    Of the scheme only the rows that the program uses count. All settings do, but those that are
    here by content, and the time limit, which `worth_keeping` sees to. Messages name the model.
    """
    chosen = replace(settings, model=model.name, machine=settings.machine or scheme.machine)
    content = (
        digest(source.text),
        scheme.rows_used(program),
        model.digest,
        replace(chosen, seconds=None),
    )
    return Question("soundness", content)


def answers_may_be_kept(settings: Settings) -> bool:
    """Whether answers may come from earlier runs at all.

    Not where the run must ask a second solver, of which we know no version, or leave files behind.
    """
    return settings.confirm is None and settings.smt_dir is None


def worth_keeping(answer: Answer, settings: Settings) -> bool:
    """Whether an answer would be the same in another run, with any time limit.

    Never UNKNOWN, of progress neither: another try may do better. Never what came near the time
    limit, as a verdict may then show less than it could, such as a counterexample that is not a
    shortest one.
    """
    if answer.verdict.word not in _KEPT:
        return False
    if answer.progress is not None and answer.progress.word is ProgressWord.UNKNOWN:
        return False
    return settings.seconds is None or answer.seconds < _CLOSE * settings.seconds


def result_of(
    answer: Answer,
    job: Job,
    title: str | None,
    scheme: str,
    model: str,
    settings: Settings,
    *,
    cached: bool = False,
) -> Result:
    """An answer as the result of one test under one scheme, with the names that they have now."""
    return Result(
        test=title or job.file,
        file=job.file,
        scheme=scheme,
        scheme_file=job.scheme_file,
        model=model,
        engine=settings.engine,
        reading=settings.reading,
        verdict=answer.verdict,
        observed=answer.observed,
        seconds=answer.seconds,
        internal=answer.internal,
        progress=answer.progress,
        cached=cached,
    )
