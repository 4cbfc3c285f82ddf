"""A machine execution as in Figs 4 and 5: a column per thread, cache and memory, time down."""

from __future__ import annotations

from rich.box import SIMPLE_HEAD
from rich.table import Table
from rich.text import Text

from rspverify.verdict import CacheState, Execution, Snapshot, Step


def trace(execution: Execution) -> Table:
    """The steps, numbered; after a step, each cache, memory and lock state that it changed.

    Entries are written value, C(lean) or D(irty), V(alid) or I(nvalid); fifos in brackets with the
    oldest element on the right, as the paper draws them.
    """
    locks = any(step.after.locks for step in execution.steps)
    table = Table(box=SIMPLE_HEAD, pad_edge=False, show_edge=False)
    table.add_column("#", justify="right", style="dim")
    columns: list[tuple[str, object]] = []
    for cache in execution.caches:
        threads = [i for i, own in enumerate(execution.threads) if own == cache]
        columns += [("thread", i) for i in threads] + [("cache", cache)]
    columns.append(("memory", None))
    if locks:
        columns.append(("locks", None))
    for kind, which in columns:
        table.add_column(_title(kind, which), overflow="fold")
    table.add_row("", *(_initially(kind, which, execution.initial) for kind, which in columns))
    before = execution.initial
    for number, step in enumerate(execution.steps, 1):
        cells = [_cell(kind, which, step, before) for kind, which in columns]
        table.add_row(str(number), *cells)
        before = step.after
    return table


def _title(kind: str, which: object) -> str:
    return f"P{which}" if kind == "thread" else str(which) if kind == "cache" else kind


def _initially(kind: str, which: object, state: Snapshot) -> Text:
    if kind == "cache":
        return _cache(state.caches[str(which)])
    return _memory(state) if kind == "memory" else Text("")


def _cell(kind: str, which: object, step: Step, before: Snapshot) -> Text:
    after = step.after
    if kind == "thread":
        return Text(step.label, style="bold") if step.thread == which else Text("")
    if kind == "memory":
        return _memory(after) if after.memory != before.memory else Text("")
    if kind == "locks":
        return _locks(after) if after.locks != before.locks else Text("")
    name = str(which)
    lines = []
    if step.cache == name:
        lines.append(Text(step.label, style="italic cyan"))
    if after.caches[name] != before.caches[name]:
        lines.append(_cache(after.caches[name]))
    return Text("\n").join(lines)


def _cache(cache: CacheState) -> Text:
    entries = [
        f"{x}={entry.value} {'D' if entry.dirty else 'C'},{'V' if entry.valid else 'I'}"
        for x, entry in cache.entries.items()
    ]
    fifo = f" [{' '.join(reversed(cache.fifo))}]" if cache.fifo else ""
    return Text("{" + "; ".join(entries) + "}" + fifo)


def _memory(state: Snapshot) -> Text:
    return Text(" ".join(f"{x}={value}" for x, value in state.memory.items()))


def _locks(state: Snapshot) -> Text:
    return Text(
        "; ".join(f"{lock}: {holder}" for lock, holder in state.locks.items()) or "all free"
    )
