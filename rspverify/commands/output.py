"""What commands say beside their answer, and where the answer goes."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.console import RenderableType


def warn_once() -> Callable[[str], None]:
    """Says a warning on standard error, the same one only once."""
    said: set[str] = set()

    def warn(message: str) -> None:
        if message not in said:
            said.add(message)
            print(f"warning: {message}", file=sys.stderr)

    return warn


def note(notes: Iterable[str]) -> None:
    """Says on standard error what of a model's files counts for nothing."""
    for note in notes:
        print(f"note: {note}", file=sys.stderr)


def print_parts(path: str | None, parts: Iterable[RenderableType]) -> None:
    """Print to a file, or to the terminal."""
    from rspverify.render.console import opened

    with opened(path) as console:
        for part in parts:
            console.print(part)
