"""`outcomes` for people: what the model allows and what schemes make of it, side by side."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Self

from rich.box import SIMPLE_HEAD
from rich.console import Console, ConsoleOptions, RenderableType, RenderResult
from rich.measure import Measurement
from rich.progress import BarColumn, TextColumn, TimeElapsedColumn, TimeRemainingColumn
from rich.table import Table
from rich.text import Text

from rspverify.answers import OutcomeAnswer, OutcomeRow, OutcomesReport
from rspverify.convert import to_json
from rspverify.render import outcomes_herd
from rspverify.render.progress import bar
from rspverify.render.races_text import accesses, race_line, race_report
from rspverify.render.words import counted
from rspverify.verdict import Word

_ANY_WIDTH = 10_000
_REACHED = {True: "reached", False: "-", None: "?"}


_MOST_SO_FAR = 100
"""So many outcomes are listed of those that were found where they are not all."""


class OutcomesStream:
    """Prints answers in a form: text, json (at the end) or herd; and how far it is meanwhile.

    total: the number of tests.
    """

    def __init__(self, console: Console, form: str, *, total: int) -> None:
        self._console = console
        self._form = form
        self._many = total > 1
        counted = (BarColumn(), TimeRemainingColumn()) if self._many else (TimeElapsedColumn(),)
        self._bar = bar(TextColumn("{task.description}"), *counted)
        self._task = self._bar.add_task("", total=total)

    def __enter__(self) -> Self:
        self.step("")
        self._bar.start()
        return self

    def __exit__(self, *error: object) -> None:
        self._bar.stop()

    def step(self, words: str) -> None:
        """Tell how far it is with the test that it is at."""
        it = self._bar.tasks[self._task]
        tests = [f"{it.completed:.0f} of {it.total} tests"] if self._many else []
        self._bar.update(self._task, description="; ".join(filter(None, (*tests, words))))

    def show(self, answer: OutcomeAnswer) -> None:
        """Take the next answer."""
        self._bar.stop()
        self._print(answer)
        self._console.file.flush()
        self._bar.advance(self._task)
        self.step("")
        self._bar.start()

    def _print(self, answer: OutcomeAnswer) -> None:
        if not answer.answered:
            print(_refusal(answer, many=self._many), file=sys.stderr)
            if answer.so_far is not None and self._form == "text":
                for part in _so_far(answer, answer.so_far):
                    self._console.print(part)
            return
        if self._form == "json":
            return
        if self._form == "herd":
            self._console.file.write(outcomes_herd.block(answer))
            _warn(answer)
        elif answer.outcomes is None and self._many:
            self._console.print(race_line(answer), soft_wrap=True)
        else:
            for part in race_report(answer) if answer.outcomes is None else _table(answer):
                self._console.print(part)
            if self._many:
                self._console.print()

    def finish(self, report: OutcomesReport) -> None:
        """The document, or how many tests have an answer, and why no more were asked."""
        if self._form == "json":
            self._console.file.write(to_json(report))
        elif self._form == "text":
            if self._many:
                summary = _summary(report)
                self._console.print(Text(summary), soft_wrap=True)
            if report.stopped is not None:
                words = f"stopped, other tests were not asked: {report.stopped}"
                self._console.print(Text(words, style="bold red"), soft_wrap=True)


def _refusal(answer: OutcomeAnswer, *, many: bool) -> str:
    """Why there is no answer; what is wrong or unsupported is named with its file and line."""
    if answer.word is not Word.UNKNOWN:
        return answer.reason
    file = f"{answer.file}: " if many else ""
    return f"{file}{answer.reason}" if answer.internal else f"{file}UNKNOWN: {answer.reason}"


def _warn(answer: OutcomeAnswer) -> None:
    """What herd's form has no place for."""
    whole = answer.final is None or answer.final.counted
    notes = [] if whole else ["there are more executions than the counts say"]
    notes += [f"only executions within {number} {bound}" for bound, number in answer.within.items()]
    for note in (*notes, *answer.notes):
        print(f"{answer.file}: {note}", file=sys.stderr)


def _summary(report: OutcomesReport) -> str:
    answers = report.results
    words = [answer.word for answer in answers]
    racy = sum(bool(each.racy) for each in answers)
    whole = f"{words.count(None)} answered"
    parts = [f"{len(answers)} tests, model {report.model}", f"{whole}, {racy} racy"]
    if all(each.machine or not each.answered for each in answers) and report.machine:
        parts = [f"{len(answers)} tests, machine {report.machine}", whole]
    refused = (Word.UNSUPPORTED, Word.UNKNOWN, Word.ERROR)
    parts += [f"{words.count(word)} {word}" for word in refused if word in words]
    return ", ".join(parts)


def _table(it: OutcomeAnswer) -> Iterator[RenderableType]:
    """The table, the race, and the final condition in herd's words."""
    yield Text(f"{it.test} ({_put_to(it)})", style="bold")
    yield _Rows(it, it.outcomes or ())
    yield Text("")
    yield from _besides(it)
    if it.condition and (final := it.final):
        yield Text(f"Condition {it.condition}")
        cut = "" if final.counted else " (not counted to the end)"
        yield Text(
            f"Observation {it.test} {final.observation} {final.positive} {final.negative}"
            f"   states {len(final.states)}{cut}"
        )


def _put_to(it: OutcomeAnswer) -> str:
    words = f"machine {it.machine}" if it.machine else f"model {it.model}"
    return f"{words}, scheduler {it.scheduler}" if it.scheduler else words


def _so_far(it: OutcomeAnswer, found: Sequence[OutcomeRow]) -> Iterator[RenderableType]:
    """What is known of a test that took too long."""
    yield Text(f"{it.test} ({_put_to(it)}), as far as it is known", style="bold")
    if found:
        yield _Rows(it, found[:_MOST_SO_FAR])
    which = f", the first {_MOST_SO_FAR} above" if len(found) > _MOST_SO_FAR else ""
    yield Text(
        f"\nThese are not all: {it.reason}. Found were {counted(len(found), 'outcome')}{which}."
    )
    yield from _besides(it)


def _besides(it: OutcomeAnswer) -> Iterator[RenderableType]:
    """The bounds, what else must be known, and the race."""
    for bound, number in it.within.items():
        yield Text(f"Only executions within {number} {bound}.", style="magenta")
    for note in it.notes:
        yield Text(note, style="magenta")
    if it.race:
        what, which = ("race", "The accesses are") if it.race.second else ("fault", "It is")
        if it.race.divergence:
            what, which = "divergence of barriers", "It is"
        words = f"RACY: a program with a {what} may do anything. {which}"
        yield Text(words, style="yellow")
        yield from (Text(f"  {line}") for line in accesses(it.race))
    elif it.machine is None:
        yield Text("No consistent execution has a race.")


class _Rows:
    """The outcomes as a table with a column for each value, or for all values if it is too wide."""

    def __init__(self, answer: OutcomeAnswer, rows: Sequence[OutcomeRow]) -> None:
        self._answer, self._rows = answer, rows

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        shown = _values(self._rows)
        names = _names(shown)
        wide = Table(box=SIMPLE_HEAD, pad_edge=False, show_edge=False)
        for name in names:
            wide.add_column(name, justify="right", no_wrap=True)
        self._fill(wide, [[values.get(name, "") for name in names] for values in shown])
        needed = Measurement.get(console, options.update(width=_ANY_WIDTH), wide).maximum
        if needed <= options.max_width:
            yield wide
            return
        narrow = Table(box=SIMPLE_HEAD, pad_edge=False, show_edge=False)
        narrow.add_column("outcome", overflow="fold")
        self._fill(narrow, [[" ".join(f"{k}={v}" for k, v in each.items())] for each in shown])
        yield narrow

    def _fill(self, table: Table, first: Sequence[Sequence[str]]) -> None:
        it = self._answer
        first_of = ["model"] if it.machine is None else []
        for name in (*first_of, *it.schemes, *(["condition"] if it.condition else [])):
            table.add_column(name, no_wrap=True)
        for row, cells in zip(self._rows, first, strict=True):
            allowed = ["allowed" if row.allowed else "forbidden"] * len(first_of)
            reached = (_REACHED[each] for each in row.reached.values())
            holds = ["holds" if row.satisfies else ""] * (it.condition is not None)
            style = None if row.allowed or it.race else "bold red"
            table.add_row(*cells, *allowed, *reached, *holds, style=style)


def _values(rows: Sequence[OutcomeRow]) -> list[dict[str, str]]:
    """Per outcome its values by name: registers and memory, and reads where these do not tell."""
    ends = ({**row.outcome.registers, **row.outcome.memory} for row in rows)
    plain = [{name: str(value) for name, value in each.items()} for each in ends]
    if len({tuple(values.items()) for values in plain}) == len(plain):
        return plain
    reads = _reads(rows)
    return [{**found, **values} for found, values in zip(reads, plain, strict=True)]


def _reads(rows: Sequence[OutcomeRow]) -> list[dict[str, str]]:
    """Per outcome its reads: `P1 line 12`, with the column where a line has several of a thread.

    Where a loop reads at one place again and again, they are numbered.
    """
    places = [Counter((it.thread, it.line, it.column) for it in row.outcome.reads) for row in rows]
    crowded = Counter((thread, line) for thread, line, _ in set().union(*places))
    repeated = {place for counted in places for place, number in counted.items() if number > 1}
    found = []
    for row in rows:
        met: Counter[tuple[int, int, int]] = Counter()
        values = {}
        for it in row.outcome.reads:
            place = (it.thread, it.line, it.column)
            met[place] += 1
            column = f":{it.column}" if crowded[it.thread, it.line] > 1 else ""
            number = f" #{met[place]}" if place in repeated else ""
            values[f"P{it.thread} line {it.line}{column}{number}"] = str(it.value)
        found.append(values)
    return found


def _names(shown: Sequence[Mapping[str, str]]) -> list[str]:
    """Reads by thread and place, then registers, then memory, whatever a row happens to have."""
    names = dict.fromkeys(name for values in shown for name in values)
    reads = sorted((name for name in names if " line " in name), key=_place)
    return [*reads, *(name for name in names if " line " not in name)]


def _place(name: str) -> tuple[int, ...]:
    thread, _, place, *number = name[1:].replace("#", "").split()
    return (int(thread), *map(int, place.split(":")), *map(int, number))
