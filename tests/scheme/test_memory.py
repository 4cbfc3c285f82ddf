"""Rows for global and for local memory, and for results that are used or thrown away."""

from __future__ import annotations

from pathlib import Path

import jsonschema
import pytest
import yaml

from rspverify.architecture.machines import machine_named
from rspverify.engineering.comparison import changed_rows
from rspverify.litmus.program import Kind, Location, Order, Program, Scope, Thread
from rspverify.litmus.reader import read_program
from rspverify.records import replace
from rspverify.scheme.cost import default_costs
from rspverify.scheme.orders import Op
from rspverify.scheme.reader import read_scheme, read_scheme_file
from rspverify.scheme.row import Shape, shape_of
from rspverify.scheme.schema import scheme_schema
from rspverify.scheme.scheme import Scheme
from rspverify.scheme.writer import scheme_text
from rspverify.source import InputError, Severity, Source

FOLDER = Path(__file__).parent / "local"
SCHEME = read_scheme_file(FOLDER / "scratchpad.yaml")
GLOBAL, LOCAL, BOTH = map(frozenset, (("global",), ("local",), ("global", "local")))


def scheme(*rows: str, machine: str = f"{FOLDER}/scratchpad.machine") -> Scheme:
    lines = "".join(f"  - {{{row}}}\n" for row in rows)
    return read_scheme(Source("s.yaml", f"name: s\nmachine: {machine}\nrows:\n{lines}"))


def problems(*rows: str) -> list[tuple[str, str | None]]:
    with pytest.raises(InputError) as caught:
        scheme(*rows)
    return [(it.message, it.hint) for it in caught.value.problems]


@pytest.mark.parametrize(
    ("kind", "regions", "row"),
    [
        (Kind.LOAD, GLOBAL, 2),
        (Kind.LOAD, LOCAL, 5),
        (Kind.RMW, GLOBAL, 4),
        (Kind.RMW, LOCAL, 8),
        (Kind.FENCE, GLOBAL, 11),
        (Kind.FENCE, LOCAL, 12),
        (Kind.FENCE, BOTH, 13),
    ],
)
def test_each_memory_has_its_rows(operation, kind, regions, row):
    order = Order.ACQUIRE
    found = SCHEME.row_for(operation(kind, Scope.WG, order=order, regions=regions))
    assert found.number == row


def test_a_row_for_both_is_for_accesses_of_either_and_for_fences_of_both_at_once(tmp_path):
    machine = (FOLDER / "scratchpad.machine").read_text().replace("x is global, L1", "L1", 1)
    place = tmp_path / "either.machine"
    place.write_text(machine)
    load = "op: load, scope: wg, memory: [local, global], code: [LD r x]"
    fence = "op: fence, scope: wg, order: acquire, memory: [local, global], code: []"
    rows = scheme(load, fence, machine=str(place)).rows
    assert [{it.memory for it in row.shapes} for row in rows] == [{GLOBAL, LOCAL}, {BOTH}]
    assert [str(row) for row in rows] == [
        "load global or local WG,_",
        "fence global+local WG,_ (acquire)",
    ]


def test_an_instruction_for_the_other_memory_is_a_mistake():
    assert problems("op: load, scope: na, memory: local, code: [LD r x]") == [
        (
            "the code for local memory must not have LD, which is for global memory",
            "`memory: global` makes a row for that",
        )
    ]
    assert problems("op: store, scope: na, code: [DS_ST r x]") == [
        (
            "the code for global memory must not have DS_ST, which is for local memory",
            "`memory: local` makes a row for that",
        )
    ]
    either = "op: rmw, scope: wg, memory: [global, local], code: [RMW r x]"
    assert problems(either)[0][0] == (
        "the code for global or local memory must not have RMW, which is for global memory"
    )


def test_another_machine_must_have_local_memory():
    text = (FOLDER / "scratchpad.machine").read_text()
    rsp = machine_named("rsp", FOLDER)
    fence = "op: fence, scope: wg, memory: local, code: []"
    with pytest.raises(InputError, match="machine rsp must have local memory for fence local WG,_"):
        scheme(fence).on_machine(rsp)
    assert "spaces  global, local" in text


def test_on_a_machine_without_it_a_fence_of_both_is_one_of_global_memory(operation):
    fences = scheme("op: fence, scope: dv, code: [INV_L1 WG]", machine="rsp")
    both = operation(Kind.FENCE, Scope.DV, regions=BOTH)
    assert fences.row_for(both).number == 1
    assert fences.row_for(operation(Kind.FENCE, Scope.DV, regions=LOCAL)) is None
    here = scheme("op: fence, scope: dv, code: [INV DV]")
    assert here.row_for(both) is None


def test_rows_for_results(operation):
    used = "op: rmw, scope: wg, result: used, code: [RMW r x]"
    unused = "op: rmw, scope: wg, result: unused, code: [RMW r x, INV WG]"
    found = scheme(used, unused)
    kept, thrown = (operation(Kind.RMW, Scope.WG, used=it) for it in (True, False))
    assert [found.row_for(it).number for it in (kept, thrown)] == [1, 2]
    assert [str(row) for row in found.rows] == ["rmw WG,_ used", "rmw WG,_ unused"]
    assert str(shape_of(thrown)) == "rmw WG,N (acq_rel) unused"
    either = scheme(used.replace("result: used, ", ""))
    assert {either.row_for(it).number for it in (kept, thrown)} == {1}
    cas = Shape(Op.CAS, Scope.WG, Order.ACQ_REL, False, used=False)
    assert found.table[cas].number == 2
    ((message, hint),) = problems(used, used.replace("result: used, ", ""))
    assert message == "rmw WG,N (acquire) (and 5 more) must be matched by one row, not by two"
    assert hint is not None and "memory or result" in hint


def test_sub_groups(operation):
    """A thread of a machine is one work-item, so that its operations are all of its sub-group."""
    rows = scheme("op: load, scope: sg, code: [LD r x]", "op: load, scope: wg, code: [LD r x]")
    near = operation(Kind.LOAD, Scope.SG)
    assert [rows.row_for(it).number for it in (near, operation(Kind.LOAD, Scope.WG))] == [1, 2]
    other = operation(Kind.LOAD, Scope.SG, index=1, thread=1)
    alone = [Thread(f"P{i}", i, 0, 0, (it,), {}) for i, it in enumerate((near, other))]
    program = Program("t", Source("t", ""), (Location("x", True, "global", 0),), tuple(alone))
    assert [str(it) for it in rows.compiled(program).instructions] == ["LD r x"] * 2
    shared = replace(program, threads=tuple(replace(it, subgroup=0) for it in alone))
    with pytest.raises(InputError) as caught:
        rows.compiled(shared)
    (problem,) = caught.value.problems
    assert problem.severity is Severity.UNSUPPORTED
    assert problem.message == (
        "P1 is in one sub-group with P0, and machine scratchpad has no place for sub-groups"
    )


def test_it_is_written_as_it_was_read():
    text = scheme_text(SCHEME, anywhere=True)
    written = read_scheme(Source("written", text))
    assert [(row.shapes, row.code) for row in written.rows] != []
    assert [(row.shapes, list(map(str, row.code))) for row in written.rows] == [
        (row.shapes, list(map(str, row.code))) for row in SCHEME.rows
    ]
    assert "memory: [global, local]" in text and "result: unused" in text


def test_editors_know_it():
    schema = scheme_schema()
    good = yaml.safe_load((FOLDER / "scratchpad.yaml").read_text())
    jsonschema.Draft7Validator(schema).validate(good)
    for key, value in (("memory", "shared"), ("result", "kept")):
        bad = {**good, "rows": [{**good["rows"][3], key: value}]}
        assert not jsonschema.Draft7Validator(schema).is_valid(bad)


def test_rows_that_are_compared():
    """A row for both results against a row for each; and memories apart."""
    used = "op: rmw, scope: wg, order: acq_rel, result: used, code: [RMW r x]"
    unused = "op: rmw, scope: wg, order: acq_rel, result: unused, code: [RMW r x, INV WG]"
    either = "op: rmw, scope: wg, order: acq_rel, code: [RMW r x]"

    def named(old: Scheme, new: Scheme) -> list[tuple[str, bool]]:
        return [(it.operations, it.same) for it in changed_rows(old, new, default_costs())]

    orders = "(relaxed, acquire, release, acq_rel)"
    assert named(scheme(either), scheme(used, unused)) == [
        (f"rmw WG,_ used {orders}", True),
        (f"rmw WG,_ unused {orders}", False),
    ]
    assert named(scheme(either), scheme(either)) == [(f"rmw WG,_ {orders}", True)]
    assert all(same for _, same in named(SCHEME, SCHEME))
    assert next(name for name, _ in named(SCHEME, SCHEME)) == str(SCHEME.rows[0])


def test_a_row_without_a_scope_is_for_atomics_of_c11() -> None:
    text = """name: c11
rows:
  - {op: load,  scope: na,      code: [LD r x]}
  - {op: load,  order: acquire, code: [LD r x, INV_L1 DV]}
  - {op: store, order: release, code: [FLU_L1 DV, ST r x]}
"""
    scheme = read_scheme(Source("c11", text))
    assert [str(row) for row in scheme.rows] == ["load na", "load (acquire)", "store (release)"]
    assert read_scheme(Source("c11", scheme_text(scheme))).table.keys() == scheme.table.keys()
    test = "C t\n{{}}\nP0 (atomic_int* x, int* y) {{ {} }}"
    acquire = "int r = atomic_load_explicit(x, memory_order_acquire); int s = *y;"
    program = read_program(Source("t", test.format(acquire)))
    assert [str(it) for it in scheme.compiled(program).instructions] == [
        "LD r x",
        "INV_L1 DV",
        "LD r y",
    ]
    with pytest.raises(InputError, match=r"has no row for load \(seq_cst\) on x"):
        scheme.compiled(read_program(Source("t", test.format("int r = atomic_load(x);"))))
    with pytest.raises(InputError, match="remote must be left out of a row without a scope"):
        read_scheme(Source("c11", text.replace("order: acquire", "order: acquire, remote: true")))
    forgotten = text.replace("{op: store,", "{op: store, scope: wg,")
    with pytest.raises(InputError, match="c11:4:5: a row must have the key scope, as other rows"):
        read_scheme(Source("c11", forgotten))
