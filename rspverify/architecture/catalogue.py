"""Which machines ship, without reading any."""

from __future__ import annotations

from importlib.resources import files
from pathlib import Path

ENDING = ".machine"
"""How the file of a machine is called."""

SHIPPED = Path(str(files("rspverify.architecture") / "machines"))


def shipped() -> tuple[str, ...]:
    """The names of the machines that ship, those that others only include left out."""
    names = sorted(path.stem for path in SHIPPED.glob(f"*{ENDING}"))
    return tuple(name for name in names if not name.endswith("-common"))
