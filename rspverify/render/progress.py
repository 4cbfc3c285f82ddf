"""How far a command is: a bar on the terminal, and nothing where there is none."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import TracebackType
from typing import Self

from rich.console import Console
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


class WithBar:
    """What prints as a command goes, with a bar while it does."""

    def __init__(self, shown: Progress) -> None:
        self._progress = shown

    def __enter__(self) -> Self:
        self._progress.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._progress.stop()


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
