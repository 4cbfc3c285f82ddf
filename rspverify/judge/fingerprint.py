"""What the answers of this installation depend on besides the question: its own code.

An answer depends on the code of the room that its question is defined in, and of the rooms below
it: a verdict on everything up to the theorem, and not on how it is shown.
"""

from __future__ import annotations

import hashlib
import platform
from collections.abc import Iterator
from functools import cache
from importlib.metadata import version
from pathlib import Path

from rspverify.shipped import SHIPPED

PACKAGE = Path(__file__).resolve().parent.parent
LIBRARIES = ("lark", "msgspec", "pysmt", "pyyaml", "z3-solver")
"""Libraries that take part in a verdict; the others only show it."""

LAYERS = (
    ("sealing", "shipped"),
    ("records",),
    ("convert", "graph", "lexer", "limits", "source", "wording"),
    ("options",),
    ("files", "grammar", "schedulers", "yaml_reader"),
    ("value",),
    ("smt",),
    ("picture", "verdict"),
    ("answers",),
    ("isa",),
    ("architecture",),
    ("assembly", "litmus", "relation"),
    ("axiomatic", "machine", "scheme"),
    ("compilers",),
    ("translators",),
    ("programs", "soundness"),
    ("judge",),
    ("generate",),
    ("enumeration",),
    ("corpus", "drawing", "engineering", "selftest"),
)
"""The rooms that answer questions: each imports those before its layer, and none beside or after
it. pyproject.toml has the same layers, and lint-imports holds all code to them."""


def fingerprint(room: str | None = None, package: Path = PACKAGE) -> str:
    """A digest of the code that answers a room's questions, and of the versions that it runs on.

    None for all of the package. Schemes and tests that ship are what is asked about, like those of
    users, and not in it. Raises OSError where the package is not made of files, and
    PackageNotFoundError.
    """
    found = hashlib.sha256(_libraries().encode())
    if room is None:
        rooms = [each.name for each in sorted(package.iterdir())]
    else:
        rooms = [f"{each}{ending}" for each in rooms_up_to(room) for ending in ("", ".py")]
    for each in rooms:
        found.update(_digest(package / each).encode())
    return found.hexdigest()


def rooms_up_to(room: str) -> Iterator[str]:
    """The rooms that a room's code may use, and itself."""
    for layer in LAYERS:
        if room in layer:
            yield room
            return
        yield from layer
    raise ValueError(f"{room} answers no questions")


@cache
def fingerprint_here(room: str | None = None) -> str:
    """That of the code that this process runs."""
    return fingerprint(room)


@cache
def _libraries() -> str:
    return " ".join((platform.python_version(), *(f"{it} {version(it)}" for it in LIBRARIES)))


def _digest(place: Path) -> str:
    """A digest of a module, or of all files of a room; empty where there is neither."""
    files = sorted(place.rglob("*")) if place.is_dir() else [place] * place.is_file()
    found = hashlib.sha256()
    for path in files:
        inside = path.relative_to(place.parent)
        if "__pycache__" in inside.parts or inside.parts[0] == SHIPPED.name or path.is_dir():
            continue
        content = path.read_bytes()
        found.update(f"{inside.as_posix()}\0{len(content)}\0".encode() + content)
    return found.hexdigest()
