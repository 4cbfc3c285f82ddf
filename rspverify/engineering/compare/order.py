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
    changes = (_of_verdict(old.verdict, new.verdict), _of_progress(old.progress, new.progress))
    return min(changes, key=(Change.WORSE, Change.UNKNOWN, Change.BETTER, Change.SAME).index)


def _of_verdict(old: Word, new: Word) -> Change:
    before, after = (Word.SOUND if word is Word.RACY else word for word in (old, new))
    if before not in _FROM_WORST or after not in _FROM_WORST:
        return Change.UNKNOWN
    return _compared(_FROM_WORST.index(before), _FROM_WORST.index(after))


def _of_progress(old: ProgressWord | None, new: ProgressWord | None) -> Change:
    """None of it, as beside UNSUPPORTED, is neither better nor worse than any."""
    if old is None or new is None:
        return Change.SAME
    if ProgressWord.UNKNOWN in (old, new):
        return Change.UNKNOWN
    return _compared(old is ProgressWord.LIVE, new is ProgressWord.LIVE)


def _compared(before: int, after: int) -> Change:
    if before == after:
        return Change.SAME
    return Change.BETTER if after > before else Change.WORSE
