"""What `repair` says: the schemes that were found, and what is known of all the others."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from math import prod

from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

from rspverify.answers import Detail, RowsAtFault
from rspverify.engineering.repair.answer import (
    Hunted,
    Killer,
    Reference,
    RepairReport,
    RowFound,
    SchemeFound,
)
from rspverify.render import document as doc
from rspverify.render.document import Document, Line, line
from rspverify.render.evidence import explained
from rspverify.render.progress import ON_AGAIN, bar
from rspverify.render.results import changed_codes
from rspverify.render.words import FEW, counted, few, progress_in_words
from rspverify.verdict import ProgressWord, Word


class ShownSearch:
    """Told how far a search is: first of the tests under the scheme itself, then of candidates."""

    def __init__(self, shown: Progress) -> None:
        self._bar = shown
        self._task = shown.add_task("")
        self._started = time.monotonic()

    def prepared(self, tests: int, of: int) -> None:
        """So many tests are decided under the scheme itself."""
        words = f"{tests} of {of} tests under the scheme itself"
        self._bar.update(self._task, description=words, completed=tests, total=of)

    def tried(self, candidates: int, least: int) -> None:
        """So many candidates are tried, and none that costs less than so much passes."""
        rate = candidates / max(time.monotonic() - self._started, 0.001)
        words = f"{candidates} candidates tried, {rate:.1f}/s, none passes that costs less than"
        self._bar.update(self._task, description=f"{words} {least:,}", total=None)


@contextmanager
def shown_search() -> Iterator[ShownSearch]:
    """Who is to be told how far it is; a bar on standard error, where that is a terminal."""
    shown = bar(TextColumn("{task.description}"), BarColumn(), TimeElapsedColumn())
    with shown:
        yield ShownSearch(shown)


def before(report: RepairReport) -> str:
    """What is said before the search: how large it is."""
    changing = [row for row in report.space.rows if row.stays is None]
    sizes = sorted(row.codes for row in changing)
    many = f"{sizes[0]:,}" if sizes[0] == sizes[-1] else f"{sizes[0]:,} to {sizes[-1]:,}"
    return (
        f"{counted(len(changing), 'row')} may change, with {many} codes each of at most "
        f"{report.space.max_length} instructions: {_rough(prod(sizes))} schemes, "
        f"{counted(report.tests.asked, 'test')} for each"
    )


def document(
    it: RepairReport,
    details: Mapping[str, Detail] | None = None,
    faults: Mapping[str, RowsAtFault] | None = None,
) -> Document:
    """All of it. details, faults: of tests under the scheme as given, by their files."""
    known = details or {}
    killers = dict.fromkeys(each.file for each in it.effort.killers if each.file in known)
    failed = [_article(file, it, known[file], (faults or {}).get(file)) for file in killers]
    rest = [line(f"    {each.test}: {_fallen([each])}") for each in it.effort.killers[FEW:]]
    return Document(
        "repair",
        it.subject.titled,
        [
            doc.Aside([line(str(it.subject), kind="head")]),
            doc.Basis(list(_asked(it))),
            *(_scheme(found, place, it) for place, found in enumerate(it.found, 1)),
            line(),
            doc.Summary([*_conclusion(it), *_compared(it)]),
            doc.Basis(
                [
                    *_work(it),
                    *([doc.Fold("All tests that ruled candidates out", rest)] if rest else []),
                    *_tests(it),
                ]
            ),
            doc.Warnings([*(line(str(each), kind="ERROR") for each in it.internal), *_partial(it)]),
            doc.Articles([each for each in failed if each], "What the scheme as given fails"),
        ],
        answer=it,
    )


def _asked(report: RepairReport) -> Iterator[Line]:
    """What was to be changed, and how."""
    changing = ", ".join(str(row.row) for row in report.space.rows if row.stays is None)
    yield line(f"rows that may change: {changing}")
    staying: dict[str, list[str]] = {}
    for row in report.space.rows:
        if row.stays is not None:
            staying.setdefault(row.stays, []).append(str(row.row))
    for reason, numbers in staying.items():
        yield line(f"rows that stay ({reason}): {', '.join(numbers)}")
    whose = f"those of {report.costs}" if report.costs else "our own"
    yield line(
        f"made of {', '.join(report.space.instructions) or 'accesses alone'} (costs: {whose})"
    )
    yield line(before(report))


def _scheme(found: SchemeFound, place: int, report: RepairReport) -> doc.Listing:
    costs = f"given: {report.cost:,}"
    if report.reference:
        costs += f", {report.reference.scheme}: {report.reference.cost:,}"
    cost = (f"  cost {found.cost:,}", "head")
    head = line((f"{place}  {found.name}", "head SOUND"), cost, (f" ({costs})", "note"))
    lines = [each for row in found.rows for each in _row(row, report, others=place == 1)]
    last = [_rests_on(found, report), *([found.written] if found.written else [])]
    lines += [line(f"    {each}", kind="note") for each in last]
    return doc.Listing([line(), head, *lines])


def _row(row: RowFound, report: RepairReport, *, others: bool) -> Iterator[Line]:
    mark = "*" if row.changed else " "
    given = next(each.code for each in report.space.rows if each.row == row.row)
    was, code = changed_codes(given, row.code)
    price = (f"  {_price(row, report)}", "note")
    yield line(f"  {mark} {row.row:2}  {row.operations:22}  ", *code.pairs, price)
    if row.changed:
        yield line(f"{'was':>30}   ", *was.pairs, kind="note")
    for other in row.alternatives if others else ():
        yield line(f"{'in another':>30}   {'; '.join(other)}", kind="UNSUPPORTED")


def _price(row: RowFound, report: RepairReport) -> str:
    words = [f"{row.cost}"]
    if row.cost != row.given:
        words.append(f"given {row.given}")
    if row.reference is not None and report.reference and row.reference != row.cost:
        words.append(f"{report.reference.scheme} {row.reference}")
    return f"({', '.join(words)})"


def _rests_on(found: SchemeFound, report: RepairReport) -> str:
    """What a scheme that was found was put to."""
    reach = f", within {_bounds(found.within)}" if found.within else ""
    words = f"{counted(found.tests, 'test')} SOUND and LIVE by {report.subject.engine}{reach}"
    explicit = "none put to explicit"
    if found.explicit or found.beyond_explicit:
        explicit = f"{found.explicit} of them SOUND by explicit, too"
    if found.beyond_explicit:
        explicit += f" ({found.beyond_explicit} of the sample were too large for it)"
    return "; ".join([words, explicit, _hunted(found.hunted)])


def _hunted(hunted: Hunted | None) -> str:
    if hunted is None:
        return "not hunted for other programs"
    what = "formulas" if hunted.programs is None else "programs"
    if hunted.unknown:
        return f"{hunted.unknown:,} of {hunted.decided:,} {what} hunted through were not decided"
    number = "" if hunted.programs is None else f"{hunted.programs:,} "
    words = f"sound for all {number}programs without a race within {_bounds(hunted.bounds)}"
    asked = "formulas " if hunted.programs is None else ""
    return f"{words} ({hunted.decided:,} {asked}decided)"


def _conclusion(report: RepairReport) -> Iterator[Line]:
    claim, limits = report.claim, f"at most {report.space.max_length} instructions a row"
    if same := [str(row.row) for row in report.space.rows if row.stays is not None]:
        which = f"row{'s' * (len(same) > 1)} {', '.join(same)}"
        limits += f", {which if len(same) <= FEW else 'the other rows'} as given"
    if not claim.finished:
        return
    if not report.found:
        all_ = f"no candidate passes every test: no scheme of these rows with {limits} does"
        some = "no candidate passes every test that could be decided"
        yield line(all_, kind="UNSOUND") if claim.exact else line(some, kind="UNKNOWN")
        return
    if claim.exact:
        words = f"no candidate that costs less than {claim.least:,} passes every test"
        yield line(f"{words} ({limits}, matched locks)", kind="SOUND")
    else:
        words = f"there may be candidates that cost less than {claim.least:,}: see below"
        yield line(words, kind="UNKNOWN")
    if claim.complete and not claim.exact:
        yield line("whether there are others of that cost was not decided", kind="UNKNOWN")
    elif claim.complete:
        number = "it is the only one" if len(report.found) == 1 else "there is no other"
        yield line(f"of that cost {number}, but for stronger ones")
    else:
        yield line(f"of that cost there are more than {len(report.found)} (--count)")


def _compared(report: RepairReport) -> Iterator[Line]:
    reference = report.reference
    if reference is None:
        return
    if reference.fails:
        fails = few([f"{each.test} ({each.verdict})" for each in reference.fails])
        yield line(f"{reference.scheme} itself fails {fails}", kind="RACY")
    if not report.found or not report.claim.finished:
        return
    cost = report.found[0].cost
    if cost < reference.cost:
        words = f"cheaper than {reference.scheme}: {cost:,} against {reference.cost:,}"
        rows = _cheaper_rows(report.found[0])
        yield line(f"{words}{rows}", kind="head SOUND")
    elif report.claim.exact:
        yield line(_none_cheaper(report, reference), kind="head")
    else:
        yield line(f"none that was found is cheaper than {reference.scheme}", kind="UNKNOWN")


def _cheaper_rows(found: SchemeFound) -> str:
    rows = [
        f"row {row.row} {row.cost} against {row.reference}"
        for row in found.rows
        if row.reference is not None and row.reference != row.cost
    ]
    return f" ({', '.join(rows)})" if rows else ""


def _none_cheaper(report: RepairReport, reference: Reference) -> str:
    least = report.found[0].cost
    if least == reference.cost:
        rows = ([row.reference == row.cost for row in each.rows] for each in report.found)
        same = any(map(all, rows))
        also = "" if same or not reference.candidate else ", which costs as much"
        return f"none is cheaper than {reference.scheme}{also}"
    outside = "" if reference.candidate else ", which is none of the candidates"
    return f"none is as cheap as {reference.scheme}{outside}: {least:,} against {reference.cost:,}"


def _work(report: RepairReport) -> Iterator[Line]:
    effort = report.effort
    done = f"{counted(effort.candidates, 'candidate')} tried"
    words = (
        f"{done}, {counted(effort.nogoods, 'lesson')} learnt, {counted(effort.verdicts, 'verdict')}"
    )
    yield line(words, (f"; {report.seconds:.1f} s", "note"))
    for killer in effort.killers[:FEW]:
        yield line(f"    {killer.test}: {_fallen([killer])}", kind="note")
    rest = effort.killers[FEW:]
    if rest:
        number = counted(sum(each.candidates for each in rest), "candidate")
        yield line(f"    {counted(len(rest), 'other test')}: {number}", kind="note")
    for it in effort.undecided[:FEW]:
        yield line(f"not decided for a candidate, which was put aside: {it.file} ({it.rows})")
    if len(effort.undecided) > FEW:
        yield line(f"and {len(effort.undecided) - FEW} more")


def _tests(report: RepairReport) -> Iterator[Line]:
    tests = report.tests
    words = ", ".join(f"{count} {word}" for word in Word if (count := tests.verdicts[word]))
    yield line(f"{counted(tests.total, 'test')}; under {report.subject.scheme} as given: {words}")
    aside: dict[str, list[str]] = {}
    for test in tests.without:
        aside.setdefault(test.reason.split(":")[0], []).append(test.test)
    for reason, names in aside.items():
        if reason == Word.RACY.value:
            yield line(f"{counted(len(names), 'test')} race and say nothing", kind="note")
        else:
            yield line(f"{reason}, says nothing: {few(names)}", kind="UNSUPPORTED")
    for left in tests.left_out:
        yield line(f"left out: {left.file}: {left.reason}", kind="UNSUPPORTED")
    for file in tests.found:
        yield line(f"found by hunting: {file}")


def _partial(report: RepairReport) -> Iterator[Line]:
    claim = report.claim
    if claim.finished:
        return
    known = f"no candidate that costs less than {claim.least:,} passes"
    if not claim.exact:
        known += ", but for those put aside"
    interrupted = f"interrupted: not finished; {known}; {ON_AGAIN}"
    stopped = f"not finished: {claim.stopped}; {known}"
    yield line(stopped if claim.stopped else interrupted, kind="UNSOUND")
    if report.effort.candidate and not report.found:
        claimed = "nothing is claimed"
        if report.effort.passes:
            claimed = "it is known that it passes every test; other programs were still hunted for"
        yield line(f"the last candidate tried, of which {claimed}:")
        for row in report.effort.candidate:
            yield line(f"    {row.row:2}  {'; '.join(row.code)}")


def _fallen(killers: Sequence[Killer]) -> str:
    return ", ".join(f"{counted(each.candidates, 'candidate')} {each.verdict}" for each in killers)


def _article(
    file: str, it: RepairReport, detail: Detail, fault: RowsAtFault | None
) -> doc.Article | None:
    """A test that the scheme as given fails, too; None if it does not."""
    explanation = detail.explanation
    if explanation is None:
        return None
    result, killers = explanation.result, [each for each in it.effort.killers if each.file == file]
    if result.verdict is not Word.UNSOUND and result.progress is not ProgressWord.STUCK:
        return None
    kind = str(Word.UNSOUND if result.verdict is Word.UNSOUND else ProgressWord.STUCK)
    words = [f"{_fallen(killers)} by this test. Below: {it.subject.scheme} as given."]
    words += filter(None, (result.reason, progress_in_words(result)))
    shown = doc.Article(file, kind, killers[0].test, [*map(line, words)], [file], broken=True)
    return explained(shown, it.subject.file, fault, detail)


def _bounds(within: Mapping[str, int]) -> str:
    return ", ".join(
        f"{bound} {name[:-1] if bound == 1 else name}" for name, bound in sorted(within.items())
    )


def _rough(number: int) -> str:
    if number < 10**7:
        return f"{number:,}"
    digits, power = f"{number:.0e}".split("e+")
    return f"about {digits}·10^{int(power)}"
