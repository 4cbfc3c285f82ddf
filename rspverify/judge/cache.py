"""Questions, and where their answers are kept from run to run, by what the answer depends on.

A question names its kind and all that its answer depends on, as content: texts, not paths. The
version of the package is part of every key (fingerprint.py), so that no answer outlives the code
that gave it.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from importlib.metadata import PackageNotFoundError
from pathlib import Path
from typing import Any, Generic, TypeVar

from msgspec import Struct

from rspverify.judge.fingerprint import fingerprint
from rspverify.judge.store import default_folder

T = TypeVar("T")
Warn = Callable[[str], None]


class Question(Generic[T], Struct, frozen=True):
    """A kind of question, and everything that its answer depends on but the package itself.

    answer: the type of its answer, plain data.
    """

    kind: str
    content: tuple[Any, ...]
    answer: type[T]


class CachePlace(Struct, frozen=True):
    """Where a cache is and which version of the package asks; any process may open it."""

    folder: Path
    version: str


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
