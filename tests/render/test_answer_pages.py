"""The pages of answers: no text breaks them, and what is cut is said."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest
from filled import filled
from hostile_names import HOSTILE
from html_pages import Page, detail_of, fault_of, require_harmless
from render.test_check_html import detailed

from rspverify.answers import Detail, OutcomesReport, RowsAtFault
from rspverify.engineering.compare.models import ModelComparison
from rspverify.engineering.comparison import Change, Comparison
from rspverify.engineering.hunt.finding import HuntReport
from rspverify.engineering.mutation import Fate, MutationReport
from rspverify.engineering.repair.answer import RepairReport
from rspverify.proof.proof import ProofReport
from rspverify.records import replace
from rspverify.render import (
    check,
    compare,
    compare_models,
    hangs,
    hunt,
    mutate,
    outcomes,
    prove,
    repair,
    selftest,
)
from rspverify.render.document import Document
from rspverify.render.forms import html as form
from rspverify.render.forms import write
from rspverify.render.words import changed_codes
from rspverify.selftest.run import SelftestReport
from rspverify.soundness.hang import ProgressReport
from rspverify.verdict import Word
from rspverify.wording import visible


def comparison(name: str) -> Comparison:
    it = filled(Comparison, name)
    (test,) = it.tests
    new = replace(test.new, verdict=Word.UNSOUND)
    return replace(it, tests=(replace(test, change=Change.WORSE, new=new),))


def repaired(name: str) -> RepairReport:
    it = filled(RepairReport, name)
    rows = (replace(it.space.rows[0], row=2), replace(it.space.rows[0], stays=None))
    return replace(it, space=replace(it.space, rows=rows))


def told(name: str) -> tuple[dict[str, Detail], dict[str, RowsAtFault]]:
    """What a finding of this name rests on."""
    return {name: detail_of(name)}, {name: fault_of(name)}


DOCUMENTS: dict[str, Callable[[str], Document]] = {
    "check": lambda name: check.document([detailed(name, folder=name, about=name)]),
    "compare": lambda name: compare.document(comparison(name), *told(name)),
    "mutate": lambda name: mutate.document(filled(MutationReport, name), told(name)[0]),
    "hunt": lambda name: hunt.document(filled(HuntReport, name), *told(name)),
    "repair": lambda name: repair.document(repaired(name), *told(name)),
    "prove": lambda name: prove.document(filled(ProofReport, name), told(name)[0]),
    "outcomes": lambda name: outcomes.document(filled(OutcomesReport, name)),
    "progress": lambda name: hangs.document(filled(ProgressReport, name)),
    "compare --models": lambda name: compare_models.document(filled(ModelComparison, name)),
    "selftest": lambda name: selftest.document(filled(SelftestReport, name)),
}
FOUND = ("check", "compare", "mutate", "hunt", "repair")
"""Those that show executions."""


def page_of(command: str, name: str) -> str:
    return form.write(DOCUMENTS[command](name))


@pytest.mark.parametrize("name", [*HOSTILE, "<!--", "--!>", "</style>", "' onx='", "{{ 7*7 }}"])
@pytest.mark.parametrize("command", DOCUMENTS)
def test_no_name_breaks_it(command: str, name: str) -> None:
    text = page_of(command, name)
    assert visible(text) == text
    page = Page(text)
    require_harmless(page)
    markdown = write("markdown", DOCUMENTS[command](name))
    assert visible(markdown) == markdown
    if command in FOUND:
        assert visible(name) in page.all("code")
        assert len(page.all("table", "trace")) == 2
        assert "<b>P1</b>" not in text and "svg" in {tag for tag, _, _ in page.elements}


@pytest.mark.parametrize("command", ["compare", "mutate"])
def test_what_leads_to_a_finding(command: str) -> None:
    page = Page(page_of(command, "x"))
    (link,) = {it["href"] for tag, it, _ in page.elements if tag == "a" and "href" in it} - {
        "#main"
    }
    (article,) = (it for tag, it, _ in page.elements if tag == "article")
    assert link == f"#{article['id']}" == "#f1"


def test_more_rows_than_a_browser_opens_soon(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(form, "MOST_CELLS", 15)
    it = filled(MutationReport, "x")
    (found,) = it.mutants
    last = replace(found.mutant, name="last")
    lived = replace(found, verdict=Fate.SURVIVES, test=None, file=None, mutant=last)
    named = (replace(found, mutant=replace(found.mutant, name=f"m{n}")) for n in range(20))
    page = Page(form.write(mutate.document(replace(it, mutants=(*named, lived)))))
    said = r"3 of \d+ mutants are shown, those with a finding first; the form json has all of them."
    assert any(re.fullmatch(said, each) for each in page.all("p", "warning"))
    assert set(page.all("td", "SURVIVES")) == {"SURVIVES"}


def test_nothing_found() -> None:
    it = replace(filled(HuntReport, "x"), findings=(), phases=())
    page = Page(form.write(hunt.document(it)))
    assert not page.all("article")


@pytest.mark.parametrize(
    ("old", "new", "before", "after"),
    [
        ("a b", "a b", "a b", "a b"),
        ("a b", "b", "-a b", "b"),
        ("b", "a b", "b", "+a b"),
        ("a b c", "a d c", "a -b c", "a +d c"),
        ("", "a", "nothing", "+a"),
        ("a", "", "-a", "nothing"),
        (None, "a", "no row", "+a"),
        ("a", None, "-a", "no row"),
        ("", "", "nothing", "nothing"),
    ],
)
def test_what_differs_of_codes(old: str | None, new: str | None, before: str, after: str) -> None:
    marks = {"del": "-", "ins": "+"}
    codes = changed_codes(*(None if it is None else it.split() for it in (old, new)))
    shown = [
        "".join(marks.get(piece.kind, "") + piece.text for piece in code.pieces) for code in codes
    ]
    assert [it.replace("; ", " ") for it in shown] == [before, after]
