"""`hunt` for people: the space, what was found, and how much that says."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from rich.table import Table
from rich.text import Text

from rspverify.engineering.hunt.by import By
from rspverify.engineering.hunt.finding import (
    ESTIMATED,
    Finding,
    HuntedSpace,
    HuntReport,
    PhaseCounts,
)
from rspverify.enumeration.estimate import Estimate
from rspverify.render.progress import ON_AGAIN
from rspverify.render.words import FEW, UNMENDED, counted, row_in_words
from rspverify.verdict import Word

HEADS = ("operations", "threads", "race-free", "alone", "smaller", "no if", "to decide")


def heading(report: HuntReport) -> Iterator[Text]:
    """The scheme, and the space that is searched."""
    it, space = report.subject, report.space
    yield Text(f"{it}; model {it.model}", "bold")
    yield Text(f"programs of at most {_bounds_in_words(space)}")
    yield Text(f"made of {', '.join(space.operations)}")
    for each in space.left_out:
        yield Text(f"without {each.operation}: {each.reason}", style="cyan")
    if space.idle_rows:
        words = f"{_rows(space.idle_rows)}: no program of this space uses them"
        yield Text(words if len(space.idle_rows) > 1 else words.replace("them", "it"), "cyan")


def phase_in_words(events: int, threads: int) -> str:
    """`programs of 4 operations in 2 threads`."""
    return f"programs of {counted(events, 'operation')} in {counted(threads, 'thread')}"


def _bounds_in_words(space: HuntedSpace) -> str:
    """`4 operations, 3 threads, …`, as verdicts name the bounds."""
    names = {"events": "operations", "guards": "ifs"}
    parts = {it: counted(n, names.get(it, it)[:-1]) for it, n in space.within.items()}
    if "local" in space.memories:
        parts["locations"] += f" in {' or '.join(space.memories)} memory"
    return ", ".join(parts.values()) + ("" if "guards" in parts else ", any number of ifs")


def expectation(estimates: Sequence[Estimate]) -> Iterator[Text]:
    """What it will take."""
    for each in estimates:
        yield Text(
            f"--events {each.events}: about {_about(each.programs)} programs without a race, "
            f"{_about(each.to_decide)} of them to decide, {_duration(each.seconds)} "
            f"{'' if each.deciding else 'to list them '}with "
            f"{counted(each.workers, 'process', 'processes')} (from a sample)",
            style="dim",
        )


def expected_formulas(events: int, seconds: float) -> Text:
    """How long formulas will take."""
    words = f"the formulas for {counted(events, 'operation')} take roughly {_duration(seconds)}"
    return Text(f"{words}, going by those for {events - 1}", style="dim")


def finding(found: Finding, scheme: str, by: By) -> Iterator[Text]:
    """A program that breaks the scheme."""
    yield Text("")
    broken = f"  {made_stronger(found, scheme)} is broken by a smallest program:"
    yield Text.assemble(("UNSOUND", "bold red"), broken)
    yield Text(f"  {found.program}", style="bold")
    yield Text(f"  {reason(found)}")
    for row in found.blamed:
        words = row_in_words(row.number, row.operations, row.code)
        yield Text.assemble("  at fault: ", (words, "bold"))
        yield Text(f"    as strong as can be: {', '.join(row.strongest)}", style="dim")
    if words := mended_by_others(found):
        yield Text(f"    {words}", style="dim")
    if not found.blamed:
        yield Text(f"  {UNMENDED}")
    if words := goes_on_with(found):
        yield Text(f"  {words}")
    if found.file is None:
        yield Text("  as a test (--write DIR writes it):", style="dim")
        yield from (Text(f"    {line}".rstrip()) for line in found.text.splitlines())
    where = "" if found.file is None else f"written to {found.file}; "
    yield Text(f"  {where}{smallest(found, by)}, {_duration(found.seconds)})", style="dim")


def made_stronger(found: Finding, scheme: str) -> str:
    """The scheme that a program breaks."""
    return _as_hunted(scheme, found.stronger, found.switches)


def _as_hunted(scheme: str, stronger: Sequence[int], switches: Sequence[str]) -> str:
    """A scheme, with the rows that were made stronger and the switches that were turned on."""
    rows = f" with {_rows(stronger)} made as strong as can be" if stronger else ""
    return f"{scheme}{rows}{f', if {switches_in_words(switches)}' if switches else ''}"


def switches_in_words(switches: Sequence[str]) -> str:
    """Switches that are on."""
    return " and ".join(each for it in switches for each in it.split("+"))


def goes_on_with(found: Finding) -> str:
    """With which switch of the machine a hunt goes on; empty if with none."""
    if found.switch is None:
        return ""
    return f"the hunt goes on with {switches_in_words([found.switch])} turned on"


def reason(found: Finding) -> str:
    """Why a program breaks a scheme."""
    steps = "" if found.steps is None else f", after {counted(found.steps, 'step')} at the least"
    return f"{found.reason}{steps}"


def mended_by_others(found: Finding) -> str:
    """Which other rows are as much at fault; empty if none are."""
    others = [each for each in found.mends if set(each) != {row.number for row in found.blamed}]
    words = "; or ".join(_rows(each) for each in others)
    return f"made as strong as can be, {words} would mend it, too" if others else ""


def smallest(found: Finding, by: By) -> str:
    """In which sense it is a smallest one, and on what that rests."""
    asked = counted(found.decided, "formula") if by is By.FORMULA else f"{found.decided:,} decided"
    if found.open:
        return f"{found.open:,} that may be smaller not decided ({asked}"
    if by is By.FORMULA:
        return f"none with fewer operations, or as many in fewer threads ({asked}"
    return f"no smaller one ({asked}"


def before_counting(report: HuntReport) -> Iterator[Text]:
    """What the formulas say, while the programs are still to be counted."""
    yield Text("")
    yield _last(report)
    yield Text("the programs are counted now; an interrupt leaves this verdict as it is", "dim")


def conclusion(report: HuntReport) -> Iterator[Text | Table]:
    """The counts, and what follows."""
    if report.stopped == ESTIMATED:
        if not report.method.estimates:
            yield Text("no estimate: the filters are not proved for this model")
        return
    yield Text("")
    if report.phases:
        yield _table(report)
    yield from summary(report)


def summary(report: HuntReport) -> Iterator[Text]:
    """What the counts mean, and what follows."""
    if report.phases:
        yield from _explained(report)
    yield from _formulas(report)
    if report.method.formulas is None:
        yield _summary(report)
    yield from _undecided(report)
    yield _last(report)


def _table(report: HuntReport) -> Table:
    table = Table(box=None, pad_edge=False)
    for head in HEADS:
        table.add_column(head, justify="right")
    for it in report.phases:
        table.add_row(*phase_cells(it))
    return table


def phase_cells(it: PhaseCounts) -> list[str]:
    """The numbers of a phase, below HEADS."""
    sorts = (it.alone, it.larger, it.guarded, it.to_decide)
    return [f"{each:,}" for each in (it.events, it.threads, it.programs, *sorts)]


def _explained(report: HuntReport) -> Iterator[Text]:
    racy = sum(phase.racy for phase in report.phases)
    yield Text(
        "programs up to the names of threads, work-groups, locations and values; alone: no "
        "location that is written is shared by work-groups; smaller: a smaller program stands for "
        "it; no if: it with an if less does",
        style="dim",
    )
    words = f"{racy:,} programs race; the filters are not proved for this model and not used"
    if report.method.filtered:
        words = f"{racy:,} extensions of them race (not counted up to symmetry), and nothing is "
        words += "asked of these, nor of what contains them"
    yield Text(words, style="dim")


def _summary(report: HuntReport) -> Text:
    words = ", ".join(f"{count:,} {word.value}" for word, count in report.decided.items() if count)
    line = Text(f"{sum(report.decided.values()):,} decided: {words or 'none'}")
    return line.append(f"; {_duration(report.seconds)}", style="dim")


def _formulas(report: HuntReport) -> Iterator[Text]:
    if report.method.why_by_programs:
        yield Text(f"decided program by program: {report.method.why_by_programs}", style="dim")
    it = report.method.formulas
    if it is None:
        return
    line = Text(f"{counted(it.asked, 'formula')} asked: {it.sound:,} without a program to break it")
    yield line.append(f"; {_duration(report.seconds)}", style="dim")
    yield Text(
        f"of the candidates on the way {it.racy:,} raced, and {it.allowed:,} had allowed outcomes; "
        "whether every program completes an execution was not asked",
        style="dim",
    )


def _undecided(report: HuntReport) -> Iterator[Text]:
    for each in report.unknown[:FEW]:
        yield Text(f"not decided: {each}", style="magenta")
    if len(report.unknown) > FEW:
        yield Text(f"and {len(report.unknown) - FEW:,} more not decided", style="magenta")
    yield from (Text(str(each), style="bold red") for each in report.internal)


def _last(report: HuntReport) -> Text:
    if not report.complete:
        words = f"not all programs within the bounds were looked at: {report.stopped}"
        again = f"; {ON_AGAIN}" if report.interrupted else ""
        return Text(f"{words}{again}", style="bold red")
    as_hunted = _as_hunted(report.subject.scheme, report.stronger, report.switches)
    subject = f"{as_hunted}{',' if report.switches else ''} is sound"
    method = report.method
    number = f"{report.programs:,} " if method.counted else ""
    which = f"{number}race-free programs within {_bounds_in_words(report.space)}"
    if not method.counted:
        which += " (not counted)"
    if not report.sound:
        many = len(report.unknown)
        what = f"those of {many:,} questions" if method.formulas else f"{many:,} that are"
        words = f"{subject} for the {which}{_made_of(report.space)} but {what} not decided"
        return Text(words, style="bold magenta")
    vacuous = report.decided[Word.VACUOUS]
    words = f"{subject} for all {which}{_made_of(report.space)}"
    if vacuous:
        words += f"; of those decided {vacuous:,} complete no execution"
    return Text(words, style="bold green")


def _made_of(space: HuntedSpace) -> str:
    """What else the bounds are: operations, if not all usual ones; plain ones on atomics."""
    made = f", made of {', '.join(space.operations)}" if space.some_operations else ""
    return made + (" (plain operations on atomic locations, too)" if space.plain_on_atomic else "")


def _rows(numbers: Sequence[int]) -> str:
    *others, last = map(str, sorted(numbers))
    return f"rows {', '.join(others)} and {last}" if others else f"row {last}"


def _about(count: int) -> str:
    """A number with two digits that count."""
    digits = max(0, len(str(count)) - 2)
    return f"{round(count, -digits):,}"


def _duration(seconds: float) -> str:
    if seconds < 90:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 5400 else f"{seconds / 3600:.1f} h"
