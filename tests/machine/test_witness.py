"""The rf, mo and last writes of the events engine against a simulation that keeps track of writes."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from functools import cmp_to_key
from typing import Any

import pytest
from machine.cells import l2_is_memory
from machine.engines import LIMITS, machine_of, random_programs
from machine.hostile import hostile_assembly
from machine.provenance import Generated as Expected
from machine.provenance import Simulation
from programs import assembly, listing, with_operations

from rspverify.assembly.program import AssemblyProgram
from rspverify.machine.events import Events
from rspverify.machine.machine import Machine
from rspverify.machine.witness import GeneratedWitness
from rspverify.smt.solver import Model, Solver
from rspverify.smt.term import Term, all_of
from rspverify.value import Expression, evaluate
from rspverify.verdict import Outcome

HERE, NEAR, FAR = (0, 0), (0, 1), (1, 0)
ACCESSES = (
    ("LD", "ST", "INC_L1", "INC_L2", "FLU_L1", "INV_L1", "LK_L2", "UL_L2"),
    ("LD", "ST", "ST"),
    ("ST", "INC_L1", "INC_L2"),
)


class Witnesses:
    """The executions of a machine by the events engine, with what they generate."""

    def __init__(self, machine: Machine) -> None:
        self.machine = machine
        self.events = Events(machine, LIMITS)
        self.own = GeneratedWitness(self.events)
        self.solver = Solver(LIMITS)
        self.solver.add(*self.events.constraints, *self.events.order.constraints())
        self.solver.add(*self.own.constraints)
        self._writes = {
            each.operation: each
            for each in machine.program.instructions
            if each.mnemonic.writes and each.location is not None
        }

    def each_outcome(self) -> Iterator[tuple[Outcome, Model]]:
        """A model of each outcome."""
        while (model := self.solver.find()) is not None:
            outcome = self.events.outcome(model)
            yield outcome, model
            self.solver.add(~all_of(self.events.assumptions(outcome)))

    def each_witness(self) -> set[tuple[Outcome, Expected]] | None:
        """As `everything`; None where a model describes no order of the writes at all."""
        try:
            return self.everything()
        except AssertionError:
            return None

    def everything(self) -> set[tuple[Outcome, Expected]]:
        """Each outcome with each rf and mo that some model has."""
        found = set()
        while (model := self.solver.find()) is not None:
            one = (self.events.outcome(model), self.generated(model))
            assert one not in found
            found.add(one)
            self.solver.add(~all_of(self._assumptions(*one)))
        return found

    def generated(self, model: Model) -> Expected:
        """What a model says of rf and mo, and that its last writes are the last of these."""
        executed = dict(self.events.outcome(model).reads)
        rf = frozenset(
            pair for pair, term in self.own.rf.items() if pair[1] in executed and model[term]
        )
        order = {x: self._order(model, x) for x in self.machine.locations}
        stays = []
        for x in self.machine.locations:
            (write,) = [it for it, term in self.own.last[x] if model[term]]
            stays.append((x, write))
        found = Expected(rf, frozenset(order.items()), frozenset(stays))
        assert model[self.own.overtaken] == found.overtaken
        return found

    def _order(self, model: Model, x: str) -> tuple[int, ...]:
        written = [
            operation
            for operation, it in self._writes.items()
            if it.location == x
            and model[self.events.guards[it.index]]
            and (it.success is None or _holds(it.success, model, self.events))
        ]
        compare = cmp_to_key(lambda a, b: -1 if model[self.own.mo[a, b]] else 1)
        order = sorted(written, key=compare)
        for place, a in enumerate(order):
            for b in order[place + 1 :]:
                assert model[self.own.mo[a, b]] and not model[self.own.mo[b, a]]
        return tuple(order)

    def _assumptions(self, outcome: Outcome, found: Expected) -> list[Term]:
        pairs = [
            self.own.mo[a, b]
            for _, order in found.order
            for place, a in enumerate(order)
            for b in order[place + 1 :]
        ]
        stays = [term for x, write in found.stays for it, term in self.own.last[x] if it == write]
        rf = [self.own.rf[it] for it in found.rf]
        return [*self.events.assumptions(outcome), *rf, *pairs, *stays]


def _holds(condition: Expression, model: Model, events: Events) -> bool:
    """Whether a condition is not 0 in the execution that a model describes."""
    return bool(evaluate(condition, dict(events.outcome(model).reads)))


def programs() -> Iterator[AssemblyProgram]:
    """On one device and on two; as schemes make them, and of any instructions."""
    yield from random_programs("small", 20, "witness ")
    yield from random_programs("medium", 8, "witness ")
    yield from random_programs("small, two devices", 15, "witness ")
    yield from random_programs("medium, two devices", 8, "witness ")
    for number in range(25):
        rng = random.Random(f"witness {number}")
        yield hostile_assembly(rng, devices=1 + number % 2)
    for number in range(15):
        rng = random.Random(f"witness of operations {number}")
        yield with_operations(rng, hostile_assembly(rng, devices=1 + number % 2))


def test_generated_rf_and_mo_are_those_of_the_replay() -> None:
    """Of one execution for each outcome, replayed step by step."""
    compared = 0
    for number, program in enumerate(programs()):
        machine = machine_of(program)
        if number % 5 == 0:
            machine = Machine(program, elide=False)
        simulation = Simulation(program, elide_l2=l2_is_memory(machine))
        witnesses = Witnesses(machine)
        for outcome, model in witnesses.each_outcome():
            last = simulation.replay(witnesses.events.schedule(model))
            assert simulation.complete(last), listing(program)
            assert simulation.outcome(last) == outcome, listing(program)
            assert simulation.generated(last) == witnesses.generated(model), listing(program)
            compared += 1
    assert compared > 160


@pytest.mark.parametrize("devices, most, states, decided", [(1, 6, 600, 7), (2, 4, 900, 3)])
def test_every_rf_and_mo_is_generated(devices: int, most: int, states: int, decided: int) -> None:
    """All pairs of outcome, rf and mo, by exhaustive search of the simulation."""
    done = several = 0
    for number in range(12):
        rng = random.Random(f"every {devices} {number}")
        program = hostile_assembly(rng, devices=devices, most=most, palettes=ACCESSES)
        if number % 2:
            program = with_operations(rng, program)
        machine = machine_of(program)
        expected = Simulation(program, elide_l2=l2_is_memory(machine)).executions(states)
        if expected is None:
            continue
        assert Witnesses(machine).everything() == expected, listing(program)
        done += 1
        several += len(expected) > len({outcome for outcome, _ in expected})
    assert done >= decided
    assert several >= decided // 10, "outcomes that several witnesses have"


def generated(*threads: tuple[tuple[int, int], list[str]]) -> set[tuple[Outcome, Expected]]:
    """All that a program generates; the simulation says the same."""
    program = assembly(*threads)
    machine = machine_of(program)
    found = Witnesses(machine).everything()
    assert found == Simulation(program, elide_l2=l2_is_memory(machine)).executions(50_000)
    return found


def orders(found: set[tuple[Outcome, Expected]], x: str) -> set[tuple[int, ...]]:
    return {dict(each.order)[x] for _, each in found}


def test_writes_of_one_flush_keep_their_l1_order() -> None:
    found = generated((HERE, ["ST x 1", "ST x 2"]))
    assert orders(found, "x") == {(0, 1)}


def test_writes_of_one_value_are_told_apart() -> None:
    """Two stores of 1 in different work-groups: the read knows whose it got."""
    found = generated((HERE, ["ST x 1"]), (NEAR, ["ST x 1", "LD x"]))
    assert {each.rf for _, each in found} == {frozenset({(0, 2)}), frozenset({(1, 2)})}
    assert orders(found, "x") == {(0, 1), (1, 0)}


def test_memory_decides_across_devices() -> None:
    """INC_L2 of two devices that both read 0: what they wrote has an order all the same."""
    found = generated((HERE, ["INC_L2 x"]), (FAR, ["INC_L2 x"]))
    both = {each for outcome, each in found if outcome.reads == ((0, 0), (1, 0))}
    assert {dict(each.order)["x"] for each in both} == {(0, 1), (1, 0)}


def test_a_read_of_the_initial_value_after_it_was_overwritten() -> None:
    found = generated((HERE, ["ST x 0"]), (NEAR, ["LD x"]))
    assert {each.rf for _, each in found} == {frozenset({(None, 1)}), frozenset({(0, 1)})}


def test_a_compare_exchange_that_fails_passes_on_what_it_read() -> None:
    found = generated((HERE, ["ST x 1"]), (NEAR, ["RMW_L2 x 5?6"]), (NEAR, ["LD x"]))
    assert orders(found, "x") == {(0,)}
    assert {each.rf for _, each in found} == {
        frozenset({(first, 1), (then, 2)}) for first in (None, 0) for then in (None, 0)
    }


def test_an_old_value_may_be_written_back_over_a_later_write() -> None:
    """By a compare-exchange in an L1 that does not see the store of another work-group."""
    found = generated((HERE, ["ST x 1"]), (NEAR, ["RMW_L1 x 5?6"]))
    assert {(outcome.memory, each.overtaken) for outcome, each in found} == {
        ((("x", 1),), False),
        ((("x", 0),), True),
    }
    assert orders(found, "x") == {(0,)}


def test_a_wrong_order_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    """Taken from when writes were made, not from when they arrived."""
    program = assembly((HERE, ["ST x 1"]), (NEAR, ["ST x 2"]))
    expected = Simulation(program, elide_l2=True).executions(1_000)
    assert Witnesses(machine_of(program)).everything() == expected
    made_first: Callable[..., Term] = lambda self, a, b: self._events.order.before(  # noqa: E731
        self._writing[a][0], self._writing[b][0]
    )
    monkeypatch.setattr(GeneratedWitness, "_in_order", made_first)
    assert Witnesses(machine_of(program)).each_witness() != expected


def test_a_flush_that_carries_too_little_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    """The first of two merged stores, left behind by the flush of the second."""
    program = assembly((HERE, ["ST x 1", "ST x 2"]), (NEAR, ["ST x 3"]))
    expected = Simulation(program, elide_l2=True).executions(2_000)
    assert Witnesses(machine_of(program)).everything() == expected
    original = GeneratedWitness._carriers
    own: Callable[..., Any] = lambda self, *of: list(original(self, *of))[:1]  # noqa: E731
    monkeypatch.setattr(GeneratedWitness, "_carriers", own)
    assert Witnesses(machine_of(program)).each_witness() != expected


def test_what_carries_a_write_is_asked_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """And not once for each write that it is compared with."""
    asked: list[tuple[Any, ...]] = []
    original = GeneratedWitness._carriers

    def carriers(self: GeneratedWitness, *of: Any) -> Any:
        asked.append(of)
        return original(self, *of)

    monkeypatch.setattr(GeneratedWitness, "_carriers", carriers)
    machine = machine_of(assembly((HERE, [f"ST x {value}" for value in range(1, 6)])))
    GeneratedWitness(Events(machine, LIMITS))
    assert asked and len(asked) == len(set(asked)) <= 5
