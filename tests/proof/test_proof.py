"""What a table alone says of all its programs: the answers that are known of Tab. 3."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest
from command_line import run

import rspverify
from rspverify.api.inputs import read_scheme
from rspverify.programs.notation import read_notation
from rspverify.proof import proof as proof_module
from rspverify.proof.obligations import Kind, obligations
from rspverify.proof.table import proof_table
from rspverify.scheme.mutants import mutants_of
from rspverify.scheme.scheme import Scheme
from rspverify.verdict import ProgressWord, Word


def broken(scheme: Scheme) -> list[str]:
    """The obligations that a scheme does not meet."""
    table = proof_table(scheme)
    return [str(it) for it in obligations(table) if it.failure(table) is not None]


def test_proposed_meets_its_48_obligations() -> None:
    """32 of SYNC and 16 of ATOM, and no program of its operations gets stuck."""
    (proof,) = rspverify.prove("proposed")
    assert (proof.word, proof.progress) == ("PROVED", ProgressWord.LIVE)
    assert proof.obligations == {"SYNC": 32, "ATOM": 16}
    assert not proof.broken and not proof.refused and not proof.missing


def test_original_breaks_six() -> None:
    """Those of §5.5.1 and §5.5.2, each an execution of at most 4 operations in 2 threads."""
    (proof,) = rspverify.prove("original")
    assert proof.word == "UNSOUND"
    assert Counter(it.kind for it in proof.broken) == {Kind.SYNC: 4, Kind.ATOM: 2}
    assert all(it.is_shown for it in proof.broken)
    assert {(it.first, it.second) for it in proof.broken} == {
        ("store DV,N", "load DV,N"),
        ("store DV,N", "rmw DV,N"),
        ("rmw DV,N", "load DV,N"),
        ("rmw DV,N", "rmw DV,N"),
        ("store DV,R", "rmw WG,N"),
        ("store DV,R", "rmw WG,R"),
    }


def test_mutants_of_proposed() -> None:
    """44 of the 46 break an obligation: the two others, which keep a lock, only ever get stuck."""
    scheme = read_scheme("proposed")
    mutants = [mutant for row in mutants_of(scheme) for mutant in row.mutants]
    sound = [it.step.instruction for it in mutants if not broken(it.of(scheme))]
    assert (len(mutants), sound) == (46, ["UL_rmw DV", "UL_rmw DV"])


@pytest.mark.parametrize("row", [6, 9])
def test_lock_of_the_l2_around_a_remote_access(row: int) -> None:
    """A lock more, as schemes for seq_cst have it, breaks nothing."""
    scheme = read_scheme("proposed")
    code = next(it.code for it in scheme.rows if it.number == row)
    locks = read_scheme("original").rows[5].code
    taken, freed = locks[0], locks[-1]
    place = next(place for place, it in enumerate(code) if it.accesses)
    held = (*code[:place], taken, code[place], freed, *code[place + 1 :])
    assert broken(scheme.with_code(row, held)) == []


AFRESH = """
name: looks-afresh
machine: rsp
rows:
  - {op: load,  scope: [na, wg, dv], remote: false, code: [INV_L1 WG, LD r x]}
  - {op: store, scope: [na, wg],                    code: [ST r x]}
  - {op: store, scope: dv, remote: false,           code: [FLU_L1 WG, ST r x]}
  - {op: rmw,   scope: wg,                          code: [INV_L1 WG, INC_L1 r x]}
  - {op: rmw,   scope: dv, remote: false,           code: [FLU_L1 WG, INC_L2 r x]}
"""


def test_table_that_looks_afresh() -> None:
    """Where every look in an L1 comes after an invalidation, acquires need none: such a table is
    proved in the second way, until a plain load looks without one or a release does not flush."""
    (proof,) = rspverify.prove(rspverify.Source("afresh.yaml", AFRESH))
    assert proof.word == "PROVED"
    for row, less in (
        (
            "scope: [na, wg, dv], remote: false",
            "scope: na, code: [LD r x]}\n  - {op: load, scope: [wg, dv], remote: false",
        ),
        ("[FLU_L1 WG, ST r x]", "[ST r x]"),
        ("[FLU_L1 WG, INC_L2 r x]", "[INC_L2 r x]"),
    ):
        text = AFRESH.replace(row, less, 1)
        assert text != AFRESH
        (proof,) = rspverify.prove(rspverify.Source("afresh.yaml", text))
        assert proof.word == "UNSOUND", less


INEXACT = """
name: stores-flush-afterwards
machine: rsp
rows:
  - {op: load,  scope: [na, wg],          code: [LD r x]}
  - {op: load,  scope: dv, remote: false, code: [LD r x, INV_L1 WG]}
  - {op: load,  scope: dv, remote: true,  code: [LD r x, INV_L1 WG]}
  - {op: store, scope: [na, wg],          code: [ST r x, FLU_L1 WG]}
  - {op: store, scope: dv, remote: false, code: [ST r x, FLU_L1 WG]}
"""


def test_what_is_written_by_another_thread() -> None:
    """A table whose stores flush afterwards passes all tests of two threads and four operations;
    one of three threads and five, in which the data come from a mate, refutes it."""
    (proof,) = rspverify.prove(rspverify.Source("afterwards.yaml", INEXACT))
    shown = [it.test for it in proof.broken if it.is_shown]
    assert proof.word == "UNSOUND" and shown[0] is not None
    assert shown[0].program.endswith("@01-2 (atomic x)")


CROSSED = """
name: locks-that-cross
machine: rsp
rows:
  - {op: load,  scope: na, code: [LD r x]}
  - {op: store, scope: na, code: [ST r x]}
  - {op: load,  scope: dv, code: [LK_rmw DV, INV_L1 WG, LD r x, INV_L1 WG, UL_rmw DV]}
  - {op: store, scope: dv, code: [LK_rmw DV, ST r x, LK_L2 x, UL_rmw DV, FLU_L1 WG, UL_L2 x]}
"""


def test_locks_that_cross() -> None:
    """A row that frees an rmw lock while it has that of the L2 may break an obligation, and nothing
    else: the load after UL_rmw fetches after UL_L2, when all has arrived. That is no error."""
    (proof,) = rspverify.prove(rspverify.Source("crossed.yaml", CROSSED))
    assert (proof.word, proof.internal) == ("NO PROOF", ())
    assert {it.test.verdict for it in proof.broken if it.test} == {Word.SOUND}
    apart = CROSSED.replace("LK_L2 x, UL_rmw DV,", "UL_rmw DV, LK_L2 x,")
    (proof,) = rspverify.prove(rspverify.Source("apart.yaml", apart))
    assert proof.word == "UNSOUND" and all(it.is_shown for it in proof.broken)


@pytest.mark.parametrize("row", [6, 9])
def test_lock_that_is_kept_is_stuck(row: int) -> None:
    """Proved is not live: a program of two operations that waits for ever stands beside it; whatever
    other rows free, of which one may come last."""
    scheme = read_scheme("proposed")
    code = next(it.code for it in scheme.rows if it.number == row)
    (proof,) = rspverify.prove(scheme.with_code(row, code[:-1]))
    assert (proof.word, proof.progress) == ("PROVED", ProgressWord.STUCK)


UNUSED = """
name: unused
machine: rsp
rows:
  - {{op: load,  scope: na,                             code: [LD r x]}}
  - {{op: load,  scope: dv, remote: false,              code: [LD r x, INV_L1 WG]}}
  - {{op: store, scope: na,                             code: [ST r x]}}
  - {{op: store, scope: dv, remote: false,              code: [FLU_L1 WG, ST r x]}}
  - {{op: rmw, scope: dv, remote: false, result: used,   code: [FLU_L1 WG, INC_L2 r x, INV_L1 WG]}}
  - {{op: rmw, scope: dv, remote: false, result: unused, code: [{}]}}
"""


@pytest.mark.parametrize(
    ("code", "word"),
    [
        ("FLU_L1 WG, INC_L2 r x, INV_L1 WG", "PROVED"),
        ("INC_L2 r x, INV_L1 WG", "UNSOUND"),
        ("FLU_L1 WG, INC_L2 r x", "NO PROOF"),
    ],
)
def test_rows_for_results_that_are_not_used(code: str, word: str) -> None:
    """Their tests do not use them; so there is none in which such an RMW has to show that it has
    read something."""
    (proof,) = rspverify.prove(rspverify.Source("unused.yaml", UNUSED.format(code)))
    assert proof.word == word
    assert {"rmw DV,N", "rmw DV,N unused"} <= {*proof.operations}


def test_refuting_tests_are_written(tmp_path: Path) -> None:
    """Each of the tests, once, as a file that check finds UNSOUND."""
    tests = tmp_path / "tests"
    assert run("prove", "original", "--write", tests).exit_code == 1
    assert len([*tests.glob("*.litmus")]) == 6
    assert run("check", "original", tests).exit_code == 1


def test_reasons_are_the_obligations_that_fail_without_an_instruction() -> None:
    """Of Proposed each instruction but UL_rmw DV is needed; LK_rmw DV for WG increments."""
    (proof,) = rspverify.prove("proposed", reasons=True)
    needed = {(it.row, it.place, it.change): it.broken for it in proof.reasons}
    assert {it.instruction for it in proof.reasons if not it.broken} == {"UL_rmw DV"}
    acquires = {(it.kind, it.first, it.second) for it in needed[2, 2, "drop"]}
    assert acquires == {("SYNC", f"{first} DV,N", "load DV,N") for first in ("store", "rmw")}
    locked = {(it.kind, it.second) for it in needed[6, 1, "drop with UL_rmw DV"]}
    assert locked == {("ATOM", "rmw WG,N"), ("ATOM", "rmw WG,R")}
    shown = run("prove", "proposed", "--reasons").stdout
    assert "SYNC store DV,N, rmw DV,N → load DV,N" in shown
    (broken,) = rspverify.prove("original", reasons=True)
    assert not broken.reasons


def test_limit_is_no_contradiction() -> None:
    """A counterexample that was not decided in time refutes nothing, and denies nothing."""
    settings = rspverify.Settings(seconds=1e-9)
    (found,) = rspverify.prove(
        "original", settings=settings, judge=rspverify.judge_of(1, cache=False)
    )
    assert (found.word, found.internal) == ("NO PROOF", ())
    assert {it.test.verdict for it in found.broken if it.test} == {Word.UNKNOWN}


def test_engine_that_denies_a_broken_obligation_is_an_internal_error(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """It would refute that broken obligations are executions: reported, and never a word."""
    monkeypatch.setattr(proof_module, "tests_of", lambda it, table: [read_notation("r0=ld.na x")])
    monkeypatch.chdir(tmp_path)
    denied = run("prove", "original", "--no-cache")
    assert denied.exit_code == 70
    assert "must be an execution of its test" in denied.output
