"""Documents as text: lines, tables as wide as there is room, and matrices row by row."""

from __future__ import annotations

import io
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from itertools import zip_longest
from textwrap import fill
from typing import assert_never

from rich.console import Console
from rich.text import Text

from rspverify.records import replace
from rspverify.render import document as parts
from rspverify.render.console import printing_to
from rspverify.render.trace import Shown, Trace, legend, timeline
from rspverify.verdict import Execution

STYLES: Mapping[str, str] = {
    "head": "bold",
    "note": "dim",
    **dict.fromkeys(("SOUND", "LIVE", "BETTER", "by-UNSOUND", "by-STUCK", "ins"), "green"),
    **dict.fromkeys(("UNSOUND", "STUCK", "ERROR", "WORSE", "SURVIVES"), "bold red"),
    **dict.fromkeys(("OPEN", "VACUOUS", "UNKNOWN", "progress-UNKNOWN"), "magenta"),
    **dict.fromkeys(("UNSUPPORTED", "by-EQUIVALENT"), "cyan"),
    **dict.fromkeys(("RACY", "racy"), "yellow"),
    "del": "red",
    "step": "italic cyan",
}
"""The colour of each class; of others none."""
_SOURCE = 30
"""Columns of source text that are shown of an operation."""


def write(it: parts.Document) -> str:
    """What is printed where no terminal is."""
    stream = io.StringIO()
    show(it.blocks, printing_to(stream, page=True))
    return stream.getvalue()


def show(blocks: Iterable[parts.Block], console: Console) -> None:
    """Print blocks, each as soon as it is there."""
    for block in blocks:
        for each in rendered(block, console):
            console.print(each, soft_wrap=True)


def rendered(block: parts.Block, console: Console) -> Iterator[Text]:
    """What is printed of a block; nothing of what only a page has room for."""
    match block:
        case parts.Line() if "prose" in block.kind.split():
            for each in block.plain.split("\n"):
                folded = fill(each, console.width, break_long_words=False, break_on_hyphens=False)
                yield Text(folded, style=_style(block.kind))
        case parts.Line():
            yield text(block)
        case parts.Table():
            yield from _table(block, console)
        case parts.Matrix():
            lines = MatrixLines(block, console.width)
            yield from (each for row in block.rows for each in lines.of(row))
        case parts.Definitions():
            yield Text(block.head)
            yield from (Text(f"  {name}: {words}") for name, words in block.each)
        case parts.Compiled():
            if block.threads:
                yield from _table(_compiled(block), console)
        case Trace():
            if block.head:
                yield Text(f"\n{block.head}", style="bold")
            yield from _table(trace_table(block), console)
            yield from _table(_legend(block), console)
        case parts.Warnings() | parts.Listing():
            yield from map(text, block.lines)
        case parts.Article():
            shown = (*block.lines, *block.evidence) if block.open else ()
            yield from (each for it in shown for each in rendered(it, console))
        case parts.Articles():
            yield from (each for it in block.each for each in rendered(it, console))
        case parts.Totals() | parts.Rows() | parts.Drawing() | parts.Gallery() | parts.Fold():
            pass
        case parts.Section():
            yield from (each for it in block.blocks for each in rendered(it, console))
        case _:
            assert_never(block)


def text(it: parts.Line | str) -> Text:
    """A line with its colours."""
    if isinstance(it, str):
        return Text(it)
    return Text.assemble(
        *((each.text, _style(each.kind)) for each in it.pieces), style=_style(it.kind)
    )


def _style(kind: str) -> str:
    return " ".join(filter(None, (STYLES.get(each, "") for each in kind.split())))


# ---- tables --------------------------------------------------------------------------------------


def _table(it: parts.Table, console: Console) -> Iterator[Text]:
    """A table with its notes, or what is shown instead where there is too little room for it.

    Where nothing is, the widest columns are folded, but for those with numbers.
    """
    rows = [[Text(each, style="bold") for each in it.heads]]
    rows += ([text(each) for each in row] for row in it.rows)
    gap, places = " " * (it.gap or 3), range(len(it.heads))
    widths = [max(_width(row[place]) for row in rows) for place in places]
    beyond = sum(widths) + len(gap) * (len(widths) - 1) - console.width
    if it.otherwise is not None and (console.width < it.least if it.least else beyond > 0):
        yield from rendered(it.otherwise, console)
        return
    folded = [place for place in places if place not in it.right]
    for _ in range(beyond if folded else 0):
        widest = max(folded, key=widths.__getitem__)
        widths[widest] = max(1, widths[widest] - 1)
    lines = []
    for number, row in enumerate(rows, -1):
        if number >= 0 or any(it.heads) or not it.gap:
            style = _style(it.kinds.get(number, ""))
            cells = [_folded(each, wide, console) for each, wide in zip(row, widths, strict=True)]
            for those in zip_longest(*cells, fillvalue=Text()):
                lines.append(_line(those, widths, it.right, Text(gap, style=style)))
        if number < 0 and not it.gap:
            lines.append(Text("─" * (sum(widths) + 3 * (len(widths) - 1))))
    yield Text("\n").join(lines)
    yield from (Text(each, style="dim") for each in it.notes)


def _width(it: Text) -> int:
    return max(each.cell_len for each in it.split("\n", allow_blank=True))


def _folded(it: Text, width: int, console: Console) -> Iterable[Text]:
    whole = "\n" not in it.plain and it.cell_len <= width
    return [it] if whole else it.wrap(console, width)


def _line(cells: Sequence[Text], widths: Sequence[int], right: Container[int], gap: Text) -> Text:
    shown = []
    for place, (each, width) in enumerate(zip(cells, widths, strict=True)):
        each.rstrip()
        room = Text(" " * (width - each.cell_len))
        shown.append(room + each if place in right else each + room)
    line = gap.join(shown)
    line.rstrip()
    return line


def _compiled(it: parts.Compiled) -> parts.Table:
    """The code of each thread beside its source; where there is too little room each below its
    name, and without the source."""
    rows: list[list[parts.Line | str]] = []
    narrow: list[parts.Block] = []
    for thread in it.threads:
        name = f"{thread.name} ({thread.place})"
        below: list[list[parts.Line | str]] = []
        for number, source, operation, code in thread.operations or ((None, "", "nothing", ()),):
            words = source if len(source) <= _SOURCE else f"{source[: _SOURCE - 1]}…"
            line = "" if number is None else str(number)
            shown: list[parts.Line | str] = [line, operation, "; ".join(code)]
            below.append(shown)
            head = parts.line("" if len(below) > 1 else name, kind="head")
            rows.append([head, line, words, *shown[1:]])
        table = parts.Table(("", "", ""), below, [0], gap=2)
        narrow += [parts.line(name, kind="head"), table]
    heads = ("thread", "line", "source", "operation", "compiled to")
    return parts.Table(heads, rows, gap=3, otherwise=parts.Section(narrow))


# ---- matrices ------------------------------------------------------------------------------------


class MatrixLines:
    """The rows of a matrix as lines; heads and groups come with the first row that needs them."""

    def __init__(self, it: parts.Matrix, width: int) -> None:
        self._it = it
        self._headed, self._group = not it.headed, ""
        room = width - it.indent - sum(2 + each for each in it.widths)
        self._width = max(it.shortest, min(it.longest, room))

    def of(self, row: parts.Row) -> Iterator[Text]:
        """A row, with what stands before and below it."""
        if row.quiet:
            return
        it, begin = self._it, " " * self._it.indent
        if not self._headed:
            self._headed = True
            heads = zip(it.heads, it.widths, strict=True)
            cells = "  ".join(middle_cut(head, width).ljust(width) for head, width in heads)
            title = it.noun.ljust(self._width + it.indent)
            yield Text(f"{title}  {cells}".rstrip(), style="bold")
        if it.grouped and row.group != self._group:
            self._group = row.group
            if it.grouped == "head":
                yield Text("")
            if row.group != ".":
                yield Text(row.group, style=_style(it.grouped))
        title = "" if row.again else middle_cut(row.title, self._width)
        shown = Text(f"{begin}{title:{self._width}}")
        for number, (cell, width) in enumerate(zip(row.cells, it.widths, strict=False)):
            shown.append("  ")
            start = len(shown)
            if cell is not None and not (row.again and not number):
                shown.append_text(_cell(cell, it.apart))
            shown.append(" " * (width - (len(shown) - start)))
        shown.rstrip()
        yield shown
        yield from map(text, row.below)


def _cell(it: parts.Cell, apart: int) -> Text:
    """The words of a cell, each in its colour; the first as wide as is said."""
    words, kinds = it.words.split(" "), it.kind.split()
    if len(words) != len(kinds) or len(words) < 2:
        return Text(it.words, style=_style(it.kind))
    first, *others = zip(words, kinds, strict=True)
    shown = Text().append(first[0].ljust(apart), style=_style(first[1]))
    for word, kind in others:
        shown.append(" ").append(word, style=_style(kind))
    return shown


def middle_cut(name: str, width: int) -> str:
    """A name as it is, or with something left out in its middle."""
    if len(name) <= width:
        return name
    first = (width - 1) // 2
    return f"{name[:first]}…{name[len(name) - (width - 1 - first) :]}"


# ---- executions ----------------------------------------------------------------------------------


def trace_table(it: Trace) -> parts.Table:
    """The steps as in Figs 4 and 5, time down; after a step each cache, memory and lock state that
    it changed.

    Entries are written value, C(lean) or D(irty), V(alid) or I(nvalid); fifos in brackets with the
    oldest element on the right. Where columns have too little room, what they have stands below
    each other, and so where the story is one of instructions that are on their way.
    """
    below = _below_each_other(it)
    if it.execution.queues:
        return below
    return replace(_side_by_side(it.execution), otherwise=below)


def _legend(it: Trace) -> parts.Table:
    signs = legend(it.execution, queues=it.queues)
    short = "; ".join(f"{sign} {words}" for sign, words in signs if not sign.endswith(":"))
    long = [f"{name} {words}" for name, words in signs if name.endswith(":")]
    return parts.Table(("",), [[parts.line((it, "note"))] for it in (short, *long) if it], gap=1)


def _row(number: int, *cells: Sequence[tuple[str, str]]) -> list[parts.Line]:
    return [parts.line((str(number or ""), "note")), *(parts.line(*each) for each in cells)]


def _label(it: Shown) -> tuple[str, str]:
    return it.what, "step" if it.step is None or it.step.thread is None else "head"


def _below_each_other(it: Trace) -> parts.Table:
    """A line for each step, one for what is still on its way, and one for each state that it
    changed."""
    rows = []
    for each in timeline(it.execution):
        if each.step is not None:
            rows.append(_row(each.number, [(each.by, "")], [_label(each)]))
        if each.beside:
            rows.append(_row(0, [], [(each.beside, "note")]))
        for state in each.states:
            first = each.step is None and state.text not in ("{}", "empty", "all free")
            if (state.changed or first) and (it.queues or not state.queue):
                rows.append(_row(0, [(state.head, "")], [(state.text, "")]))
    return parts.Table(("#", "where", "what happens, and what is there then"), rows, [0])


def _side_by_side(execution: Execution) -> parts.Table:
    first, *steps = timeline(execution)
    heads = []
    for state in first.states:
        own = (n for n, cache in enumerate(execution.threads) if cache == state.head)
        heads += [*(f"P{n}" for n in own), state.head]
    cells = {it.head: [(it.text, "")] for it in first.states if it.head != "locks"}
    rows = [_row(0, *(cells.get(head, []) for head in heads))]
    for it in steps:
        cells = {state.head: [(state.text, "")] for state in it.states if state.changed}
        changed = [("\n", ""), *cells[it.by]] if it.by in cells else []
        cells[it.by] = [_label(it), *changed]
        rows.append(_row(it.number, *(cells.get(head, []) for head in heads)))
    return parts.Table(("#", *heads), rows, [0])
