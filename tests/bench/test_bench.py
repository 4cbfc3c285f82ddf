"""`make bench` with tiny parameters: what it shows, never how long it took."""

from __future__ import annotations

import re
import shutil
import stat
from pathlib import Path
from xml.etree import ElementTree

import pytest
import typer
from typer.testing import CliRunner, Result

from bench.__main__ import KEPT, main
from bench.cases import KNOWN_ANSWERS, Timed, known_answers
from bench.curves import CURVES, Curve
from bench.decisions import decisions
from bench.document import END, filled
from bench.first import FLOOR, first_answers
from bench.growth import Point, grow, growth
from bench.herd import HERD, Herd, beside_herd
from bench.parts import BUILDERS, nodes
from bench.sheet import Sheet
from bench.unknown.__main__ import main as hunted
from rspverify.smt.solver import Solver
from rspverify.soundness.settings import Engine

FIGURE = re.compile(r"\d+(\.\d+)?")
VERDICTS = {"Ex. 3": ("RACY", "RACY"), "MP, remote load": ("SOUND", "SOUND")}
VERDICTS |= {"MP, remote store": ("SOUND", "SOUND"), "IRIW": ("SOUND", "SOUND")}


@pytest.fixture(scope="module")
def cases() -> list[Timed]:
    return list(known_answers())


def test_the_known_answers_are_the_tests_they_are_called_after(cases: list[Timed]) -> None:
    """By their verdicts, which tests/soundness/test_known_answers.py holds to the paper."""
    assert [case.name for case in cases[::2]] == list(KNOWN_ANSWERS)
    for original, proposed in zip(cases[::2], cases[1::2], strict=True):
        words = tuple(case.decide(Engine.EXPLICIT).word for case in (original, proposed))
        assert words == VERDICTS.get(original.name, ("UNSOUND", "SOUND"))


def test_decisions_have_a_column_for_each_engine(cases: list[Timed]) -> None:
    sheet = decisions(cases[:2], 1)
    assert {str(engine) for engine in Engine} < set(sheet.figures)
    assert [row[2] for row in sheet.rows] == ["UNSOUND", "SOUND", "", ""]
    assert all(FIGURE.fullmatch(cell) for row in sheet.rows for cell in row[4:])
    figures = [dict(zip([*sheet.labels, *sheet.figures], row, strict=True)) for row in sheet.rows]
    for name in Engine:
        own = [float(row[name]) for row in figures[:2]]
        assert float(figures[3][name]) == max(own)


@pytest.mark.parametrize("formula", BUILDERS)
def test_formulas_ask_what_they_are_called_after(formula: str, cases: list[Timed]) -> None:
    """Is there an execution: there is; one that breaks an axiom: not under Proposed."""
    for case in cases[:2]:
        terms = BUILDERS[formula](case)
        assert nodes(terms) > 20
        solver = Solver()
        solver.add(*terms)
        sound = case.scheme.name == "proposed"
        assert (solver.find() is None) == ("denied" in formula and sound)


@pytest.mark.parametrize("curve", CURVES, ids=lambda curve: f"{curve.name}, {curve.unit}")
def test_curves_grow_and_never_race(curve: Curve) -> None:
    template = next(known_answers())
    sizes = []
    for size in curve.sizes[:3]:
        program = curve.program(size)
        workgroups = {(each.device, each.workgroup) for each in program.threads}
        sizes.append((len(program.threads), len(program.operations), len(workgroups)))
        assert not Timed(curve.name, program, template.scheme, template.model).racy
    assert sizes == sorted(set(sizes))


SMALL = [CURVES[0], CURVES[3]]


@pytest.fixture(scope="module")
def points() -> list[Point]:
    """Two curves at two sizes, and one engine that stops at once."""
    curves = [Curve(each.name, each.unit, (1, 2), each.shape, each.groups) for each in SMALL]
    return list(grow(curves, 60))


def test_growth_decides_each_size_by_each_engine(points: list[Point]) -> None:
    assert {(point.size, point.engine) for point in points} == {
        (size, engine) for size in (1, 2) for engine in Engine
    }
    assert {point.words for point in points} == {"SOUND"}
    sheet = growth(points, 60)
    assert len(sheet.rows) == 2 * len(Engine)
    assert all(FIGURE.fullmatch(cell) for row in sheet.rows for cell in row[3:])


def test_the_picture_names_every_curve_and_engine(points: list[Point], tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    from bench.figure import draw

    first, second = tmp_path / "first.svg", tmp_path / "second.svg"
    lost = Point(points[0].curve, points[0].engine, 3, None, "> 60 s")
    for path in (first, second):
        draw([*points, lost], 60, path)
    assert first.read_bytes() == second.read_bytes()
    texts = {each.text for each in ElementTree.parse(first).iter() if each.tag.endswith("text")}
    assert {point.curve.name for point in points} <= texts
    assert {point.curve.unit for point in points} <= texts
    assert {str(engine) for engine in Engine} <= texts


def test_a_sheet_in_a_document() -> None:
    sheet = Sheet("growth", "Growth", ["test"], ["ms"])
    sheet.add("MP", "1.5")
    text = f"before\n<!-- bench: growth -->\nold\n{END}\nafter\n"
    once = filled(text, {"growth": sheet.markdown()})
    assert once == (
        "before\n<!-- bench: growth -->\n\n| test | ms |\n| --- | ---: |\n| MP | 1.5 |\n\n"
        f"{END}\nafter\n"
    )
    assert filled(once, {"growth": sheet.markdown()}) == once
    with pytest.raises(ValueError, match="`<!-- bench: herd -->`"):
        filled(text, {"herd": ""})


def test_first_answers_are_beside_the_least_that_a_process_takes() -> None:
    rows = first_answers(1, [("list",)]).rows
    assert [row[0] for row in rows] == [FLOOR, "list"]
    assert rows[0][-1] == "1.00"


def test_the_document_has_a_place_for_each_table(root: Path) -> None:
    text = (root / "docs/performance.md").read_text()
    keys = ("circumstances", *KEPT)
    changed = filled(text, {key: f"figures of {key}" for key in keys})
    assert all(f"figures of {key}\n" in changed for key in keys)


def run(*arguments: object) -> Result:
    app = typer.Typer()
    app.command()(main)
    return CliRunner().invoke(app, list(map(str, arguments)))


def test_the_command_prints_draws_and_keeps(
    root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("matplotlib")
    document, picture = tmp_path / "performance.md", tmp_path / "growth.svg"
    document.write_text(f"<!-- bench: circumstances -->\n{END}\n<!-- bench: decisions -->\n{END}\n")
    monkeypatch.setattr("bench.__main__.DOCUMENT", document)
    monkeypatch.setattr("bench.__main__.CURVES", CURVES[:1])
    monkeypatch.setattr("bench.__main__.known_answers", lambda: [next(known_answers())])
    result = run("--part", "growth", "--largest", 2, "--cut-off", 60, "--picture", picture)
    assert result.exit_code == 0
    assert "MP chain" in result.stdout
    assert picture.read_text().startswith("<?xml")
    result = run("--part", "decisions", "--repeats", 1, "--keep")
    assert result.exit_code == 0
    assert re.findall(r"^\| median \| ", document.read_text(), re.M)


def test_a_herd_is_a_program(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.delenv(HERD, raising=False)
    monkeypatch.setenv("PATH", str(tmp_path))
    assert "herd: not measured" in run("--part", "herd").stdout
    monkeypatch.setenv(HERD, str(tmp_path))
    result = run("--part", "herd")
    assert result.exit_code == 2
    assert result.stderr == f"{HERD} must be a program, not {tmp_path}\n"


FAKE = """#!/bin/sh
test "$1" = -model && test "$3" = -timeout || exit 3
shift 4
for test in "$@"; do
  read language title < "$test"
  test "$title" = SB || echo "Time $title 0.0${#title}"
done
"""


def test_herd_is_timed_on_what_both_answer(root: Path, tmp_path: Path) -> None:
    """A herd that answers all but SB."""
    program = tmp_path / "herd7"
    program.write_text(FAKE)
    program.chmod(program.stat().st_mode | stat.S_IXUSR)
    for name in ("SB", "MP", "LB"):
        shutil.copy(root / f"litmus/models/x86/{name}.litmus", tmp_path)
    (tmp_path / "other.litmus").write_text("X86 other\n{}\n P0 ;\n CPUID ;\nexists (x=0)\n")
    first, *others = beside_herd(Herd(str(program)), tmp_path).rows
    assert first[:3] == ("X86", "4", "2")
    assert all(FIGURE.fullmatch(cell) for cell in first[3:])
    assert [row[:3] for row in others] == [
        (it, "0", "0") for it in ("AARCH64", "ARM", "PPC", "RISCV")
    ]
    assert beside_herd(Herd(str(program)), tmp_path, 3).rows[0][:3] == ("X86", "2", "1")


def test_both_ways_are_measured_and_agree(capsys: pytest.CaptureFixture[str]) -> None:
    hunted(events=2, threads=2, seconds=60, enumerate_too=True)
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == 5
    assert "428 programs, 26 to decide" in lines[0]
    for name, (one, other) in zip(
        ("original", "proposed"), zip(lines[1:3], lines[3:5], strict=True), strict=True
    ):
        assert re.match(rf"by programs, {name}: ", one)
        assert re.match(rf"by formula, {name}, 2 operations: ", other)
        assert ("sound" in one) == ("sound" in other) == (name == "proposed")
