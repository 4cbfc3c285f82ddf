"""Cells that several pages have: results, and codes that an edit changes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from difflib import SequenceMatcher

from rspverify.answers import ModelAnswer, Result
from rspverify.render.expectations import progress_in_words
from rspverify.render.page import Cell, Piece
from rspverify.render.tally import PROGRESS
from rspverify.verdict import ProgressWord, Word

UNKNOWN_PROGRESS = f"{PROGRESS.strip()}-UNKNOWN"
"""The class of a progress that is UNKNOWN, as there is such a verdict, too."""
_LONGEST = 300
"""Characters of a reason that a cell shows when it is pointed at."""


def result_cell(it: Result | ModelAnswer, place: str = "", expected: str = "") -> Cell:
    """A result. place: of its finding, if that is told."""
    kind, why = it.words, it.reason
    if isinstance(it, Result):
        unknown = it.progress is ProgressWord.UNKNOWN
        kind = f"{it.verdict} {UNKNOWN_PROGRESS}" if unknown else it.words
        why = "" if it.verdict is Word.SOUND and not it.within else it.reason
        why = "\n".join(filter(None, (why, progress_in_words(it))))
    return Cell(kind, it.words, pointed_at(why), expected, place)


def pointed_at(why: str) -> str:
    """A reason as a cell shows it when it is pointed at."""
    return why if len(why) <= _LONGEST else f"{why[:_LONGEST]}…"


def plain(text: object) -> tuple[Piece, ...]:
    """A cell of a table that has a text alone."""
    return (Piece(str(text)),)


def code_cell(code: Sequence[str]) -> list[Piece]:
    """A code."""
    return list(_code(code, "code"))


def changed_codes(
    old: Sequence[str] | None, new: Sequence[str] | None
) -> tuple[list[Piece], list[Piece]]:
    """Two codes, in the old one what is gone marked, in the new one what is added; None for none.

    What both have is marked in neither.
    """
    if not old or not new:
        return list(_code(old, "code" if old == new else "del")), list(_code(new, "ins"))
    before: list[Piece] = []
    after: list[Piece] = []
    for what, a, b, c, d in SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
        same = what == "equal"
        before += _code(old[a:b], "code" if same else "del", first=not before) if a < b else ()
        after += _code(new[c:d], "code" if same else "ins", first=not after) if c < d else ()
    return before, after


def _code(code: Sequence[str] | None, kind: str, *, first: bool = True) -> Iterator[Piece]:
    if not code:
        yield Piece("no row" if code is None else "nothing")
    for place, each in enumerate(code or ()):
        if place or not first:
            yield Piece("; ")
        yield Piece(each, kind)
