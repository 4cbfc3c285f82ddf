"""`check` for other tools: the JSON of check.schema.json, every key always present."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from rspverify import __version__
from rspverify.report import Internal, ModelAnswer, Observed, Result, SuiteReport
from rspverify.verdict import Event, Race, Word


def render(
    results: Sequence[Result], suites: Sequence[SuiteReport] = (), *, interrupted: bool
) -> str:
    """The document for a run: of schemes and tests, or of suites."""
    every: list[tuple[str | None, Result]] = [(None, result) for result in results]
    every += [(it.folder, each) for it in suites for each in it.results if isinstance(each, Result)]
    words = [result.verdict.word for _, result in every]
    document = {
        "version": __version__,
        "results": [_result(result, suite) for suite, result in every],
        "summary": {word.value: words.count(word) for word in Word},
        "answers": [
            _answer(each, it.folder)
            for it in suites
            for each in it.results
            if isinstance(each, ModelAnswer)
        ],
        "suites": [_suite(it) for it in suites],
        "interrupted": interrupted,
    }
    return json.dumps(document, indent=2) + "\n"


def _suite(it: SuiteReport) -> dict[str, Any]:
    held = it.held
    return {
        "suite": it.folder,
        "about": it.about,
        "expected": held.file if held else None,
        "unexpected": [
            {
                "file": each.result.file,
                it.noun: each.result.column,
                "expected": each.expected,
                "found": each.result.words,
            }
            for each in held.differences
        ]
        if held
        else [],
        "missing": list(held.gone) if held else [],
        "complete": len(it.results) == it.total,
        "seconds": round(it.seconds, 4),
    }


def _answer(answer: ModelAnswer, suite: str) -> dict[str, Any]:
    return {
        "suite": suite,
        "test": answer.test,
        "file": answer.file,
        "model": answer.model,
        "answer": answer.words,
        "within": dict(answer.within),
        "reason": answer.reason,
        "internal": internal_error(answer.internal) if answer.internal else None,
        "seconds": round(answer.seconds, 4),
        "cached": answer.cached,
    }


def _result(result: Result, suite: str | None) -> dict[str, Any]:
    verdict = result.verdict
    return {
        "suite": suite,
        "test": result.test,
        "file": result.file,
        "scheme": result.scheme,
        "model": result.model,
        "engine": result.engine,
        "reading": result.reading,
        "verdict": verdict.word.value,
        "confirmed": verdict.confirmed,
        "within": dict(verdict.within),
        "outcome": observed_outcome(result.observed) if result.observed else None,
        "axioms": list(verdict.axioms),
        "race": racing(verdict.race) if verdict.race else None,
        "reason": verdict.reason,
        "progress": result.progress.word.value if result.progress else None,
        "progress_reason": result.progress.reason if result.progress else None,
        "internal": internal_error(result.internal) if result.internal else None,
        "seconds": round(result.seconds, 4),
        "cached": result.cached,
    }


def internal_error(internal: Internal) -> dict[str, Any]:
    """An internal error and its report."""
    return {"message": internal.message, "bundle": internal.bundle}


def observed_outcome(observed: Observed) -> dict[str, Any]:
    """An outcome in the words of its program."""
    return {
        "reads": [
            {
                "thread": read.thread,
                "line": read.line,
                "location": read.location,
                "value": read.value,
            }
            for read in observed.reads
        ],
        "registers": dict(observed.registers),
        "memory": dict(observed.memory),
    }


def racing(race: Race) -> dict[str, Any]:
    """The two accesses of a race."""
    return {"first": _event(race.first), "second": _event(race.second)}


def _event(event: Event) -> dict[str, Any]:
    return {
        "thread": event.thread,
        "line": event.line,
        "location": event.location,
        "access": event.text,
    }
