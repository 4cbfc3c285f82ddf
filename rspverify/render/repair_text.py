"""`repair` for people: the schemes found as tables, and what is known of all the others."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from math import prod

from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn
from rich.text import Text

from rspverify.engineering.repair import answer
from rspverify.render.progress import ON_AGAIN, bar
from rspverify.render.words import FEW, counted, few
from rspverify.verdict import Word


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


def before(report: answer.RepairReport) -> str:
    """What is said before the search: how large it is."""
    changing = [row for row in report.space.rows if row.stays is None]
    sizes = sorted(row.codes for row in changing)
    many = f"{sizes[0]:,}" if sizes[0] == sizes[-1] else f"{sizes[0]:,} to {sizes[-1]:,}"
    return (
        f"{counted(len(changing), 'row')} may change, with {many} codes each of at most "
        f"{report.space.max_length} instructions: {_rough(prod(sizes))} schemes, "
        f"{counted(report.tests.asked, 'test')} for each"
    )


def repair_table(report: answer.RepairReport) -> Iterator[Text]:
    """Everything: the schemes found, then what follows, and what it rests on."""
    yield Text(str(report.subject), style="bold")
    yield from asked(report)
    for place, found in enumerate(report.found, 1):
        yield Text("")
        yield from _scheme(found, place, report)
    yield Text("")
    yield from summary(report)
    yield from _work(report)
    yield from _tests(report)
    yield from warnings(report)


def summary(report: answer.RepairReport) -> Iterator[Text]:
    """What follows."""
    yield from _conclusion(report)
    yield from _compared(report)


def effort(report: answer.RepairReport) -> Iterator[Text]:
    """What it rests on, but for the tests that ruled candidates out."""
    yield from _done(report)
    yield from _tests(report)


def warnings(report: answer.RepairReport) -> Iterator[Text]:
    """Why it is not all that was to be known."""
    yield from (Text(str(each), style="bold red") for each in report.internal)
    yield from _partial(report)


def asked(report: answer.RepairReport) -> Iterator[Text]:
    """What was to be changed, and how."""
    changing = ", ".join(str(row.row) for row in report.space.rows if row.stays is None)
    yield Text(f"rows that may change: {changing}")
    staying: dict[str, list[str]] = {}
    for row in report.space.rows:
        if row.stays is not None:
            staying.setdefault(row.stays, []).append(str(row.row))
    for reason, numbers in staying.items():
        yield Text(f"rows that stay ({reason}): {', '.join(numbers)}")
    whose = f"those of {report.costs}" if report.costs else "our own"
    yield Text(
        f"made of {', '.join(report.space.instructions) or 'accesses alone'} (costs: {whose})"
    )
    yield Text(before(report))


def _scheme(found: answer.SchemeFound, place: int, report: answer.RepairReport) -> Iterator[Text]:
    costs = f"given: {report.cost:,}"
    if report.reference:
        costs += f", {report.reference.scheme}: {report.reference.cost:,}"
    head = Text(f"{place}  {found.name}", style="bold green")
    yield head.append(f"  cost {found.cost:,}", style="bold").append(f" ({costs})", style="dim")
    for row in found.rows:
        yield from _row(row, report, others=place == 1)
    yield Text(f"    {rests_on(found, report)}", style="dim")
    if found.written:
        yield Text(f"    {found.written}", style="dim")


def _row(row: answer.RowFound, report: answer.RepairReport, *, others: bool) -> Iterator[Text]:
    mark = "*" if row.changed else " "
    line = Text(f"  {mark} {row.row:2}  {row.operations:22}  ")
    line.append("; ".join(row.code), style="bold" if row.changed else "")
    yield line.append(f"  {_price(row, report)}", style="dim")
    if row.changed:
        given = next(each.code for each in report.space.rows if each.row == row.row)
        yield Text(f"{'was':>30}   {'; '.join(given)}", style="dim")
    for other in row.alternatives if others else ():
        yield Text(f"{'in another':>30}   {'; '.join(other)}", style="cyan")


def _price(row: answer.RowFound, report: answer.RepairReport) -> str:
    words = [f"{row.cost}"]
    if row.cost != row.given:
        words.append(f"given {row.given}")
    if row.reference is not None and report.reference and row.reference != row.cost:
        words.append(f"{report.reference.scheme} {row.reference}")
    return f"({', '.join(words)})"


def rests_on(found: answer.SchemeFound, report: answer.RepairReport) -> str:
    """What a scheme that was found was put to."""
    reach = f", within {_bounds(found.within)}" if found.within else ""
    words = f"{counted(found.tests, 'test')} SOUND and LIVE by {report.subject.engine}{reach}"
    explicit = "none put to explicit"
    if found.explicit or found.beyond_explicit:
        explicit = f"{found.explicit} of them SOUND by explicit, too"
    if found.beyond_explicit:
        explicit += f" ({found.beyond_explicit} of the sample were too large for it)"
    return "; ".join([words, explicit, _hunted(found.hunted)])


def _hunted(hunted: answer.Hunted | None) -> str:
    if hunted is None:
        return "not hunted for other programs"
    what = "formulas" if hunted.programs is None else "programs"
    if hunted.unknown:
        return f"{hunted.unknown:,} of {hunted.decided:,} {what} hunted through were not decided"
    number = "" if hunted.programs is None else f"{hunted.programs:,} "
    words = f"sound for all {number}programs without a race within {_bounds(hunted.bounds)}"
    asked = "formulas " if hunted.programs is None else ""
    return f"{words} ({hunted.decided:,} {asked}decided)"


def _conclusion(report: answer.RepairReport) -> Iterator[Text]:
    claim, limits = report.claim, f"at most {report.space.max_length} instructions a row"
    if same := [str(row.row) for row in report.space.rows if row.stays is not None]:
        which = f"row{'s' * (len(same) > 1)} {', '.join(same)}"
        limits += f", {which if len(same) <= FEW else 'the other rows'} as given"
    if not claim.finished:
        return
    if not report.found:
        all_ = f"no candidate passes every test: no scheme of these rows with {limits} does"
        some = "no candidate passes every test that could be decided"
        yield Text(all_, style="bold red") if claim.exact else Text(some, style="magenta")
        return
    if claim.exact:
        words = f"no candidate that costs less than {claim.least:,} passes every test"
        yield Text(f"{words} ({limits}, matched locks)", style="green")
    else:
        words = f"there may be candidates that cost less than {claim.least:,}: see below"
        yield Text(words, style="magenta")
    if claim.complete and not claim.exact:
        yield Text("whether there are others of that cost was not decided", style="magenta")
    elif claim.complete:
        number = "it is the only one" if len(report.found) == 1 else "there is no other"
        yield Text(f"of that cost {number}, but for stronger ones")
    else:
        yield Text(f"of that cost there are more than {len(report.found)} (--count)")


def _compared(report: answer.RepairReport) -> Iterator[Text]:
    reference = report.reference
    if reference is None:
        return
    if reference.fails:
        fails = few([f"{each.test} ({each.verdict})" for each in reference.fails])
        yield Text(f"{reference.scheme} itself fails {fails}", style="yellow")
    if not report.found or not report.claim.finished:
        return
    cost = report.found[0].cost
    if cost < reference.cost:
        words = f"cheaper than {reference.scheme}: {cost:,} against {reference.cost:,}"
        rows = _cheaper_rows(report.found[0])
        yield Text(f"{words}{rows}", style="bold green")
    elif report.claim.exact:
        yield Text(_none_cheaper(report, reference), style="bold")
    else:
        yield Text(f"none that was found is cheaper than {reference.scheme}", style="magenta")


def _cheaper_rows(found: answer.SchemeFound) -> str:
    rows = [
        f"row {row.row} {row.cost} against {row.reference}"
        for row in found.rows
        if row.reference is not None and row.reference != row.cost
    ]
    return f" ({', '.join(rows)})" if rows else ""


def _none_cheaper(report: answer.RepairReport, reference: answer.Reference) -> str:
    least = report.found[0].cost
    if least == reference.cost:
        rows = ([row.reference == row.cost for row in each.rows] for each in report.found)
        same = any(map(all, rows))
        also = "" if same or not reference.candidate else ", which costs as much"
        return f"none is cheaper than {reference.scheme}{also}"
    outside = "" if reference.candidate else ", which is none of the candidates"
    return f"none is as cheap as {reference.scheme}{outside}: {least:,} against {reference.cost:,}"


def _done(report: answer.RepairReport) -> Iterator[Text]:
    effort = report.effort
    done = f"{counted(effort.candidates, 'candidate')} tried"
    line = Text(
        f"{done}, {counted(effort.nogoods, 'lesson')} learnt, {counted(effort.verdicts, 'verdict')}"
    )
    yield line.append(f"; {report.seconds:.1f} s", style="dim")


def _work(report: answer.RepairReport) -> Iterator[Text]:
    yield from _done(report)
    effort = report.effort
    for killer in effort.killers[:FEW]:
        words = f"{counted(killer.candidates, 'candidate')} {killer.verdict}"
        yield Text(f"    {killer.test}: {words}", style="dim")
    rest = effort.killers[FEW:]
    if rest:
        number = counted(sum(each.candidates for each in rest), "candidate")
        yield Text(f"    {counted(len(rest), 'other test')}: {number}", style="dim")
    for it in effort.undecided[:FEW]:
        yield Text(f"not decided for a candidate, which was put aside: {it.file} ({it.rows})")
    if len(effort.undecided) > FEW:
        yield Text(f"and {len(effort.undecided) - FEW} more")


def _tests(report: answer.RepairReport) -> Iterator[Text]:
    tests = report.tests
    words = ", ".join(f"{count} {word}" for word in Word if (count := tests.verdicts[word]))
    yield Text(f"{counted(tests.total, 'test')}; under {report.subject.scheme} as given: {words}")
    aside: dict[str, list[str]] = {}
    for test in tests.without:
        aside.setdefault(test.reason.split(":")[0], []).append(test.test)
    for reason, names in aside.items():
        if reason == Word.RACY.value:
            yield Text(f"{counted(len(names), 'test')} race and say nothing", style="dim")
        else:
            yield Text(f"{reason}, says nothing: {few(names)}", style="cyan")
    for left in tests.left_out:
        yield Text(f"left out: {left.file}: {left.reason}", style="cyan")
    for file in tests.found:
        yield Text(f"found by hunting: {file}")


def _partial(report: answer.RepairReport) -> Iterator[Text]:
    claim = report.claim
    if claim.finished:
        return
    known = f"no candidate that costs less than {claim.least:,} passes"
    if not claim.exact:
        known += ", but for those put aside"
    interrupted = f"interrupted: not finished; {known}; {ON_AGAIN}"
    stopped = f"not finished: {claim.stopped}; {known}"
    yield Text(stopped if claim.stopped else interrupted, style="bold red")
    if report.effort.candidate and not report.found:
        claimed = "nothing is claimed"
        if report.effort.passes:
            claimed = "it is known that it passes every test; other programs were still hunted for"
        yield Text(f"the last candidate tried, of which {claimed}:")
        for row in report.effort.candidate:
            yield Text(f"    {row.row:2}  {'; '.join(row.code)}")


def _bounds(within: Mapping[str, int]) -> str:
    return ", ".join(
        f"{bound} {name[:-1] if bound == 1 else name}" for name, bound in sorted(within.items())
    )


def _rough(number: int) -> str:
    if number < 10**7:
        return f"{number:,}"
    digits, power = f"{number:.0e}".split("e+")
    return f"about {digits}·10^{int(power)}"
