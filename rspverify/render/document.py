"""An answer as a document: plain data that any form can write.

Texts may come from files: each writer escapes them. A `kind` is one or several classes, separated
by blanks: the word of a verdict, `head` (bold), `note` (less important), `code`, `ins` or `del`.
Writers know their colours.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple, TypeAlias, TypeVar

from msgspec import Struct

from rspverify.answers import CompiledThread, SuiteReport
from rspverify.picture import Picture
from rspverify.records import replace
from rspverify.render.trace import Trace

# ---- lines and tables ----------------------------------------------------------------------------


class Piece(NamedTuple):
    """A part of a line that is of one kind."""

    text: str
    kind: str = ""


class Line(Struct, frozen=True):
    """A paragraph, or what stands in a cell. kind: of all of it; of `prose` a text may have
    several lines. Blanks at its begin say how deep it stands."""

    pieces: tuple[Piece, ...]
    kind: str = ""

    @property
    def plain(self) -> str:
        """Its text."""
        return "".join(each.text for each in self.pieces)

    def __bool__(self) -> bool:
        return bool(self.plain.strip())


def line(*parts: str | tuple[str, str], kind: str = "") -> Line:
    """A line of texts, and of texts with their kinds."""
    return Line(tuple(Piece(it) if isinstance(it, str) else Piece(*it) for it in parts), kind)


class Table(Struct, frozen=True):
    """Rows of cells. right: columns with numbers. kinds: of rows, by their place. head: its title.

    gap: columns of text between cells; 0 for a rule below its head. otherwise: what is shown where
    there are fewer than `least` columns of text, or fewer than it needs if that is 0.
    """

    heads: Sequence[str]
    rows: Sequence[Sequence[Line | str]]
    right: Container[int] = ()
    kinds: Mapping[int, str] = {}
    notes: Sequence[str] = ()
    head: str = ""
    gap: int = 0
    otherwise: Block | None = None
    least: int = 0


class Listing(Struct, frozen=True):
    """Lines whose blanks count, below each other. head: what a page calls it."""

    lines: Sequence[Line]
    head: str = ""


class Total(Struct, frozen=True):
    """How many results have a word. kind: its class in the matrix."""

    word: str
    kind: str
    number: int


class Totals(Struct, frozen=True):
    """How many results there are of each word, where a page can choose by them."""

    each: Sequence[Total]


# ---- matrices ------------------------------------------------------------------------------------


class Cell(Struct, frozen=True):
    """A result. kind: of all its words, or one for each word. about: the name of the article
    that tells it, if one does; address: of the page that tells it, if another does. why: shown
    when it is pointed at."""

    words: str
    kind: str = ""
    why: str = ""
    expected: str = ""
    about: str = ""
    address: str = ""


class Row(Struct, frozen=True):
    """A test, or what else a matrix has a row for; None where it has no result.

    file: which one it is, shown when it is pointed at. below: what a text says in the next lines.
    again: a text leaves out its title and first cell, which are those of the row above. quiet: a
    text leaves it out. first: a page shows it before others where not all are shown.
    """

    title: str
    cells: Sequence[Cell | None]
    file: str = ""
    group: str = ""
    below: Sequence[Line] = ()
    again: bool = False
    quiet: bool = False
    first: bool = False


class Matrix(Struct, frozen=True):
    """Tests, and what they are put to. noun: what a row is for.

    widths: of the columns of a text; shortest, longest: of its titles; apart: of the first of two
    words of a cell. indent: of its rows. grouped: of what kind its lines for groups are; empty if
    it has none. headed: whether it has a line for the heads. order: of the groups on a page; those
    that are not named follow. cut: what is left out.
    """

    heads: Sequence[str]
    rows: Sequence[Row]
    widths: Sequence[int] = ()
    noun: str = "test"
    folder: str = ""
    about: str = ""
    head: str = "Results"
    shortest: int = 20
    longest: int = 56
    apart: int = 0
    indent: int = 0
    grouped: str = ""
    headed: bool = True
    order: Sequence[str] = ()
    cut: str = ""

    @property
    def by_group(self) -> Mapping[str, Sequence[Row]]:
        """The rows by their groups."""
        found: dict[str, list[Row]] = {each: [] for each in self.order}
        for row in self.rows:
            found.setdefault(row.group, []).append(row)
        return {name: rows for name, rows in found.items() if rows}


# ---- findings ------------------------------------------------------------------------------------


class ShownRow(Struct, frozen=True):
    """A row of a scheme: where it stands, and the lines there, numbered."""

    place: str
    words: str
    lines: Sequence[tuple[int, str]]


class Rows(Struct, frozen=True):
    """Rows of a scheme that are at fault."""

    each: Sequence[ShownRow]


class Definitions(Struct, frozen=True):
    """Names and what they stand for: the axioms that are broken."""

    head: str
    each: Sequence[tuple[str, str]]


class Compiled(Struct, frozen=True):
    """The threads of a test with the code that each operation becomes. source: the text of the
    test, if it is known."""

    threads: Sequence[CompiledThread]
    source: str = ""


class Drawing(Struct, frozen=True):
    """A picture of an execution, below a head."""

    picture: Picture
    head: str = "What the model forbids"


class Article(Struct, frozen=True):
    """A finding. name: by which cells know it. style: the class of its kind, if that is not the
    kind itself.

    lines: what is to be said of it. places: where it is, in files. broken: an execution shows it;
    detailed: it was asked for. evidence: what it rests on; open: a text has that, too. minor: it
    may stand among the results.
    """

    name: str
    kind: str
    subject: str
    lines: Sequence[Line]
    places: Sequence[str] = ()
    style: str = ""
    broken: bool = False
    detailed: bool = False
    evidence: Sequence[Block] = ()
    open: bool = False
    minor: bool = False


class Articles(Struct, frozen=True):
    """Findings. how: the command that shows any of them step by step."""

    each: Sequence[Article]
    head: str = "Findings"
    how: str = ""


class Card(Struct, frozen=True):
    """A link to a page. picture: the address of a picture that it shows, if it has one."""

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


class Section(Struct, frozen=True):
    """Blocks that belong together. A text has them where they stand, and so with the others."""

    blocks: Sequence[Block]
    head: str = ""


class Summary(Section, frozen=True):
    """What follows from the answer: a page begins with it."""


class Warnings(Struct, frozen=True):
    """What must not be missed."""

    lines: Sequence[Line]


class Basis(Section, frozen=True):
    """What the answer rests on: a page ends with it."""


class Aside(Section, frozen=True):
    """What is said in a text alone: how to ask for more, or what a page shows by a part of its
    own."""


class Fold(Section, frozen=True):
    """What is said where there is room, and folded away there."""


Block: TypeAlias = (
    Line
    | Table
    | Listing
    | Totals
    | Matrix
    | Rows
    | Definitions
    | Compiled
    | Drawing
    | Trace
    | Article
    | Articles
    | Gallery
    | Warnings
    | Section
)


B = TypeVar("B")


class Document(Struct, frozen=True):
    """All that is said of an answer, in the order of a text.

    title: what it is about. links: words and addresses of other pages. answer: what JSON has.
    reports: those of `check`, whose results forms for other tools read one by one.
    """

    command: str
    title: str
    blocks: Sequence[Block]
    links: Sequence[tuple[str, str]] = ()
    answer: object = None
    reports: Sequence[SuiteReport] = ()

    def parts(self, kind: type[B]) -> Iterator[B]:
        """The blocks of one kind, in their order."""
        return (each for each in self.blocks if isinstance(each, kind))


def _nothing(_: object) -> Iterable[Any]:
    return ()


class Told(Struct, frozen=True):
    """What is said of a question: its text as it goes, and its document, follow from this.

    head: before the first answer. each: of the next answer, or of so many `together`; rows among it
    are of the `matrix`. beside: meanwhile, where errors are said. last: of a report, once all
    answers are there. counted: what is counted, and how many there are.
    """

    each: Callable[[Any], Iterable[Block | Row]] = _nothing
    last: Callable[[Any], Iterable[Block]] = _nothing
    head: Sequence[Block] = ()
    beside: Callable[[Any], Iterable[str]] = _nothing
    together: int = 0
    matrix: Matrix | None = None
    counted: tuple[str, int] | None = None

    def whole(self, answers: Sequence[Any], report: object) -> list[Block]:
        """All of it."""
        size = self.together or 1
        parts = (answers[place : place + size] for place in range(0, len(answers), size))
        said = [it for part in parts for it in self.each(part if self.together else part[0])]
        blocks = [it for it in said if not isinstance(it, Row)]
        rows = [it for it in said if isinstance(it, Row)]
        matrix = [] if self.matrix is None or not rows else [replace(self.matrix, rows=rows)]
        return [*self.head, *blocks, *matrix, *self.last(report)]
