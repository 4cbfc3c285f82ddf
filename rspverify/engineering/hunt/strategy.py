"""How the programs of a space that break a scheme are found: two ways, the same findings."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Generator, Sequence
from dataclasses import InitVar, dataclass, field

from rspverify.answers import Internal
from rspverify.engineering.hunt.finding import Finding, Formulas, HuntReport, PhaseCounts
from rspverify.enumeration.estimate import Estimate
from rspverify.enumeration.survey import Phase, Survey
from rspverify.records import replace
from rspverify.scheme.scheme import Scheme
from rspverify.soundness.settings import Settings
from rspverify.verdict import Word


class Watcher:
    """Whoever is told how a hunt goes; this one does not listen."""

    def surveying(self, events: int, threads: int, done: int, total: int) -> None:
        """So many of the blocks of a phase have been enumerated."""

    def deciding(self, events: int, threads: int, total: int) -> None:
        """The programs of a phase are decided from now on."""

    def asking(self, events: int, threads: int, total: int) -> None:
        """The formulas of a phase are asked from now on."""

    def expecting(self, events: int, seconds: float) -> None:
        """The formulas for so many operations take about so many seconds; only if that is long."""

    def decided(self, count: int) -> None:
        """So many more have been."""

    def answered(self, report: HuntReport) -> None:
        """All formulas have been asked; now the programs are counted."""

    def found(self, finding: Finding) -> None:
        """A program breaks the scheme."""

    def estimated(self, estimates: Sequence[Estimate]) -> None:
        """What it will take."""


@dataclass(eq=False)
class Strategy(ABC):
    """Goes through the programs of a survey's space. What is known can be asked for at any time.

    given: the scheme that is hunted. file: of the scheme, for reports of internal errors. schemes:
    the one that is hunted, and each that is stronger; whoever takes a broken program from `broken`
    adds one before taking the next. phases: those that were listed. internal: internal errors that
    came instead of verdicts. complete: whether all programs were looked at.
    """

    survey: Survey
    given: InitVar[Scheme]
    settings: Settings
    watcher: Watcher = field(default_factory=Watcher)
    file: str = ""
    schemes: list[Scheme] = field(init=False)
    phases: list[PhaseCounts] = field(init=False, default_factory=list)
    internal: list[Internal] = field(init=False, default_factory=list)
    complete: bool = field(init=False, default=False)

    def __post_init__(self, given: Scheme) -> None:
        self.schemes = [given]
        self.settings = replace(self.settings, shortest=False, progress=False)

    @property
    def scheme(self) -> Scheme:
        """The scheme that programs are put to now."""
        return self.schemes[-1]

    @abstractmethod
    def broken(self) -> Generator[bytes, None, None]:
        """Programs that break the scheme as it is then, the smallest first, each packed."""

    @property
    @abstractmethod
    def done(self) -> int:
        """How many questions were decided so far."""

    @property
    @abstractmethod
    def unknown(self) -> tuple[str, ...]:
        """The programs or formulas without an answer, each with the reason."""

    @property
    def words(self) -> Counter[Word]:
        """How many programs have each verdict of their own, by the last that was found."""
        return Counter()

    @property
    def formulas(self) -> Formulas | None:
        """What came of formulas, where there are any."""
        return None

    @property
    def counted(self) -> bool:
        """Whether all programs of the space are listed."""
        return self.complete

    def add(self, phase: Phase, to_decide: int) -> None:
        """Note a phase that is listed, and how many of its programs must be decided."""
        it = phase.counts
        self.phases.append(
            PhaseCounts(
                events=phase.events,
                threads=phase.threads,
                programs=it.programs,
                alone=it.alone,
                larger=it.larger,
                guarded=it.guarded,
                to_decide=to_decide,
                racy=it.racy,
            )
        )
