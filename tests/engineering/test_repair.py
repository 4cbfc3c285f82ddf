"""The cheapest schemes that pass every test, held to brute force over all candidates."""

from __future__ import annotations

from pathlib import Path

import pytest
from engineering.repairing import prepared, require_as_brute_force

import rspverify
from rspverify.engineering.repair.constraints import Constraints, space_of
from rspverify.render.forms import write
from rspverify.render.repair import document
from rspverify.scheme.cost import default_costs
from rspverify.scheme.reader import read_scheme
from rspverify.scheme.scheme import Scheme
from rspverify.source import InputError, Source
from rspverify.verdict import ProgressWord, Word

ROOT = Path(__file__).resolve().parents[2]

ORIGINAL = "schemes/original.yaml"
MP = "MP/MP+st.na-st.DV+ld.DV-ld.na.litmus"
MP_INC = "MP/MP+st.na-inc.DV+inc.DV-ld.na.litmus"
LOCKED = "RMW/RMW+inc.WG+inc.DV.R.litmus"
REMOTE = "coherence/CoRR+st.WG+ld.DV.R-ld.DV.R.litmus"
TOLD = "MP/MP+st.na-st.WG+ld.DV.R-ld.na.litmus"

SPACES = {
    "an acquire and a release": (
        [MP, "coherence/CoRR+st.DV+ld.DV-ld.DV.litmus"],
        Constraints((2, 5), ("FLU_L1 WG", "INV_L1 WG"), (), 3),
    ),
    "no flush": ([MP], Constraints((2, 5), ("INV_L1 WG", "INV_L1 DV"), (), 3)),
    "levels of an increment": (
        [MP_INC, "RMW/RMW+inc.DV+inc.DV.litmus"],
        Constraints((8,), ("FLU_L1 WG", "INV_L1 WG"), (), 4),
    ),
    "increments and their lock": (
        [LOCKED],
        Constraints((9,), ("FLU_L1 DV", "INV_L1 DV", "LK_rmw", "UL_rmw"), (), 4),
    ),
    "the lock of a location": (
        [REMOTE, TOLD],
        Constraints((3,), ("FLU_L1 DV", "INV_L1 WG", "LK_L2", "UL_L2"), (), 4),
    ),
}


@pytest.mark.parametrize("name", SPACES)
def test_as_brute_force(name: str) -> None:
    require_as_brute_force(prepared(ORIGINAL, *SPACES[name]))


def test_what_brute_force_was_held_to() -> None:
    """Of these spaces one has a solution, the paper's, and one has none."""
    repair = prepared(ORIGINAL, *SPACES["no flush"])
    repair.run()
    report = repair.report()
    assert report.claim.finished and report.claim.exact and not report.found
    repair = prepared(ORIGINAL, *SPACES["an acquire and a release"])
    repair.run()
    codes = {row.row: row.code for row in repair.report().found[0].rows}
    assert codes[2] == ("LD r x", "INV_L1 WG")
    assert codes[5] == ("FLU_L1 WG", "ST r x")


def test_what_begins_alike_stops_alike() -> None:
    """Row 3 of Original gets stuck at its flush under a lock, whatever would come after that."""
    repair = prepared(ORIGINAL, [REMOTE], Constraints((3,)))
    trials, space = repair.search.trials, repair.space.rows[3]
    (trial,) = trials.trials
    given = {row: each.given for row, each in repair.space.rows.items()}
    assert trials.progress(trial, given) is ProgressWord.STUCK
    assert trials.beginnings(trial, given) == {3: 2, 4: None}
    number = repair.space.pool.number
    flush, invalidate, free = (number[each] for each in ("FLU_L1 WG", "INV_L1 DV", "UL_L2"))
    (access,) = space.kinds.accesses
    for rest in ((access, free), (flush, access, free, invalidate), (access, invalidate, free)):
        chosen = {**given, 3: (*space.given[:2], *rest)}
        assert trials.word(trial, chosen) is Word.SOUND
        assert trials.progress(trial, chosen) is ProgressWord.STUCK
    live = {**given, 3: (number["LK_L2"], access, free)}
    assert trials.progress(trial, live) is ProgressWord.LIVE


def test_rows_that_no_test_uses_stay() -> None:
    repair = prepared(ORIGINAL, [MP], Constraints((2, 9), (), (), 3))
    rows = {row.row: row for row in repair.report().space.rows}
    assert rows[2].stays is None
    assert rows[9].stays == "no test uses it"
    assert rows[5].stays == "not among --rows"
    first = prepared(ORIGINAL, [MP], Constraints()).report()
    usual = {row.row: row.stays for row in first.space.rows}
    assert usual[1] == "nothing but its access" and usual[5] is None
    second = prepared(ORIGINAL, [MP], Constraints(every=True)).report()
    every = {row.row: row.stays for row in second.space.rows}
    assert every[1] is every[5] is None


def test_what_is_known_when_it_is_interrupted(monkeypatch: pytest.MonkeyPatch) -> None:
    """Part of an answer says that it is one, and claims nothing of the last candidate."""
    tests, constraints = SPACES["an acquire and a release"]
    repair = prepared(ORIGINAL, tests, constraints)
    steps: list[int] = []

    def interrupt(candidates: int, least: int) -> None:
        steps.append(candidates)
        if candidates == 2:
            raise KeyboardInterrupt

    monkeypatch.setattr(repair.search, "_on_step", interrupt)
    with pytest.raises(KeyboardInterrupt):
        repair.run()
    report = repair.report()
    assert steps == [1, 2]
    assert not report.claim.finished and not report.claim.complete and not report.found
    assert report.effort.candidate and not report.effort.passes


def test_what_passes_every_test_is_told_though_the_hunt_is_interrupted(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    tests, constraints = SPACES["an acquire and a release"]
    repair = prepared(ORIGINAL, tests, constraints)

    def hunting(codes: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(repair.search, "_further", hunting)
    with pytest.raises(KeyboardInterrupt):
        repair.run()
    report = repair.report()
    assert report.effort.passes and not report.claim.finished and not report.found
    words = write("text", document(report))
    assert "of which it is known that it passes every test" in words


def test_a_row_that_is_nothing_but_its_access_may_change_if_it_is_at_fault() -> None:
    """Unless the rows are named; and what stays as given is part of what is claimed."""
    broken = "tests/scheme/broken/proposed-no-release-flush.yaml"
    tests = ["paper/Fig4.litmus", "MP/MP+st.na-st.DV+ld.DV-ld.na.litmus"]
    stays = prepared(broken, tests, Constraints()).space.stays
    assert 5 not in stays
    assert stays[4] == stays[1] == "nothing but its access"
    named = prepared(broken, tests, Constraints(rows=(2,))).space.stays
    assert named[5] == "not among --rows"
    sound = prepared("schemes/proposed.yaml", tests, Constraints()).space.stays
    assert sound[1] == sound[4] == "nothing but its access"


def on_scratchpad(*rows: str) -> Scheme:
    machine = ROOT / "tests/scheme/local/scratchpad.machine"
    lines = "".join(f"  - {{{row}}}\n" for row in rows)
    return read_scheme(Source("s.yaml", f"name: s\nmachine: {machine}\nrows:\n{lines}"))


def test_a_row_for_local_memory_keeps_to_instructions_for_it() -> None:
    """Those of global memory alone read and write in the same way."""
    load, store = "op: load, scope: wg, code: [LD r x]", "op: store, scope: wg, code: [ST r x]"
    local = "op: load, scope: wg, memory: local, code: [DS_LD r x]"
    scheme = on_scratchpad(load, local, store)
    space = space_of(scheme, Constraints((1, 2, 3)), default_costs(), (1, 2, 3), (), 1)
    accesses = {number: space.pool.text(it.kinds.accesses) for number, it in space.rows.items()}
    assert accesses == {1: ("LD r x",), 2: ("DS_LD r x",), 3: ("ST r x",)}


def test_what_the_search_knows_nothing_of_is_named() -> None:
    scheme = on_scratchpad("op: store, scope: wg, memory: local, code: [DS_WAIT, DS_ST r x]")
    with pytest.raises(InputError, match="repair must know what DS_WAIT does to caches, and does"):
        space_of(scheme, Constraints(), default_costs(), (1,), (), 1)


def test_candidates_are_held_to_obligations() -> None:
    """An acquire that does not invalidate: no given test notices it, obligations do.

    Each lesson is confirmed by the engine on the test that its obligation is.
    """
    constraints = Constraints(rows=(2,), length=3, allow=("INV_L1", "FLU_L1"))
    asked = rspverify.repair(
        str(ROOT / "tests/scheme/broken/proposed-no-acquire-invalidate.yaml"),
        str(ROOT / "litmus/rsp/coherence/CoRR+st.DV+ld.DV-ld.DV.litmus"),
        constraints=constraints,
        sample=0,
    )
    report = asked.report()
    assert report.tests.found == ("prove+st.na-st.DV+ld.DV-ld.na.litmus",)
    assert report.effort.killers and {it.file for it in report.effort.killers} <= {
        *report.tests.found
    }
    (found,) = report.found
    (row,) = (each for each in found.rows if each.changed)
    assert row.code == ("LD r x", "INV_L1 WG")
    assert found.proof is not None and found.proof.word == "PROVED"
