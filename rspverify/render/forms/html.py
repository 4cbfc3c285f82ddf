"""Documents as pages of HTML, each one file that stands alone and contacts nothing.

Whatever comes from files is escaped by the templates, and what nobody sees in it is spelled.
"""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from hashlib import sha256
from typing import TYPE_CHECKING

from markupsafe import Markup
from msgspec import Struct

from rspverify.records import replace
from rspverify.render import document as parts
from rspverify.render.drawn import svg
from rspverify.render.templates import FOLDER, environment
from rspverify.render.trace import Trace, legend, timeline, trace_json
from rspverify.render.words import counted

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
    what it rests on. Findings stand before matrices where they do in the document."""
    kinds = [type(each) for each in it.blocks]
    first = (
        parts.Matrix in kinds[kinds.index(parts.Articles) :] if parts.Articles in kinds else False
    )
    articles = list(it.parts(parts.Articles))
    return {
        "warnings": [each.plain for those in it.parts(parts.Warnings) for each in those.lines],
        "summary": [each for those in it.parts(parts.Summary) for each in those.blocks if each],
        "totals": [each for those in it.parts(parts.Totals) for each in those.each],
        "body": [each for each in it.blocks if not isinstance(each, _PLACED) and each],
        "matrices": list(_within_reach(it.parts(parts.Matrix))),
        "first": articles if first else [],
        "articles": [] if first else articles,
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
            f"{told:,} of {counted(found, 'finding')} are told here; the matrix and the other"
            " forms have the rest."
        )
    broken = sum(each.broken for each in it.each)
    shown = sum(each.broken and each.detailed for each in it.each)
    if shown < broken and it.how:
        yield (
            f"{shown:,} of {broken:,} findings with an execution are shown step by step; "
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


def site_files() -> dict[str, str]:
    """The style and the script that all pages of a site share, by the names of their files."""
    return {
        f"site.{kind}": "".join(
            (FOLDER / f"{name}.{kind}").read_text(encoding="utf-8") for name in names
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
    return environment(
        {
            "type": lambda it: type(it).__name__,
            "of": lambda those, *types: [it for it in those if type(it).__name__ in types],
            "pieces": lambda it: it.pieces if isinstance(it, parts.Line) else [parts.Piece(it)],
            "left_out": _left_out,
            "timeline": lambda it: timeline(it.execution),
            "heads": _heads,
            "end": _end,
            "legend": lambda it: legend(it.execution, queues=True),
            "source": _source,
            "data": lambda it: Markup(trace_json(it)),
            "drawn": lambda it, mark: Markup(svg([it.picture], mark)),
        }
    )


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


def _heads(it: Trace) -> Iterator[tuple[str, bool]]:
    """The heads of the states, and whether they are queues; of a cache with the threads whose own
    it is where it needs that."""
    for state in timeline(it.execution)[0].states:
        own = [f"P{n}" for n, cache in enumerate(it.execution.threads) if cache == state.head]
        yield f"{state.head} ({', '.join(own)})" if own else state.head, state.queue


def _end(it: Trace) -> str:
    """What is to be said after the steps that are shown."""
    shown = f"{it.steps - it.left:,} of {it.steps:,} steps are shown."
    cut = [shown] if it.left else []
    return "\n".join([*cut, *(["Then:", *it.blocked] if it.blocked else [])])
