"""Elements of arrays are locations in every form of output, and a fault says its line."""

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from rspverify.cli import app

pytestmark = pytest.mark.usefixtures("in_one_process")

TEXT = """OpenCL MP
{ global atomic_int flag[2]; global int x[2]; }
kernel void k(global atomic_int* flag, global int* x) {
  if (get_group_id(0) == 0) {
    x[1] = 1;
    atomic_store_explicit(&flag[1], 1, memory_order_release, memory_scope_device);
  } else {
    int r0 = atomic_load_explicit(&flag[1], memory_order_acquire, memory_scope_device);
    int r1 = -1;
    if (r0 == 1) r1 = x[r0];
  }
}
groups 2 threads 1
locations [flag[1]; x[1];]
exists (1:r1=0 /\\ flag[1]=1)
"""
ORIGINAL = str(Path(__file__).resolve().parents[2] / "schemes/original.yaml")


@pytest.fixture(name="folder")
def _folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "MP.litmus").write_text(TEXT)
    (tmp_path / "bad.litmus").write_text(TEXT.replace("x[r0]", "x[r0 + 1]"))
    monkeypatch.chdir(tmp_path)
    return tmp_path


def run(*words: str) -> str:
    return CliRunner().invoke(app, [*words]).output


@pytest.mark.parametrize("form", ["json", "sarif", "github", "html", "junit", "markdown"])
def test_the_forms_of_check(folder: Path, form: str) -> None:
    found = run("check", "--no-cache", ORIGINAL, "MP.litmus", "bad.litmus", "--format", form)
    assert form == "markdown" or ("flag[1]" in found and "x[1]" in found)
    told = form in ("json", "html", "markdown")  # The others tell findings alone.
    assert ("index 2 of x is out of bounds, an array of 2" in found) == told


def test_the_forms_of_other_commands(folder: Path) -> None:
    assert "[flag[1]]=1; [x[1]]=1;" in run("outcomes", "MP.litmus", "--format", "herd")
    (answer,) = json.loads(run("outcomes", "MP.litmus", "--format", "json"))["results"]
    assert {each["outcome"]["memory"]["flag[1]"] for each in answer["outcomes"]} == {1}
    assert "bad.litmus: RACY Bounds: P1 line 10: index 2" in run("outcomes", "--races", ".")
    shown = run("explain", ORIGINAL, "MP.litmus")
    assert "load na x[1]" in shown and "P1, line 10, read 0 from x[1]" in shown
    run("draw", "MP.litmus", "--forbidden", "-o", "MP.svg")
    run("draw", "bad.litmus", "--race", "-o", "bad.dot")
    svg, dot = ((folder / name).read_text() for name in ("MP.svg", "bad.dot"))
    assert svg.startswith("<svg") and "R[na](x[1], 0)" in svg
    assert dot.startswith("digraph") and "P1 line 10: index 2 of x is out of bounds" in dot
