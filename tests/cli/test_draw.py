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


@pytest.mark.parametrize(
    "arguments, code, message",
    [
        ([FIG4, "--race", "--all"], 2, "only one of --race, --forbidden, --all and --scheduler"),
        ([FIG4, "--all", "--scheduler", "obe"], 2, "only one of --race, --forbidden, --all and"),
        ([FIG4, "--scheduler", "obe"], 1, "no execution hangs under obe"),
        ([EX3, "--scheduler", "obe"], 1, "undefined behaviour: race (Dr): P0 line "),
        ([FIG4, "--scheduler", "fast"], 2, "a scheduler must be fair, obe, hsa, hsa-obe, "),
        ([FIG4, "--scheduler", "obe", "--outcome", "x=1"], 2, "must go without --scheduler"),
        ([FIG4, "--race", "--outcome", "x=1"], 2, "--outcome must go without --race"),
        ([FIG4, "--edges", "rf,nonsense"], 2, "nonsense must be relations of the model opencl-rsp"),
        ([FIG4, "--outcome", "1:r9=1"], 2, "'1:r9=1' must speak of a register of"),
        ([FIG4, "--outcome", "q=1 x"], 2, "'x' must be like 1:r0=1 or x=2"),
        ([EX4, "--forbidden"], 1, "nothing forbids [x]=2 \\/ [x]=3"),
        ([EX4, "--forbidden", "--outcome", "x=77"], 1, "no candidate execution has values"),
        (["nowhere.litmus"], 2, "nowhere.litmus: no such file"),
    ],
)
def test_what_cannot_be_drawn(arguments: list[str], code: int, message: str) -> None:
    result = run(*arguments)
    assert result.exit_code == code
    assert message in result.stderr
    assert result.stdout == ""


def test_the_same_picture_every_time() -> None:
    assert run(FIG4, "--forbidden").stdout == run(FIG4, "--forbidden").stdout
