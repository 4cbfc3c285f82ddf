"""Operations of sub-group scope: whom they reach, model by model."""

from __future__ import annotations

import pytest

from rspverify.axiomatic.cat import load_model
from rspverify.axiomatic.coverage import require_covered
from rspverify.axiomatic.question import Questions
from rspverify.limits import Limits
from rspverify.litmus.program import Program
from rspverify.litmus.reader import read_program
from rspverify.source import InputError, Source

MP = """OpenCL t
{ [x]=0; [y]=0; }
P0 (global int* x, global atomic_int* y) {
  *x = 1;
  atomic_store_explicit(y, 1, memory_order_release, %s);
}
P1 (global int* x, global atomic_int* y) {
  int r0 = atomic_load_explicit(y, memory_order_acquire, %s);
  if (r0 == 1) { int r1 = *x; }
}
scopeTree (device (work_group %s))
"""
SG, WG = "memory_scope_sub_group", "memory_scope_work_group"
TOGETHER, APART = "(sub_group P0 P1)", "(sub_group P0) (sub_group P1)"


def races(model: str, first: str, second: str, places: str) -> bool:
    program: Program = read_program(Source("t", MP % (first, second, places)))
    its = load_model(model)
    require_covered(program, its)
    return Questions(program, its, Limits()).race() is not None


@pytest.mark.parametrize("model", ["opencl", "opencl-rsp", "opencl-hrf", "opencl-scoped-sc"])
def test_it_reaches_its_sub_group_and_no_further(model: str) -> None:
    assert not races(model, SG, SG, TOGETHER)
    assert races(model, SG, SG, APART)
    assert races(model, SG, SG, "P0 P1"), "each is alone"


def test_with_a_wider_scope_it_is_inclusive_where_scopes_need_not_be_equal() -> None:
    assert not races("opencl-rsp", SG, WG, TOGETHER)
    assert races("opencl", SG, WG, TOGETHER)


def test_the_figure_does_not_speak_of_it() -> None:
    with pytest.raises(InputError, match="the scope of a sub-group is beyond the model"):
        races("opencl-rsp-fig2", SG, SG, TOGETHER)
