"""Does a test in assembly hang, whose loops may write (docs/progress.md, «Loops that write»)?

Its states are what threads have in registers, where they are, and what is in memory. A run hangs if
it goes round in a circle of states in which each thread that is scheduled goes on, and some such
thread has not ended.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from itertools import chain, combinations, product

from msgspec import Struct

from rspverify.axiomatic.coverage import require_vocabulary
from rspverify.axiomatic.model import MemoryModel
from rspverify.axiomatic.vocabulary import reaches
from rspverify.graph import BreadthFirst, components
from rspverify.isa.by_table import Event as Access
from rspverify.limits import LimitReached, Limits
from rspverify.litmus.stepping import Registers, SteppedProgram
from rspverify.records import replace
from rspverify.schedulers import Groups, Scheduler, Unit
from rspverify.soundness.hang import (
    Hang,
    ScheduledAnswer,
    StoppedGroup,
    StoppedThread,
    StuckThread,
)
from rspverify.soundness.hanging import group_of
from rspverify.soundness.scheduled import ENDS, in_words
from rspverify.value import Constant
from rspverify.verdict import Event, ProgressWord

_MOST_GROUPS = 6
"""With more there are too many choices of those that are stopped."""

_MOST_STATES = 300_000
"""All states are kept, with what leads where."""

_COHERENT = frozenset(
    {
        "832f9fc4927aa84f5607353cea7f6a8f6d9d2bb97e47b49d84f5c264f0a9d955",  # vulkan
        "e7cbcf42be26fc94b98c887f3b1ccc2eab9c736a852eb2e77755cf69d83756e7",  # ptx
        "888f584ef0c9825ce88ec2b548a320180b42fb49ea9cda93dc49c1c2cfbb3ed7",  # ptx-6.0
        "e909d2302f071a365efcbfddbc55c4bc1203c268f09e2413f5bbadaae63f5154",  # aarch64
        "088d78ea36fcbc06c450d972722a3c9f50a2a00eab2a097ab5664e28fb36681f",  # aarch64-2021
        "1699e821f2a036a7659890be6e6b5da022c8be3a484cc1b9bb5db517cff88db0",  # armv7
        "2e1825cc6a27d355bb05ca3f23174b332eac264f7e5db2d6a4b448a5e6d3b9d5",  # power
        "e72f275601d156ba9086194ff784372306300148f3648e38a41387a033708bfc",  # riscv
        "8de6b45d97b05616f01b98b1b0e850eea0fecc1c27bb4591fa74b578478a5d6b",  # riscv-zalasr
        "38020a900a79edefd0e9b0fe5b684e901132e7f17995f4d01947cc6aed088f3c",  # riscv-ztso
        "4278b78a38ec72e6a408ba66887b1d9dd17df482124713f4db09e7d190fb0139",  # x86-tso
    }
)
"""The models (`meaning_digest`) of which docs/progress.md says why accesses of one location that
are strong are executed one after the other."""

_STRONG: Mapping[str, frozenset[str]] = {
    "Vulkan": frozenset({"ATOM"}),
    "PTX": frozenset({"RLX", "ACQ", "REL"}),
}
"""In languages with scopes: of what kind accesses must be, beside being in each other's scope."""

Place = tuple[int, Registers]
"""Where a thread is, and what its registers have."""

State = tuple[tuple[Place, ...], tuple[int, ...], Groups]
"""Where the threads are, what is in memory, and the groups that have started."""


class _Step(Struct, frozen=True):
    """A step of a thread. reads, written: of the location that it accesses, None if it does not."""

    thread: int
    place: int
    location: str | None = None
    reads: int | None = None
    written: int | None = None


Edges = Sequence[tuple[_Step, int]]
"""The steps from a state, and the numbers of the states that follow."""


class _Graph(BreadthFirst[State, _Step]):
    """States that are reached from some, by number, and what leads from one to another."""

    def __init__(
        self,
        rounds: Rounds,
        starts: Iterable[State],
        bound: int | None = None,
        only: str | None = None,
    ) -> None:
        super().__init__(starts, rounds.limits)
        self.edges: list[Edges] = []
        self._circles: dict[frozenset[int], list[list[int]]] = {}
        for place in self:
            ways = rounds.steps(self.states[place], bound, only)
            self.edges.append([(step, self.reach(place, step, state)) for step, state in ways])

    def circles(self, turning: Collection[int]) -> list[list[int]]:
        """The sets of states in which all these threads go on for ever, and no others do."""

        def after(place: int) -> Iterator[int]:
            return (to for step, to in self.edges[place] if step.thread in turning)

        def going(states: Sequence[int]) -> set[int]:
            inside = set(states)
            steps = chain.from_iterable(self.edges[it] for it in states)
            return {step.thread for step, to in steps if to in inside and step.thread in turning}

        known, key = self._circles, frozenset(turning)
        if key not in known:
            found = components(range(len(self.states)), after)
            known[key] = [states for states in found if going(states) == key]
        return known[key]


class Rounds:
    """A test under a model, asked about one scheduler after the other.

    Raises InputError for what is not executed step by step. Every method raises LimitReached.
    """

    def __init__(
        self, program: SteppedProgram, model: MemoryModel, limits: Limits, unit: Unit
    ) -> None:
        require_vocabulary(model, program.language, program.title)
        self.program, self._model, self._unit = program, model, unit
        self.limits = replace(limits, states=min(limits.states, _MOST_STATES))
        self.threads = range(len(program.threads))
        self._places = {it.name: place for place, it in enumerate(program.locations)}
        own = [group_of(it.placed, unit) for it in program.threads]
        numbers = {group: number for number, group in enumerate(sorted(set(own)))}
        self.group = [numbers[it] for it in own]
        self.groups = frozenset(self.group)
        self._graphs: dict[int | None, _Graph] = {}

    def under(self, scheduler: Scheduler, file: str) -> ScheduledAnswer:
        """Whether the program may hang under a scheduler. file: of the test."""
        if len(self.groups) > _MOST_GROUPS:
            raise LimitReached(f"more than {_MOST_GROUPS} {self._unit}s that may be stopped")
        hang = None if self.unordered else self.hang(scheduler)
        word, reason = ProgressWord.UNKNOWN, self.unordered
        if hang is not None:
            word, reason = ProgressWord.STUCK, in_words(hang, self._unit)
        elif reason is None:
            reason = self._beyond_order(scheduler)
        if hang is None and reason is None:
            word, reason = ProgressWord.LIVE, ENDS
        return ScheduledAnswer(
            test=self.program.title,
            file=file,
            model=self._model.name,
            scheduler=str(scheduler),
            unit=self._unit,
            progress=word,
            reason=reason or "",
            hang=hang,
        )

    # ---- one after the other -------------------------------------------------------------------

    @property
    def _start(self) -> State:
        threads = tuple((0, it.start) for it in self.program.threads)
        return threads, tuple(it.initial for it in self.program.locations), frozenset()

    def ended(self, thread: int, place: Place) -> bool:
        """Whether a thread has ended."""
        return place[0] == len(self.program.threads[thread].code)

    def _finished(self, threads: Sequence[Place]) -> Groups:
        return self.groups.difference(self.group[it] for it in self._left(threads))

    def steps(
        self, state: State, bound: int | None, only: str | None
    ) -> Iterator[tuple[_Step, State]]:
        """What may happen next.

        bound: how many groups may be occupant at once. only: the one location that is memory; what
        is read from others may be anything.
        """
        threads, memory, started = state
        full = bound is not None and len(started - self._finished(threads)) >= bound
        for thread, place in enumerate(threads):
            group = self.group[thread]
            if self.ended(thread, place) or (full and group not in started):
                continue
            location = self.program.threads[thread].effect(*place).location
            known = location is not None and only in (None, location)
            at = self._places[location] if location is not None else 0
            ways = [self.step(thread, place, memory[at])] if known else self.any_step(thread, place)
            for step, after in ways:
                others = (*threads[:thread], after, *threads[thread + 1 :])
                changed = memory
                if known and step.written is not None:
                    changed = (*memory[:at], step.written, *memory[at + 1 :])
                yield step, (others, changed, started | {group})

    def any_step(self, thread: int, place: Place) -> list[tuple[_Step, Place]]:
        """What a thread may do next, if what it reads may be anything."""
        location = self.program.threads[thread].effect(*place).location
        if location is None:
            return [self.step(thread, place, 0)]
        assert not isinstance(self._values, str)
        return [self.step(thread, place, it) for it in sorted(self._values[location])]

    def step(self, thread: int, place: Place, reads: int) -> tuple[_Step, Place]:
        """What a thread does next, and where it is then, if its access reads this."""
        effect = self.program.threads[thread].effect(*place)
        done = effect.done(reads)
        event, after = effect.event, (done.place, done.registers)
        if event is None or event.location is None:
            return _Step(thread, place[0]), after
        read = reads if event.form.reads else None
        return _Step(thread, place[0], event.location, read, done.written), after

    def _graph(self, bound: int | None) -> _Graph:
        if bound not in self._graphs:
            self._graphs[bound] = _Graph(self, [self._start], bound)
        return self._graphs[bound]

    @cached_property
    def accessed(self) -> frozenset[str]:
        """The locations that are accessed."""
        steps = chain.from_iterable(self._graph(None).edges)
        return frozenset(it.location for it, _ in steps if it.location is not None)

    def hang(self, scheduler: Scheduler) -> Hang | None:
        """A run that hangs, with the fewest threads stopped, if one does in which all happens one
        after the other."""
        for each in scheduler.each_bound(len(self.groups)):
            full = each.bound is None or each.bound >= len(self.groups)
            graph = self._graph(None if full else each.bound)
            if found := self._found(graph, each):
                *_, stopped, states = min(found, key=lambda it: it[:2])
                occupancy = each.bound if stopped and each.bounded else None
                return self._told(graph, states, stopped, occupancy)
        return None

    def _found(
        self, graph: _Graph, scheduler: Scheduler
    ) -> list[tuple[int, int, Groups, list[int]]]:
        """The ways to hang: how many groups are stopped, the first state, these groups, and the
        states that the others go through for ever."""
        return [
            (len(stopped), min(states), stopped, states)
            for turning in sorted(map(sorted, self._turnings(graph)))
            for states in graph.circles(turning)
            if (stopped := self._stopped(graph.states[states[0]], turning, scheduler)) is not None
        ]

    def _left(self, threads: Sequence[Place]) -> frozenset[int]:
        return frozenset(it for it in self.threads if not self.ended(it, threads[it]))

    def _turnings(self, graph: _Graph) -> Iterable[frozenset[int]]:
        """The threads that may go on for ever, where the others have ended or are stopped."""
        every = {self._left(threads) for threads, _, _ in graph.states}
        groups = [frozenset(some) for n in self.groups for some in combinations(self.groups, n + 1)]
        found = {
            frozenset(it for it in left if self.group[it] in some)
            for left in every
            for some in groups
        }
        return found - {frozenset()}

    def _stopped(
        self, state: State, turning: Collection[int], scheduler: Scheduler
    ) -> Groups | None:
        """The groups that must be stopped in a state; None if they may not."""
        threads, _, started = state
        left = self._left(threads)
        stopped = frozenset(self.group[it] for it in left.difference(turning))
        going = {self.group[it] for it in turning}
        allowed = scheduler.may_stop(started, self._finished(threads), self.groups)
        known = left.issuperset(turning) and stopped <= allowed and not stopped & going
        return stopped if known else None

    def _told(
        self, graph: _Graph, circle: Sequence[int], stopped: Groups, occupancy: int | None
    ) -> Hang:
        first = min(circle)
        threads, _, started = graph.states[first]
        left = sorted(self._left(threads))
        turning = [it for it in left if self.group[it] not in stopped]
        again = _round(graph, set(circle), first, turning)
        shown = [
            self._shown(it) for it in (*graph.path_to(first), *again) if it.location is not None
        ]
        own = [(it, [step.place for step in again if step.thread == it]) for it in turning]
        stuck = [StuckThread(it, self._line(it, min(places)), ()) for it, places in own]
        halted = [
            StoppedGroup(
                group,
                group in started,
                tuple(
                    StoppedThread(it, self._line(it, threads[it][0]))
                    for it in left
                    if self.group[it] == group
                ),
            )
            for group in sorted(stopped)
        ]
        repeats = sum(it.location is not None for it in again)
        return Hang(tuple(stuck), (), tuple(halted), occupancy, tuple(shown), {}, repeats)

    def _line(self, thread: int, place: int) -> int:
        return self.program.threads[thread].code[place].span.line

    def _shown(self, it: _Step) -> Event:
        values = [
            f"{what} {value}"
            for what, value in (("reads", it.reads), ("writes", it.written))
            if value is not None
        ]
        text = f"{self.program.threads[it.thread].code[it.place]}: {', '.join(values)}"
        return Event(it.thread, self._line(it.thread, it.place), text, it.location or "")

    # ---- whatever the order --------------------------------------------------------------------

    @cached_property
    def unordered(self) -> str | None:
        """Why accesses of one location may not happen one after the other; None if they do."""
        if self._model.meaning_digest not in _COHERENT:
            name = self._model.name
            return f"it is not argued that {name} executes accesses of a location one by one"
        strong = _STRONG.get(self.program.language)
        if strong is None:
            return None
        for (one, first), (other, second) in combinations(self._accesses, 2):
            writes = first.form.written or second.form.written
            if one == other or first.location != second.location or not writes:
                continue
            ends = [
                (self.program.threads[thread].placed, it.form.tags.write)
                for thread, it in ((one, first), (other, second))
            ]
            both = zip(ends, ends[::-1], strict=True)
            if not all(
                tags & strong and reaches(thread, tags, far) for (thread, tags), (far, _) in both
            ):
                lines = f"{_where(one, first)} and {_where(other, second)}"
                return f"{lines} are not strong, each in the scope of the other"
        return None

    def _beyond_order(self, scheduler: Scheduler) -> str | None:
        """Why the program may hang where locations are not accessed in one order; None if not.

        Take a run that hangs. Of each location the accesses are in one order, so that the run leads
        to the same places where those of all others read anything. Behind some such places it goes
        on for ever, where one location alone is written: that is in one order again. The order of
        one location need not be that in which groups start, which bounds on occupancy speak of.
        """
        several = len(self.accessed) > 1
        if several and isinstance(self._values, str):
            return self._values
        graph = self._unordered if several else self._graph(None)
        for each in scheduler.each_bound(len(self.groups)):
            if self._found(graph, each):
                return "a run may hang whose accesses are not in the order of time"
            for turning in self._turnings(graph) if several else ():
                written = frozenset[str]().union(*(self._alone[it].written for it in turning))
                if len(written) > 1 and any(
                    self._stopped(state, turning, each) is not None
                    and all(state[0][it] in self._alone[it].circles for it in turning)
                    for state in graph.states
                ):
                    return f"{' and '.join(sorted(written))} may each be written for ever"
        return None

    @cached_property
    def _unordered(self) -> _Graph:
        """What follows in order from where threads may be that come there in any order."""
        ways: list[dict[tuple[tuple[Place, ...], Groups], set[int]]] = []
        for at, it in enumerate(self.program.locations):
            found: dict[tuple[tuple[Place, ...], Groups], set[int]] = {}
            for threads, memory, started in _Graph(self, [self._start], only=it.name).states:
                found.setdefault((threads, started), set()).add(memory[at])
            ways.append(found)
        starts: dict[State, None] = {}
        for threads, started in ways[0]:
            values = [found.get((threads, started), ()) for found in ways]
            starts.update(((threads, memory, started), None) for memory in product(*values))
            if len(starts) > self.limits.states:
                raise LimitReached(f"more than {self.limits.states:,} states")
        return _Graph(self, starts)

    @cached_property
    def _values(self) -> Mapping[str, frozenset[int]] | str:
        """What each location may have, whatever order things happen in; or why that is not told."""
        found = {it.name: frozenset({it.initial}) for it in self.program.locations}
        for thread, it in self._accesses:
            if it.form.written is not None:
                if not isinstance(it.value, Constant):
                    where = _where(thread, it)
                    return f"{where} writes what it calculates, and locations are several"
                found[it.location or ""] |= {it.value.value}
        return found

    @cached_property
    def _accesses(self) -> Sequence[tuple[int, Access]]:
        """All that threads may access, whatever they read."""
        return [
            (it.placed.index, each)
            for it in self.program.threads
            for place in range(len(it.code))
            for each in it.accesses(place)
        ]

    @cached_property
    def _alone(self) -> Sequence[_Alone]:
        return [_Alone(self, it) for it in self.threads]


class _Alone:
    """Where a thread may go on for ever if each of its reads may have any value.

    circles: its places there; written: the locations that it may write there.
    """

    def __init__(self, rounds: Rounds, thread: int) -> None:
        start: Place = (0, rounds.program.threads[thread].start)
        walk: BreadthFirst[Place, _Step] = BreadthFirst([start], rounds.limits)
        edges: list[list[tuple[int, str | None]]] = []
        for number in walk:
            place = walk.states[number]
            ways = [] if rounds.ended(thread, place) else rounds.any_step(thread, place)
            edges.append(
                [
                    (walk.reach(number, it, after), None if it.written is None else it.location)
                    for it, after in ways
                ]
            )
        self.circles: set[Place] = set()
        self.written: set[str] = set()
        for places in components(range(len(edges)), lambda it: (to for to, _ in edges[it])):
            inside = set(places)
            turning = [written for it in places for to, written in edges[it] if to in inside]
            if turning:
                self.circles.update(walk.states[it] for it in places)
                self.written.update(it for it in turning if it is not None)


def _where(thread: int, it: Access) -> str:
    return f"P{thread} line {it.instruction.span.line}"


def _round(
    graph: _Graph, circle: Collection[int], first: int, turning: Sequence[int]
) -> list[_Step]:
    """Steps from a state of a circle back to it, among them one of each of these threads."""
    found: list[_Step] = []
    here = first
    for thread in turning:
        if thread not in {it.thread for it in found}:
            way, here = _way(graph, circle, turning, here, thread=thread)
            found += way
    if here != first or not found:
        found += _way(graph, circle, turning, here, to=first)[0]
    return found


def _way(
    graph: _Graph,
    circle: Collection[int],
    turning: Collection[int],
    start: int,
    thread: int | None = None,
    to: int | None = None,
) -> tuple[list[_Step], int]:
    """The shortest way in a circle to a step of a thread, or to a state."""
    walk: BreadthFirst[int, _Step] = BreadthFirst([start], graph.limits)
    for number in walk:
        for step, after in graph.edges[walk.states[number]]:
            if step.thread in turning and after in circle:
                if step.thread == thread or after == to:
                    return [*walk.path_to(number), step], after
                walk.reach(number, step, after)
    raise AssertionError("each state of a circle leads to each")
