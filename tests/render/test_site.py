"""The site of static pages: files, names, links, and what a browser makes of it in a folder."""

from __future__ import annotations

import posixpath
import re
from pathlib import Path
from typing import Any

import pytest
from hostile_names import HOSTILE
from html_pages import Page, broken, detail_of, fault_of, require_harmless
from render.browsers import Opened
from results import report as made_up
from results import result, told

from rspverify.answers import ModelAnswer, Observed, Reached, SuiteReport
from rspverify.commands.report import LISTED, write_site
from rspverify.records import replace
from rspverify.render.site import site
from rspverify.verdict import Verdict, Word
from rspverify.wording import visible


def report(*names: str, **others: Any) -> SuiteReport:
    """For each name a result that is UNSOUND and one that is SOUND, both with a page; one RACY."""
    results, details = [], {}
    for name in names:
        wrong, right = broken(name), told(result(Word.SOUND), name)
        right = replace(right, scheme="right", scheme_file="right")
        detail = detail_of(name)
        assert detail.explanation is not None
        sound = replace(
            detail.explanation, result=right, verdict=Verdict(Word.SOUND, name), progress=None
        )
        reached = Reached(
            (Observed((), {name: 1}, {}),), True, None, 2, False, (Observed((), {}, {name: 2}),)
        )
        results += [wrong, right]
        details[name, name] = detail
        details[name, "right"] = replace(detail, explanation=sound, picture=None, reached=reached)
    racy = replace(told(result(Word.RACY), "racy"), reason="P0 line 1")
    given = {
        "folder": "f",
        "about": "about",
        "details": details,
        "faults": {(name, name): fault_of(name) for name in names},
    }
    return made_up(*results, racy, **{**given, **others})


@pytest.fixture(scope="module")
def files() -> dict[str, str]:
    return dict(site([report("one", "two")]))


def links(text: str) -> list[str]:
    return [
        it[key]
        for _, it, _ in Page(text).elements
        for key in ("href", "src")
        if key in it and not it[key].startswith("#")
    ]


def test_every_result_that_there_is_something_to_show_of_has_a_page(files: dict[str, str]) -> None:
    assert [it for it in files if it.startswith("cases/")] == [
        "cases/one--one.html",
        "cases/one--one.svg",
        "cases/one--right.html",
        "cases/two--two.html",
        "cases/two--two.svg",
        "cases/two--right.html",
    ]
    both = "UNSOUND STUCK"
    cells = [
        (it.get("class"), "".join(text))
        for tag, it, text in Page(files["index.html"]).elements
        if tag == "td"
    ]
    assert [words for _, words in cells if words] == [both, "SOUND", "SOUND", both, "RACY"]
    assert all(kind == (words or None) for kind, words in cells)


def test_every_link_leads_to_a_file(files: dict[str, str]) -> None:
    reached = set()
    for name, text in files.items():
        if name.endswith(".html"):
            targets = {
                posixpath.normpath(posixpath.join(posixpath.dirname(name), it))
                for it in links(text)
            }
            assert targets <= files.keys()
            reached |= targets
    assert files.keys() == reached, "and every file is reached"


def test_what_the_machine_reaches_of_what_is_sound(files: dict[str, str]) -> None:
    page = Page(files["cases/one--right.html"])
    assert page.all("td")[:4] == ["one=1", "reached", "one=2", "not reached"]
    assert "The machine reaches 1 of the 2." in page.all("p", "note")
    assert not page.all("rsp-execution")
    it = report("one")
    detail = it.details["one", "right"]
    assert detail.reached is not None
    stopped = replace(detail, reached=replace(detail.reached, all=False, stopped="timeout of 5 s"))
    late = dict(site([replace(it, details={**it.details, ("one", "right"): stopped})]))
    page = Page(late["cases/one--right.html"])
    assert "the machine reaches is not known: timeout of 5 s." in "".join(page.all("p", "why"))
    assert "reached" not in page.all("td")


def test_the_gallery_has_each_counterexample_by_what_it_breaks(files: dict[str, str]) -> None:
    page = Page(files["gallery.html"])
    assert page.all("b") == ["one under one", "two under two"]
    assert [it["src"] for tag, it, _ in page.elements if tag == "img"] == [
        "cases/one--one.svg",
        "cases/two--two.svg",
    ]


def test_models_and_what_ended_early() -> None:
    answer = ModelAnswer("t", "f/t", "m", "Sometimes racy", "", {}, 0.25)
    early = report("one", interrupted=True, total=9)
    files = dict(site([early, made_up(answer, folder="f")]))
    page = Page(files["index.html"])
    assert page.all("p", "warning") == ["interrupted: 3 of 9 verdicts decided, the rest not"]
    assert page.all("td", "racy") == ["Sometimes racy"]
    left = dict(site([report("one", details={})]))
    assert not [it for it in left if it.startswith("cases/")]
    (said,) = Page(left["index.html"]).all("p", "warning")
    assert said.startswith("0 of 2 results have a page")


def test_the_same_results_make_the_same_files() -> None:
    one, two = (dict(site([report("one", seconds=it)])) for it in (1.0, 2.0))
    assert one == two


NAMES = [*HOSTILE, "../../../etc/passwd", "..", "CON", "a" * 300, "x.html", "", "é/ü", "A", "a"]


def test_no_name_breaks_it_or_leaves_the_folder(tmp_path: Path) -> None:
    files = dict(site([report(*dict.fromkeys(NAMES))]))
    lowered = [each.lower() for each in files]
    assert len(lowered) == len(set(lowered))
    for name, text in files.items():
        assert re.fullmatch(r"(cases/)?[A-Za-z0-9+@_][A-Za-z0-9+@_.-]{0,120}", name)
        assert visible(text) == text or name.startswith("site.")
        if name.endswith(".html"):
            require_harmless(Page(text), alone=False)


# ---- in a folder ---------------------------------------------------------------------------------


def test_a_site_is_written_over_the_one_before(tmp_path: Path) -> None:
    place = tmp_path / "site"
    first = write_site(str(place), [report("one", "two")])
    assert len(first) == len(list(place.rglob("*.*"))) - 1
    (place / "mine.txt").write_text("mine")
    listed = (place / LISTED).read_text()
    (place / LISTED).write_text(f"{listed}../outside.txt\n/etc/hostname\n")
    (tmp_path / "outside.txt").write_text("outside")
    write_site(str(place), [report("one")])
    assert not list(place.glob("cases/two*")) and list(place.glob("cases/one*"))
    assert (place / "mine.txt").exists() and (tmp_path / "outside.txt").exists()
    assert "two" not in (place / LISTED).read_text()


def test_out_of_a_folder_in_a_browser(opened: Opened, tmp_path: Path) -> None:
    """Style and script load, the matrix leads to a counterexample, and that plays; on a phone."""
    write_site(str(tmp_path / "site"), [report("one", "two")])
    phone = {"viewport": {"width": 375, "height": 700}, "color_scheme": "dark"}
    page = opened.go((tmp_path / "site/index.html").as_uri(), **phone)
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(23, 24, 26)"
    page.get_by_label("Only with").fill("two")
    page.locator("#count", has_text="1 of 3").wait_for()
    page.locator(".matrix td:visible a", has_text="UNSOUND").click()
    page.locator("rsp-execution").first.focus()
    page.keyboard.press("End")
    assert page.locator(".rx-said b").first.text_content() == "Step 2 of 2"
    assert page.evaluate("document.documentElement.scrollWidth") <= 375
    page.get_by_role("link", name="Gallery").click()
    drawn = page.locator(".gallery img").first
    drawn.scroll_into_view_if_needed()
    page.wait_for_function("document.querySelector('.gallery img').naturalWidth > 0")
    assert page.evaluate("document.documentElement.scrollWidth") <= 375
