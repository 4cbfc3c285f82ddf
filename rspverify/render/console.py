"""Where output goes: the terminal, a pipe or a file."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, nullcontext
from typing import Any, TextIO

from rich.console import Console

from rspverify.files import written

_WIDTH, _PAGE = 160, 80
"""Columns where there is no terminal to ask: of lines, and of what is laid out to be read."""
_PLAIN: Mapping[str, Any] = {"highlight": False, "markup": False, "emoji": False}
"""Text is printed as it is."""


@contextmanager
def opened(path: str | None, *, page: bool = False) -> Iterator[Console]:
    """A console on a file, or on standard output; the file is there only once all is written.

    page: what is laid out is to be read, in as many columns as COLUMNS says without a terminal.
    """
    terminal = path is None and sys.stdout.isatty()
    told = terminal or (page and "COLUMNS" in os.environ)
    width = None if told else _PAGE if page else _WIDTH
    with nullcontext(sys.stdout) if path is None else written(path) as stream:
        yield _Console(file=stream, width=width, **_PLAIN)


def printing_to(stream: TextIO, *, page: bool = False) -> Console:
    """A console on a stream of ours, without colours even where the user forces them."""
    return _Console(file=stream, width=_PAGE if page else _WIDTH, color_system=None, **_PLAIN)


class _Console(Console):
    """A console that leaves it to its user to end where nobody reads any more."""

    def on_broken_pipe(self) -> None:
        """Raises the error that was met."""
        raise BrokenPipeError
