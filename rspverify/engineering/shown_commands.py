"""The command lines that show what an engineer was told."""

from __future__ import annotations

import shlex
from collections.abc import Iterator
from dataclasses import fields

from rspverify.check.bundle import option_of
from rspverify.check.settings import Settings

_NO_OPTION = frozenset({"progress", "shortest"})
"""Settings that `explain` is given otherwise, or has no option for."""


def explain_command(scheme: str, test: str, settings: Settings, *, progress: bool = False) -> str:
    """The command that shows the execution behind a verdict, or with `progress` a standstill."""
    going = ["--progress"] if progress else []
    words = ["rspverify", "explain", *going, scheme, test, *_options(settings)]
    return shlex.join(words)


def hunt_command(scheme: str, settings: Settings) -> str:
    """The command that looks for a program that breaks a scheme."""
    model = ["--model", settings.model] if settings.model != Settings.model else []
    return shlex.join(["rspverify", "hunt", scheme, *model])


def _options(settings: Settings) -> Iterator[str]:
    """The options that make these settings, but for those that are the default."""
    for each in fields(settings):
        value = getattr(settings, each.name)
        if value != each.default and each.name not in _NO_OPTION:
            yield from (
                (option_of(each.name),)
                if value is True
                else (
                    option_of(each.name),
                    str(value),
                )
            )
