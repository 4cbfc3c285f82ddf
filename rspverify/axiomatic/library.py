"""Where the files of a model are: beside it, among the shipped models, or in herd's library.

Herd's library is written in a wider language than ours. What of it has a meaning here is in the
folder `library`, under herd's names.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from functools import cache
from importlib.resources import files
from pathlib import Path

from rspverify.axiomatic.catalogue import SHIPPED, shipped_models
from rspverify.axiomatic.syntax import Node, blank_comments, parse
from rspverify.shipped import hidden
from rspverify.source import InputError, Problem, read_source

LIBRARY = Path(str(files("rspverify.axiomatic") / "library"))

_INCLUDE = re.compile(r'\binclude\s+"([^"\n]*)"')


def places(name: str, including: Path) -> Iterator[Path]:
    """Where an included file may be, in the order in which it is looked for."""
    yield including.parent / name
    yield SHIPPED / name
    if Path(name).name == name:
        yield LIBRARY / name


def found(name: str, including: Path) -> Path | None:
    """The file that is included by a name, None if there is none."""
    return next((path for path in places(name, including) if _is_file(path)), None)


def in_library(name: str) -> Path | None:
    """The file of our library with this name."""
    path = LIBRARY / name
    return path if Path(name).name == name and _is_file(path) else None


def beyond_us(path: Path) -> Problem | None:
    """The first construct of a file that is not supported, if it has no axioms of its own.

    With these it would not be one of herd's library.
    """
    try:
        file = parse(read_source(path))
    except InputError:
        return None
    if any(each.kind in ("axiom", "choice") for each in file.parts):
        return None
    return next(file.refused(), None)


@cache
def standard_library() -> Node:
    """What every model begins with."""
    return parse(read_source(LIBRARY / "stdlib.cat"))


def _is_file(path: Path) -> bool:
    try:
        return not hidden(path) and path.is_file()
    except (OSError, ValueError):
        return False


# ---- the texts of a model ------------------------------------------------------------------------


def model_texts(name: str) -> dict[str, str]:
    """The texts of a model by relative paths that its includes lead to; its own file comes first.

    name: as load_model takes it. Files that cannot be read are left out.
    """
    start = SHIPPED / f"{name}.cat" if name in shipped_models() else Path(name)
    texts: dict[str, str] = {}
    _collect(start, start.name, texts)
    above = max((Path(path).parts.count("..") for path in texts), default=0)
    folder = "/".join(["model"] * above)
    return {os.path.normpath(os.path.join(folder, path)): text for path, text in texts.items()}


def _collect(file: Path, path: str, texts: dict[str, str]) -> None:
    path = os.path.normpath(path)
    if path in texts:
        return
    try:
        source = read_source(file)
        texts[path] = source.text
        text = blank_comments(source)
    except InputError:
        return
    for name in _INCLUDE.findall(text):
        own = os.path.basename(name) if os.path.isabs(name) else name
        if (included := found(name, file)) is not None:
            _collect(included, os.path.join(os.path.dirname(path), own), texts)
