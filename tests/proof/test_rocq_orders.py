"""Certificates of tables with several rows for one operation: for some memory orders, or results."""

from __future__ import annotations

import re
from itertools import product
from pathlib import Path
from random import Random

import pytest
from proof.random_tables import random_rows, scheme_of
from proof.rocq import coqc, whole
from proof.test_rocq import decided_alike

from rspverify.api.inputs import read_scheme
from rspverify.litmus.program import Order
from rspverify.proof.obligations import failures
from rspverify.proof.rocq_table import certificate, row_in_rocq, rows_in_rocq
from rspverify.proof.table import ProofTable, proof_table
from rspverify.records import replace
from rspverify.scheme.orders import Op
from rspverify.scheme.row import Row, Shape
from rspverify.scheme.scheme import Scheme
from rspverify.source import InputError, Source

PROPOSED = """name: ordered
machine: rsp
rows:
  - {op: load,  scope: [na, wg],           code: [LD r x]}
  - {op: load,  scope: dv, remote: false,  code: [LD r x, INV_L1 WG]}
  - {op: store, scope: [na, wg],           code: [ST r x]}
  - {op: store, scope: dv, remote: false,  code: [FLU_L1 WG, ST r x]}
  - {op: rmw,   scope: wg,                 code: [INC_L1 r x]}
"""
"""The rows of Proposed that are not remote, but for RMWs of device scope."""

FULL = "FLU_L1 WG, INC_L2 r x, INV_L1 WG"


def rmw(code: str, **words: str) -> str:
    """A row for RMWs of device scope."""
    told = "".join(f"{key}: {value}, " for key, value in words.items())
    return f"  - {{op: rmw, scope: dv, remote: false, {told}code: [{code}]}}\n"


def scheme(*rows: str) -> Scheme:
    return read_scheme(Source("ordered.yaml", PROPOSED + "".join(rows)))


RELAXED_LOAD = "  - {op: load, scope: dv, remote: false, order: relaxed, code: [LD r x, FLU_L1 WG, INV_L1 WG]}\n"
STRONG = rmw(FULL, order="acq_rel")
SOUND = {
    "orders": scheme(
        RELAXED_LOAD,
        STRONG,
        rmw(f"INV_L1 WG, {FULL}", order="relaxed"),
        rmw(f"INV_L1 DV, {FULL}", order="acquire"),
    ),
    "results": scheme(
        RELAXED_LOAD,
        STRONG,
        rmw(f"INV_L1 WG, {FULL}", order="release", result="unused"),
    ),
    "used": scheme(
        STRONG,
        rmw(f"INV_L1 WG, {FULL}", order="relaxed", result="used"),
        rmw(f"INV_L1 DV, {FULL}", order="acquire", result="unused"),
    ),
}
"""Each row has its own code."""


@whole
@pytest.mark.parametrize("name", SOUND)
def test_certificate_of_rows_for_orders_and_results(name: str, tmp_path: Path) -> None:
    """`prove` proves it, and so does Rocq."""
    text = certificate(SOUND[name], name)
    assert "RowFor" in text
    said = coqc(f"{text}About table_{name}_is_sound.", tmp_path)
    assert f"table_{name}_is_sound : sound the_table" in said


@whole
def test_certificate_of_unsoundness(tmp_path: Path) -> None:
    """A row for results that are used may be all that there is: it is exact."""
    text = certificate(scheme(rmw("INC_L2 r x, INV_L1 WG", result="used")), "used")
    assert re.search(r"RowFor \[.*\] Used ORmw", text)
    said = coqc(f"{text}About table_used_is_not_sound.", tmp_path)
    assert "table_used_is_not_sound : ~ sound the_table" in said


@pytest.mark.parametrize("words", [{"order": "relaxed"}, {"order": "acquire", "result": "unused"}])
def test_broken_obligations_of_such_rows_need_not_be_runs(words: dict[str, str]) -> None:
    broken = scheme(STRONG, rmw("INC_L2 r x", **words))
    with pytest.raises(InputError, match="obligations are broken, and need not be runs"):
        certificate(broken, "none")


# ---- which row is taken --------------------------------------------------------------------------

_KINDS = {Op.LOAD: "Load", Op.STORE: "(Store 1)", Op.RMW: "(Rmw S)"}
_TAKEN = """Require Import List Thm1. Import ListNotations.
Definition code_for (t : table) (o : op nat nat) := option_map code (row_for t o).
"""


def in_rocq(it: Shape) -> str:
    """An operation of a shape."""
    flags = (
        it.remote,
        it.order in (Order.RELEASE, Order.ACQ_REL),
        it.order in (Order.ACQUIRE, Order.ACQ_REL),
        not it.used,
    )
    remote, *others = (str(flag).lower() for flag in flags)
    atomic, where = str(it.scope is not None).lower(), it.scope.value if it.scope else "WG"
    return f"(AnyOperation {_KINDS[it.kind]} 0 {atomic} {where} {remote} {' '.join(others)})"


def compiled_by(table: ProofTable, shape: Shape, row: Row) -> bool:
    """Whether the proof covers operations of this shape, by this row."""
    return any(it.row == row and it.is_of(shape) for it in table.operations)


def test_rocq_takes_the_row_that_the_scheme_takes(tmp_path: Path) -> None:
    """For every operation that the table covers."""
    for name, each in SOUND.items():
        table = proof_table(each)
        covered = {it: row for it, row in each.table.items() if compiled_by(table, it, row)}
        rows = "; ".join(rows_in_rocq(table.operations))
        asked = "\n".join(f"Eval vm_compute in code_for [{rows}] {in_rocq(it)}." for it in covered)
        said = coqc(_TAKEN + asked, tmp_path, name, target="Thm1.vo")
        taken = [" ".join(it.split()) for it in re.findall(r"= Some\s(.*?)\s: ", said, re.S)]
        assert len({it.text for it in each.rows}) == len(each.rows)
        known = [next(it for it in table.operations if it.row == row) for row in covered.values()]
        assert len(taken) == len(known) > 20
        assert all(row_in_rocq(it).endswith(code) for it, code in zip(known, taken, strict=True))


@pytest.mark.parametrize("given", [{"order": "acquire"}, {"result": "used"}])
def test_what_has_no_row_has_none_in_rocq(given: dict[str, str], tmp_path: Path) -> None:
    """A stronger order than that of the row, and a result that it is not for."""
    rows = "; ".join(rows_in_rocq(proof_table(scheme(rmw(FULL, **given))).operations))
    flags = product(("true", "false"), repeat=3)
    asked = "\n".join(
        f"Eval vm_compute in code_for [{rows}] (AnyOperation (Rmw S) 0 true DV false {' '.join(it)})."
        for it in flags
    )
    said = coqc(_TAKEN + asked, tmp_path, target="Thm1.vo")
    taken = [it == "Some" for it in re.findall(r"= (Some|None)", said)]
    wanted = [
        not (releases if "order" in given else unused)
        for releases, _, unused in product((True, False), repeat=3)
    ]
    assert taken == wanted


# ---- obligations ---------------------------------------------------------------------------------


def with_more_rows(known: Scheme, random: Random) -> Scheme:
    """Rows for relaxed loads and RMWs, for remote ones of unused results alone, with the codes of other rows."""
    rows = [*known.rows]
    for it in known.rows:
        if it.kind is Op.STORE or None in it.scopes:
            continue
        results = it.results
        if it.kind is Op.RMW and True in it.remotes:
            results = frozenset({False})
        code = random.choice([other.code for other in known.rows if other.kind is it.kind])
        named = frozenset({Order.RELAXED})
        number = len(rows) + 1
        rows.append(
            replace(it, number=number, orders=named, named=named, results=results, code=code)
        )
    return replace(known, rows=tuple(rows))


def test_obligations_of_such_rows_are_decided_alike(tmp_path: Path) -> None:
    random = Random(12)
    drawn = [with_more_rows(scheme_of(random_rows(random)), random) for _ in range(2)]
    tables = [*map(proof_table, (*SOUND.values(), *drawn))]
    assert all(any(not it.used for it in table.operations) for table in tables[-2:])
    assert not any(failures(it) for it in tables[: len(SOUND)])
    assert min(decided_alike(tables, tmp_path).values()) > 100
