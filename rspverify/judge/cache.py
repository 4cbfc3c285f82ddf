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
from typing import Any, Generic, TypeVar

from rspverify.convert import keep, read
from rspverify.judge.fingerprint import fingerprint
from rspverify.judge.store import Store, default_folder

T = TypeVar("T")
Warn = Callable[[str], None]


@dataclass(frozen=True)
class Question(Generic[T]):
    """A kind of question, and everything that its answer depends on but the package itself.

    answer: the type of its answer, plain data.
    """

    kind: str
    content: tuple[Any, ...]
    answer: type[T]


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
    def failed(self) -> bool:
        """Whether it cannot be used."""
        return self._store is not None and self._store.failed

    def answer(self, question: Question[T]) -> T | None:
        """The answer to a question, if it is known."""
        if self._store is None:
            return None
        found = self._store.get(self._key(question))
        if found is None:
            return None
        try:
            return read(question.answer, found)
        except ValueError:
            self._store.report_damage()
            return None

    def keep(self, question: Question[T], answer: T) -> None:
        """Put an answer, plain data, on file."""
        if self._store is not None:
            self._store.put(self._key(question), keep(answer))

    def close(self) -> None:
        """Let go of the file; from now on it is empty."""
        if self._store is not None:
            self._store.close()

    def _key(self, question: Question[Any]) -> str:
        assert self._place is not None
        return digest(keep((self._place.version, question.kind, question.content)))


def cache_place(wanted: bool, warn: Warn) -> CachePlace | None:
    """Where the user's cache is; None if it is not wanted or cannot be had."""
    if not wanted:
        return None
    try:
        return CachePlace(default_folder(), fingerprint())
    except (OSError, PackageNotFoundError, RuntimeError) as error:
        warn(f"results are not cached: {error}")
        return None


def digest(text: str) -> str:
    """What stands for a text in a key: two texts with one digest are the same text."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
