"""Two models: what each allows alone, of tests with known answers and by the smallest programs."""

from __future__ import annotations

import sys
from functools import cache, partial
from itertools import pairwise
from pathlib import Path

import command_line
import pytest
import yaml

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from enumeration import naive

from rspverify.axiomatic.cat import load_model
from rspverify.commands.compare import compare_models
from rspverify.engineering.compare.models import (
    Agreement,
    ComparedTest,
    ModelComparer,
    ModelComparison,
    SearchedPrograms,
)
from rspverify.enumeration.packed import decoded
from rspverify.enumeration.space import Space
from rspverify.enumeration.survey import Survey, no_races
from rspverify.judge.judge import Judge
from rspverify.soundness import refutation
from rspverify.soundness.settings import Settings

ROOT = Path(__file__).resolve().parents[2]
FOLDER = ROOT / "litmus/models"


@cache
def answers_of(suite: str) -> dict[str, dict[str, str]]:
    text = (FOLDER / suite / "expected.yaml").read_text()
    answers: dict[str, dict[str, str]] = yaml.safe_load(text)["answers"]
    return answers


def known(suite: str) -> list[tuple[str, str, str]]:
    """A test of `differences` and two models with an answer: each is compared with the next."""
    found = []
    for test, answers in answers_of(suite).items():
        if test.startswith("differences/"):
            models = [name for name, it in answers.items() if it != "UNSUPPORTED"]
            found += [(f"{suite}/{test}", *pair) for pair in pairwise([*models, models[0]])]
    return found


@pytest.mark.parametrize(("test", "first", "second"), [*known("c11"), *known("opencl")])
def test_known_answers(test: str, first: str, second: str) -> None:
    """Whether a test is undefined is as expected; what its condition says is so where it differs."""
    suite, _, name = test.partition("/")
    answers = answers_of(suite)[name]
    (found,) = compare_models(first, second, str(FOLDER / test))
    racy = {model for model in (first, second) if "racy" in answers[model]}
    alone = {it.allows for it in found.differences if it.race is not None}
    assert (found.answer is Agreement.UNDEFINED) == (len(racy) == 2)
    assert alone == (racy if len(racy) == 1 else set())
    if not racy and answers[first] != answers[second]:
        assert found.answer is Agreement.DIFFERENT
        for each in found.differences:
            assert each.graph is not None and each.outcomes
            assert each.reason.startswith(f"{each.outcomes[0]} breaks {' or '.join(each.axioms)}")
        never = {model for model in (first, second) if answers[model].startswith("Never")}
        assert never <= {it.forbids for it in found.differences}


def searched(first: str, second: str, **bounds: object) -> ModelComparison:
    return compare_models(first, second, **bounds).report()  # type: ignore[arg-type]


def kinds(it: ComparedTest) -> set[tuple[str, bool]]:
    """Who allows more, and whether it leaves the program undefined."""
    return {(each.allows, each.race is not None) for each in it.differences}


def test_load_buffering_is_what_out_of_thin_air_reads_take() -> None:
    """Bracketed, without ifs: nothing in three operations, and just this in four."""
    models = load_model("c11-partial-sc"), load_model("rc11")
    whole = Space(events=4, threads=2, guards=0, operations=("ld.rlx.DV", "st.rlx.DV"))
    shown: list[SearchedPrograms] = []
    comparer = ModelComparer(models, Settings(), Judge())
    assert list(comparer.search(whole.within(3), shown.append)) == []
    (found,) = comparer.search(whole, shown.append)
    assert found.program == "r0=ld.rlx.DV x; st.rlx.DV y 10 || r0=ld.rlx.DV y; st.rlx.DV x 20"
    assert kinds(found) == {("c11-partial-sc", False)}
    assert found.differences[0].axioms == ("NoThinAir",)
    assert shown[-1].within["events"] == 4
    assert sum(it.complete for it in shown) == 2 and not any(it.unknown for it in shown)


def test_remote_flags_are_all_that_hrf_lacks() -> None:
    """It leaves more undefined, and nothing else: in two operations, and in none fewer."""
    assert searched("opencl-hrf", "opencl-rsp", events=1).tests == ()
    (found,) = searched("opencl-rsp", "opencl-hrf", events=2).tests
    assert found.program == "r0=ld.WG x || st.DV.R x 10"
    assert kinds(found) == {("opencl-hrf", True)}
    assert found.text is not None and "st.DV.R" in found.text
    without = searched("opencl-hrf", "opencl-rsp", events=2, scopes=["WG", "DV"])
    assert without.tests == ()


@pytest.mark.parametrize("names", [("ld.na", "st.na"), ("ld.WG", "st.DV", "inc.WG")])
def test_every_program_is_searched(names: tuple[str, ...]) -> None:
    """Racy ones, too: as many as there are with every name tried."""
    space = Space(events=3, operations=names)
    phases = list(Survey(space, no_races()).phases())
    found = {naive.of_shape(decoded(each), space) for phase in phases for each in phase.core}
    right = {it for size in (1, 2, 3) for it in naive.programs(names, size, 3, 2)}
    assert found == right
    assert sum(phase.counts.programs for phase in phases) == len(right)


def test_a_model_allows_what_it_allows() -> None:
    """Whoever it is called, and whatever its text."""
    report = compare_models("opencl-rsp", "opencl-rsp", str(FOLDER / "opencl/differences")).report()
    assert {it.answer for it in report.tests} <= {Agreement.SAME, Agreement.UNDEFINED}
    assert searched("rc11", "rc11", events=2, orders=["rlx", "sc"], kinds=["ld", "st"]).tests == ()


LB = str(FOLDER / "c11/differences/LB.rlx.litmus")


run = partial(command_line.run, "compare", "--models")


@pytest.mark.parametrize("answer", [None, {}])
def test_brute_force_that_disagrees_is_an_internal_error(
    answer: object, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """With who allows the outcome, or with who forbids it."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(refutation, "consistent_execution", lambda *_: answer)
    result = run("c11-partial-sc", "rc11", LB)
    assert result.exit_code == 70
    assert "internal error" in result.stdout


def test_exit_codes() -> None:
    assert run("c11-partial-sc", "rc11", LB).exit_code == 1
    assert run("c11-partial-sc", "c11-simp", LB).exit_code == 0
    consume = str(FOLDER / "c11/differences/ISA2.con.litmus")
    assert run("c11-partial-sc", "rc11", consume).exit_code == 3
    (found,) = command_line.document("compare", "--models", "c11-partial-sc", "rc11", LB)["tests"]
    assert found["answer"] == "DIFFERENT"
