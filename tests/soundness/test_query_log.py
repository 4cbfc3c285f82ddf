"""The questions behind a verdict: all that matter are kept, confirmed by others, and re-checked."""

from __future__ import annotations

import importlib.util
import json
import re
from pathlib import Path

import pytest
import z3
from checks import MODEL, ROOT, judged, litmus, scheme_named
from typer.testing import CliRunner, Result

import rspverify
from rspverify.axiomatic.cat import load_model
from rspverify.cli import app
from rspverify.limits import Limits
from rspverify.litmus.reader import read_program_file
from rspverify.mapping.mapped import Mapped
from rspverify.programs.meaning import program_of
from rspverify.programs.notation import read_notation
from rspverify.programs.writer import litmus_text
from rspverify.smt.solver import Solver
from rspverify.smt.term import variable
from rspverify.soundness import sides
from rspverify.soundness.case import Case
from rspverify.soundness.check import check
from rspverify.soundness.outcomes import outcomes
from rspverify.soundness.query_log import Contradiction, not_confirmed, write_queries
from rspverify.soundness.settings import Engine, Settings
from rspverify.soundness.sides import AnyOf, ModelSide, Query, QueryLog
from rspverify.source import Source
from rspverify.translators import read_scheme_or_table
from rspverify.verdict import Verdict, Word

ORIGINAL, PROPOSED = (scheme_named(name) for name in ("original", "proposed"))
FIG4, EX3 = (litmus(f"rsp/paper/{name}") for name in ("Fig4", "Ex3"))
SAMPLE = sorted(
    str(path)
    for family in ("MP", "IRIW", "RMW", "WRC", "atomic-data", "multi-device")
    for path in sorted((ROOT / "litmus/rsp" / family).glob("*.litmus"))[::12]
)
SOLVING = [Engine.EVENTS, Engine.UNROLL]


def solver(folder: Path, body: str, name: str = "fake") -> str:
    """A program that is called with the file of a question, and how often is in `asked`."""
    path = folder / name
    path.write_text(f"#!/bin/sh\necho . >> {folder}/asked\n{body}\n")
    path.chmod(0o755)
    return str(path)


def times_asked(folder: Path) -> int:
    path = folder / "asked"
    return len(path.read_text().splitlines()) if path.exists() else 0


def z3_says(asked: Query) -> bool:
    own = Solver()
    own.add(*asked.terms)
    return own.find() is not None


# ---- What is kept ----------------------------------------------------------------------------------


@pytest.mark.parametrize("engine", SOLVING)
def test_a_sound_rests_on_two_noes(engine: Engine, tmp_path: Path) -> None:
    """No race, and nothing left on the machine; asked again, each question has the same answer."""
    agrees = solver(tmp_path, "echo unsat")
    sound = 0
    for path in SAMPLE if engine is Engine.EVENTS else SAMPLE[::2]:
        program = read_program_file(path)
        for scheme in (ORIGINAL, PROPOSED):
            log: QueryLog = []
            case = Case(program, scheme, MODEL, Settings(engine=engine, confirm=agrees))
            verdict, asked = check(case, log=log), log
            assert [z3_says(each) for each in asked] == [each.satisfiable for each in asked]
            if verdict.word is Word.SOUND:
                last = "breaks" if engine is Engine.EVENTS else "other"
                assert [it.name for it in asked if not it.satisfiable] == ["race", last]
                sound += 1
                assert times_asked(tmp_path) == 2 * sound
                assert verdict.confirmed == agrees
            else:
                assert verdict.confirmed is None
    assert sound >= 5


def test_the_last_no_excludes_only_what_is_allowed() -> None:
    """Each outcome that is left out of the last question is one that the model was asked about."""
    settings = Settings(engine=Engine.EVENTS)
    name = "IRIW/IRIW+st.WG+st.WG+ld.WG-ld.WG+ld.DV.R-ld.DV.R@012-3"
    program = litmus(f"rsp/{name}")
    for scheme in (ORIGINAL, PROPOSED):
        log: QueryLog = []
        verdict = check(Case(program, scheme, MODEL, settings), log=log)
        names = [each.name for each in log]
        assert verdict.word is Word.SOUND
        assert names.count("breaks") == names.count("allowed") + 1
        assert all(it.satisfiable for it in log if it.name == "allowed")


def test_nothing_is_kept_that_nobody_wants(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sides, "Query", lambda *_: pytest.fail("a question is kept"))
    judged(FIG4, PROPOSED)


PRIVATE = """name: private
target: vulkan
rows:
  - {op: load, order: relaxed, code: ["ld.nonpriv.sc0 r,x"]}
  - {op: store, order: relaxed, code: ["st.nonpriv.sc0 x,v"]}
"""
RELAXED = "st.rlx.DV x 1 || r0=ld.rlx.DV x"


def test_a_target_that_races_is_unsound_whoever_looks_on() -> None:
    """Code in Vulkan that is undefined where the source is not: its race is asked about as well, if
    questions are written down, if the code may be one of several, and where outcomes are listed.
    Nobody says that an execution was found again which is not shown."""
    model, table = load_model("rc11-scoped"), read_scheme_or_table(Source("p.yaml", PRIVATE))
    case = Case(program_of(read_notation(RELAXED), "t"), table, model, Settings())
    log: QueryLog = []
    for verdict in (check(case), check(case, log=log)):
        assert verdict.word is Word.UNSOUND and "the target alone is undefined" in verdict.reason
    assert [(it.name, it.satisfiable) for it in log] == [("race", False), ("race", True)]
    made = case.compiled()
    assert isinstance(made, Mapped)
    sides = [ModelSide(case.program, model), ModelSide(made.program, made.model)]
    assert AnyOf(sides).race() is not None
    listed = outcomes(case.program, model, [table], "t", Settings())
    assert all(it.reached == {"private": None} for it in listed.outcomes)
    assert any("private: the target alone is undefined" in it for it in listed.notes)
    test = Source("t.litmus", litmus_text(read_notation(RELAXED), "t"))
    shown = rspverify.explain(Source("p.yaml", PRIVATE), test, Settings(model="rc11-scoped"))
    assert "the code that is undefined" in shown.explanation.reach


# ---- --confirm -------------------------------------------------------------------------------------


def proposed(confirm: str, **more: object) -> Verdict:
    settings = Settings(confirm=confirm, **more)  # type: ignore[arg-type]
    return judged(FIG4, PROPOSED, settings)


@pytest.mark.parametrize("name", ["cvc5", "bitwuzla"])
@pytest.mark.parametrize("engine", SOLVING)
def test_another_solver_confirms(name: str, engine: Engine) -> None:
    if importlib.util.find_spec(name) is None:
        pytest.skip(f"{name} is not installed")
    verdict = proposed(name, engine=engine)
    assert (verdict.word, verdict.confirmed) == (Word.SOUND, name)


@pytest.mark.parametrize("engine", SOLVING)
def test_a_solver_that_says_the_opposite_is_an_internal_error(
    engine: Engine, tmp_path: Path
) -> None:
    with pytest.raises(Contradiction, match=r"^.*fake contradicts z3 on the question «Has the"):
        proposed(solver(tmp_path, "echo sat"), engine=engine)


def test_a_contradiction_on_the_last_question_is_one(tmp_path: Path) -> None:
    """The first answer agrees, the second does not."""
    lying = solver(tmp_path, f"[ $(wc -l < {tmp_path}/asked) = 1 ] && echo unsat || echo sat")
    with pytest.raises(Contradiction, match="own rf and mo break the model"):
        proposed(lying)


@pytest.mark.parametrize(
    "body, said", [("echo unknown", "fake said unknown"), ("true", "fake said nothing")]
)
def test_a_solver_that_gives_up_confirms_nothing(body: str, said: str, tmp_path: Path) -> None:
    """UNKNOWN, with the answer of the first solver and what is missing."""
    name = solver(tmp_path, body)
    verdict = proposed(name)
    assert verdict.word is Word.UNKNOWN
    assert verdict.confirmed is None
    assert verdict.reason.startswith(
        f"every outcome of the compiled program is allowed, but not confirmed by {name}: «Has the "
        f"program a consistent execution with a race under opencl-rsp?»: {said}; «Has the compiled "
    )
    assert verdict.reason.count(said) == 2


def test_a_solver_that_hangs_is_given_up_on(tmp_path: Path) -> None:
    verdict = proposed(solver(tmp_path, "sleep 600"), seconds=1)
    assert verdict.word is Word.UNKNOWN
    assert verdict.reason.endswith(("fake gave up: timeout", "timeout of 1 s"))


def test_only_a_sound_is_confirmed(tmp_path: Path) -> None:
    """A counterexample is replayed, a race shown, and UNKNOWN claims nothing."""
    lying = solver(tmp_path, "echo sat")
    assert judged(FIG4, ORIGINAL, confirm=lying).word is (Word.UNSOUND)
    assert judged(EX3, PROPOSED, confirm=lying).word is Word.RACY
    assert times_asked(tmp_path) == 0


def test_time_that_is_over_is_said(tmp_path: Path) -> None:
    log = [Query("race", "Is it?", [variable("x")], False)]
    assert not_confirmed(log, solver(tmp_path, "echo unsat"), Limits(seconds=0)) == (
        f"not confirmed by {tmp_path}/fake: timeout of 0 s"
    )
    assert times_asked(tmp_path) == 0


# ---- --smt-dir -------------------------------------------------------------------------------------


def status_of(path: Path) -> str:
    (status,) = re.findall(r"^\(set-info :status (\w+)\)$", path.read_text(), re.MULTILINE)
    return status


def z3_on(path: Path) -> str:
    reader = z3.Solver()
    reader.from_file(str(path))
    return str(reader.check())


@pytest.mark.parametrize("engine", SOLVING)
def test_the_files_have_their_status(engine: Engine, tmp_path: Path) -> None:
    """Read by z3 with its own parser; of sound, unsound and racy programs."""
    settings = Settings(engine=engine, smt_dir=str(tmp_path / "a" / "b"))
    words = [
        judged(each, scheme, settings).word
        for each in (FIG4, EX3)
        for scheme in (ORIGINAL, PROPOSED)
    ]
    assert {Word.SOUND, Word.UNSOUND, Word.RACY} <= set(words)
    files = sorted((tmp_path / "a" / "b").rglob("*.smt2"))
    assert {status_of(path) for path in files} == {"sat", "unsat"}
    for path in files:
        assert z3_on(path) == status_of(path), path.name


def test_a_file_says_what_it_asks(tmp_path: Path) -> None:
    judged(FIG4, PROPOSED, smt_dir=str(tmp_path))
    files = sorted(tmp_path.rglob("*.smt2"))
    assert [path.name.rpartition("Fig4.litmus@")[2] for path in files] == [
        *("proposed.01-race.smt2", "proposed.02-complete.smt2", "proposed.03-breaks.smt2")
    ]
    lines = files[2].read_text().splitlines()
    assert lines[0].endswith(": question 3 of 3 behind SOUND")
    assert lines[1] == f"; test {FIG4.source.name}, scheme proposed, model opencl-rsp"
    assert lines[2] == "; engine events, outcome reading"
    assert lines[3].startswith("; Asks: Has the compiled program an execution whose own rf and mo")
    assert lines[5] == "; z3 answered unsat."


def test_files_of_an_earlier_run_go(tmp_path: Path) -> None:
    """Of the same test and scheme alone."""
    folder = tmp_path / "questions"
    chosen = Settings(smt_dir=str(folder))
    write_queries([Query("allowed", "Is it?", [], True)] * 101, chosen, "a+b.litmus", "s", "SOUND")
    write_queries([], chosen, "a.litmus", "s", "SOUND")
    (folder / "a+b.litmus@s.01-notes.txt").write_text("mine")
    (folder / "a+b.litmus@other.01-race.smt2").write_text("of another scheme")
    assert len(list(folder.iterdir())) == 103
    write_queries([Query("race", "Is it?", [], True)], chosen, "a+b.litmus", "s", "SOUND")
    assert sorted(path.name for path in folder.iterdir()) == [
        *("a+b.litmus@other.01-race.smt2", "a+b.litmus@s.01-notes.txt", "a+b.litmus@s.01-race.smt2")
    ]


def test_tests_of_similar_names_have_files_of_their_own(tmp_path: Path) -> None:
    chosen = Settings(smt_dir=str(tmp_path))
    for name in ("a/b.litmus", "a_b.litmus", "a.b.litmus", "../a/b.litmus", "/a/b.litmus"):
        write_queries([Query("race", "Is it?", [], True)], chosen, name, "s/1", "SOUND")
    found = [it.relative_to(tmp_path).as_posix() for it in tmp_path.rglob("*.smt2")]
    end = ".litmus@s%2F1.01-race.smt2"
    assert set(found) == {f"{it}{end}" for it in ("a.b", "a/b", "a_b", "%2F/a/b", "%2E%2E/a/b")}


def test_a_folder_that_cannot_be_written_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    for folder in (tmp_path / "file", tmp_path / "file" / "inside"):
        verdict = judged(FIG4, PROPOSED, smt_dir=str(folder))
        assert verdict.word is Word.ERROR
        assert verdict.reason.startswith(f"{folder}: its files must be writable, not: ")


# ---- The command line ------------------------------------------------------------------------------


def run(*arguments: str) -> Result:
    proposed_path, test = ROOT / "schemes/proposed.yaml", ROOT / "litmus/rsp/paper/Fig4.litmus"
    return CliRunner().invoke(app, [arguments[0], str(proposed_path), str(test), *arguments[1:]])


def test_a_confirmed_sound_is_shown(tmp_path: Path) -> None:
    name = solver(tmp_path, "echo unsat")
    result = run("check", "--confirm", name)
    assert result.exit_code == 0
    assert f"1 of 1 SOUND confirmed by {name}" in " ".join(result.stdout.split())
    document = json.loads(run("check", "--confirm", name, "--format", "json").stdout)
    assert [it["confirmed"] for it in document["results"]] == [name]


@pytest.mark.parametrize(
    ("installed", "said"),
    [([], "a program that reads SMT-LIB 2"), (["cvc5"], "cvc5 or a program that reads SMT-LIB 2")],
)
def test_a_solver_that_is_not_there(
    installed: list[str], said: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What is there is listed."""
    monkeypatch.setattr("rspverify.smt.portfolio.other_solvers", lambda: installed)
    result = run("check", "--confirm", "bitwuzla")
    assert result.exit_code == 2
    hint = "  hint: pip install bitwuzla\n"
    assert result.stderr == f"the second solver must be {said}, not bitwuzla\n{hint}"


def test_the_explicit_engine_asks_nobody() -> None:
    result = run("check", "--engine", "explicit", "--smt-dir", "questions")
    assert result.exit_code == 2
    assert "--confirm and --smt-dir must go with --engine events or unroll" in result.stderr
