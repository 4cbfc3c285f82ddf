"""docs/semantics.md, Known answers, row by row, by each engine; and what Figs 4 and 5 show."""

from __future__ import annotations

import pytest
from checks import judged, scheme_named

from rspverify.limits import Limits
from rspverify.litmus.program import Program
from rspverify.programs.meaning import program_of
from rspverify.programs.notation import read_notation
from rspverify.soundness.case import machine_of
from rspverify.soundness.machine_side import MachineSide
from rspverify.soundness.settings import Engine, Settings
from rspverify.soundness.wording import observed
from rspverify.verdict import Verdict, Word

SCHEMES = {name: scheme_named(name) for name in ("original", "proposed")}

MP = "st.na x 42; st.DV y 1 || r0=ld.DV y; if r0==1: r1=ld.na x"
SOUND, UNSOUND, RACY = Word.SOUND, Word.UNSOUND, Word.RACY
ROWS: dict[str, tuple[str, Word, str | None]] = {
    "MP": (MP, UNSOUND, "1:r0=1 1:r1=0 x=42 y=1"),
    "MP, fetch_inc reads": (
        "st.na x 42; st.DV y 1 || r0=inc.DV y; if r0==1: r1=ld.na x",
        UNSOUND,
        "1:r0=1 1:r1=0 x=42 y=2",
    ),
    "MP, fetch_inc": (
        "st.na x 42; inc.DV y || r0=inc.DV y; if r0==1: r1=ld.na x",
        UNSOUND,
        "1:r0=1 1:r1=0 x=42 y=2",
    ),
    "ISA2": (
        "st.na x 1; st.WG y 1 || r0=ld.WG y; if r0==1: st.DV z 1"
        " || r0=ld.DV z; if r0==1: r1=ld.na x @01-2",
        UNSOUND,
        "1:r0=1 2:r0=1 2:r1=0 x=1 y=1 z=1",
    ),
    "Ex. 4": ("inc.WG x || st.DV.R x 2", UNSOUND, "x=1"),
    "Ex. 3": ("inc.WG x || st.DV x 2", RACY, None),
    "MP, remote load": (
        "st.na x 42; st.WG y 1 || r0=ld.DV.R y; if r0==1: r1=ld.na x",
        SOUND,
        None,
    ),
    "MP, remote store": (
        "st.na x 42; st.DV.R y 1 || r0=ld.WG y; if r0==1: r1=ld.na x",
        SOUND,
        None,
    ),
    "IRIW": (
        "st.WG x 1 || st.WG y 1 || r0=ld.WG x; r1=ld.WG y || r2=ld.DV.R y; r3=ld.DV.R x @012-3",
        SOUND,
        None,
    ),
}


def program(line: str) -> Program:
    return program_of(read_notation(line), "test")


def decide(name: str, scheme: str, engine: Engine) -> Verdict:
    return judged(program(ROWS[name][0]), SCHEMES[scheme], engine=engine)


@pytest.mark.parametrize("engine", Engine)
@pytest.mark.parametrize("name", ROWS)
def test_original(name: str, engine: Engine) -> None:
    line, word, wrong = ROWS[name]
    verdict = decide(name, "original", engine)
    assert verdict.word is word
    assert verdict.within == {}
    if wrong is not None:
        assert verdict.outcome is not None
        assert str(observed(program(line), verdict.outcome)) == wrong


@pytest.mark.parametrize("engine", Engine)
@pytest.mark.parametrize("name", ROWS)
def test_proposed(name: str, engine: Engine) -> None:
    verdict = decide(name, "proposed", engine)
    assert verdict.word is (RACY if name == "Ex. 3" else SOUND)
    assert verdict.within == {}


@pytest.mark.parametrize("engine", Engine)
@pytest.mark.parametrize("scheme", SCHEMES)
def test_iriw_shows_15_of_16(scheme: str, engine: Engine) -> None:
    settings = Settings(engine=engine)
    machine = machine_of(SCHEMES[scheme].compiled(program(ROWS["IRIW"][0])), settings)
    found = set(MachineSide(machine, settings, Limits()).outcomes())
    assert len(found) == 15
    assert tuple(value for _, value in max(found).reads) != (1, 0, 1, 0)
    assert all(tuple(value for _, value in each.reads) != (1, 0, 1, 0) for each in found)


@pytest.mark.parametrize("engine", Engine)
@pytest.mark.parametrize(("name", "steps"), [("MP", 12), ("Ex. 4", 10)])
def test_counterexamples_are_as_short_as_the_figures(name: str, steps: int, engine: Engine) -> None:
    """Fig. 4 has 12 steps; Fig. 5 has 11, of which its second FETCH can be left out."""
    execution = decide(name, "original", engine).execution
    assert execution is not None
    assert len(execution.steps) == steps
    assert execution.shortest


@pytest.mark.parametrize(("name", "steps"), [("MP", 12), ("Ex. 4", 10)])
def test_bracketed(name: str, steps: int) -> None:
    """One step below the shortest counterexample there is none, and the verdict names its bound."""
    source = program(ROWS[name][0])
    below = judged(source, SCHEMES["original"], engine=Engine.UNROLL, steps=steps - 1)
    assert below.word in (Word.SOUND, Word.VACUOUS)
    assert below.within == {"steps": steps - 1}
    assert judged(source, SCHEMES["original"], engine=Engine.UNROLL, steps=steps).word is UNSOUND


def test_axioms_of_the_figures() -> None:
    """MP on a plain x breaks the axiom of plain reads, on an atomic one coherence (§5.5.1)."""
    assert decide("MP", "original", Engine.UNROLL).axioms == ("Narf",)
    assert decide("Ex. 4", "original", Engine.UNROLL).axioms == ("Rmw",)
    atomic = program(f"{MP} (atomic x)")
    assert judged(atomic, SCHEMES["original"]).axioms == ("Coh",)


def test_no_candidate_at_all() -> None:
    """Without row 5's FLU_L1 a final x=1 that no candidate has (docs/semantics.md, Soundness)."""
    broken = scheme_named("tests/scheme/broken/proposed-no-release-flush.yaml")
    source = program("st.na x 1; st.DV y 1 || r0=ld.DV y; if r0==1: st.na x 2")
    verdict = judged(source, broken)
    assert verdict.word is UNSOUND
    assert verdict.axioms == ()
    assert verdict.reason.endswith("no candidate execution has these values")
