"""Every engine finds the same outcomes: of random programs, one device or two, sound or not.

The programs are the same in every run. Some are too large for an engine: each test says how many
it must decide, and counts what it skips. What is compared is always the set of all outcomes.
"""

from collections.abc import Iterator

import pytest
from hypothesis import given, settings
from machine.cells import l2_is_memory
from machine.engines import LIMITS, Outcomes, Unrolled, machine_of, random_programs, searched
from oracle_adapter import machine_outcomes
from programs import SMALL, TINY_TWO_DEVICES, assemblies, assembly, listing

from rspverify.assembly.program import AssemblyProgram
from rspverify.limits import LimitReached
from rspverify.machine.explicit import ExplicitMachine
from rspverify.machine.firings import enough_steps
from rspverify.machine.machine import Machine
from rspverify.records import replace

PROPERTY = settings(max_examples=25, derandomize=True)


def assert_same(program: AssemblyProgram, reference: Outcomes, found: Outcomes, what: str) -> None:
    """The outcomes are those of the reduced search."""
    lacks, adds = sorted(reference - found), sorted(found - reference)
    assert found == reference, f"{what} lacks {lacks} and adds {adds}, for\n{listing(program)}"


def small_enough(
    programs: Iterator[AssemblyProgram], states: int = 4_000, outcomes: int = 8, steps: int = 24
) -> Iterator[tuple[AssemblyProgram, Machine, Outcomes]]:
    """The programs that are cheap for search and solver, with their outcomes by reduced search."""
    for program in programs:
        machine = machine_of(program)
        try:
            found = searched(machine, states)
        except LimitReached:
            continue
        if len(found) <= outcomes and enough_steps(machine).total <= steps:
            yield program, machine, found


@pytest.mark.parametrize(
    "name, count, decided",
    [
        ("small", 55, 50),
        ("medium", 20, 16),
        ("tiny, two devices", 20, 20),
        ("small, two devices", 17, 9),
        ("medium, two devices", 10, 4),
    ],
)
def test_unrolling_agrees_with_search(name: str, count: int, decided: int) -> None:
    """At K*, fifos dequeuing by themselves: the default of `check`."""
    done = interesting = 0
    for program, machine, reference in small_enough(random_programs(name, count)):
        assert_same(program, reference, Unrolled(machine).outcomes(), "unroll")
        assert l2_is_memory(machine) == ("two" not in name)
        done += 1
        interesting += len(reference) > 1
    assert done >= decided, f"{count - done} of {count} were too large"
    assert interesting >= decided // 3


@pytest.mark.parametrize(
    "name, count, decided",
    [("small", 30, 20), ("medium", 8, 2), ("tiny, two devices", 17, 10)],
)
def test_dequeues_as_steps_of_their_own_change_nothing(name: str, count: int, decided: int) -> None:
    """At the full K*, in which dequeues count."""
    done = 0
    for program, machine, reference in small_enough(random_programs(name, count), steps=16):
        found = Unrolled(machine, alone=False).outcomes()
        assert_same(program, reference, found, "unroll with dequeues as steps")
        done += 1
    assert done >= decided, f"{count - done} of {count} were too large"


@pytest.mark.parametrize("name, count, decided", [("small", 30, 24), ("tiny, two devices", 15, 2)])
def test_the_reductions_of_the_search_change_nothing(name: str, count: int, decided: int) -> None:
    """EVICT, every FETCH, and fifos that are never forgotten: Tab. 1 and Tab. 2 to the letter."""
    done = 0
    for program in random_programs(name, count, "full "):
        machine = machine_of(program)
        reference = searched(machine, 100_000)
        alone = ExplicitMachine(machine, dequeue_alone=False).search(LIMITS).outcomes
        assert_same(program, reference, alone, "search with dequeues as steps")
        try:
            found = searched(replace(machine, evict=True), 5_000, reduced=False)
        except LimitReached:
            continue
        assert_same(program, reference, found, "search without reductions")
        done += 1
    assert done >= decided, f"{count - done} of {count} were too large"


@pytest.mark.parametrize(
    ("name", "numbers"),
    [
        ("small", (0, 1, 4, 5, 10, 13, 14, 15, 17, 18, 19)),
        ("tiny, two devices", (1, 2, 5, 7, 13, 14)),
    ],
)
def test_the_oracle_agrees(name: str, numbers: tuple[int, ...]) -> None:
    """An implementation of Tab. 1 and Tab. 2 that shares no code with this one, on programs that
    are small enough for one that reduces nothing."""
    for number, program in zip(numbers, random_programs(name, numbers, "oracle "), strict=True):
        variant = "rsp-st-waits" if number % 5 == 4 else "rsp"
        reference = machine_outcomes(program, variant=variant, limit=6_000)
        found = searched(Machine(program, elide=False))
        assert_same(program, reference, found, "search with real L2s")
        machine = machine_of(program)
        assert_same(program, reference, searched(machine), "search")
        assert_same(program, reference, Unrolled(machine).outcomes(), "unroll")


@pytest.mark.parametrize("name, count", [("small", 40), ("medium", 20)])
def test_on_one_device_the_l2_is_memory(name: str, count: int) -> None:
    """docs/semantics.md, The machine: L2 on one device."""
    for program in random_programs(name, count, "elide "):
        real, elided = (Machine(program, elide=elide) for elide in (False, True))
        reference = searched(elided, 100_000)
        assert_same(program, reference, searched(real, 200_000), "search with a real L2")
        if enough_steps(real).total <= 16:
            assert_same(program, reference, Unrolled(real).outcomes(), "unroll with a real L2")


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


@PROPERTY
@given(assemblies(SMALL))
def test_any_small_program(program: AssemblyProgram) -> None:
    """The same on programs that hypothesis makes, and shrinks if they fail."""
    machine = machine_of(program)
    assert_same(program, searched(machine), Unrolled(machine).outcomes(), "unroll")


@PROPERTY
@given(assemblies(TINY_TWO_DEVICES))
def test_any_small_program_on_two_devices(program: AssemblyProgram) -> None:
    """Real L2s."""
    machine = machine_of(program)
    assert_same(program, searched(machine), Unrolled(machine).outcomes(), "unroll")
