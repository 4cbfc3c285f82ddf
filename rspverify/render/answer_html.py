"""What is said of one test under one scheme, whatever the verdict, as a part of a page of HTML."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from rspverify.answers import Detail, OutcomeAnswer, OutcomeRow, Result, RowsAtFault
from rspverify.render.cells import UNKNOWN_PROGRESS
from rspverify.render.expectations import progress_in_words
from rspverify.render.finding_html import explained
from rspverify.render.page import Article, Piece, Table
from rspverify.render.words import counted
from rspverify.verdict import ProgressWord, Word

_OUTCOMES = 100
"""So many outcomes are listed."""
_REACHED = {
    True: Piece("reached"),
    False: Piece("not reached", "many"),
    None: Piece("not known", "UNKNOWN"),
}


def answer(
    it: Result, detail: Detail, fault: RowsAtFault | None, outcomes: OutcomeAnswer | None
) -> Article:
    """The parts of an answer. outcomes: of a test that is SOUND."""
    why = "" if it.verdict is Word.SOUND and not it.within else it.reason
    words = "\n".join(filter(None, (why, progress_in_words(it))))
    tables = [*_outcomes(outcomes)] if outcomes is not None else []
    unknown = it.progress is ProgressWord.UNKNOWN
    style = UNKNOWN_PROGRESS if unknown else _worse(it)
    shown = Article("answer", it.claim, it.test, words, [], style=style, tables=tables)
    return explained(shown, it.scheme_file, fault, detail)


def _worse(it: Result) -> str:
    """The class of whichever word counts for more."""
    sound = it.verdict in (Word.SOUND, Word.RACY)
    return str(it.progress) if sound and it.progress is ProgressWord.STUCK else str(it.verdict)


def _outcomes(it: OutcomeAnswer) -> Iterator[Table]:
    """What the model allows, and what of it is reached; or as much as was found."""
    rows = it.outcomes if it.outcomes is not None else it.so_far or ()
    if not rows:
        return
    notes = []
    if it.outcomes is None:
        notes.append(f"These are not all: {it.reason}.")
    if len(rows) > _OUTCOMES:
        notes.append(f"{_OUTCOMES} of {counted(len(rows), 'outcome')} are shown.")
    heads = ["outcome", "by the model", *(["by the machine"] if it.schemes else [])]
    yield Table("Outcomes", heads, [_row(row) for row in rows[:_OUTCOMES]], notes)


def _row(row: OutcomeRow) -> Sequence[Sequence[Piece]]:
    allowed = Piece("allowed") if row.allowed else Piece("forbidden", "UNSOUND")
    reached = [(_REACHED[each],) for each in row.reached.values()]
    return [(Piece(str(row.outcome), "code"),), (allowed,), *reached]
