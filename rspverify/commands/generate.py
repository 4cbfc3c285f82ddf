"""`generate`: a systematic family of tests as files."""

from __future__ import annotations

from typing import Annotated

import typer

from rspverify.commands.command import command
from rspverify.commands.output import print_parts


@command("Write a systematic family of tests.")
def generate(
    family: Annotated[
        str | None, typer.Argument(metavar="FAMILY", help="A family of --list, all or all-devices.")
    ] = None,
    folder: Annotated[
        str | None,
        typer.Argument(metavar="DIR", help="Where the tests go; for all, each family in its own."),
    ] = None,
    list_families: Annotated[
        bool, typer.Option("--list", help="Show the families, their shapes and their sizes.")
    ] = False,
) -> None:
    """Write a systematic family of litmus tests: every scope and grouping of a few shapes.

    Never overwrites a file that is not the very same test.
    """
    from rspverify.api import catalogue
    from rspverify.render.families_text import families
    from rspverify.render.progress import working
    from rspverify.source import require

    if list_families:
        known = catalogue.families().values()
        rows = [(each.name, each.meaning, each.counts()) for each in known]
        print_parts(None, families(rows, catalogue.letters()))
        return
    require(
        family is not None and folder is not None,
        "generate must have a family and a folder, or --list",
    )
    assert family is not None and folder is not None
    with working("writing tests"):
        written = catalogue.generate(family, folder)
    for name, count in written.items():
        print(f"{folder}: {count} tests of the family {name}")
