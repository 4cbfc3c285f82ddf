"""`mutate` for other tools: the JSON of mutate.schema.json, every key always present."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any

from rspverify import __version__
from rspverify.report.mutations import (
    Fate,
    Finding,
    GroundShown,
    MutantShown,
    MutationReport,
    NamedTest,
    RowShown,
    StepShown,
)
from rspverify.verdict import Word


def render(report: MutationReport) -> str:
    """The document for a run."""
    operations = {row.number: row.operations for row in report.rows}
    wider = report.wider
    document = {
        "version": __version__,
        "scheme": report.scheme,
        "file": report.file,
        "machine": report.machine,
        "model": report.model,
        "engine": report.engine,
        "costs": report.costs,
        "tests": _tests(report.tests, report.stuck),
        "rows": [_row(row) for row in report.rows],
        "mutants": [_finding(each, operations) for each in report.findings],
        "wider": None if wider is None else [_mutant(each, operations) for each in wider],
        "summary": {
            "mutants": report.asked,
            **{fate.value: report.count(fate) for fate in Fate},
            "undecided": sum(it.undecided for it in report.findings),
        },
        "interrupted": report.interrupted,
        "internal": [{"message": it.message, "bundle": it.bundle} for it in report.internal],
        "seconds": round(report.seconds, 4),
    }
    return json.dumps(document, indent=2, ensure_ascii=False) + "\n"


def _tests(ground: GroundShown, stuck: Iterable[NamedTest]) -> dict[str, Any]:
    return {
        "total": ground.total,
        "verdicts": {word.value: ground.words.get(word, 0) for word in Word},
        "within": dict(ground.within),
        "broken": [_test(test, reason) for test, reason in ground.broken],
        "unknown": [_test(test, reason) for test, reason in ground.unknown],
        "stuck": [{"test": it.title, "file": it.file} for it in stuck],
        "left_out": [{"file": file, "reason": reason} for file, reason in ground.left_out],
    }


def _test(test: NamedTest, reason: str) -> dict[str, Any]:
    return {"test": test.title, "file": test.file, "reason": reason}


def _row(row: RowShown) -> dict[str, Any]:
    return {
        "row": row.number,
        "operations": row.operations,
        "code": list(row.code),
        "cost": row.cost,
        "tests": row.tests,
        "hunted": row.hunted,
        "unchanged": [_step(step) for step in row.unchanged],
    }


def _finding(finding: Finding, operations: dict[int, str]) -> dict[str, Any]:
    test = finding.test
    return {
        **_mutant(finding.mutant, operations),
        "verdict": finding.fate.value,
        "test": test.title if test else None,
        "file": test.file if test else None,
        "reason": finding.reason,
        "within": dict(finding.within),
        "decided": finding.decided,
        "unknown": [_test(it, reason) for it, reason in finding.unknown],
        "scheme": finding.mutant.file,
        "command": finding.command,
    }


def _mutant(mutant: MutantShown, operations: dict[int, str]) -> dict[str, Any]:
    return {
        "name": mutant.name,
        "row": mutant.row,
        "operations": operations[mutant.row],
        **_step(mutant.step),
        "also": [_step(step) for step in mutant.also],
        "code": list(mutant.code),
        "cost": mutant.cost,
    }


def _step(step: StepShown) -> dict[str, Any]:
    return {
        "place": step.place,
        "instruction": step.instruction,
        "mutation": step.mutation,
        "words": step.words,
    }
