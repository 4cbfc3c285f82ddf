"""The page of all commands, from the commands themselves."""

from __future__ import annotations

import re
from typing import Any

import typer
from typer.main import get_command

from rspverify.cli import app

_HEAD = """# Commands

This page is made from the commands themselves, as `rspverify COMMAND --help` is.
[Exit codes](check.md#exit-codes) has what they end with.

| command | what it does |
|---|---|
"""


def page() -> str:
    """The page, as Markdown: a list of the commands, and a section for each."""
    group: Any = get_command(app)
    parent = typer.Context(group, info_name="rspverify")
    rows = "".join(
        f"| [`rspverify {name}`](#{name}) | {_line(command.short_help)} |\n"
        for name, command in group.commands.items()
    )
    sections = (
        _section(name, command, typer.Context(command, info_name=name, parent=parent))
        for name, command in group.commands.items()
    )
    return _HEAD + rows + "".join(sections)


def _section(name: str, command: Any, context: typer.Context) -> str:
    usage = command.get_usage(context).removeprefix("Usage: ")
    text = f"\n## {name}\n\n```text\n{usage}\n```\n\n{command.help}\n"
    for kind in ("argument", "option"):
        for each in command.get_params(context):
            if each.param_type_name == kind and "--help" not in each.opts:
                names, meaning = each.get_help_record(context)
                text += f"\n`{_line(names)}`\n:   {_line(meaning)}\n"
    return text


def _line(text: str) -> str:
    return re.sub(r"\s+", " ", text)
