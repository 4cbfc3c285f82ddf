"""The schemes that come with rspverify: `schemes/`, which is linked into the package."""

from __future__ import annotations

from functools import cache
from importlib.resources import files

from rspverify.scheme.reader import read_scheme
from rspverify.scheme.scheme import Scheme
from rspverify.source import Source


@cache
def shipped_scheme(name: str) -> Scheme:
    """The scheme of the file with a name, such as `proposed`, the column of Tab. 3."""
    file = files("rspverify") / "schemes" / f"{name}.yaml"
    return read_scheme(Source(f"{name}.yaml", file.read_text(encoding="utf-8")))
