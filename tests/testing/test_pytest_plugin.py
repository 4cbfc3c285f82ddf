"""`pytest --rspverify`: schemes and tests as items, told in words."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from importlib.metadata import entry_points
from pathlib import Path

import pytest

from rspverify.judge.verdicts import Verdicts
from rspverify.limits import LimitReached
from rspverify.render import prove
from rspverify.soundness import check

pytest_plugins = ["pytester"]

PLUGIN = "rspverify.testing.plugin"
INSTALLED = any(each.value == PLUGIN for each in entry_points(group="pytest11"))
assert Verdicts and check and prove, "loaded here, and not anew in each run of pytest"


@pytest.fixture
def own_cache(one_cache: None, cache_folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What another test has decided is decided anew."""
    monkeypatch.setenv("RSPVERIFY_CACHE", str(cache_folder))


@pytest.fixture
def project(one_cache: None, pytester: pytest.Pytester, root: Path) -> pytest.Pytester:
    """A folder with two schemes and three tests: one that both pass, two that `original` fails."""
    for name, scheme in (("good.yaml", "proposed"), ("bad.yaml", "original")):
        shutil.copy(root / "schemes" / f"{scheme}.yaml", pytester.path / name)
    tests = pytester.path / "mine" / "paper"
    tests.mkdir(parents=True)
    for name in ("Fig4", "Fig5", "Ex3"):
        shutil.copy(root / f"litmus/rsp/paper/{name}.litmus", tests)
    return pytester


def run(project: pytest.Pytester, *words: str) -> pytest.RunResult:
    """pytest on some words, with the plugin once, whether or not the package is installed."""
    return project.runpytest(*([] if INSTALLED else ["-p", PLUGIN]), *words)


GOOD = ("--rspverify=good.yaml", "--rspverify-tests=mine")
BAD = ("--rspverify=bad.yaml", "--rspverify-tests=mine")


def test_items_have_readable_ids_and_pass(project: pytest.Pytester) -> None:
    done = run(project, *GOOD, "-v")
    done.assert_outcomes(passed=3)
    done.stdout.fnmatch_lines(
        ["good.yaml::paper/Ex3 PASSED*", "good.yaml::paper/Fig4 PASSED*", "good.yaml::paper/Fig5 *"]
    )


def test_a_scheme_that_must_be_proved_has_an_item_more(project: pytest.Pytester) -> None:
    done = run(project, *GOOD, "--rspverify-prove", "-v")
    done.assert_outcomes(passed=4)
    done.stdout.fnmatch_lines(["good.yaml::every program PASSED*"])
    alone = run(project, *BAD, "--rspverify-prove", "--rspverify-progress", "-k", "every")
    alone.assert_outcomes(failed=1, deselected=3)
    alone.stdout.fnmatch_lines(
        [
            "UNSOUND  original, for the machine rsp",
            "*progress: STUCK, *",
            "again: rspverify prove bad.yaml",
        ]
    )
    refused = run(project, *GOOD, "good.yaml::every program")
    refused.stdout.fnmatch_lines(["*good.yaml: no such test: every program*"])


def test_a_failure_is_the_explanation(project: pytest.Pytester) -> None:
    done = run(project, *BAD)
    done.assert_outcomes(passed=1, failed=2)
    done.stdout.fnmatch_lines(
        [
            "Fig4 under original (model opencl-rsp): UNSOUND",
            "1:r0=1 1:r1=0 x=42 y=1 breaks Narf",
            "An execution of the compiled program",
            " 2 *FLU_L1 WG*",
            "  Narf: empty (rf; [[]nal]) \\ vis",
            "again: rspverify explain bad.yaml mine/paper/Fig4.litmus",
            "FAILED bad.yaml::paper/Fig4*",
        ]
    )
    done.stdout.no_fnmatch_line("*Traceback*")
    done.stdout.no_fnmatch_line("*NotAsItShouldBe*")


@pytest.mark.parametrize(
    ("words", "outcomes"),
    [
        (("-k", "Fig4"), {"failed": 1, "deselected": 2}),
        (("-k", "not Fig4 and not Fig5"), {"passed": 1, "deselected": 2}),
        (("-x",), {"passed": 1, "failed": 1}),
        (("bad.yaml::paper/Fig5",), {"failed": 1}),
        (("bad.yaml",), {"failed": 2, "passed": 1}),
        (("--deselect=bad.yaml::paper/Fig",), {"passed": 1, "deselected": 2}),
    ],
)
def test_items_are_chosen_as_always(
    project: pytest.Pytester, words: tuple[str, ...], outcomes: dict[str, int]
) -> None:
    run(project, *BAD, *words).assert_outcomes(**outcomes)


def test_last_failed(project: pytest.Pytester) -> None:
    run(project, *BAD).assert_outcomes(failed=2, passed=1)
    run(project, *BAD, "--lf").assert_outcomes(failed=2)


def test_an_item_that_is_not_there(project: pytest.Pytester) -> None:
    done = run(project, *BAD, "bad.yaml::paper/Fig44")
    done.assert_outcomes(errors=1)
    done.stdout.fnmatch_lines(["bad.yaml: no such test: paper/Fig44"])


def test_workers_collect_the_same(project: pytest.Pytester) -> None:
    pytest.importorskip("xdist")
    done = run(project, *BAD, "--rspverify=good.yaml", "-n", "2")
    done.assert_outcomes(failed=2, passed=4)
    done.stdout.fnmatch_lines(["Fig4 under original (model opencl-rsp): UNSOUND"])


@pytest.mark.usefixtures("own_cache")
def test_answers_are_kept(project: pytest.Pytester, root: Path) -> None:
    """What pytest decided `check` knows."""
    run(project, *GOOD).assert_outcomes(passed=3)
    words = [sys.executable, "-m", "rspverify", "check", "good.yaml", "mine"]
    said = subprocess.run(words, capture_output=True, text=True, check=True, cwd=project.path)
    assert " s, 3 cached\n" in said.stdout


def test_a_row_that_is_missing_skips(project: pytest.Pytester) -> None:
    scheme = project.path / "good.yaml"
    text = scheme.read_text()
    scheme.write_text(re.sub(r"  - .op: rmw,   scope: wg,.*\n", "", text))
    done = run(project, *GOOD, "-rs")
    done.stdout.fnmatch_lines(["SKIPPED*UNSUPPORTED: *"])
    assert done.parseoutcomes()["skipped"] == 2


def test_what_is_expected(project: pytest.Pytester) -> None:
    row = "{original: %s}"
    expected = {"Ex3": "RACY", "Fig4": "UNSOUND", "Fig5": "SOUND", "Gone": "SOUND"}
    lines = [f"  mine/paper/{name}.litmus: {row % word}" for name, word in expected.items()]
    Path("expected.yaml").write_text("model: opencl-rsp\nverdicts:\n" + "\n".join(lines) + "\n")
    done = run(project, *BAD, "--rspverify-expect=expected.yaml")
    done.assert_outcomes(passed=2, failed=2)
    done.stdout.fnmatch_lines(
        [
            "UNSOUND, and expected.yaml expects SOUND",
            "Fig5 under original (model opencl-rsp): UNSOUND",
            "mine/paper/Gone.litmus: is not there, and expected.yaml expects a verdict",
        ]
    )


DEADLOCK = """
name: deadlock
rows:
  - {op: load, scope: [na, wg, dv], code: [LD r x]}
  - {op: store, scope: [na, wg, dv], code: [LK_rmw DV, ST r x]}
  - {op: rmw, scope: [wg, dv], code: [LK_rmw DV, INC_L1 r x]}
"""


def test_a_machine_that_completes_nothing_fails(project: pytest.Pytester) -> None:
    Path("deadlock.yaml").write_text(DEADLOCK)
    done = run(
        project, "--rspverify=deadlock.yaml", "--rspverify-tests=litmus/rsp/paper/Ex1.litmus"
    )
    done.assert_outcomes(failed=1)
    done.stdout.fnmatch_lines(
        ["Ex1 under deadlock*: VACUOUS", "The machine cannot go on from here:"]
    )


@pytest.mark.usefixtures("own_cache")
def test_what_is_not_known_fails(project: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> None:
    def check(*_: object) -> None:
        raise LimitReached("time limit of 1 s reached")

    monkeypatch.setattr("rspverify.soundness.check.check", check)
    done = run(project, *GOOD, "-k", "Fig4")
    done.assert_outcomes(failed=1, deselected=2)
    done.stdout.fnmatch_lines(["Fig4 under proposed*: UNKNOWN", "time limit of 1 s reached"])


def test_progress(project: pytest.Pytester, root: Path) -> None:
    shutil.copy(root / "litmus/rsp/RMW/RMW+inc.WG+inc.DV.R.litmus", project.path / "mine")
    words = (*BAD, "-k", "RMW")
    run(project, *words).stdout.no_fnmatch_line("*stuck*")
    (project.path / "mine" / "RMW+inc.WG+inc.DV.R.litmus").rename(project.path / "One.litmus")
    words = ("--rspverify=bad.yaml", "--rspverify-tests=One.litmus", "--rspverify-progress")
    done = run(project, *words)
    done.assert_outcomes(failed=1)
    done.stdout.fnmatch_lines(["*STUCK*", "again: rspverify explain*bad.yaml One.litmus"])


KEYS = """
[pytest]
rspverify_schemes = bad.yaml
rspverify_tests = mine/paper/Ex3.litmus mine/paper/Fig4.litmus
rspverify_model = opencl-rsp
"""


def test_keys(project: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> None:
    """Beside a project's own tests, from any folder, and only where nothing else is asked for."""
    project.makeini(KEYS)
    project.makepyfile(test_own="def test_own(): pass")
    run(project).assert_outcomes(passed=2, failed=1)
    run(project, "test_own.py").assert_outcomes(passed=1)
    run(project, "bad.yaml").assert_outcomes(passed=1, failed=1)
    run(project, "bad.yaml::Fig4").assert_outcomes(failed=1)
    run(project, "--rspverify=good.yaml").assert_outcomes(passed=2)
    run(project, "--rspverify=good.yaml", "test_own.py").assert_outcomes(passed=3)
    monkeypatch.chdir(project.path / "mine")
    run(project).assert_outcomes(passed=1, failed=1)
    run(project, "--rspverify=../good.yaml").assert_outcomes(passed=2)


def test_what_ships_can_be_named(project: pytest.Pytester) -> None:
    words = ("--rspverify=original", "--rspverify-tests=Fig4", "-v")
    done = run(project, *words)
    done.stdout.fnmatch_lines(["schemes/original.yaml::Fig4*"])
    run(project, *words, "schemes/original.yaml::Fig4").assert_outcomes(failed=1)


def test_without_tests_those_that_ship(project: pytest.Pytester) -> None:
    done = run(project, "--rspverify=good.yaml", "--collect-only", "-q")
    done.stdout.fnmatch_lines(
        [
            "good.yaml::MP/MP+st.na-st.DV+ld.DV-ld.na",
            "good.yaml::paper/Fig4",
            "238 tests collected*",
        ]
    )
    done = run(project, "--rspverify=good.yaml", "--collect-only")
    done.stdout.fnmatch_lines(["rspverify: no tests are given, so it is those that ship*"])


def test_mistakes_in_a_scheme_are_told_at_their_place(project: pytest.Pytester) -> None:
    Path("wrong.yaml").write_text("name: wrong\nmachine: rpm\nrows: []\n")
    done = run(project, "--rspverify=wrong.yaml", "--rspverify-tests=mine")
    done.assert_outcomes(errors=1)
    done.stdout.fnmatch_lines(["wrong.yaml:2:10: *"])
    done.stdout.no_fnmatch_line("*Traceback*")


def test_mistakes_in_a_test_are_told_at_their_place(project: pytest.Pytester) -> None:
    Path("wrong.litmus").write_text("OpenCL wrong\n{}\nP0 (global int* x) {\n  *x = ;\n}\n")
    done = run(project, "--rspverify=good.yaml", "--rspverify-tests=wrong.litmus")
    done.assert_outcomes(failed=1)
    done.stdout.fnmatch_lines(["*wrong.litmus:*:*: *"])
    done.stdout.no_fnmatch_line("*Traceback*")


def test_files_that_are_missing_are_told_together(project: pytest.Pytester) -> None:
    done = run(project, "--rspverify=no.yaml", "--rspverify-tests=no", "--rspverify-expect=no.yml")
    assert done.ret == pytest.ExitCode.USAGE_ERROR
    for word in ("no.yaml", "no", "no.yml"):
        done.stderr.fnmatch_lines([f"*{word}: no such file*"])


def test_a_project_without_schemes_is_not_disturbed(project: pytest.Pytester) -> None:
    project.makepyfile("def test_own(): pass")
    run(project).assert_outcomes(passed=1)


def test_nothing_is_loaded_where_no_scheme_is_given(project: pytest.Pytester) -> None:
    code = (
        "import sys, pytest\n"
        f"pytest.main(['-p', '{PLUGIN}', '--collect-only', '-q'])\n"
        "print(sorted(each for each in sys.modules if each.startswith('rspverify')))\n"
    )
    if INSTALLED:
        code = code.replace(f"'-p', '{PLUGIN}', ", "")
    said = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    loaded = ["rspverify", "rspverify.testing", "rspverify.testing.plugin"]
    assert said.stdout.splitlines()[-1] == str(loaded)
