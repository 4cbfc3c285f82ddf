"""What `compare` says: what rows cost, the tests that an edit touches, and what became of them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

from msgspec.structs import astuple

from rspverify.answers import Detail, Result, RowsAtFault, machine_in_words
from rspverify.engineering.comparison import (
    Change,
    Compared,
    Comparison,
    LeftOut,
    RowChange,
    TouchedTest,
)
from rspverify.records import replace
from rspverify.render import document as doc
from rspverify.render.document import Block, Document, Line, Told, line
from rspverify.render.evidence import explained
from rspverify.render.prove import in_words
from rspverify.render.words import bounds, changed_codes, counted, progress_in_words, result_cell
from rspverify.scheme.cost import Bill
from rspverify.verdict import Word

ALL = 10
"""Of so many tests all are shown, whatever became of them."""
ROWS = 20
"""Of so many rows all are shown, also those that become the same code."""
_WIDE = 120
"""From so many columns on a table of costs shows what they are made of."""
_OUTCOMES = 8
"""So many outcomes of a test are shown in each list; JSON has all."""
_ON_A_PAGE = 100
_WORDS = {
    Change.WORSE: "worse",
    Change.UNKNOWN: "not decided",
    Change.BETTER: "better",
    Change.SAME: "same verdict",
}
"""In the order in which a page has them."""
_SIGNS = {"": "", "-": "del", "+": "ins"}
_MARKS = {True: ("", ""), False: (" forbidden", "UNSOUND"), None: (" allowed?", "UNKNOWN")}
_COSTS = ("cost", "instr.", "flush L1", "flush L2", "inval. L1", "inval. L2", "locks")
_MATRIX = doc.Matrix(
    ("old", "new", ""),
    (),
    (18, 18, 7),
    head="Tests that become other code",
    order=[*list(_WORDS.values())[:-1], "same verdict, other outcomes"],
)


def document(
    it: Comparison,
    details: Mapping[str, Detail] | None = None,
    faults: Mapping[str, RowsAtFault] | None = None,
    *,
    everything: bool = False,
) -> Document:
    """All of it. details, faults: of tests by their files, of the result that is `broken`.
    everything: also rows that become the same code, however many there are, as a page has them."""
    rank = list(_WORDS)
    ranked = sorted(it.tests, key=lambda each: rank.index(each.change))
    found = [_article(each, details or {}, faults or {}) for each in ranked if each.changed]
    counts = [(each, it.summary.changes[each]) for each in _WORDS]
    totals = [doc.Total(_WORDS[each], each.value, number) for each, number in counts if number]
    said = told(it, it.summary.tests, everything=everything)
    return Document(
        "compare",
        f"{it.old.file} → {it.new.file}",
        [
            doc.Totals(totals),
            *said.whole([*it.tests, *it.left_out], it),
            doc.Articles(found, "What changed", "rspverify explain SCHEME TEST"),
        ],
        answer=it,
    )


# ---- rows of the schemes -------------------------------------------------------------------------


def _proofs(it: Comparison) -> Iterator[Line]:
    """Which of the two is proved, and which obligations only one of them breaks."""
    if it.old.proof is None or it.new.proof is None:
        return
    for label, proof in (("old", it.old.proof), ("new", it.new.proof)):
        if proof.broken:
            words = f"{len(proof.broken)} of {proof.total} obligations of its proof are broken"
            yield line(f"{label}  {words}", kind="UNKNOWN")
        else:
            words = f"  for programs of any size: all {proof.total} obligations hold"
            yield line(f"{label}  ", ("PROVED", "SOUND"), words)
    alone = {
        "new breaks": [each for each in it.new.proof.broken if each not in it.old.proof.broken],
        "new mends": [each for each in it.old.proof.broken if each not in it.new.proof.broken],
    }
    for words, pairs in alone.items():
        if pairs:
            yield line(f"  {words}: {in_words(pairs)}")


def head(it: Comparison, *, everything: bool = False) -> Iterator[Block]:
    """Which schemes are compared, and what their rows cost. everything: as of `document`."""
    for label, scheme in (("old", it.old), ("new", it.new)):
        machine = machine_in_words(scheme.machine, scheme.machine_file, scheme.target)
        yield line(f"{label}  {scheme.file}  ({scheme.name}, {machine})", kind="head")
    yield line()
    if not it.rows:
        return
    costs = f"Costs by {it.costs or 'the default costs: an access that hits the L1 is 1'}."
    less = f"{costs} What they are made of is shown on {_WIDE} columns, and in JSON."
    same = sum(row.same for row in it.rows)
    hidden = same > 0 and not everything and len(it.rows) > ROWS
    shown = [row for row in it.rows if not (hidden and row.same)]
    if shown:
        wide, narrow = (_rows(it, shown, columns) for columns in (7, 1))
        yield replace(wide, notes=[costs], otherwise=replace(narrow, notes=[less]))
    if same == len(it.rows):
        yield line("Every operation becomes the same code under both.")
    elif hidden:
        yield line(
            f"{counted(same, 'row')} with the same code under both: a text lists them with --all."
        )
    yield from _proofs(it)
    yield line()


def _rows(it: Comparison, shown: Sequence[RowChange], columns: int) -> doc.Table:
    """What the rows cost, those shown and all. columns: so many of what the cost is made of, the
    cost itself first."""
    rows: list[list[Line | str]] = []
    kinds: dict[int, str] = {}
    for row in shown:
        codes = changed_codes(row.old.code if row.old else None, row.new.code if row.new else None)
        sides = list(zip(("-", "+"), (row.old, row.new), codes, strict=True))
        numbers = dict.fromkeys(str(side.row) for side in (row.old, row.new) if side)
        operations = row.operations
        for sign, side, code in sides[:1] if row.same else sides:
            if side is not None:
                sign, number = ("", ", ".join(numbers)) if row.same else (sign, str(side.row))
                kinds[len(rows)] = _SIGNS[sign]
                rows.append([operations, number, sign, code, *_costs(side.bill)[:columns]])
                operations = ""
    both = ([row.old for row in it.rows], [row.new for row in it.rows])
    old, new = (_costs(sum((each.bill for each in side if each), Bill())) for side in both)
    for sign, costs in [("", old)] if old == new else [("-", old), ("+", new)]:
        kinds[len(rows)] = f"head {_SIGNS[sign]}"
        rows.append(["" if sign == "+" else "all of these", "", sign, "", *costs[:columns]])
    heads = ("operations", "row", "", "code", *_COSTS[:columns])
    return doc.Table(heads, rows, range(4, 11), kinds, head="Rows", least=_WIDE)


def _costs(bill: Bill) -> list[str]:
    return [str(number) if number else "" for number in astuple(bill)]


# ---- tests ---------------------------------------------------------------------------------------


def row(it: TouchedTest, *, everything: bool) -> doc.Row:
    """A test that becomes other code. everything: whether a text has it in any case."""
    words = "" if it.change is Change.SAME else it.change.value.lower()
    change = doc.Cell(words, it.change.value, about=it.file)
    cells = [result_cell(it.old), result_cell(it.new), change]
    quiet = not it.changed and not everything
    below = [line(f"    {each}", kind="note") for each in _reasons(it)] + list(_outcomes(it))
    return doc.Row(it.test, cells, it.file, _group(it), below, quiet=quiet, first=it.changed)


def left_out(it: LeftOut) -> Block:
    """A test that could not be read; one that is beyond this version is told where there is
    room."""
    words = f"{it.file}: {it.verdict} {it.reason}"
    if it.verdict is Word.UNSUPPORTED:
        return doc.Fold([line(it.reason)], words.partition("\n")[0])
    return doc.Warnings([line(words, kind="ERROR")])


def _group(it: TouchedTest) -> str:
    name = _WORDS[it.change]
    if it.change is Change.SAME:
        name += ", other outcomes" if it.changed else " and outcomes"
    return name


def _reasons(it: TouchedTest) -> Iterator[str]:
    """Why each result is as it is, where that is worth a line; once if it is so under both."""

    def said(it: Result) -> list[str]:
        plain = it.verdict in (Word.SOUND, Word.RACY) and not it.within
        return list(filter(None, ("" if plain else it.reason, progress_in_words(it))))

    old, new = said(it.old), said(it.new)
    for reason in dict.fromkeys((*old, *new)):
        who = "" if reason in old and reason in new else "old: " if reason in old else "new: "
        yield f"{who}{reason}"


def _outcomes(it: TouchedTest, most: int = _OUTCOMES) -> Iterator[Line]:
    """What it gains and loses, at most so many of each."""
    changes = it.outcomes
    if changes is None:
        return
    if changes.unknown:
        yield line(f"    outcomes not listed: {changes.unknown}", kind="UNKNOWN")
        return
    for what, sign, outcomes in (("gained", "+", changes.gained), ("lost", "-", changes.lost)):
        those = outcomes or ()
        met = Counter(str(each.outcome) for each in those)
        for each in those[:most]:
            words = str(each.outcome)
            if met[words] > 1:  # it takes what was read to tell them apart
                reads = (f"P{it.thread} line {it.line}={it.value}" for it in each.outcome.reads)
                words = f"{' '.join(reads)}: {words}"
            yield line(f"    {sign} {words}", _MARKS[each.allowed])
        if rest := those[most:]:
            forbidden = sum(each.allowed is False for each in rest)
            yield line(f"    {sign} {len(rest):,} more {what}, {forbidden:,} of them forbidden")


def _article(
    it: TouchedTest, details: Mapping[str, Detail], faults: Mapping[str, RowsAtFault]
) -> doc.Article:
    lines = [line(f"old: {it.old.claim}; new: {it.new.claim}"), *map(line, _reasons(it))]
    lines += _outcomes(it, _ON_A_PAGE)
    broken = it.broken
    scheme = broken.scheme_file if broken else ""
    if it.file in details:
        lines.append(line(f"What is shown below is under {scheme}."))
    subject, kind = f"{it.test}: {it.old.words} → {it.new.words}", it.change.value
    shown = doc.Article(it.file, kind, subject, lines, [it.file], broken=broken is not None)
    return explained(shown, scheme, faults.get(it.file), details.get(it.file))


# ---- what follows --------------------------------------------------------------------------------


def summary(it: Comparison) -> Iterator[Block]:
    """How many of each; what was not decided, and why."""
    if it.tests:
        yield line()
    yield doc.Summary(list(_counts(it)))
    if it.stopped:
        done, all_ = it.summary.compared, it.summary.tests
        words = f"{it.stopped}: {done:,} of {all_:,} tests compared, the rest not"
        yield doc.Warnings([line(words, kind="UNSOUND")])


def _counts(it: Comparison) -> Iterator[Line]:
    touched, untouched, changes = it.tests, it.untouched, it.summary.changes
    far = bounds(result.within for each in touched for result in (each.old, each.new))
    within = f", within {far}" if far else ""
    how = f"model {it.model}, engine {it.engine}, {it.reading} reading{within}"
    yield line(f"{counted(it.summary.tests, 'test')}, {how}", kind="head")
    parts: list[str | tuple[str, str]] = []
    for change in (Change.WORSE, Change.BETTER, Change.UNKNOWN, Change.SAME):
        if number := changes[change]:
            words = "the same verdict" if change is Change.SAME else change.value.lower()
            parts += [f"  {number:,} ", (words, change.value)]
    yield line(f"  {len(touched):5,} become other code{':' if touched else ''}", *parts)
    listed = [each.outcomes for each in touched if each.outcomes]
    gained = sum(bool(each.gained) for each in listed)
    lost = sum(bool(each.lost) for each in listed)
    unlisted = sum(bool(each.unknown) for each in listed)
    same = sum(each.compiled for each in untouched)
    beyond = sum(each.verdict is Word.UNSUPPORTED for each in it.left_out)
    for number, words, kind, shown in (
        (gained, f"gain outcomes, {lost:,} lose outcomes", "", bool(touched)),
        (same, "become the same code under both, and were not decided", "", True),
        (len(untouched) - same, "neither scheme can compile", "UNSUPPORTED", False),
        (beyond, "are beyond this version", "UNSUPPORTED", False),
        (len(it.left_out) - beyond, "could not be read", "ERROR", False),
        (unlisted, "whose outcomes are not listed", "UNKNOWN", False),
    ):
        if number or shown:
            yield line(f"  {number:5,} {words}", kind=kind)


# ---- as it goes ----------------------------------------------------------------------------------


def told(start: Comparison, tests: int, *, everything: bool = False) -> Told:
    """The rows of the schemes, each test as soon as it is known, and the summary."""

    def each(it: Compared) -> Iterator[Block | doc.Row]:
        if isinstance(it, TouchedTest):
            yield row(it, everything=everything or tests <= ALL)
        elif isinstance(it, LeftOut):
            yield left_out(it)

    first = [*head(start, everything=everything)]
    return Told(each, summary, first, matrix=_MATRIX, counted=("tests", tests))
