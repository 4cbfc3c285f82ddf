"""`repair` for people: the schemes found as tables, and what is known of all the others."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from rich.text import Text

from rspverify.render.progress import ON_AGAIN
from rspverify.report.repairs import (
    Hunted,
    Reference,
    RepairReport,
    RowFound,
    SchemeFound,
)
from rspverify.verdict import Word

_FEW = 5
"""So many tests are named; of more, their number is said."""


def before(report: RepairReport) -> str:
    """What is said before the search: how large it is."""
    changing = [row for row in report.rows if row.open]
    sizes = sorted(row.codes for row in changing)
    many = f"{sizes[0]:,}" if sizes[0] == sizes[-1] else f"{sizes[0]:,} to {sizes[-1]:,}"
    total = 1
    for size in sizes:
        total *= size
    return (
        f"{_counted(len(changing), 'row')} may change, with {many} codes each of at most "
        f"{report.max_length} instructions: {_rough(total)} schemes, "
        f"{_counted(report.tests.asked, 'test')} for each"
    )


def repair_table(report: RepairReport) -> Iterator[Text]:
    """Everything: the schemes found, then what follows, and what it rests on."""
    yield Text(f"{report.scheme}, for the machine {report.machine}", style="bold")
    yield from _asked(report)
    for place, found in enumerate(report.found, 1):
        yield Text("")
        yield from _scheme(found, place, report)
    yield Text("")
    yield from _conclusion(report)
    yield from _compared(report)
    yield from _work(report)
    yield from _tests(report)
    yield from (Text(str(each), style="bold red") for each in report.internal)
    yield from _partial(report)


def _asked(report: RepairReport) -> Iterator[Text]:
    changing = ", ".join(str(row.number) for row in report.rows if row.open)
    yield Text(f"rows that may change: {changing}")
    staying: dict[str, list[str]] = {}
    for row in report.rows:
        if not row.open:
            staying.setdefault(row.stays, []).append(str(row.number))
    for reason, numbers in staying.items():
        yield Text(f"rows that stay ({reason}): {', '.join(numbers)}")
    whose = f"those of {report.costs}" if report.costs else "our own"
    yield Text(f"made of {', '.join(report.instructions) or 'accesses alone'} (costs: {whose})")
    yield Text(before(report))


def _scheme(found: SchemeFound, place: int, report: RepairReport) -> Iterator[Text]:
    head = Text(f"{place}  {found.name}", style="bold green")
    head.append(f"  cost {found.cost:,}", style="bold")
    head.append(f" (given: {report.cost:,}", style="dim")
    if report.reference:
        head.append(f", {report.reference.name}: {report.reference.cost:,}", style="dim")
    head.append(")", style="dim")
    yield head
    for row in found.rows:
        yield from _row(row, report, others=place == 1)
    yield Text(f"    {_rests_on(found, report)}", style="dim")
    if found.file:
        yield Text(f"    {found.file}", style="dim")


def _row(row: RowFound, report: RepairReport, *, others: bool) -> Iterator[Text]:
    mark = "*" if row.changed else " "
    line = Text(f"  {mark} {row.number:2}  {row.operations:24}", style="")
    line.append("; ".join(row.code), style="bold" if row.changed else "")
    line.append(f"  {_price(row, report)}", style="dim")
    yield line
    if row.changed:
        given = next(each.code for each in report.rows if each.number == row.number)
        yield Text(f"{'was':>30}   {'; '.join(given)}", style="dim")
    for other in row.alternatives if others else ():
        yield Text(f"{'in another':>30}   {'; '.join(other)}", style="cyan")


def _price(row: RowFound, report: RepairReport) -> str:
    words = [f"{row.cost}"]
    if row.cost != row.given:
        words.append(f"given {row.given}")
    if row.reference is not None and report.reference and row.reference != row.cost:
        words.append(f"{report.reference.name} {row.reference}")
    return f"({', '.join(words)})"


def _rests_on(found: SchemeFound, report: RepairReport) -> str:
    reach = f", within {_bounds(found.within)}" if found.within else ""
    words = [f"{_counted(found.tests, 'test')} SOUND and LIVE by {report.engine}{reach}"]
    if found.explicit or found.beyond:
        beyond = f" ({found.beyond} of the sample were too large for it)" if found.beyond else ""
        words.append(f"{found.explicit} of them SOUND by explicit, too{beyond}")
    else:
        words.append("none put to explicit")
    if found.hunted:
        words.append(_hunted(found.hunted))
    else:
        words.append("not hunted for other programs")
    return "; ".join(words)


def _hunted(hunted: Hunted) -> str:
    if hunted.unknown:
        return f"{hunted.unknown:,} of {hunted.decided:,} programs hunted through were not decided"
    words = f"sound for all {hunted.programs:,} programs without a race"
    return f"{words} within {_bounds(hunted.bounds)} ({hunted.decided:,} decided)"


def _conclusion(report: RepairReport) -> Iterator[Text]:
    limits = f"at most {report.max_length} instructions a row"
    if not report.finished:
        return
    if not report.found:
        if report.exact:
            words = f"no candidate passes every test: no scheme of these rows with {limits} does"
            yield Text(words, style="bold red")
        else:
            yield Text("no candidate passes every test that could be decided", style="magenta")
        return
    if report.exact:
        yield Text(
            f"no candidate that costs less than {report.least:,} passes every test ({limits}, "
            "matched locks)",
            style="green",
        )
    else:
        words = f"there may be candidates that cost less than {report.least:,}: see below"
        yield Text(words, style="magenta")
    if report.complete and not report.exact:
        yield Text("whether there are others of that cost was not decided", style="magenta")
    elif report.complete:
        number = "it is the only one" if len(report.found) == 1 else "there is no other"
        yield Text(f"of that cost {number}, but for stronger ones")
    else:
        yield Text(f"of that cost there are more than {len(report.found)} (--count)")


def _compared(report: RepairReport) -> Iterator[Text]:
    reference = report.reference
    if reference is None:
        return
    if reference.fails:
        fails = ", ".join(f"{test.title} ({word})" for test, word in reference.fails[:_FEW])
        more = len(reference.fails) - _FEW
        rest = f" and {more} more" if more > 0 else ""
        yield Text(f"{reference.name} itself fails {fails}{rest}", style="yellow")
    if not report.found or not report.finished:
        return
    cost = report.found[0].cost
    if cost < reference.cost:
        words = f"cheaper than {reference.name}: {cost:,} against {reference.cost:,}"
        rows = _cheaper_rows(report.found[0])
        yield Text(f"{words}{rows}", style="bold green")
    elif report.exact:
        yield Text(_none_cheaper(report, reference), style="bold")
    else:
        yield Text(f"none that was found is cheaper than {reference.name}", style="magenta")


def _cheaper_rows(found: SchemeFound) -> str:
    rows = [
        f"row {row.number} {row.cost} against {row.reference}"
        for row in found.rows
        if row.reference is not None and row.reference != row.cost
    ]
    return f" ({', '.join(rows)})" if rows else ""


def _none_cheaper(report: RepairReport, reference: Reference) -> str:
    least = report.found[0].cost
    if least == reference.cost:
        same = [each for each in report.found if all(_as_reference(row) for row in each.rows)]
        also = "" if same or not reference.within else ", which costs as much"
        return f"none is cheaper than {reference.name}{also}"
    outside = "" if reference.within else ", which is none of the candidates"
    return f"none is as cheap as {reference.name}{outside}: {least:,} against {reference.cost:,}"


def _as_reference(row: RowFound) -> bool:
    return row.reference == row.cost


def _work(report: RepairReport) -> Iterator[Text]:
    line = Text(
        f"{_counted(report.candidates, 'candidate')} tried, {_counted(report.nogoods, 'lesson')} "
        f"learnt, {_counted(report.decided, 'verdict')}"
    )
    line.append(f"; {report.seconds:.1f} s", style="dim")
    yield line
    for killer in report.killers[:_FEW]:
        words = f"{_counted(killer.candidates, 'candidate')} {killer.word}"
        yield Text(f"    {killer.test.title}: {words}", style="dim")
    rest = report.killers[_FEW:]
    if rest:
        number = sum(each.candidates for each in rest)
        words = f"{_counted(len(rest), 'other test')}: {_counted(number, 'candidate')}"
        yield Text(f"    {words}", style="dim")
    for file, part in report.undecided[:_FEW]:
        yield Text(f"not decided for a candidate, which was put aside: {file} ({part})")
    if len(report.undecided) > _FEW:
        yield Text(f"and {len(report.undecided) - _FEW} more")


def _tests(report: RepairReport) -> Iterator[Text]:
    tests = report.tests
    words = ", ".join(f"{tests.words[word]} {word.value}" for word in Word if word in tests.words)
    yield Text(f"{_counted(tests.total, 'test')}; under {report.scheme} as given: {words}")
    aside: dict[str, list[str]] = {}
    for test, reason in tests.without:
        aside.setdefault(reason.split(":")[0], []).append(test.title)
    for reason, names in aside.items():
        if reason == Word.RACY.value:
            yield Text(f"{_counted(len(names), 'test')} race and say nothing", style="dim")
        else:
            yield Text(f"{reason}, says nothing: {_few(names)}", style="cyan")
    for file, reason in tests.left_out:
        yield Text(f"left out: {file}: {reason}", style="cyan")
    for file in tests.found:
        yield Text(f"found by hunting: {file}")


def _partial(report: RepairReport) -> Iterator[Text]:
    if report.finished:
        return
    known = f"no candidate that costs less than {report.least:,} passes"
    if not report.exact:
        known += ", but for those put aside"
    if report.stopped:
        yield Text(f"not finished: {report.stopped}; {known}", style="bold red")
    else:
        words = f"interrupted: not finished; {known}; {ON_AGAIN}"
        yield Text(words, style="bold red")
    if report.candidate and not report.found:
        yield Text("the last candidate tried, of which nothing is claimed:")
        for number, code in report.candidate:
            yield Text(f"    {number:2}  {'; '.join(code)}")


def _few(names: Sequence[str]) -> str:
    shown = ", ".join(names[:_FEW])
    return shown if len(names) <= _FEW else f"{shown} and {len(names) - _FEW} more"


def _bounds(within: Mapping[str, int]) -> str:
    return ", ".join(
        f"{bound} {name[:-1] if bound == 1 else name}" for name, bound in sorted(within.items())
    )


def _counted(number: int, noun: str) -> str:
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def _rough(number: int) -> str:
    if number < 10**7:
        return f"{number:,}"
    digits, power = f"{number:.0e}".split("e+")
    return f"about {digits}·10^{int(power)}"
