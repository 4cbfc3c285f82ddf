"""Races for people: the two accesses, and the consistent execution that has them."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence

from rich.console import RenderableType
from rich.table import Table
from rich.text import Text

from rspverify.answers import OutcomeAnswer
from rspverify.graph import nearest
from rspverify.verdict import Event, Race

_HEADS = {
    "rf": "reads from",
    "mo": "after in mo",
    "sw": "synchronises with",
    "gsw": "global-synchronises with",
    "lsw": "local-synchronises with",
    "hb": "after in hb",
}
"""What the column of a relation tells of an event: those that are related to it."""


def accesses(race: Race) -> list[str]:
    """The two accesses of a race, each with its place; or the place of another fault."""
    if race.divergence:
        return [race.divergence]
    return [_at(each) for each in (race.first, race.second) if each is not None]


def race_report(it: OutcomeAnswer) -> Iterator[RenderableType]:
    """Everything about one test."""
    yield Text(f"{it.test} (model {it.model})", style="bold")
    for bound, number in it.within.items():
        yield Text(f"Only executions within {number} {bound}.", style="magenta")
    for note in it.notes:
        yield Text(f"{note}.", style="magenta")
    if it.race is None:
        yield Text("No consistent execution has a race.")
        return
    yield Text(f"RACY: a consistent execution violates {it.race.condition}.", style="yellow")
    yield from (Text(f"  {line}") for line in accesses(it.race))
    yield Text("\nThe execution", style="bold")
    yield race_execution(it.race)
    yield Text(f"\nAs a picture: rspverify draw --race -o race.svg {it.file}")


def race_line(it: OutcomeAnswer) -> Text:
    """One test in one line."""
    within = "".join(f" (within {number} {bound})" for bound, number in it.within.items())
    within += "".join(f" ({note})" for note in it.notes)
    if it.race is None:
        return Text(f"{it.file}: race-free{within}")
    line = Text(f"{it.file}: ").append("RACY", style="yellow")
    return line.append(f"{within} {it.race.condition}: {' and '.join(accesses(it.race))}")


def race_execution(race: Race) -> Table:
    """The execution of a race, with the two accesses marked."""
    marked = [each for each in (race.first, race.second) if each is not None]
    return execution(race.events, race.edges, marked)


def execution(
    events: Sequence[Event],
    edges: Mapping[str, Sequence[tuple[int, int]]],
    marked: Collection[Event] = (),
) -> Table:
    """The events by thread, and which are related to each; of mo and hb the next before only."""
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0))
    shown = [name for name in _HEADS if edges.get(name)]
    for column in ("", "thread", "line", "access", *(_HEADS[name] for name in shown)):
        table.add_column(column, no_wrap=True)
    into = {name: _into(events, edges[name], name) for name in shown}
    for place, event in enumerate(events):
        table.add_row(
            _name(place),
            "" if event.thread is None else f"P{event.thread}",
            "" if event.line is None else str(event.line),
            event.access,
            *(" ".join(_name(each) for each in into[name][place]) for name in shown),
            style="yellow" if event in marked else None,
        )
    return table


def _into(events: Sequence[Event], edges: Sequence[tuple[int, int]], name: str) -> list[list[int]]:
    """Of each event, those that the relation leads from; of an order only the nearest."""
    if name in ("mo", "hb"):
        edges = tuple(nearest(edges))
    if name == "hb":  # that initial writes come first goes without saying
        edges = tuple(pair for pair in edges if events[pair[0]].thread is not None)
    return [[a for a, b in edges if b == place] for place in range(len(events))]


def _name(place: int) -> str:
    return f"e{place}"


def _at(event: Event) -> str:
    if event.thread is None or event.line is None:
        return event.access
    return f"P{event.thread} line {event.line}: {event.access}"
