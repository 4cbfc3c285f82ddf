"""A command line that is wrong is refused in the words that files are."""

from __future__ import annotations

import re

import pytest
from typer.testing import CliRunner

from rspverify.cli import app

WRONG = [
    ("nosuch", r"a command must be check, report, explain, .* or list, not nosuch"),
    ("chekc", r"a command must be .*, not chekc\n  hint: did you mean check\?"),
    ("mine.yaml", r"a command must be .*\n  hint: did you mean rspverify check mine.yaml\?"),
    ("check --nosuch", r"an option of check must be one that its --help lists, not --nosuch\n"
     r"  hint: did you mean --no-cache\?"),
    ("check --xyzzy", r"an option of check must be .*, not --xyzzy\n  hint: rspverify check --help"),
    ("check -q", r"an option of check must be .*, not -q\n  hint: .*"),
    ("--format json", r"an option of rspverify must be .*, not --format\n"
     r"  hint: options of a command come after it: rspverify check --format"),
    ("--vers", r"an option of rspverify must be .*, not --vers\n  hint: did you mean --version\?"),
    ("hunt proposed --events 99", r"--events must be a whole number from 1 to 7, not 99"),
    ("hunt proposed --events=x", r"--events must be a whole number from 1 to 7, not x"),
    ("check -j 0", r"-j must be a whole number, 1 or more, not 0"),
    ("check -jx", r"-j must be a whole number, 1 or more, not x"),
    ("check --timeout 1 --timeout now", r"--timeout must be a number, 0 or more, not now"),
    ("check --format sariff", r"--format must be text, html, .* or sarif, not sariff\n"
     r"  hint: did you mean sarif\?"),
    ("check --engine nosuch", r"--engine must be events, unroll or explicit, not nosuch"),
    ("check --timeout", r"--timeout must have a value: a number, 0 or more"),
    ("check --confirm", r"--confirm must have a value: SOLVER"),
    ("check --all=3", r"--all must have no value"),
    ("report Fig4", r"one of --site and --bug must be given"),
    ("explain", r"explain must have \[SCHEME\] TEST\n  hint: \[SCHEME\] TEST: A scheme .*"),
    ("explain original", r"a test must be given, too, behind the scheme original"),
    ("explain a b c(d", r"explain must have \[SCHEME\] TEST and no more, not c\(d\n"
     r"  hint: rspverify explain --help"),
    ("list a", r"list must have no arguments, not a\n  hint: rspverify list --help"),
]  # fmt: skip


@pytest.mark.parametrize(("line", "words"), WRONG, ids=[line for line, _ in WRONG])
def test_what_is_wrong_is_said_with_what_to_do(line: str, words: str) -> None:
    result = CliRunner().invoke(app, line.split())
    assert (result.exit_code, result.stdout) == (2, "")
    assert re.fullmatch(f"{words}\n", result.stderr), result.stderr


def test_without_a_command_there_is_help_and_what_is_missing() -> None:
    result = CliRunner().invoke(app, [])
    assert (result.exit_code, result.stdout) == (2, "")
    assert "Commands:\n  check " in result.stderr
    assert result.stderr.endswith(
        "\nrspverify must have a command\n  hint: rspverify check proposed\n"
    )
