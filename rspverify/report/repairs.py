"""What `repair` shows."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from rspverify.report.checks import Internal
from rspverify.report.mutations import NamedTest
from rspverify.verdict import Word


@dataclass(frozen=True)
class RowAsked:
    """A row of the scheme that was given. codes: how many it may have; 1 where it stays.

    stays: why it stays; empty where it may change. tests: how many use it.
    """

    number: int
    operations: str
    code: tuple[str, ...]
    cost: int
    codes: int
    tests: int
    stays: str = ""

    @property
    def open(self) -> bool:
        """Whether it may change."""
        return not self.stays


@dataclass(frozen=True)
class RowFound:
    """A row of a scheme that was found. given: what it costs in the scheme that was given.

    reference: what it costs in the reference, None without one that has such a row.
    """

    number: int
    operations: str
    code: tuple[str, ...]
    cost: int
    given: int
    changed: bool
    reference: int | None
    alternatives: tuple[tuple[str, ...], ...] = ()


@dataclass(frozen=True)
class Hunted:
    """What hunt says of a scheme: it is sound for all programs within bounds.

    programs: how many these are, up to symmetry, without a race; decided: how many of them were
    decided, as the others follow; unknown: how many could not be decided.
    """

    bounds: Mapping[str, int]
    programs: int
    decided: int
    unknown: int


@dataclass(frozen=True)
class SchemeFound:
    """A scheme that passes every test, and what it was decided by.

    tests: all that are SOUND by the engine of the search, and can always go on, within these
    bounds. explicit: tests of the sample that are SOUND by the explicit engine, too; beyond: those
    of the sample that were too large for it. hunted: None where nothing was hunted for.
    file: where it was written.
    """

    name: str
    cost: int
    rows: tuple[RowFound, ...]
    tests: int
    within: Mapping[str, int]
    explicit: int
    beyond: int
    hunted: Hunted | None
    file: str | None = None


@dataclass(frozen=True)
class Reference:
    """The scheme that those found are compared with.

    fails: tests that it fails, with the word; within: whether it is one of the candidates.
    """

    name: str
    file: str
    cost: int
    fails: tuple[tuple[NamedTest, str], ...]
    within: bool


@dataclass(frozen=True)
class TestsAsked:
    """The tests of a search. words: how many are RACY and so on under the scheme that was given.

    asked: those that candidates were put to; without: those that say nothing of any candidate, and
    why; found: those that hunt added.
    """

    total: int
    asked: int
    words: Mapping[Word, int]
    without: tuple[tuple[NamedTest, str], ...]
    left_out: tuple[tuple[str, str], ...]
    found: tuple[str, ...] = ()


@dataclass(frozen=True)
class Killer:
    """A test, and how many candidates fell to it, with the word."""

    test: NamedTest
    word: str
    candidates: int


@dataclass(frozen=True)
class RepairReport:
    """All that is known of a repair.

    instructions: what codes were made of, accesses left out. least: what no scheme of the
    candidates can cost less than, while `exact`; the cost of those found, if any was.
    exact: whether nothing was put aside that is cheaper. complete: whether there are no others of
    the least cost but stronger ones. candidate: the last one tried, of a search that did not end.
    stopped: the limit at which a search ended that is not finished, empty if it was interrupted.
    hunting: the bounds of the hunt that survivors are put through, empty without one.
    undecided: tests that could not be decided for some candidate, which was put aside therefore.
    """

    scheme: str
    file: str
    machine: str
    model: str
    engine: str
    costs: str | None
    cost: int
    rows: tuple[RowAsked, ...]
    instructions: tuple[str, ...]
    max_length: int
    tests: TestsAsked
    reference: Reference | None
    found: tuple[SchemeFound, ...]
    least: int
    exact: bool
    complete: bool
    finished: bool
    stopped: str
    hunting: Mapping[str, int]
    candidates: int
    nogoods: int
    decided: int
    killers: tuple[Killer, ...]
    undecided: tuple[tuple[str, str], ...]
    candidate: tuple[tuple[int, tuple[str, ...]], ...]
    internal: tuple[Internal, ...]
    seconds: float

    @property
    def none_exists(self) -> bool:
        """Whether it is decided that no candidate passes every test."""
        return self.finished and self.exact and not self.found
