"""The page in a browser, as a visitor uses it; nothing is said on its console, nobody is contacted."""

from __future__ import annotations

import json
import re
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from render.browsers import Visitor
from render.conftest import browser as browser
from render.conftest import one_page as one_page
from server.instances import Instance, shipped

expect: Any = pytest.importorskip("playwright.sync_api").expect
expect.set_options(timeout=30_000)

PROPOSED = shipped("schemes/proposed.yaml")
ROW_6 = "LK_rmw DV, FLU_L1 DV, INV_L1 DV, ST r x, FLU_L1 WG, INV_L1 DV, UL_rmw DV"
BROKEN_6 = ROW_6.replace("FLU_L1 DV", "FLU_L1 WG")
FINISHED = "() => /^(done|UNKNOWN)/.test(document.querySelector('#{} .progress').textContent)"


class Visit(Visitor):
    """Opens the page of a server, each time in a browser that has been nowhere."""

    def __init__(self, browser: Any, page: Any, url: str) -> None:
        super().__init__(browser, page)
        self.url = url

    def __call__(self, fragment: str = "", **how: Any) -> Any:
        return self.go(self.url, fragment, anew=True, **how)


@pytest.fixture
def visit(browser: Any, one_page: Any, instance: Instance) -> Iterator[Visit]:
    it = Visit(browser, one_page, instance.url)
    yield it
    it.leave()
    assert it.said == []
    assert [each for each in it.asked if not each.startswith((it.url, "blob:"))] == []


def verdict(page: Any, words: str) -> None:
    """Wait until the page says so, and is not about to say something else."""
    said = json.dumps(words)
    page.wait_for_function(
        f"() => document.querySelector('#word').textContent === {said}"
        " && !document.querySelector('.stale')"
    )


def load(page: Any, scheme: str, test: str) -> None:
    page.locator("#schemes").select_option(f"schemes/{scheme}.yaml")
    page.locator("#tests").fill(test)
    page.locator("#tests").press("Enter")
    page.wait_for_function(f"() => document.title === 'rspverify: {test}'")
    page.wait_for_function(
        f"() => document.querySelector('#schemes').options[0].text === '{scheme}'"
    )


def test_the_first_thing_that_a_visitor_sees_is_an_execution(visit: Visit) -> None:
    page = visit()
    verdict(page, "UNSOUND")
    expect(page.locator("#reason")).to_have_text("1:r0=1 1:r1=0 x=42 y=1 breaks Narf")
    expect(page.locator("#answer rsp-execution")).to_be_visible()
    expect(page.locator("#answer svg .edge.bold").first).to_be_attached()
    expect(page.locator("#scheme-problems")).not_to_contain_text("rows")


def test_a_mistake_is_marked_at_its_place_and_mended(visit: Visit) -> None:
    page = visit()
    load(page, "proposed", "Fig4")
    verdict(page, "SOUND")
    page.locator("#scheme .cm-line", has_text="code: [LD r x, INV_L1 WG]").first.click()
    page.keyboard.press("End")
    for _ in range(5):
        page.keyboard.press("ArrowLeft")
    page.keyboard.type("Q")
    verdict(page, "ERROR")
    expect(page.locator("#scheme .cm-lintRange-error")).to_have_text("INV_L1Q")
    problem = page.locator("#scheme-problems li")
    expect(problem).to_contain_text("line 10: an instruction must be one of")
    expect(problem).to_contain_text("did you mean INV_L1?")
    page.keyboard.press("Backspace")
    verdict(page, "SOUND")
    expect(page.locator("#scheme .cm-lintRange-error")).to_have_count(0)
    expect(problem).to_have_count(0)
    expect(page.locator("#answer").get_by_text("reached", exact=True).first).to_be_visible()


def test_break_row_6_and_step_to_the_wrong_read(visit: Visit) -> None:
    page = visit()
    load(page, "proposed", "Fig5")
    verdict(page, "SOUND")
    page.locator("#as-table").click()
    page.get_by_label("row 6: code").fill(BROKEN_6)
    verdict(page, "UNSOUND")
    expect(page.locator("#table tr.fault .number")).to_have_text("6")
    assert "# 6. The first flush" in page.evaluate(
        "document.querySelector('#scheme .cm-content').textContent"
    )
    player, said = page.locator("#answer rsp-execution"), page.locator("#answer .rx-said")
    player.focus()
    page.keyboard.press("End")
    total = int(re.match(r"Step (\d+) of \1 ", said.text_content())[1])  # type: ignore[index]
    page.keyboard.press("Home")
    while "INC_L1 r x (reads 0)" not in said.text_content():
        assert not said.text_content().startswith(f"Step {total} ")
        page.keyboard.press("ArrowRight")
    expect(page.locator("#test .due")).to_have_text(re.compile(r"^\s*int r0 ="))
    expect(page.locator("#reason")).to_contain_text("breaks Rmw")
    page.get_by_label("row 6: code").fill(ROW_6)
    verdict(page, "SOUND")


def test_the_table_writes_rows_and_nothing_else(visit: Visit) -> None:
    page = visit()
    load(page, "proposed", "Fig4")
    page.locator("#as-table").click()
    page.get_by_label("row 2: scope").fill("dv, all")
    page.get_by_label("row 3: remote").select_option("")
    verdict(page, "ERROR")
    expect(page.locator("#table tr.wrong").first).to_be_attached()
    page.get_by_label("row 3: remote").select_option("true")
    page.get_by_label("row 2: scope").fill("dv")
    verdict(page, "SOUND")
    page.get_by_role("button", name="+ row").click()
    verdict(page, "ERROR")
    page.get_by_role("button", name="remove row 9").click()
    with page.expect_download() as download:
        page.locator("#download").click()
    with zipfile.ZipFile(download.value.path()) as files:
        assert files.testzip() is None
        names = ["scheme.yaml", "test.litmus", "README.txt"]
        scheme, test, readme = (files.read(name).decode() for name in names)
    assert test == shipped("litmus/rsp/paper/Fig4.litmus")
    assert "    rspverify explain scheme.yaml test.litmus\n" in readme
    kept, lines = PROPOSED.splitlines(), scheme.splitlines()
    comments = [line for line in kept if line.strip().startswith("#")]
    assert [line for line in lines if line.strip().startswith("#")] == comments
    assert "- {op: load, scope: dv, remote: false, code: [LD r x, INV_L1 WG]}" in scheme


def test_a_table_for_a_processor_is_edited_as_any(visit: Visit) -> None:
    page = visit()
    load(page, "c11/c11-power-leading", "Z6.U")
    page.locator("#model").select_option("c11-simp")
    verdict(page, "UNSOUND")
    expect(page.locator("#answer svg .edge.bold").first).to_be_attached()
    expect(page.locator("#every")).to_contain_text("not asked")
    page.locator("#as-table").click()
    expect(page.locator("#table tr.fault")).to_have_count(1)
    page.get_by_label("row 7: code").fill("sync, 'stw v,0(x)'")
    verdict(page, "SOUND")
    load(page, "translators/x86-aarch64-qemu", "SB+cmpxchg-fails")
    page.locator("#model").select_option("x86-tso")
    verdict(page, "UNSOUND")
    page.get_by_label("row 5: instruction").fill('"LOCK CMPXCH [x],v"')
    verdict(page, "ERROR")


def test_a_link_carries_everything(visit: Visit) -> None:
    page = visit()
    verdict(page, "UNSOUND")
    load(page, "proposed", "Fig5")
    page.locator("#model").select_option("opencl-rsp-fig2")
    page.locator("#machine").select_option("rsp-lines")
    page.locator("#as-table").click()
    page.get_by_label("row 6: code").fill(BROKEN_6)
    verdict(page, "UNSOUND")
    page.locator("#share").click()
    page.locator("#toast:visible").wait_for()
    address = page.evaluate("location.hash")
    assert len(address) < 4_000
    other = visit(address)
    verdict(other, "UNSOUND")
    expect(other.locator("#model")).to_have_value("opencl-rsp-fig2")
    expect(other.locator("#machine")).to_have_value("rsp-lines")
    other.locator("#as-table").click()
    expect(other.get_by_label("row 6: code")).to_have_value(BROKEN_6)
    command = (
        "rspverify explain scheme.yaml test.litmus --model opencl-rsp-fig2 --machine rsp-lines"
    )
    expect(other.locator("#command")).to_have_text(command)
    for damaged in ("#1.AAAA", "#1.%00", "#nothing", "#1." + "A" * 10_000):
        verdict(visit(damaged), "UNSOUND")


def test_by_keyboard_alone(visit: Visit) -> None:
    page = visit()
    verdict(page, "UNSOUND")

    def focused() -> str:
        return page.evaluate(
            "(() => { const it = document.activeElement;"
            " return it.id || it.getAttribute('aria-label') || it.className || it.tagName })()"
        )

    page.keyboard.press("Tab")
    assert focused() == "skip"
    met = []
    for _ in range(40):
        page.keyboard.press("Tab")
        met.append(focused())
        if met[-1].startswith("An execution"):
            break
    order = [
        "example",
        "share",
        "machine",
        "model",
        "schemes",
        "as-text",
        "Scheme as YAML",
        "tests",
        "open",
    ]
    order += ["Litmus test", "copy-command", "tab-answer", "answer"]
    assert [each for each in met if each in order] == order
    assert met[-1] == "An execution of the compiled program: space plays, arrow keys step"
    page.keyboard.press("ArrowRight")
    expect(page.locator("#answer .rx-said b")).to_have_text(re.compile("^Step 1 of"))
    page.keyboard.press("Shift+Tab")
    while focused() != "tab-answer":
        page.keyboard.press("Shift+Tab")
    page.keyboard.press("ArrowLeft")
    assert focused() == "tab-hunt"
    expect(page.locator("#hunt")).to_be_visible()
    page.keyboard.press("Home")
    assert focused() == "tab-answer"
    expect(page.locator("#answer")).to_be_visible()


def test_in_an_editor_tab_moves_on_and_f8_finds_the_mistake(visit: Visit) -> None:
    page = visit()
    load(page, "proposed", "Fig4")
    page.locator("#test .cm-line", has_text="if (r0 == 1)").click()
    page.keyboard.press("End")
    page.keyboard.type(" *zz = 1;")
    verdict(page, "ERROR")
    page.keyboard.press("Control+Home")
    page.keyboard.press("F8")
    expect(page.locator("#test .cm-activeLine")).to_have_text(re.compile(r"^\s*if \(r0 == 1"))
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.closest('#test .cm-content')") is None


def test_what_may_be_typed(visit: Visit) -> None:
    page = visit()
    load(page, "proposed", "Fig4")
    page.locator("#scheme .cm-line", has_text="code: [LD r x, INV_L1 WG]").first.click()
    page.keyboard.press("End")
    for _ in range(2):
        page.keyboard.press("ArrowLeft")
    page.keyboard.type(", FLU")
    options = page.locator(".cm-tooltip-autocomplete li")
    options.first.wait_for()
    expect(options.get_by_text("FLU_L1 DV", exact=True).first).to_be_visible()


def test_a_corpus_recolours_after_an_edit(visit: Visit) -> None:
    page = visit()
    load(page, "proposed-full", "Ex4")
    page.locator("#as-table").click()
    page.locator("#corpus .folder").select_option("litmus/all-orders", force=True)
    page.locator("#tab-corpus").click()
    page.wait_for_function(FINISHED.format("corpus"))
    cells = page.locator("#corpus .cell")
    before = cells.evaluate_all("each => each.map(it => it.dataset.words)")
    assert len(before) == 38 and all(before) and "UNSOUND LIVE" not in before
    codes = page.locator("#table textarea")
    texts = codes.evaluate_all("each => each.map(it => it.value)")
    codes.nth(texts.index("LD r x, INV_L1 WG")).fill("LD r x")
    page.locator("#corpus .cell.changed.UNSOUND").first.wait_for()
    page.wait_for_function(FINISHED.format("corpus"))
    expect(page.locator("#corpus .changes")).to_contain_text("→ UNSOUND")
    name = (
        page.locator("#corpus .cell.changed.UNSOUND")
        .first.get_attribute("aria-label")
        .split(":")[0]
    )
    page.locator("#corpus .cell.changed.UNSOUND").first.click()
    verdict(page, "UNSOUND")
    expect(page).to_have_title(f"rspverify: {name}")


def test_a_finding_of_a_hunt_becomes_the_test(visit: Visit) -> None:
    page = visit()
    verdict(page, "UNSOUND")
    page.locator("#tab-hunt").click()
    page.locator("#operations").select_option("2")
    page.locator("#threads").select_option("2")
    page.locator("#hunt .start").click()
    page.get_by_role("button", name="Open finding 1 as the test").click()
    verdict(page, "UNSOUND")
    expect(page.locator("#answer")).to_be_visible()
    expect(page.locator("#reason")).to_have_text("0:r0=0 x=1 breaks Rmw")


def test_all_programs_are_decided_as_one_types(visit: Visit) -> None:
    page = visit()
    page.locator("#schemes").select_option("schemes/proposed.yaml")
    every = page.locator("#every")
    expect(every).to_contain_text("All programs: PROVED for programs of any size")
    page.locator("#schemes").select_option("schemes/original.yaml")
    expect(every).to_contain_text("All programs: UNSOUND for programs of any size")
    page.locator("#tab-proof").click()
    expect(page.locator("#proof .finding").first).to_be_visible()


def test_on_a_phone_in_the_dark(visit: Visit) -> None:
    phone = {"viewport": {"width": 375, "height": 720}, "color_scheme": "dark"}
    page = visit(**phone)
    verdict(page, "UNSOUND")
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(23, 24, 26)"
    for tab in ("answer", "proof", "corpus", "mutate", "compare", "hunt"):
        page.locator(f"#tab-{tab}").click()
        assert page.evaluate("document.documentElement.scrollWidth") <= 375, tab
    page.locator("#as-table").click()
    assert page.evaluate("document.documentElement.scrollWidth") <= 375


def test_files_of_ones_own(visit: Visit, tmp_path: Path) -> None:
    texts = {
        "mine.yaml": PROPOSED,
        "mine.litmus": shipped("litmus/rsp/paper/Fig5.litmus"),
        "mine.cat": '"mine"\ninclude "opencl-rsp.cat"\n',
    }
    for name, text in texts.items():
        (tmp_path / name).write_text(text)
    page = visit()
    verdict(page, "UNSOUND")
    page.locator("#open").set_input_files([tmp_path / name for name in texts])
    verdict(page, "SOUND")
    expect(page.locator("#own-model .cm-content")).to_be_visible()
    expect(page.locator("#command")).to_have_text(re.compile("--model own.cat$"))


def test_texts_of_others_are_texts(visit: Visit) -> None:
    page = visit()
    load(page, "original", "Fig4")
    page.locator("#test .cm-line", has_text="OpenCL Fig4").click()
    page.keyboard.press("End")
    page.keyboard.type("<img src=x onerror=alert(1)>")
    page.wait_for_function("() => document.querySelector('#subject').textContent.includes('<img')")
    verdict(page, "UNSOUND")
    expect(page.locator("#answer img, #subject img")).to_have_count(0)


def test_a_server_that_has_gone(visit: Visit) -> None:
    page = visit()
    verdict(page, "UNSOUND")
    page.route("**/ask", lambda route: route.abort())
    page.locator("#test .cm-content").click()
    page.keyboard.type(" ")
    verdict(page, "UNKNOWN")
    expect(page.locator("#reason")).to_have_text(re.compile(r"^The server does not answer\."))
    visit.said.clear()  # the browser says so, too
