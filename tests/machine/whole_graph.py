"""Progress from the whole graph of reachable states, and random programs that are rich in locks.

Nothing is reduced here: every state of Tab. 1 and Tab. 2, EVICT included, and then, backwards,
those from which some execution completes, and those from which some instruction is dispatched.
"""

from __future__ import annotations

import random
from collections import deque
from collections.abc import Iterable
from dataclasses import dataclass

from machine.engines import Outcomes
from programs import assembly

from rspverify.assembly.program import AssemblyProgram
from rspverify.machine.explicit import ExplicitMachine
from rspverify.machine.machine import Machine
from rspverify.machine.rules import InstructionRule
from rspverify.machine.state import State
from rspverify.records import replace


class TooLarge(Exception):
    """More states than were asked for."""


@dataclass(frozen=True)
class WholeGraph:
    """What the graph of all reachable states says.

    outcomes: of all complete executions; stuck: whether some state cannot reach a complete one; shortest: how many steps lead to the
    nearest such state from which no instruction can be dispatched either, None if there is none.
    """

    states: int
    outcomes: Outcomes
    stuck: bool
    shortest: int | None


def whole_graph(machine: Machine, limit: int) -> WholeGraph:
    """Every state of the machine. Raises TooLarge."""
    explicit = ExplicitMachine(replace(machine, evict=True), reduced=False)
    depth = {explicit.initial: 0}
    before: dict[State, list[State]] = {explicit.initial: []}
    dispatching, complete = set(), set()
    queue = deque([explicit.initial])
    while queue:
        state = queue.popleft()
        if explicit.complete(state):
            complete.add(state)
        for rule, after in explicit.successors(state):
            if isinstance(rule, InstructionRule):
                dispatching.add(state)
            if after not in depth:
                depth[after] = depth[state] + 1
                before[after] = []
                queue.append(after)
                if len(depth) > limit:
                    raise TooLarge
            before[after].append(state)
    completing = _backwards(complete, before)
    moving = _backwards(dispatching, before)
    shortest = min((depth[each] for each in depth.keys() - completing - moving), default=None)
    outcomes = frozenset(map(explicit.outcome, complete))
    return WholeGraph(len(depth), outcomes, len(completing) < len(depth), shortest)


def _backwards(goals: Iterable[State], before: dict[State, list[State]]) -> set[State]:
    found = set(goals)
    pending = list(found)
    while pending:
        for each in before[pending.pop()]:
            if each not in found:
                found.add(each)
                pending.append(each)
    return found


def locking_program(
    rng: random.Random, *, machine: str = "rsp", devices: int = 1, most: int = 4
) -> AssemblyProgram:
    """Two or three threads, each with some of its code under locks, in any order, kept or freed."""
    places = [(0, 0), (devices - 1, devices % 2), (0, rng.choice((0, 1)))][
        : rng.choice((2, 2, 2, 3))
    ]
    names = ["x", "y"][: rng.choice((1, 2, 2))]
    operation = -1
    threads = []
    for place in places:
        code: list[str] = []
        own: list[int] = []
        for _ in range(rng.randint(1, most if len(places) < 3 else 2)):
            x = rng.choice(names)
            text = rng.choice(
                (
                    *(f"ST {x} 1", f"ST {x} 2", f"LD {x}", f"LD {x}", f"INC_L1 {x}", f"INC_L2 {x}"),
                    *("FLU_L1 WG", "FLU_L1 DV", "FLU_L1 DV", "FLU_L2 DV", "INV_L1 WG", "INV_L1 DV"),
                    *(f"LK_L2 {x}", f"LK_L2 {x}", f"UL_L2 {x}", "LK_rmw DV", "UL_rmw DV"),
                )
            )
            if text.startswith(("LD", "ST", "INC")):
                operation += 1
            if own and rng.random() < 0.3:
                text += f" if {rng.choice(own)}={rng.choice((0, 1, 1))}"
            elif text.startswith(("LD", "INC")):
                own.append(operation)
            code.append(text)
        if rng.random() < 0.7:
            code = _locked(rng, code, names)
        threads.append((place, code))
    return assembly(*threads, machine=machine)


def _locked(rng: random.Random, code: list[str], names: list[str]) -> list[str]:
    """Some of the code between a lock and its unlock, if that is not forgotten."""
    start, end = sorted((rng.randint(0, len(code)), rng.randint(0, len(code))))
    lock = rng.choice([f"L2 {x}" for x in names] + ["rmw DV"])
    free = [f"UL_{lock}"] if rng.random() < 0.9 else []
    return [*code[:start], f"LK_{lock}", *code[start:end], *free, *code[end:]]
