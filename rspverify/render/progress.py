"""How far a command is: a bar on the terminal, and where there is none a line each minute."""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Generic, Self, TypeVar

from rspverify.render.document import Block, Row, Told
from rspverify.render.forms.text import MatrixLines, show

if TYPE_CHECKING:
    from rich.console import Console
    from rich.progress import Progress

T = TypeVar("T")
R = TypeVar("R")
ON_AGAIN = "the same command goes on from here, unless nothing is kept (--no-cache)"
"""What is said of a run that was interrupted."""


_AFTER = 1.0
"""Seconds after which what is being done is said, where nothing is counted."""
_BETWEEN_LINES = 60.0
"""Seconds between lines that stand for a bar."""


_SOON = 0.2
"""Seconds after which a bar is there: what takes less needs none, nor the library that draws it."""


class Bar:
    """Words, a bar and a time, which go away when all is done.

    It is where `beside` prints, if that is a terminal, otherwise on standard error. Where there is
    no terminal either, its words are said there now and then.
    """

    def __init__(self, beside: Console | None = None) -> None:
        self._beside = beside if beside is not None and beside.is_terminal else None
        self._on_terminal = self._beside is not None or sys.stderr.isatty()
        self._over, self._lock = threading.Event(), threading.RLock()
        self._began = self._counted_from = time.monotonic()
        self._what, self._also, self._words = "", "", ""
        self._done, self._total = 0.0, 0
        self._shown: Progress | None = None

    def __enter__(self) -> Self:
        work = self._show if self._on_terminal else self._tell
        threading.Thread(target=work, daemon=True).start()
        return self

    def __exit__(self, *error: object) -> None:
        with self._lock:
            self._over.set()
            if self._shown is not None:
                self._shown.stop()

    def _show(self) -> None:
        if self._over.wait(_SOON):
            return
        from rspverify.render.bar import shown_on

        with self._lock:
            if not self._over.is_set():
                self._shown = shown_on(self._beside)
                self._draw()

    def _draw(self) -> None:
        """Without words nothing is shown."""
        with self._lock:
            if self._shown is not None:
                self._shown.update(
                    self._shown.task_ids[0],
                    completed=self._done,
                    total=self._total or None,
                    description=self._words,
                    visible=bool(self._words),
                )

    def _tell(self) -> None:
        while not self._over.wait(_BETWEEN_LINES):
            minutes = (time.monotonic() - self._began) / 60
            with self._lock, suppress(OSError, ValueError):  # nobody reads it any more
                if self._words and not self._over.is_set():
                    print(f"{minutes:.0f} min: {self._words}", file=sys.stderr, flush=True)

    def step(self, words: str) -> None:
        """What is being done, beside what is counted."""
        self._also = words
        self.at(self._done)

    def count(self, what: str, total: int) -> None:
        """From now on so many of these are counted."""
        self._what, self._counted_from, self._total = what, time.monotonic(), total
        with self._lock:
            if self._shown is not None:
                self._shown.reset(self._shown.task_ids[0])
        self.at(0)

    def advance(self, number: int = 1) -> None:
        """So many more are done."""
        self.at(self._done + number)

    def at(self, done: float) -> None:
        """So many are done."""
        self._done, seconds = done, time.monotonic() - self._counted_from
        words = [self._also] if self._also else []
        if self._total:
            rate = f", {done / seconds:,.1f}/s" if done and seconds else ""
            words.insert(0, f"{self._what}: {done:,.0f} of {self._total:,.0f}{rate}")
        self._words = "; ".join(words)
        self._draw()


class Stream(Generic[T, R]):
    """What prints as a question goes, with a bar while it does; without `text` the bar alone."""

    def __init__(self, console: Console, it: Told, *, text: bool) -> None:
        self.console, self.text, self.bar = console, text, Bar(console if text else None)
        self.count, self.at = self.bar.count, self.bar.at
        self.advance, self.step = self.bar.advance, self.bar.step
        self._it, self._pending = it, list[T]()
        self._rows = None if it.matrix is None else MatrixLines(it.matrix, console.width)
        if it.counted is not None:
            self.count(*it.counted)
        self.print(it.head)

    def __enter__(self) -> Self:
        self.bar.__enter__()
        return self

    def __exit__(self, *error: object) -> None:
        self._print_pending()
        self.bar.__exit__()

    def say(self, words: str) -> None:
        """Say something that is no part of the answer."""
        print(words, file=sys.stderr)

    def show(self, answer: T) -> None:
        """Take the next answer."""
        self.advance()
        self._pending.append(answer)
        if len(self._pending) >= self._it.together:
            self._print_pending()

    def _print_pending(self) -> None:
        pending, self._pending = self._pending, []
        if pending:
            told = pending if self._it.together else pending[0]
            for words in self._it.beside(told):
                self.say(words)
            self.print(self._it.each(told) if self.text else ())

    def print(self, blocks: Iterable[Block | Row]) -> None:
        """Print what people read, block by block."""
        for each in blocks if self.text else ():
            if not isinstance(each, Row):
                show([each], self.console)
            elif self._rows is not None:
                for row in self._rows.of(each):
                    self.console.print(row, soft_wrap=True)

    def finish(self, report: R) -> None:
        """What people read once all answers are there."""
        self.print(self._it.last(report) if self.text else ())


@contextmanager
def working(what: str, seconds: float | None = None) -> Iterator[None]:
    """Says what is being done, where nothing is counted; seconds: what it may take, if that is
    bounded."""
    words = what if seconds is None else f"{what}, of at most {seconds:g} s"
    with Bar() as bar:
        timer = threading.Timer(_AFTER, bar.step, [words])
        timer.daemon = True
        timer.start()
        try:
            yield
        finally:
            timer.cancel()
