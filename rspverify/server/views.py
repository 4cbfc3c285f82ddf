"""What the page is sent: named events of JSON, and results, mistakes and tables as plain data."""

from __future__ import annotations

from typing import Any, TypeAlias

import msgspec

from rspverify.answers import Result
from rspverify.records import replace
from rspverify.render.words import visible
from rspverify.scheme.scheme import Scheme
from rspverify.scheme.writer import row_fields
from rspverify.source import Problem, Span
from rspverify.verdict import ProgressWord

Event: TypeAlias = "tuple[str, Any]"
"""A name, and plain data or a dataclass of it."""


def encoded(event: Event) -> bytes:
    """An event as its stream has it. No line break is in its JSON."""
    name, data = event
    return b"event: %s\ndata: %s\n\n" % (name.encode(), msgspec.json.encode(data))


def failed(message: str, *, retry: bool = False) -> bytes:
    """The event that says why there is no answer, or no more of it."""
    return encoded(("failed", {"message": message, "retry": retry}))


def problem_view(it: Problem) -> dict[str, Any]:
    """A mistake, and where it is; without a place, where it is of a whole file."""
    return {
        "file": it.span.source.name if it.span else "",
        "place": _place(it.span) if it.span else None,
        "message": visible(it.message),
        "hint": visible(it.hint or ""),
        "severity": it.severity.value,
        "text": visible(str(it)),
    }


def result_view(it: Result, *, going_on: bool = False) -> dict[str, Any]:
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


def scheme_view(it: Scheme) -> dict[str, Any]:
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
