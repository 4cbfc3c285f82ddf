"""Whether a program can come to a stop for ever, by search (the question of progress).

What is asked for is a reachable deadlock: from every state from which no complete execution is
reachable, one can be reached. docs/machine.md, «Progress», argues this, and each reduction below.
"""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct

from rspverify.limits import Limits
from rspverify.machine.deadlock import Deadlocks
from rspverify.machine.draining import drains
from rspverify.machine.explicit import BreadthFirst, ExplicitMachine
from rspverify.machine.idle_values import without_idle_values
from rspverify.machine.lock_order import LockOrder
from rspverify.machine.machine import Machine
from rspverify.machine.replay import Replayer, ReplayError
from rspverify.machine.rules import InstructionRule, Rule
from rspverify.machine.state import State
from rspverify.machine.wording import Waits
from rspverify.records import replace
from rspverify.verdict import Execution


class DeadlockSearch(Struct, frozen=True):
    """What a search for a deadlock found.

    schedule: an execution that ends in one, EVICT steps included, None if there is none; how: what
    the answer rests on, in words; shortest: whether no execution to a deadlock has fewer steps.
    """

    schedule: tuple[Rule, ...] | None
    how: str
    shortest: bool = True


class Deadlock(Struct, frozen=True):
    """An execution that ends in a deadlock, and what everything waits for there, in words.

    threads: per unfinished thread, in their order; rest: per fifo and DIRTY entry. cut: whether
    another thread is where the unrolling of its loop ends, so that it would go on.
    """

    execution: Execution
    threads: tuple[str, ...]
    rest: tuple[str, ...]
    cut: bool = False


def find_deadlock(machine: Machine, limits: Limits) -> DeadlockSearch:
    """A shortest execution to a deadlock, if there is any. Raises LimitReached.

    Exact. Steps count as in Figs 4 and 5, on the machine as it is given, L2 elided or not.
    """
    if not drains(machine):
        return of_all_states(machine, limits)
    order = LockOrder(machine)
    if order.holds_from((0,) * len(machine.code)):
        return DeadlockSearch(None, "by the order of locks")
    return _Search(machine, order).run(limits)


class _Search:
    """Breadth first, over states in which nothing is evicted and values that decide nothing are 0.

    Evictions only take away, and so wait until the end. States from which on the locks are taken
    in an order are not looked at: no deadlock follows.
    """

    def __init__(self, machine: Machine, order: LockOrder) -> None:
        whole = replace(machine.program, cuts=(), spins=(), within={})
        plain = replace(machine, program=without_idle_values(whole), evict=False)
        self._explicit = ExplicitMachine(plain, dequeue_alone=False)
        self._deadlocks = Deadlocks(self._explicit)
        self._order = order
        self._threads = len(machine.code)
        self._rules = {rule.key: rule for rule in replace(machine, evict=True).rules}

    def run(self, limits: Limits) -> DeadlockSearch:
        """Search, nearest states first, until what is found cannot be bettered."""
        walk = BreadthFirst(self._explicit.initial, limits)
        best: list[Rule] | None = None
        for state, steps in walk:
            if best is not None and steps >= len(best):
                break
            if self._order.holds_from(state[: self._threads]):
                continue
            successors = list(self._explicit.successors(state))
            evictions = self._to_a_deadlock(state, successors)
            if evictions is not None and (best is None or steps + len(evictions) < len(best)):
                best = [*walk.path_to(state), *evictions]
            walk.go_on(state, successors)
        schedule = None if best is None else tuple(self._rules[rule.key] for rule in best)
        return DeadlockSearch(schedule, f"{len(walk):,} states searched")

    def _to_a_deadlock(
        self, state: State, successors: list[tuple[Rule, State]]
    ) -> list[Rule] | None:
        """The EVICT steps that make a state a deadlock; None if none do."""
        for rule, _ in successors:
            if isinstance(rule, InstructionRule) and self._deadlocks.lasting(rule, state):
                return None
        entries = self._deadlocks.evictions(state)
        if entries is None:
            return None
        return [self._rules[self._deadlocks.losses[entry].key] for entry in entries]


def of_all_states(machine: Machine, limits: Limits) -> DeadlockSearch:
    """The same by all states of the machine without any reduction."""
    explicit = ExplicitMachine(replace(machine, evict=True), reduced=False)
    walk = BreadthFirst(explicit.initial, limits)
    before: dict[State, list[State]] = {}
    order: list[State] = []
    dispatching: list[State] = []
    for state, _ in walk:
        order.append(state)
        successors = list(explicit.successors(state))
        if explicit.ended(state) or any(isinstance(it, InstructionRule) for it, _ in successors):
            dispatching.append(state)
        for _, after in successors:
            before.setdefault(after, []).append(state)
        walk.go_on(state, successors)
    going_on = set(dispatching)
    while dispatching:
        for state in before.get(dispatching.pop(), ()):
            if state not in going_on:
                going_on.add(state)
                dispatching.append(state)
    stopped = next((state for state in order if state not in going_on), None)
    schedule = None if stopped is None else tuple(walk.path_to(stopped))
    return DeadlockSearch(schedule, f"{len(walk):,} states searched")


def with_evictions(machine: Machine, schedule: Sequence[Rule]) -> tuple[Rule, ...]:
    """A schedule that ends in a deadlock but for entries which must still be evicted, completed.

    Raises ReplayError if a step may not happen or the end is none even so.
    """
    replayer = Replayer(machine)
    deadlocks = Deadlocks(replayer.explicit)
    entries = deadlocks.evictions(replayer.states(schedule)[-1])
    if entries is None:
        raise ReplayError("the execution does not end in a deadlock")
    return (*schedule, *(deadlocks.losses[entry] for entry in entries))


def replay_deadlock(machine: Machine, schedule: Sequence[Rule], lines: Sequence[int]) -> Deadlock:
    """The deadlock that a schedule ends in, on the machine without any reduction.

    `lines[i]` is the source line of operation i. Raises ReplayError if a step may not happen or
    the end is no deadlock: a bug of whoever found it.
    """
    replayer = Replayer(machine)
    deadlocks, last = Deadlocks(replayer.explicit), replayer.states(schedule)[-1]
    if not deadlocks.is_deadlock(last):
        raise ReplayError("the execution does not end in a deadlock")
    end = deadlocks.settled(last) if deadlocks.drains else last
    waits = Waits(replayer.explicit, end)
    threads, rest = tuple(waits.of_threads()), (*waits.of_fifos(), *waits.of_entries())
    execution = replayer.execution(schedule, lines)
    return Deadlock(execution, threads, rest, replayer.explicit.cut(last))
