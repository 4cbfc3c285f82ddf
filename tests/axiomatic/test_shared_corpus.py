"""Litmus tests that others wrote, and what their herd said of them, where they are at hand."""

from pathlib import Path
from typing import Any

import pytest
import yaml

from rspverify.axiomatic import load_model
from rspverify.check.outcomes import outcomes
from rspverify.check.settings import DEFAULT_MODEL, Settings
from rspverify.litmus import read_program_file
from rspverify.source import InputError, Severity

COVERED = (
    "rsp/RSP_Test1.litmus",
    "rsp/RSP_Test2.litmus",
    "rsp/RSP_Test6.litmus",
    "rsp/RSP_Test10.litmus",
    "rsp/RSP_Test11.litmus",
    "rsp/WSQ1.litmus",
    "opencl/MP_ra_dev.litmus",
    "opencl/MP_ra_wg.litmus",
    "opencl/ISA2.litmus",
    "opencl/example4.litmus",
)
BEYOND = {
    "opencl/MP_sc_dev.litmus": "seq_cst is beyond the model",
    "opencl/IRIW_sc_wg.litmus": "seq_cst is beyond the model",
    "opencl/IRIW_sc_dev.litmus": "seq_cst is beyond the model",
}


@pytest.fixture
def expected(shared: Path) -> dict[str, Any]:
    """What herd says, by the name of the test."""
    return yaml.safe_load((shared / "corpus" / "expected.yaml").read_text())


def answer(path: Path) -> dict[str, Any]:
    """What we say of a test, in the words of the expected results."""
    model = load_model(DEFAULT_MODEL)
    table = outcomes(read_program_file(path), model, [], path.name, Settings(seconds=60))
    assert table.counted
    return {
        "observed": table.observation,
        "states": table.states,
        "positive": table.positive,
        "negative": table.negative,
        "racy": table.race is not None,
    }


@pytest.mark.parametrize("name", COVERED)
def test_as_herd_says(name: str, shared: Path, expected: dict[str, Any]) -> None:
    found = answer(shared / "corpus" / name)
    said = {key: value for key, value in expected[name].items() if key != "herd_seconds"}
    assert said
    assert {key: found[key] for key in said} == said


@pytest.mark.parametrize("name", BEYOND)
def test_beyond_the_model(name: str, shared: Path) -> None:
    with pytest.raises(InputError, match=BEYOND[name]) as caught:
        answer(shared / "corpus" / name)
    assert caught.value.severity is Severity.UNSUPPORTED


def test_all_that_can_be_read_is_covered(shared: Path, expected: dict[str, Any]) -> None:
    for name in expected:
        try:
            read_program_file(shared / "corpus" / name)
        except InputError:
            assert name not in COVERED
        else:
            assert (name in COVERED) != (name in BEYOND)
