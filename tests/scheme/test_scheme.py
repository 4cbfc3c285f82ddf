"""Which operations a row matches, and how rows and templates are printed."""

import re
from pathlib import Path

import pytest

from rspverify.architecture.machines import MACHINES, machine_named
from rspverify.architecture.reader import read_architecture
from rspverify.litmus.program import Kind, Order, Scope
from rspverify.scheme.orders import DEFAULT, POSSIBLE, Op, at_least, covered
from rspverify.scheme.reader import read_scheme, read_scheme_file
from rspverify.scheme.row import Row, shape_of
from rspverify.scheme.schema import scheme_schema
from rspverify.scheme.scheme import Scheme
from rspverify.source import InputError, Source
from rspverify.value import Binary, Constant, Read

CODE = {
    Op.LOAD: "LD r x",
    Op.STORE: "ST r x",
    Op.RMW: "INC_L2 r x",
    Op.CAS: "RMW_L2 r x",
    Op.FENCE: "FLU_L1 WG",
}
KINDS = {
    Kind.LOAD: Op.LOAD,
    Kind.STORE: Op.STORE,
    Kind.RMW: Op.RMW,
    Kind.FENCE: Op.FENCE,
}
ACCESSES = (Kind.LOAD, Kind.STORE, Kind.RMW)


def scheme_of(*rows: str) -> Scheme:
    lines = "".join(f"  - {{{row}}}\n" for row in rows)
    return read_scheme(Source("s.yaml", f"name: s\nrows:\n{lines}"))


def row_of(fields: str, kind: Op = Op.LOAD) -> Row:
    return scheme_of(f"op: {kind.value}, {fields}, code: [{CODE[kind]}]").rows[0]


def test_a_row_matches_its_kind_scopes_and_remote_flag_alone(operation):
    row = row_of("scope: [dv, all], remote: true")
    wanted = {(Kind.LOAD, Scope.DV, True), (Kind.LOAD, Scope.ALL, True)}
    for kind in ACCESSES:
        for scope in (None, *Scope):
            for remote in (False, True):
                matched = shape_of(operation(kind, scope, remote)) in row.shapes
                assert matched == ((kind, scope, remote) in wanted)


def test_a_row_without_remote_matches_either_flag(operation):
    row = row_of("scope: wg")
    assert shape_of(operation(Kind.LOAD, Scope.WG, False)) in row.shapes
    assert shape_of(operation(Kind.LOAD, Scope.WG, True)) in row.shapes


def test_remote_and_order_do_not_concern_the_non_atomic_part_of_a_row(operation):
    row = row_of("scope: [na, wg], remote: true, order: seq_cst")
    assert shape_of(operation(Kind.LOAD)) in row.shapes
    assert shape_of(operation(Kind.LOAD, Scope.WG, True)) in row.shapes
    assert shape_of(operation(Kind.LOAD, Scope.WG, False)) not in row.shapes


def test_a_non_atomic_row_has_neither_orders_nor_remote_flags():
    row = row_of("scope: na")
    assert (row.scopes, row.orders, row.remotes) == ({None}, set(), set())
    assert [str(shape) for shape in row.shapes] == ["load na"]


@pytest.mark.parametrize("kind", KINDS)
def test_without_an_order_a_row_covers_acquire_and_release_only(operation, kind):
    row = row_of("scope: dv", KINDS[kind])
    for order in POSSIBLE[KINDS[kind]]:
        matched = shape_of(operation(kind, Scope.DV, order=order)) in row.shapes
        assert matched == (order not in (Order.RELAXED, Order.SEQ_CST))
    assert row.orders == row.named == DEFAULT[KINDS[kind]]


@pytest.mark.parametrize(
    ("kind", "order", "orders"),
    [
        (Op.LOAD, "relaxed", "relaxed"),
        (Op.LOAD, "acquire", "relaxed acquire"),
        (Op.LOAD, "seq_cst", "relaxed acquire seq_cst"),
        (Op.STORE, "release", "relaxed release"),
        (Op.STORE, "seq_cst", "relaxed release seq_cst"),
        (Op.RMW, "relaxed", "relaxed"),
        (Op.RMW, "acquire", "relaxed acquire"),
        (Op.RMW, "release", "relaxed release"),
        (Op.RMW, "[acquire, release]", "relaxed acquire release"),
        (Op.RMW, "acq_rel", "relaxed acquire release acq_rel"),
        (Op.RMW, "seq_cst", "relaxed acquire release acq_rel seq_cst"),
    ],
)
def test_an_order_covers_itself_and_every_weaker_one(kind, order, orders):
    row = row_of(f"scope: dv, order: {order}", kind)
    assert row.orders == {Order(name) for name in orders.split()}
    assert row.named == {Order(name) for name in order.strip("[]").split(", ")}


def test_what_an_order_covers_is_always_possible():
    for kind in Op:
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
    row = row_of("scope: [na, dv], remote: true, order: acq_rel", Op.RMW)
    made = [
        operation(kind, scope, remote, order=order)
        for kind in ACCESSES
        for scope in Scope
        for remote in (False, True)
        for order in POSSIBLE[KINDS[kind]]
    ] + [operation(kind) for kind in ACCESSES]
    assert sum(shape_of(each) in row.shapes for each in made) == 1 + 4
    assert len(row.shapes) == 2 * (1 + 4), "with a result that is used, and without"


@pytest.mark.parametrize(
    ("fields", "text"),
    [
        ("scope: na", "load na"),
        ("scope: DV, remote: true", "load DV,R"),
        ("scope: dv, remote: false", "load DV,N"),
        ("scope: [wg, na]", "load na, load WG,_"),
        ("scope: All, order: relaxed", "load ALL,_ (relaxed)"),
        ("scope: dv, order: acquire, remote: true", "load DV,R (acquire)"),
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


# ---- rows that match one operation ---------------------------------------------------------------


@pytest.mark.parametrize("reverse", [False, True])
def test_the_weakest_order_that_is_strong_enough_decides(operation, reverse):
    rows = [
        f"op: load, scope: dv, order: {order}, code: [{code}]"
        for order, code in (
            ("seq_cst", "FLU_L1 WG, LD r x"),
            ("acquire", "LD r x, INV_L1 WG"),
            ("relaxed", "LD r x"),
        )
    ]
    scheme = scheme_of(*(rows[::-1] if reverse else rows))
    lengths = {}
    for order in POSSIBLE[Op.LOAD]:
        row = scheme.row_for(operation(Kind.LOAD, Scope.DV, order=order))
        assert row.named == {order}
        lengths[order] = len(row.code)
    assert lengths == {Order.SEQ_CST: 2, Order.ACQUIRE: 2, Order.RELAXED: 1}


def test_without_a_row_of_its_own_an_order_has_that_of_the_next_stronger(operation):
    scheme = scheme_of(
        "op: store, scope: dv, order: seq_cst, code: [FLU_L1 WG, ST r x]",
        "op: store, scope: dv, order: release, remote: false, code: [ST r x]",
    )
    relaxed = [operation(Kind.STORE, Scope.DV, it, order=Order.RELAXED) for it in (False, True)]
    assert [scheme.row_for(it).number for it in relaxed] == [2, 1]


def cas(operation, order, failure, **more):
    success = Binary("==", Read(0), Constant(0))
    return operation(
        Kind.RMW,
        Scope.DV,
        order=order,
        operator="compare_exchange",
        success=success,
        failure=failure,
        **more,
    )


@pytest.mark.parametrize(
    ("order", "failure", "shape"),
    [
        (Order.ACQ_REL, Order.ACQUIRE, "cas DV,N (acq_rel)"),
        (Order.RELEASE, Order.ACQUIRE, "cas DV,N (acq_rel)"),
        (Order.RELEASE, Order.RELAXED, "cas DV,N (release)"),
        (Order.RELAXED, Order.SEQ_CST, "cas DV,N (seq_cst)"),
    ],
)
def test_a_compare_exchange_has_an_order_as_strong_as_both_of_its_own(
    operation, order, failure, shape
):
    assert str(shape_of(cas(operation, order, failure))) == shape


def test_a_compare_exchange_without_a_row_of_its_own_has_that_of_an_rmw(operation):
    rmw = "op: rmw, scope: dv, order: seq_cst, code: [FLU_L1 WG, RMW_L2 r x]"
    own = "op: cas, scope: dv, order: acquire, code: [RMW_L2 r x]"
    weak = cas(operation, Order.RELAXED, Order.RELAXED)
    strong = cas(operation, Order.ACQ_REL, Order.ACQUIRE)
    assert scheme_of(rmw).row_for(weak).number == 1
    for rows in ((rmw, own), (own, rmw)):
        scheme = scheme_of(*rows)
        assert scheme.row_for(weak).kind is Op.CAS
        assert scheme.row_for(strong).kind is Op.RMW


def test_at_least_is_the_least_upper_bound():
    """Of C11's orders as they are drawn: relaxed below acquire and release, these below acq_rel."""
    below = {
        Order.RELAXED: {Order.RELAXED},
        Order.ACQUIRE: {Order.RELAXED, Order.ACQUIRE},
        Order.RELEASE: {Order.RELAXED, Order.RELEASE},
        Order.ACQ_REL: {Order.RELAXED, Order.ACQUIRE, Order.RELEASE, Order.ACQ_REL},
        Order.SEQ_CST: set(Order) - {Order.CONSUME},
    }
    for one in below:
        for other in below:
            bounds = {each for each in below if {one, other} <= below[each]}
            (least,) = [each for each in bounds if all(each in below[it] for it in bounds)]
            assert at_least(one, other) is least


def test_a_fence_has_a_scope_an_order_and_a_flag(operation):
    row = row_of("scope: [wg, dv], order: acq_rel", Op.FENCE)
    assert str(row) == "fence WG,_, fence DV,_ (acq_rel)"
    assert shape_of(operation(Kind.FENCE, Scope.DV, order=Order.RELEASE)) in row.shapes
    assert shape_of(operation(Kind.FENCE, Scope.ALL)) not in row.shapes
    empty = scheme_of("op: fence, scope: wg, code: []").rows[0]
    assert empty.code == ()


@pytest.mark.parametrize("kind", [Kind.BARRIER, Kind.LOCK, Kind.UNLOCK])
def test_there_are_no_rows_for_barriers_and_mutexes(operation, kind):
    assert shape_of(operation(kind)) is None


def test_atomics_without_a_scope_have_a_shape_of_their_own(operation):
    assert str(shape_of(operation(Kind.LOAD, order=Order.ACQUIRE))) == "load (acquire)"


@pytest.mark.parametrize(
    ("instruction", "said"),
    [
        ("FLU_L1 s of DV, SY", r"machine short must have FLU_L1 WG, not FLU_L1 DV or FLU_L1 SY"),
        ("FLU_L1 x", "machine short must have FLU_L1 WG, not FLU_L1 x"),
        ("INV_L1 s of SY, DV, WG", None),
    ],
)
def test_another_machine_has_the_instructions_of_the_rows(
    instruction: str, said: str | None
) -> None:
    scheme = read_scheme_file(str(Path(__file__).parents[2] / "schemes/proposed.yaml"))
    name, operand, *_ = instruction.split()
    marker = "each workgroup w in s: enqueue marker in w.L1.fifo"
    losing = "each workgroup w in s: each location x: w.L1.VALID[x] := false"
    effect = losing if name == "INV_L1" else marker if operand == "s" else "L2.VALID[x] := false"
    text = f'machine short "m"\ninclude rsp\ninstruction {instruction}\n  do {effect}\n'
    machine = read_architecture(Source("other", text))
    if said is None:
        assert scheme.on_machine(machine).machine is machine
        assert machine.instructions[name].reaches == ("WG", "DV", "SY")
        return
    with pytest.raises(InputError, match=said):
        scheme.on_machine(machine)


def test_another_machine_has_instructions_that_read_and_write_as_those_of_the_rows() -> None:
    text = 'machine short "m"\ninclude rsp\ninstruction LD r x\n  do L1.data[x] := r\n'
    with pytest.raises(InputError, match="must have LD r x that reads, not one that"):
        read_scheme_file(str(Path(__file__).parents[2] / "schemes/proposed.yaml")).on_machine(
            read_architecture(Source("m", text))
        )


ENDLESS = """machine endless "nothing is final"
places  thread < workgroup < device < system
reaches WG = workgroup, DV = device
state { memory[x] : value of system }
instruction LD r x do r := memory[x]
instruction ST r x do memory[x] := r
"""


@pytest.mark.parametrize("machine", ["ptx-weak", "endless.machine"])
def test_a_scheme_is_for_a_machine_with_final_memory(machine: str, tmp_path: Path) -> None:
    """Once, where the machine is named, or of the machine that is asked for."""
    (tmp_path / "endless.machine").write_text(ENDLESS)
    (tmp_path / "s.yaml").write_text(f"name: s\nmachine: {machine}\nrows: []\n")
    name = machine.removesuffix(".machine")
    said = f"machine {name} must say which memory is final for a scheme, and does not"
    with pytest.raises(InputError) as error:
        read_scheme_file(str(tmp_path / "s.yaml"))
    (problem,) = (it for it in error.value.problems if "final" in it.message)
    assert (problem.message, problem.span.line, problem.span.column) == (said, 2, 10)
    assert problem.hint == "`final memory` in its file says that it is that of `memory[x]`"
    scheme = Scheme("s", MACHINES["rsp"], (), Source("s", ""))
    with pytest.raises(InputError, match=re.escape(said)):
        scheme.on_machine(machine_named(machine, tmp_path))


def test_a_machine_with_final_memory_may_be_asked_for(tmp_path: Path) -> None:
    (tmp_path / "ends.machine").write_text(f"{ENDLESS}final memory\n")
    text = "rows: [{op: load, scope: na, code: [LD r x]}]"
    (tmp_path / "s.yaml").write_text(f"name: s\nmachine: ends.machine\n{text}\n")
    scheme = read_scheme_file(str(tmp_path / "s.yaml"))
    assert scheme.on_machine(scheme.machine).machine.final is not None


def test_the_schema_offers_machines_with_final_memory() -> None:
    offered = scheme_schema()["properties"]["machine"]["anyOf"][0]["enum"]
    assert offered == [it for it in MACHINES if MACHINES[it].final is not None]
    assert "rsp" in offered and "ptx-weak" not in offered
