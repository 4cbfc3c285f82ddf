"""JSON Schemas of schemes and of files of costs, for editors: made of what their readers go by.

They say what a single value may be. What more must hold of a file, such as that no two rows match
one operation, its reader says alone. Instructions have single blanks, and scopes small letters.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from rspverify.architecture.architecture import Mnemonic
from rspverify.architecture.machines import MACHINES
from rspverify.convert import Schema
from rspverify.litmus.program import GLOBAL
from rspverify.scheme.cost import MOST, priced_names
from rspverify.scheme.memory import has_local, without_end
from rspverify.scheme.orders import Op
from rspverify.scheme.reader import DEFAULT_MACHINE, KEYS, REQUIRED, WORD
from rspverify.scheme.row_reader import KEYS as ROW_KEYS
from rspverify.scheme.row_reader import KINDS, MEMORIES, RESULTS, orders_of, scopes_of
from rspverify.scheme.row_reader import REQUIRED as ROW_REQUIRED
from rspverify.scheme.template_reader import fits, repeats, spellings_with_operand

DRAFT = "http://json-schema.org/draft-07/schema#"
"""The newest that all editors know."""
TEXT: Schema = {"type": ["string", "number", "boolean"]}
"""Any text: YAML takes some words for numbers."""

OWN = r"\.machine$"
"""What a machine of the user's is named by: a file."""

_MACHINES = {it.name: it for it in MACHINES.values() if not without_end(it)}
"""The machines that ship and that schemes can be for."""

_INSTRUCTIONS = {
    name: mnemonic
    for machine in _MACHINES.values()
    for name, mnemonic in machine.instructions.items()
}


def scheme_schema() -> Schema:
    """The schema of a scheme."""
    about: dict[str, Schema] = {
        "name": {**TEXT, "pattern": f"^{WORD.pattern}$", "description": "The scheme's name."},
        "source": {**TEXT, "description": "Where the scheme is from."},
        "instructions": {
            "enum": sorted({it.executes for it in _MACHINES.values()}),
            "description": "The instruction set that the code is of. Without it: the machine's.",
        },
        "machine": {
            "anyOf": [{"enum": list(_MACHINES)}, {"type": "string", "pattern": OWN}],
            "default": DEFAULT_MACHINE,
            "description": "; ".join(f"{it.name}: {it.summary}" for it in _MACHINES.values()),
        },
        "note": {**TEXT, "description": "Anything."},
        "rows": {
            "type": "array",
            "minItems": 1,
            "items": {"$ref": "#/definitions/row"},
            "description": "The table: which code each operation becomes.",
        },
    }
    return {
        "$schema": DRAFT,
        "title": "A compilation scheme of rspverify",
        "type": "object",
        "properties": {key: about[key] for key in KEYS},
        "required": list(REQUIRED),
        "additionalProperties": False,
        "allOf": [*_of_machines(), _of_ours()],
        "definitions": {"row": _row()},
    }


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


def _row() -> Schema:
    """A row. What depends on its operation is said for each operation, so that it is said once."""
    about: dict[str, Schema] = {
        "op": {
            "enum": list(KINDS),
            "description": "rmw: every read-modify-write, and compare-exchange where no row for "
            "cas matches it.",
        },
        "scope": {
            "description": "na: not atomic; wi, sg, wg, dv, all: how far an atomic reaches. "
            "Without it, but with an order: atomics of a language without scopes.",
        },
        "order": {
            "description": "These and every weaker one. Without it: acquire and release, each "
            "alone or both.",
        },
        "remote": {"type": "boolean", "description": "Without it: either."},
        "memory": {
            **_one_or_more(MEMORIES),
            "description": "Of an access: either of these; of a fence: all of them. Without it: "
            "global.",
        },
        "result": {
            "enum": list(RESULTS),
            "description": "Of an rmw or a cas, whether its result is used. Without it: either.",
        },
        "code": {
            "type": "array",
            "description": "Instructions, in order; r is the register and x the location.",
        },
        "note": {**TEXT, "description": "Anything."},
    }
    plain = {"properties": {"scope": {"enum": ["na", ["na"]]}}, "required": ["scope"]}
    return {
        "type": "object",
        "properties": {key: about[key] for key in ROW_KEYS},
        "required": [each for each in ROW_REQUIRED if each != "scope"],
        "anyOf": [
            {"required": ["scope"]},
            {"required": ["order"], "properties": {"remote": False}},
        ],
        "additionalProperties": False,
        "allOf": [
            *map(_of_operation, Op),
            {"if": plain, "then": {"properties": {"order": False, "remote": False}}},
        ],
    }


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
    fence = op is Op.FENCE
    here = [
        it
        for it in _INSTRUCTIONS.values()
        if not (it.reads or it.writes or (fence and "x" in it.operands))
    ]
    access = [] if fence else [it for it in _INSTRUCTIONS.values() if fits(op, it)]
    again = [] if fence else [it for it in _INSTRUCTIONS.values() if repeats(op, it)]
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
        "$schema": DRAFT,
        "title": "What instructions cost, for rspverify",
        "type": "object",
        "properties": dict.fromkeys(priced_names(), weight),
        "additionalProperties": False,
    }
