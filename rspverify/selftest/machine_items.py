"""Items of a random machine's file, and what lies below its L1s."""

from __future__ import annotations

from collections.abc import Callable
from string import Template

Says = Callable[[str], str]
"""What is chosen of a thing, by its name in CHOICES (rspverify/selftest/machines.py)."""

BELOW = {
    "two": ("L2.VALID[x]", "L2.data[x]", "each device d: d.L2.VALID[x] := false"),
    "system": ("L2.VALID[x]", "L2.data[x]", "L2.VALID[x] := false"),
    "one": (None, "memory[x]", None),
}
"""By the levels of caches: what an L1 fetches wants, takes, and what a store there makes INV'D."""


def item(head: str, conditions: list[str], effects: list[str]) -> str:
    """An item of a file."""
    when = f"\n  when {', '.join(conditions)}" if conditions else ""
    return f"{head}{when}\n  do   {'; '.join(effects)}"


def filled(says: Says, text: str) -> str:
    """The text with what lies below an L1."""
    hit, value, _ = BELOW[says("levels")]
    lowest = "L1" if says("levels") == "one" else "L2"
    return Template(text).substitute(
        hit=f", {hit}" if hit else "", value=value, put=put(says, "r"), lowest=lowest
    )


def put(says: Says, value: str) -> str:
    """A value is stored below the L1s, as INC_L2 does it."""
    if says("levels") == "one":
        return f"memory[x] := {value}"
    return f"{BELOW[says('levels')][2]}; store(L2, x, {value})"
