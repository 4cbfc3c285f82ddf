"""How many steps are enough (K*), and how many are too few."""

from collections.abc import Callable
from dataclasses import dataclass

import pytest
from machine.engines import LIMITS, Unrolled, has, machine_of, random_programs, searched
from programs import assembly, listing

from rspverify.assembly.program import AssemblyProgram
from rspverify.machine.explicit import ExplicitMachine
from rspverify.machine.firings import Budget, enough_steps
from rspverify.machine.machine import Machine
from rspverify.machine.rules import Rule, StepRule
from rspverify.smt.solver import Solver
from rspverify.verdict import Outcome

Wanted = Callable[[Outcome], bool]


@dataclass(frozen=True)
class Known:
    """A program of the paper under a column of Tab. 3, and the outcome that must not be."""

    program: AssemblyProgram
    wrong: Wanted


MP_ORIGINAL = Known(
    assembly(
        ((0, 0), ["ST x 42", "FLU_L1 WG", "ST y 1"]),
        ((0, 1), ["INV_L1 WG", "LD y", "LD x if 2=1"]),
    ),
    has({2: 1, 3: 0}),
)
"""Fig. 4: the flag is read, and the datum is stale."""

MP_PROPOSED = Known(
    assembly(
        ((0, 0), ["ST x 42", "FLU_L1 WG", "ST y 1"]),
        ((0, 1), ["LD y", "INV_L1 WG", "LD x if 2=1"]),
    ),
    has({2: 1, 3: 0}),
)

EX4_ORIGINAL = Known(
    assembly(
        ((0, 0), ["INC_L1 x"]),
        ((0, 1), ["LK_L2 x", "FLU_L1 WG", "ST x 2", "INV_L1 DV", "UL_L2 x"]),
    ),
    has({}, x=1),
)
"""Fig. 5: the store is lost."""

REMOTE_STORE = [
    "LK_rmw DV",
    "FLU_L1 DV",
    "INV_L1 DV",
    "ST x 2",
    "FLU_L1 WG",
    "INV_L1 DV",
    "UL_rmw DV",
]
EX4_PROPOSED = Known(assembly(((0, 0), ["INC_L1 x"]), ((0, 1), REMOTE_STORE)), has({}, x=1))


# ---- K* --------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "known, elide, budget, total",
    [
        # 3 instructions a thread; x and y; a location for each and a marker.
        (MP_ORIGINAL, True, Budget(instructions=6, flushes=2, fetches=2, dequeues=3), 13),
        # Each flush and each fetch goes on to the L2, where the two flushed are enqueued as well.
        (MP_ORIGINAL, False, Budget(instructions=6, flushes=4, fetches=4, dequeues=5), 19),
        (MP_PROPOSED, True, Budget(instructions=6, flushes=2, fetches=2, dequeues=3), 13),
        # Both threads write x; only the INC reads it.
        (EX4_ORIGINAL, True, Budget(instructions=6, flushes=2, fetches=1, dequeues=3), 12),
        (EX4_ORIGINAL, False, Budget(instructions=6, flushes=4, fetches=2, dequeues=5), 17),
        # FLU_L1 DV marks two L1s.
        (EX4_PROPOSED, True, Budget(instructions=8, flushes=2, fetches=1, dequeues=5), 16),
    ],
)
def test_the_budget_of_a_known_program(
    known: Known, elide: bool, budget: Budget, total: int
) -> None:
    found = enough_steps(Machine(known.program, elide=elide))
    assert found == budget
    assert found.total == total


@pytest.mark.parametrize(
    "code, elided, real",
    [
        (["LD x"], (1, 0, 1, 0), (1, 0, 2, 0)),
        (["ST x 1"], (1, 1, 0, 1), (1, 2, 0, 2)),
        (["INC_L1 x"], (1, 1, 1, 1), (1, 2, 2, 2)),
        (["INC_L2 x"], (1, 0, 0, 0), (1, 1, 1, 1)),
        (["FLU_L1 WG"], (1, 0, 0, 1), (1, 0, 0, 1)),
        (["FLU_L1 DV"], (1, 0, 0, 2), (1, 0, 0, 2)),
        (["FLU_L2 DV"], (1, 0, 0, 0), (1, 0, 0, 1)),
        (["INV_L1 SY"], (1, 0, 0, 0), (1, 0, 0, 0)),
        (["LK_L2 x", "UL_L2 x"], (2, 0, 0, 0), (2, 0, 0, 0)),
        (["LK_rmw SY", "UL_rmw SY"], (2, 0, 0, 0), (2, 0, 0, 0)),
        (["ST x 1", "ST x 2"], (2, 2, 0, 2), (2, 4, 0, 4)),
    ],
)
def test_what_each_instruction_adds_to_the_budget(
    code: list[str], elided: tuple[int, ...], real: tuple[int, ...]
) -> None:
    """Instructions, flushes, fetches, dequeues, on a device with another work-group."""
    program = assembly(((0, 0), code), ((0, 1), []), initial={"x": 0})
    assert enough_steps(Machine(program, elide=True)) == Budget(*elided)
    assert enough_steps(Machine(program, elide=False)) == Budget(*real)


@pytest.mark.parametrize("flush, dequeues", [("FLU_L1 SY", 3), ("FLU_L2 SY", 2)])
def test_a_flush_of_the_system_adds_a_marker_for_each_cache(flush: str, dequeues: int) -> None:
    program = assembly(((0, 0), [flush]), ((0, 1), []), ((1, 0), []))
    assert enough_steps(Machine(program, elide=False)) == Budget(1, 0, 0, dequeues)


@pytest.mark.parametrize("name, count", [("small", 12), ("tiny, two devices", 6)])
@pytest.mark.parametrize("alone", [True, False])
def test_steps_beyond_enough_add_no_outcome(name: str, count: int, alone: bool) -> None:
    decided = 0
    for program in random_programs(name, count, "enough "):
        machine = machine_of(program)
        if enough_steps(machine).total > (18 if alone else 16):
            continue
        reference = searched(machine)
        found = Unrolled(machine, alone=alone, extra=2).outcomes()
        assert found == reference, listing(program)
        decided += 1
    assert decided >= count // 2, f"{count - decided} of {count} were too large"


@pytest.mark.parametrize("name", ["small", "tiny, two devices"])
def test_every_outcome_has_an_execution_within_the_budget(name: str) -> None:
    """By search alone, part by part: the shortest execution stays within each part of K*."""
    for program in random_programs(name, 40, "parts "):
        machine = machine_of(program)
        budget = enough_steps(machine)
        search = ExplicitMachine(machine, dequeue_alone=False)
        for outcome in searched(machine):
            schedule = search.shortest(lambda found, it=outcome: found == it, LIMITS)
            assert schedule is not None, listing(program)
            counted = parts(schedule)
            assert counted.total == len(schedule)
            for part in ("instructions", "flushes", "fetches", "dequeues"):
                assert getattr(counted, part) <= getattr(budget, part), listing(program)


def parts(schedule: list[Rule]) -> Budget:
    """How many steps of each kind a schedule has."""
    kinds = [rule.step[:-3] if isinstance(rule, StepRule) else "" for rule in schedule]
    return Budget(
        kinds.count(""),
        kinds.count("FLUSH"),
        kinds.count("FETCH"),
        kinds.count("DEQLOC") + kinds.count("DEQMARKER"),
    )


# ---- One step fewer --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "known, elide, shortest",
    [
        (MP_ORIGINAL, True, 12),
        (MP_ORIGINAL, False, 15),
        (EX4_ORIGINAL, True, 10),
        (EX4_ORIGINAL, False, 12),
    ],
)
def test_a_wrong_outcome_needs_its_shortest_execution(
    known: Known, elide: bool, shortest: int
) -> None:
    """Counted as in Figs 4 and 5, dequeues included: there with so many steps, not with fewer."""
    machine = Machine(known.program, elide=elide)

    def reached(steps: int) -> bool:
        return any(map(known.wrong, Unrolled(machine, alone=False, steps=steps).outcomes()))

    assert not reached(shortest - 1)
    assert reached(shortest)
    full = Machine(known.program, elide=elide, evict=True)
    searches = ExplicitMachine(machine, dequeue_alone=False), ExplicitMachine(full, reduced=False)
    for search in searches:
        schedule = search.shortest(known.wrong, LIMITS)
        assert schedule is not None and len(schedule) == shortest


@pytest.mark.parametrize("known", [MP_PROPOSED, EX4_PROPOSED])
@pytest.mark.parametrize("elide", [True, False])
def test_the_proposed_scheme_never_has_the_wrong_outcome(known: Known, elide: bool) -> None:
    machine = Machine(known.program, elide=elide)
    assert ExplicitMachine(machine).shortest(known.wrong, LIMITS) is None
    outcomes = Unrolled(machine).outcomes()
    assert outcomes and not any(map(known.wrong, outcomes))


def test_the_shortest_execution_of_fig_4() -> None:
    machine = Machine(MP_ORIGINAL.program, elide=True)
    search = ExplicitMachine(machine, dequeue_alone=False)
    schedule = search.shortest(MP_ORIGINAL.wrong, LIMITS)
    assert schedule is not None
    labels = [str(rule) for rule in schedule]
    assert parts(schedule) == Budget(instructions=6, flushes=2, fetches=2, dequeues=2)
    # Its point: x is fetched after the invalidation and before the flush, thus stale.
    order = [
        "INV_L1 WG",
        "FETCH_L1 x",
        "FLUSH_L1 x",
        "FLUSH_L1 y",
        "FETCH_L1 y",
        "LD r y",
        "LD r x",
    ]
    assert [each for each in labels if each in order] == order


@pytest.mark.parametrize("name, count", [("small", 25), ("tiny, two devices", 8)])
def test_with_fewer_steps_there_are_the_outcomes_of_shorter_executions(
    name: str, count: int
) -> None:
    """Whatever the bound: exactly those outcomes that some execution of so many steps has."""
    for program in random_programs(name, count, "fewer "):
        machine = machine_of(program)
        total = enough_steps(machine).total
        if total > 13:
            continue
        search = ExplicitMachine(machine, dequeue_alone=False)
        lengths = {}
        for outcome in searched(machine):
            schedule = search.shortest(lambda found, it=outcome: found == it, LIMITS)
            assert schedule is not None
            lengths[outcome] = len(schedule)
        for steps in sorted({0, *lengths.values(), *(each - 1 for each in lengths.values())}):
            found = Unrolled(machine, alone=False, steps=steps).outcomes()
            expected = {outcome for outcome, length in lengths.items() if length <= steps}
            assert found == expected, f"{steps} steps of\n{listing(program)}"


def test_idle_steps_come_last() -> None:
    """Where step k is idle, an execution has at most k steps."""
    machine = Machine(MP_ORIGINAL.program, elide=True)
    unrolling = Unrolled(machine, alone=False).unrolling
    solver = Solver(LIMITS)
    solver.add(*unrolling.constraints)
    possible = [
        steps
        for steps in range(unrolling.steps + 1)
        if solver.find(unrolling.idle[steps : steps + 1]) is not None
    ]
    # FLUSH of x and y, LD of an unset flag from a FETCH: 5 instructions, 3 steps, 2 dequeues.
    assert possible == list(range(10, unrolling.steps + 1))
