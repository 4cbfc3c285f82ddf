"""A guard, update, step or effect that an engine does not know is an error, never passed over."""

from __future__ import annotations

from collections.abc import Callable
from copy import copy
from dataclasses import dataclass
from itertools import chain
from typing import Any

import pytest
from machine.engines import LIMITS, machine_of
from programs import assembly

from rspverify.machine.cases import InCases
from rspverify.machine.events import Events, ShapeUnknown
from rspverify.machine.explicit import ExplicitMachine
from rspverify.machine.lock_order import LockOrder
from rspverify.machine.machine import Machine
from rspverify.machine.relevance import watched_cells
from rspverify.machine.replay import Replayer
from rspverify.machine.rules import InstructionRule, StepRule
from rspverify.machine.shapes import Shapes
from rspverify.machine.unroll import Unrolling
from rspverify.machine.wording import Waits
from rspverify.records import replace

HERE, NEAR = (0, 0), (0, 1)


@dataclass(frozen=True)
class Unknown:
    """A kind that nobody has heard of."""


ENGINES: dict[str, Callable[[Machine], object]] = {
    "explicit": ExplicitMachine,
    "unreduced": lambda machine: ExplicitMachine(machine, reduced=False),
    "unroll": lambda machine: Unrolling(machine, 4, LIMITS),
    "unroll with dequeues": lambda machine: Unrolling(machine, 4, LIMITS, dequeue_alone=False),
    "events": lambda machine: Events(machine, LIMITS),
}

EACH_ENGINE = pytest.mark.parametrize("engine", ENGINES.values(), ids=ENGINES)


def fresh() -> Machine:
    """A machine whose threads write, mark, look and lock, so that every kind of rule is needed."""
    code = ["ST x 1", "FLU_L1 DV", "LK_L2 x", "UL_L2 x", "LD x"]
    return machine_of(assembly((HERE, code), (NEAR, ["LD x", "INC_L2 x"])))


def with_first(**changed: Any) -> Machine:
    """The machine with its first instruction changed."""
    machine = fresh()
    (first, *thread), *others = machine.code
    vars(machine)["code"] = ((replace(first, **changed), *thread), *others)
    return machine


def with_steps(wanted: Callable[[StepRule], bool], **changed: Any) -> Machine:
    """The machine with some of its steps changed, and their shapes told from what they are now."""
    machine = fresh()
    ground = copy(machine._ground)
    ground.steps = tuple(
        replace(rule, **changed) if wanted(rule) else rule for rule in machine.steps
    )
    rules = [*chain.from_iterable(machine.code), *ground.steps]
    memory = [word for x in machine.locations if (word := machine.memory(x))]
    ground.shapes = Shapes(rules, ground.ending, memory, lambda _: False)
    ground.in_cases = InCases(rules, ground.shapes, memory)
    vars(machine).update({"_ground": ground, "steps": ground.steps})
    return machine


@EACH_ENGINE
def test_what_is_known_is_encoded(engine: Callable[[Machine], object]) -> None:
    engine(fresh())


@EACH_ENGINE
def test_an_unknown_guard_is_an_error(engine: Callable[[Machine], object]) -> None:
    for machine in (
        with_first(guards=(Unknown(),)),
        with_steps(lambda rule: rule.step == "FLUSH_L1", guards=(Unknown(),)),
        with_steps(lambda rule: rule.step == "FETCH_L1", guards=(Unknown(),)),
    ):
        with pytest.raises((AssertionError, ShapeUnknown), match=r"Unknown|FLUSH_L1"):
            engine(machine)


@EACH_ENGINE
def test_an_unknown_update_is_an_error(engine: Callable[[Machine], object]) -> None:
    for machine in (
        with_first(updates=(Unknown(),)),
        with_steps(lambda rule: rule.step == "FLUSH_L1", updates=(Unknown(),)),
        with_steps(lambda rule: rule.step == "FETCH_L1", updates=(Unknown(),)),
    ):
        with pytest.raises((AssertionError, ShapeUnknown), match=r"Unknown|FLUSH_L1"):
            engine(machine)


def test_a_search_for_a_deadlock_knows_all_kinds() -> None:
    with pytest.raises(AssertionError, match="Unknown"):
        LockOrder(with_first(guards=(Unknown(),)))
    with pytest.raises(AssertionError, match="Unknown"):
        LockOrder(with_first(updates=(Unknown(),)))


def test_what_matters_is_not_told_of_unknown_kinds() -> None:
    machine = fresh()
    rule: InstructionRule = machine.code[0][0]
    for changed in ({"guards": (Unknown(),)}, {"updates": (Unknown(),)}):
        with pytest.raises(AssertionError, match="Unknown"):
            watched_cells(machine, [replace(rule, **changed)])  # type: ignore[arg-type]


def test_an_unknown_effect_is_an_error() -> None:
    program = assembly((HERE, ["ST x 1"]))
    (store,) = program.code[0]
    effects: Any = (Unknown(),)
    changed = replace(store, mnemonic=replace(store.mnemonic, effects=effects))
    with pytest.raises(AssertionError, match="Unknown"):
        _ = Machine(replace(program, code=((changed,),)), elide=True).rules


def test_an_unknown_guard_is_not_put_into_words() -> None:
    explicit = ExplicitMachine(fresh())
    rule = replace(explicit.machine.code[0][0], guards=(Unknown(),))  # type: ignore[arg-type]
    assert str(rule) == "ST r x"
    with pytest.raises(AssertionError, match="Unknown"):
        explicit.failing(explicit.initial, rule)
    explicit._code = ((rule,),)
    with pytest.raises(AssertionError, match="Unknown"):
        list(Waits(explicit, explicit.initial).of_threads())


def test_a_replay_knows_all_kinds() -> None:
    program = fresh().program
    (store, *thread), *others = program.code
    effects: Any = (Unknown(),)
    first = replace(store, mnemonic=replace(store.mnemonic, effects=effects))
    with pytest.raises(AssertionError, match="Unknown"):
        Replayer(Machine(replace(program, code=((first, *thread), *others)), elide=True))
