"""What `compare` answers of two schemes, one the edit of the other, and their rows side by side."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from enum import StrEnum
from itertools import product
from typing import Annotated

from msgspec import Struct
from msgspec.structs import astuple

from rspverify.answers import UNANSWERED, Internal, Observed, Result
from rspverify.convert import Code, Count, Group, Place, counts, one_of, with_keys
from rspverify.proof.covered import Obligations
from rspverify.records import replace
from rspverify.scheme.cost import Bill, Costs, bill
from rspverify.scheme.row import Row, Shape
from rspverify.scheme.scheme import Scheme
from rspverify.source import Source, Span
from rspverify.verdict import WRONG, Engine, ProgressWord, Reading, Word


class Change(StrEnum):
    """What became of a test. UNKNOWN: a verdict, or progress, that was not decided is involved."""

    SAME = "SAME"
    BETTER = "BETTER"
    WORSE = "WORSE"
    UNKNOWN = "UNKNOWN"


class SchemeName(Struct, frozen=True):
    """A scheme as its user and its file name it, and the machine or target that it is for.

    machine_file: null where the machine ships. proof: the obligations of its proof, null where none
    speaks of all of it.
    """

    file: str
    name: str
    machine: str
    machine_file: str | None = None
    target: bool = False
    proof: Obligations | None = None


class RowCode(Struct, frozen=True):
    """A row by its number, its code, and what that is made of."""

    row: Place
    code: Code
    bill: Group[Bill]


class RowChange(Struct, frozen=True):
    """Operations that one row of each scheme compiles, and what becomes of them.

    old, new: null in a scheme that has no row for them. same: whether they become the same code.
    """

    operations: str
    same: bool
    old: RowCode | None
    new: RowCode | None


class OutcomeChange(Struct, frozen=True):
    """An outcome that only one of the schemes reaches; allowed: null where that is not known."""

    outcome: Group[Observed]
    allowed: bool | None


class OutcomeChanges(Struct, frozen=True):
    """Outcomes that the compiled test gains and loses, and how many there were and are.

    unknown: why they are not known; all of these are null then. internal: the internal error that
    came instead.
    """

    gained: tuple[OutcomeChange, ...] | None = None
    lost: tuple[OutcomeChange, ...] | None = None
    reached_old: Count | None = None
    reached_new: Count | None = None
    unknown: str | None = None
    internal: Internal | None = None


class TouchedTest(Struct, frozen=True):
    """A test that the edit touches: its results, and its outcomes unless these mean nothing.

    Outcomes mean nothing of a test that races, or that one of the schemes cannot compile.
    """

    test: str
    file: str
    change: Change
    old: Result
    new: Result
    outcomes: OutcomeChanges | None

    @property
    def failed(self) -> bool:
        """Whether an internal error was met."""
        outcomes = self.outcomes.internal if self.outcomes else None
        return any((self.old.internal, self.new.internal, outcomes))

    @property
    def changed(self) -> bool:
        """Whether there is anything to be seen but that it was touched."""
        it = self.outcomes
        differ = it is not None and bool(it.gained or it.lost or it.unknown)
        return differ or self.change is not Change.SAME or self.old.claim != self.new.claim

    @property
    def broken(self) -> Result | None:
        """The result that there is an execution to see of, of the new scheme if it has one."""
        stuck = ProgressWord.STUCK
        both = (self.new, self.old)
        found = (it for it in both if it.verdict in WRONG or it.progress is stuck)
        return next(found, None)


class Untouched(Struct, frozen=True):
    """A test whose compiled form is the same under both; compiled: whether there is one."""

    file: str
    compiled: bool


class LeftOut(Struct, frozen=True):
    """A test that could not be read; UNKNOWN for an internal error."""

    file: str
    verdict: Annotated[Word, one_of(*UNANSWERED)]
    reason: str
    internal: Internal | None = None

    @property
    def failed(self) -> bool:
        """Whether an internal error was met."""
        return self.internal is not None


Compared = TouchedTest | Untouched | LeftOut


class ComparisonSummary(Struct, frozen=True):
    """How many tests there were to compare, and how many were: touched, untouched and left out.

    changes: of those that become other code.
    """

    tests: Count
    compared: Count
    changes: Group[Annotated[Mapping[Change, Count], with_keys(*Change)]]


class Comparison(Struct, frozen=True, kw_only=True):
    """All that is known of a comparison.

    costs: the file of costs, null for the defaults. limit_outcomes: where a compiled test has more
    outcomes they are not listed. rows: of both schemes, matched by the operations that they
    compile. tests: those that become other code; untouched: those that were not decided, as they do
    not; left_out: those that could not be read. stopped: why some tests were not compared, if so.
    """

    old: SchemeName
    new: SchemeName
    model: str
    engine: Engine
    reading: Reading
    costs: str | None
    limit_outcomes: Count
    rows: tuple[RowChange, ...]
    tests: tuple[TouchedTest, ...] = ()
    untouched: tuple[Untouched, ...] = ()
    left_out: tuple[LeftOut, ...] = ()
    summary: ComparisonSummary
    stopped: str | None = None

    def ended(self, compared: Sequence[Compared], stopped: str | None) -> Comparison:
        """The same with what became of the tests."""
        touched = tuple(each for each in compared if isinstance(each, TouchedTest))
        changes = counts(Change, (each.change for each in touched))
        return replace(
            self,
            tests=touched,
            untouched=tuple(each for each in compared if isinstance(each, Untouched)),
            left_out=tuple(each for each in compared if isinstance(each, LeftOut)),
            summary=ComparisonSummary(self.summary.tests, len(compared), changes),
            stopped=stopped,
        )


# ---- which of two results is the worse -----------------------------------------------------------

_RANKS = {
    Word.UNSOUND: 0,
    Word.OPEN: 1,
    Word.VACUOUS: 2,
    Word.UNSUPPORTED: 3,
    Word.SOUND: 4,
    Word.RACY: 4,
    ProgressWord.STUCK: 0,
    ProgressWord.LIVE: 1,
}
"""Wrong; wrong on some machine; never completes; cannot be compiled; right. And of
progress: not always; always.

RACY is as good as SOUND: it says of the test, not of a scheme, that nothing can be wrong with it.
"""


def change_of(old: Result, new: Result) -> Change:
    """Whether a test got better or worse; worse in one thing is worse."""
    pairs: list[tuple[Word | ProgressWord, Word | ProgressWord]] = [(old.verdict, new.verdict)]
    if old.progress is not None and new.progress is not None:  # as there is none of UNSUPPORTED
        pairs.append((old.progress, new.progress))
    known = [(_RANKS[a], _RANKS[b]) for a, b in pairs if a in _RANKS and b in _RANKS]
    if any(after < before for before, after in known) or not _excused(old, new):
        return Change.WORSE
    if len(known) < len(pairs):
        return Change.UNKNOWN
    better = any(after > before for before, after in known) or not _excused(new, old)
    return Change.BETTER if better else Change.SAME


def _excused(before: Result, after: Result) -> bool:
    """Whether each choice of switches that makes an OPEN verdict SOUND makes another one SOUND, if
    that is OPEN, too."""
    choices = [[{*each.split("+")} for each in it.sound_if] for it in (before, after)]
    if not all(choices):
        return True
    return all(any(fewer <= more for fewer in choices[1]) for more in choices[0])


def changed_rows(old: Scheme, new: Scheme, costs: Costs) -> tuple[RowChange, ...]:
    """For each pair of rows that compile the same operations: which, their code, and its bill.

    A row that was split is there once for each part. Rows that compile nothing, as others come
    before them for all that they match, are not there.
    """
    pairs: dict[tuple[int, ...], tuple[Row | None, Row | None, list[Shape]]] = {}
    for shape in dict.fromkeys((*old.table, *new.table)):
        before, after = old.table.get(shape), new.table.get(shape)
        numbers = tuple(row.number if row else 0 for row in (before, after))
        pairs.setdefault(numbers, (before, after, []))[2].append(shape)
    in_order = sorted(pairs, key=lambda pair: (pair[0] == 0, *pair))  # what only new has is last
    return tuple(_change(*pairs[pair], costs) for pair in in_order)


def _change(old: Row | None, new: Row | None, shapes: list[Shape], costs: Costs) -> RowChange:
    before, after = (_coded(row, costs) if row else None for row in (old, new))
    same = before is not None and after is not None and before.code == after.code
    return RowChange(_named(shapes, [row for row in (old, new) if row]), same, before, after)


def _coded(row: Row, costs: Costs) -> RowCode:
    return RowCode(row.number, tuple(map(str, row.code)), bill(row.code, costs))


def _named(shapes: Collection[Shape], rows: Collection[Row]) -> str:
    """As a row for just these would be named, or several where one cannot be for just these.

    A row for RMWs has compare-exchanges too where these have no row, and does not name them.
    """
    own = {shape for shape in shapes if any(shape in row.shapes for row in rows)}
    named = [shape for shape in shapes if shape in own or not own]
    whole = _row_for(named)
    return str(whole) if whole else "; ".join(str(_row_for(each)) for each in _parts(named))


def _parts(shapes: Iterable[Shape]) -> Iterator[list[Shape]]:
    """Shapes parted so that there is a row for each part: what agrees in all else goes together,
    first by memory, then by the use of results, by order, by remoteness and by scope."""
    boxes = [tuple(frozenset({it}) for it in astuple(each)) for each in shapes]
    for name in ("memory", "used", "order", "remote", "scope"):
        at = Shape.__struct_fields__.index(name)
        merged: dict[tuple[frozenset[object], ...], frozenset[object]] = {}
        for box in boxes:
            rest = (*box[:at], *box[at + 1 :])
            merged[rest] = merged.get(rest, frozenset()) | box[at]
        boxes = [(*rest[:at], those, *rest[at:]) for rest, those in merged.items()]
    yield from ([Shape(*each) for each in product(*box)] for box in boxes)


def _row_for(shapes: Collection[Shape]) -> Row | None:
    """A row for just these shapes, if one can be for them and no others."""
    (kind, *others) = {shape.kind for shape in shapes}
    atomic = [shape for shape in shapes if shape.scope is not None]
    orders = frozenset(shape.order for shape in atomic if shape.order is not None)
    row = Row(
        0,
        kind,
        frozenset(shape.scope for shape in shapes),
        orders,
        frozenset(shape.remote for shape in atomic),
        Span(Source("", ""), 1, 1, 1, 1),
        named=orders,
        memories=frozenset(shape.memory for shape in shapes),
        results=frozenset(shape.used for shape in shapes),
    )
    return None if others or set(row.shapes) != set(shapes) else row
