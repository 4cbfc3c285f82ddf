"""An execution as an animation: where threads are, what stands where, what a step changes."""

from __future__ import annotations

import json
import re
from importlib.resources import files
from typing import Any

import pytest
from html_pages import detail_of
from render.browsers import Opened

import rspverify
from rspverify import Settings
from rspverify.answers import Explanation
from rspverify.api.explained import trace
from rspverify.records import replace
from rspverify.render.trace import Trace, run_trace, stuck_trace, trace_json, wrong_trace

HTML = files("rspverify.render") / "html"


def shown(scheme: str, test: str, settings: Settings | None = None) -> list[Trace]:
    it = rspverify.explain(scheme, test, settings)
    return executions(it.explanation, it.test.source.text)


def executions(it: Explanation | None, source: str) -> list[Trace]:
    assert it is not None
    return [each for each in (wrong_trace(it, source), stuck_trace(it, source)) if each]


@pytest.fixture(scope="module")
def fig4() -> Trace:
    (it,) = shown("original", "Fig4")
    return it


@pytest.fixture(scope="module")
def stuck() -> Trace:
    (it,) = shown("original", "CoRR+st.WG+ld.DV.R-ld.DV.R", Settings(progress=True))
    return it


@pytest.fixture(scope="module")
def run() -> Trace:
    run = trace("visibility-global-inter-TFB", Settings(machine="ptx-weak")).run
    it = run_trace(run)
    assert it is not None
    return it


def test_each_step_tells_its_instruction(fig4: Trace, run: Trace) -> None:
    """An instruction names itself; a step that goes on with one names that."""
    for it in (fig4, run):
        for step in it.execution.steps:
            if step.instruction is None:
                assert step.thread is None
                continue
            thread, place = step.instruction
            line, text = it.execution.code[thread][place]
            assert step.line == line and step.thread in (thread, None)
            name = text.split()[0]
            assert step.label.startswith(name) if step.thread is not None else name in step.label
    assert [it.instruction for it in fig4.execution.steps if it.thread == 1] == [
        (1, 0),
        (1, 1),
        (1, 2),
    ]
    assert fig4.lines[13] == "*x = 42;" and not run.lines


def test_caches_tell_who_shares_them(run: Trace) -> None:
    shared = dict(zip(run.execution.caches, run.execution.shared, strict=True))
    assert shared["queue P1"] == shared["LP P1"] == (1,)
    (it,) = shown("original", "ISA2+st.na-st.DV+ld.DV-st.WG+ld.WG-ld.na@0-12")
    assert it.execution.shared == ((0,), (1, 2))


def test_notes_stand_in_the_order_of_the_machine(run: Trace) -> None:
    """So that the same run is the same text."""
    parts = ["M", "queue", "LP", "SHARE", "SHARE_OUT_OF_BLOCK", ""]
    assert [*run.execution.notes][: len(parts)] == parts


def test_what_is_left_out_of_a_long_one(monkeypatch: pytest.MonkeyPatch, fig4: Trace) -> None:
    monkeypatch.setattr("rspverify.render.trace.MOST_STEPS", 1)
    (wrong, _) = executions(detail_of("x").explanation, "x")
    assert (len(wrong.execution.steps), wrong.left) == (1, 1)


def test_nothing_ends_the_script_or_is_hidden() -> None:
    name = "</script><!--\u202e\x1b"
    (it, _) = executions(detail_of(name).explanation, name)
    text = trace_json(it)
    assert "<" not in text and text.isascii()
    (step, *_) = json.loads(text)["execution"]["steps"]
    assert step["label"] == "</script><!--\\u202e\\x1b"


# ---- in a browser --------------------------------------------------------------------------------


class Player:
    """The element on a page of nothing else, loaded as a module's file would be: from beside it."""

    def __init__(self, opened: Opened, it: Trace, **how: Any) -> None:
        (opened.folder / "animation.js").write_text((HTML / "animation.js").read_text())
        (opened.folder / "animation.css").write_text((HTML / "animation.css").read_text())
        policy = "default-src 'none'; script-src file:; style-src file:"
        self.page = opened(
            f"""<!DOCTYPE html><html><head><meta charset="utf-8">
            <meta http-equiv="Content-Security-Policy" content="{policy}">
            <meta name="viewport" content="width=device-width">
            <link rel="stylesheet" href="animation.css"></head><body><rsp-execution>
            <script type="application/json">{trace_json(it)}</script></rsp-execution>
            <script src="animation.js"></script></body></html>""",
            **how,
        )
        self.page.locator("rsp-execution").focus()

    def press(self, *keys: str) -> str:
        """What is said after some keys."""
        for each in keys:
            self.page.keyboard.press(each)
        return str(self.page.locator(".rx-said").text_content())

    def texts(self, css: str) -> list[str]:
        """The texts of the parts of a class."""
        return [" ".join(each.split()) for each in self.page.locator(css).all_inner_texts()]


def test_what_is_due_and_what_has_changed(opened: Opened, fig4: Trace) -> None:
    it = Player(opened, fig4)
    assert it.press() == "Before the first of 12 steps"
    assert it.texts(".rx-saw") == ["saw nothing yet"]
    assert it.texts(".rx-due") == ["ST r x next", "INV_L1 WG next"]
    said = it.press(*["ArrowRight"] * 5)
    assert said.startswith("Step 5 of 12 L1 d0 w0: FLUSH_L1(x, 42)")
    assert said.endswith("L1 d0 w0: x = 42 D,V becomes 42 C,V; memory: x = 0 becomes 42.")
    assert it.texts(".rx-new") == ["x=42 C,V", "x=42"]
    assert it.texts(".rx-done") == ["ST 42 x done", "FLU_L1 WG done", "INV_L1 WG done"]
    assert it.texts(".rx-active h5") == ["L1 d0 w0"]
    assert it.texts(".rx-fifo") == ["[ FLUSH(P0) x ]"]
    assert it.press("ArrowRight").endswith("x leaves the fifo of L1 d0 w0.")
    assert it.press("ArrowLeft") == said
    assert it.press("End").startswith("Step 12 of 12 P1: LD r x (reads 0) (line 21: r1 = *x;)")
    assert it.texts(".rx-now") == ["LD r x (reads 0) now"]
    assert it.texts(".rx-saw") == ["saw y = 1 (line 18), x = 0 (line 21)"]
    assert it.press("Home") == "Before the first of 12 steps"


def test_it_plays_pauses_and_ends(opened: Opened, fig4: Trace) -> None:
    it = Player(opened, fig4)
    it.page.get_by_label("speed").select_option("4")
    it.page.locator("rsp-execution").focus()
    it.press(" ")
    it.page.locator(".rx-said", has_text=re.compile(r"Step ([2-9]|1[01]) of 12")).wait_for()
    it.press(" ")
    assert not it.page.evaluate("document.querySelector('rsp-execution').playing")
    it.press("End", "ArrowLeft", " ")
    it.page.locator(".rx-play", has_text="Play").wait_for()
    assert it.press().startswith("Step 12 of 12")


def test_who_waits_for_whom(opened: Opened, stuck: Trace) -> None:
    phone = {"viewport": {"width": 375, "height": 700}, "color_scheme": "dark"}
    it = Player(opened, stuck, reduced_motion="reduce", **phone)
    assert not it.texts(".rx-waits")
    it.press("End")
    assert it.texts(".rx-due") == ["INV_L1 WG next"]
    assert it.texts(".rx-waits h5") == ["P1 device 0, work-group 1", "L1 d0 w0"]
    assert len(it.texts(".rx-blocked.rx-active li")) == 3
    assert it.page.evaluate("document.documentElement.scrollWidth") <= 375
    moves = "getComputedStyle(document.querySelector('.rx-new')).animationName"
    assert it.page.evaluate(moves) == "none"


def test_instructions_that_go_on_later(opened: Opened, run: Trace) -> None:
    it = Player(opened, run)
    it.press(*["ArrowRight"] * 11)
    assert it.texts(".rx-now") == ["ld r b (reads 2) now"]
    assert it.texts(".rx-open") == ["membar.cta under way", "ld r a under way"]
    assert it.texts(".rx-saw") == ["saw b = 2 (line 6)"]
    assert it.texts(".rx-gone:visible") == []
    it.page.locator(".rx-queues").check()
    assert it.texts(".rx-gone:visible") == ["ld r b"]
    assert "LP: the load pool" in it.texts(".rx-key:visible")


def test_the_events_of_a_step_are_marked_in_a_picture(opened: Opened, fig4: Trace) -> None:
    it = Player(opened, fig4)
    it.page.evaluate(
        """() => {
          const picture = document.createElement("div");
          for (const [line, thread] of [[14, 0], [14, 1], [18, 1]]) {
            const event = document.createElement("p");
            event.className = "event";
            Object.assign(event.dataset, { line, thread });
            event.textContent = `${line} of P${thread}`;
            picture.append(event);
          }
          document.body.append(picture);
          document.querySelector("rsp-execution").picture = picture;
        }"""
    )
    marked = []
    for _ in range(4):
        it.press("ArrowRight")
        marked.append(it.texts(".rx-event"))
    assert marked == [[], ["14 of P0"], ["18 of P1"], []]


def test_another_execution_is_shown_in_its_place(opened: Opened, fig4: Trace, stuck: Trace) -> None:
    it = Player(opened, fig4)
    it.press("End")
    it.page.evaluate(
        "text => document.querySelector('rsp-execution').show(JSON.parse(text))",
        trace_json(stuck),
    )
    assert it.press() == "Before the first of 3 steps"
    empty = trace_json(replace(stuck, execution=replace(stuck.execution, steps=())))
    it.page.evaluate(
        "text => document.querySelector('rsp-execution').show(JSON.parse(text))", empty
    )
    assert it.press("End") == "Before the first of 0 steps"
