"""Which operations a row matches, and how rows and templates are printed."""

import pytest

from rspverify.litmus.program import Kind, Order, Scope
from rspverify.scheme import Row, Scheme, read_scheme
from rspverify.scheme.orders import DEFAULT, POSSIBLE, covered
from rspverify.source import Source

CODE = {Kind.LOAD: "LD r x", Kind.STORE: "ST r x", Kind.RMW: "INC_L2 r x"}


def scheme_of(*rows: str) -> Scheme:
    lines = "".join(f"  - {{{row}}}\n" for row in rows)
    return read_scheme(Source("s.yaml", f"name: s\nrows:\n{lines}"))


def row_of(fields: str, kind: Kind = Kind.LOAD) -> Row:
    return scheme_of(f"op: {kind.value}, {fields}, code: [{CODE[kind]}]").rows[0]


def test_a_row_matches_its_kind_scopes_and_remote_flag_alone(operation):
    row = row_of("scope: [dv, all], remote: true")
    wanted = {(Kind.LOAD, Scope.DV, True), (Kind.LOAD, Scope.ALL, True)}
    for kind in Kind:
        for scope in (None, *Scope):
            for remote in (False, True):
                assert row.matches(operation(kind, scope, remote)) == (
                    (kind, scope, remote) in wanted
                )


def test_a_row_without_remote_matches_either_flag(operation):
    row = row_of("scope: wg")
    assert row.matches(operation(Kind.LOAD, Scope.WG, False))
    assert row.matches(operation(Kind.LOAD, Scope.WG, True))


def test_remote_and_order_do_not_concern_the_non_atomic_part_of_a_row(operation):
    row = row_of("scope: [na, wg], remote: true, order: seq_cst")
    assert row.matches(operation(Kind.LOAD))
    assert row.matches(operation(Kind.LOAD, Scope.WG, True))
    assert not row.matches(operation(Kind.LOAD, Scope.WG, False))


def test_a_non_atomic_row_has_neither_orders_nor_remote_flags():
    row = row_of("scope: na")
    assert (row.scopes, row.orders, row.remotes) == ({None}, set(), set())
    assert [str(shape) for shape in row.shapes] == ["load na"]


@pytest.mark.parametrize("kind", Kind)
def test_without_an_order_a_row_covers_acquire_and_release_only(operation, kind):
    row = row_of("scope: dv", kind)
    for order in POSSIBLE[kind]:
        matched = row.matches(operation(kind, Scope.DV, order=order))
        assert matched == (order not in (Order.RELAXED, Order.SEQ_CST))
    assert row.orders == DEFAULT[kind]


@pytest.mark.parametrize(
    ("kind", "order", "orders"),
    [
        (Kind.LOAD, "relaxed", "relaxed"),
        (Kind.LOAD, "acquire", "relaxed acquire"),
        (Kind.LOAD, "seq_cst", "relaxed acquire seq_cst"),
        (Kind.STORE, "release", "relaxed release"),
        (Kind.STORE, "seq_cst", "relaxed release seq_cst"),
        (Kind.RMW, "relaxed", "relaxed"),
        (Kind.RMW, "acquire", "relaxed acquire"),
        (Kind.RMW, "release", "relaxed release"),
        (Kind.RMW, "[acquire, release]", "relaxed acquire release"),
        (Kind.RMW, "acq_rel", "relaxed acquire release acq_rel"),
        (Kind.RMW, "seq_cst", "relaxed acquire release acq_rel seq_cst"),
    ],
)
def test_an_order_covers_itself_and_every_weaker_one(kind, order, orders):
    row = row_of(f"scope: dv, order: {order}", kind)
    assert row.orders == {Order(name) for name in orders.split()}


def test_what_an_order_covers_is_always_possible():
    for kind in Kind:
        for order in POSSIBLE[kind]:
            assert order in covered(kind, order) <= POSSIBLE[kind]


def test_row_for_finds_the_one_row_or_none(operation):
    scheme = scheme_of(
        "op: load, scope: dv, order: acquire, code: [LD r x, INV_L1 WG]",
        "op: load, scope: na, code: [LD r x]",
    )
    atomic, plain = scheme.rows
    assert scheme.row_for(operation(Kind.LOAD)) is plain
    assert scheme.row_for(operation(Kind.LOAD, Scope.DV)) is atomic
    assert scheme.row_for(operation(Kind.LOAD, Scope.DV, order=Order.RELAXED)) is atomic
    assert scheme.row_for(operation(Kind.LOAD, Scope.DV, order=Order.SEQ_CST)) is None
    assert scheme.row_for(operation(Kind.STORE)) is None


def test_row_for_sees_the_shapes_of_its_row_and_no_others(operation):
    row = row_of("scope: [na, dv], remote: true, order: acq_rel", Kind.RMW)
    made = [
        operation(kind, scope, remote, order=order)
        for kind in Kind
        for scope in Scope
        for remote in (False, True)
        for order in POSSIBLE[kind]
    ] + [operation(kind) for kind in Kind]
    assert sum(row.matches(each) for each in made) == len(row.shapes) == 1 + 4


@pytest.mark.parametrize(
    ("fields", "text"),
    [
        ("scope: na", "load na"),
        ("scope: DV, remote: true", "load DV,R"),
        ("scope: dv, remote: false", "load DV,N"),
        ("scope: [wg, na]", "load na, load WG,_"),
        ("scope: All, order: relaxed", "load ALL,_ (relaxed)"),
        ("scope: dv, order: acquire, remote: true", "load DV,R (relaxed, acquire)"),
    ],
)
def test_a_row_is_printed_as_in_the_table(fields, text):
    assert str(row_of(fields)) == text


def test_a_template_is_printed_in_the_papers_notation():
    code = "LK_rmw SY, LK_L2 x, FLU_L2 DV, INC_L1  r x n, UL_L2 x, UL_rmw DV"
    (row,) = scheme_of(f"op: rmw, scope: all, code: [{code}]").rows
    printed = "LK_rmw SY, LK_L2 x, FLU_L2 DV, INC_L1 r x, UL_L2 x, UL_rmw DV"
    assert ", ".join(map(str, row.code)) == printed


def test_rows_and_templates_know_where_they_stand():
    (row,) = scheme_of("op: load, scope: dv, code: [LD r x, INV_L1 WG]").rows
    assert (str(row.span), row.number) == ("s.yaml:3:5", 1)
    assert [str(template.span) for template in row.code] == ["s.yaml:3:34", "s.yaml:3:42"]
