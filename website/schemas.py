"""The page of all JSON documents, from the schemas that ship."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

_HEAD = """# JSON documents

What `--format json` prints, and files that editors can check. This page is made from the schemas
(JSON Schema, draft 2020-12) that ship with rspverify.

"""
Schema = Mapping[str, Any]


def page(files: Mapping[str, Path]) -> str:
    """The page, as Markdown: a section for each schema. files: the schemas by their addresses."""
    read = {address: json.loads(file.read_text()) for address, file in sorted(files.items())}
    text = _HEAD + "| document | its schema |\n|---|---|\n"
    for address, schema in read.items():
        text += f"| {_title(schema)} | [{Path(address).name}]({address}) |\n"
    for schema in read.values():
        text += f"\n## {_title(schema)}\n\n{_object(schema)}"
        for name, part in schema.get("$defs", {}).items():
            text += f"\n### {name}\n\n{_object(part)}"
    return text


def _title(schema: Schema) -> str:
    return str(schema["title"]).removeprefix("rspverify ").removesuffix(" --format json")


def _object(schema: Schema) -> str:
    """What is said of a type: its description, and its fields or values."""
    text = str(schema.get("description", "")).strip() + "\n"
    if "properties" in schema:
        needed = schema.get("required", ())
        text += "\n| field | type |\n|---|---|\n"
        for name, kind in schema["properties"].items():
            optional = "" if name in needed else ", may be missing"
            text += f"| `{name}` | {_type(kind)}{optional} |\n"
    elif "enum" in schema:
        text += "\nOne of " + ", ".join(f"`{value}`" for value in schema["enum"]) + ".\n"
    elif "description" not in schema:
        text += f"\n{_type(schema)}\n"
    return text.lstrip("\n")


def _type(schema: Schema) -> str:
    """A type in a few words."""
    match schema:
        case {"$ref": str(place)}:
            return str(place).rpartition("/")[2]
        case {"anyOf": list(choices)} | {"oneOf": list(choices)}:
            return " or ".join(map(_type, choices))
        case {"enum": list(values)}:
            return " or ".join(f"`{value}`" for value in values)
        case {"const": value}:
            return f"`{value}`"
        case {"type": "array", "prefixItems": list(items)}:
            return f"list of {len(items)}: " + ", ".join(map(_type, items))
        case {"type": "array", "items": items}:
            return f"list of {_type(items)}"
        case {"type": "array"}:
            return "list"
        case {"type": "object", "properties": properties}:
            return "object with " + ", ".join(f"`{name}`" for name in properties)
        case {"type": "object", "additionalProperties": dict(values)}:
            return f"object whose values are {_type(values)}"
        case {"type": list(kinds)}:
            return " or ".join(map(str, kinds))
        case {"type": str(kind)}:
            return str(kind)
        case _:
            return re.sub(r"[{}\"]", "", json.dumps(dict(schema))) or "anything"
