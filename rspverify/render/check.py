"""What `check` says: a verdict for each test under each scheme, suites, and what is not as it is
to be."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from pathlib import PurePath

from rspverify.answers import ModelAnswer, Result, SuiteReport, check_report
from rspverify.records import replace
from rspverify.render import document as doc
from rspverify.render.document import Block, Document, Line, Told, line
from rspverify.render.evidence import explained
from rspverify.render.findings import Finding, findings
from rspverify.render.words import (
    PROGRESS,
    conclusion,
    counted,
    difference,
    gone,
    lacking,
    noun_of,
    progress_class,
    progress_in_words,
    reach,
    result_cell,
    switches_in_words,
    tally,
    unfinished,
)
from rspverify.verdict import WRONG, ProgressWord, Reading, Word

_DECIDED = {Word.SOUND, *WRONG, Word.RACY, Word.VACUOUS}
_WISHED = {Word.SOUND, Word.RACY, Word.UNSUPPORTED}
_WORD_WIDTH = 11
_PROGRESS_WIDTH = 9
_LONGEST_SCHEME = 24
_AT_MOST = 20
"""So many results that are not as expected are shown of a suite; of more, their number."""
_ALL = 10
"""So many tests are all shown, whatever their verdicts."""
_NO_ROW = re.compile(r"has no row for (.+?) on \w+")


def document(reports: Sequence[SuiteReport]) -> Document:
    """All of it."""
    suites = bool(reports[0].folder)
    found = [(report, each) for report in reports for each in findings(report)]
    found.sort(key=lambda it: it[0].details.get(key_of(it[1].result)) is None)
    articles = [article(report, each, f"{n}") for n, (report, each) in enumerate(found)]
    names = {id(it.result): each.name for (_, it), each in zip(found, articles, strict=True)}
    blocks: list[Block] = []
    for report in reports:
        told = suite(report) if suites else summary(report)
        blocks += [matrix(report, names, quiet=suites), *told]
    nouns = dict.fromkeys(it.noun for it in reports)
    tables = [_table([it for it in reports if it.noun == noun]) for noun in nouns]
    last = [doc.Aside([_conclusion(reports)])] if suites else []
    return Document(
        "check",
        conclusion(reports),
        [
            doc.Totals(totals(reports)),
            doc.Fold(tables, "How many of each"),
            doc.Articles(articles, how="rspverify explain SCHEME TEST"),
            *blocks,
            *last,
        ],
        answer=check_report(reports),
        reports=reports,
    )


def _table(reports: Sequence[SuiteReport], *, within: bool = False) -> doc.Table:
    """How many results of each kind, a row for each scheme or model of each suite. within: it
    stands in a text that names the suite."""
    kinds, _ = tally([each for it in reports for each in it.results])
    suites = not within and any(it.folder for it in reports)
    rows: list[list[Line | str]] = []
    for it in reports:
        for column, counts in tally(it.results)[1].items():
            cells = [line((str(n), _class(kind)) if (n := counts[kind]) else "–") for kind in kinds]
            name = f"  {column}" if within else column
            rows.append([*([it.folder] if suites else []), name, *cells])
    heads = [*(["suite"] if suites else []), "" if within else reports[0].noun]
    numbers = range(len(heads), len(heads) + len(kinds))
    heads += [f"{it.removeprefix(PROGRESS):>5}" for it in kinds]
    return doc.Table(heads, rows, numbers, gap=2)


def totals(reports: Sequence[SuiteReport]) -> list[doc.Total]:
    """How many results there are of each word."""
    kinds, counts = tally([each for it in reports for each in it.results])
    return [doc.Total(it, _class(it), sum(of[it] for of in counts.values())) for it in kinds]


def article(report: SuiteReport, it: Finding, name: str) -> doc.Article:
    """A finding, by this name, with what it rests on as far as that is known."""
    places = [each.file if each.line is None else f"{each.file}:{each.line}" for each in it.spots]
    lines = [line(it.text)]
    kind, key = str(it.kind), key_of(it.result)
    broken = it.kind in (*WRONG, ProgressWord.STUCK)
    minor = it.kind == Word.UNSUPPORTED and not it.grave
    shown = doc.Article(name, kind, it.subject, lines, places, broken=broken, minor=minor)
    if not isinstance(it.result, Result):
        return shown
    fault, detail = report.faults.get(key), report.details.get(key)
    if fault and fault.rows:  # They are among what it rests on.
        words = (it.expectation, it.result.reason, progress_in_words(it.result))
        shown = replace(shown, lines=[line(each) for each in words if each])
    return explained(shown, it.result.scheme_file, fault, detail)


def key_of(it: Result | ModelAnswer | None) -> tuple[str, str]:
    """By what a report knows what a result rests on."""
    return (it.file, it.scheme_file) if isinstance(it, Result) else ("", "")


def _class(kind: str) -> str:
    """That of the cells with a word: there is a verdict UNKNOWN, and one of progress."""
    progress = kind.removeprefix(PROGRESS)
    return kind if progress == kind else progress_class(ProgressWord(progress))


# ---- tests under schemes -------------------------------------------------------------------------


def matrix(
    report: SuiteReport,
    names: Mapping[int, str],
    addresses: Mapping[int, str] | None = None,
    *,
    quiet: bool = False,
) -> doc.Matrix:
    """The results of a suite. names: of findings, and addresses: of pages, by the identity of the
    result. quiet: whether a text has none of it."""
    columns = list(dict.fromkeys(map(_column, report.results)))
    tests, passed, told = _by_test(report), _passed(report), addresses or {}
    expected = {
        id(it.result): it.expected or "nothing"
        for it in (report.held.differences if report.held else ())
    }
    rows = []
    for test, results in tests.items():
        cells = {}
        for it in results:
            place = id(it)
            known = names.get(place, ""), expected.get(place, ""), told.get(place, "")
            cells[_column(it)] = result_cell(it, *known)
        row = replace(_row(results), cells=[cells.get(each) for each in columns])
        first = any(id(it) in names or id(it) in told for it in results)
        rows.append(replace(row, first=first, quiet=quiet or test in passed))
    progress = any(isinstance(it, Result) and it.progress for it in report.results)
    shaped = _shape([name for name, _ in columns], list(tests), progress)
    return replace(shaped, rows=rows, folder=report.folder, about=report.about)


def _by_test(report: SuiteReport) -> Mapping[str, list[Result | ModelAnswer]]:
    tests: dict[str, list[Result | ModelAnswer]] = {}
    for each in report.results:
        tests.setdefault(each.file, []).append(each)
    return tests


def _column(it: Result | ModelAnswer) -> tuple[str, str]:
    return it.column, key_of(it)[1]


def _shape(names: Sequence[str], tests: Sequence[str], progress: bool) -> doc.Matrix:
    """The matrix without its rows."""
    word = _WORD_WIDTH + (_PROGRESS_WIDTH if progress else 0)
    widths = [max(word, min(len(name), _LONGEST_SCHEME)) for name in names]
    longest = max((len(PurePath(test).stem) for test in tests), default=0)
    return doc.Matrix(
        names,
        (),
        widths,
        longest=min(56, longest),
        apart=_WORD_WIDTH + 1,
        indent=2,
        grouped="note",
    )


def _row(results: Sequence[Result | ModelAnswer]) -> doc.Row:
    """One test: a verdict per scheme, then each reason that is worth a line, and whose."""
    reasons: dict[tuple[Word, str], list[str]] = {}
    schemes = [it for it in results if isinstance(it, Result)]
    for it in schemes:
        if it.verdict is not Word.SOUND or it.within:
            reasons.setdefault((it.verdict, it.reason), []).append(it.scheme)
    for it in schemes:
        if reason := progress_in_words(it):
            reasons.setdefault((it.verdict, reason), []).append(it.scheme)
    below = []
    for (word, reason), whose in reasons.items():
        who = "" if len(whose) == len(results) else f"{', '.join(whose)}: "
        internal = any(it.internal and it.reason == reason for it in results)
        kind = "ERROR" if internal or word is Word.ERROR else "note"
        below.append(line(f"{'' if word is Word.ERROR else '    '}{who}{reason}", kind=kind))
    file = results[0].file
    place = PurePath(file)
    cells = [result_cell(it) for it in results]
    return doc.Row(place.stem, cells, file, place.parent.as_posix(), below)


def wished(it: Result | ModelAnswer) -> bool:
    """Whether a verdict needs nobody's attention where nothing is expected of it."""
    if isinstance(it, ModelAnswer):
        return not it.internal
    return it.verdict in _WISHED and not progress_in_words(it) and not it.internal


def wished_of(report: SuiteReport) -> Callable[[Result | ModelAnswer], bool]:
    """Which results need nobody's attention: where something is expected, those that it is."""
    if report.held is None:
        return wished
    differing = {id(each.result) for each in report.held.differences}
    return lambda it: id(it) not in differing and not it.internal


def _passed(report: SuiteReport) -> Mapping[str, list[Result | ModelAnswer]]:
    """The results of the tests that need nobody's attention; of few tests none."""
    tests = _by_test(report)
    fine, told = wished_of(report), len(tests) <= _ALL
    return {test: its for test, its in tests.items() if not told and all(map(fine, its))}


def summary(report: SuiteReport, *, everything: bool = False) -> Iterator[Block]:
    """How many of each verdict; what is not as expected, and what cannot be compiled."""
    if passed := {} if everything else _passed(report):
        blank = [line()] if len(passed) < len({it.file for it in report.results}) else []
        beyond = [it for it in passed.values() if any(e.words == Word.UNSUPPORTED for e in it)]
        words = f"{counted(len(passed), report.item)} as expected"
        if report.held is None:
            words = f"{counted(len(passed) - len(beyond), report.item)} passed"
            words += f", {len(beyond):,} not covered by the table" if beyond else ""
        yield doc.Aside([*blank, line(f"{words} (--all lists them)", kind="note")])
    results = [it for it in report.results if isinstance(it, Result)]
    extent = [line(_extent(report), kind="head")] if results else []
    yield doc.Aside([line(), *extent, *_counts(results)])
    if about := switches_in_words(results):
        yield doc.Aside([line(each, kind="note") for each in about])
    lacking = [] if everything else _unsupported(results, report.optional)
    yield doc.Aside([*lacking, *_comparison(report)])
    if rest := unfinished(report):
        yield doc.Warnings([line(rest, kind="ERROR")])


def _extent(it: SuiteReport) -> str:
    """How much was decided, how far it reaches, how long it took."""
    tests = len({each.file for each in it.results})
    columns = {*map(_column, it.results)}
    parts = [counted(tests, it.item), counted(len(columns), it.noun)]
    results = [each for each in it.results if isinstance(each, Result)]
    if results:
        first, far = results[0], ""
        if any(each.verdict in _DECIDED or each.within for each in results):
            far = f" ({reach(each.within for each in results)})"
        parts += [f"machine {first.machine}"] if first.machine else []
        parts += [f"model {first.model}", f"engine {first.engine}{far}"]
        if first.reading is not Reading.OUTCOME:
            parts.append(f"{first.reading} reading")
    cached = sum(each.cached for each in it.results)
    known = [f"{cached:,} cached"] if cached else []
    return ", ".join([*parts, f"{it.seconds:.1f} s", *known])


def _counts(results: Sequence[Result]) -> Iterator[Line]:
    kinds, rows = tally(results)
    width = max(map(len, rows), default=0)
    for name, counts in rows.items():
        own = [it for it in results if it.scheme == name]
        parts: list[str | tuple[str, str]] = [f"  {name.ljust(width)}"]
        for kind in (kind for kind in kinds if counts[kind]):
            parts += [f"  {counts[kind]:4} ", (kind.removeprefix(PROGRESS), _class(kind))]
        some = any(it.within for it in own)
        yield line(*parts, "  (some only within the bound)" if some else "")
    confirmed = Counter(it.confirmed for it in results if it.confirmed)
    sound = sum(it.verdict is Word.SOUND for it in results)
    for solver, count in sorted(confirmed.items()):
        yield line(f"  {count} of {sound} SOUND confirmed by {solver}")


def _unsupported(results: Sequence[Result], optional: Collection[str]) -> Iterator[Line]:
    """Why tests cannot be compiled, and how many: operations without a row, instructions."""
    missing: dict[str, dict[str, dict[str, None]]] = {}
    for it in results:
        if it.verdict is Word.UNSUPPORTED:
            found = [f"no row for {each}" for each in _NO_ROW.findall(it.reason)]
            for reason in found or [lacking(it.reason)]:
                missing.setdefault(reason, {}).setdefault(it.file, {})[it.scheme] = None
    for reason, files in sorted(missing.items(), key=lambda each: (-len(each[1]), each[0])):
        schemes = ", ".join(dict.fromkeys(name for names in files.values() for name in names))
        tests = counted(len(files), "optional test" if files.keys() <= set(optional) else "test")
        words = f"  UNSUPPORTED under {schemes}: {reason}, in {tests}"
        yield line(words, kind="UNSUPPORTED")


def _comparison(report: SuiteReport) -> Iterator[Line]:
    """What is not as expected, of a suite so much of it, or that everything is."""
    it, noun = report.held, noun_of(report)
    if it is None:
        return
    indent, most = ("  ", _AT_MOST) if report.folder else ("", len(it.differences))
    wrong = [
        f"{each.result.file} under {each.result.column}: {difference(each, noun)}"
        for each in it.differences[:most]
    ]
    wrong += [gone(test, it) for test in it.gone]
    if (more := len(it.differences) - most) > 0:
        wrong.append(f"and {more:,} more (--format json has all)")
    if it.differences:
        wrong.append(f"{counted(len(it.differences), noun)} not as in {it.file}")
    if it.gone:
        wrong.append(f"{counted(len(it.gone), report.item)} of {it.file} not there")
    yield from (line(f"{indent}{each}", kind="ERROR") for each in wrong)
    if report.results and not it.unexpected:
        decided = " that was decided" if len(report.results) < report.total else ""
        yield line(f"{indent}every {noun}{decided} is as in {it.file}", kind="SOUND")
    if it.unasked:
        what = f"of {counted(it.unasked, noun)} progress is expected, and not asked for"
        yield line(f"{indent}{what} (--progress)", kind="RACY")


# ---- suites --------------------------------------------------------------------------------------


def suite(it: SuiteReport) -> Iterator[Block]:
    """What a suite is for, how many of each word there are, and what is not as expected."""
    lines = [line(f"  {_extent(it)}")]
    for each in it.results:
        if each.words in (Word.ERROR, Word.UNKNOWN) or each.internal:
            words = f"  {each.file} under {each.column}: {each.reason}"
            lines.append(line(words, kind="ERROR"))
    lines += _comparison(it)
    if it.held is None and not it.refreshed:
        words = "  nothing is expected of these tests yet (--refresh)"
        lines.append(line(words, kind="RACY"))
    table = [_table([it], within=True)] if it.results else []
    yield doc.Aside([line((it.folder, "head"), f": {it.about}"), *table, *lines])
    if rest := unfinished(it):
        yield doc.Warnings([line(f"  {rest}", kind="ERROR")])
    yield doc.Aside([line()])


def suites_told() -> Told:
    """In the end one line about all suites."""
    return Told(last=lambda reports: [_conclusion(reports)])


def why(commands: Sequence[str]) -> Iterator[Line]:
    """The commands that show more."""
    return (line(f"to see why: {command}") for command in commands)


def _conclusion(reports: Sequence[SuiteReport]) -> Line:
    """One line about all suites."""
    wrong = any((it.held and it.held.unexpected) or unfinished(it) for it in reports)
    return line(conclusion(reports), kind="head UNSOUND" if wrong else "head SOUND")


# ---- as it goes ----------------------------------------------------------------------------------


def told(
    schemes: Sequence[str],
    tests: Sequence[str],
    *,
    wished: Callable[[Result], bool],
    everything: bool = False,
    progress: bool = False,
) -> Told:
    """The row of a test as soon as it is decided under every scheme, below its folder.

    tests: their paths. Of many only those are shown that need attention: `wished` says which do
    not. everything: all are shown. progress: that of programs (docs/semantics.md, Progress) stands
    beside their verdicts.
    """
    everything = everything or len(tests) <= _ALL

    def each(results: Sequence[Result]) -> Iterator[doc.Row]:
        if everything or not all(map(wished, results)):
            yield _row(results)

    def last(reports: Sequence[SuiteReport]) -> Iterable[Block]:
        return summary(reports[0], everything=everything)

    matrix = _shape(schemes, tests, progress)
    return Told(each, last, together=len(schemes), matrix=matrix)
