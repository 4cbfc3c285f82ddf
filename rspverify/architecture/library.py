"""The files that a machine includes: where they are, and what they say."""

from __future__ import annotations

from functools import cache
from pathlib import Path

from rspverify.architecture import syntax
from rspverify.architecture.catalogue import ENDING, SHIPPED
from rspverify.architecture.parsing import MAX_CHARACTERS, parse
from rspverify.source import Source, read_source


def place(include: syntax.Include) -> Path:
    """Where an included file is: among the machines that ship, or beside the including one."""
    if include.shipped:
        return SHIPPED / f"{include.name}{ENDING}"
    return Path(include.span.source.name).parent / include.name


def read_machine(path: Path | str) -> Source:
    """The text of the file of a machine. Raises InputError where it cannot be read."""
    return read_source(path, MAX_CHARACTERS)


def syntax_of(source: Source) -> syntax.MachineFile:
    """The syntax of a file that is included; of one that ships, it is made once."""
    return _shipped(source) if Path(source.name).parent == SHIPPED else parse(source)


@cache
def _shipped(source: Source) -> syntax.MachineFile:
    return parse(source)
