"""Each instruction of Tab. 1 and each step of Tab. 2, alone: when it may happen, what it changes.

The scripts stand in rules.steps. What a step changes is everything that it changes, so that each
expectation also says that nothing else does.
"""

from collections.abc import Iterator
from itertools import product
from pathlib import Path

import pytest
from machine.stepping import FREE, Bench
from programs import assembly

from rspverify.architecture.machines import MACHINES
from rspverify.machine.machine import Machine
from rspverify.machine.replay import Replayer

PLACES = {"here": (0, 0), "near": (0, 1), "far": (1, 0)}
HERE, NEAR, FAR = PLACES.values()

WITH_L2S = ["rsp", "rsp-inv-l2", "rsp-st-waits"]
EACH_MACHINE = pytest.mark.parametrize("machine", WITH_L2S)
"""But the one that has no L2s: tests/machine/test_machines_for_devices.py."""


# ---- Scripts -----------------------------------------------------------------------------------------


def scripts() -> Iterator[tuple[str, str]]:
    """The tests of rules.steps, one for each choice of words: a name, and the lines."""
    text = Path(__file__).with_name("rules.steps").read_text(encoding="utf-8")
    for part in text.split("\n=== ")[1:]:
        name, *lines = [line.partition("#")[0].strip() for line in part.split("\n")]
        choices = [line[5:].split(": ") for line in lines if line.startswith("each ")]
        for chosen in product(*(words.split(" | ") for _, words in choices)):
            script = "\n".join(line for line in lines if line and not line.startswith("each "))
            for (word, _), it in zip(choices, chosen, strict=True):
                script = script.replace(word, it)
            machine = [it for it in chosen if it in MACHINES]
            yield " ".join([name, *chosen]), "\n".join([*machine, script])


@pytest.mark.parametrize("script", [pytest.param(it, id=name) for name, it in scripts()])
def test_a_script(script: str) -> None:
    threads, initial, machine, steps = [], {}, "rsp", []
    for line in script.split("\n"):
        first, _, rest = line.partition(": ")
        if line in MACHINES:
            machine = line
        elif first.split()[-1] in PLACES:
            assert first.startswith(f"P{len(threads)} ")
            threads.append((PLACES[first.split()[-1]], rest.split("; ")))
        elif first == "memory":
            initial = {x: int(value) for x, value in (it.split("=") for it in rest.split(", "))}
        else:
            steps.append(line)
    bench = Bench(*threads, initial=initial, machine=machine)
    for line in steps:
        follow(bench, line)


def follow(bench: Bench, line: str) -> None:
    """Do what a line of a script says."""
    word, _, rest = line.partition(" ")
    step, arrow, changes = line.partition(" ->")
    if arrow:
        assert bench.changes(step) == seen(changes), line
    elif word in ("may", "not"):
        assert bench.may(rest) is (word == "may"), line
    elif word == "see":
        assert seen(rest).items() <= bench.view().items(), line
    elif word == "load":
        bench.load(*rest.split())
    else:
        bench.do(*line.split(", "))


def seen(text: str) -> dict[str, object]:
    """What `view` shows, as `d0w0 x: 9 DV, memory x: 8`."""
    parts = [part.strip().partition(":") for part in text.split(",") if part.strip()]
    values = {name: value.strip() for name, _, value in parts}
    numbers = {"free": FREE} | {str(number): number for number in range(10)}
    return {name: numbers.get(value, value) for name, value in values.items()}


@EACH_MACHINE
def test_a_machine_starts_empty(machine: str) -> None:
    bench = Bench((HERE, ["LD x"]), (FAR, ["ST y 1"]), initial={"y": 7}, machine=machine)
    assert bench.view() == {
        **{f"{cache} {x}": "-" for cache in ("d0w0", "d1w0", "d0", "d1") for x in "xy"},
        **{f"{cache} fifo": "" for cache in ("d0w0", "d1w0", "d0", "d1")},
        **{f"lock {device} {x}": FREE for device in ("d0", "d1") for x in "xy"},
        "rmw d0w0": FREE,
        "rmw d1w0": FREE,
        "memory x": 0,
        "memory y": 7,
    }


# ---- Markers -----------------------------------------------------------------------------------

LAST_MARKERS = [
    ("FLU_L1 WG", "d0w0"),
    ("FLU_L1 DV", "d0w1"),
    ("FLU_L1 SY", "d1w0"),
    ("FLU_L2 DV", "d0"),
    ("FLU_L2 SY", "d1"),
]
EVERY_KIND = [
    *("LD x", "ST x 1", "INC_L1 x", "INC_L2 x"),
    *("FLU_L1 WG", "FLU_L2 DV", "INV_L1 WG"),
    *("LK_L2 x", "UL_L2 x", "LK_rmw DV", "UL_rmw DV"),
]


@pytest.mark.parametrize("flush, cache", LAST_MARKERS)
@pytest.mark.parametrize("following", EVERY_KIND)
def test_no_instruction_passes_a_marker_of_its_thread(
    flush: str, cache: str, following: str
) -> None:
    """However far away the last one is, and whatever the thread wants to do; others go on."""
    threads = (HERE, [flush, following]), (NEAR, ["ST y 1"]), (FAR, ["ST y 1"])
    bench = Bench(*threads, initial={"x": 0}).load("d0w0", "x").do("P0")
    marked = [name.split()[0] for name, fifo in bench.view().items() if fifo == "P0"]
    assert cache in marked
    bench.do("P1", "P2")
    for each in marked:
        if each != cache:
            bench.do(f"DEQMARKER {each} P0")
    assert not bench.may("P0")
    bench.do(f"DEQMARKER {cache} P0", "P0")


# ---- Program order ----------------------------------------------------------------------------


def test_instructions_come_in_program_order_and_once() -> None:
    bench = Bench((HERE, ["ST x 1", "ST y 2"]))
    first, second = (rule for code in bench.machine.code for rule in code)
    apply = bench.explicit.apply
    assert apply(bench.state, second) is None
    bench.do("P0")
    assert apply(bench.state, first) is None
    bench.do("P0")
    assert apply(bench.state, second) is None


# ---- Completion ------------------------------------------------------------------------------------


def test_an_execution_is_complete_when_all_is_dispatched_and_nothing_is_dirty() -> None:
    """Locks that are held, and fifos that are not empty, are no hindrance."""
    bench = Bench((HERE, ["LK_rmw DV", "LK_L2 x", "ST x 1", "FLU_L1 WG"]))

    def complete() -> bool:
        return bench.explicit.complete(bench.state)

    bench.do("P0", "P0", "P0", "P0")
    assert not complete()
    bench.do("FLUSH d0w0 x")
    assert not complete()
    bench.do("FLUSH d0 x")
    assert complete()
    assert bench.explicit.outcome(bench.state).memory == (("x", 1),)
    assert bench.view()["d0w0 fifo"] == "x P0"


# ---- An L2 that is treated as memory ---------------------------------------------------------------


def test_an_elided_l2_is_memory() -> None:
    """Settled point (b): always VALID, never DIRTY, nothing to wait for in its fifo."""
    threads = (HERE, ["ST x 5", "INC_L2 x"]), (NEAR, ["FLU_L2 SY", "FLU_L2 DV", "LK_L2 x"])
    bench = Bench(*threads, initial={"x": 7}, elide=True)
    assert [str(it) for it in bench.machine.structures if it.name[0] == "L"] == [
        "L1 d0 w0",
        "L1 d0 w1",
    ]
    assert bench.changes("FETCH d0w0 x") == {"d0w0 x": "7 CV"}
    bench.do("P0")
    assert bench.changes("P1") == {}
    assert bench.changes("P1") == {}
    assert not bench.may("P0")
    assert bench.changes("FLUSH d0w0 x") == {"d0w0 x": "5 CV", "memory x": 5}
    assert bench.changes("P0") == {"r1": 5, "d0w0 x": "5 CI", "memory x": 6}
    bench.do("P1")
    assert not bench.may("FETCH d0w0 x")


def test_l2s_of_several_devices_cannot_be_elided() -> None:
    program = assembly((HERE, ["LD x"]), (FAR, ["LD x"]))
    machine = Machine(program)
    assert not machine.elided
    assert [str(each) for each in machine.structures if each.name == "L2"] == ["L2 d0", "L2 d1"]


def test_without_evict_entries_are_never_dropped() -> None:
    machine = Machine(assembly((HERE, ["LD x"])), elide=False)
    assert not [rule for rule in machine.steps if rule.step.startswith("EVICT")]
    assert [rule for rule in Replayer(machine).machine.steps if rule.step.startswith("EVICT")]
