"""How many results there are of each kind, for each scheme or model."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

from rspverify.answers import OBSERVATIONS, PROGRESS_ANSWERS, ModelAnswer, Result
from rspverify.verdict import ProgressWord, Word

PROGRESS = "progress "
"""What kinds of progress begin with: UNKNOWN is a verdict, too."""
_KINDS = (
    *OBSERVATIONS,
    "racy",
    *PROGRESS_ANSWERS,
    *Word,
    *(f"{PROGRESS}{word}" for word in ProgressWord),
)
"""What is counted, in the order in which it is shown."""


def tally(
    results: Sequence[Result | ModelAnswer],
) -> tuple[Sequence[str], Mapping[str, Counter[str]]]:
    """The kinds that there are, and by scheme or model how many of each."""
    rows: dict[str, Counter[str]] = {}
    for each in results:
        rows.setdefault(each.column, Counter()).update(_kinds_of(each))
    return [str(kind) for kind in _KINDS if any(kind in it for it in rows.values())], rows


def totals(results: Sequence[Result | ModelAnswer]) -> str:
    """`154 SOUND, 42 UNSOUND`: under all schemes or models together."""
    kinds, rows = tally(results)
    excused = sum(isinstance(it, Result) and bool(it.sound_if) for it in results)
    parts = {kind: f"{sum(it[kind] for it in rows.values()):,} {kind}" for kind in kinds}
    if excused:
        parts[Word.UNSOUND] += f" ({excused:,} SOUND if a switch is on)"
    return ", ".join(parts.values())


def _kinds_of(result: Result | ModelAnswer) -> list[str]:
    if isinstance(result, ModelAnswer):
        return result.words.split()
    progress = [f"{PROGRESS}{result.progress}"] if result.progress else []
    return [result.verdict.value, *progress]
