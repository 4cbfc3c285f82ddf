"""Local memory on a machine that has a place for it: what is known of small programs."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import pytest
from checks import judged

from rspverify.litmus.program import Program
from rspverify.litmus.reader import read_program
from rspverify.records import replace
from rspverify.scheme.reader import read_scheme, read_scheme_file
from rspverify.scheme.scheme import Scheme
from rspverify.soundness.progress import progress
from rspverify.soundness.settings import Engine, Settings
from rspverify.source import InputError, Source
from rspverify.verdict import ProgressWord, Word

FOLDER = Path(__file__).resolve().parents[1] / "scheme/local"
SCHEME = read_scheme_file(FOLDER / "scratchpad.yaml")
ENGINES = [
    Settings(engine=Engine.EVENTS),
    Settings(engine=Engine.EXPLICIT),
    Settings(engine=Engine.UNROLL),
]

WG = "memory_scope_work_group"


def atomic(kind: str, place: str, order: str, value: str = "", scope: str = WG) -> str:
    operand = f", {value}" if value else ""
    return f"atomic_{kind}_explicit({place}{operand}, memory_order_{order}, {scope})"


def fence(memory: str, order: str) -> str:
    flags = " | ".join(f"CLK_{each}_MEM_FENCE" for each in memory.split())
    return f"atomic_work_item_fence({flags}, memory_order_{order}, {WG});"


@cache
def program(
    first: str, second: str, x: str = "local int", y: str = "local atomic_int", asks: str = ""
) -> Program:
    """Two threads of a work-group."""
    given = f"({x}* x, {y}* y)"
    places = "scopeTree (device (work_group P0 P1))"
    text = f"OpenCL t\n{{ [x]=0; [y]=0; }}\nP0 {given} {{ {first} }}\nP1 {given} {{ {second} }}\n"
    return read_program(Source("t.litmus", f"{text}{places}\n{asks}"))


def without(number: int, instruction: str) -> Scheme:
    """The scheme but for an instruction of a row."""
    (row,) = (it for it in SCHEME.rows if it.number == number)
    left = tuple(it for it in row.code if str(it) != instruction)
    assert len(left) < len(row.code)
    return SCHEME.with_code(number, left)


def word(test: Program, scheme: Scheme = SCHEME, settings: Settings | None = None) -> Word:
    return judged(test, scheme, settings or Settings()).word


STORE = "*x = 42;"
BARRIER = "barrier(CLK_LOCAL_MEM_FENCE);"
RELEASE, ACQUIRE = fence("LOCAL", "release"), fence("LOCAL", "acquire")
SEEN = f"int r0 = {atomic('load', 'y', 'relaxed')};"
READ = f"int r1 = {atomic('load', 'x', 'relaxed')};"
RAISE = f"{atomic('store', 'y', 'relaxed', '1')};"
RELAXED = f"{atomic('store', 'x', 'relaxed', '1')};"
IF = "int r1 = 7; if (r0 == 1) { r1 = *x; }"
ATOMIC = "local atomic_int"

KNOWN = [
    pytest.param(
        program(f"{STORE} {BARRIER}", f"{BARRIER} int r0 = *x;"), 12, id="MP by a barrier"
    ),
    pytest.param(
        program(
            f"{STORE} {atomic('store', 'y', 'release', '1')};",
            f"int r0 = {atomic('load', 'y', 'acquire')}; {IF}",
        ),
        7,
        id="MP by a local flag",
    ),
    pytest.param(
        program(f"{RELAXED} {RELEASE} {RAISE}", f"{SEEN} {ACQUIRE} {READ}", ATOMIC),
        12,
        id="MP by fences of local memory, all relaxed",
    ),
    pytest.param(
        program(
            f"{STORE} {fence('GLOBAL LOCAL', 'release')} {RAISE}",
            f"{SEEN} {fence('GLOBAL LOCAL', 'acquire')} {IF}",
            y="global atomic_int",
        ),
        13,
        id="MP by a global flag between fences of both memories",
    ),
    pytest.param(
        program(
            f"{STORE} {atomic('fetch_add', 'y', 'acq_rel', '1')};",
            f"int r0 = {atomic('load', 'y', 'acquire')}; {IF}",
        ),
        9,
        id="MP by an RMW whose result is thrown away",
    ),
    pytest.param(
        program(
            f"{STORE} int r0 = {atomic('fetch_add', 'y', 'acq_rel', '1')};",
            f"int r0 = {atomic('load', 'y', 'acquire')}; {IF}",
            asks="exists (0:r0=0 /\\ 1:r0=1)",
        ),
        8,
        id="MP by an RMW whose result is used",
    ),
]
"""Programs, each with the row that waits for the scratchpad in it."""


@pytest.mark.parametrize("settings", ENGINES, ids=lambda it: it.engine.value)
@pytest.mark.parametrize(("test", "number"), KNOWN)
def test_known_answers(test: Program, number: int, settings: Settings) -> None:
    assert word(test, settings=settings) is Word.SOUND
    assert word(test, without(number, "DS_WAIT"), settings) is Word.UNSOUND


@pytest.mark.parametrize("settings", ENGINES, ids=lambda it: it.engine.value)
def test_fences_of_global_memory_order_no_local_one(settings: Settings) -> None:
    """So that without the waits nothing is wrong that was not allowed before."""
    release, acquire = fence("GLOBAL", "release"), fence("GLOBAL", "acquire")
    test = program(f"{RELAXED} {release} {RAISE}", f"{SEEN} {acquire} {READ}", ATOMIC)
    assert word(test, settings=settings) is Word.SOUND
    assert word(test, without(12, "DS_WAIT"), settings) is Word.SOUND


def test_a_barrier_that_orders_the_other_memory_is_no_excuse() -> None:
    test = program(f"{STORE} barrier(CLK_GLOBAL_MEM_FENCE);", "barrier(CLK_GLOBAL_MEM_FENCE); *x;")
    assert word(test) is Word.RACY


def test_it_completes_whatever_happens() -> None:
    for each in KNOWN:
        assert progress(each.values[0], SCHEME, Settings()).word is ProgressWord.LIVE


def test_one_work_group_has_a_location_of_local_memory() -> None:
    """OpenCL gives each its own, and a test has one."""
    one = program(f"{RAISE}", SEEN, y=ATOMIC)
    far = replace(one.threads[1], workgroup=1)
    apart = replace(one, threads=(one.threads[0], far))
    with pytest.raises(InputError, match="accesses local memory that another work-group does"):
        SCHEME.compiled(apart)
    assert word(apart) is Word.UNSUPPORTED


def test_without_a_row_for_local_memory_there_is_none() -> None:
    rows = '- {op: load, scope: wg, order: seq_cst, code: ["LD r x"]}'
    text = f"name: t\nmachine: {FOLDER}/scratchpad.machine\nrows:\n  {rows}\n"
    scheme = read_scheme(Source("t.yaml", text))
    with pytest.raises(InputError) as caught:
        scheme.compiled(program(f"{RAISE}", SEEN))
    assert [it.message for it in caught.value.problems] == [
        "scheme t has no row for store local WG,N (relaxed) on y",
        "scheme t has no row for load local WG,N (relaxed) on y",
    ]
