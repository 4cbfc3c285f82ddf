"""Schemes to files: never over a file that is not the very same scheme."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from rspverify.source import InputError, Problem

_SHOWN = 5
"""So many files in the way are named; of more, their number is said."""


def write_schemes(texts: Mapping[str, str], folder: str) -> dict[str, str]:
    """Write schemes, given by name, and return the path of each by its name.

    Raises InputError, with nothing written, if a file that is there says something else, and if
    the folder cannot be used.
    """
    wanted = {name: Path(folder) / f"{name}.yaml" for name in texts}
    foreign = [path for name, path in wanted.items() if _is_foreign(path, texts[name])]
    if foreign:
        named = [f"{path}: must be the scheme of this name, or not exist" for path in foreign]
        problems = [Problem(None, each) for each in named[:_SHOWN]]
        if len(foreign) > _SHOWN:
            problems.append(Problem(None, f"and {len(foreign) - _SHOWN} more files are in the way"))
        raise InputError(problems)
    try:
        Path(folder).mkdir(parents=True, exist_ok=True)
        for name, path in wanted.items():
            path.write_text(texts[name], encoding="utf-8")
    except OSError as error:
        message = f"{error.filename or folder}: cannot be written: {error.strerror}"
        raise InputError([Problem(None, message)]) from None
    return {name: str(path) for name, path in wanted.items()}


def _is_foreign(path: Path, text: str) -> bool:
    if path.is_symlink() or path.is_dir():
        return True
    return path.exists() and path.read_bytes() != text.encode()
