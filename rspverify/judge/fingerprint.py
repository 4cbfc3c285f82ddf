"""What the answers of this installation depend on besides the question: its own code."""

from __future__ import annotations

import hashlib
import platform
from importlib.metadata import version
from pathlib import Path

from rspverify.shipped import SHIPPED

PACKAGE = Path(__file__).resolve().parent.parent
LIBRARIES = ("lark", "msgspec", "pysmt", "pyyaml", "z3-solver")
"""Libraries that take part in a verdict; the others only show it."""


def fingerprint(package: Path = PACKAGE) -> str:
    """A digest of every file of the package, by content, and of the versions that it runs on.

    Schemes and tests that ship are what is asked about, like those of users, and not in it.
    Raises OSError where the package is not made of files, and PackageNotFoundError.
    """
    found = hashlib.sha256()
    for name in (platform.python_version(), *(f"{each} {version(each)}" for each in LIBRARIES)):
        found.update(name.encode() + b"\0")
    for path in sorted(package.rglob("*")):
        place = path.relative_to(package)
        if "__pycache__" in place.parts or place.parts[0] == SHIPPED.name or not path.is_file():
            continue
        content = path.read_bytes()
        head = f"{place.as_posix()}\0{len(content)}\0"
        found.update(head.encode() + content)
    return found.hexdigest()
