"""`mutate` as it goes: how many tests or mutants, how fast, and the time that is left."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn


@contextmanager
def shown_progress(what: str, total: int) -> Iterator[Callable[[], None]]:
    """What to call after each; a bar on standard error, where that is a terminal."""
    bar = Progress(
        TextColumn(f"{{task.completed}} of {{task.total}} {what}"),
        BarColumn(),
        TextColumn("{task.fields[rate]:.1f}/s"),
        TimeRemainingColumn(),
        console=Console(stderr=True),
        transient=True,
        disable=not sys.stderr.isatty(),
    )
    started = time.monotonic()
    with bar:
        task = bar.add_task(what, total=total, rate=0.0)

        def advance() -> None:
            done = bar.tasks[0].completed + 1
            bar.update(task, advance=1, rate=done / (time.monotonic() - started))

        yield advance
