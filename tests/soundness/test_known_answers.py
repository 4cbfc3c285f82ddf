"""docs/semantics.md, Known answers, row by row, by each engine; and what Figs 4 and 5 show."""

from __future__ import annotations

import re

import pytest
from checks import judged, scheme_named

from rspverify.limits import Limits
from rspverify.litmus.reader import read_program
from rspverify.soundness.case import machine_of
from rspverify.soundness.machine_side import MachineSide
from rspverify.soundness.settings import Engine, Settings
from rspverify.soundness.wording import observed
from rspverify.source import Source
from rspverify.verdict import Verdict, Word

SCHEMES = {name: scheme_named(name) for name in ("original", "proposed")}

STORE = "atomic_store_explicit{r}({x}, {v}, memory_order_release, memory_scope_{s});"
LOAD = "atomic_load_explicit{r}({x}, memory_order_acquire, memory_scope_{s})"
INC = "atomic_fetch_add_explicit{r}({x}, 1, memory_order_acq_rel, memory_scope_{s})"
DV, WG = "device", "work_group"


def store(x: str, v: int, s: str, remote: bool = False) -> str:
    return STORE.format(x=x, v=v, s=s, r="_remote" if remote else "")


def load(x: str, s: str, remote: bool = False) -> str:
    return LOAD.format(x=x, s=s, r="_remote" if remote else "")


def inc(x: str, s: str, remote: bool = False) -> str:
    return INC.format(x=x, s=s, r="_remote" if remote else "")


def program(tree: str, *threads: str, plain: str = "x"):
    """A test from the bodies of its threads; locations in `plain` are non-atomic."""
    names = sorted(
        {each for each in "xyz" if any(re.search(rf"\b{each}\b", body) for body in threads)}
    )
    parameters = ", ".join(
        f"global {'int' if name in plain else 'atomic_int'}* {name}" for name in names
    )
    bodies = "\n".join(f"P{i} ({parameters}) {{ {body} }}" for i, body in enumerate(threads))
    return read_program(Source("test", f"OpenCL test\n{{ }}\n{bodies}\nscopeTree {tree}\n"))


TWO = "(device (work_group P0) (work_group P1))"


def mp(writer: str, reader: str):
    return program(TWO, f"*x = 42; {writer}", f"int r0 = {reader}; if (r0 == 1) {{ int r1 = *x; }}")


def isa2():
    return program(
        "(device (work_group P0 P1) (work_group P2))",
        f"*x = 1; {store('y', 1, WG)}",
        f"if ({load('y', WG)} == 1) {{ {store('z', 1, DV)} }}",
        f"int r0 = {load('z', DV)}; if (r0 == 1) {{ int r1 = *x; }}",
    )


def ex4(remote: bool = True):
    return program(TWO, f"{inc('x', WG)};", store("x", 2, DV, remote), plain="")


def iriw():
    return program(
        "(device (work_group P0 P1 P2) (work_group P3))",
        store("x", 1, WG),
        store("y", 1, WG),
        f"int r0 = {load('x', WG)}; int r1 = {load('y', WG)};",
        f"int r2 = {load('y', DV, True)}; int r3 = {load('x', DV, True)};",
        plain="",
    )


SOUND, UNSOUND, RACY = Word.SOUND, Word.UNSOUND, Word.RACY
ROWS = {
    "MP": (mp(store("y", 1, DV), load("y", DV)), UNSOUND, "1:r0=1 1:r1=0 x=42 y=1"),
    "MP, fetch_inc reads": (mp(store("y", 1, DV), inc("y", DV)), UNSOUND, "1:r0=1 1:r1=0 x=42 y=2"),
    "MP, fetch_inc": (mp(f"{inc('y', DV)};", inc("y", DV)), UNSOUND, "1:r0=1 1:r1=0 x=42 y=2"),
    "ISA2": (isa2(), UNSOUND, "2:r0=1 2:r1=0 x=1 y=1 z=1"),
    "Ex. 4": (ex4(), UNSOUND, "x=1"),
    "Ex. 3": (ex4(remote=False), RACY, None),
    "MP, remote load": (mp(store("y", 1, WG), load("y", DV, True)), SOUND, None),
    "MP, remote store": (mp(store("y", 1, DV, True), load("y", WG)), SOUND, None),
    "IRIW": (iriw(), SOUND, None),
}


def decide(name: str, scheme: str, engine: Engine) -> Verdict:
    return judged(ROWS[name][0], SCHEMES[scheme], engine=engine)


@pytest.mark.parametrize("engine", Engine)
@pytest.mark.parametrize("name", ROWS)
def test_original(name: str, engine: Engine) -> None:
    source, word, wrong = ROWS[name]
    verdict = decide(name, "original", engine)
    assert verdict.word is word
    assert verdict.within == {}
    if wrong is not None:
        assert verdict.outcome is not None
        assert str(observed(source, verdict.outcome)) == wrong


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
    machine = machine_of(SCHEMES[scheme].compiled(ROWS["IRIW"][0]), settings)
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
    source = ROWS[name][0]
    below = judged(source, SCHEMES["original"], engine=Engine.UNROLL, steps=steps - 1)
    assert below.word in (Word.SOUND, Word.VACUOUS)
    assert below.within == {"steps": steps - 1}
    assert judged(source, SCHEMES["original"], engine=Engine.UNROLL, steps=steps).word is UNSOUND


def test_axioms_of_the_figures() -> None:
    """MP on a plain x breaks the axiom of plain reads, on an atomic one coherence (§5.5.1)."""
    assert decide("MP", "original", Engine.UNROLL).axioms == ("Narf",)
    assert decide("Ex. 4", "original", Engine.UNROLL).axioms == ("Rmw",)
    reader = f"int r0 = {load('y', DV)}; if (r0 == 1) {{ int r1 = *x; }}"
    atomic = program(TWO, f"*x = 42; {store('y', 1, DV)}", reader, plain="")
    assert judged(atomic, SCHEMES["original"]).axioms == ("Coh",)


def test_no_candidate_at_all() -> None:
    """Without row 5's FLU_L1 a final x=1 that no candidate has (docs/semantics.md, Soundness)."""
    broken = scheme_named("tests/scheme/broken/proposed-no-release-flush.yaml")
    source = program(
        TWO, f"*x = 1; {store('y', 1, DV)}", f"if ({load('y', DV)} == 1) {{ *x = 2; }}"
    )
    verdict = judged(source, broken)
    assert verdict.word is UNSOUND
    assert verdict.axioms == ()
    assert verdict.reason.endswith("no candidate execution has these values")
