"""Our own corpus: every test has an expected verdict, and every engine gives it."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from checks import ROOT, judged, scheme_named

from rspverify.architecture.machines import MACHINES
from rspverify.assembly.program import AssemblyProgram
from rspverify.corpus.expected import read_expected
from rspverify.limits import Limits
from rspverify.litmus.reader import read_program_file
from rspverify.machine.firings import enough_steps
from rspverify.soundness.case import machine_of
from rspverify.soundness.machine_side import MachineSide
from rspverify.soundness.settings import Engine, Settings
from rspverify.verdict import Outcome, Word

TESTS = sorted((ROOT / "litmus/rsp").rglob("*.litmus"))
SOME = TESTS[::8]
FEW, STEPS = 8, 20
"""Up to so many outcomes and steps executions are unrolled: of more it takes many times as long."""
SCHEMES = [scheme_named(name) for name in ("original", "proposed")]
EXPECTED = read_expected(str(ROOT / "litmus/rsp/expected.yaml")).verdicts


def name_of(path: Path) -> str:
    return path.relative_to(ROOT / "litmus/rsp").as_posix()


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


@pytest.mark.parametrize("path", SOME, ids=name_of)
def test_every_engine_gives_the_expected_verdict(path: Path) -> None:
    """Of the others `make check` says it, and the outcomes from which verdicts follow are compared."""
    program = read_program_file(path)
    for scheme in SCHEMES:
        expected = Word(EXPECTED[name_of(path)][scheme.name])
        short = expected is Word.UNSUPPORTED or is_short(scheme.compiled(program))
        engines = {*Engine} if short else {*Engine} - {Engine.UNROLL}
        assert {judged(program, scheme, engine=it).word for it in engines} == {expected}


@pytest.mark.parametrize("path", TESTS, ids=name_of)
def test_every_engine_finds_the_same_outcomes(path: Path) -> None:
    """One scheme on a machine where stores wait, the other where they don't, in turn. What events
    finds with real L2s is in tests/machine/test_events_claims.py."""
    program = read_program_file(path)
    for number, scheme in enumerate(SCHEMES, TESTS.index(path)):
        if EXPECTED[name_of(path)][scheme.name] == "UNSUPPORTED":
            continue
        machine = ("rsp", "rsp-st-waits")[number % 2]
        compiled = scheme.on_machine(MACHINES[machine]).compiled(program)
        expected = outcomes(compiled, Settings())
        ways = [Settings(engine=Engine.EXPLICIT)]
        if len(expected) <= FEW and is_short(compiled):
            ways.append(Settings(engine=Engine.UNROLL))
        assert expected
        assert all(outcomes(compiled, each) == expected for each in ways)


def is_short(compiled: AssemblyProgram) -> bool:
    return enough_steps(machine_of(compiled, Settings())).total <= STEPS


def outcomes(compiled: AssemblyProgram, settings: Settings) -> set[Outcome]:
    return set(MachineSide(machine_of(compiled, settings), settings, Limits()).outcomes())
