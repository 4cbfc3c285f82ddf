"""What mkdocs is told besides mkdocs.yml: pages from elsewhere, pages that are made, and links.

A page is written for readers of the repository: its links are paths from where it stands. Here
they become links of the site: to another page, or to a copy of the file.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator
from pathlib import Path

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.exceptions import PluginError
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page

from website import commands, schemas

ROOT = Path(__file__).resolve().parents[1]
ELSEWHERE = {
    "README.md": "index.md",
    "CHANGELOG.md": "changes.md",
    "CONTRIBUTING.md": "contributing.md",
    "examples/ci/README.md": "example.md",
    "litmus/all-orders/README.md": "tests-all-orders.md",
    "litmus/devices/README.md": "tests-devices.md",
    "litmus/models/README.md": "tests-models.md",
    "litmus/ptx/README.md": "tests-ptx.md",
    "litmus/rsp/README.md": "tests-rsp.md",
    "proof/Thm1.v": "thm1.md",
}
"""Pages that do not stand under docs: where they are, and what the site calls them. A file of Rocq
is shown whole."""

_STANDS = {page: place for place, page in ELSEWHERE.items()}
_LINK = re.compile(r"(?<=\]\()([^)\s#:]+)(?=[)#])")
_NAMED = re.compile(r"(?<!\]\()(?<![\w/`\[.])docs/([\w-]+)\.md\b(?!\])")
_SPAN = re.compile(r"`[^`\n]+`")
"""In a table it has `\\|` for a bar, as GitHub wants it; Python's Markdown wants it plain."""

_CODE = re.compile(r"(^```.*?^```$)", re.MULTILINE | re.DOTALL)


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Adds the pages that are made, those from elsewhere, and every file that a page links to."""
    shipped = sorted((ROOT / "rspverify").rglob("*.schema.json"))
    by_address = {_copied(str(each.relative_to(ROOT))): each for each in shipped}
    made = {"commands.md": commands.page(), "schemas.md": schemas.page(by_address)}
    texts = {page: _text(ROOT / place) for place, page in ELSEWHERE.items()}
    for page, text in (made | texts).items():
        files.append(File.generated(config, page, content=text))
    places = {_copied(place): ROOT / place for each in files for place in _files_of(each)}
    for address, place in (places | by_address).items():
        files.append(File.generated(config, address, abs_src_path=str(place)))
    return files


def on_page_markdown(markdown: str, page: Page, config: MkDocsConfig, files: Files) -> str:
    """Links, and pages that are named as docs/NAME.md, lead to where the site has them."""
    here = _place(page.file.src_uri)
    folder = posixpath.dirname(here)

    def named(found: re.Match[str]) -> str:
        target = f"{found[1]}.md"
        other = files.get_file_from_path(target)
        if other is None or target == page.file.src_uri:
            return found[0]
        return f"[{_title(other)}]({target})"

    def linked(found: re.Match[str]) -> str:
        return _address(posixpath.normpath(posixpath.join(folder, found[1])), found[1])

    parts = _CODE.split(markdown)
    for number in range(0, len(parts), 2):
        part = _LINK.sub(linked, _NAMED.sub(named, parts[number]))
        parts[number] = _SPAN.sub(lambda span: span[0].replace("\\|", "|"), part)
    return "".join(parts)


def on_post_page(output: str, page: Page, config: MkDocsConfig) -> str:
    """Nothing that a page loads may come from elsewhere. Raises PluginError."""
    loaded = re.search(r'<(?:script|link|img|iframe)\b[^>]*\b(?:src|href)="(?:https?:)?//', output)
    if loaded:
        raise PluginError(f"{page.file.src_uri} loads what is elsewhere: {loaded[0]}")
    return output


def _text(place: Path) -> str:
    text = place.read_text()
    return text if place.suffix == ".md" else f"# {place.name}\n\n```coq\n{text}```\n"


def _place(page: str) -> str:
    """Where in the repository a page stands."""
    return _STANDS.get(page, f"docs/{page}")


def _address(place: str, otherwise: str) -> str:
    """What the site calls a file of the repository; all pages are in its uppermost folder."""
    if place in ELSEWHERE:
        return ELSEWHERE[place]
    if place.startswith("docs/"):
        return place.removeprefix("docs/")
    return _copied(place) if (ROOT / place).is_file() else otherwise


def _copied(place: str) -> str:
    return f"files/{place}"


def _files_of(file: File) -> Iterator[str]:
    """The files outside docs that a page links to."""
    if file.is_documentation_page():
        folder = posixpath.dirname(_place(file.src_uri))
        for target in _LINK.findall(_CODE.sub("", file.content_string)):
            place = posixpath.normpath(posixpath.join(folder, target))
            if _address(place, "") == _copied(place):
                yield place


def _title(file: File) -> str:
    found = re.search(r"^# (.+)$", file.content_string, re.MULTILINE)
    return found[1] if found else file.src_uri
