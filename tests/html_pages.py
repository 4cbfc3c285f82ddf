"""Pages of HTML as tests read them, and findings with everything that a page can show."""

from __future__ import annotations

import json
import re
from html.parser import HTMLParser

from results import result, told

from rspverify.answers import (
    CompiledThread,
    Detail,
    Explanation,
    Observed,
    ReadValue,
    Result,
    RowAtFault,
    RowsAtFault,
)
from rspverify.picture import Arrow, Picture, PlacedEvent, PlacedThread
from rspverify.records import replace
from rspverify.verdict import (
    CacheState,
    Entry,
    Execution,
    Progress,
    ProgressWord,
    Snapshot,
    Step,
    Verdict,
    Word,
)
from rspverify.wording import visible

_VOID = {"meta", "input", "br", "img", "link"}
_OURS = {
    *("html", "head", "meta", "title", "style", "body", "script", "a", "header", "main", "section"),
    *("h1", "h2", "h3", "h4", "p", "b", "ul", "li", "div", "span", "small", "code", "pre", "dl"),
    *("dt", "dd", "figure", "figcaption", "article", "label", "input", "select", "option"),
    *("output", "rsp-execution", "table", "thead", "tbody", "tr", "th", "td", "ins", "del"),
    *("nav", "img", "link"),
    *("svg", "rect", "g", "text", "line", "path", "polygon"),
}


class Page(HTMLParser):
    """A page as a browser reads it: every element with its attributes and all text inside it."""

    def __init__(self, text: str) -> None:
        super().__init__(convert_charrefs=True)
        self.elements: list[tuple[str, dict[str, str], list[str]]] = []
        self._open: list[int] = []
        self.feed(text)
        self.close()
        assert not self._open

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, {key: value or "" for key, value in attrs}, []))
        if tag not in _VOID:
            self._open.append(len(self.elements) - 1)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, {key: value or "" for key, value in attrs}, []))

    def handle_endtag(self, tag: str) -> None:
        assert self.elements[self._open.pop()][0] == tag

    def handle_data(self, data: str) -> None:
        for number in self._open:
            self.elements[number][2].append(data)

    def handle_comment(self, data: str) -> None:
        raise AssertionError(data)

    def all(self, tag: str, css: str | None = None) -> list[str]:
        """The texts of all elements of a tag, and a class."""
        return [
            "".join(text)
            for name, attributes, text in self.elements
            if name == tag and (css is None or css in attributes.get("class", "").split())
        ]


ROW = RowAtFault(2, "load DV,N", ("INV_L1 WG", "LD r x"), 2, 5, 2, 70)


def snapshot(x: str, value: int, *, locked: bool = False) -> Snapshot:
    cache = CacheState(
        {x: Entry(value, True, True)} if value else {}, (("", (x,)),) if value else ()
    )
    return Snapshot({"L1": cache}, {x: 0}, {x: "P0"} if locked else {})


def broken(name: str) -> Result:
    """A result that is UNSOUND and STUCK, with this name wherever one may be."""
    return replace(
        told(result(Word.UNSOUND, ProgressWord.STUCK), name),
        outcome=Observed((ReadValue(1, 1, 1, name, 1),), {"1:r0": 1}, {name: 1}),
    )


def detail_of(name: str) -> Detail:
    """All that there can be of it, and this name wherever one may be."""
    it = broken(name)
    steps = (
        Step(name, 0, None, 1, snapshot(name, 1)),
        Step(name, None, "L1", None, snapshot(name, 1, locked=True)),
    )
    execution = Execution(snapshot(name, 0), steps, ("L1",), ("L1",))
    picture = Picture(
        f"{name} under {name}",
        (name,),
        (PlacedThread(name, 0, 0),),
        (PlacedEvent(name, 0, 1), PlacedEvent(name, None, None)),
        (Arrow("rf", 1, 0),),
    )
    explanation = Explanation(
        it,
        name,
        Verdict(Word.UNSOUND, name, axioms=(name,), execution=execution),
        Progress(ProgressWord.STUCK, name, execution, (name,)),
        (CompiledThread(name, name, ((1, name, name, (name,)),)),),
        ((name, name),),
        reach=name,
    )
    return Detail(name, f"first\n{name}", name, explanation, picture, name)


def fault_of(name: str) -> RowsAtFault:
    """A row at fault of this name."""
    return RowsAtFault((replace(ROW, operations=name, code=(name,)),))


def require_harmless(page: Page, *, alone: bool = True) -> None:
    """Only our elements, one script, nothing from elsewhere, and every link leads somewhere.

    alone: whether all is in the page; otherwise it may name files beside it.
    """
    tags = {tag for tag, _, _ in page.elements}
    assert tags <= _OURS, tags - _OURS
    scripts = [(it, "".join(text)) for tag, it, text in page.elements if tag == "script"]
    data = [text for it, text in scripts if it == {"type": "application/json"}]
    assert len(scripts) - len(data) == 1 and len(page.all("style")) == alone
    for text in data:
        assert "<" not in text and visible(text) == text and json.loads(text)
    ids = [it["id"] for _, it, _ in page.elements if "id" in it]
    assert len(ids) == len(set(ids))
    for _, attributes, _ in page.elements:
        assert not {key for key in attributes if key.startswith("on") or key == "style"}
        beside = [attributes[key] for key in ("src", "href") if key in attributes]
        if not alone and all(re.fullmatch(r"[\w@+./-]+", each) for each in beside):
            continue
        assert "src" not in attributes
        if "href" in attributes:
            assert attributes["href"].removeprefix("#") in ids
