"""Where output goes: the terminal, a pipe or a file."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from rich.console import Console

from rspverify.source import InputError, Problem

_WIDTH = 160
"""Columns where there is no terminal to ask."""


@contextmanager
def opened(path: str | None) -> Iterator[Console]:
    """A console on a file, or on standard output; the file is there only once all is written."""
    if path is None:
        yield _console(sys.stdout.isatty())
        return
    place = Path(path)
    if place.is_dir() or not place.name:
        raise InputError([Problem(None, f"{path or '-o'}: must be a file to write to")])
    temporary = place.with_name(place.name + ".part")
    try:
        with temporary.open("w", encoding="utf-8", errors="backslashreplace") as stream:
            yield Console(file=stream, width=_WIDTH, highlight=False, soft_wrap=False)
        temporary.replace(place)
    except OSError as error:
        message = f"{path}: cannot be written: {error.strerror}"
        raise InputError([Problem(None, message)]) from None


def _console(terminal: bool) -> Console:
    return Console(width=None if terminal else _WIDTH, highlight=False, markup=False, emoji=False)
