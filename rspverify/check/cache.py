"""Questions and their answers, kept from run to run by what the answer depends on.

A question names its kind and all that its answer depends on, as content: texts, not paths. The
version of the package is part of every key (fingerprint.py), so that no answer outlives the code
that gave it.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError
from pathlib import Path
from typing import Any, TypeVar

from rspverify.check.fingerprint import fingerprint
from rspverify.check.store import Store, default_folder
from rspverify.convert import keep, read

T = TypeVar("T")
Warn = Callable[[str], None]


@dataclass(frozen=True)
class Question:
    """A kind of question, and everything that its answer depends on but the package itself."""

    kind: str
    content: tuple[Any, ...]


@dataclass(frozen=True)
class CachePlace:
    """Where a cache is and which version of the package asks; any process may open it."""

    folder: Path
    version: str


class Cache:
    """Answers of earlier runs; without a place it is empty and stays so."""

    def __init__(self, place: CachePlace | None, warn: Warn) -> None:
        self._place = place
        self._store = Store(place.folder, warn) if place else None

    @property
    def place(self) -> CachePlace | None:
        """Where another process can open it, None if it is of no use there."""
        return None if self._store is None or self._store.failed else self._place

    def answer(self, question: Question, kind: type[T]) -> T | None:
        """The answer to a question if it is known, read as the given type."""
        if self._store is None:
            return None
        found = self._store.get(self._key(question))
        if found is None:
            return None
        try:
            return read(kind, found)
        except ValueError:
            self._store.report_damage()
            return None

    def keep(self, question: Question, answer: Any) -> None:
        """Put an answer, plain data, on file."""
        if self._store is not None:
            self._store.put(self._key(question), keep(answer))

    def close(self) -> None:
        """Let go of the file; from now on it is empty. Do it before a fork."""
        if self._store is not None:
            self._store.close()

    def _key(self, question: Question) -> str:
        assert self._place is not None
        return digest(keep((self._place.version, question.kind, question.content)))


def open_cache(wanted: bool, warn: Warn) -> Cache:
    """The user's cache, or an empty one if it is not wanted or cannot be had."""
    if not wanted:
        return Cache(None, warn)
    try:
        place = CachePlace(default_folder(), fingerprint())
    except (OSError, PackageNotFoundError, RuntimeError) as error:
        warn(f"results are not cached: {error}")
        return Cache(None, warn)
    return Cache(place, warn)


def digest(text: str) -> str:
    """What stands for a text in a key: two texts with one digest are the same text."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
