"""Reads a compilation scheme from YAML, and reports every mistake of the file at once."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path

from rspverify.architecture.architecture import Architecture
from rspverify.architecture.catalogue import ENDING
from rspverify.architecture.machines import MACHINES, machine_named
from rspverify.records import replace
from rspverify.scheme.memory import without_end
from rspverify.scheme.row import OfOperations, Row, Shape
from rspverify.scheme.row_reader import read_row
from rspverify.scheme.scheme import Scheme
from rspverify.shipped import SCHEMES, SHIPPED
from rspverify.source import (
    MAX_SCHEME_BYTES,
    Given,
    InputError,
    Problem,
    Severity,
    Source,
    read_source,
    told,
)
from rspverify.yaml_reader import (
    List,
    Node,
    Table,
    Text,
    found,
    read_choice,
    read_fields,
    read_text,
)

DEFAULT_MACHINE = "rsp"
TARGET = "target"
"""The key of a table for an architecture that a model judges (rspverify/mapping)."""

KEYS = ("name", "source", "instructions", "machine", "note", "rows")
REQUIRED = ("name", "rows")
WORD = re.compile(r"\w[\w.+-]*")


def is_for_target(source: Source) -> bool:
    """Whether a file is a table for a target, which is read by rspverify/mapping."""
    return re.search(rf"^(?:{TARGET}|mixed)\s*:", source.text, re.MULTILINE) is not None


def read_scheme_file(given: Given | Path) -> Scheme:
    """Read a scheme from a YAML file; raises InputError with all of its mistakes."""
    return read_scheme(read_source(given, MAX_SCHEME_BYTES))


@cache
def shipped_scheme(name: str) -> Scheme:
    """The scheme of the file with a name, such as `proposed`, the column of Tab. 3."""
    file = SHIPPED / SCHEMES / f"{name}.yaml"
    return read_scheme(Source(file.name, file.read_text(encoding="utf-8")))


def read_scheme(source: Source) -> Scheme:
    """Read a scheme from YAML text; raises InputError with all of its mistakes."""
    from rspverify.yaml_text import read_yaml

    root, problems = read_yaml(source)
    scheme = _read(source, root, problems) if root is not None else None
    if problems or scheme is None:
        raise InputError(told(problems))
    return scheme


def _read(source: Source, root: Node, problems: list[Problem]) -> Scheme | None:
    keys = [key for key, _ in root.entries] if isinstance(root, Table) else []
    for at in (key for key in keys if key.text == TARGET):
        message = "a table for a target, which a model judges, is not what is asked for here"
        hint = "check, explain, outcomes, compare, hunt, mutate and repair take it"
        problems.append(Problem(at.span, message, hint, severity=Severity.UNSUPPORTED))
        return None
    fields = read_fields(root, "a scheme", KEYS, REQUIRED, problems)
    if fields is None:
        return None
    name = read_name(fields, problems)
    machine = _read_machine(fields, source, problems)
    if machine is not None and "machine" in fields:
        problems += without_end(machine, fields["machine"].span)
    if machine is not None and "instructions" in fields:
        read_choice(fields["instructions"], "instructions", [machine.executes], problems)
    origin, note = (read_text(fields, key, problems) for key in ("source", "note"))
    rows = _read_rows(fields, machine, problems)
    return Scheme(name, machine, rows, source, origin, note) if machine is not None else None


def _read_machine(
    fields: Mapping[str, Node], source: Source, problems: list[Problem]
) -> Architecture | None:
    """The machine that is named, or whose file is, as seen from the scheme's folder; None where
    there is none."""
    node = fields.get("machine")
    if isinstance(node, Text) and (ENDING in node.text or "+" in node.text):
        try:
            return machine_named(node.text, Path(source.name).parent)
        except InputError as error:
            problems += (it if it.span else replace(it, span=node.span) for it in error.problems)
            return None
    if node is not None:
        name = read_choice(node, "machine", [*MACHINES, "a .machine file"], problems)
        return MACHINES.get(name or "")
    return MACHINES[DEFAULT_MACHINE]


def read_name(fields: Mapping[str, Node], problems: list[Problem]) -> str:
    """The name that a table has, which is a word; empty where it is none, which is noted."""
    node = fields.get("name")
    if isinstance(node, Text) and not node.null and WORD.fullmatch(node.text):
        return node.text
    if node is not None:
        hint = "a word has letters, digits and any of _ . + -"
        problems.append(Problem(node.span, f"name must be a word, not {found(node)}", hint))
    return ""


def _read_rows(
    fields: Mapping[str, Node], machine: Architecture | None, problems: list[Problem]
) -> tuple[Row, ...]:
    node = fields.get("rows")
    if node is None:
        return ()
    if not isinstance(node, List) or not node.items:
        problems.append(Problem(node.span, f"rows must be a list of rows, not {found(node)}"))
        return ()
    numbered = enumerate(node.items, start=1)
    rows = [read_row(item, number, machine, problems) for number, item in numbered]
    known = tuple(row for row in rows if row is not None)
    problems += overlaps(known)
    problems += _forgotten_scopes(known)
    return known


def _forgotten_scopes(rows: tuple[Row, ...]) -> list[Problem]:
    """A problem for each row of atomics without a scope, where other rows have one."""
    if not any(row.scopes - {None} for row in rows):
        return []
    message = "a row must have the key scope, as other rows of the scheme have"
    hint = "only where a language has no scopes, all rows of its atomics leave it out"
    return [Problem(row.span, message, hint) for row in rows if not row.scopes]


def overlaps(rows: Sequence[OfOperations]) -> list[Problem]:
    """A problem for each two rows that match an operation, where no row comes before them."""
    matching: dict[Shape, list[OfOperations]] = {}
    for row in rows:
        for shape in row.shapes:
            matching.setdefault(shape, []).append(row)
    torn: dict[int, tuple[OfOperations, OfOperations, list[Shape]]] = {}
    for shape, own in matching.items():
        best = [row for row in own if not any(other.before(row, shape) for other in own)]
        for row in best[1:]:
            torn.setdefault(row.number, (row, best[0], []))[2].append(shape)
    return [_torn(*torn[number]) for number in sorted(torn)]


def _torn(row: OfOperations, owner: OfOperations, shapes: list[Shape]) -> Problem:
    number = len({replace(each, used=True) for each in shapes})
    more = f" (and {number - 1} more)" if number > 1 else ""
    message = f"{shapes[0]}{more} must be matched by one row, not by two"
    hint = (
        "narrow the scope, order, remote, memory or result of one of them; of rows with different "
        "orders the weakest that is strong enough decides, if there is one"
    )
    related = ((owner.span, f"row {owner.number} matches it too"),)
    return Problem(row.span, message, hint, related)
