"""How mistakes are worded: what could stand in a place, what was perhaps meant, what is unseen."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable

_LONGEST = 40


def alternatives(names: Iterable[str], last: str = "or") -> str:
    """`a`, `a or b`, `a, b or c`."""
    *front, end = names
    return f"{', '.join(front)} {last} {end}" if front else end


def counted(number: int, noun: str, many: str | None = None) -> str:
    """`1 test`, `2,000 tests`."""
    return f"{number:,} {noun if number == 1 else many or f'{noun}s'}"


def in_a_file_name(text: str) -> str:
    """A text as a part of the name of a file, with dashes for what some systems do not take."""
    return re.sub(r"[^\w.+-]", "-", text)


def quoted(text: str) -> str:
    """A text in quotes, on one line and not too long."""
    return repr(text if len(text) <= _LONGEST else text[: _LONGEST - 1] + "…")


def guess(word: str, names: Iterable[str]) -> str | None:
    """`did you mean …?` where one of the names is close to the word, whatever its case."""
    folded = {name.lower(): name for name in names}
    close = difflib.get_close_matches(word[:_LONGEST].lower(), folded, n=1)
    return f"did you mean {folded[close[0]]}?" if close else None


_UNSEEN = "[^\t\n\x20-\x7e\xa0-\u2027\u202f-\u2065\u206a-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]"


def visible(text: str) -> str:
    r"""A text with what nobody sees spelled, as `\x1b`: control characters, halves of characters.

    XML 1.0 forbids most of them, terminals obey some, and some turn the order of letters round.
    Line breaks and tabs stay.
    """
    return re.sub(_UNSEEN, lambda found: found[0].encode("unicode_escape").decode(), text)


def slower_engine(machine: str, why: str) -> str:
    """That the engine events does not know a machine, and what follows."""
    return (
        f"the engine events does not know {machine}, as {why}; the slower engine explicit is used"
    )
