"""`check` as SARIF 2.1.0 (OASIS): what needs attention, at the place that is to blame."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any
from urllib.parse import quote

from rspverify import __version__
from rspverify.render.document import Document
from rspverify.render.findings import Finding, Spot, findings
from rspverify.render.words import unfinished
from rspverify.shipped import located, ships
from rspverify.verdict import Word
from rspverify.wording import visible

NEEDS = ("faults",)
_SCHEMA = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/os/schemas/sarif-schema-2.1.0.json"
_RULES = json.loads(Path(__file__).with_name("sarif.rules.json").read_text(encoding="utf-8"))
"""What each finding may be: how bad it is where nothing is expected, and what it means."""
_NUMBERS = {rule: number for number, rule in enumerate(_RULES)}


def write(it: Document) -> str:
    """All reports as one log with one run. What is UNSUPPORTED is no finding about the scheme."""
    reports = it.reports
    found = [each for report in reports for each in findings(report)]
    stops = [words for words in map(unfinished, reports) if words]
    run = {
        "tool": {"driver": _driver()},
        "invocations": [
            {
                "executionSuccessful": not stops,
                "toolExecutionNotifications": [
                    {"level": "error", "message": _message(words)} for words in stops
                ],
            }
        ],
        "columnKind": "unicodeCodePoints",
        "results": [_result(it) for it in found if it.kind != Word.UNSUPPORTED or it.grave],
    }
    log = {"$schema": _SCHEMA, "version": "2.1.0", "runs": [run]}
    return json.dumps(log, indent=2, ensure_ascii=False) + "\n"


def _driver() -> dict[str, Any]:
    return {
        "name": "rspverify",
        "semanticVersion": __version__,
        "rules": [
            {
                "id": rule,
                "shortDescription": {"text": it["text"].partition(". ")[0].removesuffix(".") + "."},
                "help": {"text": it["text"]},
                "defaultConfiguration": {"level": it["level"]},
            }
            for rule, it in _RULES.items()
        ],
    }


def _result(it: Finding) -> dict[str, Any]:
    return {
        "ruleId": it.kind,
        "ruleIndex": _NUMBERS[it.kind],
        "level": "error" if it.grave else _RULES[it.kind]["level"],
        "message": _message(f"{it.subject}: {it.text}"),
        "locations": [_location(spot) for spot in it.spots],
        "relatedLocations": [_location(spot) for spot in it.related],
        "partialFingerprints": {"testAndScheme/v1": visible(_identity(it))},
    }


def _identity(it: Finding) -> str:
    """What tells it from the others of a run, and is the same in the next."""
    return f"{it.result.file} under {it.result.column}" if it.result else it.subject


def _location(it: Spot) -> dict[str, Any]:
    region = {
        "startLine": it.line,
        "startColumn": it.column,
        "endLine": it.end_line,
        "endColumn": it.end_column,
    }
    there = {key: value for key, value in region.items() if value is not None}
    physical = {"artifactLocation": _artifact(it.file), "region": there or {"startLine": 1}}
    return {"physicalLocation": physical} | ({"message": _message(it.words)} if it.words else {})


def _artifact(file: str) -> dict[str, str]:
    """A file by its path from where the command runs, which is taken for the top of the sources;
    what ships by where it is installed."""
    if ships(file):
        file = os.path.abspath(located(file))
    uri = quote(os.fsencode(os.path.normpath(file).replace(os.sep, "/")))
    return (
        {"uri": f"file://{uri}"} if os.path.isabs(file) else {"uri": uri, "uriBaseId": "%SRCROOT%"}
    )


def _message(text: str) -> dict[str, str]:
    return {"text": visible(text)}
