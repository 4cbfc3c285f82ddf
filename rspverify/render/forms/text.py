"""Documents as text: lines, tables that rich lays out, and matrices row by row as they come."""

from __future__ import annotations

import io
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import partial
from typing import assert_never

from rich.box import SIMPLE_HEAD
from rich.console import Console, OverflowMethod, RenderableType
from rich.measure import Measurement
from rich.table import Table as RichTable
from rich.text import Text

from rspverify.render import document as parts
from rspverify.render.console import printing_to
from rspverify.render.trace import Trace
from rspverify.verdict import CacheState, Execution, Snapshot, Step

STYLES: Mapping[str, str] = {
    "head": "bold",
    "note": "dim",
    **dict.fromkeys(("SOUND", "LIVE", "BETTER", "by-UNSOUND", "by-STUCK", "ins"), "green"),
    **dict.fromkeys(("UNSOUND", "STUCK", "ERROR", "WORSE", "SURVIVES"), "bold red"),
    **dict.fromkeys(("VACUOUS", "UNKNOWN", "progress-UNKNOWN"), "magenta"),
    **dict.fromkeys(("UNSUPPORTED", "by-EQUIVALENT"), "cyan"),
    **dict.fromkeys(("RACY", "racy"), "yellow"),
    "del": "red",
}
"""The colour of each class; of others none."""
_ENDLESS = 10_000
_SOURCE, _SHORT_SOURCE, _WIDE = 30, 18, 100
"""Columns of source text that are shown of an operation; fewer on a console that is less wide."""


def write(it: parts.Document) -> str:
    """What is printed where no terminal is."""
    stream = io.StringIO()
    show(it.blocks, printing_to(stream))
    return stream.getvalue()


def show(blocks: Iterable[parts.Block], console: Console) -> None:
    """Print blocks, each as soon as it is there."""
    for block in blocks:
        for each in rendered(block, console.width):
            console.print(each, soft_wrap=isinstance(each, Text))


def rendered(block: parts.Block, width: int) -> Iterator[RenderableType]:
    """What is printed of a block; nothing of what only a page has room for."""
    match block:
        case parts.Line():
            yield text(block)
        case parts.Table():
            yield from _fitting(block, width)
        case parts.Matrix():
            lines = MatrixLines(block, width)
            yield from (each for row in block.rows for each in lines.of(row))
        case parts.Definitions():
            yield Text(block.head)
            yield from (Text(f"  {name}: {words}") for name, words in block.each)
        case parts.Compiled():
            if block.threads:
                yield _compiled(block, width)
        case Trace():
            if block.head:
                yield Text(f"\n{block.head}", style="bold")
            yield trace_table(block.execution, width)
        case parts.Warnings() | parts.Aside() | parts.Listing():
            yield from map(text, block.lines)
        case parts.Article():
            shown = (*block.lines, *block.evidence) if block.open else ()
            yield from (each for it in shown for each in rendered(it, width))
        case parts.Articles():
            yield from (each for it in block.each for each in rendered(it, width))
        case parts.Summary() | parts.Basis():
            yield from (each for it in block.blocks for each in rendered(it, width))
        case parts.Totals() | parts.Rows() | parts.Drawing() | parts.Gallery() | parts.Fold():
            pass
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


def _fitting(it: parts.Table, width: int) -> Iterator[RenderableType]:
    """A table with its notes, or the other where there is too little room for it."""
    if it.otherwise is not None and width < (it.least or _width(_table(it))):
        it = it.otherwise
    yield _table(it)
    yield from (Text(each, style="dim") for each in it.notes)


def _width(it: RenderableType) -> int:
    """How many columns it wants."""
    endless = Console(width=_ENDLESS)
    return Measurement.get(endless, endless.options, it).maximum


def _table(it: parts.Table) -> RichTable:
    headed = any(it.heads)
    if it.gap:
        table = RichTable(box=None, pad_edge=False, show_header=headed, padding=(0, it.gap, 0, 0))
    else:
        table = RichTable(box=SIMPLE_HEAD, pad_edge=False, show_edge=False)
    for number, head in enumerate(it.heads):
        right = number in it.right
        overflow: OverflowMethod = "ellipsis" if right else "fold"
        table.add_column(
            head, justify="right" if right else "left", no_wrap=right, overflow=overflow
        )
    for number, row in enumerate(it.rows):
        table.add_row(*map(text, row), style=_style(it.kinds.get(number, "")))
    return table


def _compiled(it: parts.Compiled, width: int) -> RichTable:
    """The code of each thread, beside the source that fits the width."""
    shown = _SOURCE if width >= _WIDE else _SHORT_SOURCE
    table = RichTable(box=None, pad_edge=False, padding=(0, 3, 0, 0))
    for column in ("thread", "line", "source", "operation", "compiled to"):
        table.add_column(column, style="bold" if column == "thread" else None)
    for thread in it.threads:
        name = f"{thread.name} ({thread.place})"
        for number, source, operation, code in thread.operations:
            words = source if len(source) <= shown else f"{source[: shown - 1]}…"
            table.add_row(name, str(number), words, operation, "; ".join(code))
            name = ""
        if not thread.operations:
            table.add_row(name, "", "", "nothing", "")
    return table


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
        for number, (cell, width) in enumerate(zip(row.cells, it.widths, strict=True)):
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

_CellOf = Callable[[Step, Snapshot], Text]
"""What stands in a column at a step, given the state before it."""


def trace_table(execution: Execution, width: int) -> RichTable:
    """The steps as in Figs 4 and 5, time down; after a step each cache, memory and lock state that
    it changed.

    Entries are written value, C(lean) or D(irty), V(alid) or I(nvalid); fifos in brackets with the
    oldest element on the right. Where columns have too little room, what they have stands below
    each other.
    """
    table = _side_by_side(execution)
    return table if _width(table) <= width else _below_each_other(execution)


def _below_each_other(execution: Execution) -> RichTable:
    """A line for each step, and one for each state that it changed."""
    table = RichTable(box=SIMPLE_HEAD, pad_edge=False, show_edge=False)
    table.add_column("#", justify="right", style="dim")
    for title in ("where", "what happens, and what is there then"):
        table.add_column(title, overflow="fold")
    before = execution.initial
    for cache, contents in before.caches.items():
        if contents.entries:
            table.add_row("", cache, _cache(contents))
    if before.memory:
        table.add_row("", "memory", _memory(before))
    for number, step in enumerate(execution.steps, 1):
        own = step.thread is not None
        where = f"P{step.thread}" if own else step.cache or ""
        table.add_row(str(number), where, Text(step.label, style="bold" if own else "italic cyan"))
        for cache in execution.caches:
            if step.after.caches[cache] != before.caches[cache]:
                table.add_row("", cache, _cache(step.after.caches[cache]))
        for name, cell in (("memory", _of_memory), ("locks", _of_locks)):
            if state := cell(step, before):
                table.add_row("", name, state)
        before = step.after
    return table


def _side_by_side(execution: Execution) -> RichTable:
    initial, steps = execution.initial, execution.steps
    columns: list[tuple[str, Text, _CellOf]] = []
    for cache in execution.caches:
        threads = [i for i, own in enumerate(execution.threads) if own == cache]
        columns += [(f"P{i}", Text(""), partial(_of_thread, i)) for i in threads]
        columns.append((cache, _cache(initial.caches[cache]), partial(_of_cache, cache)))
    if initial.memory:
        columns.append(("memory", _memory(initial), _of_memory))
    if any(step.after.locks for step in steps):
        columns.append(("locks", Text(""), _of_locks))
    table = RichTable(box=SIMPLE_HEAD, pad_edge=False, show_edge=False)
    table.add_column("#", justify="right", style="dim")
    for title, _, _ in columns:
        table.add_column(title, overflow="fold")
    table.add_row("", *(first for _, first, _ in columns))
    states = [initial, *(step.after for step in steps)]
    for number, (step, before) in enumerate(zip(steps, states, strict=False), 1):
        table.add_row(str(number), *(cell(step, before) for _, _, cell in columns))
    return table


def _of_thread(thread: int, step: Step, before: Snapshot) -> Text:
    return Text(step.label, style="bold") if step.thread == thread else Text("")


def _of_cache(name: str, step: Step, before: Snapshot) -> Text:
    lines = [Text(step.label, style="italic cyan")] if step.cache == name else []
    after = step.after.caches[name]
    return Text("\n").join([*lines, *([_cache(after)] if after != before.caches[name] else [])])


def _of_memory(step: Step, before: Snapshot) -> Text:
    return _memory(step.after) if step.after.memory != before.memory else Text("")


def _of_locks(step: Step, before: Snapshot) -> Text:
    locks = step.after.locks
    held = "; ".join(f"{lock}: {holder}" for lock, holder in locks.items()) or "all free"
    return Text(held if locks != before.locks else "")


def _cache(cache: CacheState) -> Text:
    parts = list(cache.queues)
    if cache.entries is not None:
        entries = "; ".join(f"{x}={entry}" for x, entry in cache.entries.items())
        parts = ["{" + entries + "}", *parts]
    return Text(" ".join(parts) or "empty")


def _memory(state: Snapshot) -> Text:
    return Text(" ".join(f"{x}={value}" for x, value in state.memory.items()))
