"""Tests to files: in a stable order, and never over a file that is not the very same test."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from rspverify.generate.family import Family
from rspverify.source import InputError, Problem

SHOWN = 5
"""So many files in the way are named; of more, their number is said."""


def write_tests(families: Mapping[str, Family], folder: Path | str) -> dict[str, int]:
    """Write the tests of families and return how many each has; `families` is by folder name.

    A folder name is below `folder`; the empty one is `folder` itself. Raises InputError, with
    nothing written, if a file that is there says something else, and if a folder cannot be used.
    """
    wanted = {
        Path(folder) / place / test.file: test.text
        for place, family in families.items()
        for test in family.tests()
    }
    try:
        _require_free(wanted)
        for path, text in wanted.items():
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(text.encode())
    except OSError as error:
        message = f"{error.filename or folder}: cannot be written: {error.strerror}"
        raise InputError([Problem(None, message)]) from None
    return {family.name: sum(1 for _ in family.tests()) for family in families.values()}


def _require_free(wanted: Mapping[Path, str]) -> None:
    foreign = [path for path, text in wanted.items() if _is_foreign(path, text)]
    if not foreign:
        return
    names = [f"{path}: must be the test of this name, or not exist" for path in foreign[:SHOWN]]
    if len(foreign) > SHOWN:
        names.append(f"and {len(foreign) - SHOWN} more files are in the way")
    hint = "nothing was written; name another folder, or move these files away"
    *before, last = names
    raise InputError([*(Problem(None, each) for each in before), Problem(None, last, hint)])


def _is_foreign(path: Path, text: str) -> bool:
    """A test, or the beginning of one that an interrupted run left, is ours."""
    if path.is_symlink() or path.is_dir():
        return True
    return path.exists() and not text.encode().startswith(path.read_bytes())
