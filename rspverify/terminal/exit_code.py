"""What commands tell the shell: one rule for all of them."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rspverify.answers import Held, ModelAnswer, Result

INTERNAL = 70
"""A bug of rspverify was met (sysexits.h, EX_SOFTWARE), whatever else is to be said."""
INTERRUPTED = 130
"""As a shell says it of what SIGINT has ended."""
TERMINATED = 143
"""As a shell says it of what SIGTERM has ended; it stands in the place of INTERRUPTED."""
BROKEN_PIPE = 141
"""As a shell says it of what SIGPIPE has ended."""
_IN_ORDER = (INTERNAL, INTERRUPTED, 2, 1, 3)


def exit_code(
    *,
    internal: object = False,
    interrupted: object = False,
    wrong: object = False,
    found: object = False,
    undecided: object = False,
) -> int:
    """The first of 70, 130, 2, 1, 3 that applies, otherwise 0.

    internal: an internal error, 70. interrupted: by the user, 130; what SIGTERM has interrupted
    ends with 143 instead (`at_the_end`). wrong: an input is wrong, 2.
    found: what was looked for, such as UNSOUND, STUCK or what is not as expected, 1. undecided:
    something is UNKNOWN, VACUOUS or UNSUPPORTED, 3.
    """
    reasons = zip(_IN_ORDER, (internal, interrupted, wrong, found, undecided), strict=True)
    return next((code for code, applies in reasons if applies), 0)


def exit_code_of(
    results: Sequence[Result | ModelAnswer],
    held: Held | None = None,
    *,
    interrupted: object = False,
) -> int:
    """That of verdicts; where they are held to a file, 0 means that all are as expected."""
    from rspverify.verdict import ProgressWord, Word

    telling = results if held is None else [each.result for each in held.differences]
    words = {word for each in telling for word in each.words.split()}
    undecided = {Word.UNKNOWN, Word.VACUOUS, Word.UNSUPPORTED, ProgressWord.UNKNOWN}
    return exit_code(
        internal=any(each.internal for each in results),
        interrupted=interrupted,
        wrong=Word.ERROR in words,
        found=words & {Word.UNSOUND, ProgressWord.STUCK} if held is None else held.unexpected,
        undecided=held is None and words & undecided,
    )


def first_of(codes: Collection[int]) -> int:
    """The exit code of a run of several parts."""
    return next((code for code in _IN_ORDER if code in codes), 0)


def at_the_end(code: int | str | None, *, terminated: bool) -> int | str | None:
    """What the process ends with: 143 instead of 130 where the interrupt was SIGTERM."""
    return TERMINATED if terminated and code == INTERRUPTED else code
