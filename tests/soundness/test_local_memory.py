"""Local memory on a machine that has a place for it: what is known of small programs."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import pytest
from checks import judged

from rspverify.litmus.program import Program
from rspverify.litmus.reader import read_program
from rspverify.programs.meaning import program_of
from rspverify.programs.notation import read_notation
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

BARRIER = """OpenCL t
{{ [x]=0; }}
P0 (local int* x) {{ *x = 42; barrier(CLK_{memory}_MEM_FENCE); }}
P1 (local int* x) {{ barrier(CLK_{memory}_MEM_FENCE); int r0 = *x; }}
scopeTree (device (work_group P0 P1))
"""


@cache
def program(line: str) -> Program:
    """Two threads of a work-group, in a line; or a text."""
    if line.startswith("OpenCL"):
        return read_program(Source("t.litmus", line))
    return program_of(read_notation(line), "t")


def without(number: int, instruction: str) -> Scheme:
    """The scheme but for an instruction of a row."""
    (row,) = (it for it in SCHEME.rows if it.number == number)
    left = tuple(it for it in row.code if str(it) != instruction)
    assert len(left) < len(row.code)
    return SCHEME.with_code(number, left)


def word(test: Program, scheme: Scheme = SCHEME, settings: Settings | None = None) -> Word:
    return judged(test, scheme, settings or Settings()).word


BOTH = "@01 (local x) (local y)"
BY_FENCES = (
    "st.rlx.WG x 1; F.rel.WG.{0}; st.rlx.WG y 1 || r0=ld.rlx.WG y; F.acq.WG.{0}; r1=ld.rlx.WG x"
)
SEES = "r0=ld.WG y; if r0==1: r1=ld.na x"

KNOWN = {
    "MP by a barrier": (BARRIER.format(memory="LOCAL"), 12),
    "MP by a local flag": (f"st.na x 42; st.WG y 1 || {SEES} {BOTH}", 7),
    "MP by fences of local memory, all relaxed": (f"{BY_FENCES.format('local')} {BOTH}", 12),
    "MP by a global flag between fences of both memories": (
        "st.na x 42; F.rel.WG.both; st.rlx.WG y 1"
        " || r0=ld.rlx.WG y; F.acq.WG.both; if r0==1: r1=ld.na x @01 (local x)",
        13,
    ),
    "MP by an RMW whose result is thrown away": (f"st.na x 42; inc.WG y || {SEES} {BOTH}", 9),
    "MP by an RMW whose result is used": (f"st.na x 42; r0=inc.WG y || {SEES} {BOTH}", 8),
}
"""Programs, each with the row that waits for the scratchpad in it."""


@pytest.mark.parametrize("settings", ENGINES, ids=lambda it: it.engine.value)
@pytest.mark.parametrize("name", KNOWN)
def test_known_answers(name: str, settings: Settings) -> None:
    line, number = KNOWN[name]
    test = program(line)
    assert word(test, settings=settings) is Word.SOUND
    assert word(test, without(number, "DS_WAIT"), settings) is Word.UNSOUND


@pytest.mark.parametrize("settings", ENGINES, ids=lambda it: it.engine.value)
def test_fences_of_global_memory_order_no_local_one(settings: Settings) -> None:
    """So that without the waits nothing is wrong that was not allowed before."""
    test = program(f"{BY_FENCES.format('global')} {BOTH}")
    assert word(test, settings=settings) is Word.SOUND
    assert word(test, without(12, "DS_WAIT"), settings) is Word.SOUND


def test_a_barrier_that_orders_the_other_memory_is_no_excuse() -> None:
    assert word(program(BARRIER.format(memory="GLOBAL"))) is Word.RACY


def test_it_completes_whatever_happens() -> None:
    for line, _ in KNOWN.values():
        assert progress(program(line), SCHEME, Settings()).word is ProgressWord.LIVE


ONE = "st.rlx.WG y 1 || r0=ld.rlx.WG y @01 (local y)"


def test_one_work_group_has_a_location_of_local_memory() -> None:
    """OpenCL gives each its own, and a test has one."""
    one = program(ONE)
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
        scheme.compiled(program(ONE))
    assert [it.message for it in caught.value.problems] == [
        "scheme t has no row for store local WG,N (relaxed) on y",
        "scheme t has no row for load local WG,N (relaxed) on y",
    ]
