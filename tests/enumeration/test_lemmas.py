"""What the lemmas are proved for is pinned: under an edited model nothing is argued."""

from __future__ import annotations

from pathlib import Path
from shutil import copytree

import pytest

from rspverify.axiomatic.cat import load_model
from rspverify.axiomatic.model import MemoryModel
from rspverify.engineering.hunt.by_formula import why_not
from rspverify.engineering.hunt.by_programs import ByPrograms
from rspverify.enumeration.lemmas import PROVED_FOR
from rspverify.enumeration.naming import line_of
from rspverify.enumeration.packed import decoded
from rspverify.enumeration.space import Space
from rspverify.enumeration.survey import Survey
from rspverify.scheme.reader import shipped_scheme
from rspverify.soundness.settings import Settings

ROOT = Path(__file__).resolve().parents[2]
MODELS = ROOT / "rspverify" / "axiomatic" / "models"
SCHEME = shipped_scheme("proposed")


def test_the_lemmas_are_proved_for_the_model_that_is_shipped() -> None:
    now = load_model("opencl-rsp").meaning_digest
    assert now == PROVED_FOR, (
        "opencl-rsp says something else than what was argued about. Read the proofs in"
        " docs/proofs.md again for the new clauses: «Why distinct values lose little»,"
        " «Races» (that races stay, the interleavings, stronger operations), «What need not be decided», and"
        " «Nothing is lost» of the formulas. Restate what changes in enumeration/tables.py (incl),"
        " enumeration/lemmas.py and hunt/formula. Then"
        f" put {now} into PROVED_FOR and into docs/proofs.md."
    )
    assert PROVED_FOR in (ROOT / "docs" / "proofs.md").read_text(encoding="utf-8")


def edited(
    monkeypatch: pytest.MonkeyPatch, folder: Path, file: str, clause: str, other: str
) -> MemoryModel:
    """What `opencl-rsp` means when one clause of the shipped files has been edited."""
    models = copytree(MODELS, folder / "models")
    text = (models / file).read_text(encoding="utf-8")
    assert clause in text
    (models / file).write_text(text.replace(clause, other), encoding="utf-8")
    for module in ("library", "cat", "catalogue"):
        monkeypatch.setattr(f"rspverify.axiomatic.{module}.SHIPPED", models)
    found = load_model("opencl-rsp")
    assert Path(found.files[1].path).is_relative_to(folder)
    return found


def listed(space: Space, model: MemoryModel) -> set[str]:
    """The programs that must be decided, where nothing is argued."""
    phases = Survey(space, model).phases()
    return {line_of(decoded(each), space) for phase in phases for each in phase.core}


def test_races_are_those_of_the_edited_model(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Without the remote half of incl a remote load races with a store that cannot reach it."""
    space = Space(events=2, locations=1, operations=("st.WG", "ld.DV.R"))
    promoted = "st.WG x 10 || r0=ld.DV.R x"
    assert promoted in listed(space, load_model("opencl-rsp"))
    halves = " | ([rem]; incl1) | (incl1^-1; [rem])"
    model = edited(monkeypatch, tmp_path, "opencl-incl-common.cat", halves, "")
    survey = Survey(space, model)
    assert not survey.argued
    assert promoted not in listed(space, model)
    assert why_not(survey, SCHEME, Settings()) is not None


def test_what_was_safe_is_decided_under_the_edited_model(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """A model in which no load may read what is stored: even one thread alone then breaks it."""
    space = Space(events=2, threads=1, operations=("st.WG", "ld.WG"))
    shipped = Survey(space, load_model("opencl-rsp"))
    assert shipped.argued
    strategy = ByPrograms(shipped, SCHEME, Settings())
    assert strategy.first() is None and not strategy.done
    clause = "irreflexive rf; hb as Rf"
    model = edited(
        monkeypatch, tmp_path, "opencl-axioms-common.cat", clause, f"{clause}\nempty rf & thd as No"
    )
    found = ByPrograms(Survey(space, model), SCHEME, Settings()).first()
    assert found is not None and found.program.title == "hunt+st.WG-ld.WG"


def test_what_changes_nothing_is_argued_as_before(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    comment = "(* RSP paper, section 3:"
    model = edited(monkeypatch, tmp_path, "opencl-incl-common.cat", comment, "(* Section 3:")
    assert Survey(Space(), model).argued
