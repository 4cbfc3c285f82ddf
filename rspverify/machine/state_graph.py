"""Whether a program may never end under a scheduler: by the graph of the machine's states.

A program *hangs* if a state is reachable from which, with some groups stopped for as long as the
scheduler may stop them, no state is in which all others have ended. What can happen again and again
happens some time, so that a run which never ends comes to such a state (docs/machine.md,
«Progress»). Loops that only spin are loops here: where one goes on its thread is back at its first
instruction, and what it has read is forgotten, so that there are finitely many states.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import chain, combinations

from msgspec import Struct, field

from rspverify.graph import BreadthFirst, components
from rspverify.limits import LimitReached, Limits
from rspverify.machine.draining import NOTHING_RESTS, drains, losses_last, never_shut, resting
from rspverify.machine.explicit import ExplicitMachine
from rspverify.machine.lock_order import LockOrder
from rspverify.machine.machine import Machine
from rspverify.machine.relevance import without_idle_values
from rspverify.machine.replay import Replayer, ReplayError
from rspverify.machine.rules import Deliver, InstructionRule, Rule
from rspverify.machine.state import State
from rspverify.machine.wording import Waits
from rspverify.records import replace
from rspverify.schedulers import FAIR, Groups, Scheduler
from rspverify.verdict import Execution

_MOST_GROUPS = 6
"""With more work-groups there are too many choices of those that are stopped."""

_REPLAYED = 5_000
"""So many states without any reduction are looked at to see that a hang is one."""

_ENVIRONMENT = -1
"""What stands for the group of a step that is no instruction."""

_NOBODY: Groups = frozenset()


class Hang(Struct, frozen=True):
    """An execution after which, with some groups stopped, the others never all end.

    scheduler: that allows it; turning: by thread that goes round in a loop for ever, the
    instructions by which it reads there, and what each of them may read; stopped: the groups that
    are stopped; shortest: whether nothing can happen after it but steps of the environment, and no
    such execution has fewer steps.
    """

    schedule: tuple[Rule, ...]
    scheduler: Scheduler = FAIR
    turning: Mapping[int, Mapping[InstructionRule, frozenset[int]]] = field(default_factory=dict)
    stopped: Groups = _NOBODY
    shortest: bool = False


class HangSearch(Struct, frozen=True):
    """What a search for a hang found. hang: None if there is none; how: what this rests on."""

    hang: Hang | None
    how: str

    @property
    def schedule(self) -> tuple[Rule, ...] | None:
        """The execution of the hang, EVICT steps included; None if there is none."""
        return None if self.hang is None else self.hang.schedule


class ShownHang(Struct, frozen=True):
    """The execution of a hang, and what each thread does ever after, in words.

    threads: per unfinished thread that is not stopped, in their order; stopped: those that are;
    rest: per fifo and DIRTY entry, what they wait for.
    """

    execution: Execution
    threads: tuple[str, ...]
    stopped: tuple[str, ...]
    rest: tuple[str, ...]


def find_hang(
    machine: Machine, limits: Limits, scheduler: Scheduler = FAIR, *, reduced: bool = True
) -> HangSearch:
    """A hang that a scheduler allows, if there is any. Exact. Raises LimitReached.

    Where nobody is stopped and nothing loops, that is a *deadlock*: no instruction can happen any
    more, or nothing but a flush is missing. It is then the nearest one, and steps count as in
    Figs 4 and 5, on the machine as it is given. reduced: whether anything is left out.
    """
    stops_at_once = scheduler == FAIR and not machine.program.spins
    if stops_at_once and reduced and drains(machine) and LockOrder(machine).holds:
        return HangSearch(None, "by the order of locks")
    explicit = _explicit(machine, looping=not stops_at_once, reduced=reduced)
    graph = _Graph(explicit, scheduler, limits, (*explicit.initial, 0))
    hang = _deadlock(graph) if stops_at_once else _hang(graph)
    if hang is not None:
        given = {rule.key: rule for rule in replace(machine, evict=True).rules}
        schedule = tuple(given[rule.key] for rule in hang.schedule)
        hang = replace(hang, schedule=schedule, scheduler=scheduler)
    return HangSearch(hang, f"{len(graph.states):,} states searched")


def _explicit(machine: Machine, *, looping: bool, reduced: bool) -> ExplicitMachine:
    """The machine with its loops, evicting where what is evicted may not be fetched again.

    Where a shortest execution is wanted, each step is told.
    """
    if not reduced or not drains(machine):
        return ExplicitMachine(replace(machine, evict=True), reduced=False, looping=looping)
    program = without_idle_values(machine.program)
    plain = replace(machine, program=program, evict=losses_last(machine))
    return ExplicitMachine(
        plain,
        dequeue_alone=looping and never_shut(machine),
        looping=looping,
        resting=resting(plain) if looping else NOTHING_RESTS,
    )


class _Graph(BreadthFirst[State, Rule]):
    """The states that a machine reaches under a scheduler, and what leads from one to another.

    A state is one of the machine, and at its end the groups that have started, as bits. edges: by
    state that was looked at, the group of each step, or `_ENVIRONMENT`, and the state that it leads
    to. still: groups that do nothing.
    """

    def __init__(
        self,
        explicit: ExplicitMachine,
        scheduler: Scheduler,
        limits: Limits,
        start: State,
        *,
        still: Groups = _NOBODY,
    ) -> None:
        super().__init__([start], limits, "machine states")
        self.explicit = explicit
        self._scheduler = scheduler
        self._still = still
        machine = explicit.machine
        self.group = _groups_of(machine)
        self.groups = frozenset(self.group)
        if scheduler != FAIR and len(self.groups) > _MOST_GROUPS:
            raise LimitReached(f"more than {_MOST_GROUPS} work-groups that may be stopped")
        self._ends = [len(code) for code in machine.code]
        self._allowed: dict[tuple[int, Groups], Groups] = {}
        self.edges: list[list[tuple[int, int]]] = []

    def expand(self) -> Iterator[int]:
        """Each state, the nearest first, as soon as its edges are known. Raises LimitReached."""
        for place in self:
            self.edges.append(list(self._leading(place)))
            yield place

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
                if self._scheduler.counts_starts:
                    after = (*after[:-1], state[-1] | 1 << group)
            yield group, self.reach(place, rule, after)

    def _may_go(self, state: State, group: int) -> bool:
        """Whether a group has started, or may."""
        if not self._scheduler.counts_starts or state[-1] >> group & 1:
            return True
        return self._scheduler.may_start(self._started(state), self.finished(state))

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
            found = self._scheduler.may_stop(self._started(state), finished, self.groups)
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
            return bool(stopped) or self.explicit.ended(state)
        return not all(self._may_go(state, group) for group in left)

    def stands_still(self, place: int) -> bool:
        """Whether nothing can follow a state but steps of the environment, and no end."""
        if any(group != _ENVIRONMENT for group, _ in self.edges[place]):
            return False
        walk: BreadthFirst[State, Rule] = BreadthFirst([self.states[place]], self.limits)
        for number in walk:
            state = walk.states[number]
            if self.explicit.ended(state) or self.explicit.cut(state):
                return False
            for rule, after in self.explicit.successors(state):
                if isinstance(rule, InstructionRule):
                    return False
                walk.reach(number, rule, after)
        return True


def _deadlock(graph: _Graph) -> Hang | None:
    """The nearest state from which no instruction can happen.

    From each state from which no complete one can be reached such a state can.
    """
    found = next((place for place in graph.expand() if graph.stands_still(place)), None)
    return None if found is None else Hang(graph.path_to(found), shortest=True)


def _hang(graph: _Graph) -> Hang | None:
    """A hang with the fewest groups stopped."""
    places = range(sum(1 for _ in graph.expand()))
    before: list[list[tuple[int, int]]] = [[] for _ in places]
    for place, edges in enumerate(graph.edges):
        for group, after in edges:
            before[after].append((group, place))
    every = sorted(_NOBODY.union(*map(graph.may_stop, places)))
    for some in chain.from_iterable(combinations(every, n) for n in range(len(every) + 1)):
        stopped = frozenset(some)
        ending = {place for place in places if graph.over(place, stopped)}
        waiting = list(ending)
        while waiting:
            for group, place in before[waiting.pop()]:
                if group not in stopped and place not in ending:
                    ending.add(place)
                    waiting.append(place)
        first = next((place for place in places if place not in ending), None)
        if first is not None:
            for_ever = _circle(graph, first, stopped)
            schedule, turning = graph.path_to(min(for_ever)), _turning(graph, for_ever, stopped)
            return Hang(schedule, turning=turning, stopped=stopped)
    return None


def _circle(graph: _Graph, start: int, stopped: Groups) -> set[int]:
    """States that a state leads to and that lead to each other, and to no others."""

    def after(place: int) -> Iterator[int]:
        return (after for group, after in graph.edges[place] if group not in stopped)

    return set(next(components([start], after)))


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


def replay_hang(machine: Machine, hang: Hang, lines: Sequence[int]) -> ShownHang:
    """A hang on the machine without any reduction. `lines[i]` is the line of operation i.

    Raises ReplayError if a step may not happen, or the groups that are not stopped may all end
    after all, as far as that is looked at: a bug of whoever found it.
    """
    stops_at_once = hang.scheduler == FAIR and not machine.program.spins
    replayer = Replayer(machine, looping=not stops_at_once)
    explicit, schedule = replayer.explicit, hang.schedule
    if not stops_at_once:
        schedule = tuple(replayer.completed(schedule, resting(machine)))
    end = replayer.states(schedule)[-1]
    groups = _groups_of(machine)
    started = {groups[it.thread] for it in schedule if isinstance(it, InstructionRule)}
    counts = sum(1 << group for group in started) if hang.scheduler.counts_starts else 0
    limits = Limits(states=_REPLAYED)
    graph = _Graph(explicit, hang.scheduler, limits, (*end, counts), still=hang.stopped)
    if stops_at_once and drains(machine):  # One state tells.
        end = replayer.settled(end)
        goes_on = any(explicit.apply(end, rule) is not None for rule in explicit.next_rules(end))
        goes_on = goes_on or explicit.ended(end)
    else:
        goes_on = _may_end(graph, hang.stopped)
    if goes_on:
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
    rest = (*waits.of_fifos(), *waits.of_entries())
    execution = replace(replayer.execution(schedule, lines), shortest=hang.shortest)
    return ShownHang(execution, tuple(threads), tuple(stopped), rest)


def _may_end(graph: _Graph, stopped: Groups) -> bool:
    """Whether the groups that are not stopped may all end, as far as that is looked at."""
    try:
        return any(graph.over(place, stopped) for place in graph.expand())
    except LimitReached:
        return False


def _groups_of(machine: Machine) -> list[int]:
    """The number of each thread's work-group: by device, and then by work-group."""
    places = [(it.device, it.workgroup) for it in machine.program.threads]
    numbers = {place: number for number, place in enumerate(sorted(set(places)))}
    return [numbers[place] for place in places]


def _round(
    thread: int, reads: Mapping[InstructionRule, frozenset[int]], lines: Sequence[int]
) -> str:
    parts = [
        f"{' or '.join(map(str, sorted(values)))} for {rule.instruction.location} "
        f"at line {lines[rule.instruction.operation]}"
        for rule, values in reads.items()
    ]
    return f"P{thread} goes round for ever" + (f", reading {' and '.join(parts)}" if parts else "")
