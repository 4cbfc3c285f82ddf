"""`compare`: What an edit of a scheme changes; which of two models allows more."""

from __future__ import annotations

from collections.abc import Generator, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

from rspverify.api.asked import Asked, Ending, Stop, ending_of
from rspverify.api.compilers import compilers_named
from rspverify.api.details import MOST, Details
from rspverify.api.inputs import AScheme, ATest, schemes_given, tests_given
from rspverify.api.parameters import Decided, question
from rspverify.axiomatic.cat import load_model
from rspverify.axiomatic.coverage import require_vocabulary
from rspverify.corpus.inputs import is_test, meant_by, tests_meant
from rspverify.engineering.compare.comparer import compared, started
from rspverify.engineering.compare.models import (
    Agreement,
    ComparedTest,
    ModelComparer,
    ModelComparison,
    SearchedPrograms,
)
from rspverify.engineering.comparison import Change, Compared, Comparison
from rspverify.enumeration.space import Space, chosen_operations, operations_of
from rspverify.judge.judge import Judge
from rspverify.judge.run import Run, read_inputs
from rspverify.options import argument, declared, option, words_of
from rspverify.scheme.cost import read_costs
from rspverify.soundness.settings import OF_A_TEST, OPTIONS, Settings
from rspverify.source import Given, Problems, Source, name_of, read_source, require
from rspverify.terminal.command import EVERYWHERE, PAGES, Command, asking
from rspverify.terminal.output import Output
from rspverify.verdict import Word

if TYPE_CHECKING:
    from rspverify.render.document import Document

_LARGEST = 7
"""The most of anything that a program has."""
_WITHOUT = "--models without tests:"
_TAKEN = [it for it in OF_A_TEST if it != "model"]

Compare: TypeAlias = Asked[Compared, Comparison]
"""What the edit changes of each test, in their order."""
CompareModels: TypeAlias = Asked[ComparedTest, ModelComparison]
"""What two models say of each test; or the smallest program with each kind of difference."""


@dataclass(frozen=True)
class ModelParameters(Decided):
    """Two models, and tests or else the programs that are searched."""

    old: AScheme = argument(
        "A scheme, a .yaml file; or a model.", metavar="OLD", completes="scheme"
    )
    new: AScheme = argument(
        "Another, perhaps an edit of OLD with the same name.", metavar="NEW", completes="scheme"
    )
    tests: ATest | Iterable[ATest] | None = argument(
        "Files or folders of tests. Default: those of the suite litmus/rsp.",
        metavar="TEST…",
        completes="test",
        default=None,
    )
    settings: Settings = Settings()
    events: int = option(3, f"{_WITHOUT} the most operations.", least=1, most=_LARGEST)
    threads: int = option(3, f"{_WITHOUT} the most threads.", least=1, most=_LARGEST)
    devices: int = option(1, f"{_WITHOUT} the most devices.", least=1, most=_LARGEST)
    locations: int = option(2, f"{_WITHOUT} the most locations.", least=1, most=_LARGEST)
    scopes: Sequence[str] = option((), f"{_WITHOUT} as of hunt.", commas=True)
    orders: Sequence[str] = option((), f"{_WITHOUT} as of hunt.", commas=True)
    kinds: Sequence[str] = option((), f"{_WITHOUT} as of hunt.", commas=True)

    @property
    def bounds(self) -> list[str]:
        """The options of the search that are not as by default."""
        fields = declared(ModelParameters).items()
        return [it.option.name for name, it in fields if getattr(self, name) != it.default]

    @property
    def space(self) -> Space:
        """The programs that are searched. Raises InputError."""
        operations = chosen_operations(None, self.devices)
        if self.scopes or self.orders or self.kinds:
            operations = operations_of(self.scopes, self.orders, self.kinds, self.devices)
        bounds = (self.events, self.threads, self.threads, self.devices, self.locations)
        return Space(*bounds, operations=operations)


@dataclass(frozen=True)
class CompareParameters(ModelParameters):
    """How schemes are compared; the command compares models, too."""

    models: bool = option(
        False,
        "OLD and NEW are memory models: which outcomes of tests does one of them allow alone? "
        "Without tests, the smallest programs that tell them apart.",
    )
    compiler: bool = option(
        False,
        "OLD and NEW are compilers, as amdgpu:gfx942@llc-21: what does the code of NEW change? Of "
        "two OPEN tests the one is worse that fewer switches make SOUND.",
    )
    costs: str | Path | None = option(
        None,
        "What instructions cost, as in `FLU_L1 DV: 40`; what it leaves out costs as "
        "in rspverify/scheme/costs.yaml.",
        metavar="FILE",
    )
    fail_on_regression: bool = option(
        False,
        "Exit with 1 if a test got worse: SOUND is better than UNSUPPORTED, that than "
        "VACUOUS, that than OPEN, that than UNSOUND; LIVE is better than STUCK. RACY counts as "
        "SOUND.",
    )
    most_outcomes: int = option(
        1_000,
        "Where a compiled test has more outcomes, those gained and lost are not listed.",
        name="--limit-outcomes",
        least=1,
    )
    everything: bool = option(
        False,
        "Print a line for every test that becomes other code, and every row of long tables.",
        name="--all",
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.models:
            return
        require(not self.bounds, f"{', '.join(self.bounds)} must go with --models")
        if self.compiler:
            compilers_named([str(self.old), str(self.new)], None)
        for scheme in (self.old, self.new):
            named = isinstance(scheme, str) and is_test(scheme)
            hint = "the two schemes come first, and then the tests"
            require(not named, f"{scheme}: must be a scheme here, not a test", hint)


@question(CompareParameters)
def compare(asked: CompareParameters) -> Compare:
    """Compare two schemes, one perhaps an edit of the other: what rows cost, verdicts, outcomes.

    With --compiler A B: what two compilers make of whole tests, as a base and a patched one.

    Only tests that become other code under NEW than under OLD are decided. Rows are matched by
    the operations that they compile.

    With --models A.cat B.cat: what one model allows of tests and the other does not, and where one
    of them alone calls a test undefined. Without tests, all programs within bounds are searched.

    In Python: CompareParameters has what can be chosen. Raises InputError with all that is wrong.
    """
    judge, problems = asked.decider, Problems()
    meant = tests_meant(tests_given(asked.tests), problems)
    with problems:
        weights = read_costs(asked.costs)
    with problems:
        run = _schemes(asked, judge)
    problems.tell()
    tests = meant.tests
    start = started(run, asked.most_outcomes, weights, len(tests))

    def ending(report: Comparison) -> Ending:
        changes = {each.change for each in report.tests}
        return Ending(
            internal=any(it.failed for it in report.left_out)
            or any(it.failed for it in report.tests),
            wrong=any(each.verdict is Word.ERROR for each in report.left_out),
            found=asked.fail_on_regression and Change.WORSE in changes,
            undecided=Change.UNKNOWN in changes,
        )

    found = Asked(
        lambda _: compared(run, asked.most_outcomes, tests),
        lambda it: start.ended(it.known, it.stopped.reason),
        "compare",
        document=lambda report, _: _detailed(report, run, tests, found.stopped),
        told=lambda render, _: render.told(start, len(tests), everything=asked.everything),
        ending=ending,
        total=len(tests),
        notes=meant.notes,
    )
    return found


def _schemes(asked: CompareParameters, judge: Judge) -> Run:
    """Both. Raises InputError for what is wrong with either, and with the model."""
    problems = Problems()
    there: list[Given] = []
    for each in (asked.old, asked.new):
        with problems:
            found = meant_by(schemes=schemes_given(each)).schemes
            there += [_apart(it, there) for it in found]
    with problems:
        run = read_inputs(there, asked.settings, judge, unique=False, compilers=True)
    problems.tell()
    return run


def _apart(given: Given, others: list[Given]) -> Given:
    """A scheme by a name that no other text has: reports tell schemes by it."""
    same = any(name_of(each) == name_of(given) and each != given for each in others)
    return Source(f"{name_of(given)} (new)", read_source(given).text) if same else given


def _detailed(report: Comparison, run: Run, tests: Sequence[Given], stop: Stop) -> Document:
    """All of it, each test that changed under the scheme that breaks it."""
    from rspverify.render.compare import document

    verdicts = run.verdicts
    sources = [each for each in tests if isinstance(each, Source)]
    texts = {each.name: each for each in (*sources, *(it.source for it in run.schemes))}
    changed = [each for each in report.tests if each.changed]
    changed.sort(key=lambda each: each.change not in (Change.WORSE, Change.BETTER))
    results = {each.file: each.broken for each in changed if each.broken}
    shown = dict(list(results.items())[:MOST])
    faults, details = Details(verdicts.settings, verdicts.judge, texts).told(shown, shown, stop)
    return document(report, details, faults, everything=True)


# ---- two models ----------------------------------------------------------------------------------


@question(ModelParameters)
def compare_models(asked: ModelParameters) -> CompareModels:
    """Which of two models allows more of tests.

    Without tests: the smallest programs that tell them apart, of all within bounds.

    In Python: ModelParameters has what can be chosen. Raises InputError.

    Examples:
        >>> found = rspverify.compare_models("opencl-hrf", "opencl-rsp", events=2)
        >>> [it.program for it in found]
        ['r0=ld.WG x || st.DV.R x 10']
    """
    needless = [*words_of(asked.settings, OPTIONS.keys() - _TAKEN)]
    require(not needless, f"models must be compared without {' '.join(needless)}")
    bounds = ", ".join(asked.bounds)
    require(not (asked.tests and bounds), f"{bounds} must go without tests")
    problems = Problems()
    tests = tests_meant(tests_given(asked.tests), problems).tests if asked.tests else ()
    with problems:
        old = load_model(str(asked.old))
    with problems:
        new = load_model(str(asked.new))
    problems.tell()
    if not asked.tests:
        for model in (old, new):
            require_vocabulary(model, "OpenCL")
    comparer = ModelComparer((old, new), asked.settings, asked.decider)
    space = None if asked.tests else asked.space
    searched = SearchedPrograms(space.bounds, space.operations) if space else None

    def answers(shown: Any) -> Generator[ComparedTest, None, None]:
        def searching(it: SearchedPrograms) -> None:
            nonlocal searched
            searched = it
            shown.step(f"{it.programs:,} programs")

        return comparer.search(space, searching) if space else comparer.tests(tests)

    def report(it: CompareModels) -> ModelComparison:
        return ModelComparison(old.name, new.name, tuple(it.known), searched, it.stopped.reason)

    found = Asked(
        answers,
        report,
        "compare_models",
        told=lambda render, _: render.told(report(found), len(tests)),
        ending=_models_ended,
        notes=[note for it in (old, new) for note in it.notes],
    )
    return found


def _models_ended(report: ModelComparison) -> Ending:
    unknown = report.searched is not None and report.searched.unknown
    searched = [Agreement.UNKNOWN] if unknown else []
    return ending_of([*searched, *(each.answer for each in report.tests)], report.tests)


# ---- the command ---------------------------------------------------------------------------------


def _run(asked: CompareParameters, output: Output) -> int:
    if not asked.models:
        return asking(compare, asked, output)
    given = {"--costs": asked.costs, "--fail-on-regression": asked.fail_on_regression}
    wrong = [name for name, each in given.items() if each]
    require(not wrong, f"--models must go without {', '.join(wrong)}")
    html = "html" in (output.format, *output.files.values())
    require(not html, "--models must go with the forms text and json")
    return asking(compare_models, asked, output)


COMMAND = Command(
    compare,
    run=_run,
    ends="1 with --fail-on-regression, a test got worse, and with --models they differ; 3 a "
    "verdict, or progress, is UNKNOWN; 0 otherwise, whatever the verdicts are",
    takes=OPTIONS.keys() - {"confirm", "smt_dir"},
    forms=PAGES,
    also=EVERYWHERE,
)
