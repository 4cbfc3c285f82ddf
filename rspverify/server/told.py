"""Results, mistakes and tables as the script of the page takes them: plain data."""

from __future__ import annotations

from typing import Any

from rspverify.answers import Result
from rspverify.records import replace
from rspverify.render.findings import visible
from rspverify.scheme import Scheme
from rspverify.scheme.writer import row_fields
from rspverify.source import Problem, Span
from rspverify.verdict import ProgressWord


def told_problem(it: Problem) -> dict[str, Any]:
    """A mistake, and where it is; without a place, where it is of a whole file."""
    return {
        "file": it.span.source.name if it.span else "",
        "place": _place(it.span) if it.span else None,
        "message": visible(it.message),
        "hint": visible(it.hint or ""),
        "severity": it.severity.value,
        "text": visible(str(it)),
    }


def told_result(it: Result, *, going_on: bool = False) -> dict[str, Any]:
    """A verdict in a line. going_on: whether progress is still to be told.

    claim: as a visitor is to read it: that a test is LIVE, too, is what is hoped for.
    """
    live = it.progress is ProgressWord.LIVE
    return {
        "verdict": it.verdict,
        "progress": it.progress,
        "claim": (replace(it, progress=None) if live else it).claim,
        "test": visible(it.test),
        "reason": visible(it.reason),
        "progress_reason": visible(it.progress_reason or ""),
        "seconds": it.seconds,
        "going_on": going_on,
    }


def told_table(it: Scheme) -> dict[str, Any]:
    """A scheme as a table: each row in the words of its YAML, and where it stands."""
    return {
        "name": it.name,
        "machine": it.machine.name,
        "rows": [
            {
                "fields": row_fields(row),
                "words": str(row),
                "place": _place(row.span),
            }
            for row in it.rows
        ],
    }


def _place(it: Span) -> dict[str, int]:
    return {
        "line": it.line,
        "column": it.column,
        "end_line": it.end_line,
        "end_column": it.end_column,
    }
