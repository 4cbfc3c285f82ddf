"""`init`: a folder to start with."""

from __future__ import annotations

import os
import shlex
from typing import Annotated

import typer

from rspverify.commands.command import command


@command("A folder with a scheme to edit.")
def init(
    folder: Annotated[
        str, typer.Argument(metavar="FOLDER", help="Where the files go. Default: here.")
    ] = ".",
) -> None:
    """Write a scheme to edit, what is expected of it, and files that check it in a pipeline.

    Never overwrites a file that is not the very same.
    """
    from rspverify.api import catalogue

    paths, command = catalogue.init(folder)
    for path in paths:
        print(f"wrote {path}")
    here = os.path.samefile(folder, ".")
    print(f"next: {'' if here else f'cd {shlex.quote(folder)} && '}{command}")
