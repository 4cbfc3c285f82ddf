"""Every engine finds the same outcomes: of random programs, one device or two, sound or not.

The programs are the same in every run. Some are too large for an engine: each family says how many
are not. What is compared is always the set of all outcomes.
"""

import pytest
from machine.any_engine import differences
from machine.engines import LIMITS, Outcomes, Unrolled, events_outcomes, machine_of, searched
from machine.families import FAMILIES, LARGER, TOO_LARGE
from oracle_adapter import machine_outcomes, plain_outcome
from programs import assembly, listing

from rspverify.assembly.program import AssemblyProgram
from rspverify.limits import LimitReached
from rspverify.machine.firings import enough_steps
from rspverify.machine.machine import Machine, unbounded
from rspverify.machine.state_graph import find_hang


def assert_same(program: AssemblyProgram, reference: Outcomes, found: Outcomes, what: str) -> None:
    """The outcomes are those of the reduced search."""
    lacks, adds = sorted(reference - found), sorted(found - reference)
    assert found == reference, f"{what} lacks {lacks} and adds {adds}, for\n{listing(program)}"


@pytest.mark.parametrize("name", FAMILIES)
def test_every_way_on_programs_of_a_family(name: str) -> None:
    """Engines, each with reductions and without; progress, and the shortest way to a deadlock; and
    a search that shares no code with ours, where there is one."""
    family, done, told = FAMILIES[name], 0, set[object]()
    for made in family.programs(name):
        found = differences(made, family.states)
        assert not found, f"{found} of\n{listing(made)}"
        if found is None:
            continue
        try:
            expected, stuck = family.known(made) if family.known else (None, None)
        except TOO_LARGE:
            continue
        if expected is not None:
            outcomes = {plain_outcome(it) for it in searched(Machine(made))}
            assert outcomes == expected, listing(made)
            told.add(len(outcomes) > 1 or stuck)
        if stuck is not None:
            assert (find_hang(Machine(made), LIMITS).hang is not None) is stuck, listing(made)
        done += 1
    assert done >= family.decided, f"{done} of {family.count} were small enough"
    assert not told or True in told, "each has one outcome, and none gets stuck"


@pytest.mark.parametrize("name", [it for it in FAMILIES if it not in ("queues", "lines")])
def test_events_knows_their_machines(name: str) -> None:
    assert unbounded(next(FAMILIES[name].programs(name)).machine) is None


@pytest.mark.parametrize("name", LARGER)
def test_larger_programs(name: str) -> None:
    """Search, events, and unrolling at K*, fifos dequeuing by themselves: the defaults of `check`."""
    family, done, unrolled = LARGER[name], 0, 0
    for made in family.programs(name):
        machine = machine_of(made)
        try:
            expected = searched(machine, family.states)
        except LimitReached:
            continue
        assert_same(made, expected, events_outcomes(machine), "events")
        done += 1
        if len(expected) <= 8 and enough_steps(machine).total <= 24:
            assert_same(made, expected, Unrolled(machine).outcomes(), "unroll")
            unrolled += 1
    assert done >= family.decided, f"{done} of {family.count} were small enough"
    assert unrolled


def test_two_machines_differ_and_each_engine_knows_it() -> None:
    """The variant of an earlier draft; the second store cannot hide the first one's flush."""
    threads = (
        ((0, 0), ["ST x 1", "INV_L1 WG", "ST x 2", "ST y 1"]),
        ((0, 1), ["LK_L2 x", "LD y", "INV_L1 WG", "LD x", "UL_L2 x"]),
    )
    found: dict[str, Outcomes] = {}
    for name in ("rsp", "rsp-st-waits"):
        program = assembly(*threads, machine=name)
        machine = machine_of(program)
        found[name] = searched(machine)
        assert_same(program, found[name], Unrolled(machine).outcomes(), f"unroll of {name}")
        assert found[name] == machine_outcomes(
            program, variant=name, evict=False, l2_is_memory=True
        )
    assert found["rsp-st-waits"] < found["rsp"]
    assert {each.reads for each in found["rsp"] - found["rsp-st-waits"]} == {((3, 1), (4, 0))}


@pytest.mark.parametrize("flush, last", [("FLU_L2 DV", {3}), ("FLU_L1 WG", {2, 3})])
def test_a_marker_waits_for_each_store_before_it(flush: str, last: set[int]) -> None:
    """x is in the fifo of the L2 once for each flush: the second one holds up the marker as well."""
    code = ["ST x 1", "ST x 2", "FLU_L1 WG", flush, "ST y 1"]
    machine = machine_of(assembly(((0, 0), code), ((1, 0), ["LD y", "ST x 3 if 3=1"])))
    found = Unrolled(machine).outcomes()
    assert_same(machine.program, searched(machine), found, "unroll")
    assert {dict(each.memory)["x"] for each in found if each.reads == ((3, 1),)} == last


def test_a_program_that_cannot_complete_has_no_outcome() -> None:
    """Locks that are taken and kept, taken in opposite orders (but for lucky runs), or by Tab. 3.

    The last is row 3 of the original scheme, whose LD waits for a flush that its lock forbids.
    """
    load = ["LK_L2 x", "FLU_L1 DV", "INV_L1 WG", "LD x", "UL_L2 x"]
    for threads, completes in (
        ((((0, 0), ["LK_rmw DV"]), ((0, 1), ["LK_rmw DV"])), False),
        ((((0, 0), ["LK_L2 x"]), ((0, 0), ["LK_L2 x"])), False),
        ((((0, 0), ["ST x 1", "INC_L2 x"]), ((0, 1), ["LK_L2 x"])), True),
        ((((0, 0), ["INC_L2 x"]), ((0, 1), ["LK_L2 x", "FLU_L1 DV", "LK_rmw DV"])), True),
        ((((0, 0), ["ST x 1"]), ((0, 1), load)), True),
    ):
        program = assembly(*threads)
        oracle = machine_outcomes(program)
        machine = machine_of(program)
        assert_same(program, oracle, searched(machine), "search")
        assert_same(program, oracle, Unrolled(machine).outcomes(), "unroll")
        assert bool(oracle) == completes
