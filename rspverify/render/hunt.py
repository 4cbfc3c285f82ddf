"""What `hunt` says: the space, the programs that break a scheme, and how much that tells."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Mapping, Sequence

from rich.console import Console
from rich.progress import BarColumn, TextColumn, TimeRemainingColumn

from rspverify.answers import Detail, RowsAtFault
from rspverify.engineering.hunt.finding import (
    ESTIMATED,
    By,
    Finding,
    HuntedSpace,
    HuntReport,
    PhaseCounts,
)
from rspverify.engineering.hunt.strategy import Watcher
from rspverify.enumeration.estimate import Estimate
from rspverify.render import document as doc
from rspverify.render.document import Block, Document, Line, line
from rspverify.render.evidence import explained
from rspverify.render.forms.text import show
from rspverify.render.progress import ON_AGAIN, Stream
from rspverify.render.words import FEW, UNMENDED, counted, row_in_words
from rspverify.verdict import Word

_HEADS = ("operations", "threads", "race-free", "alone", "smaller", "no if", "to decide")


def document(
    it: HuntReport,
    details: Mapping[str, Detail] | None = None,
    faults: Mapping[str, RowsAtFault] | None = None,
) -> Document:
    """All of it. details, faults: of the programs, by their texts."""
    known = details or {}
    articles = [
        explained(
            finding(each, it.subject.scheme, it.method.by, listed=each.text not in known),
            it.subject.file,
            (faults or {}).get(each.text),
            known.get(each.text),
        )
        for each in it.findings
    ]
    shown = doc.Articles(
        articles, "Programs that break it", "--write DIR, and then rspverify explain,"
    )
    return Document("hunt", it.subject.titled, [heading(it), shown, *conclusion(it)], answer=it)


def heading(report: HuntReport) -> doc.Basis:
    """The scheme, and the space that is searched."""
    return doc.Basis(list(_heading(report)))


def _heading(report: HuntReport) -> Iterator[Line]:
    it, space = report.subject, report.space
    yield line(f"{it}; model {it.model}", kind="head")
    yield line(f"programs of at most {_bounds_in_words(space)}")
    yield line(f"made of {', '.join(space.operations)}")
    for each in space.left_out:
        yield line(f"without {each.operation}: {each.reason}", kind="UNSUPPORTED")
    if space.idle_rows:
        words = f"{_rows(space.idle_rows)}: no program of this space uses them"
        words = words if len(space.idle_rows) > 1 else words.replace("them", "it")
        yield line(words, kind="UNSUPPORTED")


def _phase(events: int, threads: int) -> str:
    """`programs of 4 operations in 2 threads`."""
    return f"programs of {counted(events, 'operation')} in {counted(threads, 'thread')}"


def _bounds_in_words(space: HuntedSpace) -> str:
    """`4 operations, 3 threads, …`, as verdicts name the bounds."""
    names = {"events": "operations", "guards": "ifs"}
    parts = {it: counted(n, names.get(it, it)[:-1]) for it, n in space.within.items()}
    if "local" in space.memories:
        parts["locations"] += f" in {' or '.join(space.memories)} memory"
    return ", ".join(parts.values()) + ("" if "guards" in parts else ", any number of ifs")


def _expected(estimates: Sequence[Estimate]) -> Iterator[Line]:
    """What it will take."""
    for each in estimates:
        yield line(
            f"--events {each.events}: about {_about(each.programs)} programs without a race, "
            f"{_about(each.to_decide)} of them to decide, {_duration(each.seconds)} "
            f"{'' if each.deciding else 'to list them '}with "
            f"{counted(each.workers, 'process', 'processes')} (from a sample)",
            kind="note",
        )


def _expected_formulas(events: int, seconds: float) -> Line:
    """How long formulas will take."""
    words = f"the formulas for {counted(events, 'operation')} take roughly {_duration(seconds)}"
    return line(f"{words}, going by those for {events - 1}", kind="note")


def finding(found: Finding, scheme: str, by: By, *, listed: bool = True) -> doc.Article:
    """A program that breaks the scheme. listed: whether its text is told, where it is no file."""
    lines = [line(), line(("UNSOUND", "UNSOUND"), f"  {_broken(found, scheme)}")]
    lines += [line(f"  {found.program}", kind="head"), line(f"  {_reason(found)}")]
    for row in found.blamed:
        words = row_in_words(row.number, row.operations, row.code)
        lines.append(line("  at fault: ", (words, "head")))
        strongest = ", ".join(row.strongest)
        lines.append(line(f"    as strong as can be: {strongest}", kind="note"))
    others = [each for each in found.mends if set(each) != {row.number for row in found.blamed}]
    if others:
        words = "; or ".join(map(_rows, others))
        also = f"    made as strong as can be, {words} would mend it, too"
        lines.append(line(also, kind="note"))
    if not found.blamed:
        lines.append(line(f"  {UNMENDED}"))
    if found.switch is not None:
        lines.append(line(f"  the hunt goes on with {_switches([found.switch])} turned on"))
    evidence: list[Block] = []
    if found.file is None and listed:
        test = [line(f"    {each}".rstrip()) for each in found.text.splitlines()]
        evidence.append(line("  as a test (--write DIR writes it):", kind="note"))
        evidence.append(doc.Listing(test))
    where = "" if found.file is None else f"written to {found.file}; "
    last = f"  {where}{_smallest(found, by)}, {_duration(found.seconds)})"
    evidence.append(line(last, kind="note"))
    places = [found.file] if found.file else []
    kind = Word.UNSOUND.value
    name = found.text
    return doc.Article(
        name, kind, found.program, lines, places, broken=True, evidence=evidence, open=True
    )


def _broken(found: Finding, scheme: str) -> str:
    broken = _as_hunted(scheme, found.stronger, found.switches)
    return f"{broken} is broken by a smallest program:"


def _as_hunted(scheme: str, stronger: Sequence[int], switches: Sequence[str]) -> str:
    """A scheme, with the rows that were made stronger and the switches that were turned on."""
    rows = f" with {_rows(stronger)} made as strong as can be" if stronger else ""
    return f"{scheme}{rows}{f', if {_switches(switches)}' if switches else ''}"


def _switches(switches: Sequence[str]) -> str:
    return " and ".join(each for it in switches for each in it.split("+"))


def _reason(found: Finding) -> str:
    steps = "" if found.steps is None else f", after {counted(found.steps, 'step')} at the least"
    return f"{found.reason}{steps}"


def _smallest(found: Finding, by: By) -> str:
    """In which sense it is a smallest one, and on what that rests."""
    asked = counted(found.decided, "formula") if by is By.FORMULA else f"{found.decided:,} decided"
    if found.open:
        return f"{found.open:,} that may be smaller not decided ({asked}"
    if by is By.FORMULA:
        return f"none with fewer operations, or as many in fewer threads ({asked}"
    return f"no smaller one ({asked}"


def before_counting(report: HuntReport) -> Iterator[Block]:
    """What the formulas say, while the programs are still to be counted."""
    yield line()
    yield _last(report)
    yield line(
        "the programs are counted now; an interrupt leaves this verdict as it is", kind="note"
    )


def conclusion(it: HuntReport) -> Iterator[Block]:
    """The counts, and what follows."""
    if it.stopped == ESTIMATED:
        if not it.method.estimates:
            yield line("no estimate: the filters are not proved for this model")
        return
    yield line()
    if it.phases:
        rows = [_phase_cells(each) for each in it.phases]
        table = doc.Table(_HEADS, rows, range(len(_HEADS)), head="Programs up to symmetry", gap=2)
        yield doc.Basis([table, *_explained(it)])
    counts = [_counts(it)] if it.method.formulas is None else []
    yield doc.Basis([*_formulas(it), *counts, *_undecided(it)])
    if it.internal:
        yield doc.Warnings([line(str(each), kind="ERROR") for each in it.internal])
    yield doc.Summary([_last(it)])


def _phase_cells(it: PhaseCounts) -> list[str]:
    sorts = (it.alone, it.larger, it.guarded, it.to_decide)
    return [f"{each:,}" for each in (it.events, it.threads, it.programs, *sorts)]


def _explained(report: HuntReport) -> Iterator[Line]:
    racy = sum(phase.racy for phase in report.phases)
    yield line(
        "programs up to the names of threads, work-groups, locations and values; alone: no "
        "location that is written is shared by work-groups; smaller: a smaller program stands for "
        "it; no if: it with an if less does",
        kind="note",
    )
    words = f"{racy:,} programs race; the filters are not proved for this model and not used"
    if report.method.filtered:
        words = f"{racy:,} extensions of them race (not counted up to symmetry), and nothing is "
        words += "asked of these, nor of what contains them"
    yield line(words, kind="note")


def _counts(report: HuntReport) -> Line:
    words = ", ".join(f"{count:,} {word.value}" for word, count in report.decided.items() if count)
    decided = f"{sum(report.decided.values()):,} decided: {words or 'none'}"
    return line(decided, (f"; {_duration(report.seconds)}", "note"))


def _formulas(report: HuntReport) -> Iterator[Line]:
    if report.method.why_by_programs:
        yield line(f"decided program by program: {report.method.why_by_programs}", kind="note")
    it = report.method.formulas
    if it is None:
        return
    words = f"{counted(it.asked, 'formula')} asked: {it.sound:,} without a program to break it"
    yield line(words, (f"; {_duration(report.seconds)}", "note"))
    yield line(
        f"of the candidates on the way {it.racy:,} raced, and {it.allowed:,} had allowed outcomes; "
        "whether every program completes an execution was not asked",
        kind="note",
    )


def _undecided(report: HuntReport) -> Iterator[Line]:
    for each in report.unknown[:FEW]:
        yield line(f"not decided: {each}", kind="UNKNOWN")
    if len(report.unknown) > FEW:
        yield line(f"and {len(report.unknown) - FEW:,} more not decided", kind="UNKNOWN")


def _last(report: HuntReport) -> Line:
    if not report.complete:
        words = f"not all programs within the bounds were looked at: {report.stopped}"
        again = f"; {ON_AGAIN}" if report.interrupted else ""
        return line(f"{words}{again}", kind="UNSOUND")
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
        return line(words, kind="head UNKNOWN")
    vacuous = report.decided[Word.VACUOUS]
    words = f"{subject} for all {which}{_made_of(report.space)}"
    if vacuous:
        words += f"; of those decided {vacuous:,} complete no execution"
    return line(words, kind="head SOUND")


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


# ---- as it goes ----------------------------------------------------------------------------------


class HuntStream(Stream, Watcher):
    """Prints findings as soon as there are any. Without `text` (JSON) progress alone is shown."""

    def __init__(self, console: Console, *, text: bool) -> None:
        what = TextColumn("{task.description}")
        done = TextColumn("{task.completed:,.0f} of {task.total:,.0f}{task.fields[rate]}")
        super().__init__(console, what, BarColumn(), done, TimeRemainingColumn(), text=text)
        self._scheme = ""
        self._by = By.PROGRAMS
        self._started = time.monotonic()

    def heading(self, report: HuntReport) -> None:
        """What is to be hunted."""
        self._scheme = report.subject.scheme
        self.print([heading(report)])

    def surveying(self, events: int, threads: int, done: int, total: int) -> None:
        """So many of the blocks of a phase have been enumerated."""
        if not done:
            self.begin(f"listing {_phase(events, threads)}", total)
        else:
            self._advance(done)

    def deciding(self, events: int, threads: int, total: int) -> None:
        """The programs of a phase are decided from now on."""
        self.begin(f"deciding {_phase(events, threads)}", total)

    def asking(self, events: int, threads: int, total: int) -> None:
        """The formulas of a phase are asked from now on."""
        self._by = By.FORMULA
        self.begin(f"formulas for {_phase(events, threads)}", total)

    def expecting(self, events: int, seconds: float) -> None:
        """How long the formulas for so many operations take; among what is shown, or beside it."""
        self._said([_expected_formulas(events, seconds)])

    def answered(self, report: HuntReport) -> None:
        """All formulas have been asked; now the programs are counted."""
        self.print(before_counting(report))

    def decided(self, count: int) -> None:
        """So many more have been."""
        self._advance(self.bar.tasks[0].completed + count)

    def found(self, found: Finding) -> None:
        """A program breaks the scheme."""
        self.print([finding(found, self._scheme, self._by)])

    def show(self, found: Finding) -> None:
        """It was shown when it was found."""

    def finish(self, report: HuntReport) -> None:
        """What follows from all of it."""
        self.print(conclusion(report))

    def estimated(self, estimates: Sequence[Estimate]) -> None:
        """What it will take; among what is shown where that is text, or beside it."""
        self._said(_expected(estimates))

    def begin(self, what: str, total: int) -> None:
        """From now on something else is counted, and how fast."""
        self._started = time.monotonic()
        super().begin(what, total)

    def _said(self, lines: Iterable[Line]) -> None:
        show(lines, self.console if self.text else Console(stderr=True))

    def _advance(self, done: float) -> None:
        seconds = time.monotonic() - self._started
        rate = f", {done / seconds:,.0f}/s" if seconds < done else ""
        self.bar.update(self.task, completed=done, rate=rate)
