"""What `repair` says: the schemes that were found, and what is known of all the others."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from math import prod

from rspverify.answers import Detail, RowsAtFault
from rspverify.engineering.repair.answer import (
    Hunted,
    Killer,
    RepairReport,
    RowFound,
    SchemeFound,
)
from rspverify.render import document as doc
from rspverify.render.document import Document, Line, line
from rspverify.render.evidence import explained
from rspverify.render.progress import ON_AGAIN
from rspverify.render.prove import in_a_line
from rspverify.render.words import (
    FEW,
    at_most,
    bounds,
    changed_codes,
    costs_in_words,
    counted,
    each_counted,
    few,
    internal_errors,
    left_out,
    progress_in_words,
    rows_named,
)
from rspverify.verdict import WRONG, ProgressWord, Word


def before(report: RepairReport) -> str:
    """What is said before the search: how large it is."""
    changing = [row for row in report.space.rows if row.stays is None]
    sizes = sorted(row.codes for row in changing)
    many = f"{sizes[0]:,}" if sizes[0] == sizes[-1] else f"{sizes[0]:,} to {sizes[-1]:,}"
    schemes = f"{prod(sizes):,}"
    if prod(sizes) >= 10**7:
        digits, power = f"{prod(sizes):.0e}".split("e+")
        schemes = f"about {digits}·10^{int(power)}"
    return (
        f"{counted(len(changing), 'row')} may change, with {many} codes each of at most "
        f"{report.space.max_length} instructions: {schemes} schemes, "
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
    folded = [doc.Fold(rest, "All tests that ruled candidates out")] if rest else []
    return Document(
        "repair",
        it.subject.titled,
        [
            doc.Aside([line(str(it.subject), kind="head")]),
            doc.Basis(list(_asked(it))),
            *(_scheme(found, place, it) for place, found in enumerate(it.found, 1)),
            line(),
            doc.Summary([*_conclusion(it), *_compared(it)]),
            doc.Basis([*_work(it), *folded, *_tests(it)]),
            doc.Warnings([*internal_errors(it.internal), *_partial(it)]),
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
    made = ", ".join(report.space.instructions) or "accesses alone"
    yield line(f"made of {made} (costs: {costs_in_words(report.costs)})")
    yield line(before(report))


# ---- schemes that were found ---------------------------------------------------------------------


def _scheme(found: SchemeFound, place: int, report: RepairReport) -> doc.Listing:
    costs = f"given: {report.cost:,}"
    if report.reference:
        costs += f", {report.reference.scheme}: {report.reference.cost:,}"
    cost = (f"  cost {found.cost:,}", "head")
    head = line((f"{place}  {found.name}", "head SOUND"), cost, (f" ({costs})", "note"))
    lines = [each for row in found.rows for each in _row(row, report, others=place == 1)]
    last = [_rests_on(found, report), *([found.written] if found.written else [])]
    lines += [line(f"    {each}", kind="note") for each in last]
    if found.proof is not None:
        lines.append(line("    ", *in_a_line(found.proof).pieces))
    return doc.Listing([line(), head, *lines])


def _row(row: RowFound, report: RepairReport, *, others: bool) -> Iterator[Line]:
    given = next(each.code for each in report.space.rows if each.row == row.row)
    was, code = changed_codes(given, row.code)
    price = f"{row.cost}"
    if row.cost != row.given:
        price += f", given {row.given}"
    if row.reference is not None and report.reference and row.reference != row.cost:
        price += f", {report.reference.scheme} {row.reference}"
    head = f"  {'*' if row.changed else ' '} {row.row:2}  {row.operations:22}  "
    yield line(head, *code.pieces, (f"  ({price})", "note"))
    if row.changed:
        yield line(f"{'was':>30}   ", *was.pieces, kind="note")
    for other in row.alternatives if others else ():
        yield line(f"{'in another':>30}   {'; '.join(other)}", kind="UNSUPPORTED")


def _rests_on(found: SchemeFound, report: RepairReport) -> str:
    """What a scheme that was found was put to."""
    far = f", within {bounds([found.within])}" if found.within else ""
    if report.subject.target:
        words = f"{counted(found.tests, 'test')} SOUND{far}"
        return "; ".join([words, _hunted(found.hunted)])
    words = f"{counted(found.tests, 'test')} SOUND and LIVE by {report.subject.engine}{far}"
    explicit = "none put to explicit"
    if found.explicit or found.beyond_explicit:
        explicit = f"{found.explicit} of them SOUND by explicit, too"
    if found.beyond_explicit:
        explicit += f" ({found.beyond_explicit} of the sample were too large for it)"
    return "; ".join([words, explicit, *([] if found.proof else [_hunted(found.hunted)])])


def _hunted(hunted: Hunted | None) -> str:
    if hunted is None:
        return "not hunted for other programs"
    what = "formulas" if hunted.programs is None else "programs"
    if hunted.unknown:
        return f"{hunted.unknown:,} of {hunted.decided:,} {what} hunted through were not decided"
    number = "" if hunted.programs is None else f"{hunted.programs:,} "
    words = f"sound for all {number}programs without a race within {at_most(hunted.bounds)}"
    return f"{words} ({hunted.decided:,} {'formulas ' if not number else ''}decided)"


# ---- what follows --------------------------------------------------------------------------------


def _conclusion(report: RepairReport) -> Iterator[Line]:
    claim, limits = report.claim, f"at most {report.space.max_length} instructions a row"
    if same := [row.row for row in report.space.rows if row.stays is not None]:
        limits += f", {rows_named(same) if len(same) <= FEW else 'the other rows'} as given"
    if not claim.finished:
        return
    if not report.found and claim.exact:
        words = f"no candidate passes every test: no scheme of these rows with {limits} does"
        yield line(words, kind="UNSOUND")
    elif not report.found:
        yield line("no candidate passes every test that could be decided", kind="UNKNOWN")
    elif claim.exact:
        words = f"no candidate that costs less than {claim.least:,} passes every test"
        limits += "" if report.subject.target else ", matched locks"
        yield line(f"{words} ({limits})", kind="SOUND")
    else:
        words = f"there may be candidates that cost less than {claim.least:,}: see below"
        yield line(words, kind="UNKNOWN")
    if not report.found:
        return
    if not claim.complete:
        yield line(f"of that cost there are more than {len(report.found)} (--count)")
    elif claim.exact:
        number = "it is the only one" if len(report.found) == 1 else "there is no other"
        yield line(f"of that cost {number}, but for stronger ones")
    else:
        yield line("whether there are others of that cost was not decided", kind="UNKNOWN")


def _compared(report: RepairReport) -> Iterator[Line]:
    """Whether what was found is cheaper than the other scheme."""
    other = report.reference
    if other is None:
        return
    if other.fails:
        fails = few([f"{each.test} ({each.verdict})" for each in other.fails])
        yield line(f"{other.scheme} itself fails {fails}", kind="RACY")
    if not report.found or not report.claim.finished:
        return
    found = report.found[0]
    against = f"{found.cost:,} against {other.cost:,}"
    if found.cost < other.cost:
        rows = [
            f"row {row.row} {row.cost} against {row.reference}"
            for row in found.rows
            if row.reference is not None and row.reference != row.cost
        ]
        which = f" ({', '.join(rows)})" if rows else ""
        yield line(f"cheaper than {other.scheme}: {against}{which}", kind="head SOUND")
    elif not report.claim.exact:
        yield line(f"none that was found is cheaper than {other.scheme}", kind="UNKNOWN")
    elif found.cost == other.cost:
        rows_of = [[row.reference == row.cost for row in each.rows] for each in report.found]
        same = any(map(all, rows_of)) or not other.candidate
        also = "" if same else ", which costs as much"
        yield line(f"none is cheaper than {other.scheme}{also}", kind="head")
    else:
        outside = "" if other.candidate else ", which is none of the candidates"
        yield line(f"none is as cheap as {other.scheme}{outside}: {against}", kind="head")


def _work(report: RepairReport) -> Iterator[Line]:
    it = report.effort
    words = f"{counted(it.candidates, 'candidate')} tried, {counted(it.nogoods, 'lesson')} learnt"
    took = (f"; {report.seconds:.1f} s", "note")
    yield line(f"{words}, {counted(it.verdicts, 'verdict')}", took)
    for killer in it.killers[:FEW]:
        yield line(f"    {killer.test}: {_fallen([killer])}", kind="note")
    if rest := it.killers[FEW:]:
        number = counted(sum(each.candidates for each in rest), "candidate")
        yield line(f"    {counted(len(rest), 'other test')}: {number}", kind="note")
    for each in it.undecided[:FEW]:
        yield line(f"not decided for a candidate, which was put aside: {each.file} ({each.rows})")
    if len(it.undecided) > FEW:
        yield line(f"and {len(it.undecided) - FEW} more")


def _tests(report: RepairReport) -> Iterator[Line]:
    tests, words = report.tests, each_counted(report.tests.verdicts, Word)
    yield line(f"{counted(tests.total, 'test')}; under {report.subject.scheme} as given: {words}")
    aside: dict[str, list[str]] = {}
    for test in tests.without:
        aside.setdefault(test.reason.split(":")[0], []).append(test.test)
    for reason, names in aside.items():
        if reason == Word.RACY.value:
            words = f"{counted(len(names), 'test')} left out, in which the source races"
            yield line(words, kind="note")
        else:
            yield line(f"{reason}, left out: {few(names)}", kind="UNSUPPORTED")
    yield from left_out(tests.left_out)
    if tests.found:
        yield line(f"found beside them, by obligations or by hunting: {few([*tests.found])}")


def _partial(report: RepairReport) -> Iterator[Line]:
    """What is known where the search has not come to its end."""
    claim, effort = report.claim, report.effort
    if claim.finished:
        return
    known = f"no candidate that costs less than {claim.least:,} passes"
    known += "" if claim.exact else ", but for those put aside"
    words = f"interrupted: not finished; {known}; {ON_AGAIN}"
    if claim.stopped:
        words = f"not finished: {claim.stopped}; {known}"
    yield line(words, kind="UNSOUND")
    if effort.candidate and not report.found:
        claimed = "nothing is claimed"
        if effort.passes:
            claimed = "it is known that it passes every test; other programs were still hunted for"
        yield line(f"the last candidate tried, of which {claimed}:")
        yield from (line(f"    {row.row:2}  {'; '.join(row.code)}") for row in effort.candidate)


def _fallen(killers: Sequence[Killer]) -> str:
    return ", ".join(f"{counted(each.candidates, 'candidate')} {each.verdict}" for each in killers)


def _article(
    file: str, it: RepairReport, detail: Detail, fault: RowsAtFault | None
) -> doc.Article | None:
    """A test that the scheme as given fails, too; None if it does not."""
    if detail.explanation is None:
        return None
    result = detail.explanation.result
    if result.verdict not in WRONG and result.progress is not ProgressWord.STUCK:
        return None
    killers = [each for each in it.effort.killers if each.file == file]
    kind = result.verdict if result.verdict in WRONG else ProgressWord.STUCK
    words = [f"{_fallen(killers)} by this test. Below: {it.subject.scheme} as given."]
    words += filter(None, (result.reason, progress_in_words(result)))
    shown = doc.Article(file, kind, killers[0].test, [*map(line, words)], [file], broken=True)
    return explained(shown, it.subject.file, fault, detail)
