"""Where threads run: scope trees and headers, and the mistakes that can be made in them."""

import re

import pytest

from rspverify.litmus.reader import read_program
from rspverify.source import InputError, Source


def threads(*names: str) -> str:
    return "\n".join(f"{name} () {{ }}" for name in names)


def places(text: str) -> list[tuple[int, int]]:
    program = read_program(Source("t", f"OPENCL t\n{{}}\n{text}"))
    return [(thread.device, thread.workgroup) for thread in program.threads]


def problems(text: str) -> list[str]:
    with pytest.raises(InputError) as caught:
        places(text)
    return [f"{each.span}: {each.message}" for each in caught.value.problems]


THREE = threads("P0", "P1", "P2")


@pytest.mark.parametrize(
    ("tree", "expected"),
    [
        ("(device (work_group P0 P1) (work_group P2))", [(0, 0), (0, 0), (0, 1)]),
        ("(device (work_group P2) (work_group P0 P1))", [(0, 1), (0, 1), (0, 0)]),
        ("(device (work_group P0)) (device (work_group P1) (wg P2))", [(0, 0), (1, 0), (1, 1)]),
        ("(system (device (work_group P0 P2)) (dev (cta P1)))", [(0, 0), (1, 0), (0, 0)]),
        ("(all_svm_devices (agent (workgroup P0 P1 P2)))", [(0, 0), (0, 0), (0, 0)]),
        ("(sy (dv (wg P0) (wg P1) (wg P2)))", [(0, 0), (0, 1), (0, 2)]),
    ],
)
def test_scope_trees(tree: str, expected: list[tuple[int, int]]) -> None:
    assert places(f"{THREE}\nscopeTree {tree}") == expected


def test_a_scope_tree_may_stand_before_the_threads() -> None:
    tree = "scopeTree (device (work_group P0) (work_group P1 P2))"
    assert places(f"{tree}\n{THREE}") == places(f"{THREE}\n{tree}\nexists true")


@pytest.mark.parametrize(
    ("headers", "expected"),
    [
        (("wg 0, dev 0", "wg 1, dev 0"), [(0, 0), (0, 1)]),
        (("dev 1, wg 0", "wg 0, dev 0"), [(1, 0), (0, 0)]),
        (("wg 7, dev 5", "wg 3, dev 9"), [(0, 0), (1, 0)]),
        (("wg 7, dev 5", "wg 3, dev 5"), [(0, 1), (0, 0)]),
    ],
)
def test_headers(headers: tuple[str, ...], expected: list[tuple[int, int]]) -> None:
    assert places(threads(*(f"P{i}@{each}" for i, each in enumerate(headers)))) == expected


def test_threads_need_a_place() -> None:
    with pytest.raises(InputError) as caught:
        places(THREE)
    (problem,) = caught.value.problems
    assert problem.message == "threads must be placed in work-groups and devices, and they are not"
    assert problem.hint is not None
    for form in ("scopeTree (device (work_group P0 P1) (work_group P2))", "P0@wg 0, dev 0"):
        assert form in problem.hint


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            f"{THREE}\nscopeTree (device (work_group P0 P2))",
            r"t:6:1: the scope tree must place every thread, and P1 is missing",
        ),
        (
            f"{THREE}\nscopeTree (device (work_group P0 P1) (work_group P1 P2))",
            r"t:6:50: P1 must be in one work-group, not in two",
        ),
        (
            f"{THREE}\nscopeTree (device (work_group P0 P1 P1 P2))",
            r"t:6:37: P1 must be named once in its work-group, not twice",
        ),
        (
            f"{THREE}\nscopeTree (device (work_group P0 P1 P2 P3))",
            r"t:6:40: the scope tree must place threads of the test, not `P3`",
        ),
        (
            f"{THREE}\nscopeTree (devise (work_group P0 P1 P2))",
            r"t:6:12: here must be a \(device \.\.\.\), not `devise`",
        ),
        (
            f"{THREE}\nscopeTree (device P0 (work_group P1 P2))",
            r"t:6:19: `device` must hold a \(work_group \.\.\.\), not a thread",
        ),
        (
            f"{THREE}\nscopeTree (device (work_group P0 P1 P2) (work_group))",
            r"t:6:41: a work_group must hold threads, not nothing",
        ),
        (
            f"{THREE}\nscopeTree (device (work_group P0 P1 (wg P2)))",
            r"t:6:38: a work_group must hold threads, not another node",
        ),
        (
            f"{THREE}\nscopeTree (device (wg P0 P1 P2)) (system (device))",
            r"t:6:35: here must be a \(device \.\.\.\), not `system`",
        ),
        (
            f"{THREE}\nscopeTree (device (wg P0 P1 P2)) scopeTree (device)",
            r"t:6:34: a test must have one scopeTree, not several",
        ),
        (
            "P0@wg 0, dev 0 () {}\nscopeTree (device (work_group P0))",
            r"t:4:1: threads must be placed by scopeTree or by `@wg 0, dev 0`, not by both",
        ),
        (
            "P0@wg 0, dev 0 () {}\nP1 () {}",
            r"t:4:1: P1 must have its place after its name, as P0 has",
        ),
        (
            "P0@wg 0, group 0 () {}",
            r"t:3:10: a place must be given by `wg` and `dev`, not `group`",
        ),
        ("P0@wg 0, wg 0 () {}", r"t:3:10: a place must have one work-group, not two"),
    ],
)
def test_mistakes(text: str, expected: str) -> None:
    (problem,) = problems(text)
    assert re.match(f"^{expected}$", problem)


def test_a_thread_in_two_workgroups_names_both_places() -> None:
    with pytest.raises(InputError) as caught:
        places(f"{THREE}\nscopeTree (device (work_group P0 P1) (work_group P1 P2))")
    ((span, words),) = caught.value.problems[0].related
    assert (str(span), words) == ("t:6:34", "it is placed here first")
