"""Answers about a test under a scheme, which of them are worth keeping, and as results."""

from __future__ import annotations

from typing import assert_never

from msgspec import Struct

from rspverify.answers import Internal, Observed, Result
from rspverify.soundness.settings import Settings, explain_command
from rspverify.verdict import WRONG, Progress, ProgressWord, Verdict, Word

_KEPT = {Word.SOUND, *WRONG, Word.RACY, Word.VACUOUS, Word.UNSUPPORTED}
_CLOSE = 0.9
"""An answer that took more of its time limit than this may have been cut short by it."""


class Answer(Struct, frozen=True):
    """A verdict as far as it depends on content alone, and what deciding it took.

    internal: the internal error that came instead.
    """

    verdict: Verdict
    observed: Observed | None
    seconds: float
    internal: Internal | None = None


class ProgressAnswer(Struct, frozen=True):
    """The same of progress, where it has a meaning."""

    progress: Progress
    seconds: float
    internal: Internal | None = None


def answers_may_be_kept(settings: Settings) -> bool:
    """Whether answers may come from earlier runs at all.

    Not where the run must ask a second solver, of which we know no version, or leave files behind.
    """
    return settings.confirm is None and settings.smt_dir is None


def worth_keeping(answer: Answer | ProgressAnswer, settings: Settings) -> bool:
    """Whether an answer would be the same in another run, with any time limit.

    Never UNKNOWN: another try may do better.
    """
    match answer:
        case Answer(verdict):
            known = verdict.word in _KEPT
        case ProgressAnswer(progress):
            known = progress.word is not ProgressWord.UNKNOWN
        case _:
            assert_never(answer)
    return known and in_time(answer.seconds, settings)


def in_time(seconds: float, settings: Settings) -> bool:
    """Whether an answer did not come near the time limit, which may have cut it short.

    It may then show less than it could, such as a counterexample that is not a shortest one.
    """
    limit = settings.limits().seconds
    return limit is None or seconds < _CLOSE * limit


def command_of(result: Result, settings: Settings) -> str:
    """What shows in a terminal why a result is UNSOUND or OPEN, or else STUCK."""
    stuck = result.progress is ProgressWord.STUCK and result.verdict not in WRONG
    return explain_command(result.scheme_file, result.file, settings, progress=stuck)
