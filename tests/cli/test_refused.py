"""What each command refuses, or cannot give: the exit code, and what is said."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest
import yaml
from command_line import run

TFB = "litmus/ptx/table-4.2/visibility-global-inter-TFB.litmus"
TABLE = yaml.safe_load(Path(__file__).with_name("refused.yaml").read_text())
LINES = [(f"{command} {line}", *told) for command, its in TABLE.items() for line, *told in its]


@pytest.mark.usefixtures("in_repository")
@pytest.mark.parametrize(("line", "code", "said"), LINES, ids=[line for line, *_ in LINES])
def test_it_is_said_in_words(line: str, code: int, said: str) -> None:
    result = run(*shlex.split(line.replace("TFB", TFB)))
    assert result.exit_code == code, result.output
    assert code == 3 or result.stdout == "", "what is known by a limit is shown"
    assert re.search(said.replace("TFB", TFB), result.stderr, re.M), result.stderr
