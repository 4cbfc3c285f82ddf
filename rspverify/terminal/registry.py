"""All commands: each is a file, whose first line has its name and what it does."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from functools import cache
from importlib import import_module
from pathlib import Path

from rspverify.terminal.command import Command

FOLDER = Path(__file__).parents[1] / "commands"
_FIRST = (
    *("check", "report", "explain", "outcomes", "progress", "draw", "mutate", "hunt", "compare"),
    *("repair", "selftest", "show", "serve", "cache", "extract", "generate", "init", "list"),
)
"""The order in which --help lists them; others come after these."""
_LINE = re.compile(r'"""`([a-z-]+)`: (.*)"""')


@cache
def summaries() -> Mapping[str, str]:
    """What each command does, in a line; no command is imported for it."""
    found: dict[str, str] = {}
    for path in sorted(FOLDER.glob("*.py")):
        with path.open(encoding="utf-8") as text:
            line = _LINE.match(text.readline())
        if line:
            found[line[1]] = line[2]
    names = [*(name for name in _FIRST if name in found), *(found.keys() - {*_FIRST})]
    return {name: found[name] for name in names}


@cache
def command_of(name: str) -> Command:
    """A command by its name."""
    command: Command = import_module(f"rspverify.commands.{name}").COMMAND
    return command


@cache
def callback(name: str) -> Callable[..., None]:
    """The function that typer makes a command of."""
    from rspverify.terminal.make import made

    return made(name, command_of(name))
