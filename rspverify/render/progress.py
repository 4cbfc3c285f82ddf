"""How far a command is: a bar on the terminal, and where there is none a line each minute."""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from typing import Self

from rich.console import Console
from rich.progress import (
    BarColumn,
    Progress,
    ProgressColumn,
    SpinnerColumn,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
)

from rspverify.render.document import Block, Matrix, Row
from rspverify.render.forms.text import MatrixLines, show

ON_AGAIN = "the same command goes on from here, unless nothing is kept (--no-cache)"
"""What is said of a run that was interrupted."""


_AFTER = 1.0
"""Seconds after which what is being done is said, where nothing is counted."""
_BETWEEN_LINES = 60.0
"""Seconds between lines that stand for a bar."""


class _Bar(Progress):
    """A bar; where there is no terminal, now and then what it would say, on standard error."""

    _began: float | None = None

    def start(self) -> None:
        """Show it from now on."""
        super().start()
        self._began = self._began or time.monotonic()
        self._over = threading.Event()
        if self.disable:
            given = (self._over, self._began)
            threading.Thread(target=self._tell, args=given, daemon=True).start()

    def stop(self) -> None:
        """Show it no more."""
        super().stop()
        self._over.set()

    def _tell(self, over: threading.Event, began: float) -> None:
        columns = [each for each in self.columns if isinstance(each, TextColumn)]
        while not over.wait(_BETWEEN_LINES):
            minutes = (time.monotonic() - began) / 60
            for task in (each for each in self.tasks if each.visible):
                words = ", ".join(each.render(task).plain for each in columns)
                with suppress(OSError, ValueError):  # nobody reads it any more
                    print(f"{minutes:.0f} min: {words}", file=sys.stderr, flush=True)


def bar(*columns: ProgressColumn, beside: Console | None = None) -> Progress:
    """A bar that goes away when it is done.

    It is where `beside` prints, if that is a terminal, otherwise on standard error, if that is one;
    if not, a line a minute is.
    """
    here = beside if beside is not None and beside.is_terminal else None
    return _Bar(
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
        self.count(what, total)

    def count(self, what: str, total: int) -> None:
        """Begin to count what is asked beside what is shown."""
        self.bar.reset(self.task, description=what, total=total, visible=True, rate="")

    def advance(self) -> None:
        """One more is done."""
        self.bar.advance(self.task)

    def print(self, blocks: Iterable[Block]) -> None:
        """Print what people read, block by block."""
        if self.text:
            show(blocks, self.console)

    def begin_matrix(self, it: Matrix) -> None:
        """The rows to come are of this matrix."""
        self._matrix = MatrixLines(it, self.console.width)

    def print_row(self, row: Row) -> None:
        """Print a row, with heads before the first."""
        if self.text:
            for each in self._matrix.of(row):
                self.console.print(each, soft_wrap=True)


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


@contextmanager
def working(what: str, seconds: float | None = None) -> Iterator[None]:
    """Says what is being done, where nothing is counted; seconds: what it may take, if that is
    bounded."""
    most = TextColumn("" if seconds is None else f"of at most {seconds:g} s")
    shown = bar(SpinnerColumn(), TextColumn("{task.description}"), TimeElapsedColumn(), most)
    with shown:
        task = shown.add_task(what, total=None, visible=False)
        timer = threading.Timer(_AFTER, lambda: shown.update(task, visible=True))
        timer.daemon = True
        timer.start()
        try:
            yield
        finally:
            timer.cancel()
