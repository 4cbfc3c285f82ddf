"""`outcomes` as it goes: each test once it is answered; on standard error what has no answer."""

from __future__ import annotations

import sys
from collections.abc import Sequence

from rich.console import Console
from rich.text import Text

from rspverify.answers import OutcomeAnswer, OutcomesReport
from rspverify.convert import to_json
from rspverify.render import outcomes_herd
from rspverify.render.outcomes_text import outcome_table
from rspverify.render.races_text import race_line, race_report
from rspverify.verdict import Word


class OutcomesStream:
    """Prints answers in a form: text, json (at the end) or herd. many: of several tests."""

    def __init__(self, console: Console, form: str, *, many: bool) -> None:
        self._console = console
        self._form = form
        self._many = many

    def show(self, answer: OutcomeAnswer) -> None:
        """Take the next answer."""
        if not answer.answered:
            print(_refusal(answer, many=self._many), file=sys.stderr)
            return
        if self._form == "json":
            return
        if self._form == "herd":
            self._console.file.write(outcomes_herd.block(answer))
            _warn(answer)
        elif answer.outcomes is not None:
            self._table(answer)
        else:
            self._races(answer)
        self._console.file.flush()

    def finish(self, answers: Sequence[OutcomeAnswer], model: str) -> None:
        """The document, or how many tests have an answer."""
        if self._form == "json":
            self._console.file.write(to_json(OutcomesReport(model, tuple(answers))))
        elif self._form == "text" and self._many:
            self._console.print(Text(_summary(answers, model)), soft_wrap=True)

    def _table(self, table: OutcomeAnswer) -> None:
        for part in outcome_table(table):
            self._console.print(part)
        if self._many:
            self._console.print()

    def _races(self, report: OutcomeAnswer) -> None:
        if self._many:
            self._console.print(race_line(report), soft_wrap=True)
            return
        for part in race_report(report):
            self._console.print(part)


def _refusal(answer: OutcomeAnswer, *, many: bool) -> str:
    """Why there is no answer; what is wrong or unsupported is named with its file and line."""
    if answer.word is not Word.UNKNOWN:
        return answer.reason
    file = f"{answer.file}: " if many else ""
    return f"{file}{answer.reason}" if answer.internal else f"{file}UNKNOWN: {answer.reason}"


def _warn(answer: OutcomeAnswer) -> None:
    """What herd's form has no place for."""
    if answer.final and not answer.final.counted:
        print(f"{answer.file}: there are more executions than the counts say", file=sys.stderr)
    for bound, number in answer.within.items():
        print(f"{answer.file}: only executions within {number} {bound}", file=sys.stderr)
    for note in answer.notes:
        print(f"{answer.file}: {note}", file=sys.stderr)


def _summary(answers: Sequence[OutcomeAnswer], model: str) -> str:
    words = [answer.word for answer in answers]
    racy = sum(bool(each.racy) for each in answers)
    parts = [f"{len(answers)} tests, model {model}", f"{words.count(None)} answered, {racy} racy"]
    for word in (Word.UNSUPPORTED, Word.UNKNOWN, Word.ERROR):
        if word in words:
            parts.append(f"{words.count(word)} {word.value}")
    return ", ".join(parts)
