"""JSON Schemas of schemes and of files of costs, for editors: made of what their readers go by.

They say what a single value may be. What more must hold of a file, such as that no two rows match
one operation, its reader says alone. Instructions have single blanks, and scopes small letters.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

import yaml

from rspverify.architecture.architecture import Mnemonic
from rspverify.architecture.machines import MACHINES
from rspverify.convert import Schema
from rspverify.litmus.program import GLOBAL
from rspverify.scheme.cost import MOST, priced_names, priced_patterns
from rspverify.scheme.memory import has_local, without_end
from rspverify.scheme.orders import Op
from rspverify.scheme.reader import DEFAULT_MACHINE, REQUIRED, WORD
from rspverify.scheme.row_reader import KINDS, MEMORIES, RESULTS, orders_of, scopes_of
from rspverify.scheme.row_reader import REQUIRED as ROW_REQUIRED
from rspverify.scheme.template_reader import fits, repeats, spellings_with_operand

OWN = r"\.machine$"
"""What a machine of the user's is named by: a file."""

_MACHINES = {it.name: it for it in MACHINES.values() if not without_end(it)}
"""The machines that ship and that schemes can be for."""

_INSTRUCTIONS = {
    name: mnemonic
    for machine in _MACHINES.values()
    for name, mnemonic in machine.instructions.items()
}


def filled(file: Path, values: Mapping[str, Any]) -> Schema:
    """The schema in a YAML file, with values for its words `$name`."""

    def fill(it: Any) -> Any:
        match it:
            case dict():
                return {key: fill(each) for key, each in it.items()}
            case list():
                return [*map(fill, it)]
            case str() if it.startswith("$"):
                return values[it[1:]]
            case _:
                return it

    found: Schema = fill(yaml.safe_load(file.read_text(encoding="utf-8")))
    return found


def scheme_schema() -> Schema:
    """The schema of a scheme."""
    plain = {"properties": {"scope": {"enum": ["na", ["na"]]}}, "required": ["scope"]}
    idle = {"if": plain, "then": {"properties": {"order": False, "remote": False}}}
    values = {
        "word": f"^{WORD.pattern}$",
        "sets": sorted({it.executes for it in _MACHINES.values()}),
        "machines": list(_MACHINES),
        "own": OWN,
        "default": DEFAULT_MACHINE,
        "summaries": "; ".join(f"{it.name}: {it.summary}" for it in _MACHINES.values()),
        "required": list(REQUIRED),
        "of_machines": [*_of_machines(), _of_ours()],
        "kinds": list(KINDS),
        "memories": _one_or_more(MEMORIES)["anyOf"],
        "results": list(RESULTS),
        "required_of_row": [each for each in ROW_REQUIRED if each != "scope"],
        "of_operations": [*map(_of_operation, Op), idle],
    }
    return filled(Path(__file__).with_suffix(".yaml"), values)


def _of_machines() -> Iterator[Schema]:
    """What rows must not have, on machines that lack instructions of others, or local memory."""
    for machine in _MACHINES.values():
        lacking = [it for name, it in _INSTRUCTIONS.items() if name not in machine.instructions]
        kept: dict[str, Schema] = {}
        if lacking:
            kept["code"] = {"items": {"not": {"enum": _written(lacking)}}}
        if not has_local(machine):
            kept["memory"] = _one_or_more([GLOBAL])
        if not kept:
            continue
        named: Schema = {"properties": {"machine": {"const": machine.name}}}
        if machine.name != DEFAULT_MACHINE:
            named["required"] = ["machine"]
        rows = {"items": {"properties": kept}}
        yield {"if": named, "then": {"properties": {"rows": rows}}}


def _of_ours() -> Schema:
    """What code may have on a machine that ships; a machine of the user's has what it has."""
    own = {"properties": {"machine": {"type": "string", "pattern": OWN}}, "required": ["machine"]}
    rows = {"items": {"allOf": [*map(_code_of_operation, Op)]}}
    return {"if": {"not": own}, "then": {"properties": {"rows": rows}}}


def _of_operation(op: Op) -> Schema:
    """Which scopes and orders a row for one kind of operation may have."""
    then: Schema = {
        "scope": _one_or_more(scopes_of(op)),
        "order": _one_or_more(orders_of(op)),
        **({} if op.gives else {"result": False}),
    }
    return {"if": _named(op), "then": {"properties": then}}


def _code_of_operation(op: Op) -> Schema:
    """What the code of a row for one kind of operation may have."""
    known, fence = _INSTRUCTIONS.values(), op is Op.FENCE
    access = [it for it in known if not fence and fits(op, it)]
    again = [it for it in known if not fence and repeats(op, it)]
    idle = (it for it in known if not (it.reads or it.writes))
    here = [it for it in idle if not (fence and "x" in it.operands)]
    code: Schema = {"items": {"enum": _written([*access, *again, *here])}}
    if access:
        code["contains"] = {"enum": _written(access)}
    return {"if": _named(op), "then": {"properties": {"code": code}}}


def _named(op: Op) -> Schema:
    return {"properties": {"op": {"const": op.value}}, "required": ["op"]}


def _written(instructions: Iterable[Mnemonic]) -> list[str]:
    """The ways in which instructions are written, each once."""
    found = list(instructions)
    usual = [each for it in found for each in it.spellings]
    return list(dict.fromkeys([*usual, *(s for it in found for s in spellings_with_operand(it))]))


def _one_or_more(words: Iterable[str]) -> Schema:
    one: Schema = {"enum": list(words)}
    return {"anyOf": [one, {"type": "array", "items": one, "minItems": 1, "uniqueItems": True}]}


def costs_schema() -> Schema:
    """The schema of a file of costs."""
    weight = {"type": "integer", "minimum": 0, "maximum": MOST}
    return {
        "$schema": "http://json-schema.org/draft-07/schema#",
        "title": "What instructions cost, for rspverify",
        "type": "object",
        "properties": dict.fromkeys(priced_names(), weight),
        "patternProperties": {f"^(?:{it})$": weight for it in priced_patterns()},
        "additionalProperties": False,
    }
