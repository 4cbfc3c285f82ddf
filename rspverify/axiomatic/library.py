"""Where the files of a model are: beside it, among the shipped models, or in herd's library.

Herd's library is written in a wider language than ours. What of it has a meaning here is in the
folder `library`, under herd's names.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from importlib.resources import files
from pathlib import Path

from rspverify.axiomatic.parsing import parse
from rspverify.axiomatic.syntax import CatFile
from rspverify.sealing import hidden
from rspverify.source import read_source

SHIPPED = Path(str(files("rspverify.axiomatic") / "models"))
LIBRARY = Path(str(files("rspverify.axiomatic") / "library"))


def shipped_models() -> tuple[str, ...]:
    """The names of the models that come with rspverify, those that others only include left out."""
    names = sorted(path.stem for path in SHIPPED.glob("*.cat"))
    return tuple(name for name in names if not name.endswith("-common"))


def places(name: str, including: Path) -> Iterator[Path]:
    """Where an included file may be, in the order in which it is looked for."""
    yield including.parent / name
    yield SHIPPED / name
    if Path(name).name == name:
        yield LIBRARY / name


def found(name: str, including: Path) -> Path | None:
    """The file that is included by a name, None if there is none."""
    return next((path for path in places(name, including) if is_file(path)), None)


def in_library(name: str) -> Path | None:
    """The file of our library with this name."""
    path = LIBRARY / name
    return path if Path(name).name == name and is_file(path) else None


@cache
def standard_library() -> CatFile:
    """What every model begins with."""
    return parse(read_source(LIBRARY / "stdlib.cat"))


def is_file(path: Path) -> bool:
    """Whether a file is there and can be looked at."""
    try:
        return not hidden(path) and path.is_file()
    except (OSError, ValueError):
        return False
