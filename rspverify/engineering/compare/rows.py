"""Rows of two schemes side by side, matched by the operations that they compile."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from itertools import product

from msgspec.structs import astuple

from rspverify.engineering.comparison import RowChange, RowCode
from rspverify.scheme.cost import Costs, bill
from rspverify.scheme.row import Row, Shape
from rspverify.scheme.scheme import Scheme
from rspverify.source import Source, Span


def changed_rows(old: Scheme, new: Scheme, costs: Costs) -> tuple[RowChange, ...]:
    """For each pair of rows that compile the same operations: which, their code, and its bill.

    A row that was split is there once for each part. Rows that compile nothing, as others come
    before them for all that they match, are not there.
    """
    pairs: dict[tuple[int, ...], tuple[Row | None, Row | None, list[Shape]]] = {}
    for shape in dict.fromkeys((*old.table, *new.table)):
        before, after = old.table.get(shape), new.table.get(shape)
        numbers = tuple(row.number if row else 0 for row in (before, after))
        pairs.setdefault(numbers, (before, after, []))[2].append(shape)
    in_order = sorted(pairs, key=lambda pair: (pair[0] == 0, *pair))  # what only new has is last
    return tuple(_change(*pairs[pair], costs) for pair in in_order)


def _change(old: Row | None, new: Row | None, shapes: list[Shape], costs: Costs) -> RowChange:
    before, after = (_coded(row, costs) if row else None for row in (old, new))
    same = before is not None and after is not None and before.code == after.code
    return RowChange(_named(shapes, [row for row in (old, new) if row]), same, before, after)


def _coded(row: Row, costs: Costs) -> RowCode:
    return RowCode(row.number, tuple(map(str, row.code)), bill(row.code, costs))


def _named(shapes: Collection[Shape], rows: Collection[Row]) -> str:
    """As a row for just these would be named, or several where one cannot be for just these.

    A row for RMWs has compare-exchanges too where these have no row, and does not name them.
    """
    own = {shape for shape in shapes if any(shape in row.shapes for row in rows)}
    named = [shape for shape in shapes if shape in own or not own]
    whole = _row_for(named)
    return str(whole) if whole else "; ".join(str(_row_for(each)) for each in _parts(named))


def _parts(shapes: Iterable[Shape]) -> Iterator[list[Shape]]:
    """Shapes parted so that there is a row for each part: what agrees in all else goes together,
    first by memory, then by the use of results, by order, by remoteness and by scope."""
    boxes = [tuple(frozenset({it}) for it in astuple(each)) for each in shapes]
    for name in ("memory", "used", "order", "remote", "scope"):
        at = Shape.__struct_fields__.index(name)
        merged: dict[tuple[frozenset[object], ...], frozenset[object]] = {}
        for box in boxes:
            rest = (*box[:at], *box[at + 1 :])
            merged[rest] = merged.get(rest, frozenset()) | box[at]
        boxes = [(*rest[:at], those, *rest[at:]) for rest, those in merged.items()]
    yield from ([Shape(*each) for each in product(*box)] for box in boxes)


def _row_for(shapes: Collection[Shape]) -> Row | None:
    """A row for just these shapes, if one can be for them and no others."""
    (kind, *others) = {shape.kind for shape in shapes}
    atomic = [shape for shape in shapes if shape.scope is not None]
    orders = frozenset(shape.order for shape in atomic if shape.order is not None)
    row = Row(
        0,
        kind,
        frozenset(shape.scope for shape in shapes),
        orders,
        frozenset(shape.remote for shape in atomic),
        Span(Source("", ""), 1, 1, 1, 1),
        named=orders,
        memories=frozenset(shape.memory for shape in shapes),
        results=frozenset(shape.used for shape in shapes),
    )
    return None if others or set(row.shapes) != set(shapes) else row
