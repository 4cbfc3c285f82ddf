"""The selftest finds bugs: each is planted in one engine, found on random pairs, and made small.

Four operations are what message passing needs: two written, and two read to see their order.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from rspverify.litmus.program import Program
from rspverify.litmus.reader import read_program
from rspverify.machine import closures, explicit, unroll
from rspverify.machine.event import EventFifos
from rspverify.machine.rules import InstructionRule, Ready, Rule
from rspverify.records import replace
from rspverify.scheme.reader import read_scheme
from rspverify.selftest.compare import Choices, compare
from rspverify.selftest.run import Disagreement, Task, tasks_for
from rspverify.smt.term import TRUE
from rspverify.soundness.machine_side import EventsExecutions, UnrolledExecutions
from rspverify.soundness.settings import Engine
from rspverify.soundness.sides import ModelSide
from rspverify.source import Source

CHOICES = Choices(states=4_000, steps=14)
_SMALL, _SMALL_WITNESS, _SMALL_FAILURE = 37, 94, 16
"""The pairs that show a verdict that is too good, or an engine that fails, and are quickly made
smaller."""


def first_disagreement(
    most: int, choices: Choices, devices: int | None = None, start: int = 0
) -> Disagreement:
    """Of so many pairs of a seed; there must be one."""
    for task in tasks_for(6, most, start, devices, choices):
        found = task.decide().disagreement
        if found is not None:
            return found
    raise AssertionError(f"{most} pairs did not show the bug")


def kinds(it: Disagreement, choices: Choices) -> set[tuple[str, ...]]:
    """What disagrees on the files that were written, read again."""
    scheme = read_scheme(Source("s.yaml", it.scheme))
    return {each.kind for each in compare(program_of(it), scheme, choices).differences}


def program_of(it: Disagreement) -> Program:
    return read_program(Source("t.litmus", it.litmus))


def no_locks(monkeypatch: pytest.MonkeyPatch) -> None:
    """unroll: a lock is always ready."""
    right = unroll.Unrolling._holds

    def wrong(self: Any, guard: Any) -> Any:
        return TRUE if isinstance(guard, Ready) else right(self, guard)

    monkeypatch.setattr(unroll.Unrolling, "_holds", wrong)


def no_invalidation(monkeypatch: pytest.MonkeyPatch) -> None:
    """explicit: INV_L1 does nothing."""

    def wrong(rule: Rule, layout: Any) -> Any:
        if isinstance(rule, InstructionRule) and rule.instruction.mnemonic.name == "INV_L1":
            rule = replace(rule, updates=())
        return closures.compile_rule(rule, layout)

    monkeypatch.setattr(explicit, "compile_rule", wrong)


def no_waiting_for_flushes(monkeypatch: pytest.MonkeyPatch) -> None:
    """events: a flush marker leaves its fifo at once."""
    monkeypatch.setattr(EventFifos, "constraints", lambda self, order: [])


def no_stale_values(monkeypatch: pytest.MonkeyPatch) -> None:
    """unroll: outcomes in which some location ends with 1 are forgotten."""
    right = UnrolledExecutions.outcomes

    def wrong(self: Any) -> Any:
        return (it for it in right(self) if 1 not in dict(it.memory).values())

    monkeypatch.setattr(UnrolledExecutions, "outcomes", wrong)


@pytest.mark.parametrize(
    ("plant", "engine", "operations", "instructions", "start"),
    [
        (no_locks, Engine.UNROLL, 3, 9, 280),  # The 281st pair is the first that shows it.
        (no_invalidation, Engine.EXPLICIT, 4, 7, 0),
        (no_waiting_for_flushes, Engine.EVENTS, 4, 7, 0),
        (no_stale_values, Engine.UNROLL, 1, 1, 0),
    ],
)
def test_a_bug_in_an_engine(
    plant: Callable[[pytest.MonkeyPatch], None],
    engine: Engine,
    operations: int,
    instructions: int,
    start: int,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    other = Engine.EVENTS if engine is Engine.EXPLICIT else Engine.EXPLICIT
    engines = tuple(it for it in Engine if it in (engine, other))
    choices = replace(CHOICES, engines=engines, turn=None)
    with monkeypatch.context() as planted:
        plant(planted)
        found = first_disagreement(400, choices, start=start)
        assert found.kind[0] == "outcomes" and engine.value in " ".join(found.kind)
        assert found.kind in kinds(found, choices)
    assert not kinds(found, choices), "the engines must agree once the bug is gone"
    assert len(program_of(found).operations) <= operations, found.litmus
    scheme = read_scheme(Source("s.yaml", found.scheme))
    assert sum(len(row.code) for row in scheme.rows) <= instructions, found.scheme


@pytest.mark.parametrize("engine", [Engine.EXPLICIT, Engine.EVENTS])
def test_a_verdict_that_is_too_good(engine: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every outcome is taken for an allowed one."""
    choices = replace(CHOICES, engines=(engine,))
    with monkeypatch.context() as planted:
        planted.setattr(ModelSide, "allows", lambda self, outcome: True)
        found = first_disagreement(200, choices, start=_SMALL)
        assert found.kind == ("verdict", f"check by {engine.value}")
        assert "says SOUND, by definition it is UNSOUND" in found.words
    assert len(program_of(found).operations) <= 4, found.litmus


def test_a_witness_reading_that_is_too_good(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every execution is taken to agree with the model by its own rf and mo."""
    choices = replace(CHOICES, engines=(Engine.EXPLICIT, Engine.EVENTS))
    with monkeypatch.context() as planted:
        planted.setattr(EventsExecutions, "candidates", lambda self, source: iter(()))
        tasks = [
            task for task in tasks_for(6, 200, _SMALL_WITNESS, None, choices) if not task.number % 2
        ]
        found = next(it for it in map(disagreement, tasks) if it)
        assert found.kind == ("verdict", "check by events, witness")
        assert "says SOUND, by definition it is UNSOUND" in found.words
    assert len(program_of(found).operations) <= 4, found.litmus


def disagreement(task: Task) -> Disagreement | None:
    return task.decide().disagreement


def test_an_engine_that_fails(monkeypatch: pytest.MonkeyPatch) -> None:
    """What an engine raises is a disagreement, not the end of the run."""

    def wrong(self: Any) -> Any:
        raise AssertionError("no model")

    choices = replace(CHOICES, engines=(Engine.EXPLICIT, Engine.UNROLL))
    monkeypatch.setattr(UnrolledExecutions, "outcomes", wrong)
    found = first_disagreement(4, choices, start=_SMALL_FAILURE)
    assert found.kind == ("failure", "unroll", "AssertionError")
    assert found.words == "unroll failed: AssertionError: no model"
    assert len(program_of(found).operations) == 1


def test_no_bug_no_disagreement() -> None:
    with pytest.raises(AssertionError, match="did not show"):
        first_disagreement(4, CHOICES)
