"""Checks by the model of the paper: schemes and tests that ship, by name, and what is said of them."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

import yaml

from rspverify.axiomatic.cat import load_model
from rspverify.axiomatic.model import MemoryModel
from rspverify.litmus.program import Program
from rspverify.litmus.reader import read_program_file
from rspverify.scheme.reader import read_scheme_file
from rspverify.scheme.scheme import Scheme
from rspverify.soundness.case import Case
from rspverify.soundness.check import check
from rspverify.soundness.settings import Settings
from rspverify.soundness.sides import ModelSide
from rspverify.verdict import Verdict

ROOT = Path(__file__).resolve().parents[1]
MODEL = load_model("opencl-rsp")


@cache
def scheme_named(name: str) -> Scheme:
    """A scheme by its name below the folder schemes, or its path in the repository."""
    return read_scheme_file(ROOT / (name if name.endswith(".yaml") else f"schemes/{name}.yaml"))


@cache
def litmus(name: str) -> Program:
    """A test by its path below the folder litmus."""
    return read_program_file(ROOT / f"litmus/{name.removesuffix('.litmus')}.litmus")


def data(path: str) -> list[Any]:
    """A table of cases, by its path below the folder tests."""
    found: list[Any] = yaml.safe_load((ROOT / "tests" / path).read_text("utf-8"))
    return found


def judged(
    program: Program,
    scheme: Scheme,
    settings: Settings | None = None,
    source: ModelSide | None = None,
    model: MemoryModel = MODEL,
    **options: Any,
) -> Verdict:
    """The verdict on a program under a scheme. options: of the settings."""
    return check(Case(program, scheme, model, settings or Settings(**options)), source)
