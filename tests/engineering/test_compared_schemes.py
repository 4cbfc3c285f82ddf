"""What an edit of a scheme touches, and what is said of it."""

from __future__ import annotations

from pathlib import Path

import pytest
from results import result

import rspverify
from rspverify.engineering.compare.comparer import CompareQuestion, compared
from rspverify.engineering.comparison import (
    Change,
    Compared,
    LeftOut,
    TouchedTest,
    Untouched,
    change_of,
    changed_rows,
)
from rspverify.judge.judge import Judge, cache_folder
from rspverify.judge.run import CheckQuestion, Run, read_inputs
from rspverify.litmus.program import Program
from rspverify.litmus.reader import read_program_file
from rspverify.records import replace
from rspverify.scheme.cost import default_costs
from rspverify.scheme.reader import read_scheme, read_scheme_file
from rspverify.scheme.scheme import Scheme
from rspverify.soundness.settings import Engine, Settings
from rspverify.source import InputError, Source
from rspverify.verdict import ProgressWord, Word

ROOT = Path(__file__).resolve().parents[2]
PROPOSED = ROOT / "schemes/proposed.yaml"
LITMUS = sorted(str(each) for each in (ROOT / "litmus/rsp").rglob("*.litmus"))
QUICK = [each for each in LITMUS if "/MP/" in each or "/paper/" in each]


def edited(folder: Path, old: str, new: str, name: str = "edited.yaml") -> Path:
    text = PROPOSED.read_text()
    assert text.count(old) == 1
    place = folder / name
    place.write_text(text.replace(old, new))
    return place


def weakened(folder: Path) -> Path:
    """Proposed without the flush of row 3."""
    return edited(folder, "LD r x, FLU_L1 DV, INV_L1 WG", "LD r x, INV_L1 WG")


def both(old: Path, new: Path, settings: Settings, workers: int = 1) -> Run:
    judge = Judge(cache_folder(True, pytest.fail), pytest.fail, workers)
    return read_inputs((str(old), str(new)), settings, judge, unique=False)


def run(
    old: Path,
    new: Path,
    tests: list[str],
    settings: Settings | None = None,
    limit: int = 1000,
    workers: int = 1,
) -> list[Compared]:
    given = both(old, new, settings or Settings(), workers)
    return list(compared(given, limit, tests))


def touched(found: list[Compared]) -> dict[str, TouchedTest]:
    return {each.new.test: each for each in found if isinstance(each, TouchedTest)}


def code_of(path: Path, program: Program) -> object:
    try:
        whole = read_scheme_file(str(path)).compiled(program)
    except InputError:
        return None
    return [(str(each.mnemonic), each.reach, each.operation) for each in whole.instructions]


def test_touched_tests_are_those_that_compile_to_other_code(tmp_path: Path) -> None:
    new = weakened(tmp_path)
    found = {}
    for each in run(PROPOSED, new, QUICK):
        file = each.new.file if isinstance(each, TouchedTest) else each.file
        found[file] = isinstance(each, TouchedTest)
    for file in QUICK:
        program = read_program_file(file)
        assert found[file] == (code_of(PROPOSED, program) != code_of(new, program)), file
    assert set(found.values()) == {True, False}


def test_a_comment_touches_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(CheckQuestion, "decide", pytest.fail)
    new = edited(tmp_path, "# 1. A work-group shares", "# 1. Whoever shares")
    found = run(PROPOSED, new, LITMUS)
    assert all(isinstance(each, Untouched) for each in found)
    refused = [each for each in found if isinstance(each, Untouched) and not each.compiled]
    assert 0 < len(refused) < 10


def test_a_new_name_touches_nothing(tmp_path: Path) -> None:
    new = edited(tmp_path, "name: proposed", "name: mine")
    assert not touched(run(PROPOSED, new, LITMUS))


def test_another_machine_touches_all_that_compiles(tmp_path: Path) -> None:
    new = edited(tmp_path, "machine: rsp", "machine: rsp-st-waits")
    found = run(PROPOSED, new, QUICK)
    assert len(touched(found)) == len(QUICK)
    same = run(PROPOSED, new, QUICK, Settings(machine="rsp"))
    assert not touched(same)


def test_verdicts_and_outcomes_of_a_weaker_scheme(tmp_path: Path) -> None:
    (change,) = touched(
        run(
            PROPOSED,
            weakened(tmp_path),
            [f"{ROOT}/litmus/rsp/MP/MP+st.na-st.WG+ld.DV.R-ld.na.litmus"],
        )
    ).values()
    assert (change.old.words, change.new.words) == ("SOUND", "UNSOUND")
    assert change.change is Change.WORSE
    assert change.outcomes is not None
    assert change.outcomes.gained is not None
    (gained,) = change.outcomes.gained
    assert dict(gained.outcome.registers) == {"1:r0": 1, "1:r1": 0}
    assert gained.allowed is False
    assert not change.outcomes.lost


@pytest.mark.parametrize("engine", [Engine.EXPLICIT, Engine.EVENTS])
def test_outcomes_are_those_of_the_exhaustive_search(tmp_path: Path, engine: Engine) -> None:
    """Whichever engine lists them, and whichever scheme is called the old one."""
    from rspverify.axiomatic.cat import load_model
    from rspverify.soundness.outcomes import outcomes

    file = f"{ROOT}/litmus/rsp/paper/Fig4.litmus"
    original = ROOT / "schemes/original.yaml"
    (change,) = touched(run(original, PROPOSED, [file], Settings(engine=engine))).values()
    (back,) = touched(run(PROPOSED, original, [file], Settings(engine=engine))).values()
    schemes = [read_scheme_file(str(each)) for each in (original, PROPOSED)]
    settings = Settings(engine=Engine.EXPLICIT)
    model = load_model(settings.model)
    table = outcomes(read_program_file(file), model, schemes, file, settings)
    assert table.outcomes is not None
    rows = [(str(it.outcome), it.allowed, tuple(it.reached.values())) for it in table.outcomes]
    lost = {(words, allowed) for words, allowed, reached in rows if reached == (True, False)}
    gained = {(words, allowed) for words, allowed, reached in rows if reached == (False, True)}
    assert lost and change.outcomes is not None and back.outcomes is not None
    for it, expected in ((change.outcomes, (gained, lost)), (back.outcomes, (lost, gained))):
        shown = [
            {(str(each.outcome), each.allowed) for each in some or ()}
            for some in (it.gained, it.lost)
        ]
        assert tuple(shown) == expected
    assert (change.outcomes.reached_old, change.outcomes.reached_new) == tuple(
        sum(bool(reached[side]) for *_, reached in rows) for side in (0, 1)
    )


def test_beyond_the_limit_outcomes_are_not_listed(tmp_path: Path) -> None:
    file = f"{ROOT}/litmus/rsp/paper/Fig4.litmus"
    for limit, known in ((1, False), (1000, True)):
        (change,) = touched(
            run(ROOT / "schemes/original.yaml", PROPOSED, [file], limit=limit)
        ).values()
        assert change.outcomes is not None
        assert (change.outcomes.unknown is None) is known
        assert change.change is Change.BETTER
    assert change.outcomes.reached_old is not None and change.outcomes.reached_old > 1


def test_what_is_known_is_not_decided_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    new = weakened(tmp_path)
    first = run(PROPOSED, new, QUICK)
    monkeypatch.setattr(CompareQuestion, "decide", pytest.fail)
    monkeypatch.setattr(Settings, "read", pytest.fail)
    again = run(PROPOSED, new, QUICK)
    assert all(it.old.cached and it.new.cached for it in touched(again).values())
    seen = [(it.change, it.outcomes) for it in touched(first).values()]
    assert [(it.change, it.outcomes) for it in touched(again).values()] == seen


def test_a_lost_row_is_worse_and_has_no_outcomes(tmp_path: Path) -> None:
    row = "  - {op: load,  scope: dv, remote: true,   code: [LD r x, FLU_L1 DV, INV_L1 WG]}\n"
    new = edited(tmp_path, row, "")
    (change,) = touched(
        run(PROPOSED, new, [f"{ROOT}/litmus/rsp/MP/MP+st.na-st.WG+ld.DV.R-ld.na.litmus"])
    ).values()
    assert (change.old.words, change.new.words) == ("SOUND", "UNSUPPORTED")
    assert change.change is Change.WORSE
    assert change.outcomes is None


def test_a_test_that_cannot_be_read_is_left_out(tmp_path: Path) -> None:
    wrong = tmp_path / "wrong.litmus"
    wrong.write_text("OpenCL wrong\n{ }\nP0 (global int* x) { *x = ; }\n")
    (left,) = run(PROPOSED, weakened(tmp_path), [str(wrong)])
    assert isinstance(left, LeftOut)
    assert left.verdict is Word.ERROR
    assert "wrong.litmus:3:" in left.reason


def test_both_schemes_are_read_before_anything_is_said(tmp_path: Path) -> None:
    one, two = tmp_path / "one.yaml", tmp_path / "two.yaml"
    one.write_text("name: a\nrows:\n  - {op: load, scope: na, code: [LOAD r x]}\n")
    two.write_text("name: a\nrows:\n  - {op: load, scope: cta, code: [LD r x]}\n")
    with pytest.raises(InputError) as caught:
        both(one, two, Settings(model="nonsense"))
    said = [str(problem) for problem in caught.value.problems]
    assert sum("one.yaml:3:" in each for each in said) == 1
    assert sum("two.yaml:3:" in each for each in said) == 1
    assert sum("nonsense" in each for each in said) == 1


LIVE, STUCK, OPEN = ProgressWord.LIVE, ProgressWord.STUCK, ProgressWord.UNKNOWN


@pytest.mark.parametrize(
    ("old", "new", "change"),
    [
        ((Word.SOUND,), (Word.UNSOUND,), Change.WORSE),
        ((Word.SOUND,), (Word.VACUOUS,), Change.WORSE),
        ((Word.SOUND,), (Word.UNSUPPORTED,), Change.WORSE),
        ((Word.RACY,), (Word.UNSUPPORTED,), Change.WORSE),
        ((Word.UNSUPPORTED,), (Word.RACY,), Change.BETTER),
        ((Word.UNSUPPORTED,), (Word.UNSOUND,), Change.WORSE),
        ((Word.UNSUPPORTED,), (Word.VACUOUS,), Change.WORSE),
        ((Word.VACUOUS,), (Word.UNSOUND,), Change.WORSE),
        ((Word.UNSOUND,), (Word.SOUND,), Change.BETTER),
        ((Word.RACY,), (Word.RACY,), Change.SAME),
        ((Word.UNSOUND,), (Word.UNSOUND,), Change.SAME),
        ((Word.UNKNOWN,), (Word.UNSOUND,), Change.UNKNOWN),
        ((Word.SOUND,), (Word.UNKNOWN,), Change.UNKNOWN),
        ((Word.SOUND, LIVE), (Word.SOUND, STUCK), Change.WORSE),
        ((Word.UNSOUND, LIVE), (Word.SOUND, STUCK), Change.WORSE),
        ((Word.SOUND, STUCK), (Word.SOUND, LIVE), Change.BETTER),
        ((Word.UNSOUND, STUCK), (Word.SOUND, STUCK), Change.BETTER),
        ((Word.SOUND, LIVE), (Word.SOUND, OPEN), Change.UNKNOWN),
        ((Word.SOUND, OPEN), (Word.UNSOUND, LIVE), Change.WORSE),
        ((Word.UNSUPPORTED, None), (Word.SOUND, STUCK), Change.BETTER),
        ((Word.SOUND, STUCK), (Word.UNSUPPORTED, None), Change.WORSE),
    ],
)
def test_which_of_two_results_is_worse(
    old: tuple[Word, ProgressWord], new: tuple[Word, ProgressWord], change: Change
) -> None:
    """By the verdict and by progress."""
    assert change_of(result(*old), result(*new)) is change


@pytest.mark.parametrize(
    ("old", "new", "change"),
    [
        (("A",), ("A",), Change.SAME),
        (("A", "B"), ("A",), Change.WORSE),
        (("A",), ("A", "B"), Change.BETTER),
        (("A",), ("A+B",), Change.WORSE),
        (("A+B",), ("B",), Change.BETTER),
        (("A",), ("B",), Change.WORSE),
    ],
)
def test_which_of_two_open_results_is_worse(
    old: tuple[str, ...], new: tuple[str, ...], change: Change
) -> None:
    """By the choices of switches that make it SOUND."""
    before, after = (replace(result(Word.OPEN), sound_if=it) for it in (old, new))
    assert change_of(before, after) is change


def scheme(*rows: str) -> Scheme:
    text = "name: s\nrows:\n" + "".join(f"  - {{{row}}}\n" for row in rows)
    return read_scheme(Source("s.yaml", text))


STORE = "op: store, scope: [na, wg, dv], code: [ST r x]"
LOAD = "op: load, scope: dv, code: [LD r x, INV_L1 WG]"
PLAIN = "op: load, scope: [na, wg], code: [LD r x]"


def rows_of(old: Scheme, new: Scheme) -> list[tuple[str, tuple[int | None, int | None], bool]]:
    return [
        (it.operations, (it.old.row if it.old else None, it.new.row if it.new else None), it.same)
        for it in changed_rows(old, new, default_costs())
    ]


NEAR = "op: load, scope: dv, remote: false, code: [LD r x, INV_L1 WG]"
FAR = "op: load, scope: dv, remote: true, code: [LD r x, INV_L1 DV]"
ACQUIRE = "op: load, scope: dv, order: acquire, code: [LD r x, INV_L1 WG]"
RELAXED = "op: load, scope: dv, order: relaxed, code: [LD r x]"
RMW = "op: rmw, scope: dv, code: [RMW_L2 r x]"
CAS = "op: cas, scope: dv, code: [RMW_L2 r x, INV_L1 WG]"
NAMES = "load na, load WG,_"


@pytest.mark.parametrize(
    ("old", "new", "found"),
    [
        ((PLAIN, LOAD, STORE), (STORE, LOAD, PLAIN), [
            (NAMES, (1, 3), True), ("load DV,_", (2, 2), True),
            ("store na, store WG,_, store DV,_", (3, 1), True),
        ]),
        ((LOAD,), (FAR, NEAR), [("load DV,R", (1, 1), False), ("load DV,N", (1, 2), True)]),
        ((FAR, NEAR), (LOAD,), [("load DV,R", (1, 1), False), ("load DV,N", (2, 1), True)]),
        ((ACQUIRE,), (ACQUIRE, RELAXED), [
            ("load DV,_", (1, 1), True), ("load DV,_ (relaxed)", (1, 2), False),
        ]),
        ((PLAIN,), (PLAIN, LOAD), [(NAMES, (1, 1), True), ("load DV,_", (None, 2), False)]),
        ((PLAIN, LOAD), (PLAIN,), [(NAMES, (1, 1), True), ("load DV,_", (2, None), False)]),
        ((RMW,), (RMW,), [("rmw DV,_", (1, 1), True)]),
        ((RMW,), (RMW, CAS), [("rmw DV,_", (1, 1), True), ("cas DV,_", (1, 2), False)]),
    ],
)  # fmt: skip
def test_rows_are_matched_by_their_operations(
    old: tuple[str, ...], new: tuple[str, ...], found: list[object]
) -> None:
    """In another order; split, or for a weaker order, once for each part; that one scheme has alone;
    and a compare-exchange without a row goes with its rmw."""
    assert rows_of(scheme(*old), scheme(*new)) == found


def test_bills() -> None:
    """Row 9 of both columns of Tab. 3, counted by hand."""
    old = read_scheme_file(str(ROOT / "schemes/original.yaml"))
    new = read_scheme_file(str(PROPOSED))
    row = changed_rows(old, new, default_costs())[-1]
    assert row.old is not None and row.new is not None
    assert (row.old.row, row.new.row) == (9, 9)
    first, second = row.old.bill, row.new.bill
    assert (first.instructions, first.l1_flushes, first.l1_invalidations, first.locks) == (
        8,
        1,
        2,
        2,
    )
    assert (second.instructions, second.l1_flushes, second.locks) == (7, 2, 1)
    assert first.cost == 40 + 10 + 40 + 10 + 10 + 40 + 10 + 40
    assert (first.l2_flushes, first.l2_invalidations) == (0, 0)


def test_operations_are_named_without_those_that_another_row_compiles() -> None:
    """Each kind of operation of a table is named once, though rows cover weaker orders too."""
    full = read_scheme_file(str(ROOT / "schemes/proposed-full.yaml"))
    mine = read_scheme_file(str(PROPOSED))
    names = [name for name, *_ in rows_of(full, full)]
    assert "load WI,_, load WG,_ (seq_cst)" in names
    assert "load WI,_, load WG,_ (relaxed, acquire, seq_cst)" not in names
    both_ways = rows_of(mine, full)
    assert ("rmw DV,N (relaxed, acquire)", (8, 18), False) not in both_ways
    assert ("rmw DV,N (acquire)", (8, 18), False) in both_ways


def test_the_obligations_that_an_edit_breaks(tmp_path: Path) -> None:
    """An acquire that invalidates too early; of a machine without a proof nothing is said."""
    place = edited(tmp_path, "code: [LD r x, INV_L1 WG]", "code: [INV_L1 WG, LD r x]")
    report = rspverify.compare(str(PROPOSED), str(place), "Fig4").report()
    assert report.old.proof is not None and report.new.proof is not None
    assert not report.old.proof.broken
    broken = {(it.kind, it.first, it.second) for it in report.new.proof.broken}
    assert broken == {("SYNC", f"{first} DV,N", "load DV,N") for first in ("store", "rmw")}
    shown = str(rspverify.compare(str(PROPOSED), str(place), "Fig4"))
    assert "new breaks: SYNC store DV,N, rmw DV,N → load DV,N" in shown
    other = Settings(machine="rsp-coherent-l2")
    known = rspverify.compare(str(PROPOSED), str(place), "Fig4", settings=other).report()
    assert known.old.proof is None and known.new.proof is None
