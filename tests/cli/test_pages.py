"""`--format html` and `--report` of what is found: what they ask and show."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from command_line import run
from html_pages import Page, require_harmless

from rspverify.api import details

pytestmark = pytest.mark.usefixtures("in_repository", "one_cache", "in_one_process")

ORIGINAL, PROPOSED = "schemes/original.yaml", "schemes/proposed.yaml"
BROKEN = "tests/scheme/broken/proposed-no-release-flush.yaml"
FIG4 = "litmus/rsp/paper/Fig4.litmus"
EX3 = "litmus/rsp/paper/Ex3.litmus"
CORR = "litmus/rsp/coherence/CoRR+st.WG+ld.DV.R-ld.DV.R.litmus"
RMW = "litmus/rsp/RMW/RMW+add3.WG+st.DV.R.litmus"
MP = "litmus/rsp/MP/MP+st.na-st.DV+ld.DV-ld.na.litmus"


def page_of(*arguments: str) -> tuple[Page, str]:
    text = run(*arguments, "--format", "html").stdout
    page = Page(text)
    require_harmless(page)
    return page, text


def test_compare_shows_what_changed_under_the_scheme_that_breaks_it() -> None:
    page, text = page_of("compare", PROPOSED, ORIGINAL, FIG4)
    assert page.all("h3") == ["WORSE Fig4: SOUND → UNSOUND"]
    assert "worse" in page.all("a") and "    - " not in text
    assert any(it.startswith("    + ") and it.endswith("forbidden") for it in page.all("p"))
    assert "schemes/original.yaml:12: row 2, load DV,N: INV_L1 WG, LD r x" in text
    assert "INV_L1 WG" in page.all("ins") and "INV_L1 WG" in page.all("del")
    assert text.count('<table class="trace">') == 1 and "<svg " in text
    assert "rspverify explain schemes/original.yaml litmus/rsp/paper/Fig4.litmus" in text


def test_compare_shows_what_got_better_under_the_old_scheme() -> None:
    page, text = page_of("compare", ORIGINAL, PROPOSED, FIG4)
    assert page.all("h3") == ["BETTER Fig4: UNSOUND → SOUND"]
    assert "What is shown below is under schemes/original.yaml." in text


def test_mutate_shows_what_each_mutant_fails() -> None:
    page, text = page_of("mutate", "--no-proof", PROPOSED, MP)
    killed = page.all("td", "by-UNSOUND")
    assert killed and set(killed) == {"UNSOUND"}
    assert text.count('<table class="trace">') == len(killed)
    lived = page.all("td", "SURVIVES")
    assert page.all("li") == [f"{len(lived)} SURVIVES", f"{len(killed)} UNSOUND"]
    first, *_ = page.all("h3")
    assert first.startswith("SURVIVES row ")
    assert "FLU_L1 WG" in page.all("del")


def test_hunt_shows_each_program_under_the_scheme_that_it_breaks() -> None:
    page, text = page_of("hunt", ORIGINAL, "--events", "2", "--no-count")
    assert page.all("h3") == ["UNSOUND r0=inc.WG x || st.DV.R x 10"]
    assert "schemes/original.yaml:26: row 6, store DV,R" in text
    assert text.count('<table class="trace">') == 1 and "atomic_store_explicit_remote" in text


def test_repair_shows_the_schemes_found_and_what_forced_them() -> None:
    given = ("--rows", "5", "--hunt-events", "0", "--than", PROPOSED)
    page, text = page_of("repair", BROKEN, MP, *given)
    assert "1  proposed-no-release-flush-repaired-1  cost " in " ".join(page.all("pre"))
    assert page.all("ins") == ["FLU_L1 WG"]
    assert page.all("h3") == ["UNSOUND MP+st.na-st.DV+ld.DV-ld.na"]
    assert f"{BROKEN}:10: row 5, store DV,N: ST r x" in text
    assert text.count('<table class="trace">') == 1


HUNT = ("hunt", ORIGINAL, "--events", "2", "--no-count")


def test_reports_beside_what_is_printed(tmp_path: Path) -> None:
    files = {form: tmp_path / form for form in ("html", "json")}
    wanted = [f"--report={form}={file}" for form, file in files.items()]
    plain, result = (run(*HUNT, *more) for more in ([], wanted))
    assert result.exit_code == plain.exit_code == 1
    seconds = re.compile(r"\d+ s\b")
    assert seconds.sub("", result.stdout) == seconds.sub("", plain.stdout)
    assert files["html"].read_text().count('<table class="trace">') == 1
    assert json.loads(files["json"].read_text())["stronger"] == [6]


def test_what_cannot_be_written_loses_nothing(tmp_path: Path) -> None:
    file = tmp_path / "page.html"
    file.mkdir()
    result = run(*HUNT, f"--report=html={file}")
    assert result.exit_code == 2
    assert str(file) in result.stderr
    assert "r0=inc.WG x || st.DV.R x 10" in result.stdout and "is sound for" in result.stdout


# ---- of check ------------------------------------------------------------------------------------


def test_a_finding_has_all_that_it_rests_on() -> None:
    page = run("check", ORIGINAL, PROPOSED, FIG4, EX3, "--format", "html").stdout
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
    result = run("check", ORIGINAL, CORR, "--progress", "--format", "html")
    assert result.exit_code == 1
    assert "after which nothing can go on" in result.stdout
    assert "STUCK no instruction can happen after 3 steps" in result.stdout
    assert "explain --progress" in result.stdout and "<svg " not in result.stdout


def test_details_are_asked_for_only_where_they_are_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("rspverify.drawing.details.details", lambda *_, **__: 1 / 0)
    assert run("check", ORIGINAL, FIG4, "--format", "sarif").exit_code == 1
    assert run("check", PROPOSED, FIG4, "--format", "html").exit_code == 0
    held = (ORIGINAL, FIG4, "--expect", "litmus/rsp/expected.yaml")
    assert run("check", *held, "--format", "html").exit_code == 0


def test_so_many_have_details_and_the_rest_is_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(details, "MOST", 1)
    page = run("check", ORIGINAL, FIG4, RMW, "--format", "html").stdout
    assert page.count('<table class="trace">') == 1 and page.count("<article") == 2
    smaller = min((FIG4, RMW), key=lambda it: Path(it).stat().st_size)
    assert f"rspverify explain {ORIGINAL} {smaller}" in page, "the smallest test has it"
    assert "1 of 2 findings with an execution are shown step by step" in page


def test_pictures_are_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    first = run("check", ORIGINAL, FIG4, "--format", "html").stdout
    monkeypatch.setattr("rspverify.drawing.draw.draw", lambda *_: 1 / 0)
    second = run("check", ORIGINAL, FIG4, "--format", "html").stdout
    pictures = [page[page.index("<svg") : page.index("</svg>")] for page in (first, second)]
    assert pictures[0] == pictures[1]
