"""The result cache: an answer is reused exactly where all that it depends on is the same."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from caching import QUICK, ROOT, edited, ran

from rspverify.judge.inputs import Form, FormQuestion, LoadedTest, NamedScheme
from rspverify.judge.judge import Judge
from rspverify.judge.run import read_inputs
from rspverify.judge.verdicts import Answer, answers_may_be_kept, worth_keeping
from rspverify.records import fields_of, replace
from rspverify.scheme.reader import read_scheme
from rspverify.soundness.settings import L2, Dependencies, Engine, Reading, Settings
from rspverify.source import InputError, Source
from rspverify.verdict import Verdict, Word

ORIGINAL, PROPOSED = ROOT / "schemes/original.yaml", ROOT / "schemes/proposed.yaml"
PAPER = ROOT / "litmus/rsp/paper"
FIG4, EX1, EX3, EX4 = (PAPER / f"{name}.litmus" for name in ("Fig4", "Ex1", "Ex3", "Ex4"))
ALL_SCOPE = ROOT / "litmus/rsp/multi-device/MD+st.na-st.ALL+ld.ALL-ld.na@0--1.litmus"
TESTS = [FIG4, EX1, EX3, EX4, ALL_SCOPE]


@pytest.mark.parametrize("jobs", [1, 2])
def test_a_second_run_says_the_same_and_decides_nothing(jobs: int, tmp_path: Path) -> None:
    stuck = tmp_path / "stuck.yaml"
    rows = "  - {op: store, scope: [na, wg, dv], code: [LK_rmw DV, ST r x]}\n"
    rows += "  - {op: rmw, scope: [wg, dv], code: [LK_rmw DV, INC_L2 r x]}\n"
    rows += "  - {op: load, scope: [na, wg, dv], code: [LD r x]}\n"
    stuck.write_text(f"name: stuck\nrows:\n{rows}")
    schemes = [ORIGINAL, PROPOSED, stuck]
    without = ran(schemes, TESTS, jobs=jobs, cached=False)
    first = ran(schemes, TESTS, jobs=jobs)
    second = ran(schemes, TESTS, jobs=jobs)
    words = {each.verdict for each in first.results}
    assert words == {Word.SOUND, Word.UNSOUND, Word.RACY, Word.VACUOUS, Word.UNSUPPORTED}
    assert without.plain == first.plain == second.plain
    assert len(first.decided) == len(schemes) * len(TESTS)
    assert second.decided == set()
    assert not first.warnings + second.warnings


def test_an_edited_row_costs_only_the_tests_that_use_it(tmp_path: Path) -> None:
    ran([ORIGINAL], TESTS)
    row6 = "[LK_L2 x, FLU_L1 WG, ST r x, INV_L1 DV, UL_L2 x]"
    wider = edited(ORIGINAL, tmp_path / "original.yaml", row6, row6.replace("WG", "DV"))
    assert ran([wider], TESTS).decided == {("Ex4", "original")}
    assert ran([ORIGINAL, PROPOSED], [EX4]).decided == {("Ex4", "proposed")}


def test_what_no_verdict_depends_on_costs_nothing(tmp_path: Path) -> None:
    """The name and the place of a scheme, its comments, the order of its rows, rows unused."""
    before = ran([ORIGINAL], [FIG4, EX4])
    text = ORIGINAL.read_text()
    head, *rows = text.split("\n  - ")
    extra = "{op: store, scope: all, code: [ST r x]}"
    changed = "\n  - ".join([head, extra, *reversed([row.rstrip() for row in rows])]) + "\n"
    changed = changed.replace("name: original", "name: renamed  # and moved")
    place = tmp_path / "other" / "place.yaml"
    place.parent.mkdir()
    place.write_text(changed)
    after = ran([place], [FIG4, EX4])
    assert after.decided == set()
    same = [replace(each, scheme="renamed", scheme_file=str(place)) for each in before.plain]
    assert after.plain == same
    assert {(each.scheme, each.scheme_file) for each in after.results} == {("renamed", str(place))}


def test_a_refusal_names_the_scheme_that_it_is_of(tmp_path: Path) -> None:
    ran([PROPOSED], [ALL_SCOPE])
    renamed = edited(PROPOSED, tmp_path / "s.yaml", "name: proposed", "name: renamed")
    refused = ran([renamed], [ALL_SCOPE])
    assert refused.decided == {(ALL_SCOPE.stem, "renamed")}
    assert "scheme renamed has no row for store ALL,N" in refused.results[0].reason
    rows = renamed.read_text()
    rows += "  - {op: store, scope: all, code: [FLU_L1 DV, ST r x]}\n"
    rows += "  - {op: load, scope: all, code: [LD r x, INV_L1 DV]}\n"
    renamed.write_text(rows)
    assert ran([renamed], [ALL_SCOPE]).results[0].verdict is not Word.UNSUPPORTED


def form(text: str, test: str) -> Form:
    """What a test becomes under a scheme, both given as texts."""
    scheme = NamedScheme.by(read_scheme(Source("s", text)))
    return Judge().ask(FormQuestion(LoadedTest(Source("t", test), Settings()), scheme))


BARRIER = """OpenCL t
{ [x]=0; }
P0 (global int* x) { *x = 1; work_group_barrier(%s); }
scopeTree (device (work_group P0))
"""


@pytest.mark.parametrize(
    "flags, depends",
    [
        ("CLK_GLOBAL_MEM_FENCE, memory_scope_device", True),
        ("CLK_LOCAL_MEM_FENCE, memory_scope_device", False),
        ("CLK_GLOBAL_MEM_FENCE", False),
    ],
)
def test_a_barrier_depends_on_the_rows_of_its_fences(flags: str, depends: bool) -> None:
    full = (ROOT / "schemes/proposed-full.yaml").read_text()
    row = "order: release, remote: false,  code: [FLU_L1 WG]}"
    assert row in full
    one, other = (
        form(text, BARRIER % flags)
        for text in (full, full.replace(row, row.replace("FLU_L1 WG", "")))
    )
    assert one.code and (one != other) is depends


def test_a_barrier_without_rows_is_refused_by_name() -> None:
    text = "name: t\nmachine: rsp\nrows:\n  - {op: store, scope: [na], code: [ST r x]}\n"
    found = form(text, BARRIER % "CLK_GLOBAL_MEM_FENCE, memory_scope_device")
    assert not found.code and "scheme t has no row for " in (found.refusal or "")


def test_a_barrier_for_local_memory_depends_on_what_the_machine_has() -> None:
    store = "  - {op: store, scope: na, code: [ST r x]}\n"
    text = f"name: t\nmachine: {ROOT}/tests/scheme/local/scratchpad.machine\nrows:\n{store}"
    rows = [
        "- {op: fence, scope: wg, memory: local, code: [DS_WAIT]}",
        "- {op: fence, scope: wg, code: []}",
    ]
    found = [form(f"{text}  {row}\n", BARRIER % "CLK_LOCAL_MEM_FENCE") for row in rows]
    assert [bool(each.code) for each in found] == [True, False]


def test_an_edited_test_is_decided_anew_and_a_moved_one_is_not(tmp_path: Path) -> None:
    tests = tmp_path / "tests"
    tests.mkdir()
    for each in (FIG4, EX4):
        shutil.copy(each, tests)
    assert len(ran([ORIGINAL], tests.glob("*")).decided) == 2
    lower = edited(FIG4, tests / "Fig4.litmus", "(*", "\n\n(*")
    again = ran([ORIGINAL], [lower, tests / "Ex4.litmus"])
    assert again.decided == {("Fig4", "original")}
    assert again.results[0].outcome is not None
    assert [read.line for read in again.results[0].outcome.reads] == [20, 23]
    moved = (tests / "Ex4.litmus").rename(tmp_path / "elsewhere.litmus")
    (result,) = ran([ORIGINAL], [moved]).results
    assert result.cached
    assert result.file == str(moved)
    assert result.test == "Ex4"


def test_a_test_that_cannot_be_read_keeps_its_own_name(tmp_path: Path) -> None:
    """UNSUPPORTED by the language is known again; a wrong test is read anew, and named anew."""
    text = FIG4.read_text()
    beyond, wrong = tmp_path / "beyond.litmus", tmp_path / "wrong.litmus"
    beyond.write_text(text.replace("*x = 42;", "while (1) { *x = 42; }"))
    wrong.write_text(text.replace("*x = 42;", "*x = ;"))
    first = ran([PROPOSED], [beyond, wrong])
    assert [each.verdict for each in first.results] == [Word.UNSUPPORTED, Word.ERROR]
    second = ran([PROPOSED], [beyond, wrong.rename(tmp_path / "other.litmus")])
    assert [each.cached for each in second.results] == [True, False]
    assert second.plain[0] == first.plain[0]
    assert "other.litmus:13:" in second.results[1].reason
    assert "wrong.litmus" not in second.results[1].reason


MODEL = 'include "part.cat"\nirreflexive hb as Hb\nempty (rf; [nal]) \\ hb as Narf\n'
PART = "let hb = sb+\n"


@pytest.fixture
def model(tmp_path: Path) -> Path:
    """A model of two files."""
    (tmp_path / "m").mkdir()
    (tmp_path / "m/part.cat").write_text(PART)
    (tmp_path / "m/mine.cat").write_text(MODEL)
    return tmp_path / "m/mine.cat"


def test_an_edited_model_or_a_file_that_it_includes(model: Path) -> None:
    settings = replace(QUICK, model=str(model))
    assert ran([PROPOSED], [EX1], settings).decided
    assert not ran([PROPOSED], [EX1], settings).decided
    (model.parent / "part.cat").write_text("let hb = (sb | rf)+\n")
    assert ran([PROPOSED], [EX1], settings).decided
    (model.parent / "part.cat").write_text(PART)
    assert not ran([PROPOSED], [EX1], settings).decided
    model.write_text(MODEL.replace("empty", "empty (* of course *)"))
    assert ran([PROPOSED], [EX1], settings).decided


def test_a_moved_model_is_known_and_a_renamed_one_gives_its_name(model: Path) -> None:
    ran([PROPOSED], [EX1], replace(QUICK, model=str(model)))
    moved = shutil.copytree(model.parent, model.parent.parent / "n") / "mine.cat"
    assert not ran([PROPOSED], [EX1], replace(QUICK, model=str(moved))).decided
    renamed = moved.rename(moved.with_name("yours.cat"))
    results = ran([PROPOSED], [EX1], replace(QUICK, model=str(renamed))).results
    assert [(each.model, each.cached) for each in results] == [("yours.cat", False)]


def test_a_file_that_hides_a_shipped_part_of_a_model(tmp_path: Path) -> None:
    shipped = ROOT / "rspverify/axiomatic/models"
    place = shutil.copy(shipped / "opencl-rsp.cat", tmp_path / "mine.cat")
    included = list(shipped.glob("*-common.cat"))
    settings = replace(QUICK, model=str(place))
    ran([PROPOSED], [EX1], settings)
    assert not ran([PROPOSED], [EX1], settings).decided
    assert included
    for each in included:
        (tmp_path / each.name).write_text(each.read_text() + "\nlet more = sb\n")
    assert ran([PROPOSED], [EX1], settings).decided


CHANGES: dict[str, Settings | None] = {
    "engine": Settings(engine=Engine.EXPLICIT),
    "model": Settings(model="opencl-hrf"),
    "seconds": None,
    "reading": Settings(reading=Reading.WITNESS),
    "confirm": None,
    "smt_dir": None,
    "steps": Settings(engine=Engine.UNROLL, steps=11),
    "machine": Settings(machine="rsp-st-waits"),
    "l2": Settings(l2=L2.REAL),
    "states": Settings(states=1_000_000),
    "progress": Settings(progress=True),
    "scheduler": Settings(progress=True, scheduler="obe"),
    "unroll": Settings(unroll=3),
    "mixed": Settings(mixed=True),
    "dependencies": Settings(dependencies=Dependencies.FOLDED),
    "shortest": Settings(shortest=False),
    "allow_fallback": None,
}


def test_every_setting_counts_but_the_time_limit() -> None:
    """A setting that is new belongs into CHANGES: does it change answers?

    A second solver and files to be left behind keep the cache out of the run altogether.
    """
    assert set(CHANGES) == {*fields_of(Settings)}
    ran([PROPOSED], [EX1], Settings())
    for name, changed in CHANGES.items():
        if changed is not None:
            assert ran([PROPOSED], [EX1], changed).decided, name
    assert not ran([PROPOSED], [EX1], Settings(seconds=100.0)).decided
    assert not ran([PROPOSED], [EX1], Settings(machine="rsp")).decided
    assert answers_may_be_kept(Settings(seconds=1.0, reading=Reading.WITNESS))
    assert not answers_may_be_kept(Settings(confirm="cvc5"))
    assert not answers_may_be_kept(Settings(smt_dir="questions"))


def test_unknown_is_never_kept() -> None:
    small = replace(QUICK, states=5)
    for _ in range(2):
        found = ran([PROPOSED], [FIG4], small)
        assert found.results[0].verdict is Word.UNKNOWN
        assert found.decided


def test_an_internal_error_is_never_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)

    def broken(*_: object) -> Verdict:
        raise AssertionError("broken")

    with monkeypatch.context() as patch:
        patch.setattr("rspverify.soundness.check.check", broken)
        (result,) = ran([PROPOSED], [EX1]).results
        assert result.internal is not None
        assert result.verdict is Word.UNKNOWN
    found = ran([PROPOSED], [EX1])
    assert found.decided
    assert found.results[0].verdict is Word.SOUND


def test_what_the_time_limit_may_have_cut_short_is_not_kept() -> None:
    answer = Answer(Verdict(Word.UNSOUND, "a counterexample, perhaps not a shortest"), None, 0.95)
    assert worth_keeping(answer, Settings())
    assert worth_keeping(answer, Settings(seconds=2.0))
    assert not worth_keeping(answer, Settings(seconds=1.0))


def test_the_schemes_of_a_run_may_differ_in_what_is_known() -> None:
    """Results come in order, whether they were known or had to be decided."""
    ran([PROPOSED], [FIG4, EX4])
    ran([ORIGINAL], [EX1])
    for jobs in (1, 2, 5):
        found = ran([ORIGINAL, PROPOSED], TESTS, jobs=jobs, cached=jobs != 5)
        assert [(each.file, each.scheme) for each in found.results] == [
            (str(test), scheme) for test in TESTS for scheme in ("original", "proposed")
        ]
        assert found.plain == ran([ORIGINAL, PROPOSED], TESTS, cached=False).plain


ADDS = """name: s
machine: {machine}
rows:
  - {{op: rmw, scope: dv, remote: false, code: [FLU_L1 WG, INC_L2 r x]}}
"""
ANY = """machine wide "INC_L2 does every operation"
include rsp
instruction INC_L2 r x
  when ready rmw, L2.VALID[x]
  do   r := L2.data[x]; store(L2, x, f(r))
"""


def test_a_form_on_another_machine_is_that_of_the_scheme_there(tmp_path: Path) -> None:
    """There a row may be for any operation, so that what it compiles depends on its code."""
    machine, text, test = (
        tmp_path / "any.machine",
        ADDS.format(machine="rsp"),
        tmp_path / "t.litmus",
    )
    machine.write_text(ANY)
    test.write_text(
        "OpenCL t\n{ [x]=0; }\n"
        "P0 (global atomic_int* x) { int r0 = "
        "atomic_fetch_or_explicit(x, 2, memory_order_acq_rel, memory_scope_device); }\n"
        "scopeTree (device (work_group P0))\n"
    )
    settings, found = Settings(machine=str(machine)), []
    for code in (text, text.replace("INC_L2 r x", "INC_L2 r x, INV_L1 WG")):
        (scheme,) = read_inputs([Source("s", code)], settings, Judge()).schemes
        found.append(Judge().ask(FormQuestion(LoadedTest(str(test), settings), scheme)))
        assert form(code, test.read_text()).refusal and found[-1].code
    assert found[0] != found[1]


def test_the_file_of_a_machine_is_read_again_however_it_is_named(tmp_path: Path) -> None:
    machine = tmp_path / "any.machine"
    text = ADDS.format(machine='"any\\u002emachine"')
    given, found = [Source(str(tmp_path / "s.yaml"), text)], []
    for said in (ANY, ANY.replace("ready rmw, ", "")):
        machine.write_text(said)
        with Judge(tmp_path) as judge:
            (scheme,) = read_inputs(given, Settings(), judge).schemes
        assert scheme.identity == scheme.machine.identity
        found.append(scheme.identity)
    assert found[0] != found[1]


def test_a_compiler_on_another_machine_has_that_for_its_own() -> None:
    given, switched = ["amdgpu:gfx942"], "amdgpu-gfx942+WRITE_BACK_AFTER_OWN_STORES"
    settings = [Settings(), Settings(machine=switched)]
    found = [read_inputs(given, it, Judge(), compilers=True).schemes[0] for it in settings]
    assert [each.machine.identity for each in found] == ["amdgpu-gfx942", switched]
    with pytest.raises(
        InputError, match=r"must have [0-9]+ instructions more, .* amdgpu-gfx11 has"
    ):
        read_inputs(given, Settings(machine="amdgpu-gfx11"), Judge(), compilers=True)
