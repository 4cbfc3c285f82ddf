"""`check` as it goes: rows as tests are decided, and progress while they are not."""

from __future__ import annotations

from collections.abc import Sequence
from types import TracebackType

from rich.console import Console
from rich.progress import BarColumn, TextColumn, TimeElapsedColumn

from rspverify.answers import ModelAnswer, Result, SuiteReport
from rspverify.render import check_text
from rspverify.render.progress import WithBar, bar


class CheckStream(WithBar):
    """Prints the row of a test as soon as it is decided under every scheme.

    With `rows` false (JSON) nothing but how far the run is is shown, and on a terminal only.
    `progress`: that of programs (SEMANTICS §5) stands beside their verdicts.
    """

    def __init__(
        self,
        console: Console,
        schemes: Sequence[str],
        tests: int,
        rows: bool,
        *,
        progress: bool = False,
    ) -> None:
        self._console = console
        self._schemes = schemes
        self._rows = rows
        self._with_progress = progress
        self._pending: list[Result] = []
        self._results: list[Result] = []
        self._headed = False
        shown = bar(
            TextColumn("{task.completed} of {task.total} verdicts"),
            BarColumn(),
            TimeElapsedColumn(),
            beside=console if rows else None,
        )
        super().__init__(shown)
        self._task = self._progress.add_task("check", total=tests * len(schemes))

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._pending:
            self._print_pending()
        super().__exit__(kind, error, trace)

    def begin(self, folder: str, total: int) -> None:
        """The heading comes with the first row."""

    def show(self, result: Result | ModelAnswer) -> None:
        """Take the next result, which is that of a scheme."""
        assert isinstance(result, Result)
        self._results.append(result)
        self._progress.advance(self._task)
        if self._pending and self._pending[0].file != result.file:
            self._print_pending()
        self._pending.append(result)
        if len(self._pending) == len(self._schemes):
            self._print_pending()

    def _print_pending(self) -> None:
        if self._rows:
            if not self._headed:
                self._console.print(
                    check_text.heading(self._schemes, _WIDTH, progress=self._with_progress),
                    soft_wrap=True,
                )
                self._headed = True
            for line in check_text.row(self._pending, _WIDTH, progress=self._with_progress):
                self._console.print(line, soft_wrap=True)
        self._pending = []

    def end(self, report: SuiteReport, *, refreshed: bool) -> None:
        """The rest of the rows."""
        if self._pending:
            self._print_pending()

    def finish(self, reports: Sequence[SuiteReport]) -> None:
        """The summary, and what is not as expected."""
        (report,) = reports
        for line in check_text.summary(self._results, report.seconds, report.total):
            self._console.print(line, soft_wrap=True)
        for line in check_text.comparison(report.held) if report.held else ():
            self._console.print(line, soft_wrap=True)


_WIDTH = 56
"""Columns for the title of a test; longer ones push their verdicts to the right."""
