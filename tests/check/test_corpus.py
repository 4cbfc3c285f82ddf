"""Our own corpus: every test has an expected verdict, and both engines give it."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from rspverify.axiomatic import load_model
from rspverify.check.expected import read_expected
from rspverify.check.reached import machine_for, reached
from rspverify.check.settings import Engine, Settings
from rspverify.check.soundness import check
from rspverify.limits import Limits
from rspverify.litmus import read_program_file
from rspverify.scheme import compile_program, read_scheme_file
from rspverify.verdict import Word

ROOT = Path(__file__).resolve().parents[2]
TESTS = sorted((ROOT / "litmus").rglob("*.litmus"))
MODEL = load_model("opencl-rsp")
SCHEMES = [read_scheme_file(ROOT / f"schemes/{name}.yaml") for name in ("original", "proposed")]
EXPECTED = read_expected(str(ROOT / "litmus/expected.yaml")).verdicts


def name_of(path: Path) -> str:
    return path.relative_to(ROOT / "litmus").as_posix()


def test_the_corpus_is_large_enough() -> None:
    assert len(TESTS) >= 60


def test_expected_verdicts_are_for_these_tests_and_schemes() -> None:
    """A test without an expected verdict, or a verdict without its test, fails here."""
    assert set(EXPECTED) == {name_of(path) for path in TESTS}
    assert all(set(row) == {scheme.name for scheme in SCHEMES} for row in EXPECTED.values())


def test_the_paper_s_result() -> None:
    """Original breaks, Proposed does not."""
    assert all(row["proposed"] != "UNSOUND" for row in EXPECTED.values())
    for name in ("paper/Fig4", "paper/Ex4", "MP/MP+st.na-st.DV+inc.DV-ld.na"):
        assert EXPECTED[f"{name}.litmus"] == {"original": "UNSOUND", "proposed": "SOUND"}


@pytest.mark.parametrize("path", TESTS, ids=name_of)
def test_written_for_readers(path: Path) -> None:
    """The title is the file's name, and a comment says what the test shows."""
    text = path.read_text()
    assert text.splitlines()[0].split()[1] == path.stem
    comment = re.search(r"\(\*\s(.+?)\*\)", text, re.DOTALL)
    assert comment is not None
    assert len(comment[1].split()) >= 5


@pytest.mark.parametrize("path", TESTS, ids=name_of)
def test_explicit_and_unroll_agree(path: Path) -> None:
    """The expected verdict by both engines, and the same set of outcomes on the machine."""
    program = read_program_file(path)
    for scheme in SCHEMES:
        expected = EXPECTED[name_of(path)][scheme.name]
        words = {
            engine: check(program, scheme, MODEL, Settings(engine=engine)).word for engine in Engine
        }
        assert set(words.values()) == {Word(expected)}
        if expected == "UNSUPPORTED":
            continue
        outcomes = []
        for engine in Engine:
            settings = Settings(engine=engine)
            machine = machine_for(compile_program(program, scheme), settings)
            outcomes.append(set(reached(machine, settings, Limits()).outcomes()))
        assert outcomes[0] == outcomes[1]
        assert outcomes[0]
