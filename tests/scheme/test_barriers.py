"""Barriers become the code of two fences around a rendezvous, by the rows of fences."""

from pathlib import Path

import pytest

from rspverify.litmus.program import Kind, Location, Program, Scope, Thread
from rspverify.scheme.reader import read_scheme, read_scheme_file
from rspverify.source import InputError, Severity, Source

SCHEMES = {
    name: read_scheme_file(Path(__file__).parents[2] / "schemes" / f"{name}.yaml")
    for name in ("original", "proposed", "proposed-full", "proposed-multi-device-inv-l2-rmw")
}
BOTH, GLOBAL, LOCAL = map(frozenset, (("global", "local"), ("global",), ("local",)))


def program_of(barrier):
    thread = Thread("P0", 0, 0, 0, (barrier,), {})
    return Program("hand", Source("t", ""), (Location("x", True, "global", 0),), (thread,))


def code_of(barrier, scheme):
    return [str(it) for it in scheme.compiled(program_of(barrier)).instructions]


@pytest.mark.parametrize(
    "scheme, scope, regions, code",
    [
        ("proposed-full", Scope.WG, GLOBAL, ["arrive B", "depart B"]),
        ("proposed-full", Scope.DV, BOTH, ["FLU_L1 WG", "arrive B", "depart B", "INV_L1 WG"]),
        ("proposed-full", Scope.DV, LOCAL, ["arrive B", "depart B"]),
        ("proposed", Scope.WG, GLOBAL, ["arrive B", "depart B"]),
        ("original", Scope.WG, BOTH, ["arrive B", "depart B"]),
        ("original", Scope.DV, LOCAL, ["arrive B", "depart B"]),
    ],
)
def test_a_barrier_is_two_fences_around_a_rendezvous(operation, scheme, scope, regions, code):
    barrier = operation(Kind.BARRIER, scope, regions=regions, label="B")
    assert code_of(barrier, SCHEMES[scheme]) == code


@pytest.mark.parametrize(
    "scheme, scope, message",
    [
        (
            "proposed",
            Scope.DV,
            "scheme proposed has no row for fence DV,N (release), with which barrier DV,N B begins",
        ),
        (
            "proposed-multi-device-inv-l2-rmw",
            Scope.WG,
            "scheme proposed-multi-device-inv-l2-rmw has no row for fence WG,N (release), "
            "with which barrier WG,N B begins",
        ),
        (
            "halved",
            Scope.DV,
            "scheme halved has no row for fence DV,N (acquire), with which barrier DV,N B ends",
        ),
    ],
)
def test_a_row_that_is_missing_is_named(operation, scheme, scope, message):
    rows = "- {op: fence, scope: dv, order: release, code: [FLU_L1 WG]}"
    halved = read_scheme(Source("t", f"name: halved\nmachine: rsp\nrows:\n  {rows}\n"))
    barrier = operation(Kind.BARRIER, scope, regions=GLOBAL, label="B")
    with pytest.raises(InputError) as caught:
        {**SCHEMES, "halved": halved}[scheme].compiled(program_of(barrier))
    (problem,) = caught.value.problems
    assert (problem.message, problem.severity) == (message, Severity.UNSUPPORTED)


def test_orders_that_cost_nothing_need_no_row(operation):
    """Where a load or a store of the scope has more code than a plain one, a fence must be told."""
    barrier = operation(Kind.BARRIER, Scope.WG, regions=GLOBAL, label="B")

    def scheme(load):
        return read_scheme(
            Source(
                "t",
                "name: t\nmachine: rsp\nrows:\n"
                "  - {op: store, scope: [na, wg], code: [ST r x]}\n"
                "  - {op: load, scope: na, code: [LD r x]}\n"
                f"  - {{op: load, scope: wg, code: [{load}]}}\n",
            )
        )

    assert code_of(barrier, scheme("LD r x")) == ["arrive B", "depart B"]
    with pytest.raises(InputError, match=r"no row for fence WG,N \(acquire\)"):
        code_of(barrier, scheme("LD r x, INV_L1 WG"))


def test_the_rows_of_its_fences_are_used(operation):
    barrier = operation(Kind.BARRIER, Scope.DV, regions=GLOBAL, label="B")
    used = SCHEMES["proposed-full"].rows_used(program_of(barrier))
    assert [str(row.code[0]) for row in used] == ["INV_L1 WG", "FLU_L1 WG"]
    wide = operation(Kind.BARRIER, Scope.WG, regions=GLOBAL, label="B")
    used = SCHEMES["proposed"].rows_used(program_of(wide))
    assert [row.number for row in used] == [1, 4]
    local = operation(Kind.BARRIER, Scope.WG, regions=LOCAL, label="B")
    assert SCHEMES["proposed"].rows_used(program_of(local)) == ()
