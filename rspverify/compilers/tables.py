"""The codes of all operations as rows of a scheme, and as the text of one."""

from __future__ import annotations

import json
import re
import textwrap
from collections.abc import Iterable, Mapping, Sequence

from msgspec import Struct

from rspverify.compilers.extract import Codes
from rspverify.compilers.ir import OPERATORS
from rspverify.compilers.llvm import Compiler
from rspverify.compilers.processors import Processor
from rspverify.litmus.program import Order
from rspverify.records import replace
from rspverify.scheme.memory import Memory
from rspverify.scheme.orders import Op
from rspverify.scheme.row import UNUSED, Shape
from rspverify.wording import alternatives

NON_ATOMIC = "na"

_QUOTED = re.compile(r"[,{}\[\]]|:( |$)")
_WIDTH = 100
_INDENT = " " * len("  - {")
_SPELLED = "OpenCL's scopes by clang: one-as, but seq_cst and fences"


class TableRow(Struct, frozen=True):
    """A row in the words of its YAML. order: none where it is for non-atomic accesses alone. scope,
    memory: none of atomics in a language without scopes.

    Compilers know no remote operations.

    result: `used` or `unused` where the code depends on it, as that of rmw and cas may.
    """

    op: str
    scope: tuple[str, ...]
    order: tuple[str, ...]
    memory: tuple[str, ...]
    result: str | None
    code: tuple[str, ...]

    def __str__(self) -> str:
        """As it stands in the file, on a line or where that would be too long on several."""
        fields = {"op": self.op}
        if self.scope:
            fields["scope"] = _one_or_list(self.scope)
        if self.order:
            fields["order"] = _one_or_list(self.order)
        if self.order and self.scope:
            fields["remote"] = "false"
        if self.memory:
            fields["memory"] = _one_or_list(self.memory)
        if self.result is not None:
            fields["result"] = self.result
        head = [f"{key}: {value}" for key, value in fields.items()]
        code = f"code: [{', '.join(map(_item, self.code))}]"
        line = f"  - {{{', '.join([*head, code])}}}"
        if len(line) <= _WIDTH:
            return line
        return f"{_filled('  - {', head, ',')}\n{_filled(_INDENT, code.split(', '), '}')}"


class Extraction(Struct, frozen=True):
    """The table of a compiler: a scheme, whose machine is what the code is for, or a table for a
    target.

    source: which compiler, processor and features, and how operations were given to it. note: what
    of RMWs its rows are not for. left_out: by operation or operator that has no row, why.
    under: the model, if it is not the target's own. published: the file of the ABI's table, and
    differs: by operation, the code in both.
    """

    name: str
    source: str
    machine: str | None
    rows: tuple[TableRow, ...]
    note: str | None = None
    left_out: Mapping[str, str] = {}
    target: str | None = None
    under: str | None = None
    published: str | None = None
    differs: Mapping[str, str] = {}

    def __str__(self) -> str:
        """The file of the scheme."""
        head = [
            f"name: {self.name}",
            f"source: {json.dumps(self.source, ensure_ascii=False)}",
            f"target: {self.target}" if self.machine is None else f"machine: {self.machine}",
            *([f"under: {self.under}"] if self.under else []),
            *([f"note: {json.dumps(self.note)}"] if self.note else []),
            "rows:",
        ]
        return "\n".join([*head, *map(str, self.rows)]) + "\n"


def table(codes: Codes, processor: Processor, compiler: Compiler) -> Extraction:
    """The rows in order; those that say the same of several scopes, or orders, are one."""
    others = [each for each in OPERATORS if each not in codes.operators]
    note = f"rows for rmw are not for {alternatives(others)}" if others else None
    source = f"{compiler.version}, {processor}; {_SPELLED}"
    rows = tuple(_rows(codes.rows))
    left_out = {what: str(it).splitlines()[0] for what, it in codes.left_out.items()}
    return Extraction(f"llvm-{processor.name}", source, processor.machine, rows, note, left_out)


_Codes = Mapping[Order | None, tuple[str, ...]]
"""The code of each order of an operation."""


def _rows(codes: Mapping[Shape, tuple[str, ...]]) -> Iterable[TableRow]:
    groups: dict[tuple[Op, Memory, str | None], dict[str, _Codes]] = {}
    for shape, code in codes.items():
        result = ("used" if shape.used else UNUSED) if _counts(shape, codes) else None
        scopes = groups.setdefault((shape.kind, shape.memory, result), {})
        scope = NON_ATOMIC if shape.scope is None else shape.scope.value.lower()
        scopes[scope] = {**scopes.get(scope, {}), shape.order: code}
    for (op, memory, result), scopes in groups.items():
        for joined, by_order in _joined(scopes):
            for orders, code in _by_code(by_order):
                yield TableRow(op.value, joined, orders, tuple(sorted(memory)), result, code)


def _counts(shape: Shape, codes: Mapping[Shape, tuple[str, ...]]) -> bool:
    """Whether it matters to any such operation of this memory that its result is used."""
    alike = (it for it in codes if (it.kind, it.memory) == (shape.kind, shape.memory) and it.used)
    return shape.kind.gives and any(
        codes[each] != codes.get(replace(each, used=False)) for each in alike
    )


def _joined(scopes: Mapping[str, _Codes]) -> Iterable[tuple[tuple[str, ...], _Codes]]:
    """Scopes with the codes of their orders; together where all codes are the same.

    Non-atomic accesses stand with atomic ones whose code is theirs whatever the order.
    """
    left = dict(scopes)
    while left:
        scope = next(iter(left))
        own = left.pop(scope)
        alike = [other for other, codes in left.items() if _alike(own, codes)]
        alike = [other for other in alike if left[other] == left[alike[0]]]
        joined = (scope, *alike)
        atomic = [left.pop(other) for other in alike]
        yield joined, atomic[0] if atomic else own


def _alike(one: _Codes, other: _Codes) -> bool:
    if None in one:
        return set(one.values()) == set(other.values())
    return one == other


def _by_code(codes: _Codes) -> Iterable[tuple[tuple[str, ...], tuple[str, ...]]]:
    orders: dict[tuple[str, ...], list[str]] = {}
    for order, code in codes.items():
        orders.setdefault(code, []).extend([order.value] if order else [])
    return [(tuple(each), code) for code, each in orders.items()]


def _filled(start: str, parts: Sequence[str], ending: str) -> str:
    """Parts, with commas between them, on lines that are not too long."""
    text = ", ".join(part.replace(" ", "\0") for part in parts) + ending
    return textwrap.fill(
        text, _WIDTH, initial_indent=start, subsequent_indent=_INDENT, break_on_hyphens=False
    ).replace("\0", " ")


def _item(text: str) -> str:
    """An item of code, in quotes where YAML would read another."""
    return json.dumps(text) if _QUOTED.search(text) else text


def _one_or_list(words: tuple[str, ...]) -> str:
    return words[0] if len(words) == 1 else f"[{', '.join(words)}]"
