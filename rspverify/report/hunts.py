"""What `hunt` shows."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from rspverify.report.checks import Internal
from rspverify.verdict import Word


@dataclass(frozen=True)
class SpaceShown:
    """The bounds of a hunt, by name; the operations; and what of the usual is left out, with why.

    mixed: whether plain operations may access locations that are declared atomic. some: whether
    some of the usual operations are not among them. idle: the numbers of rows that no program of
    the space uses.
    """

    bounds: Mapping[str, int]
    operations: tuple[str, ...]
    left_out: tuple[tuple[str, str], ...]
    mixed: bool
    some: bool = False
    idle: tuple[int, ...] = ()


@dataclass(frozen=True)
class PhaseShown:
    """The programs with so many operations and threads, up to symmetry.

    programs: those without a race. Of these: alone: no two work-groups share a location that is
    written; larger: a smaller program stands for them; guarded: one without an `if` of theirs does;
    to_decide: all that must be decided under this scheme. racy: extensions that race, a program
    perhaps counted several times.
    """

    events: int
    threads: int
    programs: int
    alone: int
    larger: int
    guarded: int
    to_decide: int
    racy: int


@dataclass(frozen=True)
class BlamedRow:
    """A row of the scheme, and the code with which the hunt goes on."""

    number: int
    operations: str
    code: tuple[str, ...]
    strongest: tuple[str, ...]


@dataclass(frozen=True)
class BrokenShown:
    """A smallest program that breaks a scheme, made stronger as far as `stronger` says.

    line: it in one line. blamed: the rows with which the hunt goes on; empty if neither a row nor
    two mend it. mends: each row, or each two, that would. file: where it was written. reason: what
    is wrong, of a shortest execution with `steps` steps. decided: how many programs were until
    then, or how many formulas were asked. open: how many questions until then have no answer.
    """

    line: str
    title: str
    text: str
    events: int
    threads: int
    reason: str
    steps: int | None
    axioms: tuple[str, ...]
    blamed: tuple[BlamedRow, ...]
    mends: tuple[tuple[int, ...], ...]
    stronger: tuple[int, ...]
    decided: int
    open: int
    seconds: float
    file: str | None = None


@dataclass(frozen=True)
class FormulasShown:
    """What came of asking frames: how many formulas were asked, and how many have no program that
    breaks the scheme. racy, allowed: candidates that raced, and whose outcomes are allowed."""

    asked: int
    sound: int
    racy: int
    allowed: int


@dataclass(frozen=True)
class EstimateShown:
    """What a hunt is expected to find and to take, from a sample; `events`: of operations at most.

    programs: those without a race. deciding: whether `seconds` are for deciding them as well, or
    for listing alone. workers: by so many processes. sampled: parents looked at.
    """

    events: int
    programs: int
    to_decide: int
    seconds: float
    deciding: bool
    workers: int
    sampled: int


@dataclass(frozen=True)
class HuntReport:
    """All that `hunt` says of a scheme.

    by: FORMULA or PROGRAMS; why: if nobody chose and it is by programs, why not by formula.
    formulas: what came of them, None by programs. counted: whether all programs were listed.
    argued: whether the model is the one for which the filters are proved; otherwise there are none.
    phases: those that are complete, but for decisions. stronger: rows that were made as strong as
    can be in the end. words: how many of the programs have each verdict, in the end. unknown: those
    without a verdict, with why. complete: whether every program within the bounds was looked at.
    stopped: why it was not.
    """

    scheme: str
    file: str
    machine: str
    model: str
    space: SpaceShown
    by: str
    why: str
    formulas: FormulasShown | None
    counted: bool
    argued: bool
    estimates: tuple[EstimateShown, ...]
    phases: tuple[PhaseShown, ...]
    findings: tuple[BrokenShown, ...]
    stronger: tuple[int, ...]
    words: Mapping[Word, int]
    unknown: tuple[str, ...]
    complete: bool
    stopped: str
    seconds: float
    internal: tuple[Internal, ...] = ()

    @property
    def interrupted(self) -> bool:
        """Whether the user broke it off."""
        return self.stopped == INTERRUPTED

    @property
    def programs(self) -> int:
        """How many programs without a race there are in the phases."""
        return sum(phase.programs for phase in self.phases)

    @property
    def sound(self) -> bool:
        """Whether all programs within the bounds were found sound, perhaps of a stronger scheme."""
        return self.complete and not self.unknown and not self.internal


FORMULA = "formula"
PROGRAMS = "programs"

INTERRUPTED = "interrupted"
FIRST = "the first finding was asked for"
NO_ROW = "no row, and no two, mend it"
ESTIMATED = "only an estimate was asked for"
