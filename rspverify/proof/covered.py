"""What is proved of some operations of a scheme, whatever its other rows are."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping

from msgspec import Struct

from rspverify.convert import Count
from rspverify.proof.obligations import failures, obligations
from rspverify.proof.table import proof_table
from rspverify.scheme.row import Shape
from rspverify.scheme.scheme import Scheme


class Proved(Struct, frozen=True):
    """All programs of these operations on one device are compiled soundly, whatever their size.

    obligations: that hold, how many by kind (docs/proof.md).
    """

    operations: tuple[str, ...]
    obligations: Mapping[str, Count]


def proved(scheme: Scheme, shapes: Iterable[Shape]) -> Proved | None:
    """What is proved of the operations of these shapes; None if nothing is.

    Of locations that are accessed atomically and otherwise it says nothing.
    """
    table = proof_table(scheme).of(shapes, scheme)
    if table is None or failures(table):
        return None
    number = Counter(str(it.kind) for it in obligations(table))
    return Proved(tuple(map(str, table.operations)), number) if number else None
