"""What a page of HTML shows, part by part, as its templates take it: plain data.

Texts may come from files: the templates escape them, and spell what nobody sees.
"""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct

# ---- tables --------------------------------------------------------------------------------------


class Piece(Struct, frozen=True):
    """A part of a cell. kind: `ins` or `del` of what an edit adds or takes, `code`, or a class."""

    text: str
    kind: str = ""


class Table(Struct, frozen=True):
    """Rows of cells. notes: what is said below. numbers: so many columns at the end have numbers.

    dull: the places of rows that matter less.
    """

    head: str
    heads: Sequence[str]
    rows: Sequence[Sequence[Sequence[Piece]]]
    notes: Sequence[str] = ()
    numbers: int = 0
    dull: frozenset[int] = frozenset()


# ---- matrices ------------------------------------------------------------------------------------


class Cell(Struct, frozen=True):
    """A result in a matrix. kind: its words as classes, if it has some. place: of its finding, if
    that is told; address: of the page that tells it, if it is another. why: shown when it is
    pointed at."""

    kind: str
    words: str
    why: str = ""
    expected: str = ""
    place: str = ""
    address: str = ""


class Row(Struct, frozen=True):
    """A test, or what else a matrix has a row for; None where it has no result. file: which one it
    is, shown when it is pointed at. first: whether it is shown before others, where not all are."""

    title: str
    file: str
    cells: Sequence[Cell | None]
    first: bool = False


class Matrix(Struct, frozen=True):
    """Tests by folder, and what they are put to. cut: what is left out, in words. noun: what a row
    is for."""

    folder: str
    about: str
    heads: Sequence[str]
    folders: Sequence[tuple[str, Sequence[Row]]]
    cut: str = ""
    noun: str = "test"


class Total(Struct, frozen=True):
    """How many results have a word. kind: its class in the matrix."""

    word: str
    kind: str
    number: int


# ---- findings ------------------------------------------------------------------------------------


class Part(Struct, frozen=True):
    """An entry, a fifo, or a lock of a state. changed: by the step before it."""

    kind: str
    text: str
    changed: bool = False


class StateCell(Struct, frozen=True):
    """One cache, memory, or the locks after a step."""

    parts: Sequence[Part]
    changed: bool


class ShownStep(Struct, frozen=True):
    """A step, and the state after it; the first of an execution is before any. line: 0 for none."""

    number: int
    by: str
    label: str
    line: int
    cells: Sequence[StateCell]


class Timeline(Struct, frozen=True):
    """An execution. heads: of the cells of its steps. end: what is to be said after it.

    data: the same as `<rsp-execution>` takes it; what else stands here is for where it cannot run.
    """

    head: str
    heads: Sequence[str]
    steps: Sequence[ShownStep]
    end: str
    data: str


class ShownRow(Struct, frozen=True):
    """A row at fault: where it stands, and the lines there."""

    place: str
    words: str
    lines: Sequence[tuple[int, str]]


class SourceLine(Struct, frozen=True):
    """A line of a test. compiled: thread, operation and code of what stands there."""

    number: int
    text: str
    compiled: Sequence[tuple[str, str, str]]


class Article(Struct, frozen=True):
    """A finding, part by part; parts that it does not have are empty. style: the class of its kind,
    if that is not the kind itself."""

    place: str
    kind: str
    subject: str
    text: str
    places: Sequence[str]
    style: str = ""
    ending: str = ""
    axioms_head: str = ""
    axioms: Sequence[tuple[str, str]] = ()
    rows_head: str = "At fault"
    rows: Sequence[ShownRow] = ()
    source: Sequence[SourceLine] = ()
    source_cut: str = ""
    tables: Sequence[Table] = ()
    timelines: Sequence[Timeline] = ()
    picture: str = ""
    notes: str = ""
    command: str = ""


# ---- galleries -----------------------------------------------------------------------------------


class Card(Struct, frozen=True):
    """What leads to a page. picture: the address of a picture that it shows, if it has one."""

    kind: str
    title: str
    text: str
    address: str
    picture: str = ""


class Gallery(Struct, frozen=True):
    """Cards that have something in common."""

    head: str
    cards: Sequence[Card]


# ---- the whole -----------------------------------------------------------------------------------


class Page(Struct, frozen=True):
    """All of it. warnings: what must not be missed. lines: what else is to be said at the top.

    links: words and addresses of other pages. results: the head above the matrices; empty where a
    page has none. left_out: of the findings, in words. notes: what it rests on, at the end.
    """

    command: str
    conclusion: str
    warnings: Sequence[str] = ()
    lines: Sequence[str] = ()
    links: Sequence[tuple[str, str]] = ()
    galleries: Sequence[Gallery] = ()
    totals: Sequence[Total] = ()
    tables: Sequence[Table] = ()
    results: str = "Results"
    matrices: Sequence[Matrix] = ()
    findings_head: str = "Findings"
    findings: Sequence[Article] = ()
    left_out: Sequence[str] = ()
    notes: Sequence[str] = ()
    counted: Sequence[Table] = ()
