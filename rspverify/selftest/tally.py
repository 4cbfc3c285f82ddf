"""Counts over the results of a run: how much it decided, of which kinds, and why not the rest."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

from rspverify.selftest.answer import Missing, PairCounts, SelftestReport
from rspverify.selftest.compare import Choices
from rspverify.selftest.run import PairResult
from rspverify.verdict import Word


def report(
    results: Sequence[PairResult],
    seed: int,
    start: int,
    asked: int,
    choices: Choices,
    seconds: float,
) -> SelftestReport:
    """The report on the pairs that were decided; of an interrupted run that is not all of them."""
    engines = choices.engines
    missing = Counter(item for result in results for item in result.found.skipped.items())
    return SelftestReport(
        seed=seed,
        start=start,
        asked=asked,
        engines=engines,
        total=_counts(results, len(engines)),
        kinds=_kinds(results, len(engines)),
        missing=tuple(Missing(*what, count) for what, count in missing.most_common()),
        disagreements=tuple(result.disagreement for result in results if result.disagreement),
        seconds=seconds,
    )


def _kinds(results: Sequence[PairResult], engines: int) -> Mapping[str, Mapping[str, PairCounts]]:
    categories = results[0].labels if results else {}
    return {
        category: {
            label: _counts([it for it in results if it.labels[category] == label], engines)
            for label in sorted({result.labels[category] for result in results})
        }
        for category in categories
    }


def _counts(results: Sequence[PairResult], engines: int) -> PairCounts:
    decided = [len(it.found.decided) for it in results]
    words = Counter(it.found.word for it in results)
    by_all = decided.count(engines)
    by_some = sum(1 for count in decided if 2 <= count < engines)
    return PairCounts(
        len(decided),
        by_all,
        by_some,
        len(decided) - by_all - by_some,
        {word.value: words[word] for word in Word if words[word]},
    )
