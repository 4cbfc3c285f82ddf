"""A fault of the program counts in consistent executions alone, under any model."""

import pytest

from rspverify.axiomatic.cat import load_model
from rspverify.axiomatic.question import Questions
from rspverify.drawing.draw import Pictures
from rspverify.limits import Limits
from rspverify.litmus.program import Program
from rspverify.litmus.reader import read_program
from rspverify.source import Source

MP = """OpenCL MP
{{ global atomic_int flag[2]; global int x[2]; }}
P0@wg 0, dev 0 (global atomic_int* flag, global int* x) {{
  x[0] = {value};
  atomic_store_explicit(&flag[0], 1, memory_order_release, memory_scope_device);
}}
P1@wg 1, dev 0 (global atomic_int* flag, global int* x) {{
  int r0 = atomic_load_explicit(&flag[0], memory_order_acquire, memory_scope_device);
  if (r0) atomic_store_explicit(&flag[x[0] + 1], 3, memory_order_relaxed, memory_scope_device);
}}
"""


def program(value: int) -> Program:
    return read_program(Source("MP", MP.format(value=value)))


@pytest.mark.parametrize("model", ["opencl-rsp", "opencl-hrf", "opencl", "opencl-rsp-fig2"])
@pytest.mark.parametrize("value", [-3, -2, -1, 0, 1, 2])
def test_an_index_out_of_bounds_makes_a_program_racy(value: int, model: str) -> None:
    """If x is 42, say, the model lets nothing but 42 be read: no index is taken from the start."""
    questions = Questions(program(value), load_model(model), Limits())
    race = questions.race()
    if value in (-1, 0):
        assert race is None and questions.violated() == ()
        return
    assert race is not None and race.second is None
    assert (race.first.thread, race.first.line, race.condition) == (1, 9, "Bounds")
    assert race.first.access == f"index {value + 1} of flag is out of bounds, an array of 2"
    assert questions.violated() == ("Bounds",)
    assert questions.asked_race()


def test_what_no_consistent_execution_reads_is_no_index() -> None:
    """Read before it is written, x[0] would be 0, and 0 - 1 no index: the model forbids it."""
    text = MP.format(value=1).replace("x[0] + 1", "x[0] - 1")
    assert (
        Questions(read_program(Source("t", text)), load_model("opencl-rsp"), Limits()).race()
        is None
    )
    weak = text.replace("acquire", "relaxed")
    weak = weak.replace("global int x", "global atomic_int x").replace("int* x", "atomic_int* x")
    race = Questions(read_program(Source("t", weak)), load_model("opencl-rsp"), Limits()).race()
    assert race is not None and race.condition == "Bounds"


def test_the_picture_of_a_fault_says_what_it_is() -> None:
    drawn = Pictures(program(1), load_model("opencl-rsp"), Limits(), None).racy()
    assert drawn is not None
    assert drawn.condition == "Bounds: P1 line 9: index 2 of flag is out of bounds, an array of 2"
    assert not any(event.marked for event in drawn.picture.events)


SPIN = """OpenCL spin
{{ global atomic_int flag[2]; [flag[0]] = {first}; global atomic_int i = {start}; }}
P0@wg 0, dev 0 (global atomic_int* i) {{
  atomic_store_explicit(i, {end}, memory_order_release, memory_scope_device);
}}
P1@wg 1, dev 0 (global atomic_int* i, global atomic_int* flag) {{
  while (1) {{
    int r = atomic_load_explicit(i, memory_order_acquire, memory_scope_device);
    if (atomic_load_explicit(&flag[r - 1], memory_order_acquire, memory_scope_device)) {leave}
  }}
}}
"""


@pytest.mark.parametrize("leave", ["break;", "return;"])
@pytest.mark.parametrize(
    ("start", "end", "first", "faulty"), [(1, 2, 0, False), (2, 1, 1, False), (0, 1, 1, True)]
)
def test_iterations_that_go_on_may_have_faults(
    start: int, end: int, first: int, faulty: bool, leave: str
) -> None:
    """With i = 0 the index is -1, and nothing is read but 0; the loop goes on, and ends with i = 1."""
    text = SPIN.format(start=start, end=end, first=first, leave=leave)
    whole = read_program(Source("t", text))
    assert len(whole.spins) == 1 and whole.unrolled is not None
    for each in (whole, whole.unrolled):
        race = Questions(each, load_model("opencl-rsp"), Limits()).race()
        assert (race is not None) == faulty
        if race is not None:
            assert race.first.access == "index -1 of flag is out of bounds, an array of 2"
