"""The texts of a model: its file, and the files that it includes."""

from __future__ import annotations

import os
import re
from pathlib import Path, PurePosixPath

from rspverify.axiomatic.cat import SHIPPED, shipped_models
from rspverify.axiomatic.comments import blank_comments
from rspverify.source import InputError, read_source

_INCLUDE = re.compile(r'\binclude\s+"([^"\n]*)"')
Texts = dict[str, str]


def model_texts(name: str) -> Texts:
    """The texts of a model by relative paths that its includes lead to; its own file comes first.

    name: as load_model takes it. Files that cannot be read are left out.
    """
    start = SHIPPED / f"{name}.cat" if name in shipped_models() else Path(name)
    found: dict[str, str] = {}
    _collect(start, start.name, found)
    above = max((_levels_up(path) for path in found), default=0)
    folder = "/".join(["model"] * above)
    return {os.path.normpath(os.path.join(folder, path)): text for path, text in found.items()}


def _collect(file: Path, path: str, found: Texts) -> None:
    """Add a file under the path that it is known by, and what it includes."""
    path = os.path.normpath(path)
    if path in found:
        return
    try:
        source = read_source(file)
    except InputError:
        return
    found[path] = source.text
    try:
        text = blank_comments(source)
    except InputError:
        return
    for name in _INCLUDE.findall(text):
        beside = file.parent / name
        own = os.path.basename(name) if os.path.isabs(name) else name
        parent = os.path.dirname(path)
        _collect(beside if beside.is_file() else SHIPPED / name, os.path.join(parent, own), found)


def _levels_up(path: str) -> int:
    return PurePosixPath(Path(path).as_posix()).parts.count("..")
