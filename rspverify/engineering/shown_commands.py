"""The command lines that show what an engineer was told."""

from __future__ import annotations

import shlex

from rspverify.engineering.hunt.operations import row_shape
from rspverify.enumeration.space import access_of, chosen_operations
from rspverify.scheme.row import Row
from rspverify.scheme.scheme import Scheme
from rspverify.soundness.settings import Settings, option_words


def hunt_command(scheme: str, settings: Settings, devices: int) -> str:
    """The command that looks for a program on so many devices that breaks a scheme."""
    several = ["--devices", str(devices)] if devices > 1 else []
    chosen = option_words(settings, ("model", "machine"))
    return shlex.join(["rspverify", "hunt", scheme, "--first", *several, *chosen])


def hunted(row: Row, scheme: Scheme) -> int | None:
    """On how many devices a hunt has programs that use a row, by default; None: it has none."""
    for devices in (1, 2):
        names = chosen_operations(None, devices)
        if any(scheme.table.get(row_shape(access_of(name))) is row for name in names):
            return devices
    return None
