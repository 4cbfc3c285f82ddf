"""Whether a program can come to a stop for ever, by search (SEMANTICS §5, «progress»).

What is asked for is a reachable standstill: from every state from which no complete execution is
reachable, one can be reached. docs/machine.md, «Progress», argues this, and each reduction below.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from rspverify.limits import Limits
from rspverify.machine.explicit import ExplicitMachine, mind, path_to
from rspverify.machine.lock_order import LockOrder
from rspverify.machine.machine import Machine
from rspverify.machine.rules import Rule
from rspverify.machine.standstill import Standstills
from rspverify.machine.state import State
from rspverify.machine.trace import Replayer, ReplayError
from rspverify.machine.values import without_idle_values
from rspverify.verdict import Execution


@dataclass(frozen=True)
class Found:
    """What a search for a standstill found.

    schedule: an execution that ends in one, EVICT steps included, None if there is none; how: what
    the answer rests on, in words; shortest: whether no execution to a standstill has fewer steps.
    """

    schedule: tuple[Rule, ...] | None
    how: str
    shortest: bool = True


@dataclass(frozen=True)
class Standstill:
    """An execution that ends in a standstill, and what everything waits for there, in words.

    threads: per unfinished thread, in their order; rest: per fifo and DIRTY entry. cut: whether
    another thread is where the unrolling of its loop ends, so that it would go on.
    """

    execution: Execution
    threads: tuple[str, ...]
    rest: tuple[str, ...]
    cut: bool = False


def find_standstill(machine: Machine, limits: Limits) -> Found:
    """A shortest execution to a standstill, if there is any. Raises LimitReached.

    Exact. Steps count as in Figs 4 and 5, on the machine as it is given, L2 elided or not.
    """
    order = LockOrder(machine)
    if order.holds_from((0,) * len(machine.code)):
        return Found(None, "by the order of locks")
    return _Search(machine, order).run(limits)


class _Search:
    """Breadth first, over states in which nothing is evicted and values that decide nothing are 0.

    Evictions only take away, and so wait until the end. States from which on the locks are taken
    in an order are not looked at: no standstill follows.
    """

    def __init__(self, machine: Machine, order: LockOrder) -> None:
        plain = replace(machine, program=without_idle_values(machine.program), evict=False)
        self._explicit = ExplicitMachine(plain, dequeue_alone=False)
        self._standstills = Standstills(self._explicit)
        self._order = order
        self._threads = len(machine.code)
        self._rules = {rule.key: rule for rule in replace(machine, evict=True).rules}

    def run(self, limits: Limits) -> Found:
        """Search level by level, until what is found cannot be bettered."""
        start = self._explicit.initial
        came: dict[State, tuple[State, Rule] | None] = {start: None}
        frontier, steps = [start], 0
        best: list[Rule] | None = None
        while frontier and (best is None or steps < len(best)):
            following = []
            for state in frontier:
                if self._order.holds_from(state[: self._threads]):
                    continue
                successors = list(self._explicit.successors(state))
                evictions = self._to_a_standstill(state, successors)
                if evictions is not None and (best is None or steps + len(evictions) < len(best)):
                    best = [*path_to(came, state), *evictions]
                for rule, after in successors:
                    if after not in came:
                        came[after] = (state, rule)
                        following.append(after)
                mind(limits, len(came))
            frontier, steps = following, steps + 1
        schedule = None if best is None else tuple(self._rules[rule.key] for rule in best)
        return Found(schedule, f"{len(came):,} states searched")

    def _to_a_standstill(
        self, state: State, successors: list[tuple[Rule, State]]
    ) -> list[Rule] | None:
        """The EVICT steps that make a state a standstill; None if none do."""
        for rule, _ in successors:
            if rule.instruction is not None and self._standstills.lasting(rule, state):
                return None
        entries = self._standstills.evictions(state)
        if entries is None:
            return None
        return [self._rules[None, "EVICT", cache, x, None] for cache, x in entries]


def with_evictions(machine: Machine, schedule: Sequence[Rule]) -> tuple[Rule, ...]:
    """A schedule that ends in a standstill but for entries which must still be evicted, completed.

    Raises ReplayError if a step may not happen or the end is none even so.
    """
    replayer = Replayer(machine)
    full = Standstills(ExplicitMachine(replayer.machine, reduced=False))
    entries = full.evictions(replayer.states(schedule)[-1])
    if entries is None:
        raise ReplayError("the execution does not end in a standstill")
    evict = {
        (rule.cache, rule.location): rule for rule in replayer.machine.rules if rule.step == "EVICT"
    }
    return (*schedule, *(evict[entry] for entry in entries))


def replayed(machine: Machine, schedule: Sequence[Rule], lines: Sequence[int]) -> Standstill:
    """The standstill that a schedule ends in, on the machine without any reduction.

    `lines[i]` is the source line of operation i. Raises ReplayError if a step may not happen or
    the end is no standstill: a bug of whoever found it.
    """
    replayer = Replayer(machine)
    full = Standstills(ExplicitMachine(replayer.machine, reduced=False))
    last = replayer.states(schedule)[-1]
    if not full.is_standstill(last):
        raise ReplayError("the execution does not end in a standstill")
    threads, rest = full.waits(last)
    cut = full.cut(last)
    return Standstill(replayer.execution(schedule, lines), threads, rest, cut)
