"""Reads a table for a target from YAML, and reports every mistake of the file at once."""

from __future__ import annotations

from collections.abc import Mapping
from os.path import normpath
from pathlib import Path

from msgspec.structs import asdict

from rspverify.axiomatic.coverage import foreign_names
from rspverify.mapping.items import Item, read_item
from rspverify.mapping.table import FromC, Table, Translated
from rspverify.mapping.targets import TARGETS, Target
from rspverify.records import replace
from rspverify.scheme.reader import TARGET, overlaps, read_name
from rspverify.scheme.row_reader import read_row
from rspverify.shipped import located
from rspverify.source import InputError, Problem, Source, read_source, told
from rspverify.yaml_reader import (
    List,
    Node,
    Text,
    found,
    read_choice,
    read_fields,
    read_text,
)
from rspverify.yaml_reader import Table as Fields
from rspverify.yaml_text import read_yaml

KEYS = ("name", "source", "from", TARGET, "under", "note", "rows", "mixed")
REQUIRED = ("name", TARGET)


def read_table(source: Source) -> Table:
    """Read a table from YAML text. Raises InputError with all of its mistakes."""
    root, problems = read_yaml(source)
    table = _read(source, root, problems) if root is not None else None
    if problems or table is None:
        raise InputError(told(problems))
    return table


def _read(source: Source, root: Node, problems: list[Problem]) -> Table | None:
    fields = read_fields(root, "a table for a target", KEYS, REQUIRED, problems)
    if fields is None:
        return None
    name = read_name(fields, problems)
    target = fields.get(TARGET)
    word = read_choice(target, TARGET, list(TARGETS), problems) if target else None
    origin, note, under = (read_text(fields, key, problems) for key in ("source", "note", "under"))
    if "rows" not in fields and "mixed" not in fields:
        problems.append(Problem(root.span, "a table for a target must have the key rows, or mixed"))
    if word is None:
        return None
    head = Table(name, TARGETS[word], (), source, origin, note, under)
    made = _mixed(head, fields, problems) if "mixed" in fields else _of_rows(head, fields, problems)
    return made and _judged(made, fields, problems)


def _of_rows(head: Table, fields: Mapping[str, Node], problems: list[Problem]) -> Table | None:
    """The table with its rows; None where there are none, which is noted."""
    node = fields.get("rows")
    if not isinstance(node, List) or not node.items:
        if node is not None:
            problems.append(Problem(node.span, f"rows must be a list of rows, not {found(node)}"))
        return None
    rows: list[FromC | Translated] = []
    translates = _translates(fields, problems)
    for number, item in enumerate(node.items, start=1):
        own = _code(item, head.target, problems)
        if translates is not None:
            made = _translated(item, number, translates, own or (), problems)
            rows += [made] if made and own is not None else []
        elif (row := read_row(item, number, None, problems)) and own is not None:
            rows.append(FromC(**{**asdict(row), "code": own}))
    problems += overlaps([row for row in rows if isinstance(row, FromC)])
    return replace(head, rows=tuple(rows), translates=translates)


def _judged(table: Table, fields: Mapping[str, Node], problems: list[Problem]) -> Table | None:
    """A table, if the model that it names is one of its target; otherwise that is noted."""
    if table.under is None:
        return table
    try:
        foreign = foreign_names(table.model, table.target.language)
    except InputError as error:
        problems += error.problems
        return None
    if foreign:
        message = f"under must name a model of {table.target.name}, not {table.under}"
        hint = f"{table.under} speaks of {', '.join(foreign[:3])}"
        problems.append(Problem(fields["under"].span, message, hint))
    return table


def _mixed(head: Table, fields: Mapping[str, Node], problems: list[Problem]) -> Table | None:
    """The table with the parts of which each operation may have the code of any; None where that is
    wrong, which is noted."""
    node = fields["mixed"]
    items = node.items if isinstance(node, List) else ()
    if len(items) < 2 or "rows" in fields:
        message = "mixed must be a list of two tables or more, in place of rows"
        problems.append(Problem(node.span, message, "each as a path from here, or with its rows"))
        return None
    parts: list[Table] = []
    for item in items:
        if not isinstance(item, Text):
            within = _read(head.source, item, problems)
            parts += [] if within is None else [within]
            continue
        try:
            beside = normpath(Path(head.source.name).parent / item.text)
            parts.append(read_table(read_source(located(beside))))
        except InputError as error:
            problems += error.problems
    for it in parts:
        if it.parts or (it.target, it.translates) != (head.target, parts[0].translates):
            message = f"mixed must name tables for {head.target.name}, from one language each"
            problems.append(Problem(node.span, f"{message}, not {it.name}"))
    translates = parts[0].translates if parts else None
    return replace(head, parts=tuple(parts), translates=translates)


def _translates(fields: Mapping[str, Node], problems: list[Problem]) -> Target | None:
    """The architecture whose instructions are translated; None where that is C."""
    node = fields.get("from")
    word = read_choice(node, "from", list(TARGETS), problems) if node is not None else None
    return None if word is None else TARGETS[word]


def _translated(
    row: Node, number: int, target: Target, code: tuple[Item, ...], problems: list[Problem]
) -> Translated | None:
    """A row for an instruction; None where that is wrong, which is noted."""
    fields = read_fields(row, "a row", ("from", "code", "note"), ("from", "code"), problems)
    if fields is None:
        return None
    it = _item(fields["from"], target, problems)
    if it is None:
        return None
    form = it.form
    if form is None or not (it.accesses or "fence" in form.words):
        message = f"from must be an access or a fence, not {it.instruction or it}"
        problems.append(Problem(fields["from"].span, message))
        return None
    return Translated(number, form, str(it.instruction), code, row.span)


def _code(row: Node, target: Target, problems: list[Problem]) -> tuple[Item, ...] | None:
    """The code of a row; None where an item is wrong, which is noted."""
    fields: Mapping[str, Node] = {}
    if isinstance(row, Fields):
        fields = {key.text: value for key, value in row.entries}
    node = fields.get("code")
    if not isinstance(node, List):
        if node is not None:
            message = f"code must be a list of instructions, not {found(node)}"
            problems.append(Problem(node.span, message, "as in [sync, 'stw v,0(x)']"))
        return None
    read = [_item(each, target, problems) for each in node.items]
    items = tuple(each for each in read if each is not None)
    return None if len(items) < len(read) else items


def _item(node: Node, target: Target, problems: list[Problem]) -> Item | None:
    """An item of code: an instruction, behind a label or not, or a label alone."""
    if not isinstance(node, Text) or not node.text.strip():
        message = f"an instruction must be text such as 'stw v,0(x)', not {found(node)}"
        problems.append(Problem(node.span, message))
        return None
    if any(sign in node.text for sign in "\n;|"):
        message = f"an item of code must be one instruction, not {found(node)}"
        problems.append(
            Problem(node.span, message, "one item for each, as in [sync, 'stw v,0(x)']")
        )
        return None
    return read_item(node.text, target, node.span, problems)
