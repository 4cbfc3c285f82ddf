"""Which of two models allows more: what `compare --models` asks."""

from __future__ import annotations

from collections.abc import Generator, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

from rspverify.api.asked import Asked, Ending
from rspverify.api.inputs import AScheme, ATest, tests_given
from rspverify.api.parameters import Decided, question
from rspverify.axiomatic.cat import load_model
from rspverify.axiomatic.coverage import require_vocabulary
from rspverify.corpus.inputs import tests_meant
from rspverify.engineering.compare.models import (
    Agreement,
    ComparedTest,
    ModelComparer,
    ModelComparison,
    SearchedPrograms,
)
from rspverify.enumeration.space import Space, chosen_operations, operations_of
from rspverify.options import argument, declared, option, words_of
from rspverify.soundness.settings import OF_A_TEST, OPTIONS, Settings
from rspverify.source import Problems, require

MOST = 7
"""The most of anything that a program has."""
_WITHOUT = "--models without tests:"
_TAKEN = [it for it in OF_A_TEST if it != "model"]

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
    events: int = option(3, f"{_WITHOUT} the most operations.", least=1, most=MOST)
    threads: int = option(3, f"{_WITHOUT} the most threads.", least=1, most=MOST)
    devices: int = option(1, f"{_WITHOUT} the most devices.", least=1, most=MOST)
    locations: int = option(2, f"{_WITHOUT} the most locations.", least=1, most=MOST)
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
        ending=_ending,
        notes=[note for it in (old, new) for note in it.notes],
    )
    return found


def _ending(report: ModelComparison) -> Ending:
    answers = {each.answer for each in report.tests}
    unknown = report.searched is not None and report.searched.unknown
    return Ending(
        internal=any(each.internal for each in report.tests),
        wrong=Agreement.ERROR in answers,
        found=Agreement.DIFFERENT in answers,
        undecided=bool(unknown or answers & {Agreement.UNKNOWN, Agreement.UNSUPPORTED}),
    )
