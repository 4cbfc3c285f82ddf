"""What is said of a test: under a scheme, by a model, as a picture. Plain data, shown as it is.

What `check` and `outcomes` answer is here; of other commands each room has its own.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from enum import StrEnum
from typing import Annotated

from msgspec import Struct, field

from rspverify.convert import Bounds, Code, Count, Place, Seconds, counts, one_of, with_keys
from rspverify.picture import Picture
from rspverify.records import replace
from rspverify.verdict import (
    Engine,
    Execution,
    Progress,
    ProgressWord,
    Race,
    Reading,
    Verdict,
    Word,
)

UNDEFINED = "*undef*"
"""herd's name for what `undefined_unless` found."""

UNANSWERED = (Word.ERROR, Word.UNSUPPORTED, Word.UNKNOWN)
"""Why there is no answer: the test is wrong, beyond this version, or a limit was met."""
Verdicts = Annotated[Mapping[Word, Count], with_keys(*Word)]
"""How many have each verdict."""


class Internal(Struct, frozen=True):
    """An internal error in a line, and the folder of the report that was written about it."""

    message: str
    bundle: str | None

    def __str__(self) -> str:
        report = self.bundle or "the test and the scheme"
        return f"internal error: {self.message}; please report it with {report}"


class ReadValue(Struct, frozen=True):
    """An executed read, where it stands, and what it read."""

    thread: Count
    line: Place
    column: Place
    location: str
    value: int


class Observed(Struct, frozen=True):
    """An outcome in the words of its program: registers as `1:r0`, memory by location.

    reads: every executed read, thread by thread in program order.
    """

    reads: tuple[ReadValue, ...]
    registers: Mapping[str, int]
    memory: Mapping[str, int]

    def __str__(self) -> str:
        return " ".join(f"{k}={v}" for k, v in [*self.registers.items(), *self.memory.items()])


def within_words(within: Mapping[str, int]) -> str:
    """What follows a word that holds only so far: ` within 8 iterations and 12 steps`, or nothing.

    In one order, so that texts are equal where bounds are.
    """
    parts = [f"{number} {name}" for name, number in sorted(within.items())]
    return f" within {' and '.join(parts)}" if parts else ""


# ---- a test under a scheme -----------------------------------------------------------------------


class Result(Struct, frozen=True, kw_only=True):
    """One test under one scheme: the verdict's parts beside the names, but no execution.

    test: the title in the file. scheme: the name in the scheme's file. file and scheme_file tell it
    from all others of a run. confirmed: the second solver that confirmed a SOUND, if one was asked.
    within: every bound that the verdict depends on; empty means exact. outcome: the wrong one of a
    wrong verdict, null otherwise; axioms: a smallest set that forbids it, empty if no candidate
    execution has its values; sound_if: of an OPEN verdict the switches of the machine that
    decide, each alone or several together, as `A+B`; switches: what those are that `reason` names.
    machine: the one that was asked for in the place of the scheme's. race: of a RACY verdict.
    progress: null unless it is asked for, and always for RACY, UNSUPPORTED and ERROR;
    progress_reason: why, in words. internal: an internal error that came instead of a verdict or of
    progress, UNKNOWN then. seconds: what deciding it took, in the earlier run if it is cached.
    suite: the folder of the suite that it is of, if it was run as one.
    """

    suite: str | None = None
    test: str
    file: str
    scheme: str
    scheme_file: str
    machine: str | None = None
    model: str
    engine: Engine
    reading: Reading
    verdict: Word
    confirmed: str | None = None
    within: Bounds = field(default_factory=dict)
    outcome: Observed | None = None
    axioms: tuple[str, ...] = ()
    sound_if: tuple[str, ...] = ()
    switches: Mapping[str, str] = field(default_factory=dict)
    race: Race | None = None
    reason: str
    progress: ProgressWord | None = None
    progress_reason: str | None = None
    internal: Internal | None = None
    seconds: Seconds
    cached: bool = False

    @property
    def words(self) -> str:
        """The verdict's word, and that of progress if there is one: `SOUND`, `SOUND STUCK`."""
        return self.verdict if self.progress is None else f"{self.verdict} {self.progress}"

    @property
    def rests_on(self) -> str:
        """What the verdict holds for: ` within 8 iterations`, ` if SWITCH or OTHER+THIRD`."""
        decide = f" if {' or '.join(self.sound_if)}" if self.sound_if else ""
        return f"{decide}{within_words(self.within)}"

    @property
    def claim(self) -> str:
        """The same with what the verdict holds for: `SOUND within 8 iterations STUCK`."""
        verdict = f"{self.verdict}{self.rests_on}"
        return verdict if self.progress is None else f"{verdict} {self.progress}"

    @property
    def column(self) -> str:
        """What the test is put to, by name."""
        return self.scheme


OBSERVATIONS = ("Never", "Sometimes", "Always")
PROGRESS_ANSWERS = ("LIVE", "STUCK", "UNDEFINED")
PROOF_ANSWERS = ("PROVED", "NO PROOF", "UNSOUND")
ANSWERS = (
    *OBSERVATIONS,
    *(f"{each} racy" for each in OBSERVATIONS),
    *PROGRESS_ANSWERS,
    *PROOF_ANSWERS,
    "VACUOUS",
    "UNSUPPORTED",
    "UNKNOWN",
)
"""What a model, a machine, or a model with a scheduler may say of a test; a proof of a scheme."""


class ModelAnswer(Struct, frozen=True):
    """What one model says of one test of a suite of models, one machine of one of machines, or the
    model of one of schedulers.

    model: its name, or that of the machine or of the scheduler; of a proof, where `file` is a
    scheme, what is asked of it. answer: whether the consistent executions, or the complete ones of
    the machine, satisfy the formula of the final condition (Never, Sometimes, Always), and `racy`
    where one of them is undefined; VACUOUS where the machine completes none; under a scheduler
    LIVE, STUCK, or UNDEFINED where the program may do anything; of a proof PROVED and its like;
    or UNSUPPORTED, UNKNOWN, ERROR. reason: why there is no answer.
    """

    test: str
    file: str
    model: str
    answer: str
    reason: str
    within: Bounds
    seconds: Seconds
    internal: Internal | None = None
    cached: bool = False
    suite: str | None = None

    @property
    def words(self) -> str:
        """The answer."""
        return self.answer

    @property
    def claim(self) -> str:
        """The answer with its bounds."""
        return f"{self.answer}{within_words(self.within)}"

    @property
    def column(self) -> str:
        """What the test is put to, by name."""
        return self.model


class Difference(Struct, frozen=True):
    """A verdict that is not the expected one; expected is None where none was written down."""

    result: Result | ModelAnswer
    expected: str | None


class Held(Struct, frozen=True):
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


class RowAtFault(Struct, frozen=True):
    """A row of a scheme, and where it stands in the scheme's file. end_column is exclusive."""

    number: Place
    operations: str
    code: Code
    line: Place
    column: Place
    end_line: Place
    end_column: Place


class RowsAtFault(Struct, frozen=True):
    """The rows that a scheme breaks a test by: made as strong as can be, all of them mend it.

    rows: empty if neither a row nor two do, or if that could not be told; then reason says why.
    others: each other row, or two, that would do as well.
    """

    rows: tuple[RowAtFault, ...]
    reason: str = ""
    others: tuple[tuple[RowAtFault, ...], ...] = ()


class CompiledThread(Struct, frozen=True):
    """A thread to be shown: its place, and its operations.

    operations: line, source text, operation in the paper's notation, and the code it became.
    """

    name: str
    place: str
    operations: tuple[tuple[int, str, str, tuple[str, ...]], ...]


class Explanation(Struct, frozen=True):
    """All that `explain` says of one test under one scheme.

    verdict, progress: what the result is made from, with executions. axioms: name and .cat text of
    those that forbid the outcome. reach: how far the verdict reaches, in a sentence.
    """

    result: Result
    title: str
    verdict: Verdict
    progress: Progress | None
    threads: tuple[CompiledThread, ...] = ()
    axioms: tuple[tuple[str, str], ...] = ()
    reach: str = ""


class Reached(Struct, frozen=True):
    """The outcomes that a machine reaches, or the model of a target allows, as far as they are
    known.

    all: whether these are all; stopped: why it is not known whether they are. allowed: how many the
    model allows, or at least so many if `beyond`; None where they were not counted. others: some
    that the model allows and the machine does not reach, all of them unless they are many.
    """

    outcomes: tuple[Observed, ...]
    all: bool
    stopped: str | None
    allowed: int | None
    beyond: bool
    others: tuple[Observed, ...] = ()
    target: bool = False


class Detail(Struct, frozen=True):
    """What a finding rests on, to be shown step by step; or another result with its reach.

    source, scheme: the texts of the two files. command: what shows the same in a terminal.
    explanation: None where it was not found again; picture: of an execution that the model forbids,
    None where there is none. reason: why one of them is not there. reached: of what is SOUND, if it
    was asked for.
    """

    source: str
    scheme: str
    command: str
    explanation: Explanation | None = None
    picture: Picture | None = None
    reason: str = ""
    reached: Reached | None = None


class SuiteReport(Struct, frozen=True, kw_only=True):
    """All that `check` says of a suite.

    folder: where it is; empty of what a command line names; about: what it is for. noun: what its
    columns are, `scheme`, `model` or, of schemes that are to be proved, `question`; names: those of
    the columns, as they are shown. total: how many results there were to be; results are fewer
    after an interrupt. held: None where nothing is expected. refreshed: what is expected is written
    from the results. interrupted, limit: why it ended before it was done, by the user or at a limit
    in words. faults: of UNSOUND results, by their file and the scheme's, where these were asked
    for; details: of UNSOUND and STUCK ones, likewise. optional: the tests for which a scheme need
    not have rows.
    """

    folder: str
    about: str
    noun: str
    names: tuple[str, ...]
    total: int
    results: tuple[Result | ModelAnswer, ...]
    held: Held | None
    seconds: float
    refreshed: bool = False
    interrupted: bool = False
    limit: str | None = None
    faults: Mapping[tuple[str, str], RowsAtFault] = field(default_factory=dict)
    details: Mapping[tuple[str, str], Detail] = field(default_factory=dict)
    optional: Collection[str] = ()

    @property
    def stopped(self) -> str | None:
        """Why it ended before it was done; None if it was."""
        return "interrupted" if self.interrupted else self.limit

    @property
    def item(self) -> str:
        """What a row is for."""
        return "scheme" if self.noun == "question" else "test"


class Unexpected(Struct, frozen=True):
    """A result that is not the expected one. scheme, model: whichever the test was put to."""

    file: str
    scheme: str | None
    model: str | None
    expected: str | None
    found: str


class SuiteSummary(Struct, frozen=True):
    """A suite as JSON has it. expected: the file that it was held to, if there is one; missing: the
    tests of that file that are not there. complete: whether it was run to its end."""

    suite: str
    about: str
    expected: str | None
    unexpected: tuple[Unexpected, ...]
    missing: tuple[str, ...]
    complete: bool
    seconds: Seconds


class CheckReport(Struct, frozen=True):
    """All that `check` says: one result per test and scheme; of suites of models, one answer per
    test and model. summary: how many of each verdict. interrupted: whether more was to come, when
    the user or a limit ended it.
    """

    results: tuple[Result, ...]
    answers: tuple[ModelAnswer, ...]
    suites: tuple[SuiteSummary, ...]
    summary: Verdicts
    interrupted: bool


def check_report(reports: Sequence[SuiteReport]) -> CheckReport:
    """The results of a run, of schemes and tests or of suites, as far as it went."""
    every = [replace(each, suite=it.folder or None) for it in reports for each in it.results]
    return CheckReport(
        tuple(each for each in every if isinstance(each, Result)),
        tuple(each for each in every if isinstance(each, ModelAnswer)),
        tuple(_summary(each) for each in reports if each.folder),
        counts(Word, (each.verdict for each in every if isinstance(each, Result))),
        any(each.stopped for each in reports),
    )


def _summary(it: SuiteReport) -> SuiteSummary:
    held = it.held
    unexpected = tuple(_unexpected(each) for each in held.differences) if held else ()
    return SuiteSummary(
        it.folder,
        it.about,
        held.file if held else None,
        unexpected,
        held.gone if held else (),
        len(it.results) == it.total,
        it.seconds,
    )


def _unexpected(it: Difference) -> Unexpected:
    result = it.result
    scheme, model = (result.scheme, None) if isinstance(result, Result) else (None, result.model)
    return Unexpected(result.file, scheme, model, it.expected, result.claim)


class MachineRun(Struct, frozen=True):
    """A run of a machine on a test in assembly that ends as it is wanted, or that there is none.

    test: its title. machine_file: None where the machine ships. wanted: what the run is to end
    with, in herd's notation; empty where any end will do. outcome, execution: None where no run
    ends so. completes: whether any run comes to an end; blocked: what each thread waits for where
    none does. within: every bound that it depends on.
    """

    test: str
    file: str
    machine: str
    wanted: str
    outcome: Observed | None
    execution: Execution | None
    completes: bool
    blocked: tuple[str, ...] = ()
    within: Bounds = field(default_factory=dict)
    machine_file: str | None = None


class ExplainReport(Struct, frozen=True):
    """All that `explain` says: of a test under a scheme, or the run of a machine on a test in
    assembly; null of what was not asked."""

    detail: Detail | None
    run: MachineRun | None


class Subject(Struct, frozen=True):
    """The scheme that a command is asked about, by its name and its file, and how it is decided.

    machine: or the target, where a model says what its executions are. machine_file: null where the
    machine ships.
    """

    scheme: str
    file: str
    machine: str
    model: str
    engine: Engine
    machine_file: str | None = None
    target: bool = False

    def __str__(self) -> str:
        return self._on_machine(self.scheme)

    @property
    def titled(self) -> str:
        """The same with the file of the scheme."""
        return self._on_machine(f"{self.scheme} ({self.file})")

    def _on_machine(self, scheme: str) -> str:
        return f"{scheme}, for the {machine_in_words(self.machine, self.machine_file, self.target)}"


def machine_in_words(name: str, file: str | None, target: bool = False) -> str:
    """A machine or a target by its name, and its file where it does not ship."""
    kind = "target" if target else "machine"
    return f"{kind} {name} ({file})" if file else f"{kind} {name}"


# ---- what a model allows -------------------------------------------------------------------------


class Quantifier(StrEnum):
    """How a final condition speaks of executions."""

    EXISTS = "exists"
    NOT_EXISTS = "~exists"
    FORALL = "forall"


class Observation(StrEnum):
    """herd's word for how often the formula of a final condition holds."""

    ALWAYS = "Always"
    SOMETIMES = "Sometimes"
    NEVER = "Never"


class OutcomeRow(Struct, frozen=True):
    """An outcome, whether the model allows it, and which schemes reach it.

    satisfies: whether the formula of the condition holds, null without one, and where a `filter`
    leaves the outcome out. reached: by scheme; null where that is not known.
    """

    outcome: Observed
    allowed: bool
    satisfies: bool | None
    reached: Mapping[str, bool | None]


class FinalStates(Struct, frozen=True):
    """What herd says of a test: its final states, and how many executions end so or so.

    formula: in herd's notation. A test without a condition has `forall (true)`, as for herd.
    positive, negative: the executions in which the formula holds or not, without those that a
    `filter` leaves out; counted: whether to the end, otherwise there are more. states: the values
    of what the formula speaks of and `locations […]` names, as `0:r0` or `[x]`; ascending.
    """

    quantifier: Quantifier
    formula: str
    observation: Observation
    positive: Count
    negative: Count
    counted: bool
    states: tuple[Mapping[str, int], ...]


class OutcomeAnswer(Struct, frozen=True, kw_only=True):
    """What `outcomes` says of one test of many, or why it says nothing; then all else is empty.

    test: the title in the file. word: why there is no answer; reason: all that must be said of
    that. internal: the internal error that came instead. within: every bound that the answer
    depends on, by name. racy: whether a consistent execution has a race. condition: as the test has
    it, null if it has none. violated: the names of the model's conditions that a consistent
    execution violates; flags: herd's names for them, which are those of a `flag`, and `*undef*` for
    all others. notes: what the reader must know besides. so_far: where it took too long, the
    outcomes that were found by then, each of them allowed; whether it races is told then, too.
    Under --races all of condition, final, outcomes, violated and flags are null. limited: whether a
    limit was met under a scheme.
    machine: of a test in assembly, the machine that it is put to, in place of a model: it has no
    model, its outcomes are those that the machine reaches, each of them allowed, and `final` counts
    outcomes in place of executions. scheduler: whose executions alone count, if one was named.
    """

    test: str | None = None
    file: str
    model: str | None
    machine: str | None = None
    scheduler: str | None = None
    schemes: tuple[str, ...] = ()
    answered: bool = False
    limited: bool = False
    word: Annotated[Word | None, one_of(*UNANSWERED, None)] = None
    reason: str = ""
    internal: Internal | None = None
    within: Bounds = field(default_factory=dict)
    racy: bool | None = None
    race: Race | None = None
    condition: str | None = None
    final: FinalStates | None = None
    outcomes: tuple[OutcomeRow, ...] | None = None
    so_far: tuple[OutcomeRow, ...] | None = None
    violated: tuple[str, ...] | None = None
    flags: tuple[str, ...] | None = None
    notes: tuple[str, ...] = ()
    seconds: Seconds = 0.0


class OutcomesReport(Struct, frozen=True):
    """All that `outcomes` says: one result per test, in the order of the tests.

    model: what tests are put to, and machine, what tests in assembly are, if one was named.
    stopped: why there are not more, where it ended before it was done.
    """

    model: str
    results: tuple[OutcomeAnswer, ...]
    stopped: str | None = None
    machine: str | None = None
