"""Documents as pages of HTML, each one file that stands alone and contacts nothing.

Whatever comes from files is escaped by the templates, and what nobody sees in it is spelled.
"""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING

from markupsafe import Markup
from msgspec import Struct

from rspverify.records import replace
from rspverify.render import document as parts
from rspverify.render.draw_svg import page as svg
from rspverify.render.trace import Trace, trace_json
from rspverify.render.words import counted, visible
from rspverify.verdict import CacheState, Execution, Snapshot

if TYPE_CHECKING:
    from jinja2 import Environment

NEEDS = ("details",)
MOST_CELLS = 60_000
"""So many cells, names of tests included, are in the matrices of a page: a browser opens them
within seconds."""
MOST_FINDINGS = 1_000
"""So many findings are told one by one."""
_MOST_LINES = 400
"""Lines of a source that are shown."""


def write(it: parts.Document, root: str | None = None) -> str:
    """The text of the file. root: of a page of a site, the address of the folder of
    `site_files`; any other has all in itself."""
    style, script = site_files().values()
    policy = _OF_A_SITE if root is not None else _alone(style, script)
    given = {"policy": Markup(policy), "style": Markup(style), "script": Markup(script)}
    return _made("page.html", it, root=root, **given)


def write_part(it: parts.Document) -> str:
    """The same as a part of another page, which has a style and a script of its own."""
    return _made("parts.html", it)


def write_article(it: parts.Article, place: str) -> str:
    """One finding as a part of another page, by this name."""
    module = _environment().get_template("blocks.html").make_module({"places": {it.name: place}})
    return str(module.article(it))  # type: ignore[attr-defined]


def _made(template: str, it: parts.Document, **given: object) -> str:
    articles = [each for block in it.parts(parts.Articles) for each in block.each]
    places = {each.name: f"f{n}" for n, each in enumerate(articles[:MOST_FINDINGS], 1)}
    return (
        _environment().get_template(template).render(it=it, places=places, **_in_order(it), **given)
    )


def _in_order(it: parts.Document) -> dict[str, object]:
    """A document in the order of a page: what must not be missed, what follows, then all of it, and
    what it rests on."""
    return {
        "warnings": [each.plain for those in it.parts(parts.Warnings) for each in those.lines],
        "summary": [each for those in it.parts(parts.Summary) for each in those.blocks if each],
        "totals": [each for those in it.parts(parts.Totals) for each in those.each],
        "body": [each for each in it.blocks if not isinstance(each, _PLACED) and each],
        "matrices": list(_within_reach(it.parts(parts.Matrix))),
        "articles": list(it.parts(parts.Articles)),
        "basis": [each for those in it.parts(parts.Basis) for each in those.blocks if each],
    }


_PLACED = (
    *(parts.Warnings, parts.Summary, parts.Totals, parts.Matrix, parts.Articles, parts.Basis),
    parts.Aside,
)
"""What stands at a place of its own, or nowhere."""


def _left_out(it: parts.Articles) -> Iterator[str]:
    """What of the findings a page does not have, in words."""
    found, told = len(it.each), min(len(it.each), MOST_FINDINGS)
    if told < found:
        yield (
            f"{told:,} of {counted(found, 'finding')} are told here; the matrix above and the other"
            " forms have the rest."
        )
    broken = sum(each.broken for each in it.each)
    shown = sum(each.broken and each.detailed for each in it.each)
    if shown < broken and it.how:
        yield (
            f"{shown:,} of {broken:,} findings that are UNSOUND or STUCK are shown step by step; "
            f"{it.how} shows any of them."
        )


def _within_reach(matrices: Iterable[parts.Matrix]) -> Iterator[parts.Matrix]:
    """Matrices of no more cells than a browser opens within seconds; what is cut is said."""
    left = MOST_CELLS
    for it in matrices:
        width, rows = 1 + len(it.heads), it.rows
        if len(rows) * width > left:
            kept = sorted(rows, key=lambda row: not row.first)[: left // width]
            names = {id(row) for row in kept}
            cut = (
                f"{len(kept):,} of {counted(len(rows), it.noun)} are shown, those with a finding "
                "first; the form json has all of them."
            )
            it = replace(it, rows=[row for row in rows if id(row) in names], cut=cut)
        left -= len(it.rows) * width
        yield it


# ---- files ---------------------------------------------------------------------------------------


_FOLDER = Path(__file__).parents[1] / "html"


def site_files() -> dict[str, str]:
    """The style and the script that all pages of a site share, by the names of their files."""
    return {
        f"site.{kind}": "".join(
            (_FOLDER / f"{name}.{kind}").read_text(encoding="utf-8") for name in names
        )
        for kind, names in {"css": ("page", "animation"), "js": ("animation", "page")}.items()
    }


_NOTHING_ELSE = "base-uri 'none'; form-action 'none'"
_OF_A_SITE = (
    "default-src 'none'; script-src 'self' file:; style-src 'self' file:; img-src 'self' file:; "
    f"{_NOTHING_ELSE}"
)
"""What a page of a site may load: files beside it, also where it is opened out of a folder."""


def _alone(style: str, script: str) -> str:
    """What a page that stands alone may run: what is in it, and nothing else."""
    return (
        f"default-src 'none'; script-src '{_digest(script)}'; style-src '{_digest(style)}'; "
        f"{_NOTHING_ELSE}"
    )


def _digest(text: str) -> str:
    """As a Content-Security-Policy names what may run."""
    return f"sha256-{b64encode(sha256(text.encode()).digest()).decode()}"


@cache
def _environment() -> Environment:
    from jinja2 import Environment, FileSystemLoader, StrictUndefined

    made = Environment(
        loader=FileSystemLoader(_FOLDER),
        autoescape=True,
        undefined=StrictUndefined,
        finalize=_spelled,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    made.filters |= {
        "type": lambda it: type(it).__name__,
        "of": lambda those, *types: [it for it in those if type(it).__name__ in types],
        "pieces": lambda it: it.pieces if isinstance(it, parts.Line) else [parts.Piece(it)],
        "left_out": _left_out,
        "timeline": _timeline,
        "source": _source,
        "data": lambda it: Markup(trace_json(it)),
        "drawn": lambda it, mark: Markup(visible(svg([it.picture], mark))),
    }
    return made


def _spelled(value: object) -> object:
    """What is put into the page: a text of ours as it is, any other with nothing hidden in it."""
    return visible(value) if isinstance(value, str) and not isinstance(value, Markup) else value


# ---- tests and executions ------------------------------------------------------------------------


class _SourceLine(Struct, frozen=True):
    """A line of a test. compiled: thread, operation and code of what stands there, each once."""

    number: int
    text: str
    compiled: Sequence[tuple[str, str, str]]


def _source(it: parts.Compiled) -> tuple[list[_SourceLine], str]:
    """The lines of a test with what they became, and what must be said where there are too many."""
    compiled: dict[int, dict[tuple[str, str, str], None]] = {}
    for thread in it.threads:
        for line, _, operation, code in thread.operations:
            shown = thread.name, f"{operation} ({thread.place})", "; ".join(code) or "nothing"
            compiled.setdefault(line, {})[shown] = None
    lines = it.source.rstrip().split("\n")
    cut = f"{_MOST_LINES} of {len(lines):,} lines are shown." if len(lines) > _MOST_LINES else ""
    numbered = enumerate(lines[:_MOST_LINES], 1)
    return [_SourceLine(n, text, list(compiled.get(n, ()))) for n, text in numbered], cut


class _Part(Struct, frozen=True):
    """An entry, a fifo, or a lock of a state. changed: by the step before it."""

    kind: str
    text: str
    changed: bool = False


class _Step(Struct, frozen=True):
    """A step, and the parts of the state after it, cell by cell, with whether it changed; the
    first is before any."""

    number: int
    by: str
    label: str
    line: int
    cells: Sequence[tuple[Sequence[_Part], bool]]


class _Timeline(Struct, frozen=True):
    """An execution as a table, for where no script runs. heads: of the cells. end: what is to be
    said after it."""

    heads: Sequence[str]
    steps: Sequence[_Step]
    end: str


def _timeline(it: Trace) -> _Timeline:
    """The steps of an execution, and the states between them."""
    execution = it.execution
    before, locks = execution.initial, any(step.after.locks for step in execution.steps)
    steps = [_Step(0, "", "", 0, list(_cells(execution, before, before, locks)))]
    for number, step in enumerate(execution.steps, 1):
        by = step.cache or "" if step.thread is None else f"P{step.thread}"
        cells = list(_cells(execution, before, step.after, locks))
        steps.append(_Step(number, by, step.label, step.line or 0, cells))
        before = step.after
    end = ["Then:", *it.blocked] if it.blocked else []
    if it.left:
        total = len(execution.steps) + it.left
        end.insert(0, f"{len(execution.steps):,} of {total:,} steps are shown.")
    heads = [_cache_head(execution, name) for name in execution.caches]
    heads += ["memory"] * bool(before.memory) + ["locks"] * locks
    return _Timeline(heads, steps, "\n".join(end))


def _cache_head(execution: Execution, cache: str) -> str:
    """The name of a cache, with the threads whose own it is where the name does not tell."""
    own = [f"P{number}" for number, it in enumerate(execution.threads) if it == cache]
    return f"{cache} ({', '.join(own)})" if own else cache


def _cells(
    execution: Execution, before: Snapshot, after: Snapshot, locks: bool
) -> Iterator[tuple[Sequence[_Part], bool]]:
    for name in execution.caches:
        parts = _cache_parts(before.caches[name], after.caches[name])
        yield parts, before.caches[name] != after.caches[name]
    if after.memory:
        was = before.memory
        stored = after.memory.items()
        yield [_Part("entry", f"{x}={v}", was.get(x) != v) for x, v in stored], was != after.memory
    if locks:
        held = [
            _Part("lock", f"{lock}: {holder}", before.locks.get(lock) != holder)
            for lock, holder in after.locks.items()
        ]
        free = [_Part("lock", "all free", bool(before.locks))]
        yield held or free, before.locks != after.locks


def _cache_parts(before: CacheState, after: CacheState) -> list[_Part]:
    """Its entries, and its fifo with the oldest element on the right, as the paper draws them."""
    parts = [
        _Part("entry", f"{x}={entry}", (before.entries or {}).get(x) != entry)
        for x, entry in (after.entries or {}).items()
    ]
    if after.fifos or before.fifos:
        fifos = "; ".join(after.queues) or "[]"
        parts.append(_Part("fifo", fifos, before.fifos != after.fifos))
    return parts or [_Part("fifo", "empty", before != after)]
