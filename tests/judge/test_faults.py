"""Rows at fault: asked after the verdicts, kept by what they depend on, never in their way."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from rspverify.answers import Result, RowsAtFault
from rspverify.drawing.details import faults, of_results
from rspverify.judge.faults import of_one_run
from rspverify.judge.judge import Judge, cache_folder
from rspverify.judge.run import read_inputs
from rspverify.records import replace
from rspverify.soundness import blame as blame_module
from rspverify.soundness.settings import Engine, Settings
from rspverify.verdict import Word

ROOT = Path(__file__).resolve().parents[2]
ORIGINAL = (ROOT / "schemes/original.yaml").read_text()
USUAL = Settings()
FIG4 = str(ROOT / "litmus/rsp/paper/Fig4.litmus")


@pytest.fixture
def scheme(tmp_path: Path) -> Path:
    place = tmp_path / "original.yaml"
    place.write_text(ORIGINAL)
    return place


def judge(*, workers: int = 1, kept: bool = True) -> Judge:
    return Judge(cache_folder(kept, lambda _: None), workers=workers)


def unsound(scheme: Path, *tests: str, settings: Settings = USUAL) -> list[Result]:
    run = read_inputs([str(scheme)], settings, judge())
    found = list(run.results(tests or [FIG4]))
    assert {each.verdict for each in found} == {Word.UNSOUND}
    return found


def asked(results: list[Result], settings: Settings = USUAL, **how: Any) -> list[RowsAtFault]:
    return list(faults(*of_results(results, settings, judge(**how), {})))


def test_the_row_and_its_place_in_the_file(scheme: Path) -> None:
    (found,) = asked(unsound(scheme))
    (row,) = found.rows
    assert (row.number, row.operations, row.code) == (2, "load DV,N", ("INV_L1 WG", "LD r x"))
    line = ORIGINAL.splitlines()[row.line - 1]
    assert row.line == row.end_line
    assert line[row.column - 1 : row.end_column - 1] == (
        "{op: load,  scope: dv, remote: false,  code: [INV_L1 WG, LD r x]}"
    )


def test_of_rows_that_mend_a_test_those_count_that_mend_the_most() -> None:
    """One mistake, in row 2: of a test that row 7 would mend as well, it is not row 7."""
    from rspverify.answers import RowAtFault

    one, two, seven = ((RowAtFault(n, "", (), n, 1, n, 2),) for n in (1, 2, 7))
    known = {
        "a": RowsAtFault(two, others=(one,)),
        "b": RowsAtFault(two),
        "c": RowsAtFault(seven, others=(two,)),
        "d": RowsAtFault((), "too long"),
    }
    assert of_one_run(known) == known | {"c": RowsAtFault(two, others=(seven,))}
    assert of_one_run({"c": known["c"]}) == {"c": known["c"]}  # alone, the widest


def test_a_test_that_several_rows_mend_names_them(tmp_path: Path) -> None:
    place = tmp_path / "s.yaml"
    proposed = (ROOT / "schemes/proposed.yaml").read_text()
    place.write_text(proposed.replace("[LD r x, INV_L1 WG]", "[LD r x]", 1))
    name = "litmus/rsp/ISA2/ISA2+st.na-st.DV+ld.DV-inc.DV+ld.WG-ld.na@0-12.litmus"
    (found,) = asked(unsound(place, str(ROOT / name)))
    sets = {tuple(row.number for row in each) for each in (found.rows, *found.others)}
    assert sets == {(1,), (2,), (8,)}


def test_it_is_known_the_next_time(scheme: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    results = unsound(scheme)
    found = asked(results)
    monkeypatch.setattr(blame_module, "blame", lambda *_, **__: 1 / 0)
    assert asked(results) == found
    assert asked(results, Settings(seconds=100)) == found  # a time limit changes no answer


def test_a_row_that_has_moved_is_where_it_is_now(scheme: Path) -> None:
    """The verdict is known, as no code has changed; the place is another."""
    (before,) = asked(unsound(scheme))
    scheme.write_text(f"# a line more\n{ORIGINAL}")
    (result,) = unsound(scheme)
    assert result.cached
    (after,) = asked([result])
    assert after.rows[0].line == before.rows[0].line + 1


def test_whichever_engine_gave_the_verdict(scheme: Path) -> None:
    """A stronger row takes more steps than the bound allows, which must not look like a mend."""
    expected = asked(unsound(scheme))
    for settings in (
        Settings(engine=Engine.UNROLL, steps=12),
        Settings(engine=Engine.EXPLICIT),
        Settings(confirm="cvc5"),
    ):
        assert asked(unsound(scheme, settings=settings), settings, kept=False) == expected


def test_by_workers_in_their_order(scheme: Path) -> None:
    tests = [str(ROOT / "litmus/rsp/paper" / f"{name}.litmus") for name in ("Fig4", "Ex4")]
    results = unsound(scheme, *tests)
    found = asked(results, workers=2, kept=False)
    assert [[row.number for row in each.rows] for each in found] == [[2], [6]]
    assert asked(results[::-1]) == found[::-1]


def test_a_limit_is_why_no_row_is_told_and_is_not_kept(scheme: Path) -> None:
    results = unsound(scheme)
    (found,) = asked(results, Settings(seconds=0.000001))
    assert found.rows == () and "timeout" in found.reason
    assert asked(results)[0].rows


def test_a_test_that_is_gone_meanwhile(scheme: Path, tmp_path: Path) -> None:
    test = tmp_path / "t.litmus"
    test.write_text(Path(FIG4).read_text())
    (result,) = unsound(scheme, str(test))
    test.unlink()
    (found,) = asked([result])
    assert found == RowsAtFault((), f"{test}: no such file\n  hint: check the path")


def test_a_mistake_of_ours_is_why_no_row_is_told(
    scheme: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.chdir(tmp_path)
    results = unsound(scheme)
    monkeypatch.setattr(blame_module, "blame", lambda *_, **__: 1 / 0)
    (found,) = asked([replace(each, cached=False) for each in results])
    assert found.rows == () and found.reason.startswith("internal error: ZeroDivisionError")
