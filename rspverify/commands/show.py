"""`show`: a scheme as a table, a machine, or what editors check files by."""

from __future__ import annotations

from typing import Annotated

import typer

from rspverify.commands.command import command
from rspverify.commands.completion import scheme_and_machine_words
from rspverify.commands.options import OutputFile
from rspverify.commands.output import print_parts


@command("A scheme as a table, or a machine.")
def show(
    scheme: Annotated[
        str | None,
        typer.Argument(
            metavar="SCHEME|MACHINE",
            help="A scheme or a machine: a .yaml or .machine file, or a name as of list.",
            autocompletion=scheme_and_machine_words,
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
    text: Annotated[bool, typer.Option("--text", help="Of a machine its file, as it is.")] = False,
    output: OutputFile = None,
) -> None:
    """Show a scheme as a table, as the paper prints its own, or a machine: its state, what its
    instructions do, and what the engines make of its steps. --text: its file, to be read or edited.

    Or show a JSON Schema. With it in scheme.schema.json, editors complete and check a scheme whose
    first line is `# yaml-language-server: $schema=scheme.schema.json`.
    """
    from rspverify.answers import machine_in_words
    from rspverify.api.catalogue import is_machine
    from rspverify.api.inputs import read_scheme
    from rspverify.render.scheme_text import scheme_table
    from rspverify.source import require

    require((scheme is None) != (schema is None), "one of SCHEME and --schema must be given")
    if schema is not None:
        from rspverify.render.console import opened
        from rspverify.render.schemas import shipped

        content = shipped(schema)
        with opened(output) as console:
            console.file.write(content)
    elif scheme is not None and is_machine(scheme):
        _show_machine(scheme, output, as_file=text)
    elif scheme is not None:
        table = read_scheme(scheme)
        rows = [(row.number, str(row), [str(each) for each in row.code]) for row in table.rows]
        machine = machine_in_words(table.machine.name, table.machine.path or None)
        print_parts(output, scheme_table(table.name, machine, table.origin, rows))


def _show_machine(machine: str, output: str | None, *, as_file: bool) -> None:
    from rspverify.api.catalogue import machine_summary, machine_text

    if as_file:
        from rspverify.render.console import opened

        with opened(output) as console:
            console.file.write(machine_text(machine))
        return
    from rspverify.render.machine_text import machine_tables

    print_parts(output, machine_tables(machine_summary(machine)))
