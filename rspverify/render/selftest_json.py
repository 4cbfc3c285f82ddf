"""`selftest` for other tools: its counts and disagreements, every key always present."""

from __future__ import annotations

import json
from typing import Any

from rspverify import __version__
from rspverify.report import PairCounts, SelftestReport


def render(report: SelftestReport) -> str:
    """The document for a run."""
    document = {
        "version": __version__,
        "seed": report.seed,
        "start": report.start,
        "asked": report.asked,
        "engines": list(report.engines),
        "total": _counts(report.total),
        "kinds": {
            category: {label: _counts(counts) for label, counts in labels.items()}
            for category, labels in report.kinds.items()
        },
        "missing": [
            {"who": who, "why": why, "count": count} for (who, why), count in report.missing.items()
        ],
        "disagreements": [
            {
                "pair": it.number,
                "kind": list(it.kind),
                "words": it.words,
                "command": it.command,
                "litmus": it.litmus,
                "scheme": it.scheme,
            }
            for it in report.disagreements
        ],
        "seconds": round(report.seconds, 1),
    }
    return json.dumps(document, indent=2) + "\n"


def _counts(counts: PairCounts) -> dict[str, Any]:
    return {
        "pairs": counts.pairs,
        "by_all": counts.by_all,
        "by_some": counts.by_some,
        "skipped": counts.skipped,
        "verdicts": dict(counts.words),
    }
