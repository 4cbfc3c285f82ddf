"""A finding on a page of HTML: what it rests on, as its template takes it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from markupsafe import Markup

from rspverify.answers import Detail, Explanation, Result, RowAtFault, RowsAtFault, SuiteReport
from rspverify.records import replace
from rspverify.render.animation import Animation, animation_json, animations
from rspverify.render.draw_svg import page
from rspverify.render.expectations import progress_in_words
from rspverify.render.findings import Finding, visible
from rspverify.render.page import (
    Article,
    Part,
    ShownRow,
    ShownStep,
    SourceLine,
    StateCell,
    Timeline,
)
from rspverify.render.words import counted, row_in_words
from rspverify.verdict import CacheState, Entry, Execution, Snapshot

_MOST_LINES = 400
"""Lines of a source that are shown."""


def article(report: SuiteReport, it: Finding, place: str) -> Article:
    """A finding as it is shown, by this name."""
    places = [each.file if each.line is None else f"{each.file}:{each.line}" for each in it.spots]
    shown = Article(place, it.kind, it.subject, it.text, places)
    if not isinstance(it.result, Result):
        return shown
    key = it.result.file, it.result.scheme_file
    detail, fault = report.details.get(key), report.faults.get(key)
    if fault and fault.rows:
        lines = (it.expectation, it.result.reason, progress_in_words(it.result))
        shown = replace(shown, text="\n".join(filter(None, lines)))
    return explained(shown, it.result.scheme_file, fault, detail)


def explained(
    shown: Article, scheme: str, fault: RowsAtFault | None, detail: Detail | None
) -> Article:
    """A finding with the rows of a scheme's file that are at fault, and all that it rests on."""
    if fault and fault.rows:
        shown = replace(shown, rows=list(_rows(fault, scheme, detail)))
    return shown if detail is None else _detailed(shown, detail)


def _rows(fault: RowsAtFault, file: str, detail: Detail | None) -> Iterator[ShownRow]:
    text = detail.scheme.split("\n") if detail else []
    for row in fault.rows:
        words = row_in_words(row.number, row.operations, row.code)
        yield ShownRow(f"{file}:{row.line}", words, _lines(text, row))


def _lines(text: Sequence[str], row: RowAtFault) -> list[tuple[int, str]]:
    last = row.end_line if row.end_column > 1 else row.end_line - 1
    return list(enumerate(text[row.line - 1 : max(row.line, last)], row.line))


def _detailed(shown: Article, detail: Detail) -> Article:
    shown = replace(shown, notes=detail.reason, command=detail.command or shown.command)
    it = detail.explanation
    if it is None:
        return shown
    lines, cut = source_lines(detail.source, _compiled(it))
    return replace(
        shown,
        ending="\n".join(filter(None, (_ending(it), it.reach))),
        axioms_head=_axioms_head(it),
        axioms=[(name, text.removesuffix(f" as {name}")) for name, text in it.axioms],
        source=lines,
        source_cut=cut,
        timelines=list(map(timeline, animations(detail))),
        picture=_picture(detail, shown.place),
    )


def _ending(it: Explanation) -> str:
    execution, outcome = it.verdict.execution, it.result.outcome
    if execution is None or outcome is None:
        return ""
    reads = "; ".join(
        f"P{read.thread}, line {read.line}, read {read.value} from {read.location}"
        for read in outcome.reads
    )
    ends = f"It ends with {outcome}, after {counted(len(execution.steps), 'step')}"
    none = "" if it.axioms else " No candidate execution of the source has these values at all."
    return f"{ends}: {reads}.{none}" if reads else f"{ends}.{none}"


def _axioms_head(it: Explanation) -> str:
    which = "" if len(it.axioms) == 1 else " at least one of"
    return f"No execution of the source ends so: every candidate with these values breaks{which}"


def _compiled(it: Explanation) -> dict[int, dict[tuple[str, str, str], None]]:
    """Thread, operation and code of what stands in each line, each once."""
    compiled: dict[int, dict[tuple[str, str, str], None]] = {}
    for thread in it.threads:
        for line, _, operation, code in thread.operations:
            shown = thread.name, f"{operation} ({thread.place})", "; ".join(code) or "nothing"
            compiled.setdefault(line, {})[shown] = None
    return compiled


def source_lines(
    text: str, compiled: Mapping[int, Iterable[tuple[str, str, str]]]
) -> tuple[list[SourceLine], str]:
    """The lines of a test with what they became, and what must be said where there are too many."""
    lines = text.rstrip().split("\n")
    cut = f"{_MOST_LINES} of {len(lines):,} lines are shown." if len(lines) > _MOST_LINES else ""
    shown = enumerate(lines[:_MOST_LINES], 1)
    return [SourceLine(number, it, list(compiled.get(number, ()))) for number, it in shown], cut


def _picture(detail: Detail, mark: str) -> str:
    return Markup(visible(page([detail.picture], f"{mark}-"))) if detail.picture else ""


# ---- executions ----------------------------------------------------------------------------------


def timeline(it: Animation) -> Timeline:
    """The steps of an execution, and the states between them."""
    execution = it.execution
    before, steps = execution.initial, []
    locks = any(step.after.locks for step in execution.steps)
    steps.append(ShownStep(0, "", "", 0, list(_cells(execution, before, before, locks))))
    for number, step in enumerate(execution.steps, 1):
        by = step.cache or "" if step.thread is None else f"P{step.thread}"
        cells = list(_cells(execution, before, step.after, locks))
        steps.append(ShownStep(number, by, step.label, step.line or 0, cells))
        before = step.after
    end = ["Then:", *it.blocked] if it.blocked else []
    if it.left:
        total = len(execution.steps) + it.left
        end.insert(0, f"{len(execution.steps):,} of {total:,} steps are shown.")
    heads = [_cache_head(execution, name) for name in execution.caches]
    heads += ["memory"] * bool(before.memory) + ["locks"] * locks
    return Timeline(it.head, heads, steps, "\n".join(end), Markup(animation_json(it)))


def _cache_head(execution: Execution, cache: str) -> str:
    """The name of a cache, with the threads whose own it is where the name does not tell."""
    own = [f"P{number}" for number, it in enumerate(execution.threads) if it == cache]
    return f"{cache} ({', '.join(own)})" if own else cache


def _cells(
    execution: Execution, before: Snapshot, after: Snapshot, locks: bool
) -> Iterator[StateCell]:
    for name in execution.caches:
        parts = _cache_parts(before.caches[name], after.caches[name])
        yield StateCell(parts, before.caches[name] != after.caches[name])
    memory = [
        Part("entry", f"{x}={value}", before.memory.get(x) != value)
        for x, value in after.memory.items()
    ]
    if memory:
        yield StateCell(memory, before.memory != after.memory)
    if locks:
        held = [
            Part("lock", f"{lock}: {holder}", before.locks.get(lock) != holder)
            for lock, holder in after.locks.items()
        ]
        free = [Part("lock", "all free", bool(before.locks))]
        yield StateCell(held or free, before.locks != after.locks)


def _cache_parts(before: CacheState, after: CacheState) -> list[Part]:
    """Its entries, and its fifo with the oldest element on the right, as the paper draws them."""
    parts = [
        Part("entry", _entry(x, entry), (before.entries or {}).get(x) != entry)
        for x, entry in (after.entries or {}).items()
    ]
    if after.fifos or before.fifos:
        fifos = "; ".join(after.queues) or "[]"
        parts.append(Part("fifo", fifos, before.fifos != after.fifos))
    return parts or [Part("fifo", "empty", before != after)]


def _entry(location: str, it: Entry) -> str:
    return f"{location}={it}"
