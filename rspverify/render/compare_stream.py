"""`compare` as it goes: rows first, then tests as they are compared, and how far it is."""

from __future__ import annotations

from collections.abc import Iterable

from rich.console import Console, RenderableType
from rich.progress import BarColumn, MofNCompleteColumn, TimeRemainingColumn

from rspverify.convert import to_json
from rspverify.engineering.comparison import Compared, Comparison
from rspverify.render import compare_text
from rspverify.render.progress import WithBar, bar


class CompareStream(WithBar):
    """Prints what is known of a comparison as soon as it is; as JSON, all of it at the end."""

    def __init__(self, console: Console, form: str, tests: int) -> None:
        self._console = console
        self._text = form == "text"
        self._headed = False
        shown = bar(
            MofNCompleteColumn(),
            BarColumn(),
            TimeRemainingColumn(elapsed_when_finished=True),
            beside=console if self._text else None,
        )
        super().__init__(shown)
        self._task = self._progress.add_task("compare", total=tests)

    def start(self, comparison: Comparison) -> None:
        """The schemes and their rows."""
        self._print(compare_text.schemes(comparison))

    def show(self, compared: Compared) -> None:
        """The next test."""
        self._progress.advance(self._task)
        lines = list(compare_text.test(compared))
        if lines and not self._headed:
            self._headed = True
            self._print([compare_text.heading()])
        self._print(lines)

    def finish(self, comparison: Comparison) -> None:
        """The summary, or the document."""
        self._progress.stop()
        self._print(compare_text.summary(comparison))
        if not self._text:
            self._console.file.write(to_json(comparison))

    def _print(self, parts: Iterable[RenderableType]) -> None:
        if self._text:
            for part in parts:
                self._console.print(part, soft_wrap=True)
