"""The pages of HTML in a browser: they open, filter, sort, step, print, and contact nobody."""

from __future__ import annotations

from typing import Any

import pytest
from render.browsers import Opened
from render.test_answer_pages import FOUND, page_of
from render.test_check_html import detailed, html
from results import result

from rspverify.records import replace
from rspverify.render.document import Cell, Document, Matrix, Row
from rspverify.render.forms import html as form
from rspverify.verdict import Word


def checked() -> str:
    """Four tests in two folders, one of them UNSOUND."""
    first = detailed("a/t")
    others = [
        replace(result(Word.SOUND), file="a/u", test="u", scheme="z", scheme_file="z"),
        replace(result(Word.RACY), file="b/v", test="v", scheme="a/t", scheme_file="a/t"),
        replace(result(Word.SOUND), file="b/w", test="w", scheme="a/t", scheme_file="a/t"),
    ]
    others[1] = replace(others[1], reason="reason")
    return html([replace(first, results=(*first.results, *others))])


def shown_rows(page: Any) -> list[str]:
    return list(page.locator(".matrix tbody th[scope=row]:visible").all_text_contents())


def test_filters(opened: Opened) -> None:
    page = opened(checked())
    page.get_by_role("button", name="1 UNSOUND").click()
    assert shown_rows(page) == ["t"]
    assert page.locator("#count").text_content() == "1 of 4 tests"
    page.get_by_role("button", name="1 UNSOUND").click()
    page.get_by_label("Only with").fill("B REA")
    page.locator("#count", has_text="1 of 4").wait_for()
    assert shown_rows(page) == ["v"]
    page.get_by_label("Only with").fill("")
    page.locator(".matrix tbody th[scope=row]:visible").nth(3).wait_for()
    page.locator("#word").select_option("SOUND")
    assert shown_rows(page) == ["u", "w"]


def test_sorting(opened: Opened) -> None:
    page = opened(checked())
    head = page.locator(".matrix thead button").nth(1)
    for order in (["t", "u", "v", "w"], ["w", "v", "t", "u"], ["t", "u", "v", "w"]):
        head.click()
        assert shown_rows(page) == order


def test_numbers_and_texts_are_sorted_as_such(opened: Opened) -> None:
    cells = {"a": ("t10", "-10"), "b": ("t9", "1"), "c": ("", "-40")}
    rows = [
        Row(it, [Cell(each) if each else None for each in given], it) for it, given in cells.items()
    ]
    page = opened(form.write(Document("x", "x", [Matrix(("test", "cost"), rows)])))

    def names() -> str:
        heads = page.locator(".matrix tbody th[scope=row]")
        return "".join(heads.nth(n).get_attribute("title") for n in range(3))

    found_orders = []
    for column in (2, 1):
        for _ in range(2):
            page.locator(".matrix thead button").nth(column).click()
            found_orders.append(names())
    assert found_orders == ["cab", "bac", "bac", "abc"]


def test_the_matrix_by_keyboard(opened: Opened) -> None:
    page = opened(checked())
    page.locator(".matrix tbody td").first.click()
    for key in ("ArrowRight", "ArrowDown", "ArrowUp", "ArrowLeft"):
        page.keyboard.press(key)
    assert page.locator("#said").text_content().startswith("t under a/t: UNSOUND STUCK")
    page.locator(".matrix td a").first.focus()
    page.keyboard.press("Enter")
    assert page.locator("article.open").get_attribute("id") == "f1"


def test_an_execution_step_by_step(opened: Opened) -> None:
    page = opened(checked())
    assert page.locator("article .body").first.is_visible(), "there is but one finding"
    page.locator(".finding h3 button").press("Enter")
    assert not page.locator("article .body").first.is_visible()
    page.locator(".finding h3 button").press("Enter")
    player, said = page.locator("rsp-execution").first, page.locator(".rx-said b").first
    player.focus()
    told = []
    for key in ("ArrowRight", "End", "ArrowLeft", "Home"):
        page.keyboard.press(key)
        told.append(said.text_content())
    steps = ["Step 1 of 2", "Step 2 of 2", "Step 1 of 2", "Before the first of 2 steps"]
    assert told == steps
    page.get_by_role("button", name="All steps as a table").first.click()
    page.locator(".trace tbody tr").nth(1).click()
    assert said.text_content() == "Step 1 of 2"
    assert page.locator(".trace tr.here td").first.text_content() == "1"
    assert player.locator(".rx-card.rx-changed h5").all_text_contents() == ["L1"]


def test_an_address_opens_a_finding_at_a_step(opened: Opened) -> None:
    page = opened(html([detailed("</script>'\"<!--")]), "#f1-2")
    assert page.locator("article.open .rx-said b").first.text_content() == "Step 2 of 2"
    assert page.locator(".trace tr.here td").first.text_content() == "2"


@pytest.mark.parametrize("command", FOUND)
def test_dark_on_a_phone_and_on_paper(command: str, opened: Opened) -> None:
    """Nothing is wider than a phone but tables, which scroll; on paper all is open."""
    phone = {"viewport": {"width": 360, "height": 640}, "color_scheme": "dark"}
    page = opened(page_of(command, "word"), "#f1", **phone)
    paper = "getComputedStyle(document.body).backgroundColor"
    assert page.evaluate(paper) == "rgb(23, 24, 26)"
    assert page.evaluate("document.documentElement.scrollWidth") <= 360
    page.locator("#f1 h3 button").click()
    assert not page.locator("article .body").first.is_visible()
    page.emulate_media(media="print")
    assert page.evaluate(paper) == "rgb(255, 255, 255)"
    assert page.locator("article .body").first.is_visible()
    assert not page.locator("#tools").is_visible()
    assert not page.locator("rsp-execution").first.is_visible()
    assert page.locator(".trace").first.is_visible()


def test_without_scripts_all_is_there_and_open(opened: Opened) -> None:
    page = opened(checked(), java_script_enabled=False)
    assert page.locator("article .body .trace").first.is_visible()
    assert not page.locator("#tools").is_visible()
    assert not page.locator("rsp-execution").first.is_visible()
