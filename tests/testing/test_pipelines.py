"""What others put into their pipelines: the action, the hook, the image, the example."""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import xml.etree.ElementTree as ET
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any, TypeAlias

import pytest
import yaml
from typer.main import get_command
from typer.testing import CliRunner

from rspverify.cli import app
from rspverify.compilers import PROCESSORS, llvm, processor
from rspverify.compilers.cpus import translator

Nights: TypeAlias = Callable[..., subprocess.CompletedProcess[str]]

_USED = re.compile(r"\$\{\{\s*([\w.-]+)\s*\}\}")
_CONTEXTS = {
    "runner.os",
    "github.action_path",
    "github.job",
    "github.run_attempt",
    "github.run_id",
    "strategy.job-index",
}


def read(path: Path) -> Any:
    return yaml.safe_load(path.read_text())


@pytest.fixture
def example(root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A copy of the example, as the working directory."""
    shutil.copytree(root / "examples/ci", tmp_path / "mine")
    monkeypatch.chdir(tmp_path / "mine")
    return tmp_path / "mine"


# ---- the action ----------------------------------------------------------------------------------


def test_the_action_uses_each_input_and_no_other(root: Path) -> None:
    text = (root / "action.yml").read_text()
    action = read(root / "action.yml")
    used = set(_USED.findall(text))
    assert used == {f"inputs.{name}" for name in action["inputs"]} | _CONTEXTS
    assert all(each["description"] and "default" in each for each in action["inputs"].values())


def test_the_steps_of_the_action(root: Path) -> None:
    action = read(root / "action.yml")
    assert action["runs"]["using"] == "composite"
    scripts = []
    for step in action["runs"]["steps"]:
        assert ("uses" in step) != ("run" in step)
        if "run" in step:
            assert step["shell"] == "bash"  # an action must name one
            program, *_ = shlex.split(step["run"].replace("${{ github.action_path }}", str(root)))
            assert os.access(program, os.X_OK), program
            scripts.append(Path(program).name)
    assert scripts == ["action-install", "action-check"]


def test_the_scripts_read_what_the_action_gives(root: Path) -> None:
    (check,) = [it for it in read(root / "action.yml")["runs"]["steps"] if it.get("env")]
    text = (root / ".ci/action-check").read_text()
    named = set(re.findall(r"\$\{?([A-Z_]+)", text))
    assert named == check["env"].keys() - {"RSPVERIFY_CACHE"} | {"GITHUB_STEP_SUMMARY"}


def program(folder: Path, name: str, lines: str) -> str:
    """A program in a folder. Returns a PATH that finds it there."""
    folder.mkdir(exist_ok=True)
    (folder / name).write_text(f"#!/bin/sh\n{lines}\n")
    (folder / name).chmod(0o755)
    return f"{folder}{os.pathsep}{os.environ['PATH']}"


def script(
    path: Path, *words: str, folder: Path, run: str = "-m rspverify", **given: str
) -> subprocess.CompletedProcess[str]:
    """A script of bash for which rspverify is on the path. run: what Python runs as that."""
    found = program(folder / "bin", "rspverify", f'exec "{sys.executable}" {run} "$@"')
    every = {**os.environ, **given, "PATH": found}
    command = ["bash", str(path), *words]
    return subprocess.run(command, env=every, capture_output=True, text=True, check=False)


def check(root: Path, folder: Path, **given: str) -> subprocess.CompletedProcess[str]:
    """The step of the action that checks, as GitHub runs it."""
    inputs = read(root / "action.yml")["inputs"]
    every = {name.upper(): it["default"] for name, it in inputs.items()} | given
    every["GITHUB_STEP_SUMMARY"] = str(folder / "summary.md")
    return script(root / ".ci/action-check", folder=folder, **every)


def test_the_inputs_are_what_the_commands_take(root: Path) -> None:
    """An input is a parameter of `check` by its name, or is about the action or `compare`."""
    commands = get_command(app).commands  # type: ignore[attr-defined]
    options = {
        name: {each for it in commands[name].params for each in it.opts}
        for name in ("check", "compare")
    }
    inputs = read(root / "action.yml")["inputs"].keys()
    words = {"schemes", "tests"}
    of_the_action = {"python-version", "cache", "reports", "options", "base"}
    assert {f"--{name}" for name in inputs - words - of_the_action} <= options["check"]
    text = (root / ".ci/action-check").read_text()
    checking, comparing = text.split('[ -z "${BASE:-}" ]')
    for part, command in ((checking, "check"), (comparing, "compare")):
        given = [it for it in part.splitlines() if not it.startswith("#")]
        used = set(re.findall(r"(?<=[\s(])--[a-z-]+", "\n".join(given)))
        assert used and used <= options[command]


def test_the_check_of_the_action(root: Path, example: Path, cache_folder: Path) -> None:
    given = {"SCHEMES": "mine.yaml", "TESTS": "litmus", "EXPECT": "expected.yaml"}
    done = check(root, example, **given, OPTIONS="--all\n-j 1")
    assert done.returncode == 0, done.stderr
    reports = example / ".rspverify/reports"
    (case,) = ET.parse(reports / "rspverify.xml").iter("testcase")
    assert "MP" in str(case.attrib)
    assert (reports / "rspverify.sarif").stat().st_size > 0
    assert "SOUND" in (example / "summary.md").read_text()
    assert list(cache_folder.iterdir())


def test_the_check_of_the_action_annotates(root: Path, example: Path) -> None:
    scheme = example / "mine.yaml"
    scheme.write_text(scheme.read_text().replace(", INV_L1 WG]", "]"))
    done = check(root, example, SCHEMES="mine.yaml", TESTS="litmus", EXPECT="expected.yaml")
    assert done.returncode == 1
    assert re.search(r"^::error file=mine\.yaml,line=7,", done.stdout, re.MULTILINE)


def test_the_action_compares(root: Path, example: Path) -> None:
    """What got worse fails; what was UNSOUND before does not."""
    shutil.copytree(example, example / "old", ignore=shutil.ignore_patterns("old"))
    scheme = example / "mine.yaml"
    scheme.write_text(scheme.read_text().replace(", INV_L1 WG]", "]"))
    worse = check(root, example, SCHEMES="mine.yaml", TESTS="litmus", BASE="old")
    assert worse.returncode == 1, worse.stderr
    assert "MP: SOUND → UNSOUND" in (example / "summary.md").read_text()
    same = check(root, example, SCHEMES="mine.yaml", TESTS="litmus", BASE="mine.yaml")
    assert same.returncode == 0, same.stderr
    assert "UNSOUND" in same.stdout
    expected = {"EXPECT": "expected.yaml", "BASE": "mine.yaml"}
    assert check(root, example, SCHEMES="mine.yaml", TESTS="litmus", **expected).returncode == 1


def llc(folder: Path, then: str = "") -> str:
    """A compiler for AArch64, in a folder, whose code goes through a command; its path."""
    tells = 'if [ "$1" = --version ]; then echo LLVM version 99.0.0; echo "  aarch64 - A"; exit; fi'
    emit = shlex.join(llvm.llvmlite().command_of(translator("aarch64").goal))
    program(folder, "opt", "exec cat")
    program(folder, "llc", f"{tells}\n{emit}{then}")
    return str(folder / "llc")


FORGETS = " | sed 's/\\tldar\\t/\\tldr\\t/'"
"""It acquires no more."""


def test_a_patch_of_a_compiler_for_a_processor(root: Path, example: Path, tmp_path: Path) -> None:
    """The patched one forgets to acquire: annotated, in both reports, with a page; the base is no
    news."""
    pytest.importorskip("llvmlite")
    base, patch = llc(tmp_path / "base"), llc(tmp_path / "patch", FORGETS)
    tests = "litmus/targets/synchronisation/MP.litmus litmus/targets/synchronisation/CoRR.litmus"
    given = {"COMPILER": "aarch64", "TESTS": tests, "MODEL": "c11-simp", "BASE": base}
    done = check(root, example, **given, LLC=patch)
    assert done.returncode == 1, done.stderr
    assert "MP: SOUND → UNSOUND" in (example / "summary.md").read_text()
    (annotated,) = re.findall("^::error .*", done.stdout, re.MULTILINE)
    assert f"file={tests.split()[0]}" in annotated
    assert f"rspverify explain aarch64@{patch}" in annotated
    reports = example / ".rspverify/reports"
    failed = [it for it in ET.parse(reports / "rspverify.xml").iter("testcase") if len(it)]
    assert [it.attrib["file"] for it in failed] == tests.split()[:1]
    (found,) = json.loads((reports / "rspverify.sarif").read_text())["runs"][0]["results"]
    place = found["locations"][0]["physicalLocation"]
    assert place["artifactLocation"]["uri"].endswith("synchronisation/MP.litmus")
    assert place["region"]["startLine"] == 1
    (page,) = (reports / "bugs").iterdir()
    assert page.name == "MP.aarch64.md" and "ldr" in page.read_text()
    same = check(root, example, **given, LLC=base)
    assert same.returncode == 0, same.stderr


# ---- the hook, the image, the example ------------------------------------------------------------


def test_the_hook(root: Path) -> None:
    """That pre-commit installs it and runs it is tried by .ci/pre-commit."""
    (hook,) = read(root / ".pre-commit-hooks.yaml")
    assert hook["id"] == "rspverify-check"
    assert hook["entry"] == "rspverify check"
    assert hook["language"] == "python"
    assert hook["pass_filenames"] is False
    for file in ("mine.yaml", "a.yml", "litmus/MP.litmus", "my.cat"):
        assert re.search(hook["files"], file)
    assert not re.search(hook["files"], "README.md")
    assert os.access(root / ".ci/pre-commit", os.X_OK)


def test_the_image_has_all_that_the_package_needs(root: Path) -> None:
    text = (root / "Dockerfile").read_text()
    copied = [word for line in re.findall(r"^COPY (.*) \S+$", text, re.M) for word in line.split()]
    assert all((root / each).exists() for each in copied)
    assert {"pyproject.toml", "README.md", "LICENSE", "rspverify"} <= set(copied)
    linked = [
        each.readlink().name for each in (root / "rspverify/data").iterdir() if each.is_symlink()
    ]
    assert set(linked) <= set(copied)
    left_out = (root / ".dockerignore").read_text().splitlines()
    assert not set(copied) & set(left_out)
    assert 'ENTRYPOINT ["rspverify"]' in text


def test_the_example_is_as_expected(example: Path) -> None:
    words = ["check", "mine.yaml", "litmus", "--expect", "expected.yaml"]
    done = CliRunner().invoke(app, words)
    assert done.exit_code == 0, done.output


def test_the_example_uses_the_action(root: Path) -> None:
    workflow = read(root / "examples/ci/.github/workflows/rspverify.yml")
    *_, step = workflow["jobs"]["check"]["steps"]
    assert step["uses"].startswith("OWNER/rspverify@")
    assert step["with"].keys() <= read(root / "action.yml")["inputs"].keys()
    for name in ("schemes", "tests", "expect"):
        assert (root / "examples/ci" / step["with"][name]).exists()


def test_the_example_in_pytest(root: Path, example: Path) -> None:
    code = "import sys, pytest\nfrom importlib.metadata import entry_points\n" + (
        "own = [it.value for it in entry_points(group='pytest11')]\n"
        "known = 'rspverify.testing.plugin' in own\n"
        "words = [] if known else ['-p', 'rspverify.testing.plugin']\n"
        "sys.exit(pytest.main([*words, '-v']))\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout
    assert "mine.yaml::MP PASSED" in done.stdout


# ---- the example of a compiler, every night ------------------------------------------------------


@pytest.fixture
def nights(root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Nights:
    """The example's script, in a folder of its own, with three of its tests."""
    pytest.importorskip("llvmlite")
    shutil.copytree(root / "examples/compiler", tmp_path / "mine")
    monkeypatch.chdir(tmp_path / "mine")
    tests = " ".join(f"litmus/amdgpu/{it}.litmus" for it in ("MP-dv", "ISA2-wg-dv", "MP-of-rmw-wg"))
    rows = str(Path(__file__).with_name("few_rows.py"))
    return partial(script, Path("nightly"), folder=tmp_path, run=rows, TESTS=tests)


def take_tables() -> None:
    for each in Path("today").glob("*.yaml"):
        shutil.copy(each, "tables")


def test_nights_with_a_compiler(nights: Nights, tmp_path: Path) -> None:
    """The first has nothing to compare with; one drops the write-backs; in one nothing compiles."""
    first = nights("--operators", "add", PROCESSORS="gfx942 gfx9999")
    assert first.returncode == 0, first.stderr
    report = Path("today/report.md").read_text()
    assert "The first table of it" in report
    assert "must be a processor that can be read, not gfx9999" in report
    assert "ISA2-wg-dv under llvm-gfx942" in report
    take_tables()

    command = llvm.llvmlite().command_of(processor("gfx942"))
    emit = shlex.join(command).replace("gfx942", '"${1#-mcpu=}"')
    tells = (
        'if [ "$1" = --version ]; then echo LLVM version 99.0.0; echo "  amdgcn - AMD"; exit; fi'
    )
    llc = str(tmp_path / "bin/patched")
    program(tmp_path / "bin", "patched", f"{tells}\nshift\n{emit} | sed /buffer_wbl2/d")
    second = nights("--llc", llc, "--operators", "add", PROCESSORS="gfx942")
    assert second.returncode == 1, second.stderr
    report = Path("today/report.md").read_text()
    assert "LLVM 99.0.0 by llc" in report
    assert "MP-dv: SOUND → UNSOUND" in report
    assert "ISA2-wg-dv: UNSOUND → " not in report

    program(tmp_path / "bin", "patched", f"{tells}\nexit 3")
    third = nights("--llc", llc, PROCESSORS="gfx942")
    assert third.returncode == 1  # there was a table
    assert "cannot compile: it ends with 3" in Path("today/report.md").read_text()


def test_a_night_with_an_old_compiler(nights: Nights) -> None:
    """LLVM 16 invalidates the two caches of gfx1030 in the wrong order; LLVM 22 does not."""
    llc = shutil.which("llc-16")
    if llc is None:
        pytest.skip("there is no llc-16")
    before = nights("--llc", llc, "--operators", "add", PROCESSORS="gfx1030")
    assert before.returncode == 0, before.stderr
    take_tables()
    after = nights("--operators", "add", PROCESSORS="gfx1030")
    assert after.returncode == 0, after.stderr
    assert "MP-dv: UNSOUND → SOUND" in Path("today/report.md").read_text()


def test_nights_with_a_compiler_for_processors(nights: Nights, tmp_path: Path) -> None:
    """One night it forgets to acquire."""
    tests = {"C_TESTS": "litmus/targets/synchronisation/MP.litmus"}
    first = nights("--operators", "add", PROCESSORS="aarch64", **tests)
    assert first.returncode == 0, first.stderr
    take_tables()
    patch = llc(tmp_path / "bin", FORGETS)
    second = nights("--llc", patch, "--operators", "add", PROCESSORS="aarch64", **tests)
    assert second.returncode == 1, second.stderr
    assert "MP: SOUND → UNSOUND" in Path("today/report.md").read_text()


def test_the_workflow_for_a_patch_uses_the_action(root: Path) -> None:
    for name, job in (("nightly", "whole-tests"), ("patch", "check")):
        workflow = read(root / f"examples/compiler/.github/workflows/{name}.yml")
        steps = workflow["jobs"][job]["steps"]
        (given,) = (it["with"] for it in steps if it.get("uses", "").startswith("OWNER/rspverify@"))
        assert given.keys() <= read(root / "action.yml")["inputs"].keys()


def test_the_workflow_runs_the_script(root: Path) -> None:
    folder = root / "examples/compiler"
    workflow = (folder / ".github/workflows/nightly.yml").read_text()
    assert os.access(folder / "nightly", os.X_OK)
    assert "./nightly --llc llc-$LLVM" in workflow
    assert "# edit" in workflow
    text = (folder / "nightly").read_text()
    for cpu in ("gfx90a", "gfx942", "gfx1030", "gfx1201", "gfx1250"):
        assert cpu in PROCESSORS and cpu in text
