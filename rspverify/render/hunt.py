"""What `hunt` says: the space, the programs that break a scheme, and how much that tells."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from rich.console import Console

from rspverify.answers import Detail, RowsAtFault
from rspverify.engineering.hunt.finding import (
    ESTIMATED,
    By,
    Finding,
    HuntReport,
)
from rspverify.enumeration.estimate import Estimate
from rspverify.proof.covered import Proved
from rspverify.render import document as doc
from rspverify.render.document import Block, Document, Line, Told, line
from rspverify.render.evidence import explained
from rspverify.render.forms.text import show
from rspverify.render.progress import ON_AGAIN, Stream
from rspverify.render.words import (
    FEW,
    UNMENDED,
    also_mended,
    at_most,
    counted,
    each_counted,
    internal_errors,
    row_in_words,
    rows_named,
)
from rspverify.translators import names_compiler
from rspverify.verdict import Word

_HEADS = ("operations", "threads", "race-free", "alone", "smaller", "no if", "to decide")
_COLUMNS = (
    "programs up to the names of threads, work-groups, locations and values; alone: no location "
    "that is written is shared by work-groups; smaller: a smaller program stands for it; no if: it "
    "with an if less does"
)

_COLUMNS_OF_SHAPES = (
    "programs up to the names of threads, locations and values; alone: no two threads access two "
    "locations that others access, so that all happens in turn; smaller: it is of one thread"
)


def document(
    it: HuntReport,
    details: Mapping[str, Detail] | None = None,
    faults: Mapping[str, RowsAtFault] | None = None,
) -> Document:
    """All of it. details, faults: of the programs, by their texts."""
    known, blamed = details or {}, faults or {}
    articles = []
    for each in it.findings:
        detail = known.get(each.text)
        shown = finding(each, it.subject.scheme, it.method.by, listed=detail is None)
        articles.append(explained(shown, it.subject.file, blamed.get(each.text), detail))
    how = "--write DIR, and then rspverify explain,"
    found = doc.Articles(articles, "Programs that break it", how)
    return Document("hunt", it.subject.titled, [heading(it), found, *conclusion(it)], answer=it)


def heading(report: HuntReport) -> doc.Basis:
    """The scheme, and the space that is searched."""
    it, space = report.subject, report.space
    lines = [
        line(f"{it}; model {it.model}", kind="head"),
        line(f"programs of at most {at_most(space.within, space.memories)}"),
        line(f"made of {', '.join(space.operations)}"),
    ]
    beyond = [f"without {each.operation}: {each.reason}" for each in space.left_out]
    if space.idle_rows:
        them = "them" if len(space.idle_rows) > 1 else "it"
        beyond.append(f"{rows_named(space.idle_rows)}: no program of this space uses {them}")
    return doc.Basis([*lines, *(line(each, kind="UNSUPPORTED") for each in beyond)])


def finding(found: Finding, scheme: str, by: By, *, listed: bool = True) -> doc.Article:
    """A program that breaks the scheme. listed: whether its text is told, where it is no file."""
    broken = _as_hunted(scheme, found.stronger, found.switches)
    steps = "" if found.steps is None else f", after {counted(found.steps, 'step')} at the least"
    word = Word.UNSOUND if found.switch is None else Word.OPEN
    lines = [
        line(),
        line((word.value, word.value), f"  {broken} is broken by a smallest program:"),
        line(f"  {found.program}", kind="head"),
        line(f"  {found.reason}{steps}"),
    ]
    for row in found.blamed:
        words = row_in_words(row.number, row.operations, row.code)
        lines.append(line("  at fault: ", (words, "head")))
        lines.append(line(f"    as strong as can be: {', '.join(row.strongest)}", kind="note"))
    others = [each for each in found.mends if set(each) != {row.number for row in found.blamed}]
    lines += (line(f"    {each}", kind="note") for each in also_mended(others))
    for used in found.uses:
        words = row_in_words(used.number, used.operations, used.code)
        lines.append(line("  uses ", (words, "head")))
    if not (found.blamed or found.uses or names_compiler(scheme)):
        lines.append(line(f"  {UNMENDED}"))
    if found.switch is not None:
        lines.append(line(f"  the hunt goes on with {_switches([found.switch])} turned on"))
    evidence: list[Block] = []
    if found.file is None and listed:
        test = [line(f"    {each}".rstrip()) for each in found.text.splitlines()]
        evidence.append(line("  as a test (--write DIR writes it):", kind="note"))
        evidence.append(doc.Listing(test))
    where = "" if found.file is None else f"written to {found.file}; "
    last = f"  {where}{_smallest(found, scheme, by)}, {_duration(found.seconds)})"
    evidence.append(line(last, kind="note"))
    return doc.Article(
        found.text,
        word,
        found.program,
        lines,
        [found.file] if found.file else [],
        broken=True,
        evidence=evidence,
        open=True,
    )


def _as_hunted(scheme: str, stronger: Sequence[int], switches: Sequence[str]) -> str:
    """A scheme, with the rows that were made stronger and the switches that were turned on."""
    rows = f" with {rows_named(sorted(stronger))} made as strong as can be" if stronger else ""
    return f"{scheme}{rows}{f', if {_switches(switches)}' if switches else ''}"


def _switches(switches: Sequence[str]) -> str:
    return " and ".join(each for it in switches for each in it.split("+"))


def _smallest(found: Finding, scheme: str, by: By) -> str:
    """In which sense it is a smallest one, and on what that rests."""
    asked = counted(found.decided, "formula") if by is By.FORMULA else f"{found.decided:,} decided"
    if found.open:
        return f"{found.open:,} that may be smaller not decided ({asked}"
    if by is By.FORMULA:
        return f"none with fewer operations, or as many in fewer threads ({asked}"
    if by is By.SHAPES:
        return f"no smaller one of these rows, and none of a part of them ({asked}"
    if names_compiler(scheme):
        return f"no smaller one in which two threads share two locations ({asked}"
    return f"no smaller one ({asked}"


# ---- what follows --------------------------------------------------------------------------------


def conclusion(it: HuntReport) -> Iterator[Block]:
    """The counts, and what follows."""
    if it.stopped == ESTIMATED:
        if not it.method.estimates:
            yield line("no estimate: the filters are not proved for this model")
        return
    yield line()
    if it.phases:
        sorts = ("events", "threads", "programs", "alone", "larger", "guarded", "to_decide")
        rows = [[f"{getattr(each, sort):,}" for sort in sorts] for each in it.phases]
        table = doc.Table(_HEADS, rows, range(len(_HEADS)), head="Programs up to symmetry", gap=2)
        racy = f"{sum(phase.racy for phase in it.phases):,}"
        words = f"{racy} programs race; the filters are not proved for this model and not used"
        columns = _COLUMNS
        if it.method.by is By.SHAPES:
            columns = _COLUMNS_OF_SHAPES
            words = f"{racy} programs race; all of a shape were decided at once"
        if it.method.filtered:
            words = f"{racy} extensions of them race (not counted up to symmetry), and nothing is "
            words += "asked of these, nor of what contains them"
        yield doc.Basis([table, line(columns, kind="note"), line(words, kind="note")])
    if it.proof is None:
        yield doc.Basis(list(_decided(it)))
    if it.internal:
        yield doc.Warnings(list(internal_errors(it.internal)))
    yield doc.Summary([verdict(it), *proof_in_words(it.proof)])


def _decided(report: HuntReport) -> Iterator[Line]:
    took = (f"; {_duration(report.seconds)}", "note")
    if report.method.why_by_programs:
        yield line(f"decided program by program: {report.method.why_by_programs}", kind="note")
    if it := report.method.formulas:
        asked = counted(it.asked, "formula")
        yield line(f"{asked} asked: {it.sound:,} without a program to break it", took)
        yield line(
            f"of the candidates on the way {it.racy:,} raced, and {it.allowed:,} had allowed "
            "outcomes; whether every program completes an execution was not asked",
            kind="note",
        )
    else:
        words = each_counted(report.decided, report.decided) or "none"
        yield line(f"{sum(report.decided.values()):,} decided: {words}", took)
    for each in report.unknown[:FEW]:
        yield line(f"not decided: {each}", kind="UNKNOWN")
    if len(report.unknown) > FEW:
        yield line(f"and {len(report.unknown) - FEW:,} more not decided", kind="UNKNOWN")


def verdict(report: HuntReport) -> Line:
    """What is known of all programs within the bounds."""
    if not report.complete:
        words = f"not all programs within the bounds were looked at: {report.stopped}"
        again = f"; {ON_AGAIN}" if report.interrupted else ""
        return line(f"{words}{again}", kind="UNSOUND")
    method, space = report.method, report.space
    as_hunted = _as_hunted(report.subject.scheme, report.stronger, report.switches)
    subject = f"{as_hunted}{',' if report.switches else ''} is sound for"
    which = f"race-free programs within {at_most(space.within, space.memories)}"
    which = f"{report.programs:,} {which}" if method.counted else f"{which} (not counted)"
    which += f", made of {', '.join(space.operations)}" if space.some_operations else ""
    which += " (plain operations on atomic locations, too)" if space.plain_on_atomic else ""
    if report.proof is not None:
        words = "of these operations on one device, of any size"
        return line(f"PROVED: {subject} all programs {words}", kind="head SOUND")
    if not (report.sound or method.formulas or report.decided[Word.SOUND]):
        return line(f"nothing is known: no program of the {which} was decided", kind="head UNKNOWN")
    if found := report.decided[Word.UNSOUND] if method.by is By.SHAPES else 0:
        missing = (
            f", and {len(report.unknown):,} questions have no answer" if report.unknown else ""
        )
        words = f"{report.subject.scheme} is broken by {found:,} of the {which}"
        return line(f"{words}, each by the rows of one above{missing}", kind="head UNSOUND")
    if not report.sound:
        many = len(report.unknown)
        what = f"those of {many:,} questions" if method.formulas else f"{many:,} that are"
        return line(f"{subject} the {which} but {what} not decided", kind="head UNKNOWN")
    vacuous = report.decided[Word.VACUOUS]
    rest = f"; of those decided {vacuous:,} complete no execution" if vacuous else ""
    return line(f"{subject} all {which}{rest}", kind="head SOUND")


def proof_in_words(it: Proved | None) -> Iterator[Line]:
    """On what a proof rests."""
    if it is not None:
        kinds = each_counted(it.obligations, it.obligations)
        total = sum(it.obligations.values())
        words = f"all {total} obligations of its rows hold ({kinds}); --no-proof looks at programs"
        yield line(words, kind="note")


_HOUR, _YEAR = 3600, 365 * 86400
_UNITS = ((90, 1, "s"), (1.5 * _HOUR, 60, "min"), (48 * _HOUR, _HOUR, "h"), (_YEAR, 86400, "days"))


def _duration(seconds: float) -> str:
    """In the largest unit of which there are more than one."""
    unit, name = next((it[1:] for it in _UNITS if seconds < it[0]), (_YEAR, "years"))
    return f"{seconds / unit:,.{name == 'h':d}f} {name}"


# ---- as it goes ----------------------------------------------------------------------------------


class HuntStream(Stream[Finding, HuntReport]):
    """Prints findings as soon as there are any; is told of all else that is to be shown."""

    def __init__(self, console: Console, report: HuntReport, *, text: bool) -> None:
        super().__init__(console, Told(last=conclusion, head=[heading(report)]), text=text)
        self._scheme = report.subject.scheme
        self._by = report.method.by

    def show(self, answer: Finding) -> None:
        """Take the next program, which is not what is counted."""
        self.print([finding(answer, self._scheme, self._by)])

    def expecting(self, events: int, seconds: float) -> None:
        """How long the formulas for so many operations take; among what is shown, or beside it."""
        formulas = f"the formulas for {counted(events, 'operation')}"
        words = f"{formulas} take roughly {_duration(seconds)}, going by those for {events - 1}"
        self._said([line(words, kind="note")])

    def answered(self, report: HuntReport) -> None:
        """All formulas have been asked; now the programs are counted."""
        words = "the programs are counted now; an interrupt leaves this verdict as it is"
        self.print([line(), verdict(report), line(words, kind="note")])

    def estimated(self, estimates: Sequence[Estimate]) -> None:
        """What it will take; among what is shown where that is text, or beside it."""
        self._said(
            line(
                f"--events {it.events}: about {_about(it.programs)} programs without a race, "
                f"{_about(it.to_decide)} of them to decide, {_duration(it.seconds)} "
                f"{'' if it.deciding else 'to list them '}with "
                f"{counted(it.workers, 'process', 'processes')} (from a sample of {it.sampled:,})",
                kind="note",
            )
            for it in estimates
        )

    def _said(self, lines: Iterable[Line]) -> None:
        show(lines, self.console if self.text else Console(stderr=True))


def _about(count: int) -> str:
    """A number with two digits that count."""
    return f"{round(count, min(0, 2 - len(str(count)))):,}"
