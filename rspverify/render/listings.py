"""What `list`, `show` and `generate --list` say: names, schemes, machines, families."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import PurePath

from rspverify.machine.summary import MachineSummary
from rspverify.render.document import Block, Line, Table, line
from rspverify.wording import slower_engine

_EACH = re.compile(r", (?![^(]*\))")
"""Between operations of a row; orders in brackets are of one operation."""
_RULE = (
    "A path means what is there, or else what ships with rspverify under the same path.",
    "A word that is no path is a name: of a scheme, as `proposed`, or of a test, as `Fig4`.",
    "Without tests, commands take those of a folder litmus here, or else those that ship.",
)


def names(
    models: Sequence[str],
    machines: Mapping[str, str],
    engines: Mapping[str, str],
    schemes: Mapping[str, bool],
    families: Mapping[str, int],
    ours: bool,
) -> Iterator[Line]:
    """Names by kind; schemes with whether they ship; tests by folder, with how many there are.

    ours: whether the tests ship, as there is no folder of the user's.
    """
    yield line(("models", "head"), ("  --model, or a .cat file", "note"))
    yield from (line(f"  {name}") for name in models)
    for title, said in {"machines": machines, "engines": engines}.items():
        yield line((title, "head"), (f"  --{title.removesuffix('s')}", "note"))
        yield from (line(f"  {name}: {words}") for name, words in said.items())
    yield line("schemes", kind="head")
    for path, shipped in schemes.items():
        where = "" if shipped else "  here"
        yield line(f"  {PurePath(path).stem}", (f"  {path}{where}", "note"))
    own = list(dict.fromkeys(PurePath(folder).parts[0] for folder in families))
    here = f"those of the folder{'s' * (len(own) > 1)} {', '.join(own) or 'litmus'} here"
    whose = "those that ship" if ours else here
    yield line(("tests", "head"), (f"  {whose}", "note"))
    yield from (line(f"  {folder}: {count}") for folder, count in families.items())
    yield line()
    yield from map(line, _RULE)


def scheme(
    name: str, machine: str, origin: str | None, rows: Sequence[tuple[int, str, Sequence[str]]]
) -> Iterator[Block]:
    """A scheme as Tab. 3 prints one; rows are (number, operations, code)."""
    yield line(f"{name}, for {machine}", kind="head")
    if origin:
        yield line(origin, kind="note")
    cells = [[str(n), _EACH.sub("\n", words), "; ".join(code)] for n, words, code in rows]
    yield Table(("", "operation", "code"), cells, [0])


def machine(it: MachineSummary) -> Iterator[Block]:
    """The state of a machine, its instructions and steps, and what the engines make of it."""
    yield line(f"{it.name}: {it.summary}", kind="head")
    for name, does, rows in (
        ("state", "cells", it.state),
        ("instruction", "what it does", it.instructions),
        ("step", "what it is like", it.steps),
        ("switch", "what is so where it is on", it.switches),
    ):
        if not rows:
            continue
        yield Table((name, does), [[each.name, each.does] for each in rows])
        yield line()
    if it.unbounded is None:
        yield line("engine events knows all of this, so that its answers are exact")
    else:
        yield line(slower_engine(it.name, it.unbounded), kind="prose")
    if it.left_out:
        parts = " and ".join(it.left_out)
        yield line(f"with one device {parts} is as good as memory, and left out")


def families(
    rows: Sequence[tuple[str, str, Sequence[tuple[str, int]]]], letters: Sequence[tuple[str, str]]
) -> Iterator[Block]:
    """Families as (name, meaning, shapes with their counts), and what the shapes' letters mean."""
    for name, meaning, shapes in rows:
        total = sum(count for _, count in shapes)
        yield line(f"{name}  {total} tests: {meaning}", kind="head")
        width = max((len(str(count)) for _, count in shapes), default=0)
        for notation, count in shapes:
            yield line(f"  {count:{width}}    {notation.replace(' || ', ' ‖ ')}")
    yield line("Each with every grouping of the threads into work-groups of one device.")
    for letter, words in letters:
        yield line(f"  {letter}: {words}")
