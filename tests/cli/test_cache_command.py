"""The cache as users meet it: what they see of it, what is loaded, how it is left out."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from command_line import document, run

from rspverify.judge.store import FILE

pytestmark = pytest.mark.usefixtures("in_repository")

ORIGINAL, PROPOSED = "schemes/original.yaml", "schemes/proposed.yaml"
FIG4 = "litmus/rsp/paper/Fig4.litmus"
HEAVY = ("rspverify.smt.interface", "z3", "pysmt", "rspverify.lalr", "networkx", "multiprocessing")


def test_the_last_lines_say_what_was_known() -> None:
    assert " cached\n" not in run("check", ORIGINAL, PROPOSED, FIG4).stdout
    one_more = run("check", ORIGINAL, PROPOSED, FIG4, "litmus/rsp/paper/Ex1.litmus").stdout
    assert " s, 2 cached\n" in one_more


def test_json_says_it_of_each_result() -> None:
    run("check", PROPOSED, FIG4)
    found = document("check", ORIGINAL, PROPOSED, FIG4)["results"]
    assert [each["cached"] for each in found] == [False, True]


def test_without_it_nothing_is_read_or_written(cache_folder: Path) -> None:
    assert " cached\n" not in run("check", PROPOSED, FIG4, "--no-cache").stdout
    assert not cache_folder.exists()
    run("check", PROPOSED, FIG4)
    assert " cached\n" not in run("check", PROPOSED, FIG4, "--no-cache").stdout
    assert " cached\n" in run("check", PROPOSED, FIG4).stdout


def test_a_warning_is_said_once_and_names_the_file(cache_folder: Path) -> None:
    cache_folder.mkdir()
    (cache_folder / FILE).write_text("This is a diary.\n" * 500)
    result = run("check", ORIGINAL, PROPOSED, FIG4, "-j", "2")
    assert result.exit_code == 1
    assert result.stderr == (
        f"warning: {cache_folder / FILE}: the cache cannot be used and is ignored: "
        "file is not a database; rspverify cache --clear begins it anew\n"
    )
    assert (cache_folder / FILE).read_text().startswith("This is a diary.")


def test_the_command_shows_its_place_and_empties_it(cache_folder: Path) -> None:
    run("check", PROPOSED, FIG4)
    shown = run("cache").stdout
    assert shown.startswith(f"{cache_folder / FILE}\n")
    assert " answers, " in shown
    assert not shown.split("\n")[1].startswith("0 ")
    assert run("cache", "--clear").stdout == f"removed {cache_folder / FILE}\n"
    assert not (cache_folder / FILE).exists()
    assert run("cache").stdout.split("\n")[1].startswith("0 answers")
    assert " cached\n" not in run("check", PROPOSED, FIG4).stdout


def loaded(*arguments: str) -> set[str]:
    """The modules that a command loads, and their packages."""
    program = (
        "import sys\n"
        "from rspverify.cli import app\n"
        "try: app(sys.argv[1:])\n"
        "except SystemExit: pass\n"
        "print(*sys.modules, file=sys.stderr)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", program, *arguments], capture_output=True, text=True, check=True
    )
    assert "Usage" in done.stdout or "rspverify" in done.stdout or "verdict" in done.stdout
    names = done.stderr.split()
    return {*names, *(each.partition(".")[0] for each in names)}


@pytest.mark.parametrize(
    "arguments", [("--help",), ("--version",), ("check", "--help"), ("explain", "--help")]
)
def test_help_loads_neither_solver_nor_renderer(arguments: tuple[str, ...]) -> None:
    assert not loaded(*arguments) & {*HEAVY, "rich", "yaml", "sqlite3"}


def test_a_run_of_known_answers_loads_no_solver_and_no_grammar() -> None:
    """With verdicts of all kinds, and an operation that the schemes have no row for."""
    arguments = ("check", ORIGINAL, PROPOSED, "litmus/rsp/paper", "litmus/rsp/multi-device")
    run(*arguments)
    modules = loaded(*arguments, "-j", "2", "--expect", "litmus/rsp/expected.yaml")
    assert "sqlite3" in modules
    assert not modules & {*HEAVY}
