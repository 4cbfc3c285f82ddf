"""Results as cells, and codes side by side."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from difflib import SequenceMatcher

from rspverify.answers import ModelAnswer, Result
from rspverify.render.document import Cell, Line, Piece
from rspverify.render.words import PROGRESS, progress_in_words
from rspverify.verdict import ProgressWord, Word

UNKNOWN_PROGRESS = f"{PROGRESS.strip()}-UNKNOWN"
"""The class of a progress that is UNKNOWN, as there is such a verdict, too."""


def progress_class(word: ProgressWord) -> str:
    """The class of a word of progress."""
    return UNKNOWN_PROGRESS if word is ProgressWord.UNKNOWN else word.value


def result_cell(
    it: Result | ModelAnswer, about: str = "", expected: str = "", address: str = ""
) -> Cell:
    """A result. about: the name of its finding, if it is told; address: of its page."""
    kind, why = it.words, it.reason
    if isinstance(it, Result):
        kind = f"{it.verdict} {progress_class(it.progress)}" if it.progress else it.verdict
        why = "" if it.verdict is Word.SOUND and not it.within else it.reason
        why = "\n".join(filter(None, (why, progress_in_words(it))))
    return Cell(it.words, kind, why, expected, about, address)


def changed_codes(old: Sequence[str] | None, new: Sequence[str] | None) -> tuple[Line, Line]:
    """Two codes, in the old one what is gone marked, in the new one what is added; None for none.

    What both have is marked in neither.
    """
    if not old or not new:
        return Line(_code(old, "code" if old == new else "del")), Line(_code(new, "ins"))
    before: tuple[Piece, ...] = ()
    after: tuple[Piece, ...] = ()
    for what, a, b, c, d in SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
        same = what == "equal"
        before += _code(old[a:b], "code" if same else "del", first=not before) if a < b else ()
        after += _code(new[c:d], "code" if same else "ins", first=not after) if c < d else ()
    return Line(before), Line(after)


def _code(code: Sequence[str] | None, kind: str, *, first: bool = True) -> tuple[Piece, ...]:
    def pieces() -> Iterator[Piece]:
        if not code:
            yield Piece("no row" if code is None else "nothing")
        for place, each in enumerate(code or ()):
            if place or not first:
                yield Piece("; ")
            yield Piece(each, kind)

    return tuple(pieces())
