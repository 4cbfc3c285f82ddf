"""`compare` for other tools: the JSON of compare.schema.json, every key always present."""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import Any

from rspverify import __version__
from rspverify.render.check_json import internal_error, observed_outcome
from rspverify.report import (
    Bill,
    Change,
    Comparison,
    LeftOut,
    OutcomeChange,
    OutcomeChanges,
    Result,
    RowChange,
    TouchedTest,
)


def render(it: Comparison) -> str:
    """The document for a comparison."""
    changes = [each.change for each in it.touched]
    document = {
        "version": __version__,
        "old": asdict(it.old),
        "new": asdict(it.new),
        "model": it.model,
        "engine": it.engine,
        "reading": it.reading,
        "costs": it.costs,
        "limit_outcomes": it.limit,
        "rows": [_row(each) for each in it.rows],
        "tests": [_test(each) for each in it.touched],
        "untouched": [{"file": each.file, "compiled": each.compiled} for each in it.untouched],
        "left_out": [_left_out(each) for each in it.left_out],
        "summary": {
            "tests": it.tests,
            "compared": len(it.compared),
            **{change.value: changes.count(change) for change in Change},
        },
        "stopped": it.stopped,
    }
    return json.dumps(document, indent=2) + "\n"


def _row(it: RowChange) -> dict[str, Any]:
    sides = zip(it.rows, (it.old, it.new), it.bills, strict=True)
    old, new = (_code(*side) for side in sides)
    return {"operations": it.operations, "same": it.same, "old": old, "new": new}


def _code(
    number: int | None, code: tuple[str, ...] | None, bill: Bill | None
) -> dict[str, Any] | None:
    if code is None or bill is None:
        return None
    return {"row": number, "code": list(code), **asdict(bill)}


def _test(it: TouchedTest) -> dict[str, Any]:
    return {
        "test": it.new.test,
        "file": it.new.file,
        "change": it.change.value,
        "old": _result(it.old),
        "new": _result(it.new),
        "outcomes": _outcomes(it.outcomes) if it.outcomes else None,
    }


def _result(it: Result) -> dict[str, Any]:
    return {
        "verdict": it.verdict.word.value,
        "reason": it.verdict.reason,
        "within": dict(it.verdict.within),
        "progress": it.progress.word.value if it.progress else None,
        "progress_reason": it.progress.reason if it.progress else None,
        "internal": internal_error(it.internal) if it.internal else None,
        "seconds": round(it.seconds, 4),
        "cached": it.cached,
    }


def _outcomes(it: OutcomeChanges) -> dict[str, Any]:
    known = it.unknown is None
    return {
        "gained": [_outcome(each) for each in it.gained] if known else None,
        "lost": [_outcome(each) for each in it.lost] if known else None,
        "reached_old": it.reached[0] if known else None,
        "reached_new": it.reached[1] if known else None,
        "unknown": it.unknown,
        "internal": internal_error(it.internal) if it.internal else None,
    }


def _outcome(it: OutcomeChange) -> dict[str, Any]:
    return {**observed_outcome(it.observed), "allowed": it.allowed}


def _left_out(it: LeftOut) -> dict[str, Any]:
    internal = internal_error(it.internal) if it.internal else None
    return {"file": it.file, "verdict": it.word.value, "reason": it.reason, "internal": internal}
