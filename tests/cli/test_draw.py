"""`draw` as users meet it."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from xml.etree import ElementTree

import command_line
import pytest

pytestmark = pytest.mark.usefixtures("in_repository")
run = partial(command_line.run, "draw")

FIG4, EX3, EX4 = (f"litmus/rsp/paper/{name}.litmus" for name in ("Fig4", "Ex3", "Ex4"))


def words(svg: str) -> list[str]:
    """All that is written in a picture."""
    return [
        each.text or "" for each in ElementTree.fromstring(svg).iter() if each.tag.endswith("}text")
    ]


def test_the_first_consistent_execution() -> None:
    result = run(FIG4)
    assert result.exit_code == 0
    text = words(result.stdout)
    assert text[:3] == [
        "Fig4 under opencl-rsp",
        "a consistent execution",
        text[2],
    ]
    assert "no consistent execution satisfies 1:r0=1 /\\ 1:r1=0" in text
    assert {"P0", "P1", "device 0", "work-group 0", "work-group 1", "sb", "rf"} <= set(text)


def test_an_execution_that_satisfies_the_condition() -> None:
    text = words(run(EX4).stdout)
    assert any(each.startswith("satisfies [x]=2 \\/ [x]=3") for each in text)


def test_the_forbidden_execution_names_the_axiom() -> None:
    result = run(FIG4, "--forbidden")
    assert result.exit_code == 0
    text = words(result.stdout)
    assert text[1:4] == [
        "forbidden by Narf",
        "1:r0=1 1:r1=0 x=42 y=1",
        "breaks Narf: empty (rf; [nal]) \\ vis",
    ]


def test_an_outcome() -> None:
    assert "1:r0=1 1:r1=42 x=42 y=1" in words(run(FIG4, "--outcome", "1:r0=1").stdout)
    assert "1:r0=1 1:r1=0 x=42 y=1" in words(
        run(FIG4, "--forbidden", "--outcome", "P1:r0=1 1:r1=0; [x]=42").stdout
    )
    result = run(FIG4, "--outcome", "1:r0=1 1:r1=0")
    assert result.exit_code == 1
    assert result.stderr == (
        "no consistent execution ends with 1:r0=1 1:r1=0: --forbidden shows why\n"
    )


def test_the_race() -> None:
    text = words(run(EX3, "--race").stdout)
    assert text[1] == "a consistent execution that violates Dr"
    assert "dr" in text
    result = run(FIG4, "--race")
    assert (result.exit_code, result.stdout) == (1, "")
    assert result.stderr == f"{FIG4}: no consistent execution has a race\n"


def test_all_consistent_executions_on_a_page() -> None:
    text = words(run(EX4, "--all").stdout)
    numbered = [each for each in text if each.startswith("consistent execution")]
    assert numbered == ["consistent execution 1 of 2", "consistent execution 2 of 2"]


def test_edges_and_no_initial_writes() -> None:
    text = words(run(FIG4, "--edges", "rf, incl", "--no-initial").stdout)
    assert "incl" in text and "sb" not in text
    assert not any("initial" in each for each in text)


def test_by_another_model() -> None:
    assert words(run(FIG4, "--model", "opencl-hrf").stdout)[0] == "Fig4 under opencl-hrf"


def test_the_file_says_the_form(tmp_path: Path) -> None:
    for name, start in (("a.dot", "digraph"), ("a.svg", "<svg")):
        place = tmp_path / name
        assert run(FIG4, "-o", str(place)).exit_code == 0
        assert place.read_text().startswith(start)
    assert run(FIG4, "--format", "dot").stdout.startswith("digraph")


def test_the_same_picture_every_time() -> None:
    assert run(FIG4, "--forbidden").stdout == run(FIG4, "--forbidden").stdout
