"""The page of `check`: what it has, that nothing contacts anybody, and that no text breaks it."""

from __future__ import annotations

import re
from base64 import b64encode
from hashlib import sha256
from typing import Any

import pytest
from html_pages import Page, broken, detail_of, fault_of, require_harmless
from hypothesis import given
from hypothesis import strategies as st
from results import report, result

from rspverify.answers import Difference, Held, ModelAnswer, SuiteReport
from rspverify.records import replace
from rspverify.render.check import document
from rspverify.render.forms import html as form
from rspverify.verdict import Word
from rspverify.wording import visible


def html(reports: list[SuiteReport]) -> str:
    return form.write(document(reports))


def detailed(name: str, **others: Any) -> SuiteReport:
    """A finding with all that there can be, and this name wherever one may be."""
    key = (name, name)
    details, faults = {key: detail_of(name)}, {key: fault_of(name)}
    return report(broken(name), details=details, faults=faults, **others)


def test_the_policy_names_what_runs() -> None:
    page = Page(html([detailed("x")]))
    (policy,) = (it["content"] for tag, it, _ in page.elements if "http-equiv" in it)
    for kind in ("script", "style"):
        (text,) = ("".join(text) for tag, it, text in page.elements if tag == kind and not it)
        digest = b64encode(sha256(text.encode()).digest()).decode()
        assert f"{kind}-src 'sha256-{digest}'" in policy
    assert policy.startswith("default-src 'none';") and "unsafe" not in policy


def test_nothing_is_contacted() -> None:
    text = html([detailed("x")])
    addresses = set(re.findall(r"\w+://[^\s\"'<]*", text))
    assert addresses == {"http://www.w3.org/2000/svg"}
    assert not re.search(r"@import|url\(|fetch\(|XMLHttp|innerHTML|eval", text)


def test_the_matrix() -> None:
    racy = replace(result(Word.RACY), file="a/u", test="u", reason="P0 line 11")
    other = replace(result(Word.UNSOUND), file="a/u", test="u", scheme="z", scheme_file="z")
    page = Page(html([report(racy, other, replace(result(Word.SOUND), file="b/t"))]))
    assert page.all("th")[-7:] == ["test", "s", "z", "a 1", "u", "b 1", "t"]
    cells = [(it, "".join(text)) for tag, it, text in page.elements if tag == "td"][-4:]
    assert cells == [
        ({"class": "RACY", "title": "P0 line 11"}, "RACY"),
        ({"class": "UNSOUND"}, "UNSOUND"),
        ({"class": "SOUND"}, "SOUND"),
        ({}, ""),
    ]
    assert page.all("li") == ["1 SOUND", "1 UNSOUND", "1 RACY"]
    assert page.all("h3") == ["UNSOUND u under z"]


def test_what_is_expected_is_no_finding() -> None:
    it = result(Word.UNSOUND)
    as_expected = Page(html([report(it, held=Held("e.yaml", ()))]))
    assert as_expected.all("td")[-1] == "UNSOUND" and not as_expected.all("article")
    differs = Page(html([report(it, held=Held("e.yaml", (Difference(it, "SOUND"),)))]))
    assert differs.all("td")[-1] == "UNSOUND expected SOUND"
    assert "expected SOUND, got UNSOUND" in differs.all("article")[0]


def test_models() -> None:
    answer = ModelAnswer("t", "f/t", "m", "Sometimes racy", "", {}, 0.25)
    page = Page(html([report(answer, noun="model", folder="f", about="what it is for")]))
    assert page.all("td", "racy") == ["Sometimes racy"]
    assert page.all("span", "racy") == ["1", "racy"]
    assert "what it is for" in page.all("p")


def test_an_execution_step_by_step() -> None:
    page = Page(html([detailed("x")]))
    rows = [" ".join(text).split() for tag, _, text in page.elements if tag == "tr"][-8:-5]
    assert rows == [
        ["0", "empty", "x=0", "all", "free"],
        ["1", "P0", "x", "x=1", "D,V", "[x]", "x=0", "all", "free"],
        ["2", "L1", "x", "x=1", "D,V", "[x]", "x=0", "x:", "P0"],
    ]
    assert page.all("span", "new")[:3] == ["x=1 D,V", "[x]", "x: P0"]
    assert page.all("th")[-13:-7] == ["step", "by", "what", "L1 (P0)", "memory", "locks"]
    assert len(page.all("table", "trace")) == 2
    (listing, *_) = page.all("pre")
    assert listing == "2 x\n"


@given(st.text(st.characters(exclude_categories=["Cs"]) | st.just("\udcff"), min_size=1))
def test_no_text_breaks_it(name: str) -> None:
    page, shown = Page(html([detailed(name, folder=name, about=name)])), visible(name)
    require_harmless(page)
    assert any(each.startswith(f"{shown} under {shown}") for each in page.all("title"))
    assert shown in page.all("code") and shown in page.all("dt")
    first, *_ = name.split("\n")
    assert f"2 {visible(first)}\n" in page.all("pre")
    rows = [it["title"] for tag, it, _ in page.elements if tag == "th" and "title" in it]
    assert rows == [shown]


def test_findings_stand_before_all_results() -> None:
    text = html([report(result(Word.SOUND), result(Word.UNSOUND))])
    assert 0 < text.index('id="findings"') < text.index('id="results"')


def test_what_is_left_out_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(form, "MOST_CELLS", 4)
    monkeypatch.setattr(form, "MOST_FINDINGS", 2)
    sound = [replace(result(Word.SOUND), file=f"a{n}", test=f"a{n}") for n in range(9)]
    unsound = [replace(result(Word.UNSOUND), file=f"b{n}", test=f"b{n}") for n in range(3)]
    details = {("b0", "s"): detail_of("b0")}
    page = Page(html([report(*sound, *unsound, details=details)]))
    assert len(page.all("article")) == 2 and page.all("td")[-2:] == ["UNSOUND"] * 2
    assert page.all("p", "warning") == [
        "2 of 3 findings are told here; the matrix and the other forms have the rest.",
        "1 of 3 findings with an execution are shown step by step; "
        "rspverify explain SCHEME TEST shows any of them.",
        "2 of 12 tests are shown, those with a finding first; the form json has all of them.",
    ]
