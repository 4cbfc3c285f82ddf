"""`repair` for other tools: the JSON of repair.schema.json, every key always present."""

from __future__ import annotations

import json
from typing import Any

from rspverify import __version__
from rspverify.report.mutations import NamedTest
from rspverify.report.repairs import (
    Hunted,
    Reference,
    RepairReport,
    RowAsked,
    RowFound,
    SchemeFound,
    TestsAsked,
)
from rspverify.verdict import Word


def render(report: RepairReport) -> str:
    """The document for a run."""
    document = {
        "version": __version__,
        "scheme": report.scheme,
        "file": report.file,
        "machine": report.machine,
        "model": report.model,
        "engine": report.engine,
        "costs": report.costs,
        "cost": report.cost,
        "rows": [_row_asked(row) for row in report.rows],
        "instructions": list(report.instructions),
        "max_length": report.max_length,
        "tests": _tests(report.tests),
        "reference": _reference(report.reference) if report.reference else None,
        "found": [_found(each) for each in report.found],
        "least": report.least,
        "exact": report.exact,
        "complete": report.complete,
        "finished": report.finished,
        "stopped": report.stopped or None,
        "hunting": dict(report.hunting) or None,
        "candidates": report.candidates,
        "nogoods": report.nogoods,
        "verdicts": report.decided,
        "killers": [
            {**_test(each.test), "verdict": each.word, "candidates": each.candidates}
            for each in report.killers
        ],
        "undecided": [{"file": file, "rows": rows} for file, rows in report.undecided],
        "candidate": [{"row": row, "code": list(code)} for row, code in report.candidate],
        "internal": [{"message": it.message, "bundle": it.bundle} for it in report.internal],
        "seconds": round(report.seconds, 4),
    }
    return json.dumps(document, indent=2, ensure_ascii=False) + "\n"


def _test(test: NamedTest) -> dict[str, Any]:
    return {"test": test.title, "file": test.file}


def _row_asked(row: RowAsked) -> dict[str, Any]:
    return {
        "row": row.number,
        "operations": row.operations,
        "code": list(row.code),
        "cost": row.cost,
        "codes": row.codes,
        "tests": row.tests,
        "stays": row.stays or None,
    }


def _tests(tests: TestsAsked) -> dict[str, Any]:
    return {
        "total": tests.total,
        "asked": tests.asked,
        "verdicts": {word.value: tests.words.get(word, 0) for word in Word},
        "without": [{**_test(test), "reason": reason} for test, reason in tests.without],
        "left_out": [{"file": file, "reason": reason} for file, reason in tests.left_out],
        "found": list(tests.found),
    }


def _reference(reference: Reference) -> dict[str, Any]:
    return {
        "scheme": reference.name,
        "file": reference.file,
        "cost": reference.cost,
        "fails": [{**_test(test), "verdict": word} for test, word in reference.fails],
        "candidate": reference.within,
    }


def _found(found: SchemeFound) -> dict[str, Any]:
    return {
        "name": found.name,
        "cost": found.cost,
        "rows": [_row_found(row) for row in found.rows],
        "tests": found.tests,
        "within": dict(found.within),
        "explicit": found.explicit,
        "beyond_explicit": found.beyond,
        "hunted": _hunted(found.hunted) if found.hunted else None,
        "written": found.file,
    }


def _hunted(hunted: Hunted) -> dict[str, Any]:
    return {
        "bounds": dict(hunted.bounds),
        "programs": hunted.programs,
        "decided": hunted.decided,
        "unknown": hunted.unknown,
    }


def _row_found(row: RowFound) -> dict[str, Any]:
    return {
        "row": row.number,
        "operations": row.operations,
        "code": list(row.code),
        "cost": row.cost,
        "given": row.given,
        "changed": row.changed,
        "reference": row.reference,
        "alternatives": [list(code) for code in row.alternatives],
    }
