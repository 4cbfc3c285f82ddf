"""What a run tells the shell (DESIGN.md, «Verdicts»)."""

from __future__ import annotations

from collections.abc import Sequence

from rspverify.answers import Difference, Result
from rspverify.verdict import ProgressWord, Word

INTERNAL = 70
"""A bug of rspverify was met (sysexits.h, EX_SOFTWARE), whatever else is to be said of the run."""


def exit_code(results: Sequence[Result], differences: Sequence[Difference] | None) -> int:
    """The first of 70, 2, 1, 3 that applies, otherwise 0; differences is None without --expect.

    70: an internal error. 2: an input is wrong. 1: something is UNSOUND or STUCK, or not as
    expected. 3: something is UNKNOWN, VACUOUS or UNSUPPORTED. With expectations, 0 means that every
    verdict is the expected one, and progress, where it was asked for.
    """
    if any(result.internal for result in results):
        return INTERNAL
    words = {result.verdict.word for result in results}
    progress = {result.progress.word for result in results if result.progress}
    if differences is not None:
        if not differences:
            return 0
        return 2 if any(it.result.verdict.word is Word.ERROR for it in differences) else 1
    if Word.ERROR in words:
        return 2
    if Word.UNSOUND in words or ProgressWord.STUCK in progress:
        return 1
    if words & {Word.UNKNOWN, Word.VACUOUS, Word.UNSUPPORTED} or ProgressWord.UNKNOWN in progress:
        return 3
    return 0
