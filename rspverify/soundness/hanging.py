"""Executions that hang, and which of them a scheduler allows (docs/progress.md)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property
from itertools import combinations
from math import comb
from typing import assert_never

from rspverify.axiomatic.model import MemoryModel
from rspverify.axiomatic.partial import PartialExecutions, Stopped, Stuck, Waiting
from rspverify.axiomatic.question import Questions
from rspverify.limits import LimitReached, Limits
from rspverify.litmus.program import Order, Program, Thread
from rspverify.relation.terms import Relation, compose
from rspverify.schedulers import Promise, Scheduler, Unit
from rspverify.smt.term import FALSE, TRUE, Term, all_of, any_of, variable

_MOST_SETS = 20_000
"""Sets of groups of which no two may overlap, up to which a bound on occupancy is asked about."""

Group = tuple[int, ...]
"""A device, and a work-group of it; or a thread."""


def group_of(it: Thread, unit: Unit) -> Group:
    """What a scheduler stops when it stops a thread."""
    return (it.index,) if unit is Unit.THREAD else (it.device, it.workgroup)


class Hanging:
    """The executions of a program that hang.

    groups: the work-groups, in the order of their numbers. stopped, finished, started: by the
    number of the group, that it is stopped for ever, that all its threads have ended, and that one
    of them has executed something or goes on for ever. Raises LimitReached.
    """

    def __init__(
        self, program: Program, model: MemoryModel, limits: Limits, unit: Unit = Unit.GROUP
    ) -> None:
        if program.barriers_of_assembly:
            raise LimitReached("hangs at barriers in assembly are not looked at")
        self.executions = partial = PartialExecutions(program, model, limits)
        self._model, self._limits = model, limits
        self._unit = unit
        self.groups: Sequence[Group] = sorted({group_of(it, unit) for it in program.threads})
        self.members = [
            [it for it in program.threads if group_of(it, unit) == group] for group in self.groups
        ]
        self.stopped = [
            any_of(self._ending(each.index, Stopped) for each in it) for it in self.members
        ]
        self.finished = [all_of(partial.finished(each.index) for each in it) for it in self.members]
        self.active = [
            any_of(partial.executed(it) for each in group for it in each.operations)
            for group in self.members
        ]
        self.running = [
            ~done & ~stopped for done, stopped in zip(self.finished, self.stopped, strict=True)
        ]
        self.started = [one | two for one, two in zip(self.active, self.running, strict=True)]
        self._occupancies: dict[int, Term] = {}
        self._may: dict[Term, bool] = {}

    def _ending(self, thread: int, *ways: type) -> Term:
        ends = self.executions.ends[thread]
        return any_of(term for end, term in ends.items() if isinstance(end, ways))

    @cached_property
    def hangs(self) -> Term:
        """Some thread of a group that is scheduled is stuck, or waits at a barrier."""
        return any_of(
            ~stopped & self._ending(each.index, Stuck, Waiting)
            for stopped, group in zip(self.stopped, self.members, strict=True)
            for each in group
        )

    @cached_property
    def every(self) -> Questions:
        """The executions, whether they hang or not, and those with an iteration that goes on."""
        return Questions(
            self.executions.program, self._model, self._limits, partial=self.executions
        )

    def ending(self, bound: int) -> Questions:
        """The executions that come to their end with at most so many groups occupant at once."""
        return Questions(
            self.executions.program,
            self._model,
            self._limits,
            whole=True,
            partial=self.executions,
            required=[*self.finished, self._at_most(bound)],
        )

    # ---- schedulers ----------------------------------------------------------------------------

    def allowed(self, scheduler: Scheduler) -> Iterator[tuple[int | None, Term]]:
        """The ways in which a scheduler may stop groups, for each bound on occupancy that it has.

        That of an unknown bound is told; None where there is none, or nobody is stopped by it.
        """
        kept = all_of(map(self._kept, scheduler.promises))
        if not scheduler.bounded:
            yield None, kept
        elif scheduler.bound is not None:
            full = scheduler.bound < len(self.groups)
            yield scheduler.bound, kept & self._occupancy(scheduler.bound) if full else self.nobody
        else:
            yield from self._some_occupancy(kept)

    def _kept(self, promise: Promise) -> Term:
        """That a promise is kept, but for what depends on how much room there is."""
        match promise:
            case Promise.NO_GROUP_STOPS:
                return self.nobody
            case Promise.LOWEST_GOES_ON:
                return self._not_the_lowest
            case Promise.IN_LINE:
                return self._in_line
            case Promise.OCCUPANT_GO_ON:
                return TRUE
            case _:
                assert_never(promise)

    def _some_occupancy(self, besides: Term) -> Iterator[tuple[int | None, Term]]:
        for bound in (None, *range(1, len(self.groups))):
            allowed = self.nobody if bound is None else self._occupancy(bound)
            if self.may(allowed):
                yield bound, allowed & besides

    def may(self, allowed: Term) -> bool:
        """Whether an execution hangs in a way that is allowed. Asked once."""
        if allowed not in self._may:
            self._may[allowed] = self.every.possible(self.hangs, allowed)
        return self._may[allowed]

    @cached_property
    def nobody(self) -> Term:
        return ~any_of(self.stopped)

    @cached_property
    def before_the_start(self) -> Term:
        """No group is stopped once it has executed something."""
        pairs = zip(self.stopped, self.active, strict=True)
        return all_of(stopped.implies(~active) for stopped, active in pairs)

    @cached_property
    def _not_the_lowest(self) -> Term:
        """Of the groups that are not finished the first is not stopped."""
        return all_of(
            any_of([~stopped, *(~done for done in self.finished[:number])])
            for number, stopped in enumerate(self.stopped)
        )

    @cached_property
    def _in_line(self) -> Term:
        """Groups are stopped before their start, and no later group has started."""
        pairs = combinations(range(len(self.groups)), 2)
        later = (~self.stopped[a] | ~self.started[b] for a, b in pairs)
        return all_of([self.before_the_start, *later])

    def _occupancy(self, bound: int) -> Term:
        """No more groups are ever occupant; if so many are in the end, others may never start."""
        if bound not in self._occupancies:
            full, more = (at_least(self.running, each) for each in (bound, bound + 1))
            terms = [self.before_the_start, full | self.nobody, ~more, self._at_most(bound)]
            self._occupancies[bound] = all_of(terms)
        return self._occupancies[bound]

    def _at_most(self, bound: int) -> Term:
        """The groups that have started fit into a time in which at most so many are occupant.

        Some finish before others start: of each `bound + 1` that have started, two. What finishes
        before another starts does so for all of their events, and time does not run in a circle:
        not by what happens before, by who reads from whom, and by the order of seq_cst accesses.
        It is enough that no circle goes through groups of which one finishes before the other.
        """
        numbers = range(len(self.groups))
        found = []
        if comb(len(numbers), bound + 1) > _MOST_SETS:
            raise LimitReached(f"more than {_MOST_SETS:,} sets of work-groups may overlap")
        for those in combinations(numbers, bound + 1):
            apart = [
                self._apart[pair] for a, b in combinations(those, 2) for pair in ((a, b), (b, a))
            ]
            found.append(any_of([*(~self.started[it] for it in those), *apart]))
        return all_of([*found, self._in_time])

    @cached_property
    def _apart(self) -> Relation:
        """A choice of which group finishes before which other starts."""
        numbers = range(len(self.groups))
        return {
            (a, b): self.finished[a] & variable(f"group {a} before {b}")
            for a in numbers
            for b in numbers
            if a != b
        }

    @cached_property
    def _in_time(self) -> Term:
        """What finishes before another starts, and what follows, has no circle.

        For each group: which groups begin after it has finished, and which events follow. Only what
        must be so is asked for, so that it may be so of nothing else.
        """
        candidates, numbers = self.executions.candidates, range(len(self.groups))
        own: list[list[int]] = [[] for _ in numbers]
        for it in candidates.events:
            if it.thread is not None:
                own[self.groups.index(group_of(it.thread, self._unit))].append(it.index)
        found = []
        for done in numbers:
            after = {it.index: variable(f"{it.index} after {done}") for it in candidates.events}
            begins = [variable(f"group {it} after {done}") for it in numbers]
            ends = [begins[it] | any_of(after[each] for each in own[it]) for it in numbers]
            for (a, b), apart in self._apart.items():
                follows = apart if a == done else apart & ends[a]
                found.append(follows.implies(begins[b]))
            for group, begun in zip(own, begins, strict=True):
                found += [(begun & candidates.executed[it]).implies(after[it]) for it in group]
            found += [(term & after[a]).implies(after[b]) for (a, b), term in self._earlier.items()]
            found.append(~ends[done])
        return all_of(found)

    @cached_property
    def _earlier(self) -> Relation:
        """That an event is before another: it happens before, is read, or is strongly ordered."""
        candidates = self.executions.candidates
        happens = [candidates.relation(name) for name in candidates.model.happens_before]
        reads_before = compose(
            {(b, a): it for (a, b), it in candidates.rf.items()}, candidates.coherence
        )
        strong = [
            candidates.coherence,
            {(a, b): it for (a, b), it in reads_before.items() if a != b},
        ]
        edges: dict[tuple[int, int], Term] = {}
        for relation in [*happens, candidates.rf, *map(self._of_strong, strong)]:
            for pair, term in relation.items():
                edges[pair] = edges.get(pair, FALSE) | term
        return edges

    def _of_strong(self, relation: Relation) -> Relation:
        """The part of a relation that is between seq_cst accesses."""
        strong = {
            event.index
            for event in self.executions.candidates.events
            if event.operation is not None and event.operation.order is Order.SEQ_CST
        }
        return {pair: term for pair, term in relation.items() if strong.issuperset(pair)}


def at_least(terms: Iterable[Term], number: int) -> Term:
    """That so many terms hold, or more."""
    reached = [TRUE, *(FALSE for _ in range(number))]
    for term in terms:
        reached = [
            TRUE if not it else reached[it] | (reached[it - 1] & term) for it in range(number + 1)
        ]
    return reached[number]
