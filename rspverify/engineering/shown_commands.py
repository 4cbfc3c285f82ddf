"""The command lines that show what an engineer was told."""

from __future__ import annotations

import shlex
from collections.abc import Iterator
from dataclasses import fields

from rspverify.engineering.hunt.decide import row_shape
from rspverify.enumeration.space import chosen_operations
from rspverify.judge.incident import WITHOUT_OPTION, option_of
from rspverify.programs import access_named
from rspverify.scheme import Row, Scheme
from rspverify.soundness.settings import Settings

_GIVEN_OTHERWISE = WITHOUT_OPTION | {"progress"}


def explain_command(scheme: str, test: str, settings: Settings, *, progress: bool = False) -> str:
    """The command that shows the execution behind a verdict, or with `progress` a deadlock."""
    going = ["--progress"] if progress else []
    words = ["rspverify", "explain", *going, scheme, test, *_options(settings)]
    return shlex.join(words)


def hunt_command(scheme: str, settings: Settings, devices: int) -> str:
    """The command that looks for a program on so many devices that breaks a scheme."""
    several = ["--devices", str(devices)] if devices > 1 else []
    model = ["--model", settings.model] if settings.model != Settings.model else []
    return shlex.join(["rspverify", "hunt", scheme, "--first", *several, *model])


def hunted(row: Row, scheme: Scheme) -> int | None:
    """On how many devices a hunt has programs that use a row, by default; None: it has none."""
    for devices in (1, 2):
        names = chosen_operations(None, devices)
        if any(scheme.table.get(row_shape(access_named(name))) is row for name in names):
            return devices
    return None


def _options(settings: Settings) -> Iterator[str]:
    """The options that make these settings, but for those that are the default."""
    for each in fields(settings):
        value = getattr(settings, each.name)
        if value != each.default and each.name not in _GIVEN_OTHERWISE:
            yield from (
                (option_of(each.name),)
                if value is True
                else (
                    option_of(each.name),
                    str(value),
                )
            )
