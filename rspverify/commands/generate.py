"""`generate`: Write a systematic family of tests."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from rspverify.generate.annotations import chosen_annotations
from rspverify.generate.family import (
    DEVICE_FAMILIES,
    FAMILIES,
    LETTERS,
    MOST,
    Family,
    chosen,
    require_few,
    write_tests,
)
from rspverify.generate.rows import NAME, RowFamily
from rspverify.options import Parameters, argument, option
from rspverify.render.listings import families as listed
from rspverify.render.progress import working
from rspverify.source import InputError, Problem
from rspverify.terminal.command import Command
from rspverify.terminal.output import Output


@dataclass(frozen=True)
class GenerateParameters(Parameters):
    """Which tests, and where they go."""

    family: str | None = argument(
        "A family of --list, all or all-devices.", metavar="FAMILY", default=None
    )
    folder: str | None = argument(
        "Where the tests go; for all, each family in its own.", metavar="DIR", default=None
    )
    list_families: bool = option(
        False, "Show the families, their shapes and their sizes.", name="--list"
    )
    scopes: Sequence[str] = option(
        (), "Scopes to choose from, as WG,DV,DV.R,ALL. Default: of the family.", commas=True
    )
    orders: Sequence[str] = option(
        (),
        "Memory orders to choose from: rlx, acq, rel, ar, sc, each where an operation may "
        "have it. Default: the usual one of each operation.",
        commas=True,
    )
    memories: Sequence[str] = option(
        (), "Where each location may be: global, local, or global,local.", commas=True
    )
    distinct: bool = option(
        False,
        "Leave out tests that are another one but for names of threads, work-groups, "
        "devices and locations.",
    )
    count: bool = option(False, "Only say how many tests there are; write none.")
    limit: int | None = option(None, "At most so many tests. Default: 30,000.", least=1)


def generate(asked: GenerateParameters, output: Output) -> int:
    """Write a systematic family of litmus tests: every choice and grouping of a few shapes.

    With `--list` or `--count` nothing is written. Never overwrites a file that is not the very same
    test.
    """
    folder = asked.folder
    if asked.list_families or asked.count:
        with working("counting tests"):
            known = families(asked).values()
            rows = [(each.name, each.meaning, each.counts()) for each in known]
        output.print(listed(rows, LETTERS))
        return 0
    if asked.family is None or folder is None:
        message = "generate must have a family and a folder, or --list"
        raise InputError([Problem(None, message)])
    with working("writing tests"):
        meant = families(asked)
        require_few(meant, MOST if asked.limit is None else asked.limit)
        written = write_tests(meant, folder)
    for name, many in written.items():
        print(f"{folder}: {many} tests of the family {name}")
    return 0


def families(asked: GenerateParameters) -> Mapping[str, Family | RowFamily]:
    """The families that are meant, by the folders that they are written to. Raises InputError."""
    words, distinct = (asked.scopes, asked.orders, asked.memories), asked.distinct
    annotations = chosen_annotations(*words) if any(words) else None
    if asked.family is not None:
        return chosen(asked.family, annotations, distinct=distinct)
    names = [*FAMILIES, *DEVICE_FAMILIES, *([] if annotations or distinct else [NAME])]
    return {name: chosen(name, annotations, distinct=distinct)[""] for name in names}


COMMAND = Command(generate, GenerateParameters)
