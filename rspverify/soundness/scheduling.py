"""What schedulers do to the groups of a program that runs (docs/semantics.md, Progress)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import assert_never

from msgspec import Struct

from rspverify.soundness.schedulers import Kind, Scheduler

Groups = frozenset[int]


class Scheduling(Struct, frozen=True):
    """A scheduler with a bound on how many groups are occupant at once, if it has one."""

    kind: Kind
    bound: int | None = None

    def __str__(self) -> str:
        return self.kind.value if self.bound is None else f"{self.kind.value}:{self.bound}"

    @property
    def counts_starts(self) -> bool:
        """Whether it matters which groups have started."""
        return self.kind is Kind.LOBE or self.bound is not None

    def may_start(self, started: Groups, finished: Groups) -> bool:
        """Whether one more group may start: fewer than the bound are occupant."""
        return self.bound is None or len(started - finished) < self.bound

    def may_stop(self, started: Groups, finished: Groups, groups: int) -> Groups:
        """The groups, of so many, of which any may be stopped for as long as this is so."""
        every = frozenset(range(groups))
        full = self.bound is not None and len(started - finished) >= self.bound
        unstarted = every - started if full else frozenset()
        unfinished = sorted(every - finished)
        not_the_first = frozenset(unfinished[1:])
        match self.kind:
            case Kind.FAIR:
                return frozenset()
            case Kind.UNFAIR:
                return every
            case Kind.HSA:
                return not_the_first
            case Kind.LOBE:
                return frozenset(it for it in every - started if it > max(started, default=-1))
            case Kind.OBE:
                return unstarted
            case Kind.HSA_OBE:
                return unstarted & not_the_first
            case _:
                assert_never(self.kind)


def schedulings(scheduler: Scheduler, groups: int) -> Iterator[Scheduling]:
    """What a scheduler may be: with an unknown bound on occupancy, with any that matters."""
    match scheduler.kind:
        case Kind.OBE | Kind.HSA_OBE if scheduler.bound is None:
            for bound in range(1, groups + 1):
                yield Scheduling(scheduler.kind, bound)
        case Kind.OBE | Kind.HSA_OBE:
            yield Scheduling(scheduler.kind, scheduler.bound)
        case Kind.FAIR | Kind.HSA | Kind.LOBE | Kind.UNFAIR:
            yield Scheduling(scheduler.kind)
        case _:
            assert_never(scheduler.kind)
