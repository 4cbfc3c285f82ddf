"""`generate --list` for people: what the families are and how many tests they have."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from rich.console import RenderableType
from rich.table import Table
from rich.text import Text


def families(
    rows: Sequence[tuple[str, str, Sequence[tuple[str, int]]]], letters: Sequence[tuple[str, str]]
) -> Iterator[RenderableType]:
    """Families as (name, meaning, shapes with their counts), and what the shapes' letters mean."""
    for name, meaning, shapes in rows:
        total = sum(count for _, count in shapes)
        yield Text(f"{name}  {total} tests: {meaning}", style="bold")
        table = Table(box=None, show_header=False, padding=(0, 2))
        table.add_column(justify="right", no_wrap=True)
        table.add_column()
        for notation, count in shapes:
            table.add_row(str(count), notation.replace(" || ", " ‖ "))
        yield table
    yield Text("Each with every grouping of the threads into work-groups of one device.")
    for letter, words in letters:
        yield Text(f"  {letter}: {words}")
