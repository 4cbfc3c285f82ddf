"""`generate`: a systematic family of tests as files."""

from __future__ import annotations

from typing import Annotated

import typer

from rspverify.commands.command import command
from rspverify.commands.output import listed, print_parts


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
    scopes: Annotated[
        str, typer.Option(help="Scopes to choose from, as WG,DV,DV.R,ALL. Default: of the family.")
    ] = "",
    orders: Annotated[
        str,
        typer.Option(
            help="Memory orders to choose from: rlx, acq, rel, ar, sc, each where an operation may "
            "have it. Default: the usual one of each operation."
        ),
    ] = "",
    memories: Annotated[
        str, typer.Option(help="Where each location may be: global, local, or global,local.")
    ] = "",
    distinct: Annotated[
        bool,
        typer.Option(
            "--distinct",
            help="Leave out tests that are another one but for names of threads, work-groups, "
            "devices and locations.",
        ),
    ] = False,
    count: Annotated[
        bool, typer.Option("--count", help="Only say how many tests there are; write none.")
    ] = False,
    limit: Annotated[
        int | None, typer.Option(min=1, help="At most so many tests. Default: 30,000.")
    ] = None,
) -> None:
    """Write a systematic family of litmus tests: every choice and grouping of a few shapes.

    With `--list` or `--count` nothing is written. Never overwrites a file that is not the very same
    test.
    """
    from rspverify.api import catalogue
    from rspverify.render.families_text import families
    from rspverify.render.progress import working
    from rspverify.source import require

    named = {
        "scopes": listed("--scopes", scopes),
        "orders": listed("--orders", orders),
        "memories": listed("--memories", memories),
    }
    if list_families or count:
        with working("counting tests"):
            known = catalogue.families(family, **named, distinct=distinct).values()
            rows = [(each.name, each.meaning, each.counts()) for each in known]
        print_parts(None, families(rows, catalogue.letters()))
        return
    require(
        family is not None and folder is not None,
        "generate must have a family and a folder, or --list",
    )
    assert family is not None and folder is not None
    with working("writing tests"):
        written = catalogue.generate(family, folder, **named, distinct=distinct, limit=limit)
    for name, many in written.items():
        print(f"{folder}: {many} tests of the family {name}")
