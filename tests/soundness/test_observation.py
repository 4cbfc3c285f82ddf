"""What a model says of a test in short is what follows from all its outcomes."""

from pathlib import Path

import pytest
from checks import MODEL, ROOT

from rspverify.litmus.reader import read_program_file
from rspverify.soundness.outcomes import observed_by, outcomes
from rspverify.soundness.settings import Settings

TESTS = sorted((ROOT / "litmus/models/opencl").rglob("*.litmus"))[::3]


@pytest.mark.parametrize("path", TESTS, ids=lambda path: path.stem)
def test_the_short_answer_is_the_long_one(path: Path) -> None:
    program, model, settings = read_program_file(path), MODEL, Settings()
    short = observed_by(program, model, settings)
    long = outcomes(program, model, (), "t", settings)
    assert long.final is not None
    assert (short.observation, short.racy) == (long.final.observation, bool(long.violated))
