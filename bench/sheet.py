"""A table of figures, for the terminal and for a document."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from rich.table import Table


@dataclass
class Sheet:
    """A table. key: what a document calls its place. labels: the columns of words, to the left.

    last: so many of its last rows are for a document; 0 means all.
    """

    key: str
    title: str
    labels: Sequence[str]
    figures: Sequence[str]
    rows: list[Sequence[str]] = field(default_factory=list)
    last: int = 0

    def add(self, *cells: str) -> None:
        """One row; a cell for each column."""
        assert len(cells) == len(self.labels) + len(self.figures)
        self.rows.append(cells)

    def table(self) -> Table:
        """For the terminal."""
        table = Table(title=self.title, title_justify="left")
        for label in self.labels:
            table.add_column(label)
        for figure in self.figures:
            table.add_column(figure, justify="right", no_wrap=True)
        for row in self.rows:
            table.add_row(*row)
        return table

    def markdown(self) -> str:
        """For a document."""
        rule = ["---"] * len(self.labels) + ["---:"] * len(self.figures)
        lines = [[*self.labels, *self.figures], rule, *self.rows[-self.last :]]
        return "\n".join(f"| {' | '.join(line)} |" for line in lines) + "\n"
