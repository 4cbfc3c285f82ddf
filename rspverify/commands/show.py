"""`show`: a scheme as a table."""

from __future__ import annotations

from rspverify.commands.command import command
from rspverify.commands.options import SchemeFile
from rspverify.commands.output import print_parts


@command("A scheme as a table.")
def show(scheme: SchemeFile) -> None:
    """Show a scheme as a table, as the paper prints its own."""
    from rspverify.corpus.inputs import meant_by
    from rspverify.render.scheme_text import scheme_table
    from rspverify.scheme import read_scheme_file

    (path,) = meant_by(schemes=[scheme]).schemes
    table = read_scheme_file(path)
    rows = [(row.number, str(row), [str(each) for each in row.code]) for row in table.rows]
    print_parts(None, scheme_table(table.name, table.machine.name, table.origin, rows))
