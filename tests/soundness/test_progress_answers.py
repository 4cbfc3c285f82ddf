"""Progress of compiled programs: of Tab. 3's schemes, of their broken siblings, and its limits."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from caching import ran
from checks import ROOT, litmus
from oracle import machine as oracle
from oracle_adapter import plain_assembly

from rspverify.answers import Result
from rspverify.corpus.expected import read_expected
from rspverify.litmus.reader import read_program_file
from rspverify.machine import state_graph
from rspverify.machine.lock_order import LockOrder
from rspverify.scheme.reader import read_scheme_file
from rspverify.soundness.case import machine_of
from rspverify.soundness.progress import progress
from rspverify.soundness.settings import L2, Engine, Settings
from rspverify.verdict import Progress, ProgressWord, Word

SCHEMES = {
    path.stem: read_scheme_file(path)
    for path in (*(ROOT / "schemes").glob("*.yaml"), *(ROOT / "tests/scheme/broken").glob("*.yaml"))
}
EXPECTED = read_expected(str(ROOT / "litmus/rsp/expected.yaml"))
SETTINGS = Settings()


def decide(test: str, scheme: str, settings: Settings) -> Result:
    (result,) = ran([scheme], [test], settings, cached=False).results
    return result


def of(test: str, scheme: str, settings: Settings = SETTINGS) -> Progress:
    return progress(litmus(f"rsp/{test}"), SCHEMES[scheme], settings)


@pytest.mark.parametrize(
    "test, scheme, steps",
    [
        ("coherence/CoRR+st.WG+ld.DV.R-ld.DV.R", "original", 3),  # row 3
        ("RMW/RMW+inc.WG+inc.DV.R", "original", 5),  # row 9
        ("2+2W/2+2W+inc.WG-st.DV.R+inc.WG-st.DV.R", "original", 8),  # row 6, twice
        ("paper/Fig4", "original", None),
        ("paper/Ex4", "original", None),
        ("paper/Ex4", "proposed", None),
        ("RMW/RMW+inc.DV.R+st.DV.R", "proposed", None),
        ("RMW/RMW+inc.DV.R+st.DV.R", "proposed-no-lock-order", 2),
        ("RMW/RMW+inc.DV.R+inc.DV.R", "proposed-no-lock-order", 8),
        ("RMW/RMW+inc.WG+st.DV.R@01", "proposed-no-rmw-unlock", 10),
    ],
)
def test_known_answers(test: str, scheme: str, steps: int | None) -> None:
    """The length of the shortest execution that gets stuck."""
    found = of(test, scheme)
    if steps is None:
        assert (found.word, found.execution, found.blocked) == (ProgressWord.LIVE, None, ())
        return
    assert found.word is ProgressWord.STUCK
    assert found.execution is not None
    assert len(found.execution.steps) == steps
    assert found.blocked


@pytest.mark.parametrize("scheme", ["original", "proposed"])
@pytest.mark.parametrize(
    "test", ["coherence/CoRR+st.WG+ld.DV.R-ld.DV.R", "RMW/RMW+inc.WG+inc.DV.R", "paper/Ex4"]
)
def test_the_oracle_agrees_on_compiled_tests(test: str, scheme: str) -> None:
    program = litmus(f"rsp/{test}")
    plain = plain_assembly(SCHEMES[scheme].compiled(program))
    stuck = oracle.stuck(plain, l2_is_memory=True, limit=50_000)
    assert (of(test, scheme).word is ProgressWord.STUCK) == stuck


def test_proposed_takes_its_locks_in_an_order_in_every_test_of_the_corpus() -> None:
    """So do its siblings that keep their unlocks, whatever else they lack, and those of ours: each
    in every tenth test."""
    ordered = [
        name
        for name in SCHEMES
        if name not in ("original", "proposed-no-rmw-unlock", "proposed-no-lock-order")
    ]
    assert len(ordered) == 10
    for number, (name, row) in enumerate(EXPECTED.verdicts.items()):
        if row["proposed"] != "UNSUPPORTED":
            program = read_program_file(ROOT / "litmus/rsp" / name)
            for scheme in {"proposed", ordered[number % len(ordered)]}:
                machine = machine_of(SCHEMES[scheme].compiled(program), SETTINGS)
                assert LockOrder(machine).holds, (name, scheme)


def test_the_findings_are_those_of_the_expected_verdicts() -> None:
    """docs/findings.md counts them, and `make check` holds them."""
    stuck = [name for name, row in EXPECTED.progress.items() if row == {"original": "STUCK"}]
    assert len(stuck) == len(EXPECTED.progress)
    text = (ROOT / "docs/findings.md").read_text()
    asked = sum(row["original"] in ("SOUND", "UNSOUND") for row in EXPECTED.verdicts.values())
    assert f"{len(stuck)} of the {asked}" in text


def test_limits_are_unknown_never_live() -> None:
    test = "coherence/CoRR+st.WG+ld.DV.R-ld.DV.R"
    late = of(test, "original", Settings(seconds=1e-9))
    assert (late.word, late.reason) == (ProgressWord.UNKNOWN, "timeout of 1e-09 s")


def test_where_states_are_too_many_it_is_unknown() -> None:
    found = of("coherence/CoRR+st.WG+ld.DV.R-ld.DV.R", "original", Settings(states=3))
    assert (found.word, found.reason) == (ProgressWord.UNKNOWN, "more than 3 machine states")


def test_an_error_of_ours_is_unknown_and_leaves_a_report(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """The verdict stands."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(state_graph, "_deadlock", lambda *_: 1 / 0)
    test = str(ROOT / "litmus/rsp/coherence/CoRR+st.WG+ld.DV.R-ld.DV.R.litmus")
    found = decide(test, str(ROOT / "schemes/original.yaml"), Settings(progress=True))
    assert found.verdict is Word.SOUND
    assert found.progress is not None
    assert found.progress is ProgressWord.UNKNOWN
    assert found.internal is not None
    assert found.progress_reason == str(found.internal)
    (report,) = tmp_path.iterdir()
    assert "--progress" in (report / "README.md").read_text()


def test_engines_and_real_l2s_change_nothing_but_steps() -> None:
    test = "RMW/RMW+inc.WG+inc.DV.R"
    assert of(test, "original") == of(test, "original", Settings(engine=Engine.EXPLICIT))
    real = of(test, "original", Settings(l2=L2.REAL))
    assert real.word is ProgressWord.STUCK


def test_live_says_by_what() -> None:
    """In the second, x is in memory by the time the remote load can lock it: only states tell."""
    ordered = of("paper/Ex4", "proposed")
    assert ordered.reason.endswith("(by the order of locks)")
    searched = of("WRC/WRC+st.WG+ld.WG-st.DV+ld.DV-ld.DV.R@01-2", "original")
    assert searched.word is ProgressWord.LIVE
    assert re.search(r"\([\d,]+ states searched\)$", searched.reason)


@pytest.mark.parametrize(
    "test, word",
    [
        ("paper/Ex3", None),
        ("multi-device/MD+inc.ALL+inc.ALL@0--1", None),
        ("paper/Ex4", ProgressWord.LIVE),
    ],
)
def test_only_where_it_has_a_meaning(test: str, word: ProgressWord | None) -> None:
    """None for RACY and UNSUPPORTED programs, and where it was not asked for."""
    files = str(ROOT / f"litmus/rsp/{test}.litmus"), str(ROOT / "schemes/original.yaml")
    assert decide(*files, Settings(progress=True)).progress == word
    assert decide(*files, SETTINGS).progress is None
