"""Every command that README or a page of docs shows is run, and says what the page shows."""

from __future__ import annotations

import os
import re
from pathlib import Path

import pytest
from pages import NOT_RUN, PAGES, ROOT, Block, Reader, as_shown, blocks
from typer.main import get_command

from rspverify.cli import app

each_page = pytest.mark.parametrize(
    "page", PAGES, ids=lambda page: str(page.relative_to(ROOT).with_suffix(""))
)
LEFT_OUT = [
    pytest.param(block.title.removeprefix(NOT_RUN), id=f"{page.relative_to(ROOT)}:{block.line}")
    for page in PAGES
    for block in blocks(page)
    if block.language == "console" and not block.is_run
]

_COMMAND = re.compile(r"`rspverify ([a-z]+)([^`]*)`")
_OPTION = re.compile(r"(?<![\w-])(--[a-z][\w-]*|-[a-z])\b")


@pytest.fixture(scope="session")
def pages_cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Pages show the same verdicts again and again: what one has decided the next need not.

    Nor need the other processes of this run of the tests.
    """
    base = tmp_path_factory.getbasetemp()
    return (base.parent if "PYTEST_XDIST_WORKER" in os.environ else base) / "pages"


@pytest.mark.usefixtures("in_one_process")
@each_page
def test_what_is_shown_is_so(
    page: Path, tmp_path: Path, pages_cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("RSPVERIFY_CACHE", str(pages_cache))
    monkeypatch.chdir(tmp_path)
    reader = Reader(tmp_path)
    for block in blocks(page):
        try:
            reader.follow(block)
        except AssertionError as error:
            pytest.fail(f"{page.relative_to(ROOT)}:{block.line}: {error}", pytrace=False)


@pytest.mark.parametrize("why", LEFT_OUT)
def test_what_is_not_run_says_why(why: str) -> None:
    """It is marked where readers see it, and listed at the end of a run of the tests."""
    assert why
    pytest.skip(f"a page shows it: {why}")


@each_page
def test_commands_stand_in_consoles(page: Path) -> None:
    """Where their output is compared: nowhere else does a line begin with one."""
    for block in blocks(page):
        if block.language != "console":
            command = re.search(r"^(\$ |rspverify [a-z]+\b)", block.text, re.MULTILINE)
            assert not command, (page.name, block.line, command)


@each_page
def test_commands_in_a_sentence_are_commands(page: Path) -> None:
    """They exist, and so do the options that they are shown with."""
    commands = get_command(app).commands
    for name, rest in _COMMAND.findall(re.sub(r"\s+", " ", page.read_text())):
        assert name in commands, name
        options = {each for it in commands[name].params for each in it.opts} | {"--help"}
        assert set(_OPTION.findall(rest)) <= options, (name, rest)


def test_a_line_of_dots_stands_for_lines() -> None:
    assert as_shown(["a", "…", "d"], ["a", "b", "c", "d"])
    assert as_shown(["a", "…", "d"], ["a", "d"])
    assert as_shown(["…"], [])
    assert as_shown(["…", "b", "…"], ["a", "b", "c"])
    assert as_shown(["12.3 s"], ["4 s"])
    assert not as_shown(["a", "…", "c"], ["a", "b", "c", "d"])
    assert not as_shown(["…", "b"], ["a"])
    assert not as_shown(["a"], ["a", "b"])
    assert not as_shown(["a", "b"], ["a"])


def test_a_page_that_is_wrong_is_noticed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    reader = Reader(tmp_path)
    reader.follow(Block(1, "yaml", "a.yaml", "one: 1\ntwo: 2\n"))
    reader.follow(Block(1, "diff", "a.yaml", " one: 1\n-two: 2\n+two: 3\n"))
    reader.follow(Block(1, "yaml", "a.yaml, in part", "two: 3\n"))
    reader.follow(Block(1, "console", "", "$ rspverify --version\nrspverify 9.9, z3 1.2\n"))
    reader.follow(Block(1, "console", "", "$ cat a.yaml\none: 1\ntwo: 3\n$ echo $?\n0\n"))
    reader.follow(Block(1, "python", "", "n = 1\n"))
    reader.follow(Block(1, "pycon", "", ">>> n + 1\n2\n"))
    for wrong in (
        Block(1, "diff", "a.yaml", "-two: 2\n"),
        Block(1, "yaml", "a.yaml, in part", "two: 2\n"),
        Block(1, "console", "", "$ cat a.yaml\none: 1\n"),
        Block(1, "console", "", "$ rspverify check none.yaml\n"),
        Block(1, "pycon", "", ">>> n\n2\n"),
    ):
        with pytest.raises(AssertionError):
            reader.follow(wrong)
