"""`progress`: its document, and what the cache keeps."""

from __future__ import annotations

from functools import partial
from pathlib import Path

import command_line
import pytest
from soundness.waiting import load, store, test

import rspverify
from rspverify.source import Source

document = partial(command_line.document, "progress", "-j", "1")

FLAG = test((0, f"while ({load('x')} != 1);"), (1, store("x", 1)))


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "flag.litmus").write_text(FLAG)
    return tmp_path


def test_the_document_has_the_hang(folder: Path) -> None:
    (found,) = document(folder / "flag.litmus", "--scheduler", "hsa", code=1)["results"]
    assert (found["test"], found["scheduler"], found["progress"]) == ("waiting", "hsa", "STUCK")
    assert found["hang"]["stuck"][0]["reads"][0]["write"]["access"] == "W(x, 0) initial"
    assert found["hang"]["stopped"] == [
        {"group": 1, "started": False, "threads": [{"thread": 1, "line": 4}]}
    ]


def test_answers_are_kept(folder: Path) -> None:
    """A change of the test, of the scheduler or of a setting is another question."""

    def cached(*words: str) -> list[bool]:
        return [it["cached"] for it in document(folder / "flag.litmus", *words)["results"]]

    assert (cached(), cached()) == ([False, False], [True, True])
    assert cached("--scheduler", "obe") == [True]
    assert cached("--scheduler", "obe", "--scheduler", "lobe") == [True, False]
    assert cached("--unroll", "3") == [False, False]
    assert cached("--no-cache") == [False, False]
    (folder / "flag.litmus").write_text(FLAG.replace("!= 1", "!= 2"))
    assert cached() == [False, False]


def test_a_text_is_asked_about() -> None:
    (answer,) = rspverify.progress(Source("<mine>", FLAG), ["obe:1"]).report().results
    assert answer.hang is not None and answer.hang.stuck[0].thread == 0


def test_a_hang_is_drawn(folder: Path) -> None:
    drawn = command_line.run("draw", folder / "flag.litmus", "--scheduler", "obe").stdout
    assert "a consistent execution that hangs under obe" in drawn
    assert "P0 is stuck in the loop in line 3; group 1 never starts" in drawn
