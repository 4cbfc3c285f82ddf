"""Which models ship, without parsing any."""

from __future__ import annotations

from importlib.resources import files
from pathlib import Path

SHIPPED = Path(str(files("rspverify.axiomatic") / "models"))


def shipped_models() -> tuple[str, ...]:
    """The names of the models that come with rspverify, those that others only include left out."""
    names = sorted(path.stem for path in SHIPPED.glob("*.cat"))
    return tuple(name for name in names if not name.endswith("-common"))
