"""Operands of one expression are not sequenced with each other (C11 §6.5 paragraph 3)."""

import pytest

from rspverify.litmus.program import Kind
from rspverify.litmus.reader import read_program
from rspverify.source import InputError, Source


def before(body: str) -> dict[int, set[int]]:
    """Of each operation of a thread, which earlier ones it is not sequenced after."""
    text = f"C t\n{{ }}\nP0 (atomic_int* x, int* y, int* z) {{ {body} }}\nexists (x=0)"
    return {it.index: set(it.unsequenced) for it in read_program(Source("t", text)).operations}


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("int r = *y + *z;", [{}, {0}]),
        ("int r = *y; int s = *z;", [{}, {}]),
        ("int r = *y == *z; *y = 1;", [{}, {0}, {}]),
        ("int r = (*y + *z) * *y;", [{}, {0}, {0, 1}]),
        ("int r = *y + (*z - *y);", [{}, {0}, {0, 1}]),
        ("int r = *y && *z;", [{}, {}]),
        ("int r = *y || *z;", [{}, {}]),
        ("int r = *y ? *z : *y;", [{}, {}, {}]),
        ("*y = *z;", [{}, {}]),
        ("int r = *y == (*y = 3);", [{}, {0}]),
        ("*z = atomic_fetch_add(x, 1) + *y;", [{}, {0}, {}]),
        ("int r = *y + atomic_compare_exchange_strong(x, z, 1);", [{}, {0}, {0}, {0}]),
    ],
)
def test_operands(body: str, expected: list[set[int]]) -> None:
    assert before(body) == {index: set(each) for index, each in enumerate(expected)}


def wide(levels: int) -> str:
    """A sum of 2 to the `levels` loads, as a balanced tree."""
    return f"({wide(levels - 1)} + {wide(levels - 1)})" if levels else "*y"


def test_an_expression_of_very_many_operations_is_not_supported() -> None:
    assert len(before(f"*z = {wide(9)};")) == 513
    with pytest.raises(InputError, match="more than 1,000 operations that are not") as caught:
        before(f"*z = {wide(12)};")
    assert len(caught.value.problems) == 1


def test_an_assignment_to_memory_has_the_value_that_it_stores() -> None:
    text = "C t\n{ }\nP0 (int* y, int* z) { *z = (*y = 3) + 1; }\nexists (z=4)"
    first, second = read_program(Source("t", text)).operations
    assert (first.kind, first.location, str(first.value)) == (Kind.STORE, "y", "Constant(value=3)")
    assert str(second.value) == "Constant(value=4)"
