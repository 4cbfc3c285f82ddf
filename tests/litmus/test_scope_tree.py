"""Which threads are in one sub-group, by scope trees, headers and launches."""

import pytest

from rspverify.litmus.program import Program, one_subgroup
from rspverify.litmus.reader import read_program
from rspverify.source import Source


def threads(*names: str) -> str:
    return "\n".join(f"{name} () {{ }}" for name in names)


def read(text: str) -> Program:
    return read_program(Source("t", f"OPENCL t\n{{}}\n{text}"))


def places(text: str) -> list[tuple[int, int]]:
    return [(thread.device, thread.workgroup) for thread in read(text).threads]


THREE = threads("P0", "P1", "P2")


def test_a_scope_tree_may_stand_before_the_threads() -> None:
    tree = "scopeTree (device (work_group P0) (work_group P1 P2))"
    assert places(f"{tree}\n{THREE}") == places(f"{THREE}\n{tree}\nexists true")


# ---- sub-groups ----------------------------------------------------------------------------------


def together(text: str) -> list[tuple[int, int]]:
    """The pairs of threads that share a sub-group."""
    threads = read(text).threads
    return [
        (a.index, b.index)
        for a in threads
        for b in threads
        if a.index < b.index and one_subgroup(a, b)
    ]


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
