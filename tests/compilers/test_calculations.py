"""What instructions calculate, held to their definitions in AMD's ISA documents over unsigned numbers."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from random import Random

import pytest
from compilers.test_threads import value

from rspverify.value import evaluate

ALL = (1 << 32) - 1
EDGES = (0, 1, 2, 31, 32, 33, 0x7FFF, 0x8000, 0xFFFF, 0x10000, 0x7FFFFFFF, 0x80000000, ALL)
RANDOM = Random(1)
PAIRS = [(a, b) for a in EDGES for b in EDGES]
PAIRS += [(RANDOM.getrandbits(32), RANDOM.getrandbits(32)) for _ in range(60)]


def signed(number: int, size: int = 32) -> int:
    number &= (1 << size) - 1
    return number - ((number >> (size - 1)) << size)


KNOWN = {"signed": signed, "min": min, "max": max, "sorted": sorted, "ALL": ALL}


def calculations() -> Iterator[tuple[str, str, str]]:
    """Machine, lines and definition of each row of the table."""
    machine, frame = "", ""
    text = Path(__file__).with_name("calculations.txt").read_text()
    for line in re.findall(r"^[^#\n].*$", text, re.MULTILINE):
        if head := re.fullmatch(r"\[(.+)\] (.+)", line):
            machine, frame = head.groups()
        else:
            lines, definition = line.split(" = ")
            yield machine, frame.replace("…", lines), definition


@pytest.mark.parametrize(("machine", "lines", "definition"), [*calculations()])
def test_calculations(machine: str, lines: str, definition: str) -> None:
    found = value(*lines.split("; "), machine=machine)
    right = compile(definition, lines, "eval")
    for a, b in PAIRS:
        wanted = eval(right, KNOWN, {"a": a, "b": b})
        has = evaluate(found, {0: signed(a), 1: signed(b)})
        assert has % (1 << 32) == wanted % (1 << 32), (hex(a), hex(b))


def test_the_high_half_of_a_product_may_not_be_asked_for() -> None:
    found = value("v_mad_u64_u32 v[8:9], s[2:3], v5, v6, 7")
    with pytest.raises(KeyError):
        evaluate(found, {0: 1, 1: 1})
