"""Which of two results is the worse."""

from __future__ import annotations

from rspverify.answers import Result
from rspverify.engineering.comparison import Change
from rspverify.verdict import ProgressWord, Word

_FROM_WORST = (Word.UNSOUND, Word.VACUOUS, Word.UNSUPPORTED, Word.SOUND)
"""Wrong; never completes; cannot be compiled; right.

RACY is as good as SOUND: it says of the test, not of a scheme, that nothing can be wrong with it.
"""


def change_of(old: Result, new: Result) -> Change:
    """Whether a test got better or worse; worse in one thing is worse."""
    changes = {_of_verdict(old, new), _of_progress(old, new)}
    order = (Change.WORSE, Change.UNKNOWN, Change.BETTER, Change.SAME)
    return next(each for each in order if each in changes)


def _of_verdict(old: Result, new: Result) -> Change:
    before, after = _rank(old.verdict), _rank(new.verdict)
    if before is None or after is None:
        return Change.UNKNOWN
    return _compared(before, after)


def _rank(word: Word) -> int | None:
    """Its place from the worst, None where nothing is known."""
    if word is Word.RACY:
        word = Word.SOUND
    return _FROM_WORST.index(word) if word in _FROM_WORST else None


def _of_progress(old: Result, new: Result) -> Change:
    """None of it, as beside UNSUPPORTED, is neither better nor worse than any."""
    if old.progress is None or new.progress is None:
        return Change.SAME
    words = (old.progress, new.progress)
    if ProgressWord.UNKNOWN in words:
        return Change.UNKNOWN
    before, after = (word is ProgressWord.LIVE for word in words)
    return _compared(before, after)


def _compared(before: int, after: int) -> Change:
    if before == after:
        return Change.SAME
    return Change.BETTER if after > before else Change.WORSE
