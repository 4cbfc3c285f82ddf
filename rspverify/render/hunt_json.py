"""`hunt` for other tools: the JSON of hunt.schema.json, every key always present."""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import Any

from rspverify import __version__
from rspverify.report.hunts import BrokenShown, HuntReport
from rspverify.verdict import Word


def render(report: HuntReport) -> str:
    """The document for a run."""
    space = report.space
    document = {
        "version": __version__,
        "scheme": report.scheme,
        "file": report.file,
        "machine": report.machine,
        "model": report.model,
        "within": dict(space.bounds),
        "operations": list(space.operations),
        "left_out": [{"operation": name, "reason": reason} for name, reason in space.left_out],
        "idle_rows": list(space.idle),
        "plain_on_atomic": space.mixed,
        "by": report.by,
        "why_by_programs": report.why or None,
        "formulas": asdict(report.formulas) if report.formulas else None,
        "counted": report.counted,
        "filtered": report.argued,
        "estimates": [asdict(each) for each in report.estimates],
        "phases": [asdict(each) for each in report.phases],
        "findings": [_finding(each) for each in report.findings],
        "stronger": list(report.stronger),
        "programs": report.programs,
        "decided": {word.value: report.words.get(word, 0) for word in Word},
        "unknown": list(report.unknown),
        "complete": report.complete,
        "sound": report.sound,
        "stopped": report.stopped or None,
        "interrupted": report.interrupted,
        "internal": [{"message": it.message, "bundle": it.bundle} for it in report.internal],
        "seconds": round(report.seconds, 4),
    }
    return json.dumps(document, indent=2, ensure_ascii=False) + "\n"


def _finding(found: BrokenShown) -> dict[str, Any]:
    return {
        "program": found.line,
        "test": found.title,
        "file": found.file,
        "text": found.text,
        "events": found.events,
        "threads": found.threads,
        "reason": found.reason,
        "steps": found.steps,
        "axioms": list(found.axioms),
        "blamed": [asdict(each) for each in found.blamed],
        "mends": [list(each) for each in found.mends],
        "stronger": list(found.stronger),
        "decided": found.decided,
        "open": found.open,
        "seconds": round(found.seconds, 4),
    }
