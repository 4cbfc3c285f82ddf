"""`show` for people: a machine as its instructions and steps."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from rich.box import SIMPLE_HEAD
from rich.console import RenderableType
from rich.table import Table
from rich.text import Text

from rspverify.machine.summary import Described, MachineSummary


def machine_tables(it: MachineSummary) -> Iterator[RenderableType]:
    """Its state, instructions and steps, and what the engines make of it."""
    yield Text(f"{it.name}: {it.summary}", style="bold")
    for table in (
        _table("state", "cells", it.state),
        _table("instruction", "what it does", it.instructions),
        _table("step", "what it is like", it.steps),
    ):
        yield table
        yield Text()
    if it.unbounded is None:
        yield Text("engine events knows all of this, so that its answers are exact")
    else:
        yield Text(f"engine explicit decides it: events does not know it, as {it.unbounded}")
    if it.left_out:
        yield Text(
            f"with one device {' and '.join(it.left_out)} is as good as memory, and left out"
        )


def _table(name: str, does: str, rows: Sequence[Described]) -> Table:
    table = Table(box=SIMPLE_HEAD, pad_edge=False, show_edge=False)
    table.add_column(name)
    table.add_column(does)
    for each in rows:
        table.add_row(each.name, each.does)
    return table
