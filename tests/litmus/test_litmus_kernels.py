"""A kernel and its launch, which become threads; and who a thread is in them."""

from __future__ import annotations

import pytest

from rspverify.litmus.program import Program
from rspverify.litmus.reader import read_program
from rspverify.source import InputError, Source
from rspverify.value import Constant, evaluate

KERNEL = "kernel void k(global int* x) { int r = get_global_id(0); x[r] = r; }"


def program(text: str, state: str = "global int x[8];") -> Program:
    return read_program(Source("t", f"OpenCL t\n{{ {state} }}\n{text}"))


def mistakes(text: str, state: str = "global int x[8];") -> list[str]:
    with pytest.raises(InputError) as caught:
        program(text, state)
    return [f"{each.span}: {each.message}" for each in caught.value.problems]


def constants(whole: Program) -> list[dict[str, int]]:
    """What registers hold at the end of each thread."""
    return [{n: evaluate(e, {}) for n, e in it.registers.items()} for it in whole.threads]


IDS = (
    "kernel void k() { int g = get_group_id(0), l = get_local_id(0), i = get_global_id(0),"
    " n = get_num_groups(0), t = get_local_size(), s = get_global_size(); }"
)


def test_threads_are_numbered_group_by_group() -> None:
    whole = program(f"{KERNEL}\ngroups 2 threads 3\nexists (5:r=5 /\\ P0:r=0 /\\ x[4]=4)")
    assert [each.name for each in whole.threads] == [f"P{n}" for n in range(6)]
    assert [(it.device, it.workgroup) for it in whole.threads] == [(0, n // 3) for n in range(6)]
    assert [each.location for each in whole.operations] == [f"x[{n}]" for n in range(6)]
    assert [each.value for each in whole.operations] == [Constant(n) for n in range(6)]
    assert {each.span.line for each in whole.operations} == {3}
    assert not whole.faults


def test_who_a_thread_is() -> None:
    whole = program(f"groups 2 threads 2 {IDS}", "")
    assert constants(whole) == [
        {"g": 0, "l": 0, "i": 0, "n": 2, "t": 2, "s": 4},
        {"g": 0, "l": 1, "i": 1, "n": 2, "t": 2, "s": 4},
        {"g": 1, "l": 0, "i": 2, "n": 2, "t": 2, "s": 4},
        {"g": 1, "l": 1, "i": 3, "n": 2, "t": 2, "s": 4},
    ]


def test_groups_are_dealt_to_devices_in_order() -> None:
    whole = program(f"{IDS}\ngroups 4 threads 1 devices 2", "")
    assert [(it.device, it.workgroup) for it in whole.threads] == [(0, 0), (0, 1), (1, 0), (1, 1)]
    assert [it["g"] for it in constants(whole)] == [0, 1, 2, 3]


def test_threads_that_are_written_out_know_who_they_are() -> None:
    body = "() { int g = get_group_id(0), l = get_local_id(0), i = get_global_id(0); }"
    tree = "scopeTree (device (work_group P2) (work_group P0 P1))"
    whole = program(f"P0 {body} P1 {body} P2 {body}\n{tree}", "")
    found = constants(whole)
    assert found == [{"g": 1, "l": 0, "i": 1}, {"g": 1, "l": 1, "i": 2}, {"g": 0, "l": 0, "i": 0}]


def test_other_dimensions_have_one_element() -> None:
    body = "kernel void k() { int a = get_global_id(1), b = get_global_size(2); }"
    assert constants(program(f"{body} groups 2 threads 1", "")) == [{"a": 0, "b": 1}] * 2


def test_parameters_that_are_no_pointers_have_values_in_the_initial_state() -> None:
    text = (
        "__kernel void unsafe(global atomic_int* flag, int A, int B) {\n"
        "  if (get_group_id(0) == A) while (atomic_load(flag) != 1);\n"
        "  if (get_group_id(0) == B) atomic_store(flag, 1);\n}\ngroups 2 threads 1"
    )
    whole = program(text, "A = 1; B = 0;")
    assert [it.name for it in whole.locations] == ["flag"]
    assert {each.kind.value for each in whole.threads[0].operations} == {"store"}
    assert {each.kind.value for each in whole.threads[1].operations} == {"load"}
    assert mistakes(text, "A = 1;") == [
        "t:3:54: the parameter `B` must have its value in the initial state"
    ]
