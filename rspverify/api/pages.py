"""Pages of what compare, mutate, hunt and repair say: what each shows besides is asked here.

It is asked after the answer, which does not depend on it, of the first findings, and not after an
interrupt.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Mapping
from typing import TYPE_CHECKING, TypeAlias, TypeVar

from rspverify.api.asked import Stop, stoppable
from rspverify.api.reasons import MOST, ask
from rspverify.render.page import Page
from rspverify.render.page_html import page
from rspverify.source import Source

if TYPE_CHECKING:
    from rspverify.answers import Detail, Result, RowsAtFault
    from rspverify.drawing.details import Broken
    from rspverify.engineering.comparison import Comparison
    from rspverify.engineering.hunt.finding import HuntReport
    from rspverify.engineering.hunt.hunt import Hunt, HuntSetup
    from rspverify.engineering.mutation import MutationReport
    from rspverify.engineering.mutation_report import Asked
    from rspverify.engineering.repair.answer import RepairReport
    from rspverify.engineering.repair.run import Repair
    from rspverify.engineering.setup import Setup
    from rspverify.judge.judge import Judge
    from rspverify.judge.reading import Inputs
    from rspverify.judge.verdicts import Verdicts

T = TypeVar("T")
Made: TypeAlias = Callable[[Page], str]
"""A text of what is shown: a page that stands alone, or a part of another."""


def compare_page(
    it: Comparison,
    inputs: Inputs,
    judge: Judge,
    texts: Mapping[str, Source],
    stop: Stop,
    made: Made = page,
) -> str:
    """The page of a comparison: each test that changed, under the scheme that breaks it."""
    from rspverify.drawing.details import details
    from rspverify.engineering.comparison import Change
    from rspverify.judge.faults import faults
    from rspverify.render.compare_html import html
    from rspverify.verdict import Word

    settings, order = inputs.settings, (Change.WORSE, Change.BETTER)
    changed = [each for each in it.tests if each.changed]
    changed.sort(key=lambda each: each.change not in order)
    shown = {each.file: each.broken for each in changed if each.broken}
    results = dict(list(shown.items())[:MOST])
    unsound = {file: each for file, each in results.items() if each.verdict is Word.UNSOUND}
    blamed = faults([*unsound.values()], settings, judge, texts)
    at_fault = _known(unsound, blamed, judge, stop)
    seen = details([*results.values()], settings, judge, texts)
    return html(it, _known(results, seen, judge, stop), at_fault, made)


def mutate_page(
    it: MutationReport,
    asked: Asked,
    stop: Stop,
    made: Made = page,
) -> str:
    """The page of a scheme's mutants: each with the smallest test that it fails."""
    from rspverify.drawing.details import Broken
    from rspverify.engineering.mutate import changed
    from rspverify.engineering.mutation import Fate
    from rspverify.judge.verdicts import NamedScheme
    from rspverify.render.mutate_html import html
    from rspverify.verdict import Word

    setup = asked.setup
    (scheme, *_), tests = setup.schemes, {each.file: each.source for each in setup.tests}
    mutants = {each.name: each for each in asked.mutants}
    broken: dict[str, Broken] = {}
    for found in [each for each in it.mutants if each.file][:MOST]:
        name, stuck = found.mutant.name, found.verdict is Fate.STUCK
        changed_scheme = changed(mutants[name], scheme.scheme, found.switches)
        mutant = NamedScheme.of(changed_scheme, scheme.file)
        word = Word.SOUND if stuck else Word.UNSOUND
        broken[name] = Broken(tests[found.file or ""], mutant, word, stuck)
    return html(it, _details(broken, setup.verdicts, stop), made)


def hunt_page(
    it: HuntReport,
    hunted: Hunt,
    setup: HuntSetup,
    judge: Judge,
    stop: Stop,
    made: Made = page,
) -> str:
    """The page of a hunt: each program, under the scheme that it was found to break."""
    from rspverify.answers import RowsAtFault
    from rspverify.drawing.details import Broken
    from rspverify.judge.faults import row_at_fault
    from rspverify.judge.verdicts import NamedScheme, Verdicts
    from rspverify.render.hunt_html import html
    from rspverify.soundness.settings import explain_command
    from rspverify.verdict import Word

    rows = {row.number: row for row in setup.scheme.rows}
    broken: dict[str, Broken] = {}
    at_fault: dict[str, RowsAtFault] = {}
    for found, scheme in zip(it.findings, hunted.strategy.schemes, strict=False):
        file, command = found.file or f"{found.test}.litmus", ""
        if found.file and not found.stronger:
            command = explain_command(setup.file, found.file, setup.settings)
        named = NamedScheme.of(scheme, setup.file)
        broken[found.text] = Broken(Source(file, found.text), named, Word.UNSOUND, False, command)
        blamed = (rows[row.number] for row in found.blamed)
        at_fault[found.text] = RowsAtFault(tuple(map(row_at_fault, blamed)))
    verdicts = Verdicts(judge, setup.model, setup.settings)
    return html(it, _details(dict(list(broken.items())[:MOST]), verdicts, stop), at_fault, made)


def repair_page(it: RepairReport, search: Repair, setup: Setup, stop: Stop) -> str:
    """The page of a repair: the schemes, and the tests that the one given fails."""
    from rspverify.drawing.details import Broken
    from rspverify.judge.faults import faults
    from rspverify.render.repair_html import html
    from rspverify.soundness.settings import explain_command
    from rspverify.verdict import Word

    scheme, verdicts, tests = setup.schemes[0], setup.verdicts, search.tests
    killers = list(dict.fromkeys(each.file for each in it.effort.killers))
    broken: dict[str, Broken] = {}
    for file in killers[:MOST]:
        word = verdicts.answer(tests[file], scheme).verdict.word
        command = explain_command(scheme.file, file, verdicts.settings)
        broken[file] = Broken(tests[file].source, scheme, word, True, command)
    seen = _details(broken, verdicts, stop)
    unsound: dict[str, Result] = {}
    files = {each.file for each in setup.tests}
    for file, detail in seen.items():
        result = detail.explanation.result if detail.explanation else None
        if result and result.verdict is Word.UNSOUND and file in files:  # not found by a hunt
            unsound[file] = result
    texts = {each.file: each.source for each in setup.tests} | {scheme.file: scheme.scheme.source}
    at_fault = faults([*unsound.values()], verdicts.settings, verdicts.judge, texts)
    return html(it, seen, _known(unsound, at_fault, verdicts.judge, stop))


def _details(broken: Mapping[str, Broken], verdicts: Verdicts, stop: Stop) -> dict[str, Detail]:
    from rspverify.drawing.details import details_of

    return _known(broken, details_of([*broken.values()], verdicts), verdicts.judge, stop)


def _known(
    names: Mapping[str, object], coming: Generator[T, None, None], judge: Judge, stop: Stop
) -> dict[str, T]:
    """What comes, by name, as far as it is known before an interrupt; with a bar."""
    from rspverify.render.progress import counting

    found: list[T] = []
    if names and not stop.reason:
        with stoppable() as later, counting("findings", len(names)) as advance:
            ask(coming, found, judge, advance)
        stop.interrupted |= later.interrupted
    return dict(zip(names, found, strict=False))
