"""A bar on a terminal, which rich draws."""

from __future__ import annotations

from rich.console import Console
from rich.progress import (
    BarColumn,
    Progress,
    Task,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
)
from rich.text import Text


class _Time(TimeRemainingColumn):
    """The time that is left, or that has gone where nothing is counted."""

    def render(self, task: Task) -> Text:
        return super().render(task) if task.total else TimeElapsedColumn().render(task)


class Shown:
    """Words, a bar and a time, until it is stopped. console: standard error without one."""

    def __init__(self, console: Console | None) -> None:
        self._progress = Progress(
            TextColumn("{task.description}"),
            BarColumn(),
            _Time(elapsed_when_finished=True),
            console=console or Console(stderr=True),
            transient=True,
        )
        self._number = self._progress.add_task("", total=None, visible=False)
        self._progress.start()

    def again(self) -> None:
        """Something else is counted."""
        self._progress.reset(self._number)

    def at(self, words: str, done: float, total: int) -> None:
        """So many are done; without words nothing is shown."""
        self._progress.update(
            self._number,
            completed=done,
            total=total or None,
            description=words,
            visible=bool(words),
        )

    def stop(self) -> None:
        """It goes away."""
        self._progress.stop()
