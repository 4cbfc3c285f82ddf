"""How far a command is: a bar on the terminal, and nothing where there is none."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import Self

from rich.console import Console, RenderableType
from rich.progress import BarColumn, Progress, ProgressColumn, TextColumn, TimeRemainingColumn

ON_AGAIN = "the same command goes on from here, unless nothing is kept (--no-cache)"
"""What is said of a run that was interrupted."""


def bar(*columns: ProgressColumn, beside: Console | None = None) -> Progress:
    """A bar that goes away when it is done.

    It is where `beside` prints, if that is a terminal, otherwise on standard error, if that is one.
    """
    here = beside if beside is not None and beside.is_terminal else None
    return Progress(
        *columns,
        console=here or Console(stderr=True),
        transient=True,
        disable=here is None and not sys.stderr.isatty(),
    )


class Stream:
    """What prints as a command goes, with a bar while it does; without `text` (JSON) that alone."""

    def __init__(
        self, console: Console, *columns: ProgressColumn, text: bool, total: int | None = None
    ) -> None:
        self.console = console
        self.text = text
        self.bar = bar(*columns, beside=console if text else None)
        self.task = self.bar.add_task("", total=total, visible=total is not None, rate="")

    def __enter__(self) -> Self:
        self.bar.start()
        return self

    def __exit__(self, *error: object) -> None:
        self.bar.stop()

    def begin(self, what: str, total: int) -> None:
        """From now on something else is counted."""
        self.bar.reset(self.task, description=what, total=total, visible=True, rate="")

    def advance(self) -> None:
        """One more is done."""
        self.bar.advance(self.task)

    def print(self, lines: Iterable[RenderableType]) -> None:
        """Print what people read, line by line."""
        if self.text:
            for line in lines:
                self.console.print(line, soft_wrap=True)


@contextmanager
def counting(what: str, total: int) -> Iterator[Callable[[], None]]:
    """What to call after each of so many things: how many, how fast, and the time that is left."""
    shown = bar(
        TextColumn(f"{{task.completed}} of {{task.total}} {what}"),
        BarColumn(),
        TextColumn("{task.fields[rate]:.1f}/s"),
        TimeRemainingColumn(),
    )
    started = time.monotonic()
    with shown:
        task = shown.add_task(what, total=total, rate=0.0)

        def advance() -> None:
            done = shown.tasks[0].completed + 1
            shown.update(task, advance=1, rate=done / (time.monotonic() - started))

        yield advance
