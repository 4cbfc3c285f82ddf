"""Verdicts on tests under schemes, and what models say of tests; held to what is expected."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import TypeAlias

from rspverify.answers import ModelAnswer, Result, SuiteReport
from rspverify.api.asked import Asked, Stop
from rspverify.api.inputs import AScheme, ATest, schemes_given, settled, tests_given
from rspverify.api.judges import chosen
from rspverify.api.reasons import Listener, Silent, Wanted, with_cases, with_reasons
from rspverify.corpus.expected import (
    Expected,
    not_to_be_expected,
    read_all_expected,
    read_expected,
    write_expected,
)
from rspverify.corpus.inputs import inputs_meant, suites_meant
from rspverify.corpus.run import suite_results
from rspverify.corpus.suite import Kind, Suite
from rspverify.judge.answers import command_of
from rspverify.judge.judge import Judge
from rspverify.judge.reading import read_inputs
from rspverify.judge.run import Run
from rspverify.render.check_text import wished
from rspverify.shipped import located, ships
from rspverify.soundness.settings import Settings
from rspverify.source import Source, require
from rspverify.verdict import ProgressWord, Word

Answer: TypeAlias = "Result | ModelAnswer"


class Check(Asked[Answer, SuiteReport]):
    """Tests and what they are put to: schemes, or the schemes or models of a suite.

    Gives each result, test by test. names: of the columns, as they are shown. tests: by their
    paths. expected: what the results are held to, None where nothing is. texts: of schemes and
    tests that are no files, by their names.
    """

    def __init__(
        self,
        suite: Suite,
        names: Sequence[str],
        settings: Settings,
        tests: Sequence[str],
        given: Sequence[str],
        expected: Expected | None,
        judge: Judge,
        coming: Callable[[], Generator[Answer, None, None]],
    ) -> None:
        super().__init__()
        self.suite, self.names, self.settings = suite, names, settings
        self.tests, self.expected = tests, expected
        self._given, self._judge, self._answers_of = given, judge, coming
        self.texts: Mapping[str, Source] = {}

    def _answers(self) -> Generator[Answer, None, None]:
        return self._answers_of()

    @property
    def total(self) -> int:
        """How many results there are to be."""
        return len(self.tests) * len(self.names)

    def wished(self, result: Result) -> bool:
        """Whether a result is as one wishes: the expected one, where something is expected."""
        if self.expected is None:
            return wished(result)
        return self.expected.of(result) == result.claim and not result.internal

    def _report(self, stop: Stop) -> SuiteReport:
        held = None
        if self.expected is not None:
            progress = self.settings.progress
            held = self.expected.held(self.known, self._given, self.tests, progress=progress)
        return SuiteReport(
            folder=self.suite.folder,
            about=self.suite.about,
            noun=self.suite.kind.noun,
            names=tuple(self.names),
            total=self.total,
            results=tuple(self.known),
            held=held,
            seconds=self.seconds,
            interrupted=stop.interrupted,
            limit=stop.limit,
        )

    def with_reasons(
        self, report: SuiteReport, wanted: Wanted, listener: Listener | None = None
    ) -> SuiteReport:
        """The report with what some forms tell of findings besides."""
        told = listener or Silent()
        return with_reasons(report, self.settings, self._judge, wanted, self.texts, told)

    def with_cases(
        self,
        report: SuiteReport,
        most: int,
        listener: Listener | None = None,
        *,
        broken: bool = False,
    ) -> SuiteReport:
        """The report with what so many results rest on, for a site; or only those `broken`."""
        told, judge = listener or Silent(), self._judge
        return with_cases(report, self.settings, judge, most, self.texts, told, broken=broken)

    @cached_property
    def forms(self) -> Mapping[str, Callable[[SuiteReport], str]]:
        """Text, JSON, and all other forms of `--format`."""
        from rspverify.render.check_forms import FORMS

        def made(form: str) -> Callable[[SuiteReport], str]:
            return lambda report: FORMS[form]([self.with_reasons(report, Wanted.of({form}))])

        return {form: made(form) for form in FORMS}

    def commands(self) -> list[str]:
        """What shows why the smallest test that breaks a scheme does, if one does."""
        shown: list[tuple[bool, int, str, Result]] = []
        for it in self.known:
            if isinstance(it, ModelAnswer):
                continue
            stuck = it.progress is ProgressWord.STUCK
            if (it.verdict is Word.UNSOUND or stuck) and not self.wished(it):
                if it.file in self.texts or it.scheme_file in self.texts:
                    continue  # no command can be given it
                sound, size = it.verdict is not Word.UNSOUND, located(it.file).stat().st_size
                shown.append((sound, size, it.file, it))
        if not shown:
            return []
        *_, smallest = min(shown, key=lambda each: each[:3])
        return [command_of(smallest, self.settings)]

    def expect(self, results: Sequence[Answer]) -> list[str]:
        """Write these results to the file of what is expected; what must not be, in words.

        Raises InputError.
        """
        write_expected(self.suite.expected, results, self.settings.model, self.suite.kind)
        return not_to_be_expected(results)


def check(
    schemes: AScheme | Iterable[AScheme],
    tests: ATest | Iterable[ATest] | None = None,
    settings: Settings | None = None,
    *,
    expect: str | Path | None = None,
    refresh: bool = False,
    judge: Judge | None = None,
) -> Check:
    """Verdicts on tests under schemes: is each outcome of the machine one that the model allows?

    schemes: one or several, by name or path, as texts, or as `Scheme`s. tests: files, folders or
    names, or as `LitmusTest`s or `Program`s; None for those of the suite litmus/rsp. expect: a file
    that the verdicts are held to; with `refresh` it is not read, and `Check.expect` writes it.
    Raises InputError with all that is wrong with any of them.

    Examples:
        >>> rspverify.check("original", "Fig4").report().results[0].verdict
        <Word.UNSOUND: 'UNSOUND'>
    """
    settings = settled(settings)
    meant = inputs_meant(schemes_given(schemes), tests_given(tests))
    held, file = None, "" if expect is None else str(expect)
    require(not refresh or expect is not None, "--refresh must come with --expect FILE")
    if expect is not None:
        require(Path(file).parent.is_dir(), f"{file}: its folder must exist")
        held = None if refresh else read_expected(file, settings.model)
    judge = chosen(judge, settings)
    read = read_inputs(meant.schemes, settings, judge)
    suite = Suite("", "", Kind.SCHEMES, tuple(each.file for each in read.schemes), {}, file, False)
    run = Run(read, judge)
    asked = Check(
        suite,
        read.names,
        settings,
        meant.files,
        meant.given,
        held,
        judge,
        lambda: run.results(meant.tests),
    )
    asked.notes = meant.notes
    given = (*meant.schemes, *meant.tests)
    asked.texts = {each.name: each for each in given if isinstance(each, Source)}
    return asked


def check_suites(
    folders: Sequence[str] = (),
    settings: Settings | None = None,
    *,
    refresh: bool = False,
    judge: Judge | None = None,
) -> list[Check] | None:
    """The suites in folders or below them, one question each; without any those below `litmus`.

    Settings that are not the default come before those of a suite. refresh: what is expected is not
    read. None where the words mean something else than suites. Raises InputError.
    """
    suites = suites_meant(folders)
    if suites is None:
        return None
    given = settled(settings)
    judge = chosen(judge, given)
    for suite in suites:
        message = (
            f"{suite.expected}: ships with rspverify; --refresh must go with suites of one's own"
        )
        require(not (refresh and ships(suite.expected)), message)
    settled_for = [suite.settings(given) for suite in suites]
    known = [None] * len(suites) if refresh else read_all_expected(suites, settled_for)

    def asked(suite: Suite, its: Settings, expected: Expected | None) -> Check:
        tests = suite.tests()
        return Check(
            suite,
            suite.columns,
            its,
            tests,
            [suite.folder],
            expected,
            judge,
            lambda: suite_results(suite, its, tests, judge),
        )

    return list(map(asked, suites, settled_for, known))
