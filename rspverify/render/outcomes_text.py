"""`outcomes` for people: what the model allows and what schemes make of it, side by side."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from rich.box import SIMPLE_HEAD
from rich.console import RenderableType
from rich.table import Table
from rich.text import Text

from rspverify.report import Observed, OutcomeTable, ReadValue
from rspverify.verdict import Event


def outcome_table(it: OutcomeTable) -> Iterator[RenderableType]:
    """The table, the race, and the final condition in herd's words."""
    yield Text(f"{it.test} (model {it.model})", style="bold")
    table = Table(box=SIMPLE_HEAD, pad_edge=False, show_edge=False)
    shown = [_values(row.observed, reads=False) for row in it.rows]
    if len({tuple(values.items()) for values in shown}) < len(shown):
        shown = [_values(row.observed, reads=True) for row in it.rows]
    names = sorted({name for values in shown for name in values}, key=_order(it)) if shown else []
    for name in names:
        table.add_column(name, justify="right")
    table.add_column("model")
    for scheme in it.schemes:
        table.add_column(scheme)
    if it.condition:
        table.add_column("condition")
    for row, values in zip(it.rows, shown, strict=True):
        cells = [str(values.get(name, "")) for name in names]
        cells.append("allowed" if row.allowed else "forbidden")
        cells += ["?" if each is None else "reached" if each else "-" for each in row.reached]
        if it.condition:
            cells.append("holds" if row.satisfies else "")
        bad = not row.allowed and it.race is None
        table.add_row(*cells, style="bold red" if bad else None)
    yield table
    yield Text("")
    for note in it.notes:
        yield Text(note, style="magenta")
    if it.race:
        yield Text("RACY: a program with a race may do anything. The accesses are", style="yellow")
        yield Text(f"  {_place(it.race.first)}\n  {_place(it.race.second)}")
    else:
        yield Text("No consistent execution has a race.")
    if it.condition:
        yield Text(f"Condition {it.condition}")
        counted = "" if it.counted else " (not counted to the end)"
        yield Text(
            f"Observation {it.test} {it.observation} {it.positive} {it.negative}"
            f"   states {it.states}{counted}"
        )


def _values(observed: Observed, *, reads: bool) -> dict[str, int]:
    """Registers and memory; with `reads` also the reads, which no register need show."""
    found = {_read(it): it.value for it in observed.reads} if reads else {}
    return {**found, **observed.registers, **observed.memory}


def _read(it: ReadValue) -> str:
    return f"P{it.thread} line {it.line}"


def _order(table: OutcomeTable) -> Callable[[str], int]:
    """Reads by thread and line, then registers, then memory, whatever a row happens to have."""
    reads = sorted(
        (it.thread, it.line, _read(it)) for row in table.rows for it in row.observed.reads
    )
    first = table.rows[0].observed
    names = [*(name for _, _, name in reads), *first.registers, *first.memory]
    place = {name: order for order, name in enumerate(dict.fromkeys(names))}
    return place.__getitem__


def _place(event: Event) -> str:
    return f"P{event.thread} line {event.line}: {event.text}"
