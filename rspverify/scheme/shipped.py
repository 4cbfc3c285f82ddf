"""The schemes that ship with rspverify."""

from __future__ import annotations

from functools import cache

from rspverify.scheme.reader import read_scheme
from rspverify.scheme.scheme import Scheme
from rspverify.shipped import SCHEMES, SHIPPED
from rspverify.source import Source


@cache
def shipped_scheme(name: str) -> Scheme:
    """The scheme of the file with a name, such as `proposed`, the column of Tab. 3."""
    file = SHIPPED / SCHEMES / f"{name}.yaml"
    return read_scheme(Source(file.name, file.read_text(encoding="utf-8")))
