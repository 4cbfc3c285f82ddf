"""What others put into their pipelines: the action, the hook, the image, the example."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
import sys
import xml.etree.ElementTree as ET
from pathlib import Path
from typing import Any

import pytest
import yaml
from typer.testing import CliRunner

from rspverify.cli import app

_USED = re.compile(r"\$\{\{\s*([\w.-]+)\s*\}\}")
_CONTEXTS = {
    "runner.os",
    "github.action_path",
    "github.job",
    "github.run_attempt",
    "github.run_id",
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
    script = (root / ".ci/action-check").read_text()
    named = set(re.findall(r"\$\{?([A-Z_]+)", script))
    assert named == check["env"].keys() - {"RSPVERIFY_CACHE"} | {"GITHUB_STEP_SUMMARY"}


def check(root: Path, folder: Path, **given: str) -> subprocess.CompletedProcess[str]:
    """The step of the action that checks, as GitHub runs it."""
    path = f"{folder / 'bin'}{os.pathsep}{os.environ['PATH']}"
    program = folder / "bin" / "rspverify"
    program.parent.mkdir()
    program.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m rspverify "$@"\n')
    program.chmod(0o755)
    every = {"TESTS": "", "EXPECT": "", "OPTIONS": "", "REPORTS": ".rspverify/reports", **given}
    every |= {"PATH": path, "GITHUB_STEP_SUMMARY": str(folder / "summary.md")}
    return subprocess.run(
        ["bash", root / ".ci/action-check"],
        env={**os.environ, **every},
        capture_output=True,
        text=True,
        check=False,
    )


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
