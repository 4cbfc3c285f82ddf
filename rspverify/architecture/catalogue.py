"""Which machines ship, without parsing any, and the text of a machine's file."""

from __future__ import annotations

from importlib.resources import files
from pathlib import Path

from rspverify.source import Source, read_source

ENDING = ".machine"
"""How the file of a machine is called."""

MAX_CHARACTERS = 50_000
"""How long the text of a file is: the paper's has five thousand characters."""

SHIPPED = Path(str(files("rspverify.architecture") / "machines"))


def shipped() -> tuple[str, ...]:
    """The names of the machines that ship, those that others only include left out."""
    names = {path.stem for path in SHIPPED.glob(f"*{ENDING}")}
    return tuple(sorted(names.difference(included())))


def included() -> tuple[str, ...]:
    """The names of the files that others only include."""
    return tuple(sorted(path.stem for path in SHIPPED.glob(f"*-common{ENDING}")))


def read_machine(path: Path | str) -> Source:
    """The text of the file of a machine. Raises InputError where it cannot be read."""
    return read_source(path, MAX_CHARACTERS)
