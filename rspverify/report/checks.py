"""What `check`, `explain`, `outcomes`, `draw` and `selftest` show."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from rspverify.verdict import Progress, Race, Verdict, Word

UNDEFINED = "*undef*"
"""herd's name for what `undefined_unless` found."""


@dataclass(frozen=True)
class ReadValue:
    """An executed read, where it stands, and what it read."""

    thread: int
    line: int
    column: int
    location: str
    value: int


@dataclass(frozen=True)
class Observed:
    """An outcome in the words of its program: registers as `1:r0`, memory by location."""

    reads: tuple[ReadValue, ...]
    registers: Mapping[str, int]
    memory: Mapping[str, int]

    def __str__(self) -> str:
        return " ".join(f"{k}={v}" for k, v in [*self.registers.items(), *self.memory.items()])


@dataclass(frozen=True)
class Internal:
    """An internal error in a line, and the folder of the report that was written about it."""

    message: str
    bundle: str | None

    def __str__(self) -> str:
        report = self.bundle or "the test and the scheme"
        return f"internal error: {self.message}; please report it with {report}"


@dataclass(frozen=True)
class Result:
    """One test under one scheme. file and scheme_file tell it from all others of a run.

    internal: the internal error that came instead of a verdict or of progress; that is UNKNOWN
    then. progress: None unless it was asked for, and where it has no meaning: RACY, UNSUPPORTED,
    ERROR. seconds: what deciding it took; cached: whether it was decided in an earlier run.
    """

    test: str
    file: str
    scheme: str
    scheme_file: str
    model: str
    engine: str
    reading: str
    verdict: Verdict
    observed: Observed | None
    seconds: float
    internal: Internal | None = None
    progress: Progress | None = None
    cached: bool = False

    @property
    def column(self) -> str:
        """What the test is put to, by name."""
        return self.scheme

    @property
    def words(self) -> str:
        """The verdict's word, and that of progress if there is one: `SOUND`, `SOUND STUCK`."""
        word = self.verdict.word.value
        return word if self.progress is None else f"{word} {self.progress.word}"

    @property
    def reason(self) -> str:
        """Why, in words."""
        return self.verdict.reason

    @property
    def within(self) -> Mapping[str, int]:
        """The bounds that the verdict depends on, by name."""
        return self.verdict.within


OBSERVATIONS = ("Never", "Sometimes", "Always")
ANSWERS = (*OBSERVATIONS, *(f"{each} racy" for each in OBSERVATIONS), "UNSUPPORTED", "UNKNOWN")
"""What a model may say of a test."""


@dataclass(frozen=True)
class ModelAnswer:
    """What one model says of one test of a suite of models.

    words: one of ANSWERS, or ERROR: whether the consistent executions satisfy the formula of the
    final condition, and `racy` where one of them is undefined. reason: why there is no answer.
    """

    test: str
    file: str
    model: str
    words: str
    reason: str
    within: Mapping[str, int]
    seconds: float
    internal: Internal | None = None
    cached: bool = False

    @property
    def column(self) -> str:
        """What the test is put to, by name."""
        return self.model


@dataclass(frozen=True)
class Difference:
    """A verdict that is not the expected one; expected is None where none was written down."""

    result: Result | ModelAnswer
    expected: str | None


@dataclass(frozen=True)
class Held:
    """How results compare with what a file expects.

    gone: the tests of the file that are not there. unasked: how many results have an expected
    progress that was not asked for.
    """

    file: str
    differences: tuple[Difference, ...]
    gone: tuple[str, ...] = ()
    unasked: int = 0

    @property
    def unexpected(self) -> int:
        """How much is not as expected."""
        return len(self.differences) + len(self.gone)


@dataclass(frozen=True)
class SuiteReport:
    """All that `check` says of a suite.

    folder: where it is; about: what it is for. noun: what its columns are, `scheme` or `model`;
    columns: how many. total: how many results there were to be; results are fewer after an
    interrupt. held: None where nothing is expected.
    """

    folder: str
    about: str
    noun: str
    columns: int
    total: int
    results: tuple[Result | ModelAnswer, ...]
    held: Held | None
    seconds: float


@dataclass(frozen=True)
class CompiledThread:
    """A thread to be shown: its place, and its operations.

    operations: line, source text, operation in the paper's notation, and the code it became.
    """

    name: str
    place: str
    operations: tuple[tuple[int, str, str, tuple[str, ...]], ...]


@dataclass(frozen=True)
class Explanation:
    """All that `explain` says of one test under one scheme.

    axioms: name and .cat text of those that forbid the outcome. seen, allowed: the outcomes that
    the machine reaches and that the model allows, where both are known. reach: how far the verdict
    reaches, in a sentence.
    """

    result: Result
    title: str
    threads: tuple[CompiledThread, ...]
    axioms: tuple[tuple[str, str], ...]
    seen: tuple[Observed, ...]
    allowed: int | None
    reach: str


@dataclass(frozen=True)
class OutcomeRow:
    """An outcome, whether the model allows it, and which schemes reach it."""

    observed: Observed
    allowed: bool
    satisfies: bool | None
    reached: tuple[bool | None, ...]


@dataclass(frozen=True)
class FinalStates:
    """What herd says of a test: its final states, and how many executions end so or so.

    quantifier: `exists`, `~exists` or `forall`; formula: in herd's notation. A test without a
    condition has `forall (true)`, as for herd. names: what a state tells, `0:r0` or `[x]`, which is
    what the formula speaks of and `locations […]` names; states: their values, ascending.
    positive, negative: the executions in which the formula holds or not; counted: whether to the
    end, otherwise there are more.
    """

    quantifier: str
    formula: str
    names: tuple[str, ...]
    states: tuple[tuple[int, ...], ...]
    positive: int
    negative: int
    counted: bool = True

    @property
    def observation(self) -> str:
        """herd's word for the formula: Always, Sometimes or Never."""
        if not self.positive:
            return "Never"
        return "Sometimes" if self.negative else "Always"


@dataclass(frozen=True)
class OutcomeTable:
    """All that `outcomes` says of one test.

    condition: as the test has it, None if it has none. violated: the names of the model's
    conditions that a consistent execution violates; flags: herd's names for them, which are those
    of a `flag`, and `*undef*` for all others. within: every bound that the answer depends
    on, by name. notes: what the reader must know besides.
    """

    test: str
    file: str
    model: str
    schemes: tuple[str, ...]
    rows: tuple[OutcomeRow, ...]
    race: Race | None
    violated: tuple[str, ...]
    flags: tuple[str, ...]
    condition: str | None
    final: FinalStates
    notes: tuple[str, ...]
    within: Mapping[str, int] = field(default_factory=dict)


@dataclass(frozen=True)
class RaceReport:
    """All that `outcomes --races` says of one test."""

    test: str
    file: str
    model: str
    race: Race | None
    within: Mapping[str, int] = field(default_factory=dict)
    notes: tuple[str, ...] = ()


@dataclass(frozen=True)
class OutcomeAnswer:
    """What `outcomes` has of one test of many, or why it has nothing.

    found: None where there is no answer; then word is ERROR, UNSUPPORTED or UNKNOWN, and reason
    says all that must be said. internal: the internal error that came instead.
    """

    file: str
    found: OutcomeTable | RaceReport | None
    seconds: float
    word: Word | None = None
    reason: str = ""
    internal: Internal | None = None


@dataclass(frozen=True)
class PlacedThread:
    """A column of a picture. device, workgroup: None in a language that has none."""

    name: str
    device: int | None
    workgroup: int | None


@dataclass(frozen=True)
class PlacedEvent:
    """An event of a picture; thread is the number of its column, None for an initial write."""

    text: str
    thread: int | None
    line: int | None
    marked: bool = False


@dataclass(frozen=True)
class Arrow:
    """An edge between two events of a picture, by their numbers.

    bold: part of what the picture is to show. mutual: without a direction, as a race is.
    """

    name: str
    source: int
    target: int
    bold: bool = False
    mutual: bool = False


@dataclass(frozen=True)
class Picture:
    """An execution to be drawn. notes: lines below the title."""

    title: str
    notes: tuple[str, ...]
    threads: tuple[PlacedThread, ...]
    events: tuple[PlacedEvent, ...]
    arrows: tuple[Arrow, ...]


@dataclass(frozen=True)
class Disagreement:
    """Two answers to one question, on a program and a scheme that were made as small as they go.

    kind: what disagrees; command: finds it again; name: of its two files, without their endings.
    """

    number: int
    kind: tuple[str, ...]
    words: str
    command: str
    name: str
    litmus: str
    scheme: str


@dataclass(frozen=True)
class PairResult:
    """What `selftest` found of one program under one scheme.

    labels: of what kind the pair is, by category; decided: the engines that found all outcomes;
    skipped: why an answer is missing; word: the verdict by definition, None if it is not known.
    """

    number: int
    labels: Mapping[str, str]
    decided: tuple[str, ...]
    skipped: Mapping[str, str]
    word: str | None
    disagreement: Disagreement | None
    seconds: float


@dataclass(frozen=True)
class PairCounts:
    """How many pairs were decided by every engine, by two at least, by fewer; and their verdicts.

    words: per verdict by definition, how many; pairs without one are not in it.
    """

    pairs: int
    by_all: int
    by_some: int
    skipped: int
    words: Mapping[str, int]


@dataclass(frozen=True)
class SelftestReport:
    """All that `selftest` says of a run.

    asked: how many pairs were wanted; kinds: counts by category and by label in it; missing: how
    often an answer was not given, by who did not give it and why.
    """

    seed: int
    start: int
    asked: int
    engines: tuple[str, ...]
    total: PairCounts
    kinds: Mapping[str, Mapping[str, PairCounts]]
    missing: Mapping[tuple[str, str], int]
    disagreements: tuple[Disagreement, ...]
    seconds: float
