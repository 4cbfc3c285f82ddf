"""A kernel and its launch, which become threads; and who a thread is in them."""

from __future__ import annotations

import re

import pytest

from rspverify.litmus.program import Program
from rspverify.litmus.reader import read_program
from rspverify.source import InputError, Severity, Source
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


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (KERNEL, "t:3:13: a kernel must have a launch"),
        ("groups 2 threads 2", "t:3:1: a launch must be of a kernel, and the test has none"),
        (f"{KERNEL}\ngroups 0 threads 2", "t:4:8: a launch must have groups, not `0`"),
        (f"{KERNEL}\ngroups 2 threads 0", "t:4:18: a launch must have threads, not `0`"),
        (
            f"{KERNEL}\ngroups 3 threads 1 devices 2",
            "t:4:1: the 3 groups must be as many on each device, and there are 2",
        ),
        (
            f"{KERNEL}\ngroups 99999 threads 99999",
            "t:4:1: a launch of more than 64 threads is not supported",
        ),
        (
            f"{KERNEL}\ngroups 1 threads 1\nscopeTree (device (work_group P0))",
            "t:5:1: a kernel must be placed by its launch, not by scopeTree",
        ),
        (
            f"{KERNEL}\ngroups 1 threads 1\ngroups 1 threads 1",
            "t:5:1: a test must have one launch, not two",
        ),
        (
            f"{KERNEL}\nkernel void l() {{ }}\ngroups 1 threads 1",
            "t:4:13: a test with several kernels is not supported",
        ),
        (
            f"P0@wg 0, dev 0 () {{ }}\n{KERNEL}\ngroups 1 threads 1",
            "t:3:1: a test must have threads or a kernel, not both",
        ),
        (
            "kernel void k() { int n = 1; int r = get_group_id(n); }\ngroups 1 threads 1",
            "t:3:51: the dimension of get_group_id must be an integer as it is written",
        ),
        (
            "kernel void k() { int r = get_group_id(0, 1); }\ngroups 1 threads 1",
            "t:3:27: get_group_id must have 1 argument (dimension) or none, not 2",
        ),
        (
            "kernel void k() { int r = s; }\ngroups 4 threads 4",
            "t:3:27: the register `s` must be declared or assigned in k",
        ),
    ],
)
def test_kernels_that_are_wrong(text: str, expected: str) -> None:
    state = "global int x[8];" if "x[r]" in text else ""
    if not re.search("kernel", text):
        assert expected in mistakes(text, "")
    else:
        assert mistakes(text, state) == [expected]


def test_what_is_too_large_is_no_error_of_the_user() -> None:
    with pytest.raises(InputError) as caught:
        program(f"{KERNEL}\ngroups 65 threads 1")
    assert [each.severity for each in caught.value.problems] == [Severity.UNSUPPORTED]


def test_a_kernel_is_no_program_of_c11() -> None:
    with pytest.raises(InputError) as caught:
        read_program(Source("t", "C t\n{}\nkernel void k() { }\ngroups 1 threads 1"))
    (problem,) = caught.value.problems
    assert problem.message == "a kernel must be in a test of OpenCL, not of C11"
