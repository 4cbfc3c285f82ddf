"""What a machine reaches of a test that is SOUND, as a table of a page of HTML."""

from __future__ import annotations

from collections.abc import Sequence

from rspverify.answers import Reached
from rspverify.render.page import Piece, Table


def reached_table(it: Reached) -> Table:
    """The outcomes that the model allows, and which of them the machine reaches."""
    rows: list[Sequence[Sequence[Piece]]] = [
        [[Piece(str(each), "code")], [Piece("reached", "SOUND")]] for each in it.outcomes
    ]
    rows += [[[Piece(str(each), "code")], [Piece("not reached")]] for each in it.others]
    notes = []
    if not it.all:
        notes.append("The machine reaches others, too.")
    elif it.allowed is not None:
        beyond = "more than " if it.beyond else ""
        notes.append(f"The machine reaches {len(it.outcomes):,} of the {beyond}{it.allowed:,}.")
    return Table("Outcomes that the model allows", ("outcome", "the machine"), rows, notes)
