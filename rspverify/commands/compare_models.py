"""`compare --models`: which of two models allows more."""

from __future__ import annotations

from collections.abc import Generator, Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from rspverify.api.asked import Asked, Ending, Stop
from rspverify.api.inputs import AScheme, ATest, tests_given
from rspverify.api.judges import chosen
from rspverify.api.parameters import Question, question
from rspverify.axiomatic.cat import load_model
from rspverify.corpus.inputs import tests_meant
from rspverify.engineering.compare.models import (
    Agreement,
    ComparedTest,
    ModelComparer,
    ModelComparison,
    SearchedPrograms,
)
from rspverify.enumeration.space import Space, chosen_operations, operations_of
from rspverify.judge.judge import Judge
from rspverify.options import argument, declared, option
from rspverify.soundness.settings import OF_A_TEST, OPTIONS, Settings, option_words
from rspverify.source import Given, InputError, Problem, require

if TYPE_CHECKING:
    from rich.console import Console

    from rspverify.render.compare_models import ModelsStream
    from rspverify.render.document import Document

MOST = 7
"""The most of anything that a program has."""
_WITHOUT = "--models without tests:"
_TAKEN = [it for it in OF_A_TEST if it != "model"]


@dataclass(frozen=True)
class ModelParameters(Question):
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
    events: int = option(3, f"{_WITHOUT} the most operations.", least=1, most=MOST)
    threads: int = option(3, f"{_WITHOUT} the most threads.", least=1, most=MOST)
    devices: int = option(1, f"{_WITHOUT} the most devices.", least=1, most=MOST)
    locations: int = option(2, f"{_WITHOUT} the most locations.", least=1, most=MOST)
    scopes: Sequence[str] = option((), f"{_WITHOUT} as of hunt.", commas=True)
    orders: Sequence[str] = option((), f"{_WITHOUT} as of hunt.", commas=True)
    kinds: Sequence[str] = option((), f"{_WITHOUT} as of hunt.", commas=True)
    judge: Judge | None = None

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
            usual = ("WG", "DV") if self.devices == 1 else ("WG", "DV", "ALL")
            operations = operations_of(self.scopes or usual, self.orders, self.kinds)
        bounds = (self.events, self.threads, self.threads, self.devices, self.locations)
        return Space(*bounds, operations=operations)


class CompareModels(Asked[ComparedTest, ModelComparison]):
    """Gives what two models say of each test; or the smallest program with each kind of difference.

    tests: none where programs are searched.
    """

    def __init__(
        self, comparer: ModelComparer, tests: Sequence[Given], space: Space | None
    ) -> None:
        super().__init__()
        self.notes = tuple(note for it in comparer.models for note in it.notes)
        self.tests = tests
        self._comparer, self._space = comparer, space
        self._searched: SearchedPrograms | None = None
        if space is not None:
            self._searched = SearchedPrograms(space.bounds, space.operations)
        self._stream: ModelsStream | None = None

    def _answers(self) -> Generator[ComparedTest, None, None]:
        if self._space is None:
            return self._comparer.tests(self.tests)
        return self._comparer.search(self._space, self._show)

    def _show(self, searched: SearchedPrograms) -> None:
        self._searched = searched
        if self._stream is not None:
            self._stream.searching(searched)

    def _report(self, stop: Stop) -> ModelComparison:
        first, second = (it.name for it in self._comparer.models)
        return ModelComparison(first, second, tuple(self.known), self._searched, stop.reason)

    def stream(self, console: Console, form: str) -> ModelsStream:
        """Shows each test, or program, as soon as it is there."""
        from rspverify.render.compare_models import ModelsStream

        so_far = self._report(Stop())
        self._stream = ModelsStream(console, so_far, len(self.tests), text=form == "text")
        return self._stream

    def document(self, report: ModelComparison, *, detailed: bool = False) -> Document:
        """What is said of all tests, or programs."""
        from rspverify.render.compare_models import document

        return document(report)

    def ending(self, report: ModelComparison) -> Ending:
        """1: the models differ. 3: something was not decided."""
        answers = {each.answer for each in report.tests}
        unknown = report.searched is not None and report.searched.unknown
        return Ending(
            internal=any(each.internal for each in report.tests),
            wrong=Agreement.ERROR in answers,
            found=Agreement.DIFFERENT in answers,
            undecided=bool(unknown or answers & {Agreement.UNKNOWN, Agreement.UNSUPPORTED}),
        )


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
    needless = [*option_words(asked.settings, OPTIONS.keys() - _TAKEN)]
    require(not needless, f"models must be compared without {' '.join(needless)}")
    bounds = ", ".join(asked.bounds)
    require(not (asked.tests and bounds), f"{bounds} must go without tests")
    problems: list[Problem] = []
    files = tests_meant(tests_given(asked.tests), problems).tests if asked.tests else ()
    models = []
    for name in (asked.old, asked.new):
        try:
            models.append(load_model(str(name)))
        except InputError as error:
            problems += error.problems
    if problems:
        raise InputError(problems)
    judge = chosen(asked.judge, asked.settings)
    comparer = ModelComparer((models[0], models[1]), asked.settings, judge)
    return CompareModels(comparer, files, None if asked.tests else asked.space)
