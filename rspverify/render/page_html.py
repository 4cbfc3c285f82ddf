"""A page of HTML that stands alone, from what it shows: one file that contacts nothing.

Whatever comes from files is escaped by the templates, and what nobody sees in it is spelled.
"""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from markupsafe import Markup

from rspverify.records import replace
from rspverify.render.animation import SCRIPT, STYLE
from rspverify.render.findings import visible
from rspverify.render.page import Article, Matrix, Page
from rspverify.render.words import counted

if TYPE_CHECKING:
    from jinja2 import Environment

T = TypeVar("T")

MOST_CELLS = 60_000
"""So many cells, names of tests included, are in the matrices of a page: a browser opens them
within seconds."""
MOST_FINDINGS = 1_000
"""So many findings are told one by one."""


def told(found: Sequence[T]) -> Sequence[T]:
    """Those findings that are told."""
    return found[:MOST_FINDINGS]


def left_out(found: int, told: int, broken: int, shown: int, how: str) -> Iterator[str]:
    """What of the findings a page does not have, in words.

    broken: how many have an execution; shown: of how many it is shown. how: what shows others.
    """
    if told < found:
        yield (
            f"{told:,} of {counted(found, 'finding')} are told here; the matrix above and the other"
            " forms have the rest."
        )
    if shown < broken:
        yield (
            f"{shown:,} of {broken:,} findings that are UNSOUND or STUCK are shown step by step; "
            f"{how} shows any of them."
        )


def _within_reach(matrices: Iterable[Matrix]) -> Iterator[Matrix]:
    """Matrices of no more cells than a browser opens within seconds; what is cut is said."""
    left = MOST_CELLS
    for it in matrices:
        width = 1 + len(it.heads)
        rows = [row for _, rows in it.folders for row in rows]
        if len(rows) * width > left:
            kept = sorted(rows, key=lambda row: not row.first)[: left // width]
            names = {id(row) for row in kept}
            folders = [
                (name, [row for row in those if id(row) in names]) for name, those in it.folders
            ]
            cut = (
                f"{len(kept):,} of {counted(len(rows), it.noun)} are shown, those with a finding "
                "first; the form json has all of them."
            )
            it, rows = replace(it, folders=[each for each in folders if each[1]], cut=cut), kept
        left -= len(rows) * width
        yield it


def page(it: Page, root: str | None = None) -> str:
    """The text of the file. root: of a page of a site, the address of the folder of `site_files`;
    any other has all in itself."""
    style, script = site_files().values()
    return (
        _environment()
        .get_template("page.html")
        .render(
            it=replace(it, matrices=list(_within_reach(it.matrices))),
            root=root,
            policy=Markup(_OF_A_SITE if root is not None else _alone(style, script)),
            style=Markup(style),
            script=Markup(script),
        )
    )


def parts(it: Page) -> str:
    """The same as a part of another page, which has a style and a script of its own."""
    shown = replace(it, matrices=list(_within_reach(it.matrices)))
    return _environment().get_template("parts.html").render(it=shown)


def article(it: Article) -> str:
    """One finding as a part of another page."""
    template = _environment().get_template("finding.html")
    return str(template.module.article(it))  # type: ignore[attr-defined]


def site_files() -> dict[str, str]:
    """The style and the script that all pages of a site share, by the names of their files."""
    return {
        "site.css": _text_of("page.css") + STYLE.read_text(encoding="utf-8"),
        "site.js": SCRIPT.read_text(encoding="utf-8") + _text_of("page.js"),
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


@cache
def _environment() -> Environment:
    from jinja2 import Environment, FileSystemLoader, StrictUndefined

    return Environment(
        loader=FileSystemLoader(_FOLDER),
        autoescape=True,
        undefined=StrictUndefined,
        finalize=_spelled,
        trim_blocks=True,
        lstrip_blocks=True,
    )


_FOLDER = Path(__file__).with_name("html")


def _spelled(value: object) -> object:
    """What is put into the page: a text of ours as it is, any other with nothing hidden in it."""
    return visible(value) if isinstance(value, str) and not isinstance(value, Markup) else value


def _text_of(name: str) -> str:
    return (_FOLDER / name).read_text(encoding="utf-8")


def _digest(text: str) -> str:
    """As a Content-Security-Policy names what may run."""
    return f"sha256-{b64encode(sha256(text.encode()).digest()).decode()}"
