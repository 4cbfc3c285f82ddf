"""A file of texts by key, shared by processes: SQLite from the standard library.

An entry is its key, its value and a checksum over both; one that does not fit is taken for absent.
The checksum finds damage, not malice: who may write to the file may write what they like.
"""

from __future__ import annotations

import hashlib
import os
import sqlite3
import sys
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import TypeVar

T = TypeVar("T")
Warn = Callable[[str], None]

FILE = "answers-1.sqlite"
"""The number is that of the file's layout; another layout takes another file."""

MAX_BYTES = 256 * 2**20
"""Beyond so many bytes the older half of the entries is dropped."""

CLEAR = "rspverify cache --clear begins it anew"
_APPLICATION = 0x52535056  # «RSPV», in the header of the file
_PATIENCE = 10.0
"""Seconds to wait for another process that writes."""

_BETWEEN_CHECKS = 256
_SCHEMA = """
CREATE TABLE IF NOT EXISTS entries (
    number INTEGER PRIMARY KEY, key TEXT UNIQUE NOT NULL, value TEXT NOT NULL, sum TEXT NOT NULL
)
"""
_TROUBLE = (OSError, sqlite3.Error, ValueError, MemoryError)
"""What may come of a damaged file; a ValueError where SQLite's own words about it are no text."""


def default_folder() -> Path:
    """Where the store is: `RSPVERIFY_CACHE`, or the user's folder for caches on this platform."""
    named = os.environ.get("RSPVERIFY_CACHE")
    if named:
        return Path(named)
    if sys.platform == "win32":
        base = Path(os.environ.get("LOCALAPPDATA") or Path.home() / "AppData" / "Local")
    elif sys.platform == "darwin":
        base = Path.home() / "Library" / "Caches"
    else:
        base = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    return base / "rspverify"


class Store:
    """An open store. Its first failure is told to `warn`; then it has `failed`, and is empty.

    Every value that `put` was given is on file when it returns, and outlives the process. Never
    carry an open store across a fork.
    """

    def __init__(self, folder: Path, warn: Warn, max_bytes: int = MAX_BYTES) -> None:
        self._path = folder / FILE
        self._warn = warn
        self._max_bytes = max_bytes
        self._puts = 0
        self._damaged = False
        self.failed = False
        self._connection: sqlite3.Connection | None = None
        try:
            self._connection = _opened(self._path)
            self._make_room(self._connection)
        except _TROUBLE as error:
            self._give_up(error)

    def get(self, key: str) -> str | None:
        """The value of a key, None if there is none that can be trusted."""
        query = "SELECT key, value, sum FROM entries WHERE key = ?"
        row = self._done(lambda file: file.execute(query, (key,)).fetchone(), None)
        if row is None:
            return None
        found, value, checksum = row
        if found == key and isinstance(value, str) and checksum == _sum(key, value):
            return value
        if not self._damaged:
            self._damaged = True
            self._warn(f"{self._path}: an entry of the cache is damaged and is decided anew")
        return None

    def put(self, key: str, value: str) -> None:
        """Keep a value under a key, in place of any other."""

        def put(file: sqlite3.Connection) -> None:
            insert = "INSERT OR REPLACE INTO entries (key, value, sum) VALUES (?, ?, ?)"
            file.execute(insert, (key, value, _sum(key, value)))
            self._puts += 1
            if self._puts % _BETWEEN_CHECKS == 0:
                self._make_room(file)

        self._done(put, None)

    def close(self) -> None:
        """Let go of the file; the store is empty from now on."""
        if self._connection is not None:
            connection, self._connection = self._connection, None
            connection.close()

    def size(self) -> tuple[int, int]:
        """How many entries it has, and how many bytes they take."""
        query = "SELECT count(*) FROM entries"
        return self._done(lambda file: (_number(file, query), _bytes(file)), (0, 0))

    def _done(self, act: Callable[[sqlite3.Connection], T], otherwise: T) -> T:
        """What comes of an act on the file; otherwise there is no file, from now on at least."""
        if self._connection is None:
            return otherwise
        try:
            return act(self._connection)
        except _TROUBLE as error:
            self._give_up(error)
            return otherwise

    def _make_room(self, file: sqlite3.Connection) -> None:
        if _bytes(file) > self._max_bytes:
            file.execute(
                "DELETE FROM entries WHERE number <= (SELECT number FROM entries ORDER BY number "
                "LIMIT 1 OFFSET (SELECT count(*) / 2 FROM entries))"
            )
            file.execute("PRAGMA incremental_vacuum").fetchall()

    def _give_up(self, error: Exception) -> None:
        self.failed = True
        reason = getattr(error, "strerror", None) or error
        self._warn(f"{self._path}: the cache cannot be used and is ignored: {reason}; {CLEAR}")
        with suppress(*_TROUBLE):
            self.close()


def clear(folder: Path) -> None:
    """Remove the store of a folder, whatever is in its place. Raises OSError."""
    for ending in ("", "-wal", "-shm", "-journal"):
        (folder / f"{FILE}{ending}").unlink(missing_ok=True)


def _opened(path: Path) -> sqlite3.Connection:
    """The file, made if there is none. Raises what is in `_TROUBLE` if it is no store.

    It takes the lock for writing, so that a file that cannot be written is found at once.
    """
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    if path.exists() and not path.is_file():
        raise ValueError("it must be a regular file")
    file = sqlite3.connect(path, timeout=_PATIENCE, isolation_level=None)
    try:
        file.execute("PRAGMA trusted_schema = OFF")
        file.execute("PRAGMA auto_vacuum = INCREMENTAL")
        file.execute("BEGIN IMMEDIATE")
        application = _number(file, "PRAGMA application_id")
        if application != _APPLICATION:
            if application or _number(file, "SELECT count(*) FROM sqlite_master"):
                raise ValueError("it is a database of another program")
            file.execute(_SCHEMA)
            file.execute(f"PRAGMA application_id = {_APPLICATION}")
        file.execute("COMMIT")
        with suppress(sqlite3.OperationalError):  # Another process is at it: then it is done.
            file.execute("PRAGMA journal_mode = WAL")
        file.execute("PRAGMA synchronous = NORMAL")
    except BaseException:
        file.close()
        raise
    return file


def _bytes(connection: sqlite3.Connection) -> int:
    names = ("page_count", "freelist_count", "page_size")
    pages, free, size = (_number(connection, f"PRAGMA {name}") for name in names)
    return (pages - free) * size


def _number(connection: sqlite3.Connection, query: str) -> int:
    return int(connection.execute(query).fetchone()[0])


def _sum(key: str, value: str) -> str:
    return hashlib.sha256(f"{key}\0{value}".encode()).hexdigest()
