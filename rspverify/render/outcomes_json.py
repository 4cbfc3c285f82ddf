"""`outcomes` for other tools: the JSON of outcomes.schema.json, every key always present."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from rspverify import __version__
from rspverify.render.check_json import internal_error, racing
from rspverify.report import FinalStates, Observed, OutcomeAnswer, OutcomeTable, RaceReport


def render(answers: Sequence[OutcomeAnswer], model: str) -> str:
    """The document for a run."""
    document = {
        "version": __version__,
        "model": model,
        "results": [_result(answer) for answer in answers],
    }
    return json.dumps(document, indent=2) + "\n"


def _result(answer: OutcomeAnswer) -> dict[str, Any]:
    found = answer.found
    table = found if isinstance(found, OutcomeTable) else None
    return {
        "test": found.test if found else None,
        "file": answer.file,
        "answered": found is not None,
        "word": answer.word.value if answer.word else None,
        "reason": answer.reason,
        "internal": internal_error(answer.internal) if answer.internal else None,
        "within": dict(found.within) if found else {},
        "racy": found.race is not None if found else None,
        "race": _race(found) if found else None,
        "condition": table.condition if table else None,
        "final": _final(table.final) if table else None,
        "outcomes": _outcomes(table) if table else None,
        "violated": list(table.violated) if table else None,
        "notes": list(found.notes) if found else [],
        "seconds": round(answer.seconds, 4),
    }


def _race(found: OutcomeTable | RaceReport) -> dict[str, Any] | None:
    if found.race is None:
        return None
    return {"condition": found.race.condition, **racing(found.race)}


def _final(final: FinalStates) -> dict[str, Any]:
    return {
        "quantifier": final.quantifier,
        "formula": final.formula,
        "observation": final.observation,
        "positive": final.positive,
        "negative": final.negative,
        "counted": final.counted,
        "states": [dict(zip(final.names, state, strict=True)) for state in final.states],
    }


def _outcomes(table: OutcomeTable) -> list[dict[str, Any]]:
    return [
        {
            "outcome": _observed(row.observed),
            "allowed": row.allowed,
            "satisfies": row.satisfies,
            "reached": dict(zip(table.schemes, row.reached, strict=True)),
        }
        for row in table.rows
    ]


def _observed(observed: Observed) -> dict[str, Any]:
    return {
        "reads": [
            {
                "thread": read.thread,
                "line": read.line,
                "column": read.column,
                "location": read.location,
                "value": read.value,
            }
            for read in observed.reads
        ],
        "registers": dict(observed.registers),
        "memory": dict(observed.memory),
    }
