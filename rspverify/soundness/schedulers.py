"""Schedulers: which work-groups may be stopped for ever (docs/progress.md, Schedulers)."""

from __future__ import annotations

import re
from collections.abc import Iterable
from enum import StrEnum

from msgspec import Struct

from rspverify.source import InputError, Problem
from rspverify.wording import alternatives


class Kind(StrEnum):
    """What a scheduler promises to the work-groups of a program.

    Groups are numbered by device and then by work-group. A group has *started* when one of its
    threads has executed something, and is *finished* when all have ended.
    """

    FAIR = "fair"
    OBE = "obe"
    HSA = "hsa"
    HSA_OBE = "hsa-obe"
    LOBE = "lobe"
    UNFAIR = "unfair"


class Scheduler(Struct, frozen=True):
    """A scheduler. bound: of OBE, how many groups are occupant at once; None if unknown."""

    kind: Kind
    bound: int | None = None

    def __str__(self) -> str:
        return self.kind.value if self.bound is None else f"{self.kind.value}:{self.bound}"

    @property
    def summary(self) -> str:
        """When a group may be stopped for ever, in words."""
        return _SUMMARIES[self.kind].format(self.bound or "N")


FAIR = Scheduler(Kind.FAIR)

_SUMMARIES = {
    Kind.FAIR: "never",
    Kind.OBE: "only before it has started, and only while {} others are started and not finished",
    Kind.HSA: "anywhere, except the unfinished one with the lowest number",
    Kind.HSA_OBE: "where both hsa and obe allow it",
    Kind.LOBE: "only before it has started, and only if none with a higher number has started",
    Kind.UNFAIR: "anywhere",
}

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
        kind = matched[1] if matched else ""
        bound = int(matched[2]) if matched and matched[2] else None
        names = [each.value for each in Kind]
        if kind not in names or (bound is not None and kind != Kind.OBE):
            choices = alternatives([*names, "obe:N"])
            problems.append(Problem(None, f"a scheduler must be {choices}, not {word!r}"))
        elif bound is not None and not 1 <= bound <= MOST_GROUPS:
            message = f"the N of obe:N must be from 1 to {MOST_GROUPS:,}, not {bound}"
            problems.append(Problem(None, message))
        else:
            found[Scheduler(Kind(kind), bound)] = None
    if problems:
        raise InputError(problems)
    return tuple(found)
