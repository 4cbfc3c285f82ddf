"""An execution as it is shown, in columns or where these have too little room below each other."""

from __future__ import annotations

import io
import re

import pytest
from rich.console import Console

import rspverify
from rspverify.records import replace
from rspverify.render.document import Document
from rspverify.render.forms.text import show, trace_table, write
from rspverify.render.trace import Trace, timeline, wrong_trace


@pytest.fixture(scope="module")
def fig4() -> Trace:
    found = wrong_trace(rspverify.explain("original", "Fig4").explanation)
    assert found is not None
    return found


def shown(it: Trace, columns: int) -> list[str]:
    stream = io.StringIO()
    show([trace_table(it)], Console(file=stream, width=columns, highlight=False, markup=False))
    return stream.getvalue().splitlines()


@pytest.mark.parametrize("columns", [60, 80, 120, 200])
def test_nothing_is_torn_apart(fig4: Trace, columns: int) -> None:
    lines = shown(fig4, columns)
    assert max(map(len, lines)) <= columns
    for each in timeline(fig4.execution):
        changed = [state.text for state in each.states if state.changed]
        for words in (each.what, *changed):
            assert any(words in line for line in lines), words


def test_where_there_is_room_each_thread_has_a_column(fig4: Trace) -> None:
    heads = [["#", "P0", "L1 d0 w0", "P1", "L1 d0 w1", "memory"]]
    heads += [["#", "where", "what happens, and what is there then"]]
    for columns, expected in zip((160, 60), heads, strict=True):
        assert re.split("  +", shown(fig4, columns)[0].strip()) == expected


def test_below_each_other_is_what_a_step_does_and_then_what_it_changed(fig4: Trace) -> None:
    lines = shown(fig4, 60)[2:]
    assert [re.split("  +", line.strip()) for line in lines[:11]] == [
        ["memory", "x=0 y=0"],
        ["1", "P0", "ST 42 x"],
        ["L1 d0 w0", "{x=42 D,V} [x]"],
        ["2", "P0", "FLU_L1 WG"],
        ["L1 d0 w0", "{x=42 D,V} [FLUSH(P0) x]"],
        ["3", "P1", "INV_L1 WG"],
        ["4", "L1 d0 w1", "FETCH_L1(x, 0)"],
        ["L1 d0 w1", "{x=0 C,V}"],
        ["5", "L1 d0 w0", "FLUSH_L1(x, 42)"],
        ["L1 d0 w0", "{x=42 C,V} [FLUSH(P0) x]"],
        ["memory", "x=42 y=0"],
    ]


def test_the_story_of_accesses_that_complete_later() -> None:
    """What is on its way meanwhile, who reads what from where, and the contents of no queue."""
    early = rspverify.Settings(machine="amdgpu-gfx942+WRITE_BACK_AFTER_OWN_STORES=off")
    found = rspverify.explain("schemes/amdgpu/gfx942.yaml", "litmus/amdgpu/MP-dv.litmus", early)
    trace = wrong_trace(found.explanation)
    assert trace is not None
    steps = {it.what: it for it in timeline(trace.execution)}
    line = steps["LINE(buffer_wbl2 sc1, x) …"]
    assert (line.by, line.beside) == ("P0", "while global_store_dword x 1 is on the way")
    assert steps["STORE(global_store_dword x 1) ✓"].number > line.number
    assert steps["LOAD(global_load_dword r x, reads 0 from L2 die 1) ✓"].by == "P1"
    assert not steps["s_waitcnt vmcnt(0)"].beside
    assert "queue cu" not in str(found)
    queue = "queue: accesses that wait for their turn, by location"
    assert queue in shown_of(replace(trace, queues=True)) and queue not in shown_of(trace)


def test_what_another_thread_has_on_its_way_is_told_of_one_location() -> None:
    """Of ISA2 in a work-group: the second wave's write-back may precede the first wave's store."""
    test = "litmus/amdgpu/ISA2-wg-dv.litmus"
    found = rspverify.explain("schemes/amdgpu/gfx942.yaml", test)
    trace = wrong_trace(found.explanation)
    assert trace is not None
    beside = [it.beside for it in timeline(trace.execution) if it.what.startswith("LINE")]
    assert "while P0's global_store_dword x 1 is on the way" in beside


def test_a_load_that_finds_its_line_says_whose_it_is() -> None:
    kept = rspverify.Settings(machine="amdgpu-gfx9+RMW_DROPS_LINE=off")
    found = rspverify.explain("gfx900", "CoWR-rmw-wg", kept)
    trace = wrong_trace(found.explanation)
    assert trace is not None
    (load,) = (it for it in timeline(trace.execution) if it.what.startswith("global_load"))
    assert load.what == "global_load_dword r x (reads 0 from L0 cu 0)"
    assert load.beside == "while global_atomic r x is on the way"


def shown_of(it: Trace) -> list[str]:
    return write(Document("explain", "", [it])).splitlines()
