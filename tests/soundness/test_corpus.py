"""Our own corpus: every test has an expected verdict, and every engine gives it."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from rspverify.architecture.machines import MACHINES
from rspverify.assembly.program import AssemblyProgram
from rspverify.axiomatic.cat import load_model
from rspverify.corpus.expected import read_expected
from rspverify.limits import Limits
from rspverify.litmus.reader import read_program_file
from rspverify.scheme.reader import read_scheme_file
from rspverify.soundness.case import Case, machine_of
from rspverify.soundness.check import check
from rspverify.soundness.machine_side import MachineSide
from rspverify.soundness.settings import L2, Engine, Settings
from rspverify.verdict import Outcome, Word

ROOT = Path(__file__).resolve().parents[2]
TESTS = sorted((ROOT / "litmus/rsp").rglob("*.litmus"))
UNROLLED = TESTS[::4]
"""Those that steps are asked about as often as the other engines; of the others, once."""
MODEL = load_model("opencl-rsp")
SCHEMES = [read_scheme_file(ROOT / f"schemes/{name}.yaml") for name in ("original", "proposed")]
EXPECTED = read_expected(str(ROOT / "litmus/rsp/expected.yaml")).verdicts


def name_of(path: Path) -> str:
    return path.relative_to(ROOT / "litmus/rsp").as_posix()


def test_the_corpus_is_large_enough() -> None:
    assert len(TESTS) >= 60


def test_expected_verdicts_are_for_these_tests_and_schemes() -> None:
    """A test without an expected verdict, or a verdict without its test, fails here."""
    assert set(EXPECTED) == {name_of(path) for path in TESTS}
    assert all(set(row) == {scheme.name for scheme in SCHEMES} for row in EXPECTED.values())


FEW = 8


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
def test_every_engine_gives_the_expected_verdict(path: Path) -> None:
    """By steps a quarter: of the others their outcomes are compared, from which verdicts follow."""
    program = read_program_file(path)
    engines = [it for it in Engine if it is not Engine.UNROLL or path in UNROLLED]
    for scheme in SCHEMES:
        words = {
            check(Case(program, scheme, MODEL, Settings(engine=engine))).word for engine in engines
        }
        assert words == {Word(EXPECTED[name_of(path)][scheme.name])}


@pytest.mark.parametrize("path", TESTS, ids=name_of)
def test_every_engine_finds_the_same_outcomes(path: Path) -> None:
    """Whether or not stores wait; and by events with real L2s, which on one device change nothing.

    Steps list many outcomes slowly: they are asked for few, and where stores wait of a quarter.
    """
    program = read_program_file(path)
    for scheme in SCHEMES:
        if EXPECTED[name_of(path)][scheme.name] == "UNSUPPORTED":
            continue
        for machine in ("rsp", "rsp-st-waits"):
            compiled = scheme.on_machine(MACHINES[machine]).compiled(program)
            expected = outcomes(compiled, Settings())
            ways = [Settings(l2=L2.REAL), Settings(engine=Engine.EXPLICIT)]
            if len(expected) <= FEW and (machine == "rsp" or path in UNROLLED):
                ways.append(Settings(engine=Engine.UNROLL))
            assert expected
            assert all(outcomes(compiled, each) == expected for each in ways)


def outcomes(compiled: AssemblyProgram, settings: Settings) -> set[Outcome]:
    return set(MachineSide(machine_of(compiled, settings), settings, Limits()).outcomes())
