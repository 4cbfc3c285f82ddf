"""Rows of two schemes side by side, matched by the operations that they compile."""

from __future__ import annotations

from collections.abc import Collection

from rspverify.report import RowChange
from rspverify.scheme import Row, Scheme, Shape
from rspverify.scheme.cost import Costs, bill


def changed_rows(old: Scheme, new: Scheme, costs: Costs) -> tuple[RowChange, ...]:
    """For each pair of rows that compile the same operations: which, their code, and its bill.

    A row that was split is there once for each part. Rows that compile nothing, as others come
    before them for all that they match, are not there.
    """
    pairs: dict[tuple[int, int], list[Shape]] = {}
    for shape in dict.fromkeys((*old.table, *new.table)):
        pairs.setdefault((_number(old, shape), _number(new, shape)), []).append(shape)
    return tuple(
        _change(pairs[pair], _row(old, pair[0]), _row(new, pair[1]), (old, new), costs)
        for pair in sorted(pairs, key=_place)
    )


def _number(scheme: Scheme, shape: Shape) -> int:
    row = scheme.table.get(shape)
    return row.number if row else 0


def _row(scheme: Scheme, number: int) -> Row | None:
    return next((row for row in scheme.rows if row.number == number), None)


def _place(pair: tuple[int, int]) -> tuple[bool, int, int]:
    """In the order of the old rows; what these do not compile comes last."""
    return pair[0] == 0, *pair


def _change(
    shapes: list[Shape],
    old: Row | None,
    new: Row | None,
    schemes: tuple[Scheme, Scheme],
    costs: Costs,
) -> RowChange:
    return RowChange(
        _named(shapes, ((old, schemes[0]), (new, schemes[1]))),
        (old.number if old else None, new.number if new else None),
        tuple(map(str, old.code)) if old else None,
        tuple(map(str, new.code)) if new else None,
        (bill(old.code, costs) if old else None, bill(new.code, costs) if new else None),
    )


def _named(shapes: Collection[Shape], rows: tuple[tuple[Row | None, Scheme], ...]) -> str:
    """As a row that compiles just these is named in its scheme; otherwise each by itself.

    A row for RMWs has compare-exchanges too where these have no row, and does not name them.
    """
    named = set()
    for row, scheme in rows:
        own = {shape for shape in shapes if row and shape.kind is row.kind}
        named |= own
        if row and own and own == _compiled(row, scheme):
            return str(row)
    return ", ".join(str(shape) for shape in shapes if shape in named or not named)


def _compiled(row: Row, scheme: Scheme) -> set[Shape]:
    """The operations of its own kind that a row compiles."""
    return {shape for shape, it in scheme.table.items() if it is row and shape.kind is row.kind}
