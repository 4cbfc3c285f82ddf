"""A scheme as YAML that `read_scheme` reads as the same table."""

from __future__ import annotations

import json

from rspverify.litmus.program import GLOBAL, LOCAL, Order, Scope
from rspverify.scheme.memory import IN_GLOBAL
from rspverify.scheme.orders import DEFAULT
from rspverify.scheme.row import UNUSED, AnyRow, CodeItem, OfOperations, Template
from rspverify.scheme.rows import OfRows

_WIDTH = 100


def scheme_text(scheme: OfRows, comment: str = "", *, anywhere: bool = False) -> str:
    """The text of a scheme, rows in their order; `comment` stands before it, line by line.

    anywhere: whether it may be put into any folder, so that files are named from the root.
    """
    lines = [f"# {line}".rstrip() for line in comment.splitlines()]
    lines.append(f"name: {scheme.name}")
    if scheme.origin:
        lines.append(f"source: {json.dumps(scheme.origin, ensure_ascii=False)}")
    lines += [f"{key}: {value}" for key, value in scheme.head(anywhere=anywhere).items()]
    if scheme.note:
        lines.append(f"note: {json.dumps(scheme.note, ensure_ascii=False)}")
    if parts := getattr(scheme, "parts", ()):
        lines.append("mixed:")
        for part in parts:
            first, *rest = scheme_text(part, anywhere=anywhere).splitlines()
            lines += [f"  - {first}", *(f"    {line}" for line in rest)]
        return "\n".join(lines) + "\n"
    lines.append("rows:")
    for row in scheme.rows:
        lines += _row(row)
    return "\n".join(lines) + "\n"


def row_fields(row: AnyRow) -> dict[str, str]:
    """A row as its YAML has it: the text of each key."""
    own = _matched(row) if isinstance(row, OfOperations) else None
    fields = own or {"from": json.dumps(getattr(row, "spelled", str(row)))}
    fields["code"] = f"[{', '.join(map(_item, row.code))}]"
    if isinstance(row, OfOperations) and row.note:
        fields["note"] = json.dumps(row.note, ensure_ascii=False)
    return fields


def _item(it: CodeItem) -> str:
    return str(it) if isinstance(it, Template) else json.dumps(str(it))


def _matched(row: OfOperations) -> dict[str, str]:
    """What a row is for."""
    fields = {"op": row.kind.value}
    if row.scopes:
        fields["scope"] = _one_or_list(_scopes(row))
    usual = row.scopes and row.orders == row.named == DEFAULT[row.kind]
    if row.orders and not usual:
        named = [order.value for order in Order if order in row.named]
        fields["order"] = _one_or_list(named)
    if len(row.remotes) == 1 and row.scopes:
        fields["remote"] = str(True in row.remotes).lower()
    if row.memories != {IN_GLOBAL}:
        regions = frozenset().union(*row.memories)
        fields["memory"] = _one_or_list([it for it in (GLOBAL, LOCAL) if it in regions])
    if row.kind.gives and len(row.results) == 1:
        fields["result"] = "used" if True in row.results else UNUSED
    return fields


def _row(row: AnyRow) -> list[str]:
    """A row on a line, or where that would be too long on several."""
    items = [f"{key}: {value}" for key, value in row_fields(row).items()]
    line = f"  - {{{', '.join(items)}}}"
    if len(line) <= _WIDTH:
        return [line]
    first, *rest = items
    return [f"  - {first}", *(f"    {item}" for item in rest)]


def _scopes(row: OfOperations) -> list[str]:
    plain = ["na"] if None in row.scopes else []
    return plain + [scope.value.lower() for scope in Scope if scope in row.scopes]


def _one_or_list(names: list[str]) -> str:
    return names[0] if len(names) == 1 else f"[{', '.join(names)}]"
