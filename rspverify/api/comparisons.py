"""What an edit of a scheme changes: its rows, what they cost, verdicts and outcomes."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from rspverify.api.asked import Asked, Stop, rendered
from rspverify.api.inputs import AScheme, ATest, schemes_given, settled, tests_given
from rspverify.api.judges import chosen
from rspverify.convert import to_json
from rspverify.corpus.inputs import Meant, meant_by, tests_meant
from rspverify.engineering.compare.comparer import Comparer
from rspverify.engineering.comparison import Change as Change
from rspverify.engineering.comparison import Compared, Comparison
from rspverify.judge.judge import Judge
from rspverify.judge.reading import Inputs, read_inputs
from rspverify.judge.run import Run
from rspverify.scheme.cost import Costs, default_costs, read_costs
from rspverify.soundness.settings import Settings
from rspverify.source import Given, InputError, Problem, Source, name_of, read_source, require

if TYPE_CHECKING:
    from rich.console import Console

    from rspverify.api.pages import Made

MOST_OUTCOMES = 1_000
"""Where a compiled test has more outcomes, those gained and lost are not listed."""


class Compare(Asked[Compared, Comparison]):
    """Gives what the edit changes of each test, in their order. start: the schemes and rows."""

    def __init__(self, comparer: Comparer, run: Run, meant: Meant, costs: Costs) -> None:
        super().__init__()
        self._run = run
        self.tests = meant.tests
        self.start = comparer.start(costs, len(meant.tests))
        self.notes = meant.notes
        self._comparer = comparer

    def _answers(self) -> Generator[Compared, None, None]:
        return self._comparer.compared(self.tests)

    def _report(self, stop: Stop) -> Comparison:
        return self.start.ended(self.known, stop.reason)

    @property
    def forms(self) -> Mapping[str, Callable[[Comparison], str]]:
        """Text, JSON, and a page of HTML."""
        return {"text": _text, "json": to_json, "html": lambda it: self.page(it, Stop())}

    def page(self, report: Comparison, stop: Stop, made: Made | None = None) -> str:
        """A page of HTML; what it shows besides the report is asked for, unless it was stopped.

        made: of what is shown, if it is not to be a page that stands alone.
        """
        from rspverify.api.pages import compare_page
        from rspverify.render.page_html import page

        inputs = self._run.inputs
        sources = [each for each in self.tests if isinstance(each, Source)]
        texts = {each.name: each for each in (*sources, *(it.source for it in inputs.schemes))}
        return compare_page(report, inputs, self._run.judge, texts, stop, made or page)


def _text(report: Comparison) -> str:
    from rspverify.render.compare_text import CompareStream, summary

    def show(console: Console) -> None:
        with CompareStream(console, report.summary.tests, text=True) as stream:
            stream.start(report)
            for touched in report.tests:
                stream.show(touched)
            for each in report.left_out:
                stream.show(each)
        for line in summary(report):
            console.print(line, soft_wrap=True)

    return rendered(show)


def compare(
    old: AScheme,
    new: AScheme,
    tests: ATest | Iterable[ATest] | None = None,
    settings: Settings | None = None,
    *,
    costs: str | Path | None = None,
    most_outcomes: int = MOST_OUTCOMES,
    judge: Judge | None = None,
) -> Compare:
    """Two schemes, one perhaps an edit of the other. Only tests that become other code are decided.

    costs: a file with what instructions cost. Raises InputError with all that is wrong.
    """
    settings = settled(settings)
    judge = chosen(judge, settings)
    require(most_outcomes >= 1, f"most_outcomes must be 1 or more, not {most_outcomes}")
    problems: list[Problem] = []
    weights, inputs = default_costs(), None
    meant = tests_meant(tests_given(tests), problems)
    try:
        weights = read_costs(str(costs)) if costs else weights
    except InputError as error:
        problems += error.problems
    try:
        inputs = _schemes(old, new, settings, judge)
    except InputError as error:  # What is wrong with a scheme that is both is met twice.
        problems += dict.fromkeys(error.problems)
    if problems or inputs is None:
        raise InputError(problems)
    run = Run(inputs, judge)
    return Compare(Comparer(run, most_outcomes), run, meant, weights)


def _schemes(old: AScheme, new: AScheme, settings: Settings, judge: Judge) -> Inputs:
    """Both. Raises InputError for what is wrong with either, and with the model."""
    problems: list[Problem] = []
    there: list[Given] = []
    for each in (old, new):
        try:
            found = meant_by(schemes=schemes_given(each)).schemes
            there += [_apart(it, there) for it in found]
        except InputError as error:
            problems += error.problems
    try:
        inputs = read_inputs(there, settings, judge, unique=False)
    except InputError as error:
        raise InputError([*problems, *error.problems]) from None
    if problems:
        raise InputError(problems)
    return inputs


def _apart(given: Given, others: list[Given]) -> Given:
    """A scheme by a name that no other text has: reports tell schemes by it."""
    same = any(name_of(each) == name_of(given) and each != given for each in others)
    return Source(f"{name_of(given)} (new)", read_source(given).text) if same else given
