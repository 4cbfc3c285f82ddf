"""`show` for people: a scheme as Tab. 3 prints one."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from rich.box import SIMPLE_HEAD
from rich.console import RenderableType
from rich.table import Table
from rich.text import Text

_EACH = re.compile(r", (?![^(]*\))")
"""Between operations of a row; orders in brackets are of one operation."""


def scheme_table(
    name: str, machine: str, origin: str | None, rows: Sequence[tuple[int, str, Sequence[str]]]
) -> Iterator[RenderableType]:
    """Rows are (number, operations, code)."""
    yield Text(f"{name}, for the machine {machine}", style="bold")
    if origin:
        yield Text(origin, style="dim")
    table = Table(box=SIMPLE_HEAD, pad_edge=False, show_edge=False)
    table.add_column("", justify="right", style="dim")
    table.add_column("operation")
    table.add_column("code")
    for number, operations, code in rows:
        table.add_row(str(number), _EACH.sub("\n", operations), "; ".join(code))
    yield table
