"""`outcomes` for people: what the model allows and what schemes make of it, side by side."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

from rich.box import SIMPLE_HEAD
from rich.console import Console, ConsoleOptions, RenderableType, RenderResult
from rich.measure import Measurement
from rich.table import Table
from rich.text import Text

from rspverify.answers import Observed, OutcomeAnswer, OutcomeRow
from rspverify.render.races_text import accesses

_ANY_WIDTH = 10_000


def outcome_table(it: OutcomeAnswer) -> Iterator[RenderableType]:
    """The table, the race, and the final condition in herd's words."""
    yield Text(f"{it.test} (model {it.model})", style="bold")
    yield _Rows(it, it.outcomes or ())
    yield Text("")
    for bound, number in it.within.items():
        yield Text(f"Only executions within {number} {bound}.", style="magenta")
    for note in it.notes:
        yield Text(note, style="magenta")
    if it.race:
        yield Text("RACY: a program with a race may do anything. The accesses are", style="yellow")
        for line in accesses(it.race):
            yield Text(f"  {line}")
    else:
        yield Text("No consistent execution has a race.")
    if it.condition and (final := it.final):
        yield Text(f"Condition {it.condition}")
        counted = "" if final.counted else " (not counted to the end)"
        yield Text(
            f"Observation {it.test} {final.observation} {final.positive} {final.negative}"
            f"   states {len(final.states)}{counted}"
        )


class _Rows:
    """The outcomes as a table with a column for each value, or for all values if it is too wide."""

    def __init__(self, answer: OutcomeAnswer, rows: Sequence[OutcomeRow]) -> None:
        self._answer, self._rows = answer, rows

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        wide = self._wide()
        needed = Measurement.get(console, options.update(width=_ANY_WIDTH), wide).maximum
        yield wide if needed <= options.max_width else self._narrow()

    def _wide(self) -> Table:
        shown = _values(self._rows)
        names = _names(shown)
        table = _empty()
        for name in names:
            table.add_column(name, justify="right", no_wrap=True)
        self._fill(table, [[values.get(name, "") for name in names] for values in shown])
        return table

    def _narrow(self) -> Table:
        shown = _values(self._rows)
        table = _empty()
        table.add_column("outcome", overflow="fold")
        cells = [" ".join(f"{k}={v}" for k, v in values.items()) for values in shown]
        self._fill(table, [[cell] for cell in cells])
        return table

    def _fill(self, table: Table, first: Sequence[Sequence[str]]) -> None:
        it = self._answer
        for name in ("model", *it.schemes, *(["condition"] if it.condition else [])):
            table.add_column(name, no_wrap=True)
        for row, cells in zip(self._rows, first, strict=True):
            bad = not row.allowed and it.race is None
            verdicts = _verdicts(row, condition=it.condition is not None)
            table.add_row(*cells, *verdicts, style="bold red" if bad else None)


def _empty() -> Table:
    return Table(box=SIMPLE_HEAD, pad_edge=False, show_edge=False)


def _verdicts(row: OutcomeRow, *, condition: bool) -> list[str]:
    cells = ["allowed" if row.allowed else "forbidden"]
    cells += ["?" if each is None else "reached" if each else "-" for each in row.reached.values()]
    if condition:
        cells.append("holds" if row.satisfies else "")
    return cells


def _values(rows: Sequence[OutcomeRow]) -> list[dict[str, str]]:
    """Per outcome its values by name: registers and memory, and reads where these do not tell."""
    plain = [_without_reads(row.outcome) for row in rows]
    if len({tuple(values.items()) for values in plain}) == len(plain):
        return plain
    reads = _reads(rows)
    return [{**found, **values} for found, values in zip(reads, plain, strict=True)]


def _without_reads(observed: Observed) -> dict[str, str]:
    named: Mapping[str, int] = {**observed.registers, **observed.memory}
    return {name: str(value) for name, value in named.items()}


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
