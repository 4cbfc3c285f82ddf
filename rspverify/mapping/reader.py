"""Reads a table for a target from YAML, and reports every mistake of the file at once."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from rspverify.axiomatic.coverage import foreign_names
from rspverify.isa.instruction_set import instruction_set
from rspverify.isa.lines import Instruction, Line
from rspverify.litmus.assembly import line_of
from rspverify.litmus.problems import Problems
from rspverify.litmus.syntax import ASSEMBLY, parse
from rspverify.mapping.table import OPERATOR, SCOPE, Code, Table, Translated
from rspverify.mapping.targets import TARGETS, Target
from rspverify.records import replace
from rspverify.scheme.reader import TARGET, overlaps, read_name
from rspverify.scheme.row import Row
from rspverify.scheme.row_reader import read_row
from rspverify.shipped import located
from rspverify.source import InputError, Problem, Source, read_source
from rspverify.wording import guess, quoted
from rspverify.yaml_reader import (
    List,
    Node,
    Text,
    found,
    read_choice,
    read_fields,
    read_text,
    read_yaml,
)
from rspverify.yaml_reader import Table as Fields

KEYS = ("name", "source", "from", TARGET, "under", "note", "rows", "mixed")
REQUIRED = ("name", TARGET)

_LABELLED = re.compile(r"\s*(\w+\s*:)?\s*(.*?)\s*")
_OPERATION = re.compile(r"t[0-9]*,[rt][0-9]*,[vt][0-9]*")
_STANDS = {OPERATOR: "OPERATOR_", SCOPE: "SCOPE_"}
"""What stands for these while a line is read."""


def read_table(source: Source) -> Table:
    """Read a table from YAML text. Raises InputError with all of its mistakes."""
    root, problems = read_yaml(source)
    table = _read(source, root, problems) if root is not None else None
    if problems or table is None:
        raise InputError(problems)
    return table


def _read(source: Source, root: Node, problems: list[Problem]) -> Table | None:
    fields = read_fields(root, "a table for a target", KEYS, REQUIRED, problems)
    if fields is None:
        return None
    name = read_name(fields, problems)
    word = read_choice(fields["target"], "target", list(TARGETS), problems)
    origin, note, under = (read_text(fields, key, problems) for key in ("source", "note", "under"))
    if "rows" not in fields and "mixed" not in fields:
        problems.append(Problem(root.span, "a table for a target must have the key rows, or mixed"))
    if word is None:
        return None
    head = Table(name, TARGETS[word], (), {}, source, origin, note, under)
    made = _mixed(head, fields, problems) if "mixed" in fields else _of_rows(head, fields, problems)
    return made and _judged(made, fields, problems)


def _of_rows(head: Table, fields: Mapping[str, Node], problems: list[Problem]) -> Table | None:
    """The table with its rows; None where there are none, which is noted."""
    node = fields.get("rows")
    if not isinstance(node, List) or not node.items:
        if node is not None:
            problems.append(Problem(node.span, f"rows must be a list of rows, not {found(node)}"))
        return None
    rows: list[Row | Translated] = []
    code: dict[int, Code] = {}
    translates = _translates(fields, problems)
    for number, item in enumerate(node.items, start=1):
        own = _code(item, head.target, problems)
        row: Row | Translated | None
        if translates is None:
            row = read_row(item, number, None, problems)
            row = row and replace(row, written=own.texts if own else ())
        else:
            row = _translated(item, number, translates, own.texts if own else (), problems)
        if row is not None and own is not None:
            rows.append(row)
            code[number] = own
    problems += overlaps(tuple(row for row in rows if isinstance(row, Row)))
    return replace(head, rows=tuple(rows), code=code, translates=translates)


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
    names = [each.text for each in items if isinstance(each, Text)]
    if len(names) < 2 or "rows" in fields:
        message = "mixed must be a list of two tables or more, as paths from here, in place of rows"
        problems.append(Problem(node.span, message))
        return None
    parts: list[Table] = []
    for name in names:
        try:
            beside = Path(head.source.name).parent / name
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
    row: Node, number: int, target: Target, texts: tuple[str, ...], problems: list[Problem]
) -> Translated | None:
    """A row for an instruction; None where that is wrong, which is noted."""
    fields = read_fields(row, "a row", ("from", "code", "note"), ("from", "code"), problems)
    if fields is None:
        return None
    lines = _lines(fields["from"], target, problems)
    known = instruction_set(target.dialect.instructions)
    for it in lines or ():
        form = known.form(it.mnemonic, it.operands) if isinstance(it, Instruction) else None
        if form is not None and (form.address is not None or "fence" in form.words):
            return Translated(number, form, str(it), texts)
        message = f"from must be an access or a fence, not {it}"
        problems.append(Problem(fields["from"].span, message))
    return None


def _code(row: Node, target: Target, problems: list[Problem]) -> Code | None:
    """The code of a row; None where a line is wrong, which is noted."""
    fields: Mapping[str, Node] = {}
    if isinstance(row, Fields):
        fields = {key.text: value for key, value in row.entries}
    node = fields.get("code")
    if not isinstance(node, List):
        if node is not None:
            message = f"code must be a list of instructions, not {found(node)}"
            problems.append(Problem(node.span, message, "as in [sync, 'stw v,0(x)']"))
        return None
    read = [_lines(item, target, problems) for item in node.items]
    if any(each is None for each in read):
        return None
    lines = tuple(line for each in read for line in each or ())
    texts = tuple(item.text for item in node.items if isinstance(item, Text))
    return Code(lines, texts, node.span)


def _lines(node: Node, target: Target, problems: list[Problem]) -> Sequence[Line] | None:
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
    match = _LABELLED.fullmatch(node.text)
    cells = [each for each in (match.groups() if match else ()) if each]
    text = "".join(f" {_replaced(each, _STANDS)} ;\n" for each in cells)
    source = Source("a row", f"{target.language} row\n{{ }}\n P0 ;\n{text}")
    told = Problems()
    columns = parse(ASSEMBLY, source, source.text, told)
    read = [line_of(cell, told) for row in columns.rows for cell in row.cells] if columns else []
    if columns is not None and len(read) != len(cells):
        told.error(columns.span, f"an instruction is needed, not {quoted(node.text)}")
    lines = [_at(node, each) for each in read]
    if told:
        problems += [Problem(node.span, it.message, it.hint) for it in told.as_error().problems]
    if told or columns is None:
        return None
    unknown = [*_unknown(lines, node, target)]
    problems += unknown
    return None if unknown else lines


def _at(node: Node, it: Line) -> Line:
    """A line, where it is in the file of the table."""
    if isinstance(it, Instruction):
        signs = {word: sign for sign, word in _STANDS.items()}
        it = replace(it, mnemonic=_replaced(it.mnemonic, signs))
    return replace(it, span=node.span)


def _replaced(text: str, words: Mapping[str, str]) -> str:
    for word, by in words.items():
        text = text.replace(word, by)
    return text


def _unknown(lines: Sequence[Line], node: Node, target: Target) -> Iterator[Problem]:
    """A problem for each instruction that the target has not."""
    known = instruction_set(target.dialect.instructions)
    for it in (each for each in lines if isinstance(each, Instruction)):
        if it.mnemonic == "OP":
            if not _OPERATION.fullmatch(",".join(it.operands)):
                message = f"OP must be written `OP t,r,v` in the row of an rmw, not `{it}`"
                yield Problem(node.span, message)
            continue
        names = [it.mnemonic]
        for sign, words in ((OPERATOR, target.operators), (SCOPE, target.scopes)):
            if sign in it.mnemonic:
                names = [each.replace(sign, word) for each in names for word in words.values()]
        for name in names:
            if known.form(name, it.operands) is None:
                what = f"{it} must be an instruction of {target.name}"
                hint = None if known.forms(name) else guess(name, known.mnemonics)
                yield Problem(node.span, f"{what}, and is not known with these operands", hint)
                break
