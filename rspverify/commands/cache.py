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
    from rspverify.judge.store import FILE, Store, default_folder
    from rspverify.judge.store import clear as cleared

    folder = default_folder()
    if clear:
        try:
            cleared(folder)
        except OSError as error:
            print(f"{folder / FILE}: cannot be removed: {error.strerror}", file=sys.stderr)
            raise typer.Exit(1) from None
        typer.echo(f"removed {folder / FILE}")
        return
    store = Store(folder, warn_once())
    answers, size = store.size()
    store.close()
    typer.echo(f"{folder / FILE}\n{answers:,} answers, {size / 2**20:.1f} MB")
