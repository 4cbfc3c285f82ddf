"""What of a run needs attention: one list, for all forms that other tools read."""

from __future__ import annotations

import re
from collections.abc import Iterator

from msgspec import Struct

from rspverify.answers import (
    Difference,
    ModelAnswer,
    Result,
    SuiteReport,
)
from rspverify.render.words import (
    UNMENDED,
    also_mended,
    difference,
    gone,
    noun_of,
    progress_in_words,
    row_in_words,
    switches_in_words,
)
from rspverify.translators import names_compiler
from rspverify.verdict import ProgressWord, Word

UNEXPECTED = "UNEXPECTED"
"""The kind of a finding that no word of a verdict tells."""
_UNWISHED = (
    Word.ERROR,
    Word.UNSOUND,
    ProgressWord.STUCK,
    Word.OPEN,
    Word.VACUOUS,
    Word.UNKNOWN,
    Word.UNSUPPORTED,
)
"""The words that are findings; of several words of one result the first of these is its kind."""
_OPEN = {Word.OPEN, Word.VACUOUS, Word.UNKNOWN, Word.UNSUPPORTED}
_PLACE = re.compile(r"(\d+):(\d+): ")
_LINES = re.compile(r"lines? (\d+)[:,]")


class Spot(Struct, frozen=True):
    """A place in a file, or all of it, and what is to be said there. end_column is exclusive."""

    file: str
    line: int | None = None
    column: int | None = None
    end_line: int | None = None
    end_column: int | None = None
    words: str = ""


class Finding(Struct, frozen=True):
    """A result that needs attention, or a test that is expected and not there.

    kind: a verdict's word, STUCK or UNEXPECTED. subject: `Fig4 under original`. expectation: what
    was expected and what it is, empty where nothing is. text: all that is to be said, line by line.
    spots: what must change, all of them: rows of the scheme, otherwise the test. related: places
    that show it. result: None of a test that is not there.
    """

    kind: str
    subject: str
    expectation: str
    text: str
    spots: tuple[Spot, ...]
    related: tuple[Spot, ...] = ()
    result: Result | ModelAnswer | None = None

    @property
    def internal(self) -> bool:
        """Whether it is a mistake of ours."""
        return self.result is not None and self.result.internal is not None

    @property
    def grave(self) -> bool:
        """Whether it is more than a question that is open."""
        return bool(self.expectation) or self.internal or self.kind not in _OPEN


def findings(report: SuiteReport) -> Iterator[Finding]:
    """What needs attention: by its words, or where something is expected, what differs.

    An internal error is one in any case.
    """
    held = report.held
    different = {id(each.result): each for each in held.differences} if held else {}
    for each in report.results:
        words, differs = each.words.split(), different.get(id(each))
        kind = next((word.value for word in _UNWISHED if word in words), None)
        if kind == Word.UNSUPPORTED and each.file in report.optional:
            kind = None
        if differs or each.internal or (kind and held is None):
            yield _finding(report, each, kind or UNEXPECTED, differs)
    if held:
        for test in held.gone:
            missing = gone(test, held)
            yield Finding(UNEXPECTED, test, missing, missing, (Spot(held.file),))


def _finding(
    report: SuiteReport, it: Result | ModelAnswer, kind: str, differs: Difference | None
) -> Finding:
    expectation = difference(differs, noun_of(report)) if differs else ""
    lines, rows, shown = [expectation, it.reason], list[Spot](), [_test(it)]
    if isinstance(it, Result):
        lines += (progress_in_words(it), *switches_in_words([it]))
        if fault := report.faults.get((it.file, it.scheme_file)):
            none = f"no row is told to be at fault: {fault.reason}" if fault.reason else UNMENDED
            if names_compiler(it.scheme_file):  # It has no rows.
                none = fault.reason
            words = [row_in_words(row.number, row.operations, row.code) for row in fault.rows]
            lines += [f"at fault: {each}" for each in words] or [none]
            lines += also_mended([[row.number for row in each] for each in fault.others])
            for row in fault.rows:
                place = (row.line, row.column, row.end_line, row.end_column)
                rows.append(Spot(it.scheme_file, *place))
        for read in it.outcome.reads if it.outcome else ():
            said = f"reads {read.value} from {read.location}"
            shown.append(Spot(it.file, read.line, read.column, words=said))
    text = "\n".join(filter(None, lines))
    spots, related = (rows, shown) if rows else (shown[:1], shown[1:])
    subject = f"{it.test} under {it.column}"
    return Finding(kind, subject, expectation, text, tuple(spots), tuple(related), it)


def _test(it: Result | ModelAnswer) -> Spot:
    """The test, with the place in it that the reason tells first, if it tells one."""
    own = f"{it.file}:"
    if it.reason.startswith(own) and (told := _PLACE.match(it.reason, len(own))):
        return Spot(it.file, int(told[1]), int(told[2]), words="the test")
    line = _LINES.match(it.reason)
    return Spot(it.file, int(line[1]) if line else None, words="the test")
