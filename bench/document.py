"""Figures into a document: what stands between `<!-- bench: key -->` and `<!-- end -->`."""

from __future__ import annotations

import os
import platform
from collections.abc import Mapping
from datetime import date
from importlib.metadata import version

from rspverify import __version__

END = "<!-- end -->"


def filled(text: str, parts: Mapping[str, str]) -> str:
    """The document with parts replaced by their key. Raises ValueError for a key it lacks."""
    for key, part in parts.items():
        mark = f"<!-- bench: {key} -->\n"
        before, found, rest = text.partition(mark)
        _, end, after = rest.partition(END)
        if not found or not end:
            raise ValueError(f"the document must have a place `{mark.strip()}` … `{END}`")
        text = f"{before}{mark}\n{part}\n{END}{after}"
    return text


def circumstances() -> str:
    """When, with what and on how busy a machine the figures were taken."""
    load = f", load {os.getloadavg()[0]:.1f}" if hasattr(os, "getloadavg") else ""
    return (
        f"rspverify {__version__}, {date.today().isoformat()}: {os.cpu_count()} cores{load},"
        f" Python {platform.python_version()}, z3-solver {version('z3-solver')},"
        f" pySMT {version('pysmt')}.\n"
    )
