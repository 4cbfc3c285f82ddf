"""`repair` as it goes: how many candidates, and what no scheme can cost less than by then."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.progress import Progress, TextColumn, TimeElapsedColumn


@contextmanager
def shown_search() -> Iterator[Callable[[int, int], None]]:
    """What to call after each candidate; a line on standard error, where that is a terminal."""
    bar = Progress(
        TextColumn("{task.completed} candidates tried, {task.fields[rate]:.1f}/s"),
        TextColumn("none passes that costs less than {task.fields[least]:,}"),
        TimeElapsedColumn(),
        console=Console(stderr=True),
        transient=True,
        disable=not sys.stderr.isatty(),
    )
    started = time.monotonic()
    with bar:
        task = bar.add_task("repair", total=None, rate=0.0, least=0)

        def step(candidates: int, least: int) -> None:
            rate = candidates / max(time.monotonic() - started, 0.001)
            bar.update(task, completed=candidates, rate=rate, least=least)

        yield step
