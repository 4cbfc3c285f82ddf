"""Which operations of a program an execution may execute, and what must be read that it does."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from enum import IntEnum
from itertools import chain, product
from math import prod

from msgspec import Struct

from rspverify.axiomatic.plan import WrongTool
from rspverify.litmus.program import Operation, Program, Thread
from rspverify.value import Constant, Expression, evaluate, reads

_MOST = 256
"""Where a program may be executed in more ways, they are not looked at one after the other."""

_VALUES = 4_096
"""So many values together the reads may have that decide what a thread executes."""


class State(IntEnum):
    """What an operation is in an execution. FAILS: of a compare-exchange that does."""

    ABSENT = 0
    FAILS = 1
    THERE = 2


class Demand(Struct, frozen=True):
    """That an expression over what is read is not 0, or that it is."""

    expression: Expression
    wanted: bool

    def holds(self, read: Mapping[int, int]) -> bool:
        """Whether it is so."""
        return (evaluate(self.expression, read) != 0) == self.wanted


def state_of(operation: Operation, read: Mapping[int, int]) -> State:
    """What an operation is where these values are read."""
    if not evaluate(operation.guard, read):
        return State.ABSENT
    if operation.success is not None and not evaluate(operation.success, read):
        return State.FAILS
    return State.THERE


def ways(
    program: Program, values: Mapping[int, Collection[int]]
) -> Iterator[tuple[Sequence[State], Sequence[Demand]]]:
    """The state of each operation in each way to execute a program, and what it demands.

    values: those that each read may have. Raises WrongTool where there are too many ways.
    """
    threads = [sorted(_states(thread, values)) for thread in program.threads]
    if prod(map(len, threads)) > _MOST:
        raise WrongTool(f"more than {_MOST} ways to execute the program")
    ends = [Demand(guard, False) for guard in program.goes_on]
    for chosen in product(*threads):
        states = [*chain(*chosen)]
        yield states, [*ends, *_demands(program, states)]


def _states(thread: Thread, values: Mapping[int, Collection[int]]) -> Collection[tuple[State, ...]]:
    conditions = [it for each in thread.operations for it in (each.guard, each.success) if it]
    looked_at = sorted(frozenset[int]().union(*map(reads, conditions)))
    if prod(len(values[it]) for it in looked_at) > _VALUES:
        raise WrongTool(f"more than {_VALUES} ways to go through {thread.name}")
    return {
        tuple(state_of(it, dict(zip(looked_at, chosen, strict=True))) for it in thread.operations)
        for chosen in product(*(values[it] for it in looked_at))
    }


def _demands(program: Program, states: Sequence[State]) -> Collection[Demand]:
    found: dict[Demand, None] = {}
    for it, state in zip(program.operations, states, strict=True):
        if not isinstance(it.guard, Constant):
            found[Demand(it.guard, state is not State.ABSENT)] = None
        if it.success is not None and state is not State.ABSENT:
            found[Demand(it.success, state is State.THERE)] = None
    return found
