"""Progress in Rocq: which tables are orderly there, beside those that `prove` says are LIVE."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from random import Random

import pytest
from proof.random_tables import (
    PLAIN,
    Code,
    Rows,
    minimal_rows,
    next_minimal,
    random_rows,
    scheme_of,
)
from proof.rocq import coqc, whole

import rspverify
from rspverify.api.inputs import read_scheme
from rspverify.architecture.machines import machine_named
from rspverify.proof.programs import never_stuck
from rspverify.proof.rocq_table import certificate, row_in_rocq
from rspverify.proof.table import proof_table
from rspverify.scheme.mutants import mutants_of
from rspverify.scheme.scheme import Scheme


def orderly(schemes: Iterable[Scheme], folder: Path) -> list[bool]:
    """Whether each is, as Rocq computes it."""
    return computed("orderly", schemes, folder, "Orderly")


def gets_stuck(schemes: Iterable[Scheme], folder: Path) -> list[bool]:
    """Whether a dead end of each is found in Rocq."""
    return computed("gets_stuck", schemes, folder, "Stuck")


def computed(function: str, schemes: Iterable[Scheme], folder: Path, file: str) -> list[bool]:
    asked = "\n".join(
        f"Eval vm_compute in {function} [{'; '.join(map(row_in_rocq, it.operations))}]."
        for it in map(proof_table, schemes)
    )
    said = coqc(
        f"Require Import List Thm1 {file}. Import ListNotations.\n{asked}",
        folder,
        target=f"{file}.vo",
    )
    return [it == "true" for it in re.findall(r"= (\w+)", said)]


def is_live(scheme: Scheme) -> bool:
    """Whether `prove` knows that no program of a scheme gets stuck."""
    return never_stuck(scheme, proof_table(scheme))


def near(*names: str) -> list[Scheme]:
    """Schemes that ship, and all that is one step off them."""
    known = [*map(read_scheme, names)]
    return known + [it.of(each) for each in known for row in mutants_of(each) for it in row.mutants]


def test_mutants_are_orderly_where_they_are_live(tmp_path: Path) -> None:
    schemes = near("proposed", "original")
    found = orderly(schemes, tmp_path)
    assert found == [*map(is_live, schemes)]
    assert found[:2] == [True, False]
    assert min(Counter(found).values()) > 40


L, UL, RMW, UNRMW = "LK_L2 x", "UL_L2 x", "LK_rmw DV", "UL_rmw DV"
INC, ST, FLU, FLU_DV = "INC_L2 r x", "ST r x", "FLU_L1 WG", "FLU_L1 DV"

LOCKED: dict[str, tuple[Code, Code, bool, bool]] = {
    "the location within": ((RMW, L, INC, UL, UNRMW), (L, ST, UL), True, True),
    "the rmw locks within": ((L, INC, UL), (L, RMW, ST, UNRMW, UL), True, True),
    "both within the other": ((RMW, L, INC, UL, UNRMW), (L, RMW, ST, UNRMW, UL), False, False),
    "each waits for the other": ((L, INC, UL), (RMW, FLU, ST, UNRMW), False, False),
    "a flush, all locked": ((RMW, FLU_DV, INC, UNRMW), (FLU, ST), True, True),
    "a flush, the location locked": ((L, FLU, INC, UL), (ST,), False, False),
    "a flush, one location at a time": ((RMW, L, FLU, INC, UL, UNRMW), (ST,), True, False),
    "a flush of others, one at a time": ((RMW, L, FLU_DV, INC, UL, UNRMW), (ST,), False, False),
    "a flush before it is freed": ((L, INC, UL, FLU), (L, ST, FLU_DV, UL), False, False),
    "a flush after it is freed": ((L, INC, UL, FLU), (L, ST, UL, FLU_DV), True, True),
    "kept": ((RMW, INC), (ST,), False, False),
    "freed, and not held": ((INC, UNRMW), (ST,), False, False),
}
"""Codes of a remote RMW and of a remote store; whether the table is orderly, and whether `prove`
knows that it is LIVE. Only where who holds the rmw locks alone locks locations are more orderly."""


def rows_of(rmw: Code, store: Code) -> Rows:
    return {**PLAIN, ("rmw", "dv R"): rmw, ("store", "dv R"): store}


def test_locks_in_any_places(tmp_path: Path) -> None:
    schemes = [scheme_of(rows_of(*codes)) for *codes, _, _ in LOCKED.values()]
    found = zip(LOCKED, orderly(schemes, tmp_path), map(is_live, schemes), strict=True)
    assert [*found] == [(name, it[2], it[3]) for name, it in LOCKED.items()]


@whole
def test_what_is_not_orderly_gets_stuck(tmp_path: Path) -> None:
    """Of these all but the tables with a row that frees what it does not hold."""
    schemes = [
        *near("proposed", "original"),
        *(scheme_of(rows_of(*it[:2])) for it in LOCKED.values()),
    ]
    stuck = [not it for it in orderly(schemes, tmp_path)]
    found = gets_stuck(schemes, tmp_path)
    missed = [
        it for it, is_stuck, shown in zip(schemes, stuck, found, strict=True) if is_stuck != shown
    ]
    assert len(missed) == 3
    assert all(frees_what_it_does_not_hold(it) for it in missed)
    assert sum(found) > 50


def frees_what_it_does_not_hold(scheme: Scheme) -> bool:
    """Whether some row frees the rmw locks and does not take them."""
    codes = [[each.mnemonic.name for each in row.code] for row in scheme.rows]
    return any("UL_rmw" in it and "LK_rmw" not in it for it in codes)


@pytest.mark.parametrize("name", ["both within the other", "kept"])
def test_prove_says_that_it_gets_stuck(name: str) -> None:
    rmw, store, _, _ = LOCKED[name]
    (proof,) = rspverify.prove(scheme_of(rows_of(rmw, store)))
    assert proof.progress == "STUCK"


@whole
@pytest.mark.parametrize("seed", range(2))
def test_random_tables(seed: int, tmp_path: Path) -> None:
    """What `prove` knows to be LIVE is orderly, and what is orderly is never STUCK. What is not gets
    stuck, if rows free what they take, and plain ones do no more than access."""
    random = Random(seed)
    rows = minimal_rows(random)
    schemes: list[Scheme] = []
    for number in range(40):
        drawn = random_rows(random, kept_locks=number % 4 == 0)
        rows = next_minimal(rows, random)
        near = {it: drawn[it] if random.random() < 0.3 else rows[it] for it in rows}
        schemes += [scheme_of(drawn), scheme_of(near)]
    counts = Counter[tuple[bool, bool]]()
    known = orderly(schemes, tmp_path)
    giving = [it for it, found in zip(schemes, known, strict=True) if not found and gives_back(it)]
    assert all(gets_stuck(giving, tmp_path))
    for scheme, found in zip(schemes, known, strict=True):
        live = is_live(scheme)
        counts[found, live] += 1
        assert found or not live
        if found and not live:
            (proof,) = rspverify.prove(scheme)
            assert proof.progress == "UNKNOWN"
    assert min(counts[True, True], counts[False, False]) > 10


def gives_back(scheme: Scheme) -> bool:
    return proof_table(scheme).gives_back


def test_what_progress_rests_on(tmp_path: Path) -> None:
    """No axiom; classical logic for fair runs."""
    theorems = (
        "Progress.progress",
        "Stuck.stores_that_keep_locks",
        "Stuck.increments_that_keep_locks",
        "Stuck.tables_that_are_not_live",
        "Stuck.live_or_stuck",
        "Fair.fair_runs_end",
    )
    asked = "".join(f"Print Assumptions {it}.\n" for it in theorems)
    said = coqc(f"Require Progress Fair Stuck.\n{asked}", tmp_path, target="Stuck.vo")
    assert said.count("Closed under the global context") == 5
    assert re.findall(r"^([\w.]+)\s*:", said.rpartition("Axioms:")[2], re.M) == [
        "Classical_Prop.classic"
    ]


@whole
def test_what_is_not_vacuous_rests_on_nothing(tmp_path: Path) -> None:
    """But for the facts of runs, of which some are shown by classical logic."""
    theorems = (
        "FairRuns.every_run_goes_on_fairly",
        "NotVacuous.fair_runs_of_message_passing",
        "NotVacuous.locks_that_are_kept",
        "NotVacuous.two_plain_stores_race",
        "NotVacuous.runs_with_the_facts",
    )
    asked = "".join(f"Print Assumptions {it}.\n" for it in theorems)
    said = coqc(f"Require FairRuns NotVacuous.\n{asked}", tmp_path)
    assert said.count("Closed under the global context") == 4
    assert re.findall(r"^([\w.]+)\s*:", said.rpartition("Axioms:")[2], re.M) == [
        "Classical_Prop.classic"
    ]


# ---- certificates --------------------------------------------------------------------------------


def test_progress_in_certificates() -> None:
    """It is said of what is known to be LIVE, on rsp alone."""
    proposed = read_scheme("proposed")
    waiting = proposed.on_machine(machine_named("rsp-st-waits"))
    original = read_scheme("original")
    certificates = [certificate(it, "t") for it in (proposed, waiting, original)]
    assert ["table_t_is_live" in it for it in certificates] == [True, False, False]


@whole
def test_certificates_of_progress(tmp_path: Path) -> None:
    """Of what is UNSOUND, too."""
    known = read_scheme("proposed")
    weaker = next(it.of(known) for row in mutants_of(known) for it in row.mutants)
    for name, scheme in {"proposed": known, "weaker": weaker}.items():
        text = certificate(scheme, name)
        about = f"About table_{name}_is_live. About table_{name}_is_ended_by_fair_runs."
        said = coqc(f"{text}{about}", tmp_path, name)
        assert f"table_{name}_is_live : live the_table" in said
        assert f"table_{name}_is_ended_by_fair_runs : ends_fairly the_table" in said


# ---- the tables of the theorems ------------------------------------------------------------------


def rows_in_rocq(scheme: Scheme) -> set[str]:
    return {row_in_rocq(it) for it in proof_table(scheme).operations}


def test_the_tables_are_those_that_ship(tmp_path: Path) -> None:
    """Of Proposed two mutants keep the rmw locks, one by its stores and one by its RMWs."""
    proposed, original = read_scheme("proposed"), read_scheme("original")
    mutants = [it.of(proposed) for row in mutants_of(proposed) for it in row.mutants]
    keeping = [it for it in mutants if not proof_table(it).gives_back and keeps_rmw(it)]
    terms = (
        "proposed",
        "original",
        "without_Ul_rmw OStore proposed",
        "without_Ul_rmw ORmw proposed",
    )
    asked = "\n".join(f"Eval vm_compute in {it}." for it in terms)
    said = coqc(
        "Require Import Thm1 Obligations Stuck. Require Import List. Import ListNotations.\n"
        f"Unset Printing Records. Set Printing Width 10000.\n{asked}",
        tmp_path,
        target="Stuck.vo",
    )
    said = said.replace("RowFor [Relaxed; Acquire; Release; Acq_rel] Either", "Row")
    told = [set(re.findall(r"Row [^\]]*\]", it)) for it in re.findall(r"= (.*)", said)]
    assert told == [*map(rows_in_rocq, (proposed, original, *keeping))]


def keeps_rmw(scheme: Scheme) -> bool:
    """Whether some row takes the rmw locks and does not free them."""
    codes = [[each.mnemonic.name for each in row.code] for row in scheme.rows]
    return any("LK_rmw" in it and "UL_rmw" not in it for it in codes)
