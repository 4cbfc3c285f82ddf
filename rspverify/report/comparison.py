"""What `compare` shows of two schemes, one the edit of the other."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import astuple, dataclass, replace
from enum import StrEnum

from rspverify.report.checks import Internal, Observed, Result
from rspverify.verdict import Word


class Change(StrEnum):
    """What became of a test. UNKNOWN: a verdict, or progress, that was not decided is involved."""

    SAME = "SAME"
    BETTER = "BETTER"
    WORSE = "WORSE"
    UNKNOWN = "UNKNOWN"


@dataclass(frozen=True)
class Bill:
    """What a code is made of, and its weighted cost.

    flushes, invalidations: instructions that flush or empty whole caches of that level, in any
    reach. locks: instructions that take locks.
    """

    cost: int = 0
    instructions: int = 0
    l1_flushes: int = 0
    l2_flushes: int = 0
    l1_invalidations: int = 0
    l2_invalidations: int = 0
    locks: int = 0

    def __add__(self, other: Bill) -> Bill:
        both = zip(astuple(self), astuple(other), strict=True)
        return Bill(*(mine + theirs for mine, theirs in both))


@dataclass(frozen=True)
class SchemeName:
    """A scheme as its user and its file name it, and the machine that it is compared on."""

    file: str
    name: str
    machine: str


@dataclass(frozen=True)
class RowChange:
    """Operations that one row of each scheme compiles, and what becomes of them.

    rows: the numbers of these rows. What belongs to a scheme without such a row is None.
    """

    operations: str
    rows: tuple[int | None, int | None]
    old: tuple[str, ...] | None
    new: tuple[str, ...] | None
    bills: tuple[Bill | None, Bill | None]

    @property
    def same(self) -> bool:
        """Whether they become the same code."""
        return self.old == self.new


@dataclass(frozen=True)
class OutcomeChange:
    """An outcome that only one of the schemes reaches; allowed: None where that is not known."""

    observed: Observed
    allowed: bool | None


@dataclass(frozen=True)
class OutcomeChanges:
    """Outcomes that the compiled test gains and loses; reached: how many there were and are.

    unknown: why they are not known; the rest is empty then. internal: the internal error that came
    instead.
    """

    gained: tuple[OutcomeChange, ...] = ()
    lost: tuple[OutcomeChange, ...] = ()
    reached: tuple[int, int] = (0, 0)
    unknown: str | None = None
    internal: Internal | None = None


@dataclass(frozen=True)
class TouchedTest:
    """A test that the edit touches: its results, and its outcomes unless these mean nothing.

    Outcomes mean nothing of a test that races, or that one of the schemes cannot compile.
    """

    old: Result
    new: Result
    change: Change
    outcomes: OutcomeChanges | None

    @property
    def internal(self) -> bool:
        """Whether an internal error was met."""
        outcomes = self.outcomes.internal if self.outcomes else None
        return any((self.old.internal, self.new.internal, outcomes))

    @property
    def changed(self) -> bool:
        """Whether there is anything to be seen but that it was touched."""
        it = self.outcomes
        differ = it is not None and bool(it.gained or it.lost or it.unknown)
        return differ or self.change is not Change.SAME or self.old.words != self.new.words


@dataclass(frozen=True)
class Untouched:
    """A test whose compiled form is the same under both; compiled: whether there is one."""

    file: str
    compiled: bool


@dataclass(frozen=True)
class LeftOut:
    """A test that could not be read: ERROR, UNSUPPORTED, or UNKNOWN for an internal error."""

    file: str
    word: Word
    reason: str
    internal: Internal | None = None


Compared = TouchedTest | Untouched | LeftOut


@dataclass(frozen=True)
class Comparison:
    """All that is known of a comparison.

    costs: the file of costs, None for the defaults. tests: how many there are to compare. limit: of
    outcomes that are listed. stopped: why some tests were not compared, if so.
    """

    old: SchemeName
    new: SchemeName
    model: str
    engine: str
    reading: str
    costs: str | None
    rows: Sequence[RowChange]
    compared: Sequence[Compared]
    tests: int
    limit: int
    stopped: str | None = None

    def ended(self, compared: Sequence[Compared], stopped: str | None) -> Comparison:
        """The same with what became of the tests."""
        return replace(self, compared=tuple(compared), stopped=stopped)

    @property
    def touched(self) -> list[TouchedTest]:
        """The tests that the edit touches."""
        return [each for each in self.compared if isinstance(each, TouchedTest)]

    @property
    def untouched(self) -> list[Untouched]:
        """The tests that it does not touch."""
        return [each for each in self.compared if isinstance(each, Untouched)]

    @property
    def left_out(self) -> list[LeftOut]:
        """The tests that could not be read."""
        return [each for each in self.compared if isinstance(each, LeftOut)]
