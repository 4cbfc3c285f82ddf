"""Numbers and names as parts of a sentence."""

from __future__ import annotations

from collections.abc import Sequence

FEW = 5
"""So many names are said; of more, their number is."""


def counted(number: int, noun: str, many: str | None = None) -> str:
    """`1 test`, `2,000 tests`."""
    return f"{number:,} {noun if number == 1 else many or f'{noun}s'}"


def few(names: Sequence[str]) -> str:
    """The first names, and how many more there are."""
    shown = ", ".join(names[:FEW])
    return shown if len(names) <= FEW else f"{shown} and {len(names) - FEW} more"
