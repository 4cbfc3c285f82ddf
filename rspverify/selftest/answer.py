"""What `selftest` answers."""

from __future__ import annotations

from collections.abc import Mapping

from msgspec import Struct

from rspverify.convert import Count, Seconds
from rspverify.verdict import Engine


class Disagreement(Struct, frozen=True, kw_only=True):
    """Two answers to one question, on a program and a scheme that were made as small as they go.

    kind: what disagrees; command: finds it again; name: of its files, without their endings;
    machine: the text of one that was drawn, "" of any other.
    """

    pair: Count
    kind: tuple[str, ...]
    words: str
    command: str
    name: str
    litmus: str
    scheme: str
    machine: str


class PairCounts(Struct, frozen=True):
    """How many pairs were decided by every engine, by two at least, by fewer; and their verdicts.

    verdicts: by definition, how many have each; pairs without one are not in it.
    """

    pairs: Count
    by_all: Count
    by_some: Count
    skipped: Count
    verdicts: Mapping[str, Count]


class Missing(Struct, frozen=True):
    """How often an answer was not given, by whom and why."""

    who: str
    why: str
    count: Count


class SelftestReport(Struct, frozen=True, kw_only=True):
    """Counts of what the engines agree on, and where they disagree.

    start: the number of the first pair; asked: how many were wanted. kinds: counts by category and
    by label in it.
    """

    seed: int
    start: Count
    asked: Count
    engines: tuple[Engine, ...]
    total: PairCounts
    kinds: Mapping[str, Mapping[str, PairCounts]]
    missing: tuple[Missing, ...]
    disagreements: tuple[Disagreement, ...]
    seconds: Seconds
