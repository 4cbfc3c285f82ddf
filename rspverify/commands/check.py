"""`check`: A verdict for each test under each scheme."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Callable, Collection, Generator, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

from rspverify.answers import ModelAnswer, Result, SuiteReport
from rspverify.api.asked import Asked
from rspverify.api.inputs import AScheme, ATest, schemes_given, settled, several, tests_given
from rspverify.api.parameters import Decided, question
from rspverify.options import argument, option
from rspverify.records import replace
from rspverify.render.forms import FORMS as OF_ANY
from rspverify.render.forms import OF_RESULTS, need, write
from rspverify.shipped import located, ships
from rspverify.soundness.settings import OPTIONS, Settings
from rspverify.source import Source, require
from rspverify.terminal.command import EVERYWHERE, Command
from rspverify.terminal.ending import exit_code, exit_code_of, first_of, told
from rspverify.terminal.output import Output, note
from rspverify.verdict import WRONG, ProgressWord, Word
from rspverify.wording import in_a_file_name

if TYPE_CHECKING:  # --help needs none of it
    from rspverify.corpus.expected import Expected
    from rspverify.corpus.suite import Suite
    from rspverify.judge.judge import Judge
    from rspverify.render.document import Document
    from rspverify.render.progress import Stream

Answer: TypeAlias = Result | ModelAnswer
FORMS = {
    "text": "Text, or for other tools: JSON, JUnit XML, SARIF 2.1.0, Markdown, annotations of "
    "a GitHub workflow; or a page of HTML to look into.",
    **{form: "" for form in (*OF_ANY, *OF_RESULTS) if form != "text"},
}

_BUGS = 10
"""So many results have a page for a tracker."""


@dataclass(frozen=True)
class CheckParameters(Decided):
    """What verdicts are held to."""

    schemes: AScheme | Iterable[AScheme] = argument(
        "Schemes (files that end in .yaml) and tests (files or folders; default: those of "
        "the suite litmus/rsp). Or suites (folders with a suite.yaml, or with such folders; "
        "default: litmus).",
        metavar="[SCHEME… [TEST…] | SUITE…]",
        completes="scheme or test",
        default=(),
    )
    tests: ATest | Iterable[ATest] | None = None
    settings: Settings = Settings()
    expect: str | Path | None = option(
        None,
        "Hold the verdicts (and progress, if asked for) to this file: 0 if all are as expected.",
    )
    refresh: bool = option(
        False, "Write the verdicts to the file of --expect, or of suites, instead."
    )


class Check(Asked[Answer, SuiteReport]):
    """Tests and what they are put to: schemes, or the schemes or models of a suite.

    Gives each result, test by test. names: of the columns, as they are shown. tests: by their
    paths. expected: what the results are held to, None where nothing is. details: asks what results
    rest on. texts: of schemes and tests that are no files, by their names. optional: the tests for
    which a scheme need not have rows.
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
        texts: Mapping[str, Source] | None = None,
        notes: Sequence[str] = (),
        optional: Collection[str] = (),
    ) -> None:
        from rspverify.api.details import Details

        super().__init__(
            lambda _: coming(),
            self._whole,
            "check",
            written=FORMS,
            total=len(tests) * len(names),
            notes=notes,
        )
        self.suite, self.names, self.settings = suite, names, settings
        self.tests, self.expected, self._given = tests, expected, given
        self._optional = optional
        self.details = Details(settings, judge, texts or {})

    def wished(self, result: Result) -> bool:
        """Whether a result needs nobody's attention, as it is good, or the expected one."""
        from rspverify.render.check import wished

        if self.expected is None:
            return wished(result)
        return self.expected.of(result) == result.claim and not result.internal

    def _whole(self, _: object) -> SuiteReport:
        held, stop, suite = None, self.stopped, self.suite
        if self.expected is not None:
            progress = self.settings.progress
            held = self.expected.held(self.known, self._given, self.tests, progress=progress)
        return SuiteReport(
            folder=suite.folder,
            about=suite.about,
            noun=suite.kind.noun,
            names=tuple(self.names),
            total=self.total or 0,
            results=tuple(self.known),
            held=held,
            seconds=self.seconds,
            interrupted=stop.interrupted,
            limit=stop.limit,
            optional=self._optional,
        )

    def document(self, report: SuiteReport, needs: Collection[str] = ()) -> Document:
        """What is said of all results."""
        from rspverify.render.check import document

        return document([self.details.with_reasons(report, needs)])

    def broken(self) -> list[Result]:
        """The results that break a scheme unexpectedly, those with the smallest tests first."""
        broken = [
            it
            for it in self.known
            if isinstance(it, Result)
            and (it.verdict in WRONG or it.progress is ProgressWord.STUCK)
            and not self.wished(it)
            and not {it.file, it.scheme_file} & self.details.texts.keys()  # no command has these
        ]

        def size(it: Result) -> tuple[bool, int, str]:
            return it.verdict is not Word.UNSOUND, located(it.file).stat().st_size, it.file

        return sorted(broken, key=size)

    def commands(self) -> list[str]:
        """What shows why the smallest test that breaks a scheme does, if one does."""
        from rspverify.judge.verdicts import command_of

        return [command_of(it, self.settings) for it in self.broken()[:1]]

    def expect(self, results: Sequence[Answer]) -> list[str]:
        """Write these results to the file of what is expected; what must not be, in words.

        Raises InputError.
        """
        from rspverify.corpus.expected import not_to_be_expected, write_expected

        write_expected(self.suite.expected, results, self.settings.model, self.suite.kind)
        return not_to_be_expected(results)


@question(CheckParameters)
def check(asked: CheckParameters) -> Check:
    """Check schemes against litmus tests: a verdict for each test under each scheme.

    Without a scheme, run suites: tests that say themselves what they are put to, and what is
    expected of them.

    Exit: 70 internal error, with a folder to report; 2 wrong input, or a report that cannot be
    written; 1 UNSOUND, STUCK or unexpected; 3 OPEN, UNKNOWN, VACUOUS, UNSUPPORTED (but for tests
    that their suite calls optional); 0 otherwise.

    In Python: schemes and tests by name or path, as texts, or as `Scheme`s, `LitmusTest`s and
    `Program`s. With `refresh` the file of `expect` is not read, and `Check.expect` writes it.
    `check_suites` runs suites. Raises InputError with all that is wrong with any of them.

    Examples:
        >>> rspverify.check("original", "Fig4").report().results[0].verdict
        <Word.UNSOUND: 'UNSOUND'>
    """
    from rspverify.corpus.expected import expected_of
    from rspverify.corpus.inputs import inputs_meant
    from rspverify.corpus.suite import Kind, Suite
    from rspverify.judge.run import read_inputs

    settings = asked.settings
    meant = inputs_meant(schemes_given(asked.schemes), tests_given(asked.tests))
    held, file = None, "" if asked.expect is None else str(asked.expect)
    require(not asked.refresh or bool(file), "--refresh must come with --expect FILE")
    if file:
        require(Path(file).parent.is_dir(), f"{file}: its folder must exist")
        held = None if asked.refresh else expected_of(meant, file, settings.model)
    judge = asked.decider
    run = read_inputs(meant.schemes, settings, judge, compilers=True)
    suite = Suite("", "", Kind.SCHEMES, tuple(each.file for each in run.schemes), {}, file, False)
    given = (*meant.schemes, *meant.tests)
    return Check(
        suite,
        run.names,
        settings,
        meant.files,
        meant.given,
        held,
        judge,
        lambda: run.results(meant.tests),
        {each.name: each for each in given if isinstance(each, Source)},
        meant.notes,
        meant.optional,
    )


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
    from rspverify.api.judges import chosen
    from rspverify.corpus.expected import read_all_expected
    from rspverify.corpus.inputs import suites_meant
    from rspverify.corpus.run import suite_results

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


@dataclass(frozen=True)
class CheckCommand(CheckParameters):
    """What the command line chooses besides: what is shown, and compilers in place of schemes."""

    everything: bool = option(
        False, "Print a line for every test, not only for those that need attention.", name="--all"
    )
    compiler: Sequence[str] = option(
        (),
        "In the place of a scheme: compile each test, whole, and check what is emitted. "
        "amdgpu:CPU, as amdgpu:gfx942+tgsplit; or aarch64, armv7, x86-64, riscv64, ppc64le, "
        "nvptx:sm_70, as aarch64+lse, aarch64-O1, gcc:riscv64, aarch64@clang-19. Joined by commas: "
        "each thread by any of them, as in object files that are linked.",
        metavar="NAME",
    )
    llc: str | None = option(
        None, "The llc that compiles. Default: LLVM in llvmlite.", metavar="PATH"
    )
    compare_table: bool = option(
        False,
        "Also check the table by which --compiler compiles operations one by one, and "
        "tell where the two differ. Of compilers that are joined: each operation by any.",
    )
    bug: str | None = option(
        None,
        "Of results with an execution that they should not have, ten at the most, the "
        "smallest tests first: write what a tracker is to be told to this folder, as Markdown.",
        metavar="DIR",
    )
    keep_code: str | None = option(
        None, "Write the IR of each test, and what --compiler emits, to this folder.", metavar="DIR"
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        given = {"llc": self.llc, "compare-table": self.compare_table, "keep-code": self.keep_code}
        for name, each in given.items():
            require(not each or bool(self.compiler), f"--{name} must go with --compiler")

    def parts(self, judge: Judge) -> list[Check]:
        """A question for each suite, or one for schemes and tests. Raises InputError."""
        from rspverify.api.compilers import compilers_named, keep_code, tables_of
        from rspverify.corpus.inputs import split

        words, settings = several(self.schemes), self.settings
        named = compilers_named(self.compiler, self.llc)
        if not named:
            suites = check_suites(words, settings, refresh=self.refresh, judge=judge)
            if suites is not None:
                message = "--expect must go with a scheme: a suite has its own file"
                require(self.expect is None, message)
                return suites
        schemes, tests = split(words)
        given = [*schemes, *named]
        tables = tables_of(named, tests, settings) if self.compare_table else []
        if self.keep_code is not None:
            keep_code(self.keep_code, named, tests, settings)
        held, refresh = self.expect, self.refresh
        asked = CheckParameters(
            [*given, *tables], tests, settings, expect=held, refresh=refresh, judge=judge
        )
        return [check.of(asked)]


def reports_of(
    parts: Sequence[Check],
    shown: Stream[Answer, Sequence[SuiteReport]],
    reasons: Callable[[Check, SuiteReport, int], SuiteReport],
    *,
    refreshed: bool = False,
) -> list[SuiteReport]:
    """Ask one part after the other, each shown as it comes, until one is stopped.

    reasons: a report with what its results rest on, given how many have been told of before; asked
    once all results are there.
    """
    from rspverify.render.check import suite

    known: list[SuiteReport] = []
    with shown:
        for part in parts:
            shown.count(part.suite.folder or "verdicts", part.total or 0)
            told(part.each(shown.show))
            known.append(replace(part.report(), refreshed=refreshed))
            shown.print(suite(known[-1]) if part.suite.folder else ())
            if known[-1].stopped:
                break
    reports: list[SuiteReport] = []
    for part, report in zip(parts, known, strict=False):
        stopped = any(it.stopped for it in reports)
        before = sum(len(it.details) for it in reports)
        reports.append(report if stopped else reasons(part, report, before))
    return reports


def _run(asked: CheckCommand, output: Output) -> int:
    from rspverify.api.compilers import differences
    from rspverify.render.check import document, suites_told, told, why
    from rspverify.render.progress import Stream

    parts = asked.parts(output.judge(asked.settings))
    first, forms = parts[0], {output.format, *output.files.values()}
    note(first.notes)
    needs = [each for each in ("faults", "details") if need(forms, each)]

    def reasons(part: Check, report: SuiteReport, before: int) -> SuiteReport:
        return part.details.with_reasons(report, needs, before)

    with output.opened() as console:
        said = suites_told()
        if not first.suite.folder:
            said = told(
                first.names,
                first.tests,
                wished=first.wished,
                everything=asked.everything,
                progress=asked.settings.progress,
            )
        shown = Stream[Answer, Sequence[SuiteReport]](console, said, text=output.text)
        reports = reports_of(parts, shown, reasons, refreshed=asked.refresh)
        whole = cache(lambda: document(reports))
        form = cache(lambda name: write(name, whole()))
        problems = output.write_reports(form)
        if asked.bug is not None:
            _write_bugs(asked.bug, parts)
        if output.text:
            shown.finish(reports)
            shown.print(() if first.suite.folder else why(first.commands()))
            for line in differences(reports[0]) if asked.compare_table else ():
                console.print(line, markup=False, highlight=False, soft_wrap=True)
        else:
            console.file.write(form(output.format))
    ended = _written if asked.refresh else lambda part, report: code_of(report)
    codes = [ended(part, its) for part, its in zip(parts, reports, strict=False)]
    return first_of([*codes, exit_code(wrong=problems)])


def _write_bugs(folder: str, parts: Sequence[Check]) -> None:
    """A page for each of some results that should not be so. Raises InputError."""
    from rspverify.api.explained import bug, explain
    from rspverify.files import make_folder
    from rspverify.files import write as write_file

    make_folder(Path(folder))
    broken = [(part, it) for part in parts for it in part.broken()]
    named: Counter[str] = Counter()
    for part, it in broken[:_BUGS]:
        name = in_a_file_name(f"{it.test}.{it.scheme}")
        named[name] += 1
        name += f"-{named[name]}" if named[name] > 1 else ""
        page = write("markdown", bug(explain(it.scheme_file, it.file, part.settings)))
        write_file(Path(folder, f"{name}.md"), page)
    if len(broken) > _BUGS:
        print(f"note: {len(broken) - _BUGS} more have no page in {folder}", file=sys.stderr)


def code_of(report: SuiteReport) -> int:
    """The exit code that a report stands for."""
    held, stopped, optional = report.held, report.interrupted, report.optional
    code = exit_code_of(report.results, held, interrupted=stopped, optional=optional)
    return first_of((code, exit_code(undecided=report.limit)))


def _written(part: Check, report: SuiteReport) -> int:
    """The exit code once the results are written to the file of what is expected."""
    results = report.results
    if report.stopped or any(each.internal for each in results):
        return code_of(report)
    wrong = part.expect(results)
    print(f"wrote {part.suite.expected}", file=sys.stderr)
    open_ = [each.file for each in results if Word.UNKNOWN in each.words.split()]
    if open_:
        named = ", ".join(dict.fromkeys(open_))
        print(f"note: UNKNOWN is what is expected now of {named}", file=sys.stderr)
    for message in wrong:
        print(message, file=sys.stderr)
    return exit_code(wrong=wrong)


COMMAND = Command(
    check, CheckCommand, _run, takes=OPTIONS, forms=FORMS, reports=FORMS, also=EVERYWHERE
)
