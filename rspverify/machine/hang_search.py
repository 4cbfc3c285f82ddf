"""Whether a program may never end under a scheduler: by all states of the machine.

Loops that only spin are loops here: where one goes on its thread is back at its first instruction,
and what it has read is forgotten, so that there are finitely many states. A program *hangs* if a
state is reachable from which, with some groups stopped for as long as the scheduler may stop them,
no state is in which all others have ended. What can happen again and again happens some time, so
that a run which never ends comes to such a state (docs/machine.md, «Progress»).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import chain, combinations
from typing import Protocol

from msgspec import Struct

from rspverify.limits import LimitReached, Limits
from rspverify.machine.closures import compile_guards
from rspverify.machine.draining import at_risk, drains, never_shut
from rspverify.machine.explicit import ExplicitMachine, check_limits
from rspverify.machine.idle_values import without_idle_values
from rspverify.machine.machine import Machine
from rspverify.machine.replay import Replayer, ReplayError
from rspverify.machine.rested import Rested
from rspverify.machine.resting import resting
from rspverify.machine.rules import Deliver, InstructionRule, Rule
from rspverify.machine.state import State
from rspverify.machine.wording import Waits
from rspverify.records import replace
from rspverify.verdict import Execution

_MOST_GROUPS = 6
"""With more work-groups there are too many choices of those that are stopped."""

_REPLAYED = 5_000
"""So many states without any reduction are looked at to see that a hang is one."""

_ENVIRONMENT = -1
"""What stands for the group of a step that is no instruction."""

Groups = frozenset[int]
"""Work-groups by their numbers: by device, and then by work-group."""


class Scheduling(Protocol):
    """What a scheduler may do, by the groups that have executed something and those that ended."""

    @property
    def counts_starts(self) -> bool:
        """Whether it matters which groups have started."""

    def may_start(self, started: Groups, finished: Groups) -> bool:
        """Whether one more group may start."""

    def may_stop(self, started: Groups, finished: Groups, groups: int) -> Groups:
        """The groups, of so many, of which any may be stopped for as long as this is so."""


class Hang(Struct, frozen=True):
    """An execution after which, with some groups stopped, the others never all end.

    turning: by thread that goes round in a loop for ever, the instructions by which it reads there,
    and what each of them may read; stopped: the groups that are stopped.
    """

    schedule: tuple[Rule, ...]
    turning: Mapping[int, Mapping[InstructionRule, frozenset[int]]]
    stopped: Groups


class HangSearch(Struct, frozen=True):
    """What a search for a hang found. hang: None if there is none; how: what this rests on."""

    hang: Hang | None
    how: str


class ShownHang(Struct, frozen=True):
    """The execution of a hang, and what each thread does ever after, in words.

    stopped: the threads that the scheduler stops.
    """

    execution: Execution
    threads: tuple[str, ...]
    stopped: tuple[str, ...]


def find_hang(machine: Machine, scheduling: Scheduling, limits: Limits) -> HangSearch:
    """A hang that a scheduler allows, if there is any. Exact. Raises LimitReached."""
    explicit = _explicit(machine)
    start = (*explicit.initial, 0)
    graph = _Graph(explicit, scheduling, limits, start)
    return HangSearch(_hang(graph), f"{len(graph.states):,} states searched")


def _explicit(machine: Machine) -> ExplicitMachine:
    """The machine with its loops, evicting where what is evicted may not be fetched again."""
    if not drains(machine):
        return ExplicitMachine(replace(machine, evict=True), reduced=False, looping=True)
    program = without_idle_values(machine.program)
    free = never_shut(machine)
    plain = replace(machine, program=program, evict=bool(at_risk(machine)))
    return ExplicitMachine(plain, dequeue_alone=free, looping=True, resting=resting(plain))


class _Graph:
    """All states that a machine reaches under a scheduler, and what leads from one to another.

    A state is one of the machine, and at its end the groups that have started, as bits. edges: by
    state, the group of each step, or `_ENVIRONMENT`, and the state that it leads to. still: groups
    that do nothing.
    """

    def __init__(
        self,
        explicit: ExplicitMachine,
        scheduling: Scheduling,
        limits: Limits,
        start: State,
        still: Groups = frozenset(),
    ) -> None:
        self.explicit = explicit
        self._scheduling = scheduling
        self._still = still
        machine = explicit.machine
        threads = machine.program.threads
        places = sorted({(it.device, it.workgroup) for it in threads})
        if len(places) > _MOST_GROUPS:
            raise LimitReached(f"more than {_MOST_GROUPS} work-groups that may be stopped")
        self.group = [places.index((it.device, it.workgroup)) for it in threads]
        self.groups = frozenset(range(len(places)))
        self._ends = [len(code) for code in machine.code]
        self._at_the_end = compile_guards(machine.ending, explicit.layout)
        self._allowed: dict[tuple[int, Groups], Groups] = {}
        self.states = [start]
        self._number = {start: 0}
        self._came: list[tuple[int, Rule] | None] = [None]
        self.edges: list[list[tuple[int, int]]] = []
        while len(self.edges) < len(self.states):
            self.edges.append(list(self._leading(len(self.edges))))
            check_limits(limits, len(self.states))

    def _leading(self, place: int) -> Iterator[tuple[int, int]]:
        state = self.states[place]
        if self.explicit.cut(state):
            return
        for rule, after in self.explicit.successors(state):
            group = _ENVIRONMENT
            if isinstance(rule, InstructionRule):
                group = self.group[rule.thread]
                if group in self._still or not self._may_go(state, group):
                    continue
                if self._scheduling.counts_starts:
                    after = (*after[:-1], state[-1] | 1 << group)
            number = self._number.get(after)
            if number is None:
                number = self._number[after] = len(self.states)
                self.states.append(after)
                self._came.append((place, rule))
            yield group, number

    def _may_go(self, state: State, group: int) -> bool:
        """Whether a group has started, or may."""
        if not self._scheduling.counts_starts or state[-1] >> group & 1:
            return True
        return self._scheduling.may_start(self._started(state), self.finished(state))

    def _started(self, state: State) -> Groups:
        return frozenset(group for group in self.groups if state[-1] >> group & 1)

    def finished(self, state: State) -> Groups:
        """The groups all of whose threads have ended."""
        ends = enumerate(self._ends)
        return self.groups - {self.group[thread] for thread, end in ends if state[thread] < end}

    def may_stop(self, place: int) -> Groups:
        """The groups that have not ended and may be stopped."""
        state = self.states[place]
        finished = self.finished(state)
        found = self._allowed.get((state[-1], finished))
        if found is None:
            started = self._started(state)
            found = self._scheduling.may_stop(started, finished, len(self.groups)) - finished
            self._allowed[state[-1], finished] = found
        return found

    def over(self, place: int, stopped: Groups) -> bool:
        """Whether all groups have ended that are not stopped, or nobody knows what follows.

        Or the scheduler may not go on so: a group that it does not stop waits to be started.
        """
        state = self.states[place]
        if not stopped <= self.may_stop(place) or self.explicit.cut(state):
            return True
        left = self.groups - stopped - self.finished(state)
        if not left:
            return bool(stopped) or self._at_the_end(state)
        return not all(self._may_go(state, group) for group in left)

    def path_to(self, place: int) -> tuple[Rule, ...]:
        """The rules that led to a state."""
        rules = []
        step = self._came[place]
        while step is not None:
            rules.append(step[1])
            step = self._came[step[0]]
        return tuple(reversed(rules))


def _hang(graph: _Graph) -> Hang | None:
    """A hang with the fewest groups stopped."""
    before: list[list[tuple[int, int]]] = [[] for _ in graph.states]
    for place, edges in enumerate(graph.edges):
        for group, after in edges:
            before[after].append((group, place))
    every = sorted(frozenset[int]().union(*map(graph.may_stop, range(len(graph.states)))))
    for some in chain.from_iterable(combinations(every, n) for n in range(len(every) + 1)):
        stopped = frozenset(some)
        ending = {place for place in range(len(graph.states)) if graph.over(place, stopped)}
        waiting = list(ending)
        while waiting:
            for group, place in before[waiting.pop()]:
                if group not in stopped and place not in ending:
                    ending.add(place)
                    waiting.append(place)
        first = next((it for it in range(len(graph.states)) if it not in ending), None)
        if first is not None:
            for_ever = _circle(graph, first, stopped)
            return Hang(graph.path_to(min(for_ever)), _turning(graph, for_ever, stopped), stopped)
    return None


def _circle(graph: _Graph, start: int, stopped: Groups) -> set[int]:
    """States that a state leads to and that lead to each other, and to no others.

    The first that Tarjan's algorithm finds (SIAM J. Computing 1, 1972).
    """
    number = {start: 0}
    lowest = {start: 0}
    path = [start]
    work = [(start, _after(graph, start, stopped))]
    while True:
        place, after = work[-1]
        for each in after:
            if each not in number:
                number[each] = lowest[each] = len(number)
                path.append(each)
                work.append((each, _after(graph, each, stopped)))
                break
            lowest[place] = min(lowest[place], number[each])
        else:
            if lowest[place] == number[place]:
                return set(path[path.index(place) :])
            work.pop()
            lowest[work[-1][0]] = min(lowest[work[-1][0]], lowest[place])


def _after(graph: _Graph, place: int, stopped: Groups) -> Iterator[int]:
    return iter([after for group, after in graph.edges[place] if group not in stopped])


def _turning(
    graph: _Graph, for_ever: set[int], stopped: Groups
) -> dict[int, dict[InstructionRule, frozenset[int]]]:
    """The threads that execute something for ever, and what they read."""
    found: dict[int, dict[InstructionRule, frozenset[int]]] = {}
    for place in sorted(for_ever):
        state = graph.states[place]
        for rule, _ in graph.explicit.successors(state):
            if isinstance(rule, InstructionRule) and graph.group[rule.thread] not in stopped:
                reads = found.setdefault(rule.thread, {})
                for update in rule.takes:
                    if isinstance(update, Deliver):
                        value = graph.explicit.cell(state, update.source)
                        reads[rule] = reads.get(rule, frozenset()) | {value}
    return found


def replay_hang(
    machine: Machine, hang: Hang, scheduling: Scheduling, lines: tuple[int, ...] | list[int]
) -> ShownHang:
    """A hang on the machine without any reduction. `lines[i]` is the line of operation i.

    Raises ReplayError if a step may not happen, or the groups that are not stopped may all end
    after all, as far as that is looked at: a bug of whoever found it.
    """
    replayer = Replayer(machine, looping=True)
    explicit = replayer.explicit
    schedule = Rested(explicit, resting(machine)).completed(hang.schedule)
    end = replayer.states(schedule)[-1]
    groups = _groups_of(machine)
    started = {groups[it.thread] for it in schedule if isinstance(it, InstructionRule)}
    counts = sum(1 << group for group in started) if scheduling.counts_starts else 0
    try:
        limits = Limits(states=_REPLAYED)
        after = _Graph(explicit, scheduling, limits, (*end, counts), hang.stopped)
    except LimitReached:
        pass
    else:
        if any(after.over(place, hang.stopped) for place in range(len(after.states))):
            raise ReplayError("the execution does not end where nobody can go on to the end")
    waits = Waits(explicit, end)
    unfinished = [it.thread for it in explicit.next_rules(end)]
    threads, stopped = [], []
    for thread, words in zip(unfinished, waits.of_threads(), strict=True):
        began = groups[thread] in started
        if groups[thread] in hang.stopped:
            stopped.append(f"P{thread} is stopped" + ("" if began else " before it has started"))
        elif thread in hang.turning:
            threads.append(_round(thread, hang.turning[thread], lines))
        else:
            threads.append(words)
    return ShownHang(replayer.execution(schedule, lines), tuple(threads), tuple(stopped))


def _groups_of(machine: Machine) -> list[int]:
    threads = machine.program.threads
    places = sorted({(it.device, it.workgroup) for it in threads})
    return [places.index((it.device, it.workgroup)) for it in threads]


def _round(
    thread: int,
    reads: Mapping[InstructionRule, frozenset[int]],
    lines: tuple[int, ...] | list[int],
) -> str:
    parts = [
        f"{' or '.join(map(str, sorted(values)))} for {rule.instruction.location} "
        f"at line {lines[rule.instruction.operation]}"
        for rule, values in reads.items()
    ]
    return f"P{thread} goes round for ever" + (f", reading {' and '.join(parts)}" if parts else "")
