"""The JSON Schemas that are shipped, generated: `make schemas` writes them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

from rspverify.answers import CheckReport, ExplainReport, OutcomesReport
from rspverify.compilers import Extraction
from rspverify.convert import Schema, laid_out, schema
from rspverify.corpus.schema import expected_schema, suite_schema
from rspverify.engineering.compare.models import ModelComparison
from rspverify.engineering.comparison import Comparison
from rspverify.engineering.hunt.finding import HuntReport
from rspverify.engineering.mutation import MutationReport
from rspverify.engineering.repair.answer import RepairReport
from rspverify.proof.proof import ProofReport
from rspverify.scheme.schema import costs_schema, scheme_schema
from rspverify.selftest.fuzz import FuzzReport
from rspverify.selftest.run import SelftestReport
from rspverify.soundness.hang import ProgressReport
from rspverify.source import InputError, Problem
from rspverify.wording import alternatives, guess

DOCUMENTS: Mapping[str, type] = {
    "check": CheckReport,
    "compare": Comparison,
    "compare-models": ModelComparison,
    "explain": ExplainReport,
    "extract": Extraction,
    "fuzz": FuzzReport,
    "hunt": HuntReport,
    "mutate": MutationReport,
    "outcomes": OutcomesReport,
    "progress": ProgressReport,
    "prove": ProofReport,
    "repair": RepairReport,
    "selftest": SelftestReport,
}
"""By command, what its --format json is made from."""
FILES: Mapping[str, Callable[[], Schema]] = {
    "scheme": scheme_schema,
    "expected": expected_schema,
    "suite": suite_schema,
    "costs": costs_schema,
}
"""By kind, the schema of files that people write, in YAML."""
NAMES = (*FILES, *DOCUMENTS)


def place(name: str) -> Path:
    """Where the schema of a kind of file, or of a command's JSON, is."""
    return Path(__file__).with_name(f"{name}.schema.json")


def text(name: str) -> str:
    """The schema of a kind of file, or of a command's JSON."""
    if name in FILES:
        return laid_out(FILES[name]())
    return laid_out(schema(DOCUMENTS[name], f"rspverify {name.replace('-', ' --')} --format json"))


def shipped(name: str) -> str:
    """What ships by a name. Raises InputError."""
    if name not in NAMES:
        message = f"--schema must be {alternatives(NAMES)}, not {name}"
        raise InputError([Problem(None, message, guess(name, NAMES))])
    return place(name).read_text(encoding="utf-8")


if __name__ == "__main__":
    for name in NAMES:
        place(name).write_text(text(name), encoding="utf-8")
