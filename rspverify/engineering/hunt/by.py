"""The two ways of a hunt, by name; apart, as the command line needs no more of it."""

from __future__ import annotations

from enum import StrEnum


class By(StrEnum):
    """How programs are decided: by one formula for many, or one by one."""

    FORMULA = "formula"
    PROGRAMS = "programs"
