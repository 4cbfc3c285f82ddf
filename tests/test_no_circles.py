"""No module of these rooms imports itself by way of others, late imports included."""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

from rspverify.graph import circles

ROOT = Path(__file__).resolve().parents[1]


def imports(room: str) -> Iterator[tuple[str, str]]:
    """Which module of a room imports which."""
    for path in sorted((ROOT / "rspverify" / room).rglob("*.py")):
        module = ".".join(path.relative_to(ROOT).with_suffix("").parts)
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.ImportFrom) and node.module:
                yield from ((module, f"{node.module}.{each.name}") for each in node.names)
                yield module, node.module


@pytest.mark.parametrize("room", ["architecture", "axiomatic", "drawing", "relation"])
def test_no_circles(room: str) -> None:
    found = list(imports(room))
    assert found
    assert circles(found) == []


def test_a_circle_is_seen() -> None:
    found = [*imports("axiomatic"), ("rspverify.axiomatic.vocabulary", "rspverify.axiomatic.cat")]
    (circle,) = circles(found)
    assert {"rspverify.axiomatic.cat", "rspverify.axiomatic.vocabulary"} <= circle
