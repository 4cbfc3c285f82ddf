"""The texts of a model: its file, and the files that it includes."""

from __future__ import annotations

import os
import re
from pathlib import Path

from rspverify.axiomatic.comments import blank_comments
from rspverify.axiomatic.library import SHIPPED, found, shipped_models
from rspverify.source import InputError, read_source

_INCLUDE = re.compile(r'\binclude\s+"([^"\n]*)"')
Texts = dict[str, str]


def model_texts(name: str) -> Texts:
    """The texts of a model by relative paths that its includes lead to; its own file comes first.

    name: as load_model takes it. Files that cannot be read are left out.
    """
    start = SHIPPED / f"{name}.cat" if name in shipped_models() else Path(name)
    texts: dict[str, str] = {}
    _collect(start, start.name, texts)
    above = max((Path(path).parts.count("..") for path in texts), default=0)
    folder = "/".join(["model"] * above)
    return {os.path.normpath(os.path.join(folder, path)): text for path, text in texts.items()}


def _collect(file: Path, path: str, texts: Texts) -> None:
    """Add a file under the path that it is known by, and what it includes."""
    path = os.path.normpath(path)
    if path in texts:
        return
    try:
        source = read_source(file)
    except InputError:
        return
    texts[path] = source.text
    try:
        text = blank_comments(source)
    except InputError:
        return
    for name in _INCLUDE.findall(text):
        own = os.path.basename(name) if os.path.isabs(name) else name
        if (included := found(name, file)) is not None:
            _collect(included, os.path.join(os.path.dirname(path), own), texts)
