"""Sub-groups: which threads are in one, and the mistakes that can be made in saying so."""

from __future__ import annotations

import pytest

from rspverify.litmus.program import Program, Scope, one_subgroup
from rspverify.litmus.reader import read_program
from rspverify.source import InputError, Source


def read(text: str) -> Program:
    return read_program(Source("t", f"OPENCL t\n{{}}\n{text}"))


def together(text: str) -> list[tuple[int, int]]:
    """The pairs of threads that share a sub-group."""
    threads = read(text).threads
    return [
        (a.index, b.index)
        for a in threads
        for b in threads
        if a.index < b.index and one_subgroup(a, b)
    ]


def threads(*names: str) -> str:
    return "\n".join(f"{name} () {{ }}" for name in names)


FOUR = threads("P0", "P1", "P2", "P3")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (f"{FOUR}\nscopeTree (device (work_group P0 P1 P2 P3))", []),
        (f"{FOUR}\nscopeTree (device (wg (sub_group P0 P2) P1 (sg P3)))", [(0, 2)]),
        (f"{FOUR}\nscopeTree (device (wg (sg P0 P1) (sg P2 P3)))", [(0, 1), (2, 3)]),
        (f"{FOUR}\nscopeTree (device (wg (sg P0 P1)) (wg (sg P2) P3))", [(0, 1)]),
        (threads("P0@sg 0, wg 0, dev 0", "P1@sg 0, wg 0, dev 0"), [(0, 1)]),
        (threads("P0@wg 0, dev 0, sg 3", "P1@dev 0, sg 3, wg 0"), [(0, 1)]),
        (threads("P0@sg 0, wg 0, dev 0", "P1@sg 1, wg 0, dev 0"), []),
        (threads("P0@sg 0, wg 0, dev 0", "P1@sg 0, wg 1, dev 0"), []),
        (threads("P0@sg 0, wg 0, dev 0", "P1@wg 0, dev 0"), []),
        ("kernel void k() { }\ngroups 1 threads 4 subgroups of 2", [(0, 1), (2, 3)]),
        ("kernel void k() { }\ngroups 2 threads 2 subgroups of 4", [(0, 1), (2, 3)]),
        ("kernel void k() { }\ngroups 2 threads 2 subgroups of 2 devices 2", [(0, 1), (2, 3)]),
        ("kernel void k() { }\ngroups 1 threads 3", []),
    ],
)
def test_who_shares_one(text: str, expected: list[tuple[int, int]]) -> None:
    assert together(text) == expected


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (threads("P0@sg 0, wg 0"), "a place must have a device, and this one has none"),
        (threads("P0@sg 0, dev 0"), "a place must have a work-group, and this one has none"),
        (threads("P0@sg 0, sg 1, wg 0, dev 0"), "a place must have one sub-group, not two"),
        (
            f"{FOUR}\nscopeTree (device (wg (sg (sg P0 P1)) P2 P3))",
            "a sub_group must hold threads, not another node",
        ),
        (
            f"{FOUR}\nscopeTree (device (wg (sg) P0 P1 P2 P3))",
            "a sub_group must hold threads, not nothing",
        ),
        (
            f"{FOUR}\nscopeTree (device (sg P0 P1 P2 P3))",
            "here must be a (work_group ...), not `sg`",
        ),
        (
            "kernel void k() { }\ngroups 1 threads 4 subgroups of 0",
            "a launch must have threads of a sub-group, not `0`",
        ),
    ],
)
def test_mistakes(text: str, message: str) -> None:
    with pytest.raises(InputError) as caught:
        read(text)
    assert message in [each.message for each in caught.value.problems]


def test_the_scope() -> None:
    load = "atomic_load_explicit(x, memory_order_acquire, memory_scope_sub_group);"
    (operation,) = read(f"P0@wg 0, dev 0 (global atomic_int* x) {{ {load} }}").operations
    assert operation.scope is Scope.SG
