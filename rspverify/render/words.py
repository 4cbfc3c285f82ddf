"""Numbers and names as parts of a sentence."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from rspverify.verdict import ProgressWord, Word

STYLES: Mapping[Word, str] = {
    Word.SOUND: "green",
    Word.UNSOUND: "bold red",
    Word.RACY: "yellow",
    Word.VACUOUS: "magenta",
    Word.UNKNOWN: "magenta",
    Word.UNSUPPORTED: "cyan",
    Word.ERROR: "bold red",
}
PROGRESS_STYLES: Mapping[ProgressWord, str] = {
    ProgressWord.LIVE: "green",
    ProgressWord.STUCK: "bold red",
    ProgressWord.UNKNOWN: "magenta",
}
FEW = 5
"""So many names are said; of more, their number is."""


def counted(number: int, noun: str, many: str | None = None) -> str:
    """`1 test`, `2,000 tests`."""
    return f"{number:,} {noun if number == 1 else many or f'{noun}s'}"


def few(names: Sequence[str]) -> str:
    """The first names, and how many more there are."""
    shown = ", ".join(names[:FEW])
    return shown if len(names) <= FEW else f"{shown} and {len(names) - FEW} more"


def bounds(within: Iterable[Mapping[str, int]]) -> str:
    """`8 steps, 2 unrolled`: all that results depend on; empty if they are exact."""
    return ", ".join(sorted({f"{bound} {name}" for each in within for name, bound in each.items()}))


UNMENDED = "neither a row of it nor two mend it, made as strong as can be"
"""Of a scheme that a program breaks, where no row is at fault."""


def row_in_words(number: int, operations: str, code: Sequence[str]) -> str:
    """`row 2, load DV,N: INV_L1 WG, LD r x`."""
    return f"row {number}, {operations}: {', '.join(code)}"
