"""An execution as it is shown, in columns or where these have too little room below each other."""

from __future__ import annotations

import io

import pytest
from rich.console import Console

from rspverify.render.forms.text import trace_table
from rspverify.verdict import CacheState, Entry, Execution, Snapshot, Step


def fifo(*elements: str) -> tuple[tuple[str, tuple[str, ...]], ...]:
    return (("", elements),)


FIRST = Snapshot({"L1 d0 w0": CacheState({}, ()), "L1 d0 w1": CacheState({}, ())}, {"x": 0}, {})
STORED = Snapshot(
    {**FIRST.caches, "L1 d0 w0": CacheState({"x": Entry(42, True, True)}, fifo("x"))}, {"x": 0}, {}
)
FLUSHED = Snapshot(
    {**FIRST.caches, "L1 d0 w0": CacheState({"x": Entry(42, False, True)}, fifo("x"))},
    {"x": 42},
    {"LK_L2 x": "d0 w0"},
)
EXECUTION = Execution(
    FIRST,
    (
        Step("ST 42 x", 0, None, 3, STORED),
        Step("FLUSH_L1(x, 42)", None, "L1 d0 w0", None, FLUSHED),
        Step("LD r x (reads 42)", 1, None, 7, FLUSHED),
    ),
    ("L1 d0 w0", "L1 d0 w1"),
    ("L1 d0 w0", "L1 d0 w1"),
    True,
)
WHOLE = [
    "ST 42 x",
    "FLUSH_L1(x, 42)",
    "LD r x (reads 42)",
    "{x=42 D,V} [x]",
    "{x=42 C,V} [x]",
    "x=42",
]


def shown(columns: int) -> list[str]:
    stream = io.StringIO()
    Console(file=stream, width=columns, highlight=False, markup=False).print(
        trace_table(EXECUTION, columns)
    )
    return [line.rstrip() for line in stream.getvalue().splitlines()]


@pytest.mark.parametrize("columns", [60, 80, 120, 200])
def test_nothing_is_torn_apart(columns: int) -> None:
    lines = shown(columns)
    assert max(map(len, lines)) <= columns
    for words in WHOLE:
        assert any(words in line for line in lines), words


def test_where_there_is_room_each_thread_has_a_column() -> None:
    assert shown(160)[0].split("  ") != shown(60)[0].split("  ")
    assert shown(160)[0].split() == [
        "#",
        "P0",
        "L1",
        "d0",
        "w0",
        "P1",
        "L1",
        "d0",
        "w1",
        "memory",
        "locks",
    ]


def test_below_each_other_is_what_a_step_does_and_then_what_it_changed() -> None:
    lines = [line.split("  ") for line in shown(60)[2:]]
    cells = [[each.strip() for each in line if each.strip()] for line in lines]
    assert cells == [
        ["memory", "x=0"],
        ["1", "P0", "ST 42 x"],
        ["L1 d0 w0", "{x=42 D,V} [x]"],
        ["2", "L1 d0 w0", "FLUSH_L1(x, 42)"],
        ["L1 d0 w0", "{x=42 C,V} [x]"],
        ["memory", "x=42"],
        ["locks", "LK_L2 x: d0 w0"],
        ["3", "P1", "LD r x (reads 42)"],
    ]
