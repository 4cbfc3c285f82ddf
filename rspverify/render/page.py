"""What a page of HTML shows, part by part, as its templates take it: plain data.

Texts may come from files: the templates escape them, and spell what nobody sees.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

# ---- tables --------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Piece:
    """A part of a cell. kind: `ins` or `del` of what an edit adds or takes, `code`, or a class."""

    text: str
    kind: str = ""


@dataclass(frozen=True)
class Table:
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


@dataclass(frozen=True)
class Cell:
    """A result in a matrix. kind: its words as classes, if it has some. place: of its finding, if
    that is told; address: of the page that tells it, if it is another. why: shown when it is
    pointed at."""

    kind: str
    words: str
    why: str = ""
    expected: str = ""
    place: str = ""
    address: str = ""


@dataclass(frozen=True)
class Row:
    """A test, or what else a matrix has a row for; None where it has no result. file: which one it
    is, shown when it is pointed at. first: whether it is shown before others, where not all are."""

    title: str
    file: str
    cells: Sequence[Cell | None]
    first: bool = False


@dataclass(frozen=True)
class Matrix:
    """Tests by folder, and what they are put to. cut: what is left out, in words. noun: what a row
    is for."""

    folder: str
    about: str
    heads: Sequence[str]
    folders: Sequence[tuple[str, Sequence[Row]]]
    cut: str = ""
    noun: str = "test"


@dataclass(frozen=True)
class Total:
    """How many results have a word. kind: its class in the matrix."""

    word: str
    kind: str
    number: int


# ---- findings ------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Part:
    """An entry, a fifo, or a lock of a state. changed: by the step before it."""

    kind: str
    text: str
    changed: bool = False


@dataclass(frozen=True)
class StateCell:
    """One cache, memory, or the locks after a step."""

    parts: Sequence[Part]
    changed: bool


@dataclass(frozen=True)
class ShownStep:
    """A step, and the state after it; the first of an execution is before any. line: 0 for none."""

    number: int
    by: str
    label: str
    line: int
    cells: Sequence[StateCell]


@dataclass(frozen=True)
class Timeline:
    """An execution. heads: of the cells of its steps. end: what is to be said after it.

    data: the same as `<rsp-execution>` takes it; what else stands here is for where it cannot run.
    """

    head: str
    heads: Sequence[str]
    steps: Sequence[ShownStep]
    end: str
    data: str


@dataclass(frozen=True)
class ShownRow:
    """A row at fault: where it stands, and the lines there."""

    place: str
    words: str
    lines: Sequence[tuple[int, str]]


@dataclass(frozen=True)
class SourceLine:
    """A line of a test. compiled: thread, operation and code of what stands there."""

    number: int
    text: str
    compiled: Sequence[tuple[str, str, str]]


@dataclass(frozen=True)
class Article:
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


@dataclass(frozen=True)
class Card:
    """What leads to a page. picture: the address of a picture that it shows, if it has one."""

    kind: str
    title: str
    text: str
    address: str
    picture: str = ""


@dataclass(frozen=True)
class Gallery:
    """Cards that have something in common."""

    head: str
    cards: Sequence[Card]


# ---- the whole -----------------------------------------------------------------------------------


@dataclass(frozen=True)
class Page:
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
