"""The colour of each relation in pictures: dark enough to be read on white."""

from __future__ import annotations

import zlib

_COLOURS = {
    "sb": "#33332f",
    "po": "#33332f",
    "rf": "#c0271d",
    "mo": "#1c5bb8",
    "co": "#1c5bb8",
    "sw": "#12783a",
    "gsw": "#12783a",
    "lsw": "#3f8f2f",
    "hb": "#7d3fa8",
    "fr": "#a8650a",
    "dr": "#d1196b",
}
_OTHERS = ("#0b7c86", "#7a6a00", "#5a5ad0", "#9a4d2e", "#3f6f2a", "#a0357f")
_DASHED = ("dr",)


def colour(name: str) -> str:
    """The colour of a relation, always the same."""
    return _COLOURS.get(name) or _OTHERS[zlib.crc32(name.encode()) % len(_OTHERS)]


def dashed(name: str) -> bool:
    """Whether its edges are dashed."""
    return name in _DASHED
