"""`mutate` for people: the scheme's table, with what each instruction is needed for."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from rich.text import Text

from rspverify.engineering.mutation import Fate, Finding, MutatedRow, MutationReport
from rspverify.render.progress import ON_AGAIN
from rspverify.render.words import counted, few
from rspverify.verdict import Word

DERIVED = (Fate.EQUIVALENT, Fate.STRONGER)
"""The fates whose reason holds whatever the program."""
STYLES = {Fate.UNSOUND: "green", Fate.STUCK: "green", Fate.SURVIVES: "bold red"}
STYLES |= dict.fromkeys(DERIVED, "cyan")
NEEDED, NOT_SHOWN = "needed", "not shown to be needed"
_CODE, _WORDS = 12, 24
"""How wide instructions and steps are at least, in columns."""
ACCESS, OPEN, UNTOLD, SPARE = "the access", "not decided", "no test tells", "not needed"
_MARKS = {NEEDED: "green", NOT_SHOWN: "bold red", OPEN: "magenta", ACCESS: "dim", UNTOLD: "yellow"}
_MARKS |= {SPARE: "cyan"}


def mutation_table(report: MutationReport) -> Iterator[Text]:
    """Everything: a block for each row, then the counts and what follows from them."""
    yield Text(str(report.subject), style="bold")
    for row in report.rows:
        yield from _row(row, report)
    yield from _wider(report)
    yield Text("")
    yield from summary(report)
    yield from _commands(report)
    yield from warnings(report)


def summary(report: MutationReport) -> Iterator[Text]:
    """The counts, what follows from them, and what it rests on."""
    yield _counts(report)
    yield from _conclusion(report)
    yield from _tests(report)


def warnings(report: MutationReport) -> Iterator[Text]:
    """Why it is not all that was to be known."""
    yield from (Text(str(each), style="bold red") for each in report.internal)
    if report.stopped:
        words = (
            f"{report.stopped}: {len(report.mutants)} of {report.summary.mutants} mutants looked at"
        )
        yield Text(f"{words}; {ON_AGAIN}", style="bold red")


def _row(row: MutatedRow, report: MutationReport) -> Iterator[Text]:
    yield Text("")
    head = Text(f"{row.row:2}  {row.operations}", style="bold")
    tests = counted(row.tests, "test") if row.tests else "no test that the scheme passes uses it"
    yield head.append(f"  ({tests})", style="dim" if row.tests else "yellow")
    found = [each for each in report.mutants if each.mutant.row == row.row]
    wide = max(_CODE, *(2 + len(it) for each in report.rows for it in each.code), 0)
    for place, instruction in enumerate(row.code, 1):
        mark = mark_of(row, place, found)
        line = Text(f"    {instruction:{wide}}").append(f"{mark:24}", style=_MARKS[mark])
        for what in _at(place, row, found):
            yield line.append_text(what)
            line = Text(" " * (4 + wide + 24))
        if line.plain.strip():
            line.rstrip()
            yield line


def mark_of(row: MutatedRow, place: int, found: Sequence[Finding]) -> str:
    """What can be said of an instruction: needed if every mutant without it fails a test."""
    if place in row.accesses:
        return ACCESS
    without = [it for it in found if any(place in step.removes for step in it.mutant.steps)]
    if any(it.verdict is Fate.EQUIVALENT for it in without):
        return SPARE
    if not row.tests:
        return UNTOLD
    if any(it.verdict is Fate.SURVIVES for it in without):
        return NOT_SHOWN
    wanted = any(step.place == place and step.removes for it in without for step in it.mutant.steps)
    return NEEDED if wanted else OPEN


def _at(place: int, row: MutatedRow, found: list[Finding]) -> Iterator[Text]:
    """What became of each step at an instruction."""
    steps = [*(step for it in found for step in it.mutant.steps), *row.unchanged]
    wide = max(_WORDS, *(2 + len(it.words) for it in steps), 0)
    for finding in found:
        first = finding.mutant.step
        for step in finding.mutant.steps:
            if step.place == place:
                text = Text(f"{step.words:{wide}}")
                text.append(f"{finding.verdict.value:9} ", style=STYLES[finding.verdict])
                text.append(_shown_by(finding, told=row.tests > 0))
                if step is not first:
                    text.append(f" (the same code as at {first.place}, {first.words})", style="dim")
                yield text
    for step in row.unchanged:
        if step.place == place:
            yield Text(f"{step.words:{wide}}").append("the same code", style="dim")


def _shown_by(finding: Finding, *, told: bool) -> str:
    """What says so; what it would save, where tests tell of it."""
    words = finding.test or (finding.reason if finding.verdict in DERIVED else "")
    if finding.switches is not None:
        words += f" (with {finding.switches.replace('+', ' and ')})"
    if finding.within:
        words += f" (within {_bounds(finding.within)})"
    if finding.unknown:
        words += f" ({counted(len(finding.unknown), 'test')} not decided)"
    spare = finding.verdict is Fate.EQUIVALENT or (told and finding.verdict is Fate.SURVIVES)
    if spare and finding.mutant.cost < 0:
        words += f" (costs {-finding.mutant.cost} less)"
    return words.strip()


def wider_in_words(report: MutationReport) -> str:
    """What is said above the wider mutants."""
    whose = f"those of {report.costs}" if report.costs else "our own"
    return f"wider, by what they cost (weights: {whose}); not decided"


def _wider(report: MutationReport) -> Iterator[Text]:
    if report.wider is None:
        return
    yield Text("")
    yield Text(wider_in_words(report), style="bold")
    costs = {row.row: row.cost for row in report.rows}
    for each in report.wider:
        more = f"{costs[each.row]} → {costs[each.row] + each.cost}"
        step = f"{each.step.place} {each.step.instruction}: {each.step.words}"
        yield Text(f"    row {each.row:2}  {step:32}{more}")


def _counts(report: MutationReport) -> Text:
    line = Text(f"{counted(report.summary.mutants, 'mutant')}: ", style="bold")
    fates = report.summary.fates
    shown = (it for it in Fate if it not in DERIVED or fates[it])
    line.append(", ".join(f"{fates[it]} {it.value}" for it in shown))
    return line.append(f"; {report.seconds:.1f} s", style="dim")


def _conclusion(report: MutationReport) -> Iterator[Text]:
    scheme = report.subject.scheme
    surviving = [it for it in report.mutants if it.verdict is Fate.SURVIVES]
    if report.stopped:
        return
    if not surviving and report.summary.mutants:
        words = f"each instruction of {scheme} is needed, as far as it reaches and where it stands"
        fates, every = report.summary.fates, "every step fails a test"
        every += ", or nobody can tell it" if fates[Fate.EQUIVALENT] else ""
        every += ", or makes it wait longer" if fates[Fate.STRONGER] else ""
        yield Text(f"{words}: {every}", style="green")
    elif surviving:
        words = "what survives is redundant, or the tests have a hole"
        yield Text(f"{words}: rspverify hunt looks for a program that tells", style="bold red")
        untold = [str(row.row) for row in report.rows if not row.tests]
        if untold:
            named = f"row{'s' * (len(untold) > 1)} {', '.join(untold)}"
            yield Text(f"no test says anything of {named}", style="yellow")
    rows = {it.mutant.row for it in surviving}
    beyond = [str(row.row) for row in report.rows if row.row in rows and not row.hunted]
    if beyond:
        named = f"row{'s' * (len(beyond) > 1)} {', '.join(beyond)}"
        yield Text(f"no program of a hunt has operations of {named}, which says nothing of these")
    if surviving and report.tests.broken:
        yield Text(
            f"as {scheme} is broken itself, see whether a program that hunt finds breaks "
            f"{scheme}, too: it tells nothing then"
        )
    if undecided := report.summary.undecided:
        yield Text(f"of those that survive, {undecided} may fail tests that were not decided")


def _tests(report: MutationReport) -> Iterator[Text]:
    tests, subject = report.tests, report.subject
    scheme = subject.scheme
    reach = f"within {_bounds(tests.within)}" if tests.within else "exact"
    words = ", ".join(f"{count} {word}" for word in Word if (count := tests.verdicts[word]))
    number = counted(tests.total, "test")
    head = f"{number}, model {subject.model}, engine {subject.engine} ({reach})"
    yield Text(f"{head}; under {scheme} itself: {words}")
    if tests.broken:
        shows = "which show nothing of its mutants"
        if tests.excused:
            shows = f"of which a switch excuses {tests.excused}: these tell of mutants with it on"
        words = f"fails {counted(len(tests.broken), 'test')}, {shows}"
        names = few([it.test for it in tests.broken])
        yield Text(f"{scheme} itself {words}: {names}", style="yellow")
    if tests.stuck:
        words = f"gets stuck in {counted(len(tests.stuck), 'test')} in which a mutant does"
        names = few([it.test for it in tests.stuck])
        shows = "which shows nothing of it"
        yield Text(f"{scheme} itself {words}, {shows}: {names}", style="yellow")
    unknown: dict[str, dict[str, str]] = {}
    for test in (*tests.unknown, *(each for it in report.mutants for each in it.unknown)):
        unknown.setdefault(test.reason, {})[test.file] = test.test
    for reason, those in unknown.items():
        yield Text(f"not decided ({reason}): {few(list(those.values()))}", style="magenta")
    for left in tests.left_out:
        yield Text(f"left out: {left.file}: {left.reason}", style="cyan")


def _commands(report: MutationReport) -> Iterator[Text]:
    shown = [it for it in report.mutants if it.command is not None]
    if shown:
        yield Text("")
        yield Text("the execution behind each, or for one that survives, the search for one:")
        yield from (Text(f"    {it.command}") for it in shown)
    elif report.mutants:
        yield Text(
            "--write DIR writes each mutant as a scheme, and shows the command that explains what "
            "it fails, or hunts for a program if it survives",
            style="dim",
        )


def _bounds(within: Mapping[str, int]) -> str:
    return ", ".join(f"{bound} {name}" for name, bound in sorted(within.items()))
