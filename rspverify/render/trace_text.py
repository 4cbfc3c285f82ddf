"""A machine execution as in Figs 4 and 5: a column per thread, cache and memory, time down."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from msgspec import Struct
from rich.box import SIMPLE_HEAD
from rich.console import Console, ConsoleOptions, RenderResult
from rich.table import Table
from rich.text import Text

from rspverify.verdict import CacheState, Execution, Snapshot, Step

Cell = Callable[[Step, Snapshot], Text]
"""What stands in a column at a step, given the state before it."""


_ENDLESS = 10_000


class Trace(Struct, frozen=True):
    """The steps, numbered; after a step, each cache, memory and lock state that it changed.

    Entries are written value, C(lean) or D(irty), V(alid) or I(nvalid); fifos in brackets with the
    oldest element on the right, as the paper draws them. Where columns have too little room, what
    they have stands below each other.
    """

    execution: Execution

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        table = _side_by_side(self.execution)
        needed = console.measure(table, options=options.update(max_width=_ENDLESS)).maximum
        room = options.max_width
        yield table if needed <= room else _below_each_other(self.execution)


def _below_each_other(execution: Execution) -> Table:
    """A line for each step, and one for each state that it changed."""
    table = Table(box=SIMPLE_HEAD, pad_edge=False, show_edge=False)
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


def _side_by_side(execution: Execution) -> Table:
    initial, steps = execution.initial, execution.steps
    columns: list[tuple[str, Text, Cell]] = []
    for cache in execution.caches:
        threads = [i for i, own in enumerate(execution.threads) if own == cache]
        columns += [(f"P{i}", Text(""), partial(_of_thread, i)) for i in threads]
        columns.append((cache, _cache(initial.caches[cache]), partial(_of_cache, cache)))
    if initial.memory:
        columns.append(("memory", _memory(initial), _of_memory))
    if any(step.after.locks for step in steps):
        columns.append(("locks", Text(""), _of_locks))
    table = Table(box=SIMPLE_HEAD, pad_edge=False, show_edge=False)
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
