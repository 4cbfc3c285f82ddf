"""The instruction sets that ship."""

from __future__ import annotations

from pathlib import Path

SETS = Path(__file__).with_name("sets")
ENDING = ".isa"


def instruction_sets() -> list[str]:
    """Their names."""
    return sorted(each.stem for each in SETS.glob(f"*{ENDING}"))
