"""Schemes as text: what is written reads as the same table."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rspverify.litmus.program import Order, Scope
from rspverify.scheme.cost import default_costs, read_costs
from rspverify.scheme.orders import POSSIBLE, Op
from rspverify.scheme.reader import read_scheme, read_scheme_file
from rspverify.scheme.scheme import Scheme
from rspverify.scheme.writer import scheme_text
from rspverify.source import InputError, Source

ROOT = Path(__file__).resolve().parents[2]
SCHEMES = sorted((ROOT / "schemes").glob("*.yaml"))


def said(scheme: Scheme) -> object:
    """All that a scheme says, without places."""
    rows = [
        (row.kind, row.scopes, row.orders, row.remotes, row.named, row.note, [*map(str, row.code)])
        for row in scheme.rows
    ]
    return scheme.name, scheme.machine.name, scheme.origin, scheme.note, rows


@pytest.mark.parametrize("path", SCHEMES, ids=lambda path: path.stem)
def test_shipped_schemes_are_written_as_they_were_read(path: Path) -> None:
    scheme = read_scheme_file(path)
    assert said(read_scheme(Source("written", scheme_text(scheme, "two\nlines")))) == said(scheme)


WORDS = st.sampled_from(["'", '"', "#", ": ", "é", "\\", "word", " ", "- ", "{"])


@given(
    st.sampled_from([Op.LOAD, Op.STORE, Op.RMW, Op.FENCE]),
    st.sets(st.sampled_from(["wi", "wg", "dv", "all"]), min_size=1),
    st.data(),
    st.sampled_from([None, True, False]),
    st.lists(WORDS, min_size=1).map(lambda words: "".join(words).strip()).filter(bool),
)
def test_any_row_is_written_as_it_was_read(
    kind: Op, scopes: set[str], data: st.DataObject, remote: bool | None, note: str
) -> None:
    names = sorted(order.value for order in POSSIBLE[kind])
    orders = data.draw(st.sets(st.sampled_from(names), max_size=3))
    code = {Op.LOAD: "LD r x", Op.STORE: "ST r x", Op.RMW: "RMW_L2 r x", Op.FENCE: "FLU_L1 WG"}
    fields = [f"op: {kind.value}", f"scope: [{', '.join(scopes)}]", f"code: [{code[kind]}]"]
    fields += [f"order: [{', '.join(orders)}]"] if orders else []
    fields += [] if remote is None else [f"remote: {str(remote).lower()}"]
    text = f"name: a\nrows:\n  - {{{', '.join(fields)}}}\n"
    scheme = read_scheme(Source("a.yaml", text))
    noted = Scheme("a", scheme.machine, scheme.rows, scheme.source, origin=note, note=f"{note}x")
    assert said(read_scheme(Source("b.yaml", scheme_text(noted)))) == said(noted)
    assert {Scope(each.upper()) for each in scopes} == scheme.rows[0].scopes
    assert all(Order(each) in scheme.rows[0].named for each in orders)


def test_costs_name_what_they_must_be(tmp_path: Path) -> None:
    place = tmp_path / "costs.yaml"
    place.write_text("FLU_L1 DV: 3\nFLU_L1: 1\nLD: -1\nLD r: 2\n")
    with pytest.raises(InputError) as caught:
        read_costs(str(place))
    assert [problem.span.line for problem in caught.value.problems if problem.span] == [2, 3, 4]
    place.write_text("FLU_L1 DV: 3\n")
    weights = read_costs(str(place)).weights
    assert weights["FLU_L1 DV"] == 3
    assert {**weights, "FLU_L1 DV": 40} == default_costs().weights


def test_the_cost_of_a_scheme_is_that_of_its_instructions() -> None:
    costs = default_costs()
    scheme = read_scheme_file(ROOT / "schemes/proposed.yaml")
    by_hand = [1, 1 + 10, 1 + 40 + 10, 1, 10 + 1, 40 * 4 + 1 + 10 + 40, 1, 10 + 10 + 10]
    assert [costs.of(row.code) for row in scheme.rows[:8]] == by_hand
    assert costs.of_rows(scheme.rows) == sum(by_hand) + 40 * 6 + 10


def test_a_machine_of_ones_own_keeps_its_switches(tmp_path: Path) -> None:
    """Mutants and repaired schemes are written, and say then what machine they are for."""
    (tmp_path / "mine.machine").write_text('machine mine "as GFX9"\ninclude amdgpu-gfx9\n')
    table = (ROOT / "schemes/amdgpu/gfx900.yaml").read_text()
    own = "machine: mine.machine+RMW_DROPS_LINE+STORE_DROPS_LINE"
    given = tmp_path / "own.yaml"
    given.write_text(table.replace("machine: amdgpu-gfx9", own))
    scheme = read_scheme_file(str(given))
    on = [it.name for it in scheme.machine.switches if it.on]
    assert len(on) == 2
    for written in (scheme_text(scheme), scheme_text(scheme, anywhere=True)):
        again = read_scheme(Source("elsewhere.yaml", written)).machine
        assert (again, [it.name for it in again.switches if it.on]) == (scheme.machine, on)
