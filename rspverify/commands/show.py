"""`show`: a scheme as a table."""

from __future__ import annotations

from rspverify.commands.command import command
from rspverify.commands.options import SchemeFile
from rspverify.commands.output import print_parts


@command("A scheme as a table.")
def show(scheme: SchemeFile) -> None:
    """Show a scheme as a table, as the paper prints its own."""
    from rspverify.api.inputs import read_scheme
    from rspverify.render.scheme_text import scheme_table

    table = read_scheme(scheme)
    rows = [(row.number, str(row), [str(each) for each in row.code]) for row in table.rows]
    print_parts(None, scheme_table(table.name, table.machine.name, table.origin, rows))
