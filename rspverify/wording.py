"""How mistakes are worded: what could stand in a place, and what was perhaps meant."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Sequence

_LONGEST = 40


def alternatives(names: Sequence[str]) -> str:
    """`a`, `a or b`, `a, b or c`."""
    return " or ".join(filter(None, (", ".join(names[:-1]), names[-1])))


def quoted(text: str) -> str:
    """A text in quotes, on one line and not too long."""
    return repr(text if len(text) <= _LONGEST else text[: _LONGEST - 1] + "…")


def guess(word: str, names: Iterable[str]) -> str | None:
    """`did you mean …?` where one of the names is close to the word, whatever its case."""
    folded = {name.lower(): name for name in names}
    close = difflib.get_close_matches(word[:_LONGEST].lower(), folded, n=1)
    return f"did you mean {folded[close[0]]}?" if close else None
