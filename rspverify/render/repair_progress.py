"""`repair` as it goes: how many candidates, and what no scheme can cost less than by then."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from rich.progress import TextColumn, TimeElapsedColumn

from rspverify.render.progress import bar


@contextmanager
def shown_search() -> Iterator[Callable[[int, int], None]]:
    """What to call after each candidate; a line on standard error, where that is a terminal."""
    shown = bar(
        TextColumn("{task.completed} candidates tried, {task.fields[rate]:.1f}/s"),
        TextColumn("none passes that costs less than {task.fields[least]:,}"),
        TimeElapsedColumn(),
    )
    started = time.monotonic()
    with shown:
        task = shown.add_task("repair", total=None, rate=0.0, least=0)

        def step(candidates: int, least: int) -> None:
            rate = candidates / max(time.monotonic() - started, 0.001)
            shown.update(task, completed=candidates, rate=rate, least=least)

        yield step
