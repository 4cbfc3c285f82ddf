"""What is said of one test under one scheme, whatever the verdict, as a part of a page of HTML."""

from __future__ import annotations

from rspverify.answers import Detail, Result, RowsAtFault
from rspverify.records import replace
from rspverify.render.cells import UNKNOWN_PROGRESS
from rspverify.render.expectations import progress_in_words
from rspverify.render.finding_html import explained
from rspverify.render.page import Article
from rspverify.render.reached_html import reached_table
from rspverify.verdict import ProgressWord, Word


def answer(it: Result, detail: Detail, fault: RowsAtFault | None) -> Article:
    """The parts of an answer."""
    why = "" if it.verdict is Word.SOUND and not it.within else it.reason
    words = "\n".join(filter(None, (why, progress_in_words(it))))
    reached, style = detail.reached, _style(it)
    tables = [reached_table(reached)] if reached and reached.outcomes else []
    shown = Article("answer", it.claim, it.test, words, [], style=style, tables=tables)
    shown = explained(shown, it.scheme_file, fault, detail)
    if reached is None or not reached.stopped:
        return shown
    words = f"Which outcomes the machine reaches is not known: {reached.stopped}."
    return replace(shown, ending=f"{shown.ending}\n{words}".strip())


def _style(it: Result) -> str:
    """The class of whichever word counts for more."""
    if it.progress is ProgressWord.UNKNOWN:
        return UNKNOWN_PROGRESS
    sound = it.verdict in (Word.SOUND, Word.RACY)
    return str(it.progress) if sound and it.progress is ProgressWord.STUCK else str(it.verdict)
