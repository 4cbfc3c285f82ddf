"""Schedulers: which work-groups may be stopped for ever (docs/progress.md, Schedulers).

Groups are numbered by device and then by work-group. A group has *started* when one of its threads
has executed something, and is *finished* when all have ended.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from enum import Enum, StrEnum, auto
from typing import assert_never

from msgspec import Struct

from rspverify.source import InputError, Problem
from rspverify.wording import alternatives

Groups = frozenset[int]
"""Work-groups by their numbers."""


class Unit(StrEnum):
    """What schedulers stop: work-groups, or threads by themselves."""

    GROUP = "group"
    THREAD = "thread"


class Promise(Enum):
    """What a scheduler promises: which groups it does not stop.

    NO_GROUP_STOPS; LOWEST_GOES_ON: the unfinished group with the lowest number does; IN_LINE: a
    group stops only before it has started, and only if no group with a higher number has started;
    OCCUPANT_GO_ON: only before it has started, and only while the others occupy all the room.
    """

    NO_GROUP_STOPS = auto()
    LOWEST_GOES_ON = auto()
    IN_LINE = auto()
    OCCUPANT_GO_ON = auto()

    def may_stop(self, started: Groups, unfinished: Groups, full: bool) -> Groups:
        """The unfinished groups that may be stopped. full: whether no more groups have room."""
        match self:
            case Promise.NO_GROUP_STOPS:
                return frozenset()
            case Promise.LOWEST_GOES_ON:
                return unfinished - {min(unfinished, default=0)}
            case Promise.IN_LINE:
                last = max(started, default=-1)
                return frozenset(it for it in unfinished if it > last)
            case Promise.OCCUPANT_GO_ON:
                return unfinished - started if full else frozenset()
            case _:
                assert_never(self)


class Scheduler(Struct, frozen=True):
    """A scheduler by its name. bound: how many groups have room at once; None if that is unknown,
    or does not matter."""

    name: str
    bound: int | None = None

    def __str__(self) -> str:
        return self.name if self.bound is None else f"{self.name}:{self.bound}"

    @property
    def promises(self) -> tuple[Promise, ...]:
        """What it promises, all of it together."""
        return SCHEDULERS[self.name][0]

    @property
    def summary(self) -> str:
        """When a group may be stopped for ever, in words."""
        return SCHEDULERS[self.name][1].format(self.bound or "N")

    @property
    def bounded(self) -> bool:
        """Whether it matters how many groups have room at once."""
        return Promise.OCCUPANT_GO_ON in self.promises

    @property
    def counts_starts(self) -> bool:
        """Whether it matters which groups have started."""
        return self.bounded or Promise.IN_LINE in self.promises

    def each_bound(self, groups: int) -> Iterator[Scheduler]:
        """What it may be among so many groups: of an unknown bound, with any that matters."""
        if self.bounded and self.bound is None:
            yield from (Scheduler(self.name, bound) for bound in range(1, groups + 1))
        else:
            yield self

    def may_start(self, started: Groups, finished: Groups) -> bool:
        """Whether there is room for one more group."""
        return self.bound is None or len(started - finished) < self.bound

    def may_stop(self, started: Groups, finished: Groups, groups: Groups) -> Groups:
        """The unfinished groups of which any may be stopped for as long as this is so."""
        unfinished, full = groups - finished, not self.may_start(started, finished)
        promised = (it.may_stop(started, unfinished, full) for it in self.promises)
        return unfinished.intersection(*promised)


SCHEDULERS: Mapping[str, tuple[tuple[Promise, ...], str]] = {
    "fair": ((Promise.NO_GROUP_STOPS,), "never"),
    "obe": (
        (Promise.OCCUPANT_GO_ON,),
        "only before it has started, and only while {} others are started and not finished",
    ),
    "hsa": (
        (Promise.LOWEST_GOES_ON,),
        "anywhere, except the unfinished one with the lowest number",
    ),
    "hsa-obe": (
        (Promise.LOWEST_GOES_ON, Promise.OCCUPANT_GO_ON),
        "where both hsa and obe allow it",
    ),
    "lobe": (
        (Promise.IN_LINE,),
        "only before it has started, and only if none with a higher number has started",
    ),
    "unfair": ((), "anywhere"),
}
"""By name what each promises, and when it may stop a group, in words."""

FAIR = Scheduler("fair")
DEFAULT = ("fair", "obe")
"""Asked if none are named: whether a program waits for what never comes, and whether it relies on
more than GPUs promise."""
MOST_GROUPS = 1_000
"""An occupancy bound may not be larger."""


def schedulers_of(words: Iterable[str]) -> tuple[Scheduler, ...]:
    """Schedulers by their names, each once. Raises InputError for all that are none."""
    found: dict[Scheduler, None] = {}
    problems = []
    for word in words:
        matched = re.fullmatch(r"([a-z-]+)(?::([0-9]{1,6}))?", word, re.ASCII)
        name = matched[1] if matched else ""
        bound = int(matched[2]) if matched and matched[2] else None
        if name not in SCHEDULERS or (bound is not None and name != "obe"):
            choices = alternatives([*SCHEDULERS, "obe:N"])
            problems.append(Problem(None, f"a scheduler must be {choices}, not {word!r}"))
        elif bound is not None and not 1 <= bound <= MOST_GROUPS:
            message = f"the N of obe:N must be from 1 to {MOST_GROUPS:,}, not {bound}"
            problems.append(Problem(None, message))
        else:
            found[Scheduler(name, bound)] = None
    if problems:
        raise InputError(problems)
    return tuple(found)
