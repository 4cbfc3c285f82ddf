"""`check --report html=FILE`: what it asks, and what it shows of tests that are there."""

from __future__ import annotations

import json
import re
from collections.abc import Generator
from functools import partial
from pathlib import Path
from typing import Any

import command_line
import pytest

from rspverify.api import details

pytestmark = pytest.mark.usefixtures("in_repository", "one_cache", "in_one_process")
run = partial(command_line.run, "check")

ORIGINAL, PROPOSED = "schemes/original.yaml", "schemes/proposed.yaml"
FIG4, EX3 = "litmus/rsp/paper/Fig4.litmus", "litmus/rsp/paper/Ex3.litmus"
CORR = "litmus/rsp/coherence/CoRR+st.WG+ld.DV.R-ld.DV.R.litmus"
RMW = "litmus/rsp/RMW/RMW+add3.WG+st.DV.R.litmus"


def test_a_finding_has_all_that_it_rests_on() -> None:
    page = run(ORIGINAL, PROPOSED, FIG4, EX3, "--format", "html").stdout
    assert page.count("<article") == 1
    assert "schemes/original.yaml:12: row 2, load DV,N: INV_L1 WG, LD r x" in page
    assert "<dt>Narf</dt><dd><code>empty (rf; [nal]) \\ vis</code></dd>" in page
    assert "<b>P1</b> <code>INV_L1 WG; LD r y</code>" in page
    assert "forbidden by Narf" in page and "<svg " in page
    trace = page.partition('<table class="trace">')[2].partition("</table>")[0]
    assert trace.count("<tr") == 1 + 1 + 12
    assert re.search(r"LD r x \(reads 0\)</code></td>.*x=42.*</tr>\n</tbody>", trace)
    assert "rspverify explain schemes/original.yaml litmus/rsp/paper/Fig4.litmus" in page


def test_what_is_stuck_has_its_execution() -> None:
    result = run(ORIGINAL, CORR, "--progress", "--format", "html")
    assert result.exit_code == 1
    assert "after which nothing can go on" in result.stdout
    assert "STUCK no instruction can happen after 3 steps" in result.stdout
    assert "explain --progress" in result.stdout and "<svg " not in result.stdout


def test_details_are_asked_for_only_where_they_are_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("rspverify.drawing.details.details", lambda *_, **__: 1 / 0)
    assert run(ORIGINAL, FIG4, "--format", "sarif").exit_code == 1
    assert run(PROPOSED, FIG4, "--format", "html").exit_code == 0
    held = (ORIGINAL, FIG4, "--expect", "litmus/rsp/expected.yaml")
    assert run(*held, "--format", "html").exit_code == 0


def test_so_many_have_details_and_the_rest_is_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(details, "MOST", 1)
    page = run(ORIGINAL, FIG4, RMW, "--format", "html").stdout
    assert page.count('<table class="trace">') == 1 and page.count("<article") == 2
    smaller = min((FIG4, RMW), key=lambda it: Path(it).stat().st_size)
    assert f"rspverify explain {ORIGINAL} {smaller}" in page, "the smallest test has it"
    assert "1 of 2 findings with an execution are shown step by step" in page


def test_pictures_are_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    first = run(ORIGINAL, FIG4, "--format", "html").stdout
    monkeypatch.setattr("rspverify.drawing.draw.draw", lambda *_: 1 / 0)
    second = run(ORIGINAL, FIG4, "--format", "html").stdout
    pictures = [page[page.index("<svg") : page.index("</svg>")] for page in (first, second)]
    assert pictures[0] == pictures[1]


def test_an_interrupt_while_details_are_asked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def details(*_: Any, **__: Any) -> Generator[Any, None, None]:
        raise KeyboardInterrupt
        yield

    monkeypatch.setattr("rspverify.drawing.details.details", details)
    given = (f"--report=html={tmp_path / 'h'}", f"--report=json={tmp_path / 'j'}")
    assert run(ORIGINAL, FIG4, *given).exit_code == 130
    page = (tmp_path / "h").read_text()
    assert "interrupted after all 1 verdicts" in page and "row 2, load DV,N" in page
    assert json.loads((tmp_path / "j").read_text())["summary"]["UNSOUND"] == 1
