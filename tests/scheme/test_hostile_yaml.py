"""No text gets more out of the reader than problems, and none takes it long."""

import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rspverify.scheme.reader import read_scheme
from rspverify.scheme.scheme import Scheme
from rspverify.source import InputError, Source

GOOD = """\
name: s
machine: rsp
rows:
  - {op: load,  scope: [na, wg],          code: [LD r x]}
  - {op: store, scope: dv, order: release, code: [FLU_L1 WG, "ST r x"]}
  - op: rmw
    scope: dv
    remote: true
    code: [LK_rmw DV, INC_L2 r x n, UL_rmw DV]
"""

BOMB = "a0: &a0 [lol, lol]\n" + "".join(
    f"a{i}: &a{i} [{', '.join([f'*a{i - 1}'] * 10)}]\n" for i in range(1, 60)
)


def read(text: str) -> Scheme | InputError:
    try:
        return read_scheme(Source("fuzz.yaml", text))
    except InputError as error:
        assert error.problems
        str(error).encode()  # can be printed
        for problem in error.problems:
            assert problem.span is not None
            assert problem.span.line >= 1 and problem.span.column >= 1
        return error


MARKS = [*"\"':,-?&*!|>%@`#{}[]~", "---", "...", "<<", "&a", "*a", "!!", "\\U", "\\x", '"\\ud800"']
BREAKS = ["\n  - ", "\n", "\t", "\r", ": ", "%YAML 1.1", "\x85", "\u2028", "\ufeff", "\x00"]
PIECES = st.sampled_from([*GOOD.split(" "), *MARKS, *BREAKS])


@settings(max_examples=150)
@given(st.text() | st.lists(PIECES, max_size=30).map("".join) | st.lists(PIECES).map(" ".join))
def test_any_text_is_a_scheme_or_an_input_error(text):
    read(text)


@settings(max_examples=150)
@given(st.integers(0, len(GOOD)), st.integers(0, 12), PIECES | st.text(max_size=3))
def test_a_scheme_with_a_piece_replaced_is_a_scheme_or_an_input_error(at, length, piece):
    read(GOOD[:at] + piece + GOOD[at + length :])


def test_a_yaml_bomb_is_refused_without_being_expanded():
    start = time.perf_counter()
    error = read(BOMB)
    assert time.perf_counter() - start < 2
    assert isinstance(error, InputError)
    first, second, third = error.problems[:3]
    assert (first.message, str(first.span)) == (
        "text must be written out, not named by an anchor",
        "fuzz.yaml:1:5",
    )
    assert (second.message, str(second.span)) == (
        "text must be written out, not named by an anchor",
        "fuzz.yaml:2:5",
    )
    assert (third.message, str(third.span)) == (
        "text must be written out, not repeated by an alias",
        "fuzz.yaml:2:10",
    )


@pytest.mark.parametrize(
    "text",
    [
        *("[" * 90_000, "{" * 90_000, "- " * 45_000, "? " * 45_000, "a: [" * 20_000),
        "".join(" " * depth + "a:\n" for depth in range(300)),
    ],
)
def test_deep_nesting_is_refused_without_a_recursion_error(text):
    error = read(text)
    assert isinstance(error, InputError)
    assert error.problems[0].message == "nesting must be at most 10 deep, not deeper"


@pytest.mark.parametrize("text", ["\ufeff" + GOOD, GOOD.replace("\n", "\r"), GOOD.rstrip("\n")])
def test_line_ends_and_a_byte_order_mark_do_not_matter(text):
    assert isinstance(read(text), Scheme)
