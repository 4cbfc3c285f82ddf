"""The JSON Schemas that are shipped, generated: `make schemas` writes them."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from rspverify.answers import CheckReport, OutcomesReport
from rspverify.convert import schema
from rspverify.engineering.comparison import Comparison
from rspverify.engineering.hunt.finding import HuntReport
from rspverify.engineering.mutation import MutationReport
from rspverify.engineering.repair.answer import RepairReport
from rspverify.selftest.answer import SelftestReport

_WIDTH = 96
DOCUMENTS: Mapping[str, type] = {
    "check": CheckReport,
    "compare": Comparison,
    "hunt": HuntReport,
    "mutate": MutationReport,
    "outcomes": OutcomesReport,
    "repair": RepairReport,
    "selftest": SelftestReport,
}
"""By command, what its --format json is made from."""


def place(command: str) -> Path:
    """Where the schema of a command's JSON is."""
    return Path(__file__).with_name(f"{command}.schema.json")


def text(command: str) -> str:
    """The schema of a command's JSON."""
    return _laid_out(schema(DOCUMENTS[command], f"rspverify {command} --format json"), "") + "\n"


def _laid_out(value: Any, indent: str) -> str:
    """What fits into a line is on one line."""
    line = json.dumps(value, ensure_ascii=False)
    if len(indent + line) <= _WIDTH or not value or not isinstance(value, dict | list):
        return line
    deeper = indent + "  "
    if isinstance(value, list):
        parts, (start, end) = [_laid_out(each, deeper) for each in value], "[]"
    else:
        parts = [f"{json.dumps(key)}: {_laid_out(each, deeper)}" for key, each in value.items()]
        start, end = "{}"
    return f"{start}\n{deeper}" + f",\n{deeper}".join(parts) + f"\n{indent}{end}"


if __name__ == "__main__":
    for command in DOCUMENTS:
        place(command).write_text(text(command), encoding="utf-8")
