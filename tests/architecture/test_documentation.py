"""docs/machines.md: its examples are read, and it names every word and every limit."""

import re
from pathlib import Path

import pytest
from pages import blocks

from rspverify.architecture import catalogue, declarations, layout, parsing, scope
from rspverify.architecture.machines import MACHINES
from rspverify.architecture.reader import read_architecture
from rspverify.source import Source

BASE = """
include rsp
spaces global, shared
type cache { data[x] : value DIRTY[x] : bit VALID[x] : bit present[x] : bit fifo : fifo }
state { copy[x] : value of thread shared[x] : bit of thread
        queue[x] : fifo of thread pool : pool of thread }
"""
"""What the examples that are no machines stand in."""

PAGE = Path("docs/machines.md")


@pytest.fixture(scope="module")
def texts(root: Path) -> list[str]:
    return [each.text for each in blocks(root / PAGE) if each.language == "text"]


def test_the_machines_are_read(texts: list[str]) -> None:
    variant, through = (
        read_architecture(Source("m", each)) for each in texts if each.startswith("machine")
    )
    assert list(through.instructions) == ["LD", "ST", "INV"]
    same = {n for n, it in variant.instructions.items() if MACHINES["rsp"].instructions[n] == it}
    assert set(variant.instructions) - same == {"ST"}


def test_the_parts_of_machines_are_read(texts: list[str]) -> None:
    parts = [each for each in texts if not each.startswith("machine")]
    assert len(parts) == 9
    for each in parts:
        base = "include rsp\n" if each.startswith("state") else BASE
        if "VALID[x] {" in each:
            base = f"{BASE}state {{ VALID[x] : bit of thread }}"
        if each.startswith("spaces"):
            base = base.replace("spaces global, shared\n", "")
        if each.startswith("state"):
            base += "without " + ", ".join([*MACHINES["rsp"].instructions, *STEPS, "L2"])
            base += "\ncomplete when each thread t: empty t.pool\nalways when empty pool\n"
        read_architecture(Source("m", f"machine m\n{base}\n{each}"))


STEPS = [each.name for each in MACHINES["rsp"].steps]


def test_every_word_of_the_language_is_there(root: Path) -> None:
    text = (root / PAGE).read_text(encoding="utf-8")
    grammar = (root / "rspverify/architecture/machine.lark").read_text(encoding="utf-8")
    words = set(re.findall(r'"(\w+)" KEYWORD_END', grammar)) | {"true", "false"}
    assert len(words) > 40
    for word in words:
        assert re.search(rf"`[^`\n]*\b{word}\b[^`\n]*`|^ *{word}\b", text, re.MULTILINE), word


def test_every_limit_is_there(root: Path) -> None:
    text = (root / PAGE).read_text(encoding="utf-8").replace("\n  ", " ")
    for number, what in (
        (catalogue.MAX_CHARACTERS, "characters"),
        (parsing.MAX_ITEMS, "items"),
        (declarations.MAX_FILES, "files"),
        (layout.MAX_CELLS, "cells for each place and location"),
        (layout.MAX_PARTS, "conditions and effects"),
        (layout.MAX_SPREAD, "of these once each variable stands for three places or two locations"),
        (scope.MAX_DEPTH, "deep"),
    ):
        assert f"{number:,} {what}" in text
