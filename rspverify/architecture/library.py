"""The files that a machine includes: where they are, and what they say."""

from __future__ import annotations

from functools import cache
from pathlib import Path

from rspverify.architecture import syntax
from rspverify.architecture.catalogue import ENDING, SHIPPED
from rspverify.architecture.parsing import parse
from rspverify.source import Source, read_source

MAX_MACHINE_BYTES = 100_000
"""Largest file of a machine, in bytes: the paper's has five thousand."""


def place(include: syntax.Include) -> Path:
    """Where an included file is: among the machines that ship, or beside the including one."""
    if include.shipped:
        return SHIPPED / f"{include.name}{ENDING}"
    return Path(include.span.source.name).parent / include.name


def file_at(path: Path) -> syntax.MachineFile:
    """The syntax of a file. Raises InputError where it cannot be read, or is not one."""
    return _shipped_file(path) if path.parent == SHIPPED else parse(read_machine(path))


def read_machine(path: Path | str) -> Source:
    """The text of the file of a machine. Raises InputError where it cannot be read."""
    return read_source(path, MAX_MACHINE_BYTES)


@cache
def _shipped_file(path: Path) -> syntax.MachineFile:
    return parse(read_machine(path))
