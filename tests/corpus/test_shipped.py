"""What words of a command line mean in a folder without anything, and in one with files of its own."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import jsonschema
import pytest
import yaml
from typer.testing import CliRunner, Result

from rspverify import shipped
from rspverify.cli import app
from rspverify.corpus.expected import read_expected
from rspverify.corpus.inputs import inputs_meant, meant_by, split, suites_meant
from rspverify.corpus.inputs import tests_meant as meant_tests
from rspverify.shipped import located, schemes_named, ships
from rspverify.source import InputError, Problem, read_source

pytestmark = pytest.mark.usefixtures("in_one_process")

TEST = """\
OpenCL mine
{ [x]=0; }
P0 (global atomic_int* x) { atomic_store(x, 1); }
scopeTree (device (work_group P0))
exists (x=1)
"""


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """An empty one, which is the current one."""
    monkeypatch.chdir(tmp_path)
    yield tmp_path


def run(*words: str) -> Result:
    return CliRunner().invoke(app, words)


def own(path: str, text: str = TEST) -> Path:
    place = Path(path)
    place.parent.mkdir(parents=True, exist_ok=True)
    place.write_text(text)
    return place


def refused(*words: str) -> list[Problem]:
    with pytest.raises(InputError) as error:
        inputs_meant(*split(words))
    return list(error.value.problems)


def test_what_ships_can_be_named_from_anywhere(root: Path) -> None:
    for path in ("schemes/proposed.yaml", "litmus/rsp/paper/Fig4.litmus", "litmus/ptx"):
        assert ships(path)
        assert located(path).resolve() == (root / path).resolve()
    source = read_source("schemes/proposed.yaml")
    assert source.name == "schemes/proposed.yaml"
    assert source.text == (root / "schemes/proposed.yaml").read_text()


@pytest.mark.parametrize(
    "path",
    [
        "proposed.yaml",
        "litmus/../schemes/proposed.yaml",
        "../litmus/rsp",
        "init/mine.yaml",
        "/litmus/rsp",
        "litmus/rsp/nowhere.litmus",
        "",
    ],
)
def test_no_other_path_leads_into_the_package(path: str) -> None:
    assert located(path) == Path(path)


def test_what_is_there_comes_first() -> None:
    own("litmus/rsp/paper/Fig4.litmus")
    assert not ships("litmus/rsp/paper/Fig4.litmus")
    assert ships("litmus/rsp/paper/Fig5.litmus"), "what is not there may still be named"
    assert read_source("litmus/rsp/paper/Fig4.litmus").text == TEST


def test_names() -> None:
    meant = meant_by(schemes=["proposed", "original"], tests=["Fig4"])
    assert meant.schemes == ["schemes/proposed.yaml", "schemes/original.yaml"]
    assert meant.tests == ["litmus/rsp/paper/Fig4.litmus"]
    own("schemes/proposed.yaml", "name: p")
    assert meant_by(schemes=["proposed"]).schemes == ["schemes/proposed.yaml"]
    assert not ships("schemes/proposed.yaml") and ships("schemes/original.yaml")
    assert schemes_named("proposed") == ["schemes/proposed.yaml"]
    for word, path in (
        ("fig-3.6", "litmus/ptx/open/fig-3.6.litmus"),
        ("MP-dv", "litmus/amdgpu/MP-dv.litmus"),
    ):
        assert meant_by(tests=[word]).tests == [path]
    own("litmus/ptx/fig-3.6.litmus")
    assert meant_by(tests=["fig-3.6"]).tests == ["litmus/ptx/fig-3.6.litmus"]
    own("Fig4")
    assert meant_by(tests=["Fig4"]).tests == ["Fig4"], "a file comes before a name"


@pytest.mark.parametrize(
    ("word", "said"),
    [
        ("gfx942", r"^gfx942: must be a test here, not a scheme$"),
        ("amdgpu:gfx942", r"^amdgpu:gfx942: .* a compiler cannot stand here\n  hint: "),
        ("fig-3.7", r"no such file .*\n  hint: did you mean fig-3\.6"),
    ],
)
def test_what_is_no_test(word: str, said: str) -> None:
    with pytest.raises(InputError, match=said):
        meant_by(tests=[word])


def test_tests_of_a_folder_of_ones_own_are_the_only_ones_with_names() -> None:
    own("litmus/mine.litmus")
    assert shipped.tests_named("mine") == ["litmus/mine.litmus"]
    assert shipped.tests_named() == ["litmus/mine.litmus"]
    found = inputs_meant(*split(["proposed"]))
    assert found.tests == ["litmus/mine.litmus"]
    assert found.notes == ("no tests are given, so it is those of the folder litmus here: litmus",)


def test_without_tests_it_is_those_that_ship() -> None:
    found = inputs_meant(*split(["proposed"]))
    assert len(found.tests) == 238
    assert found.notes == (
        "no tests are given, so it is those that ship with rspverify: litmus/rsp",
    )
    suites = suites_meant([])
    assert suites is not None and len(suites) == 24
    assert all(located(each.expected).is_file() for each in suites)


def test_tests_of_one_name() -> None:
    own("litmus/a/same.litmus")
    own("litmus/b/same.litmus")
    problems: list[Problem] = []
    assert meant_tests(["same"], problems).tests == []
    (problem,) = problems
    assert "same: must be one test, and 2 are called so" in str(problem)
    assert "litmus/a/same.litmus, litmus/b/same.litmus" in str(problem)


@pytest.mark.parametrize(
    ("word", "words"),
    [
        ("propsed", "did you mean proposed"),
        ("Fig44", "did you mean Fig4"),
        ("*", "rspverify list shows all names"),
        ("[a-z]", "rspverify list shows all names"),
        ("a/b", "check the path"),
    ],
)
def test_what_means_nothing(word: str, words: str) -> None:
    assert any(words in str(each) for each in refused("proposed", word))


def test_a_wrong_name_does_not_hide_another() -> None:
    said = "\n".join(map(str, refused("proposed", "nobody", "nowhere.litmus", "no.yaml")))
    assert all(f"{word}: no such file" in said for word in ("nobody", "nowhere.litmus", "no.yaml"))


def test_what_ships_is_not_written_to() -> None:
    result = run("check", "litmus/rsp", "--refresh")
    assert result.exit_code == 2
    assert "litmus/rsp/expected.yaml: ships with rspverify" in result.stderr
    assert "Traceback" not in result.output


@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        (["explain", "original", "Fig4"], 1, "No execution of the source ends so"),
        (["explain", "original", "litmus/rsp/paper/Fig4.litmus"], 1, "No execution of the source"),
        (["show", "proposed"], 0, "Tab. 3, column Proposed"),
        (["outcomes", "Fig4", "--scheme", "original"], 0, "original"),
        (["draw", "Fig4"], 0, "<svg"),
        (["check", "original", "Fig4"], 1, "UNSOUND"),
        (["check", "litmus/models/c11"], 0, "all as expected"),
        (["compare", "original", "proposed", "Fig4"], 0, "UNSOUND"),
        (["prove", "proposed"], 0, "PROVED"),
        (["mutate", "proposed", "Fig4", "--no-proof"], 1, "mutants"),
        (["hunt", "original", "--events", "2", "--first"], 1, "the first finding was asked for"),
        (["list"], 0, "schemes/proposed.yaml"),
        (["--version"], 0, "z3"),
    ],
)
def test_every_command_works_in_an_empty_folder(words: list[str], code: int, said: str) -> None:
    result = run(*words)
    assert result.exit_code == code, result.output
    assert said in result.output


def test_list_says_whose_they_are() -> None:
    assert "tests  those that ship" in run("list").stdout
    own("litmus/mine/a.litmus")
    own("schemes/mine.yaml")
    said = run("list").stdout
    assert "tests  those of the folder litmus here\n  litmus/mine: 1\n" in said
    assert "  mine  schemes/mine.yaml  here\n" in said
    assert "  proposed  schemes/proposed.yaml\n" in said


# ---- init ----------------------------------------------------------------------------------------


def test_a_folder_to_start_with() -> None:
    """What it says to do next is right, and what its files run is the same."""
    result = run("init", "new")
    assert result.exit_code == 0
    command = result.stdout.splitlines()[-1].removeprefix("next: cd new && ")
    workflow = yaml.safe_load(Path("new/.github/workflows/rspverify.yml").read_text())
    (hook,) = yaml.safe_load(Path("new/.pre-commit-config.yaml").read_text())["repos"][0]["hooks"]
    assert hook["entry"] == command
    assert workflow["jobs"]["check"]["steps"][-1]["run"] == f"{command} --format github"
    assert read_source("new/mine.yaml").text.count("\nname: mine\n") == 1


def test_what_it_expects_is_what_comes() -> None:
    run("init")
    own, ours = map(read_expected, ("expected.yaml", "litmus/rsp/expected.yaml"))
    found = {test: row["mine"] for test, row in own.verdicts.items()}
    assert len(found) == 238
    assert found == {f"litmus/rsp/{it}": row["proposed"] for it, row in ours.verdicts.items()}
    words = ("check", "mine.yaml", "litmus/rsp/paper", "--expect", "expected.yaml")
    result = run(*words)
    assert result.exit_code == 0, result.output
    before = Path("expected.yaml").read_text()
    assert run(*words, "--refresh").exit_code == 0
    assert Path("expected.yaml").read_text() == before


@pytest.mark.parametrize("name", ["mine.yaml", "expected.yaml"])
def test_editors_find_what_they_check_its_files_by(name: str) -> None:
    """It lies in the folder, takes the file as it is, and a refresh keeps the line that names it."""
    run("init")
    first, text = Path(name).read_text().split("\n", 1)
    schema = json.loads(Path(first.removeprefix("# yaml-language-server: $schema=")).read_text())
    jsonschema.Draft7Validator(schema).validate(yaml.safe_load(text))
    test = "litmus/rsp/paper/Fig4.litmus"
    run("check", "mine.yaml", test, "--expect", "expected.yaml", "--refresh")
    assert Path(name).read_text().startswith(f"{first}\n")


def test_nothing_of_ones_own_is_overwritten() -> None:
    assert run("init").exit_code == run("init").exit_code == 0
    Path("mine.yaml").write_text("name: other\n")
    result = run("init")
    assert result.exit_code == 2
    assert "mine.yaml: must be as it comes from init, or not exist" in result.stderr
    assert Path("mine.yaml").read_text() == "name: other\n"


# ---- what a shell completes ----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("words", "completed"),
    [
        ("explain orig", ["original"]),
        ("explain original Fig", ["Fig4", "Fig5"]),
        ("check mi", ["mine.yaml"]),
        ("check proposed in", ["in/"]),
        ("check --model opencl-s", ["opencl-scoped-sc"]),
        ("check --model mod", ["model.cat"]),
        ("check --machine rsp-i", ["rsp-inv-l2"]),
        ("outcomes in/f", ["in/first.litmus"]),
        ("show nothing", []),
    ],
)
def test_a_shell_completes_names_and_paths(words: str, completed: list[str]) -> None:
    for path in ("mine.yaml", "mine.txt", "model.cat", "in/first.litmus", "in/fourth.txt"):
        own(path)
    given = words.split()
    environment = {
        "COMP_WORDS": f"rspverify {words}",
        "COMP_CWORD": str(len(given)),
        "_RSPVERIFY_COMPLETE": "complete_bash",
    }
    result = CliRunner().invoke(app, prog_name="rspverify", env=environment)
    found = result.stdout.split()
    assert set(completed) <= set(found)
    assert completed or not found
    assert not {"mine.txt", "in/fourth.txt"} & set(found)
