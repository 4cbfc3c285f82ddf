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


def shown_on(console: Console | None) -> Progress:
    """A bar that is there until it is stopped, of one task. console: standard error without one."""
    shown = Progress(
        TextColumn("{task.description}"),
        BarColumn(),
        _Time(elapsed_when_finished=True),
        console=console or Console(stderr=True),
        transient=True,
    )
    shown.add_task("", total=None, visible=False)
    shown.start()
    return shown
