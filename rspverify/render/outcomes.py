"""What `outcomes` says: what the model allows and what schemes make of it, side by side; races."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Self

from rich.console import Console
from rich.progress import BarColumn, TextColumn, TimeElapsedColumn, TimeRemainingColumn

from rspverify.answers import OutcomeAnswer, OutcomeRow, OutcomesReport
from rspverify.convert import to_json
from rspverify.render import herd
from rspverify.render.document import Block, Document, Line, Table, line
from rspverify.render.evidence import accesses, race_execution
from rspverify.render.forms.text import show
from rspverify.render.progress import bar
from rspverify.render.words import counted
from rspverify.verdict import Word

_REACHED = {True: "reached", False: "-", None: "?"}
_MOST_SO_FAR = 100
"""So many outcomes are listed of those that were found where they are not all."""


def document(it: OutcomesReport) -> Document:
    """All of it."""
    many = len(it.results) > 1
    blocks = [block for each in it.results for block in answer(each, many=many)]
    title = f"machine {it.machine}" if it.machine else f"model {it.model}"
    return Document("outcomes", title, [*blocks, *summary(it)], answer=it)


def summary(it: OutcomesReport) -> Iterator[Line]:
    """How many tests have an answer, and why no more were asked."""
    if len(it.results) > 1:
        yield line(_counts(it))
    if it.stopped is not None:
        yield line(f"stopped, other tests were not asked: {it.stopped}", kind="ERROR")


def _counts(report: OutcomesReport) -> str:
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


def answer(it: OutcomeAnswer, *, many: bool) -> Iterator[Block]:
    """One test, one of many or alone: outcomes, the race, and the final condition in herd's
    words."""
    if not it.answered:
        if it.so_far is not None:
            yield from _so_far(it, it.so_far)
    elif it.outcomes is None and many:
        yield _race_line(it)
    else:
        yield from _race_report(it) if it.outcomes is None else _outcomes(it, it.outcomes)
        if many:
            yield line()


def _outcomes(it: OutcomeAnswer, outcomes: Sequence[OutcomeRow]) -> Iterator[Block]:
    yield line(f"{it.test} ({_put_to(it)})", kind="head")
    yield _table(it, outcomes)
    yield line()
    yield from _besides(it)
    if it.condition and (final := it.final):
        yield line(f"Condition {it.condition}")
        cut = "" if final.counted else " (not counted to the end)"
        yield line(
            f"Observation {it.test} {final.observation} {final.positive} {final.negative}"
            f"   states {len(final.states)}{cut}"
        )


def _put_to(it: OutcomeAnswer) -> str:
    words = f"machine {it.machine}" if it.machine else f"model {it.model}"
    return f"{words}, scheduler {it.scheduler}" if it.scheduler else words


def _so_far(it: OutcomeAnswer, found: Sequence[OutcomeRow]) -> Iterator[Block]:
    """What is known of a test that took too long."""
    yield line(f"{it.test} ({_put_to(it)}), as far as it is known", kind="head")
    if found:
        yield _table(it, found[:_MOST_SO_FAR])
    which = f", the first {_MOST_SO_FAR} above" if len(found) > _MOST_SO_FAR else ""
    yield line()
    yield line(
        f"These are not all: {it.reason}. Found were {counted(len(found), 'outcome')}{which}."
    )
    yield from _besides(it)


def _besides(it: OutcomeAnswer) -> Iterator[Line]:
    """The bounds, what else must be known, and the race."""
    yield from _notes(it)
    if it.race:
        what, which = ("race", "The accesses are") if it.race.second else ("fault", "It is")
        if it.race.divergence:
            what, which = "divergence of barriers", "It is"
        yield line(f"RACY: a program with a {what} may do anything. {which}", kind="RACY")
        yield from (line(f"  {each}") for each in accesses(it.race))
    elif it.machine is None:
        yield line("No consistent execution has a race.")


def _notes(it: OutcomeAnswer, end: str = "") -> Iterator[Line]:
    for bound, number in it.within.items():
        yield line(f"Only executions within {number} {bound}.", kind="UNKNOWN")
    yield from (line(f"{note}{end}", kind="UNKNOWN") for note in it.notes)


def _race_report(it: OutcomeAnswer) -> Iterator[Block]:
    """Whether one test races, with the execution."""
    yield line(f"{it.test} (model {it.model})", kind="head")
    yield from _notes(it, ".")
    if it.race is None:
        yield line("No consistent execution has a race.")
        return
    words = f"RACY: a consistent execution violates {it.race.condition}."
    yield line(words, kind="RACY")
    yield from (line(f"  {each}") for each in accesses(it.race))
    yield line()
    yield line("The execution", kind="head")
    yield race_execution(it.race)
    yield line()
    yield line(f"As a picture: rspverify draw --race -o race.svg {it.file}")


def _race_line(it: OutcomeAnswer) -> Line:
    """Whether a test races, in one line."""
    within = "".join(f" (within {number} {bound})" for bound, number in it.within.items())
    within += "".join(f" ({note})" for note in it.notes)
    if it.race is None:
        return line(f"{it.file}: race-free{within}")
    accessed = " and ".join(accesses(it.race))
    return line(f"{it.file}: ", ("RACY", "RACY"), f"{within} {it.race.condition}: {accessed}")


# ---- the table -----------------------------------------------------------------------------------


def _table(it: OutcomeAnswer, rows: Sequence[OutcomeRow]) -> Table:
    """A column for each value, or one for all values where that is too wide."""
    shown = _values(rows)
    names = _names(shown)
    heads = ["model"] * (it.machine is None) + [*it.schemes] + ["condition"] * bool(it.condition)
    cells = [_cells(it, row) for row in rows]
    kinds = {n: "UNSOUND" for n, row in enumerate(rows) if not (row.allowed or it.race)}
    each = [[values.get(name, "") for name in names] for values in shown]
    whole = [[" ".join(f"{name}={value}" for name, value in values.items())] for values in shown]
    narrow = [[*first, *others] for first, others in zip(whole, cells, strict=True)]
    wide = [[*first, *others] for first, others in zip(each, cells, strict=True)]
    otherwise = Table(["outcome", *heads], narrow, kinds=kinds)
    return Table([*names, *heads], wide, range(len(names)), kinds, otherwise=otherwise)


def _cells(it: OutcomeAnswer, row: OutcomeRow) -> list[str]:
    allowed = ["allowed" if row.allowed else "forbidden"] * (it.machine is None)
    reached = [_REACHED[each] for each in row.reached.values()]
    return [*allowed, *reached, *["holds" if row.satisfies else ""] * bool(it.condition)]


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


# ---- as it goes ----------------------------------------------------------------------------------


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

    def _print(self, found: OutcomeAnswer) -> None:
        if not found.answered:
            print(_refusal(found, many=self._many), file=sys.stderr)
        if self._form == "text":
            show(answer(found, many=self._many), self._console)
        elif self._form == "herd" and found.answered:
            self._console.file.write(herd.block(found))
            _warn(found)

    def finish(self, report: OutcomesReport) -> None:
        """The document, or how many tests have an answer, and why no more were asked."""
        if self._form == "json":
            self._console.file.write(to_json(report))
        elif self._form == "text":
            show(summary(report), self._console)


def _refusal(it: OutcomeAnswer, *, many: bool) -> str:
    """Why there is no answer; what is wrong or unsupported is named with its file and line."""
    if it.word is not Word.UNKNOWN:
        return it.reason
    file = f"{it.file}: " if many else ""
    return f"{file}{it.reason}" if it.internal else f"{file}UNKNOWN: {it.reason}"


def _warn(it: OutcomeAnswer) -> None:
    """What herd's form has no place for."""
    whole = it.final is None or it.final.counted
    notes = [] if whole else ["there are more executions than the counts say"]
    notes += [f"only executions within {number} {bound}" for bound, number in it.within.items()]
    for note in (*notes, *it.notes):
        print(f"{it.file}: {note}", file=sys.stderr)
