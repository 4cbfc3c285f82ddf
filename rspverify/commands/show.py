"""`show`: a scheme as a table, or what editors check files by."""

from __future__ import annotations

from typing import Annotated

import typer

from rspverify.commands.command import command
from rspverify.commands.completion import scheme_words
from rspverify.commands.options import OutputFile
from rspverify.commands.output import print_parts


@command("A scheme as a table.")
def show(
    scheme: Annotated[
        str | None,
        typer.Argument(
            metavar="SCHEME",
            help="A scheme: a .yaml file, or a name as of list.",
            autocompletion=scheme_words,
        ),
    ] = None,
    schema: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            help="Instead, the JSON Schema of a kind of file (scheme, expected, suite, costs), or "
            "of what a command prints by --format json.",
        ),
    ] = None,
    output: OutputFile = None,
) -> None:
    """Show a scheme as a table, as the paper prints its own.

    Or show a JSON Schema. With it in scheme.schema.json, editors complete and check a scheme whose
    first line is `# yaml-language-server: $schema=scheme.schema.json`.
    """
    from rspverify.api.inputs import read_scheme
    from rspverify.render.scheme_text import scheme_table
    from rspverify.source import require

    require((scheme is None) != (schema is None), "one of SCHEME and --schema must be given")
    if schema is not None:
        from rspverify.render.console import opened
        from rspverify.render.schemas import shipped

        text = shipped(schema)
        with opened(output) as console:
            console.file.write(text)
    elif scheme is not None:
        table = read_scheme(scheme)
        rows = [(row.number, str(row), [str(each) for each in row.code]) for row in table.rows]
        print_parts(output, scheme_table(table.name, table.machine.name, table.origin, rows))
