"""`cache`: where results are kept."""

from __future__ import annotations

import sys
from typing import Annotated

import typer

from rspverify.commands.command import command
from rspverify.commands.output import warn_once


@command("Where results are kept, or remove them.")
def cache(
    clear: Annotated[bool, typer.Option("--clear", help="Remove the results.")] = False,
) -> None:
    """Show where results are kept and how much room they take, or remove them."""
    from rspverify.api.judges import forget, kept

    if clear:
        try:
            typer.echo(f"removed {forget()}")
        except OSError as error:
            print(f"{error.filename}: cannot be removed: {error.strerror}", file=sys.stderr)
            raise typer.Exit(1) from None
        return
    place, answers, size = kept(warn_once())
    typer.echo(f"{place}\n{answers:,} answers, {size / 2**20:.1f} MB")
