"""Which versions an answer was computed with."""

from __future__ import annotations

import platform
from importlib import metadata

from rspverify import __version__

_DISTRIBUTIONS = {"z3": "z3-solver", "pysmt": "PySMT"}


def versions() -> dict[str, str]:
    """The versions of rspverify, of Python and of the solvers."""
    found = {"rspverify": __version__, "python": platform.python_version()}
    for name, distribution in _DISTRIBUTIONS.items():
        try:
            found[name] = metadata.version(distribution)
        except metadata.PackageNotFoundError:
            found[name] = "unknown"
    return found
