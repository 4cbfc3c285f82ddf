"""The first answer of a process, cold, beside the least that libraries like ours take to import."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from collections.abc import Callable, Sequence
from functools import partial

from bench.cases import ROOT
from bench.measure import digits, side_by_side
from bench.sheet import Sheet

_SCHEME = "schemes/original.yaml"
_TEST = str(next((ROOT / "litmus").rglob("Fig4.litmus")).relative_to(ROOT))
FLOOR = "import z3, lark, typer"
"""What a command line with a solver and a parser imports, if it imports them whole."""
COMMANDS = (
    ("explain", _SCHEME, _TEST),
    ("outcomes", _TEST),
    ("check", _SCHEME, _TEST),
    ("prove", "schemes/proposed.yaml"),
    ("prove", _SCHEME),
)
"""Commands whose answer is about one test, or one table."""


def first_answers(repeats: int, commands: Sequence[Sequence[str]] = COMMANDS) -> Sheet:
    """Milliseconds for each command from its start to its end, each time with an empty cache."""
    sheet = Sheet(
        "first",
        f"The first answer of a process (ms; median of {repeats})",
        ["command"],
        ["time", "time / imports"],
    )
    actions: dict[str, Callable[[], object]] = {FLOOR: partial(_run, ("-c", FLOOR))}
    for words in commands:
        actions[" ".join(words)] = partial(_run, ("-m", "rspverify", *words))
    times = side_by_side(actions, repeats)
    for command in actions:
        sheet.add(command, digits(times[command]), digits(times[command] / times[FLOOR]))
    return sheet


def _run(words: Sequence[str]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        environment = {**os.environ, "RSPVERIFY_CACHE": folder}
        environment.pop("PYTHONDONTWRITEBYTECODE", None)  # Modules are compiled once, as for users.
        subprocess.run(
            [sys.executable, *words], cwd=ROOT, env=environment, capture_output=True, check=False
        )
