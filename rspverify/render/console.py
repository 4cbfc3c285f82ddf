"""Where output goes: the terminal, a pipe or a file."""

from __future__ import annotations

import io
import re
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, nullcontext
from typing import Any, TextIO, cast

from rich.console import Console

from rspverify.files import written

_BLANKS_AT_END = re.compile(r" +(?=\n)")
_WIDTH = 160
"""Columns where there is no terminal to ask."""
_PLAIN: Mapping[str, Any] = {"highlight": False, "markup": False, "emoji": False}
"""Text is printed as it is."""


@contextmanager
def opened(path: str | None) -> Iterator[Console]:
    """A console on a file, or on standard output; the file is there only once all is written."""
    terminal = path is None and sys.stdout.isatty()
    with nullcontext(sys.stdout) if path is None else written(path) as stream:
        if terminal:
            yield _Console(file=stream, **_PLAIN)
        else:
            yield _Console(file=cast(TextIO, _Trimmed(stream)), width=_WIDTH, **_PLAIN)


def printing_to(stream: TextIO) -> Console:
    """A console on a stream of ours, without colours even where the user forces them."""
    return _Console(file=cast(TextIO, _Trimmed(stream)), width=_WIDTH, color_system=None, **_PLAIN)


class _Console(Console):
    """A console that leaves it to its user to end where nobody reads any more."""

    def on_broken_pipe(self) -> None:
        """Raises the error that was met."""
        raise BrokenPipeError


class _Trimmed(io.TextIOBase):
    """Passes text on without the blanks that tables leave at the ends of lines."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream
        self._blanks = ""

    def write(self, text: str, /) -> int:
        """Pass on all but the blanks at its end, which may turn out to end a line."""
        whole = _BLANKS_AT_END.sub("", self._blanks + text)
        kept = whole.rstrip(" ")
        self._blanks = whole[len(kept) :]
        self._stream.write(kept)
        return len(text)

    def flush(self) -> None:
        """Pass on what the stream below holds back."""
        self._stream.flush()

    @property
    def encoding(self) -> str:  # type: ignore[override]
        """That of the stream below."""
        return self._stream.encoding

    def isatty(self) -> bool:
        """No: a terminal shows no blanks."""
        return False
