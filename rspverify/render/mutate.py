"""What `mutate` says: the scheme's table, with what each instruction is needed for."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from rspverify.answers import Detail
from rspverify.engineering.mutation import (
    Fate,
    Finding,
    MutatedRow,
    MutationReport,
)
from rspverify.render import document as doc
from rspverify.render.document import Block, Document, Line, line
from rspverify.render.evidence import explained
from rspverify.render.progress import ON_AGAIN
from rspverify.render.words import (
    bounds,
    changed_codes,
    costs_in_words,
    counted,
    each_counted,
    few,
    internal_errors,
    left_out,
    reach,
    rows_named,
)
from rspverify.scheme.mutants import Step
from rspverify.translators import names_compiler
from rspverify.verdict import Word

_DERIVED = (Fate.EQUIVALENT, Fate.STRONGER, Fate.PROVED)
"""The fates whose reason holds whatever the program."""
_CLASSES = {
    Fate.SURVIVES: "SURVIVES",
    Fate.EQUIVALENT: "by-EQUIVALENT",
    Fate.STRONGER: "by-EQUIVALENT",
    Fate.PROVED: "by-EQUIVALENT",
    Fate.UNSOUND: "by-UNSOUND",
    Fate.STUCK: "by-STUCK",
}
"""Of a mutant it is well that it is UNSOUND."""
_MARKS = {
    "the access": "note",
    "needed": "SOUND",
    "not shown to be needed": "UNSOUND",
    "not decided": "UNKNOWN",
    "no test tells": "RACY",
    "not needed": "UNSUPPORTED",
}
"""What is said of an instruction, and its class."""
_HEADS = ("for the scheme", "change", "verdict", "shown by")
_WIDTHS = (22, 22, 8, 0)


def document(it: MutationReport, details: Mapping[str, Detail] | None = None) -> Document:
    """All of it. details: of the tests that mutants fail, by the names of the mutants."""
    found = sorted(it.mutants, key=lambda each: each.verdict is not Fate.SURVIVES)
    rows, known = {row.row: row for row in it.rows}, details or {}
    articles = [
        _article(each, rows[each.mutant.row], known.get(each.mutant.name)) for each in found
    ]
    fates = it.summary.fates
    totals = [
        doc.Total(each.value, _CLASSES[each], fates[each]) for each in reversed(Fate) if fates[each]
    ]
    longest = max(10, *(len(each) for row in it.rows for each in row.code), 0)
    matrix = doc.Matrix(
        _HEADS,
        [each for row in it.rows for each in _rows(row, it)],
        _WIDTHS,
        noun="mutant",
        head="Rows and their mutants",
        shortest=longest,
        longest=longest,
        indent=4,
        grouped="head",
        headed=False,
    )
    how = "--write DIR, and the commands that it prints,"
    if names_compiler(it.subject.scheme):
        how = "a run on fewer tests"
    return Document(
        "mutate",
        it.subject.titled,
        [
            doc.Aside([line(str(it.subject), kind="head")]),
            doc.Totals(totals),
            matrix,
            *_wider(it),
            doc.Aside([line()]),
            doc.Summary([*_conclusion(it), *_tests(it)]),
            doc.Aside(list(_commands(it))),
            doc.Warnings([*internal_errors(it.internal), *_stopped(it)]),
            doc.Articles(articles, "What each mutant fails", how),
        ],
        answer=it,
    )


def _stopped(it: MutationReport) -> Iterator[Line]:
    if it.stopped:
        words = f"{it.stopped}: {len(it.mutants)} of {it.summary.mutants} mutants looked at"
        yield line(f"{words}; {ON_AGAIN}", kind="ERROR")


# ---- rows and their mutants ----------------------------------------------------------------------


def _rows(row: MutatedRow, report: MutationReport) -> Iterator[doc.Row]:
    """A line for each instruction, and for each step at it."""
    tests = counted(row.tests, "test") if row.tests else "no test that the scheme passes uses it"
    group = f"{row.row:2}  {row.operations}  ({tests})"
    found = [each for each in report.mutants if each.mutant.row == row.row]
    for place, instruction in enumerate(row.code, 1):
        mark = _mark_of(row, place, found)
        cell = doc.Cell(mark, _MARKS[mark])
        steps = list(_at(place, row, found)) or [("", [None, None, None])]
        for number, (name, cells) in enumerate(steps):
            first = "SURVIVES" in (each.kind for each in cells if each)
            yield doc.Row(instruction, [cell, *cells], name, group, again=number > 0, first=first)


def _mark_of(row: MutatedRow, place: int, found: Sequence[Finding]) -> str:
    """What can be said of an instruction: needed if every mutant without it fails a test."""
    if place in row.accesses:
        return "the access"
    without = [it for it in found if any(place in step.removes for step in it.mutant.steps)]
    if any(it.verdict in (Fate.EQUIVALENT, Fate.PROVED) for it in without):
        return "not needed"
    if not row.tests and not any(it.reason for it in without):
        return "no test tells"
    if any(it.verdict is Fate.SURVIVES for it in without):
        return "not shown to be needed"
    wanted = any(step.place == place and step.removes for it in without for step in it.mutant.steps)
    return "needed" if wanted else "not decided"


def _at(
    place: int, row: MutatedRow, found: Sequence[Finding]
) -> Iterator[tuple[str, list[doc.Cell | None]]]:
    """What became of each step at an instruction: the mutant's name, and its cells."""
    for it in found:
        name, first = it.mutant.name, it.mutant.step
        verdict = doc.Cell(it.verdict.value, _CLASSES[it.verdict], it.reason, about=name)
        for step in (step for step in it.mutant.steps if step.place == place):
            words = _shown_by(it, told=row.tests > 0)
            if step is not first:
                words += f" (the same code as at {first.place}, {first.words})"
            yield name, [doc.Cell(step.words), verdict, doc.Cell(words) if words else None]
    for step in (step for step in row.unchanged if step.place == place):
        yield "", [doc.Cell(step.words), doc.Cell("the same code", "note"), None]


def _shown_by(finding: Finding, *, told: bool) -> str:
    """What says so; what it would save, where tests tell of it."""
    words = finding.test or ("" if finding.verdict is Fate.SURVIVES else finding.reason)
    if finding.switches is not None:
        words += f" (with {finding.switches.replace('+', ' and ')})"
    if finding.within:
        words += f" (within {bounds([finding.within])})"
    if finding.unknown:
        words += f" ({counted(len(finding.unknown), 'test')} not decided)"
    spare = finding.verdict in (Fate.EQUIVALENT, Fate.PROVED) or (
        told and finding.verdict is Fate.SURVIVES
    )
    if spare and finding.mutant.cost < 0:
        words += f" (costs {-finding.mutant.cost} less)"
    return words.strip()


def _wider(it: MutationReport) -> Iterator[Block]:
    if it.wider is None:
        return
    head = f"wider, by what they cost (weights: {costs_in_words(it.costs)}); not decided"
    costs = {row.row: row.cost for row in it.rows}
    lines = [line(), line(head, kind="head")]
    for each in it.wider:
        more = f"{costs[each.row]} → {costs[each.row] + each.cost}"
        lines.append(line(f"    row {each.row:2}  {_step(each.step):32}{more}"))
    yield doc.Listing(lines, "Instructions that reach further")


def _step(it: Step) -> str:
    return f"{it.place} {it.instruction}: {it.words}"


def _article(it: Finding, row: MutatedRow, detail: Detail | None) -> doc.Article:
    mutant, said = it.mutant, it.reason
    if it.test:
        said = f"{it.test}: {it.reason}"
    elif it.verdict not in _DERIVED and row.tests:
        said = (
            f"It fails none of {counted(it.decided, 'test')}: redundant, or the tests have a hole."
        )
    elif it.verdict not in _DERIVED:
        said = "No test that the scheme passes uses the row, so none says anything of it."
    lines = [line(said)]
    lines += [line(f"not decided: {each.test}: {each.reason}") for each in it.unknown]
    if it.command and not detail:
        lines.append(line("In a terminal: ", (it.command, "code")))
    codes = changed_codes(row.code, mutant.code)
    costs = (str(row.cost), str(row.cost + mutant.cost))
    cells = list(zip(("the scheme", "the mutant"), codes, costs, strict=True))
    shown = doc.Article(
        mutant.name,
        it.verdict.value,
        f"row {row.row}, {'; '.join(map(_step, mutant.steps))}",
        lines,
        [it.file] if it.file else [],
        _CLASSES[it.verdict],
        it.file is not None,
        evidence=[
            doc.Table(("", "code", "cost"), cells, [2], head=f"Row {row.row}, {row.operations}")
        ],
    )
    return explained(shown, "", None, detail)


# ---- what follows --------------------------------------------------------------------------------


def _conclusion(report: MutationReport) -> Iterator[Line]:
    fates, scheme = report.summary.fates, report.subject.scheme
    compiler = names_compiler(scheme)
    every = [it for it in Fate if it not in _DERIVED or fates[it]]
    counts = ", ".join(f"{fates[it]} {it.value}" for it in every)
    mutants = counted(report.summary.mutants, "mutant")
    yield line((f"{mutants}: {counts}", "head"), (f"; {report.seconds:.1f} s", "note"))
    surviving = [it for it in report.mutants if it.verdict is Fate.SURVIVES]
    if report.stopped:
        return
    if not surviving and report.summary.mutants:
        each = "each" if not fates[Fate.PROVED] else "not each"
        words = (
            f"{each} instruction of {scheme} is needed, as far as it reaches and where it stands"
        )
        words += ": every step fails a test"
        words += ", or nobody can tell it" if fates[Fate.EQUIVALENT] else ""
        words += ", or makes it wait longer" if fates[Fate.STRONGER] else ""
        words += ", or is PROVED: only what it costs tells" if fates[Fate.PROVED] else ""
        yield line(words, kind="SOUND")
    elif surviving:
        words = "what survives is redundant, or the tests have a hole"
        if compiler:
            words = "what survives is for registers alone or redundant, or the tests have a hole"
        else:
            words += " (--write DIR writes each mutant as a scheme)"
        yield line(words, kind="UNSOUND")
        if untold := [row.row for row in report.rows if not row.tests]:
            words = "rspverify generate rows DIR writes tests of each kind, order and scope"
            yield line(f"no test says anything of {rows_named(untold)}: {words}", kind="RACY")
    hunts: dict[tuple[str, ...] | None, list[int]] = {}
    for row in () if compiler else report.rows:
        if row.row in {it.mutant.row for it in surviving}:
            hunts.setdefault(row.hunt, []).append(row.row)
    for options, those in hunts.items():
        words = f"no hunt of usual operations has those of {rows_named(those)}"
        if options is not None:
            command = " ".join(("rspverify hunt MUTANT --first", *options))
            words = f"for a program that tells of {rows_named(those)}: {command}"
        yield line(f"  {words}")
    if surviving and report.tests.broken and not compiler:
        yield line(
            f"as {scheme} is broken itself, see whether a program that hunt finds breaks "
            f"{scheme}, too: it tells nothing then"
        )
    if undecided := report.summary.undecided:
        yield line(f"of those that survive, {undecided} may fail tests that were not decided")


def _tests(report: MutationReport) -> Iterator[Line]:
    tests, subject, scheme = report.tests, report.subject, report.subject.scheme
    words = each_counted(tests.verdicts, Word)
    head = f"{counted(tests.total, 'test')}, model {subject.model}, engine {subject.engine}"
    yield line(f"{head} ({reach([tests.within])}); under {scheme} itself: {words}")
    if beyond := sum(it.text is not None for it in report.mutants):
        words = f"{counted(beyond, 'mutant')} pass them, and fail a test of an obligation (prove+…)"
        yield line(words, kind="RACY")
    if tests.broken:
        shows = "which show nothing of its mutants"
        if tests.excused:
            shows = f"of which a switch excuses {tests.excused}: these tell of mutants with it on"
        words = f"fails {counted(len(tests.broken), 'test')}, {shows}"
        names = few([it.test for it in tests.broken])
        yield line(f"{scheme} itself {words}: {names}", kind="RACY")
    if tests.stuck:
        words = f"gets stuck in {counted(len(tests.stuck), 'test')} in which a mutant does"
        names = few([it.test for it in tests.stuck])
        yield line(f"{scheme} itself {words}, which shows nothing of it: {names}", kind="RACY")
    unknown: dict[str, dict[str, str]] = {}
    for test in (*tests.unknown, *(each for it in report.mutants for each in it.unknown)):
        unknown.setdefault(test.reason, {})[test.file] = test.test
    for reason, those in unknown.items():
        yield line(f"not decided ({reason}): {few(list(those.values()))}", kind="UNKNOWN")
    yield from left_out(tests.left_out)


def _commands(report: MutationReport) -> Iterator[Line]:
    shown = [it for it in report.mutants if it.command is not None]
    if shown:
        yield line()
        yield line("the execution behind each, or for one that survives, the search for one:")
        yield from (line(f"    {it.command}") for it in shown)
    elif report.mutants and not names_compiler(report.subject.scheme):
        yield line("--write DIR shows for each mutant the command that explains it", kind="note")
