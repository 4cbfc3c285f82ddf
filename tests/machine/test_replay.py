"""Schedules replayed on the machine of Tab. 1 and Tab. 2: what is shown is what happens."""

import pytest
from machine.engines import LIMITS, Unrolled, has, machine_of, random_programs, searched
from machine.stepping import Bench
from programs import assembly, listing

from rspverify.machine.explicit import ExplicitMachine
from rspverify.machine.firings import enough_steps
from rspverify.machine.machine import Machine
from rspverify.machine.replay import Replayer, ReplayError
from rspverify.machine.rules import Rule
from rspverify.machine.unroll import Unrolling
from rspverify.machine.wording import Waits
from rspverify.verdict import CacheState, Entry

MP = assembly(
    ((0, 0), ["ST x 42", "FLU_L1 WG", "ST y 1"]),
    ((0, 1), ["INV_L1 WG", "LD y", "LD x if 2=1"]),
)
WRONG = has({2: 1, 3: 0})

FIG_4 = [
    *("P0", "P0", "P1", "FETCH d0w1 x", "FLUSH d0w0 x", "DEQLOC d0w0 x", "DEQMARKER d0w0 P0"),
    *("P0", "FLUSH d0w0 y", "FETCH d0w1 y", "P1", "P1"),
]
"""A shortest execution that goes wrong, as the Bench names its steps."""


def schedule_of(machine: Machine, steps: list[str]) -> list[Rule]:
    """The rules that these steps are."""
    return Bench(program=machine.program, elide=bool(machine.elided)).do(*steps).taken


@pytest.fixture
def machine() -> Machine:
    return Machine(MP, elide=True)


@pytest.fixture
def fig_4(machine: Machine) -> list[Rule]:
    return schedule_of(machine, FIG_4)


# ---- Schedules of the engines ----------------------------------------------------------------------


@pytest.mark.parametrize("name, count", [("small", 15), ("medium", 3), ("tiny, two devices", 8)])
def test_what_the_solver_finds_replays(name: str, count: int) -> None:
    """Dequeues that happen by themselves in the formula become steps again; then what is not needed
    for the outcome is left out."""
    for program in random_programs(name, count, "replay "):
        machine = machine_of(program)
        if enough_steps(machine).total > 20:
            continue
        replayer = Replayer(machine)
        for outcome, schedule in Unrolled(machine).runs():
            full = replayer.with_dequeues(schedule)
            assert replayer.outcome(full) == outcome, listing(program)
            assert [rule for rule in full if not rule.dequeues] == schedule
            kept = replayer.without_idle_steps(full, lambda it, o=outcome: it == o)
            assert len(kept) <= len(full)
            assert replayer.outcome(kept) == outcome, listing(program)


@pytest.mark.parametrize("name, count", [("small", 15), ("tiny, two devices", 8)])
def test_what_the_search_finds_replays(name: str, count: int) -> None:
    """Both with dequeues as steps and without."""
    for program in random_programs(name, count, "replay "):
        machine = machine_of(program)
        replayer = Replayer(machine)
        for outcome in searched(machine):
            alone = ExplicitMachine(machine).shortest(lambda it, o=outcome: it == o, LIMITS)
            steps = ExplicitMachine(machine, dequeue_alone=False).shortest(
                lambda it, o=outcome: it == o, LIMITS
            )
            assert alone is not None and steps is not None
            assert replayer.outcome(replayer.with_dequeues(alone)) == outcome, listing(program)
            assert replayer.outcome(steps) == outcome, listing(program)


POINTLESS = assembly(((0, 0), ["FLU_L1 WG", "ST y 1"]), ((0, 0), ["ST x 1"]))
"""No marker can stand behind y, so the formula has no y in the fifo; the machine may have it there
before x."""


def test_each_schedule_of_the_formula_replays_once_its_dequeues_are_made_anew() -> None:
    """Every schedule with dequeues as steps, not one for each outcome.

    In the formula a dequeue of x that nothing waits for may come before its turn.
    """
    machine = machine_of(POINTLESS)
    replayer = Replayer(machine)
    seen = 0
    for outcome, schedule in Unrolled(machine, alone=False).schedules():
        seen += 1
        anew = replayer.with_dequeues(rule for rule in schedule if not rule.dequeues)
        assert replayer.outcome(anew) == outcome, [str(rule) for rule in schedule]
    assert seen > 20


# ---- Schedules that are no executions --------------------------------------------------------------


def test_the_schedule_of_fig_4_replays(machine: Machine, fig_4: list[Rule]) -> None:
    replayer = Replayer(machine)
    outcome = replayer.outcome(fig_4)
    assert outcome is not None and WRONG(outcome)
    assert (outcome.reads, outcome.memory) == (((2, 1), (3, 0)), (("x", 42), ("y", 1)))
    assert len(replayer.states(fig_4)) == len(fig_4) + 1


@pytest.mark.parametrize("place", range(len(FIG_4)))
def test_a_schedule_without_one_of_its_steps_is_noticed(
    machine: Machine, fig_4: list[Rule], place: int
) -> None:
    """Each step of a shortest execution is needed: by a later step, or to complete."""
    replayer = Replayer(machine)
    tampered = fig_4[:place] + fig_4[place + 1 :]
    assert replayer.outcome(tampered) is None
    if place < len(FIG_4) - 1:
        with pytest.raises(ReplayError, match=r"step \d+, .* may not happen there"):
            replayer.states(tampered)


def test_a_schedule_in_another_order_is_noticed(machine: Machine, fig_4: list[Rule]) -> None:
    replayer = Replayer(machine)
    swapped = fig_4.copy()
    swapped[0], swapped[1] = swapped[1], swapped[0]
    with pytest.raises(ReplayError, match="step 1, FLU_L1 WG, may not happen there"):
        replayer.states(swapped)
    assert replayer.outcome(swapped) is None
    with pytest.raises(ReplayError):
        replayer.with_dequeues(swapped)


def test_an_instruction_happens_once(machine: Machine, fig_4: list[Rule]) -> None:
    with pytest.raises(ReplayError, match="step 13, LD r x"):
        Replayer(machine).states([*fig_4, fig_4[-1]])


def test_an_execution_that_does_not_complete_has_no_outcome(
    machine: Machine, fig_4: list[Rule]
) -> None:
    replayer = Replayer(machine)
    for place in range(len(fig_4)):
        assert replayer.outcome(fig_4[:place]) is None


# ---- Steps that can be left out --------------------------------------------------------------------


def test_idle_steps_are_left_out(machine: Machine, fig_4: list[Rule]) -> None:
    """A fetch that nobody reads, an eviction, a second fetch, a dequeue that nothing waits for."""
    replayer = Replayer(machine)
    longer = schedule_of(
        machine,
        ["FETCH d0w0 y", "EVICT d0w0 y", *FIG_4[:4], "FETCH d0w1 x", *FIG_4[4:], "DEQLOC d0w0 y"],
    )
    assert replayer.outcome(longer) == replayer.outcome(fig_4)
    kept = replayer.without_idle_steps(longer, WRONG)
    assert len(kept) == len(fig_4)
    outcome = replayer.outcome(kept)
    assert outcome is not None and WRONG(outcome)


def test_no_step_of_a_shortest_schedule_is_left_out(machine: Machine, fig_4: list[Rule]) -> None:
    assert Replayer(machine).without_idle_steps(fig_4, WRONG) == fig_4


# ---- What is shown ---------------------------------------------------------------------------------


def test_the_states_of_fig_4_are_shown(machine: Machine, fig_4: list[Rule]) -> None:
    shown = Replayer(machine).execution(fig_4, [3, 4, 7, 8])
    assert shown.threads == ("L1 d0 w0", "L1 d0 w1")
    assert shown.caches == ("L1 d0 w0", "L1 d0 w1")
    assert [step.label for step in shown.steps] == [
        "ST 42 x",
        "FLU_L1 WG",
        "INV_L1 WG",
        "FETCH_L1(x, 0)",
        "FLUSH_L1(x, 42)",
        "DEQLOC_L1(x)",
        "DEQMARKER_L1",
        "ST 1 y",
        "FLUSH_L1(y, 1)",
        "FETCH_L1(y, 1)",
        "LD r y (reads 1)",
        "LD r x (reads 0)",
    ]
    assert [step.thread for step in shown.steps] == [
        *(0, 0, 1, None, None, None, None, 0, None, None, 1, 1)
    ]
    first, second = "L1 d0 w0", "L1 d0 w1"
    assert [step.cache for step in shown.steps] == [
        *(None, None, None, second, first, first, first, None, first, second, None, None)
    ]
    lines = [step.line for step in shown.steps if step.line is not None]
    assert lines[0] == 3 and lines[-3:] == [4, 7, 8]


def fifo(*elements: str) -> tuple[tuple[str, tuple[str, ...]], ...]:
    return (("", elements),)


def test_a_snapshot_has_entries_fifos_and_memory(machine: Machine, fig_4: list[Rule]) -> None:
    shown = Replayer(machine).execution(fig_4, [1, 2, 3, 4])
    empty = {"L1 d0 w0": CacheState({}, ()), "L1 d0 w1": CacheState({}, ())}
    assert shown.initial.caches == empty
    assert shown.initial.memory == {"x": 0, "y": 0}
    assert shown.initial.locks == {}

    stale = shown.steps[3].after  # Fetched while the store is still in the other L1.
    assert stale.caches == {
        "L1 d0 w0": CacheState({"x": Entry(42, dirty=True, valid=True)}, fifo("x", "FLUSH(P0)")),
        "L1 d0 w1": CacheState({"x": Entry(0, dirty=False, valid=True)}, ()),
    }
    assert stale.memory == {"x": 0, "y": 0}

    end = shown.steps[-1].after
    assert end.caches == {
        "L1 d0 w0": CacheState(
            {"x": Entry(42, False, True), "y": Entry(1, False, True)}, fifo("y")
        ),
        "L1 d0 w1": CacheState({"x": Entry(0, False, True), "y": Entry(1, False, True)}, ()),
    }
    assert end.memory == {"x": 42, "y": 1}


def test_a_snapshot_has_the_locks_that_are_held() -> None:
    program = assembly(
        ((0, 0), ["LK_L2 x", "UL_L2 x"]), ((0, 1), ["LK_rmw DV"]), ((1, 0), ["LK_L2 x"])
    )
    machine = machine_of(program)
    steps = ["P0", "P1", "P2", "P0"]
    shown = Replayer(machine).execution(schedule_of(machine, steps), [1])
    first, second, third, last = (step.after.locks for step in shown.steps)
    assert first == {"lock of x on d0": "P0"}
    assert second == first | {"rmw d0 w0": "P1", "rmw d0 w1": "P1"}
    assert third == second | {"lock of x on d1": "P2"}
    assert last == {name: holder for name, holder in third.items() if name not in first}


def test_a_snapshot_has_the_l2s_of_each_device() -> None:
    program = assembly(((0, 0), ["INC_L2 x", "FLU_L2 SY"]), ((1, 0), ["ST x 5"]))
    machine = machine_of(program)
    schedule = schedule_of(machine, ["FETCH d0 x", "P0", "P0", "P1", "FLUSH d1w0 x"])
    shown = Replayer(machine).execution(schedule, [1, 2, 3])
    assert shown.caches == ("L1 d0 w0", "L1 d1 w0", "L2 d0", "L2 d1")
    assert shown.steps[1].label == "INC_L2 r x (reads 0)"
    assert shown.steps[-1].cache == "L1 d1 w0"
    assert shown.steps[-1].after.caches == {
        "L1 d0 w0": CacheState({}, ()),
        "L1 d1 w0": CacheState({"x": Entry(5, dirty=False, valid=True)}, fifo("x")),
        "L2 d0": CacheState({"x": Entry(1, dirty=True, valid=False)}, fifo("x", "FLUSH(P0)")),
        "L2 d1": CacheState({"x": Entry(5, dirty=True, valid=True)}, fifo("FLUSH(P0)", "x")),
    }


def test_an_evicted_entry_is_no_longer_shown(machine: Machine) -> None:
    schedule = schedule_of(machine, ["FETCH d0w0 x", "EVICT d0w0 x"])
    shown = Replayer(machine).execution(schedule, [1, 2, 3, 4])
    assert [dict(step.after.caches["L1 d0 w0"].entries) for step in shown.steps] == [
        {"x": Entry(0, dirty=False, valid=True)},
        {},
    ]
    assert [step.label for step in shown.steps] == ["FETCH_L1(x, 0)", "EVICT_L1(x)"]


# ---- What a thread waits for -----------------------------------------------------------------------


def test_what_each_thread_waits_for() -> None:
    program = assembly(
        ((0, 0), ["LK_rmw DV", "FLU_L1 WG", "LD x"]), ((0, 1), ["INC_L1 x"]), ((0, 1), ["ST y 1"])
    )
    machine = machine_of(program)
    replayer = Replayer(machine)
    explicit = ExplicitMachine(replayer.machine, reduced=False)
    (state,) = replayer.states(schedule_of(machine, ["P0", "P0"]))[-1:]
    assert list(Waits(explicit, state).of_threads()) == [
        "P0 at LD r x waits for its marker to leave the fifo of L1 d0 w0 and x VALID in L1 d0 w0",
        "P1 at INC_L1 r x waits for x VALID in L1 d0 w1 and the rmw d0 w1, held by P0",
        "P2 at ST r y waits for nothing",
    ]


def test_an_unrolling_of_no_steps_has_no_execution() -> None:
    machine = Machine(MP, elide=True)
    assert Unrolled(machine, steps=0).outcomes() == frozenset()
    assert Unrolling(machine, 0, LIMITS).fires == []
