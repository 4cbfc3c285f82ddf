"""Which files may be read where strangers name them: those that ship, and those of one folder."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from importlib.resources import files
from pathlib import Path

_OURS = Path(str(files("rspverify")))
_SEALED: ContextVar[Path | None] = ContextVar("sealed", default=None)


@contextmanager
def sealed(folder: Path) -> Iterator[None]:
    """No file can be read inside but those that ship and those of the folder: others are absent."""
    token = _SEALED.set(folder.resolve())
    try:
        yield
    finally:
        _SEALED.reset(token)


def hidden(path: Path) -> bool:
    """Whether a path leads to what must not be read, wherever its links and `..` go."""
    folder = _SEALED.get()
    if folder is None:
        return False
    if path.is_relative_to(_OURS) and ".." not in path.parts:  # links below it are ours
        return False
    try:
        place = path.resolve()
    except (OSError, ValueError, RuntimeError):
        return True
    return not (place.is_relative_to(_OURS.resolve()) or place.is_relative_to(folder))
