"""Where output goes: the terminal, a pipe or a file."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, nullcontext
from typing import Any, TextIO

from rich.console import Console

from rspverify.files import written

_WIDTH = 160
"""Columns where there is no terminal to ask."""
_PLAIN: Mapping[str, Any] = {"highlight": False, "markup": False, "emoji": False}
"""Text is printed as it is."""


@contextmanager
def opened(path: str | None) -> Iterator[Console]:
    """A console on a file, or on standard output; the file is there only once all is written."""
    terminal = path is None and sys.stdout.isatty()
    with nullcontext(sys.stdout) if path is None else written(path) as stream:
        yield _Console(file=stream, width=None if terminal else _WIDTH, **_PLAIN)


def printing_to(stream: TextIO) -> Console:
    """A console on a stream of ours, without colours even where the user forces them."""
    return _Console(file=stream, width=_WIDTH, color_system=None, **_PLAIN)


class _Console(Console):
    """A console that leaves it to its user to end where nobody reads any more."""

    def on_broken_pipe(self) -> None:
        """Raises the error that was met."""
        raise BrokenPipeError
