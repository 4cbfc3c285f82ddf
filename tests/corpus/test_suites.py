"""Suites: what a suite.yaml says, which suites are meant, and what a run of them shows."""

from __future__ import annotations

import shutil
from functools import partial
from importlib.resources import files
from pathlib import Path
from typing import Any

import command_line
import pytest
from messages import cases, told
from soundness import waiting

from rspverify.corpus.expected import read_expected
from rspverify.corpus.inputs import default_tests
from rspverify.corpus.run import _Observation
from rspverify.corpus.suite import Kind, find_suites, read_suite
from rspverify.soundness import outcomes
from rspverify.soundness.settings import Settings
from rspverify.source import InputError
from rspverify.verdict import Engine

pytestmark = pytest.mark.usefixtures("in_one_process")

run = partial(command_line.run, "check", "-j", "1")
document = partial(command_line.document, "check", "-j", "1")

ROOT = Path(__file__).resolve().parents[2]
PAPER = ROOT / "litmus/rsp/paper"
SUITE = "about: two tests\nschemes: ../scheme.yaml\n"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A place with a scheme, and two suites below `litmus`: mine of schemes, other of models."""
    mine, other = tmp_path / "litmus/mine", tmp_path / "litmus/other"
    for each in (mine, other):
        each.mkdir(parents=True)
    shutil.copy(ROOT / "schemes/original.yaml", tmp_path / "litmus/scheme.yaml")
    for name in ("Fig4", "Ex3"):
        shutil.copy(PAPER / f"{name}.litmus", mine)
    shutil.copy(PAPER / "Ex1.litmus", other)
    (mine / "suite.yaml").write_text(SUITE)
    (other / "suite.yaml").write_text("about: one test\nmodels: [opencl-rsp, rc11]\n")
    monkeypatch.chdir(tmp_path)
    return tmp_path / "litmus"


def mistakes(folder: Path, text: str) -> str:
    (folder / "mine/suite.yaml").write_text(text)
    with pytest.raises(InputError) as caught:
        read_suite(str(folder / "mine"))
    return str(caught.value)


def test_the_shipped_suites() -> None:
    suites = find_suites(str(ROOT / "litmus"))
    barrier = [f"barrier/{name}" for name in ("compiled", "order", "progress")]
    languages = ["aarch64", "arm", "c11", "opencl", "power", "ptx", "riscv", "vulkan", "x86"]
    models = [f"models/{it}" for it in languages]
    names = ["rsp", "all-orders", "amdgpu", *barrier, "devices", "loops", *models, "proofs", "ptx"]
    targets = ("compare-exchange", "from-x86", "scopes", "seq_cst", "synchronisation")
    names += [f"targets/{it}" for it in targets]
    assert [each.folder for each in suites] == [str(ROOT / "litmus" / it) for it in names]
    assert [each.folder for each in suites if each.default] == [str(ROOT / "litmus/rsp")]
    every = {it for suite in suites if suite.kind is not Kind.PROOFS for it in suite.tests()}
    assert every == set(map(str, (ROOT / "litmus").rglob("*.litmus")))
    for suite in suites:
        expected = read_expected(suite.expected, suite.settings(Settings()).model, suite.kind)
        assert len(expected.verdicts) == len(suite.tests())


def test_what_a_suite_says(folder: Path) -> None:
    text = SUITE + "progress: true\nengine: explicit\ntimeout: 2.5\nunroll: 3\ndefault: true\n"
    (folder / "mine/suite.yaml").write_text(text + "expected: words.yaml\n")
    suite = read_suite(str(folder / "mine"))
    assert (suite.kind, suite.columns) == (Kind.SCHEMES, (str(folder / "scheme.yaml"),))
    assert suite.expected == str(folder / "mine/words.yaml") and suite.default
    settings = suite.settings(Settings())
    assert (settings.progress, settings.engine, settings.seconds) == (True, Engine.EXPLICIT, 2.5)
    assert suite.settings(Settings(unroll=5)).unroll == 5, "what a command line chooses comes first"


@pytest.mark.parametrize(("text", "said"), cases(Path(__file__).with_name("messages.txt")))
def test_what_is_said(folder: Path, text: str, said: list[str]) -> None:
    (folder / "mine/suite.yaml").write_text(text)
    with pytest.raises(InputError) as caught:
        read_suite(str(folder / "mine"))
    assert [each.replace(str(folder), "FOLDER") for each in told(caught.value)] == said


def test_schemes_that_are_to_be_proved(folder: Path) -> None:
    text = "about: a proof\nproofs: [../scheme.yaml]\n"
    (folder / "mine/suite.yaml").write_text(text)
    for each in (folder / "mine").glob("*.litmus"):
        each.unlink()
    suite = read_suite(str(folder / "mine"))
    assert suite.tests() == [str(folder / "scheme.yaml")]
    assert run("--refresh", "litmus/mine").exit_code == 0
    assert "{progress: STUCK, soundness: UNSOUND}" in (folder / "mine/expected.yaml").read_text()
    shutil.copy(ROOT / "schemes/proposed.yaml", folder / "scheme.yaml")
    changed = run("litmus/mine")
    assert changed.exit_code == 1
    assert "under soundness: expected UNSOUND, got PROVED" in changed.stdout
    said = mistakes(folder, text + "engine: explicit\n")
    assert "a suite of proofs must have no engine" in said
    assert "gone.yaml: no such file" in mistakes(folder, text.replace("scheme", "gone"))


def test_a_suite_has_tests(folder: Path) -> None:
    for each in (folder / "mine").glob("*.litmus"):
        each.unlink()
    assert "the suite must have .litmus files in its folder" in mistakes(folder, SUITE)


def test_without_arguments_all_suites_are_run_and_held(folder: Path) -> None:
    first = run()
    assert first.exit_code == 1, "nothing is expected, and Fig4 is UNSOUND"
    assert "nothing is expected of these tests yet (--refresh)" in first.stdout
    written = run("--refresh")
    assert written.exit_code == 0
    assert written.stderr.splitlines() == [
        "wrote litmus/mine/expected.yaml",
        "wrote litmus/other/expected.yaml",
    ]
    result = run()
    assert result.exit_code == 0
    blocks = [each.splitlines() for each in result.stdout.split("\n\n")]
    assert [each[0] for each in blocks[:-1]] == [
        "litmus/mine: two tests",
        "litmus/other: one test",
    ]
    assert blocks[0][1].split() == ["UNSOUND", "RACY"]
    assert blocks[0][2].split() == ["original", "1", "1"]
    assert blocks[0][-1].strip() == "every verdict is as in litmus/mine/expected.yaml"
    assert blocks[1][-1].strip() == "every answer is as in litmus/other/expected.yaml"
    (last,) = blocks[-1]
    assert last.startswith("2 suites, 3 tests, 4 results, all as expected, ")
    assert max(map(len, result.stdout.splitlines())) <= 80
    assert run("litmus/other").stdout.split("\n\n")[-1].startswith("1 suite, 1 test, 2 results")


def test_what_is_not_as_expected_fails_and_is_named(folder: Path) -> None:
    run("--refresh")
    for name, words in (("mine", ("UNSOUND", "SOUND")), ("other", ("Always", "Never"))):
        place = folder / name / "expected.yaml"
        place.write_text(place.read_text().replace(*words))
    result = run()
    assert result.exit_code == 1
    words = "litmus/mine/Fig4.litmus under original: expected SOUND, got UNSOUND"
    assert f"  {words}\n  1 verdict not as in litmus/mine/expected.yaml\n" in result.stdout
    assert "under rc11: expected Never, got Always" in result.stdout
    assert ", 4 results, 3 not as expected, " in result.stdout
    found = document()
    mine, other = found["suites"]
    assert mine["unexpected"] == [
        {
            "file": "litmus/mine/Fig4.litmus",
            "scheme": "original",
            "model": None,
            "expected": "SOUND",
            "found": "UNSOUND",
        }
    ]
    assert len(other["unexpected"]) == 2
    assert {each["suite"] for each in found["results"]} == {"litmus/mine"}
    assert {each["suite"] for each in found["answers"]} == {"litmus/other"}
    assert found["summary"]["UNSOUND"] == 1


def test_a_deleted_test_does_not_go_unnoticed(folder: Path) -> None:
    run("--refresh")
    (folder / "mine/Ex3.litmus").unlink()
    result = run("litmus/mine")
    assert result.exit_code == 1
    assert "litmus/mine/Ex3.litmus: must be a test, as litmus/mine/expected.yaml has it" in (
        result.stdout
    )
    assert document()["suites"][0]["missing"] == ["litmus/mine/Ex3.litmus"]
    plain = ("litmus/scheme.yaml", "--expect", "litmus/mine/expected.yaml")
    assert run(*plain, "litmus/mine").exit_code == 1
    assert run(*plain, "litmus/mine/Fig4.litmus").exit_code == 0, "nobody asked for the other"


def test_an_expected_progress_that_is_not_asked_for_is_said(folder: Path) -> None:
    shutil.copy(ROOT / "litmus/rsp/coherence/CoRR+st.WG+ld.DV.R-ld.DV.R.litmus", folder / "mine")
    run("litmus/mine", "--refresh", "--progress")
    result = run("litmus/mine")
    assert result.exit_code == 0
    assert "of 1 verdict progress is expected, and not asked for (--progress)" in result.stdout
    assert "not asked for" not in run("litmus/mine", "--progress").stdout


def test_answers_of_models_are_kept(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    first = document("litmus/other")["answers"]
    monkeypatch.setattr(_Observation, "decide", lambda *_: 1 / 0)
    again = document("litmus/other")["answers"]
    assert [each.pop("cached") for each in first] == [False, False]
    assert [each.pop("cached") for each in again] == [True, True]
    assert first == again


def test_what_goes_wrong_with_one_answer_is_an_answer(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (folder / "other/binary.litmus").write_bytes(b"\x00\xff")
    (folder / "other/wrong.litmus").write_text(
        "OpenCL wrong\n{ [x]=0; }\nP0 (int* x) { *y = 1; }\n"
    )
    right = outcomes.observed_by

    def fails(program: Any, model: Any, *rest: Any) -> Any:
        return 1 / 0 if model.name == "rc11" else right(program, model, *rest)

    monkeypatch.setattr(outcomes, "observed_by", fails)
    found = document("litmus/other", code=70)["answers"]
    words = {(each["test"], each["model"]): each for each in found}
    assert words["Ex1", "opencl-rsp"]["answer"] == "Always"
    assert words["Ex1", "rc11"]["reason"].startswith("internal error: ZeroDivisionError")
    assert words["wrong", "rc11"]["answer"] == "ERROR"
    assert words["litmus/other/binary.litmus", "opencl-rsp"]["answer"] == "ERROR"


def test_an_interrupt_shows_what_is_known(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    run("--refresh")

    def interrupted(*_: Any) -> Any:
        raise KeyboardInterrupt

    monkeypatch.setattr("rspverify.corpus.run._Observation", interrupted)
    result = run("--no-cache")
    assert result.exit_code == 130
    assert "every verdict is as in litmus/mine/expected.yaml" in result.stdout
    assert "interrupted: 0 of 2 answers decided, the rest not" in result.stdout
    assert "as in litmus/other/expected.yaml" not in result.stdout
    assert "2 results, interrupted, none unexpected" in result.stdout
    found = document("--no-cache")
    assert found["interrupted"] and [each["complete"] for each in found["suites"]] == [True, False]


@pytest.mark.parametrize(
    ("text", "arguments", "message"),
    [
        (SUITE, ["litmus/bare"], "litmus/bare: must be a suite, or have one below it"),
        (SUITE, ["litmus", "--expect", "e.yaml"], "--expect must go with a scheme"),
        (f"{SUITE}steps: 3\n", [], "--steps must go with --engine unroll"),
        ("about: a\nmachines: [ptx-weka]\n", [], "not ptx-weka"),
    ],
)
def test_bad_command_lines(folder: Path, text: str, arguments: list[str], message: str) -> None:
    (folder / "bare").mkdir()
    (folder / "mine/suite.yaml").write_text(text)
    result = run(*arguments)
    assert result.exit_code == 2, result.output
    assert message in result.stderr
    assert "Traceback" not in result.output


def test_the_default_tests(folder: Path) -> None:
    """Those of the default suites; where none is one, or there is no suite, all tests there are."""
    names = ["litmus/mine/Ex3.litmus", "litmus/mine/Fig4.litmus"]
    every = [*names, "litmus/other/Ex1.litmus"]
    assert default_tests([]).tests == every
    (folder / "mine/suite.yaml").write_text(SUITE + "default: true\n")
    assert default_tests([]).tests == names
    assert "2 tests, 1 scheme" in run("litmus/scheme.yaml").stdout
    for each in folder.rglob("suite.yaml"):
        each.unlink()
    assert default_tests([]).tests == every


def test_a_test_with_loops_is_expected_within_its_bound(folder: Path) -> None:
    """Of a suite of schemes and of one of models."""
    loop = (
        "OpenCL loop\n{ [x]=0; }\nP0 (global atomic_int* x) {\n  int r0 = 0, n = 0;\n  while (r0 == 0) "
        "{ n++; r0 = atomic_load_explicit(x, memory_order_acquire, memory_scope_device); }\n}\n"
        "scopeTree (device (work_group P0))\nexists (0:r0=1)\n"
    )
    for each in ("mine", "other"):
        (folder / each / "loop.litmus").write_text(loop)
    assert run("--refresh").exit_code == 0
    assert "within 8 iterations" in (folder / "mine/expected.yaml").read_text()
    assert "Never within 8 iterations" in (folder / "other/expected.yaml").read_text()
    assert run().exit_code == 0
    other = document("--unroll", "3")
    found = [each for suite in other["suites"] for each in suite["unexpected"]]
    assert found and all(each["found"].endswith(" within 3 iterations") for each in found)


# ---- suites of machines --------------------------------------------------------------------------

IN_ASSEMBLY = """PTX {name}
{{ }}
 P0@cta 0,gpu 0 | P1@cta 1,gpu 0 ;
 st a, 1        | ld r1, a       ;
 {store}        | ld r2, a       ;
exists (1:r1=1 /\\ 1:r2=0)
"""


@pytest.fixture
def machines(folder: Path) -> Path:
    """A suite of two tests in assembly, one of them beyond the machines."""
    place = folder / "machines"
    place.mkdir()
    for name, store in (("a", "st b, 1"), ("b", "st.release.gpu b, 1")):
        (place / f"{name}.litmus").write_text(IN_ASSEMBLY.format(name=name, store=store))
    (place / "suite.yaml").write_text("about: two more\nmachines: [ptx-weak, ptx-strong]\n")
    return place


def test_a_suite_of_machines(machines: Path) -> None:
    run(str(machines), "--refresh")
    assert (machines / "expected.yaml").read_text().splitlines()[-3:] == [
        "answers:",
        "  a.litmus: {ptx-strong: Never, ptx-weak: Sometimes}",
        "  b.litmus: {ptx-strong: UNSUPPORTED, ptx-weak: UNSUPPORTED}",
    ]
    found = document(machines, code=0)["answers"]
    assert [(each["model"], each["answer"]) for each in found] == [
        ("ptx-weak", "Sometimes"),
        ("ptx-strong", "Never"),
        ("ptx-weak", "UNSUPPORTED"),
        ("ptx-strong", "UNSUPPORTED"),
    ]
    assert ", 4 cached" in run(str(machines)).stdout


def test_an_edited_machine_is_another_one(machines: Path) -> None:
    """What is kept is kept for the text of a machine, not for its name or its file."""
    text = (files("rspverify.architecture") / "machines/ptx-weak.machine").read_text()
    (machines / "my.machine").write_text(text.replace("machine ptx-weak", "machine my"))
    (machines / "suite.yaml").write_text("about: mine\nmachines: my.machine\n")
    first = document(str(machines))["answers"]
    edited = text.replace(
        "later LOAD\n    when self in LP", "later LOAD\n    when self in LP, M.B[x]"
    )
    assert edited != text
    (machines / "my.machine").write_text(edited)
    second = document(str(machines))["answers"]
    assert [each["answer"] for each in (first[0], second[0])] == ["Sometimes", "Never"]
    assert not second[0]["cached"]


# ---- suites of schedulers ------------------------------------------------------------------------


def test_a_suite_of_schedulers(folder: Path) -> None:
    place = folder / "waiting"
    place.mkdir()
    waits = waiting.test((0, f"while ({waiting.load('x')} != 1);"), (1, waiting.store("x", 1)))
    (place / "flag.litmus").write_text(waits)
    shutil.copy(PAPER / "Ex3.litmus", place)
    (place / "suite.yaml").write_text("about: waiting\nschedulers: [fair, obe, obe:2]\n")
    run(str(place), "--refresh")
    assert (place / "expected.yaml").read_text().splitlines()[-2:] == [
        "  Ex3.litmus: {fair: UNDEFINED, obe: UNDEFINED, obe:2: UNDEFINED}",
        "  flag.litmus: {fair: LIVE, obe: STUCK, obe:2: LIVE}",
    ]
    answers = document(place, code=0)["answers"]
    assert [each["answer"] for each in answers] == 3 * ["UNDEFINED"] + ["LIVE", "STUCK", "LIVE"]
    shown = run(str(place)).stdout
    assert ", 6 cached" in shown
    (place / "flag.litmus").write_text(waits.replace("!= 1", "!= 2"))
    changed = run(str(place))
    assert changed.exit_code == 1
    assert "1 suite, 2 tests, 6 results, 2 not as expected" in changed.stdout
