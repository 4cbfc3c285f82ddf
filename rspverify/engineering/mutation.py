"""What `mutate` answers."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from typing import Annotated

from msgspec import Struct

from rspverify.answers import Internal, Subject, Verdicts
from rspverify.convert import Bounds, Code, Count, Group, Place, Seconds, with_keys
from rspverify.scheme.mutants import Step


class Fate(StrEnum):
    """What the tests make of a mutant.

    UNSOUND: one of them has a wrong outcome. STUCK: none has, but one cannot always go on, or has
    no execution that completes. EQUIVALENT: nobody can tell it from the scheme, so that no test was
    asked. STRONGER: it only waits longer, so that it goes wrong in no program in which the scheme
    does not; no test gets stuck. PROVED: it is sound for programs of any size; no test gets stuck.
    SURVIVES: none of these.
    """

    UNSOUND = "UNSOUND"
    STUCK = "STUCK"
    EQUIVALENT = "EQUIVALENT"
    STRONGER = "STRONGER"
    PROVED = "PROVED"
    SURVIVES = "SURVIVES"


class NamedTest(Struct, frozen=True):
    """A test by its title and its file."""

    test: str
    file: str


class TestAndReason(NamedTest, frozen=True):
    """A test, and why it is among others of its kind."""

    reason: str


class FileAndReason(Struct, frozen=True):
    """A file, and why it is left out."""

    file: str
    reason: str


class MutantAnswer(Struct, frozen=True):
    """A mutant as a table shows it. name: unique among those of a scheme. also: other steps to the
    same code. cost: of the row, more or less than with its own code.
    """

    name: str
    row: Place
    operations: str
    step: Group[Step]
    also: tuple[Step, ...]
    code: Code
    cost: int

    @property
    def steps(self) -> tuple[Step, ...]:
        """Every step that leads to it."""
        return (self.step, *self.also)


class Finding(Struct, frozen=True, kw_only=True):
    """What the tests make of a mutant.

    test, file: the smallest that shows it, of those decided, null of one that survives; text: of a
    test that is none of those given, as a broken obligation of a proof is it. reason: what is wrong
    there, or why it is the same. switches: of the machine, joined by `+`, that excuse
    what the scheme itself does on that test: with these on it passes, and the mutant does not; null
    where it passes as it is. within: the bounds that this depends on. decided: how many tests were,
    one that several switches excuse once with each. unknown: those that could not be, with why.
    stuck: those that the scheme itself gets stuck in, so that they show nothing of this. scheme:
    where --write has put the mutant; command: what shows the execution then, or of one that
    survives, what looks for one, if a hunt can.
    """

    mutant: Group[MutantAnswer]
    verdict: Fate
    test: str | None
    file: str | None
    reason: str
    within: Bounds
    decided: Count
    unknown: tuple[TestAndReason, ...]
    stuck: tuple[NamedTest, ...] = ()
    internal: tuple[Internal, ...] = ()
    scheme: str | None = None
    command: str | None = None
    switches: str | None = None
    text: str | None = None

    @property
    def undecided(self) -> bool:
        """Whether it survives for want of an answer, perhaps."""
        return self.verdict is Fate.SURVIVES and bool(self.unknown)


class MutatedRow(Struct, frozen=True, kw_only=True):
    """A row and its code. tests: how many use it and can show something of its mutants.

    accesses: the places of instructions without which it would mean nothing. hunt: the options of
    a hunt that has programs that use it, null where none has. unchanged: steps that lead to its own
    code.
    """

    row: Place
    operations: str
    code: Code
    accesses: tuple[Place, ...]
    cost: Count
    tests: Count
    hunt: tuple[str, ...] | None
    unchanged: tuple[Step, ...] = ()


class TestsOfScheme(Struct, frozen=True, kw_only=True):
    """The tests of a run of `mutate`, under the scheme itself.

    verdicts: only those that are SOUND say anything of mutants, or would be with a switch on.
    broken: those that the scheme itself fails, with why. excused: how many of these a switch
    excuses. stuck: those that it gets stuck in, of those where that was asked.
    left_out: those that this version cannot read.
    """

    total: Count
    verdicts: Verdicts
    within: Bounds
    broken: tuple[TestAndReason, ...]
    excused: Count
    unknown: tuple[TestAndReason, ...]
    stuck: tuple[NamedTest, ...]
    left_out: tuple[FileAndReason, ...]


class MutationSummary(Struct, frozen=True):
    """How many mutants there are, of which fate; where interrupted, the list has fewer.

    undecided: those that survive while some test could not be decided.
    """

    mutants: Count
    fates: Group[Annotated[Mapping[Fate, Count], with_keys(*Fate)]]
    undecided: Count


class MutationReport(Struct, frozen=True, kw_only=True):
    """All that `mutate` says of a scheme: what the tests make of each of its one-step mutants.

    wider: mutants in which an instruction reaches further, with what they cost; null without
    --widen. costs: the file that the weights are from, null for our own. stopped: why not every
    mutant was looked at, if so; interrupted: whether the user was why.
    """

    subject: Group[Subject]
    costs: str | None
    tests: TestsOfScheme
    rows: tuple[MutatedRow, ...]
    mutants: tuple[Finding, ...]
    wider: tuple[MutantAnswer, ...] | None
    summary: MutationSummary
    stopped: str | None
    interrupted: bool
    internal: tuple[Internal, ...]
    seconds: Seconds
