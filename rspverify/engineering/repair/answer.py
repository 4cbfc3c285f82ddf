"""What `repair` answers."""

from __future__ import annotations

from msgspec import Struct

from rspverify.answers import Internal, Subject, Verdicts
from rspverify.convert import Bounds, Code, Count, Group, Place, Seconds
from rspverify.engineering.mutation import FileAndReason, NamedTest, TestAndReason
from rspverify.proof.proof import Proof


class RowAsked(Struct, frozen=True, kw_only=True):
    """A row of the scheme that was given. codes: how many it may have; 1 where it stays.

    tests: how many use it. stays: why it does not change; null where it may.
    """

    row: Place
    operations: str
    code: Code
    cost: Count
    codes: Place
    tests: Count
    stays: str | None


class Candidates(Struct, frozen=True):
    """The candidates: the rows as given, and what they may become.

    instructions: what codes were made of, accesses left out. max_length: of a code.
    """

    rows: tuple[RowAsked, ...]
    instructions: Code
    max_length: Place


class RowFound(Struct, frozen=True, kw_only=True):
    """A row of a scheme that was found. given: what it costs in the scheme that was given.

    reference: what it costs in the reference, null without one that has such a row. alternatives:
    its codes in the other schemes found.
    """

    row: Place
    operations: str
    code: Code
    cost: Count
    given: Count
    changed: bool
    reference: Count | None
    alternatives: tuple[Code, ...] = ()


class Hunted(Struct, frozen=True):
    """What hunt says of a scheme: it is sound for all programs within bounds.

    programs: how many these are, up to symmetry, without a race; null where formulas were asked,
    which count none. decided: how many programs, or formulas, were decided, as the others follow;
    unknown: how many could not be.
    """

    bounds: Bounds
    programs: Count | None
    decided: Count
    unknown: Count


class SchemeFound(Struct, frozen=True, kw_only=True):
    """A scheme that passes every test, and what it was decided by.

    tests: all that are SOUND by the engine of the search, and can always go on, within these
    bounds. explicit: tests of the sample that are SOUND by the explicit engine, too;
    beyond_explicit: those of the sample that were too large for it. hunted: null where nothing was
    hunted for. proof: null if so; that of all programs, in place of a hunt. written: the file that
    it was written to.
    """

    name: str
    cost: Count
    rows: tuple[RowFound, ...]
    tests: Count
    within: Bounds
    explicit: Count = 0
    beyond_explicit: Count = 0
    hunted: Hunted | None
    proof: Proof | None = None
    written: str | None = None


class FailedTest(NamedTest, frozen=True):
    """A test, and the verdict or the progress with which it is failed."""

    verdict: str


class Reference(Struct, frozen=True):
    """The scheme that those found are compared with.

    fails: the tests that it fails itself; candidate: whether it is one of the candidates.
    """

    scheme: str
    file: str
    cost: Count
    fails: tuple[FailedTest, ...]
    candidate: bool


class TestsAsked(Struct, frozen=True, kw_only=True):
    """The tests of a search. verdicts: how many have each under the scheme that was given.

    asked: those that candidates were put to; without: those that say nothing of any candidate, and
    why; left_out: those that this version cannot read; found: those that
    hunt added, or obligations of the proof.
    """

    total: Count
    asked: Count
    verdicts: Verdicts
    without: tuple[TestAndReason, ...]
    left_out: tuple[FileAndReason, ...]
    found: tuple[str, ...] = ()


class Killer(FailedTest, frozen=True):
    """A test, and how many candidates fell to it, with the word."""

    candidates: Place


class Undecided(Struct, frozen=True):
    """A test that could not be decided for some candidate, and the rows that were put aside."""

    file: str
    rows: str


class RowTried(Struct, frozen=True):
    """A row of a candidate."""

    row: Place
    code: Code


class Claim(Struct, frozen=True):
    """How far the answer reaches.

    least: what no scheme of the candidates can cost less than, while `exact`; the cost of those
    found, if any was. exact: whether every candidate that was ruled out was decided. complete:
    whether there are no others of the least cost but stronger ones. stopped: the limit at which a
    search ended that is not finished, null if none was met.
    """

    least: Count
    exact: bool
    complete: bool
    finished: bool
    stopped: str | None


class Effort(Struct, frozen=True, kw_only=True):
    """How many candidates were tried, how many nogoods learnt and how many verdicts asked for.

    killers: the tests that ruled candidates out. undecided: tests for which a candidate was put
    aside. candidate: the last one, of a search that did not end; nothing is claimed of it but, if
    `passes`, that it passes every test: a hunt for other programs was under way.
    """

    candidates: Count
    nogoods: Count
    verdicts: Count
    killers: tuple[Killer, ...]
    undecided: tuple[Undecided, ...]
    candidate: tuple[RowTried, ...]
    passes: bool = False


class RepairReport(Struct, frozen=True, kw_only=True):
    """The cheapest schemes near a scheme that pass every test, and what is known of all others.

    costs: the file that the weights are from, null for our own; cost: of the scheme as given.
    reference: the scheme of --than. found: all of the least cost, the nearest first. hunting: the
    bounds of the hunt that survivors are put through, null without one.
    """

    subject: Group[Subject]
    costs: str | None
    cost: Count
    space: Group[Candidates]
    tests: TestsAsked
    reference: Reference | None
    found: tuple[SchemeFound, ...]
    claim: Group[Claim]
    hunting: Bounds | None
    effort: Group[Effort]
    internal: tuple[Internal, ...]
    seconds: Seconds
