"""Litmus tests that others wrote, and what their herd said of them, where they are at hand."""

from pathlib import Path
from typing import Any

import pytest
import yaml

from rspverify.axiomatic.cat import load_model
from rspverify.litmus.reader import read_program_file
from rspverify.soundness.outcomes import outcomes
from rspverify.soundness.settings import Settings

MODELS = {"rsp": "opencl-rsp", "opencl": "opencl-scoped-sc"}
"""By folder, the model that the expected answers are of."""
TESTS = (
    *(f"rsp/RSP_Test{number}.litmus" for number in (1, 2, 6, 8, 10, 11)),
    "rsp/WSQ1.litmus",
    *(f"opencl/MP_{each}.litmus" for each in ("ra_dev", "ra_wg", "sc_dev")),
    *(f"opencl/{each}.litmus" for each in ("ISA2", "IRIW_sc_wg", "IRIW_sc_dev")),
    *(f"opencl/{each}.litmus" for each in ("example4", "example6")),
)
NOT_IN_2_0 = {"opencl/IRIW_sc_wg.litmus": "Sometimes"}
"""Where OpenCL 2.0 says something else: seq_cst at work-group scope has no order there."""


@pytest.fixture
def expected(shared: Path) -> dict[str, Any]:
    """What herd says, by the name of the test."""
    return yaml.safe_load((shared / "corpus" / "expected.yaml").read_text())


def answer(path: Path, model: str) -> dict[str, Any]:
    """What we say of a test, in the words of the expected results."""
    program = read_program_file(path)
    table = outcomes(program, load_model(model), [], path.name, Settings(seconds=60))
    assert table.final.counted
    return {
        "observed": table.final.observation,
        "states": len(table.final.states),
        "positive": table.final.positive,
        "negative": table.final.negative,
        "racy": bool(table.violated),
    }


@pytest.mark.parametrize("name", TESTS)
def test_as_herd_says(name: str, shared: Path, expected: dict[str, Any]) -> None:
    found = answer(shared / "corpus" / name, MODELS[name.split("/")[0]])
    said = {key: value for key, value in expected[name].items() if key != "herd_seconds"}
    assert said
    assert {key: found[key] for key in said} == said


@pytest.mark.parametrize("name", [each for each in TESTS if each.startswith("opencl/")])
def test_opencl_2_0(name: str, shared: Path, expected: dict[str, Any]) -> None:
    said = expected[name] | ({"observed": NOT_IN_2_0[name]} if name in NOT_IN_2_0 else {})
    found = answer(shared / "corpus" / name, "opencl")
    assert {key: found[key] for key in said} == said


def test_every_test_is_asked(shared: Path, expected: dict[str, Any]) -> None:
    assert expected.keys() == set(TESTS)
