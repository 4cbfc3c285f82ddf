"""What the answers of this installation depend on besides the question: its own code.

An answer depends on the code of the room that its question is defined in, and of the rooms below
it: a verdict on everything up to the theorem, and not on how it is shown.
"""

from __future__ import annotations

import hashlib
import os
import platform
import re
import sys
from contextlib import suppress
from functools import cache
from pathlib import Path

from rspverify.shipped import SHIPPED

PACKAGE = Path(__file__).resolve().parent.parent
LIBRARIES = ("msgspec", "pysmt", "pyyaml", "z3-solver")
"""Libraries that take part in a verdict; the others only show it."""

_IMPORTED = re.compile(rb'rspverify(?:(?<=from rspverify)|(?<="rspverify))(?:\.| import )(\w+)')
"""The room in a line that imports from it, or in a string that names one of its modules."""

Files = dict[str, bytes]
"""Contents by the paths of files in the package."""


def fingerprint(room: str | None = None, package: Path = PACKAGE) -> str:
    """A digest of the code that answers a room's questions, and of the versions that it runs on.

    None for all of the package. Schemes and tests that ship are what is asked about, like those of
    users, and not in it. Raises OSError where the package is not made of files, and
    PackageNotFoundError.
    """
    found = hashlib.sha256(_libraries().encode())
    if room is None:
        names = {each.name.partition(".")[0] for each in package.iterdir()}
        rooms = {each: _files(each, package) for each in names}
    else:
        rooms = rooms_up_to(room, package)
    for each in sorted(rooms):
        for path, content in rooms[each].items():
            found.update(f"{path}\0{len(content)}\0".encode() + content)
    return found.hexdigest()


def rooms_up_to(room: str, package: Path = PACKAGE) -> dict[str, Files]:
    """A room, and all whose code it uses, with their files."""
    found: dict[str, Files] = {}
    waiting = [room]
    while waiting:
        each = waiting.pop()
        if each not in found:
            found[each] = _files(each, package)
            for path, content in found[each].items():
                if path.endswith(".py"):
                    waiting += (it.decode() for it in _IMPORTED.findall(content))
    return found


def _files(room: str, package: Path) -> Files:
    """The files of a room, or its module; none where it is what ships, or there is no such room."""
    if room in (SHIPPED.name, "__pycache__"):
        return {}
    top, found = str(package / room), dict[str, bytes]()
    paths = [f"{top}.py"] * os.path.isfile(f"{top}.py")
    if os.path.isdir(top):
        paths = []
        for folder, below, names in os.walk(top):
            below[:] = sorted(each for each in below if each != "__pycache__")
            paths += (os.path.join(folder, each) for each in sorted(names))
    for each in paths:
        with open(each, "rb") as file:
            found[each[len(str(package)) + 1 :].replace(os.sep, "/")] = file.read()
    return found


@cache
def fingerprint_here(room: str | None = None) -> str:
    """That of the code that this process runs."""
    return fingerprint(room)


@cache
def _libraries() -> str:
    return " ".join((platform.python_version(), *map(_installed, LIBRARIES)))


def _installed(library: str) -> str:
    """A library with its version: the name of the folder that says so, if there is one."""
    name = re.compile(rf"{library.replace('-', '[-_.]')}-.*\.dist-info", re.IGNORECASE)
    for folder in sys.path:
        with suppress(OSError):
            if found := next(filter(name.fullmatch, os.listdir(folder or ".")), None):
                return found.lower().replace("_", "-")
    from importlib.metadata import version  # it takes long to load

    return f"{library}-{version(library)}.dist-info"
