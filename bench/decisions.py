"""One decision in a warm process, by every engine."""

from __future__ import annotations

import statistics
from collections.abc import Iterable
from functools import partial

from bench.cases import Timed
from bench.measure import digits, side_by_side
from bench.sheet import Sheet
from rspverify.machine.firings import enough_steps
from rspverify.soundness.settings import Engine, Settings

DEFAULT = Settings().engine


def decisions(cases: Iterable[Timed], repeats: int) -> Sheet:
    """Milliseconds for each engine, and the ratio of the others to the default one."""
    engines = [DEFAULT, *(engine for engine in Engine if engine is not DEFAULT)]
    sheet = Sheet(
        "decisions",
        f"One decision in a warm process (ms; median of {repeats})",
        ["test", "scheme", "verdict"],
        [
            "K*",
            *engines,
            *(f"{engine} / {DEFAULT}" for engine in engines[1:]),
            "allowed outcomes",
        ],
    )
    rows: list[list[float]] = []
    for case in cases:
        actions = {str(engine): partial(case.decide, engine) for engine in engines}
        times = side_by_side({**actions, "allowed": case.allowed}, repeats)
        ratios = [times[engine] / times[DEFAULT] for engine in engines[1:]]
        rows.append([*(times[engine] for engine in engines), *ratios, times["allowed"]])
        steps = str(enough_steps(case.machine()).total)
        word = case.decide(DEFAULT).word
        sheet.add(case.name, case.scheme.name, word, steps, *map(digits, rows[-1]))
    if rows:
        columns = list(zip(*rows, strict=True))
        for words, summary in (("median", statistics.median), ("largest", max)):
            sheet.add(words, "", "", "", *(digits(summary(column)) for column in columns))
        sheet.last = 2
    return sheet
