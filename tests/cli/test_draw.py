"""`draw` as users meet it."""

from __future__ import annotations

from functools import partial
from pathlib import Path

import command_line
import pytest

pytestmark = pytest.mark.usefixtures("in_repository")
run = partial(command_line.run, "draw")

FIG4 = "litmus/rsp/paper/Fig4.litmus"


def test_the_file_says_the_form(tmp_path: Path) -> None:
    for name, start in (("a.dot", "digraph"), ("a.svg", "<svg")):
        place = tmp_path / name
        assert run(FIG4, "-o", str(place)).exit_code == 0
        assert place.read_text().startswith(start)
    assert run(FIG4, "--format", "dot").stdout.startswith("digraph")


def test_the_same_picture_every_time() -> None:
    assert run(FIG4, "--forbidden").stdout == run(FIG4, "--forbidden").stdout
