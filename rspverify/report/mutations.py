"""What `mutate` shows."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum

from rspverify.report.checks import Internal
from rspverify.verdict import Word


class Fate(StrEnum):
    """What the tests make of a mutant.

    UNSOUND: one of them has a wrong outcome. STUCK: none has, but one cannot always go on, or has
    no execution that completes. SURVIVES: neither.
    """

    UNSOUND = "UNSOUND"
    STUCK = "STUCK"
    SURVIVES = "SURVIVES"


@dataclass(frozen=True)
class StepShown:
    """A step to a mutant: the place of its instruction in the code, from 1, and what is done there.

    mutation: its kind; words: in full. removes: the places of the instructions that it takes away.
    """

    place: int
    instruction: str
    mutation: str
    words: str
    removes: tuple[int, ...] = ()


@dataclass(frozen=True)
class MutantShown:
    """A mutant as a table shows it. also: other steps to the same code. cost: of the row, more or
    less than with its own code. file: where it was written as a scheme.
    """

    name: str
    row: int
    step: StepShown
    also: tuple[StepShown, ...]
    code: tuple[str, ...]
    cost: int
    file: str | None = None

    @property
    def steps(self) -> tuple[StepShown, ...]:
        """Every step that leads to it."""
        return (self.step, *self.also)


@dataclass(frozen=True)
class NamedTest:
    """A test by its title and its file."""

    title: str
    file: str


@dataclass(frozen=True)
class Finding:
    """What the tests make of a mutant.

    test: the smallest that shows it, of those decided; reason: what is wrong there. within: the
    bounds that this depends on. decided: how many tests were. unknown: those that could not be,
    with why. stuck: those that the scheme itself gets stuck in, so that they show nothing of this.
    command: what shows the execution, or may find one, if the mutant was written as a scheme.
    """

    mutant: MutantShown
    fate: Fate
    test: NamedTest | None
    reason: str
    within: Mapping[str, int]
    decided: int
    unknown: tuple[tuple[NamedTest, str], ...]
    stuck: tuple[NamedTest, ...] = ()
    internal: tuple[Internal, ...] = ()
    command: str | None = None

    @property
    def undecided(self) -> bool:
        """Whether it survives for want of an answer, perhaps."""
        return self.fate is Fate.SURVIVES and bool(self.unknown)


@dataclass(frozen=True)
class RowShown:
    """A row and its code. tests: how many use it and can show something of its mutants.

    hunted: whether a hunt has programs that use it. unchanged: steps that lead to its own code.
    """

    number: int
    operations: str
    code: tuple[str, ...]
    accesses: tuple[int, ...]
    tests: int
    cost: int
    hunted: bool
    unchanged: tuple[StepShown, ...] = ()


@dataclass(frozen=True)
class GroundShown:
    """The tests of a run of `mutate`, under the scheme itself.

    words: how many have each verdict. broken: those that show nothing of the mutants, as the scheme
    itself fails them, with why; left_out: those that this version cannot read, with why.
    """

    total: int
    words: Mapping[Word, int]
    broken: tuple[tuple[NamedTest, str], ...]
    unknown: tuple[tuple[NamedTest, str], ...]
    left_out: tuple[tuple[str, str], ...]
    within: Mapping[str, int]


@dataclass(frozen=True)
class MutationReport:
    """All that `mutate` says of a scheme. asked: how many mutants there are; findings may be fewer.

    wider: the mutants of --widen. costs: where the weights are from, None for ours.
    """

    scheme: str
    file: str
    machine: str
    model: str
    engine: str
    rows: tuple[RowShown, ...]
    tests: GroundShown
    asked: int
    findings: tuple[Finding, ...]
    wider: tuple[MutantShown, ...] | None
    costs: str | None
    seconds: float
    internal: tuple[Internal, ...] = ()

    @property
    def stuck(self) -> tuple[NamedTest, ...]:
        """Tests that the scheme itself gets stuck in, of those where that was asked."""
        return tuple(dict.fromkeys(test for it in self.findings for test in it.stuck))

    @property
    def interrupted(self) -> bool:
        """Whether some mutants were not looked at."""
        return len(self.findings) < self.asked

    def count(self, fate: Fate) -> int:
        """How many mutants have a fate."""
        return sum(it.fate is fate for it in self.findings)
