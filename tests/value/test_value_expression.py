"""Expressions: C's operators on 32-bit integers that wrap, and constructors that fold."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rspverify.value import (
    BINARY,
    UNARY,
    Binary,
    Constant,
    Expression,
    Read,
    Select,
    Unary,
    binary,
    conjunction,
    constants,
    evaluate,
    reads,
    select,
    unary,
    wrap,
)

LEAST, GREATEST = -(2**31), 2**31 - 1
INTERESTING = st.sampled_from([LEAST, LEAST + 1, -33, -1, 0, 1, 2, 31, 32, 33, GREATEST])
INTEGERS = INTERESTING | st.integers(LEAST, GREATEST)
READS = (0, 1, 2)


def combined(inside: st.SearchStrategy[Expression]) -> st.SearchStrategy[Expression]:
    return (
        st.builds(Unary, st.sampled_from(sorted(UNARY)), inside)
        | st.builds(Binary, st.sampled_from(sorted(BINARY)), inside, inside)
        | st.builds(Select, inside, inside, inside)
    )


EXPRESSIONS = st.recursive(
    st.builds(Constant, INTEGERS) | st.builds(Read, st.sampled_from(READS)), combined, max_leaves=8
)
VALUES = st.fixed_dictionaries(dict.fromkeys(READS, INTEGERS))


@pytest.mark.parametrize(
    ("integer", "wrapped"),
    [
        (0, 0),
        (GREATEST, GREATEST),
        (GREATEST + 1, LEAST),
        (LEAST, LEAST),
        (LEAST - 1, GREATEST),
        (2**32, 0),
        (2**32 - 1, -1),
        (-(2**32) - 5, -5),
        (3 * 2**32 + 7, 7),
        (2**64 + 2**31, LEAST),
    ],
)
def test_wrap(integer: int, wrapped: int) -> None:
    assert wrap(integer) == wrapped


@given(st.integers())
def test_wrap_keeps_the_class_modulo_2_to_the_32(integer: int) -> None:
    assert LEAST <= wrap(integer) <= GREATEST
    assert (wrap(integer) - integer) % 2**32 == 0


@pytest.mark.parametrize(
    ("operator", "left", "right", "value"),
    [
        ("+", GREATEST, 1, LEAST),
        ("+", 2, 3, 5),
        ("-", LEAST, 1, GREATEST),
        ("-", 2, 3, -1),
        ("*", 2**16, 2**16, 0),
        ("*", 2**16, 2**15, LEAST),
        ("*", LEAST, -1, LEAST),
        ("*", -3, 5, -15),
        ("&", -1, 12, 12),
        ("&", 12, 10, 8),
        ("|", 12, 10, 14),
        ("|", LEAST, 1, LEAST + 1),
        ("^", 12, 10, 6),
        ("^", -1, 0, -1),
        ("<<", 1, 31, LEAST),
        ("<<", 3, 31, LEAST),
        ("<<", 1, 32, 1),
        ("<<", 1, 33, 2),
        ("<<", 1, -1, LEAST),
        (">>", -8, 1, -4),
        (">>", 8, 2, 2),
        (">>", 8, 34, 2),
        (">>", -1, 31, -1),
        ("==", 3, 3, 1),
        ("==", 3, 4, 0),
        ("!=", 3, 3, 0),
        ("!=", 3, 4, 1),
        ("<", -1, 0, 1),
        ("<", 0, 0, 0),
        ("<=", 0, 0, 1),
        ("<=", 1, 0, 0),
        (">", LEAST, GREATEST, 0),
        (">", 1, 0, 1),
        (">=", 0, 0, 1),
        (">=", -1, 0, 0),
        ("&&", 2, -1, 1),
        ("&&", 2, 0, 0),
        ("&&", 0, 2, 0),
        ("||", 0, 0, 0),
        ("||", 0, 7, 1),
        ("||", 7, 0, 1),
    ],
)
def test_binary_operators(operator: str, left: int, right: int, value: int) -> None:
    written = Binary(operator, Constant(left), Constant(right))
    assert evaluate(written, {}) == value
    assert binary(operator, Constant(left), Constant(right)) == Constant(value)
    assert evaluate(Binary(operator, Read(0), Read(1)), {0: left, 1: right}) == value


def test_every_binary_operator_has_a_known_answer_above() -> None:
    (mark,) = test_binary_operators.pytestmark
    assert {row[0] for row in mark.args[1]} == set(BINARY)


@pytest.mark.parametrize(
    ("operator", "argument", "value"),
    [
        ("-", 5, -5),
        ("-", LEAST, LEAST),
        ("~", 0, -1),
        ("~", LEAST, GREATEST),
        ("!", 0, 1),
        ("!", -3, 0),
    ],
)
def test_unary_operators(operator: str, argument: int, value: int) -> None:
    assert evaluate(Unary(operator, Read(4)), {4: argument}) == value
    assert unary(operator, Constant(argument)) == Constant(value)


@given(EXPRESSIONS, VALUES)
def test_every_value_is_a_32_bit_integer(expression: Expression, values: dict[int, int]) -> None:
    assert LEAST <= evaluate(expression, values) <= GREATEST


def test_operands_that_do_not_matter_are_not_looked_at() -> None:
    missing, zero, one = Read(9), Constant(0), Constant(1)
    assert evaluate(Binary("&&", zero, missing), {}) == 0
    assert evaluate(Binary("||", Constant(-4), missing), {}) == 1
    assert evaluate(Select(one, Constant(5), missing), {}) == 5
    assert evaluate(Select(zero, missing, Constant(6)), {}) == 6


@pytest.mark.parametrize(
    "expression",
    [
        Read(9),
        Binary("&&", Constant(1), Read(9)),
        Binary("||", Constant(0), Read(9)),
        Binary("*", Constant(0), Read(9)),
        Select(Read(9), Constant(0), Constant(0)),
    ],
)
def test_operands_that_matter_must_be_there(expression: Expression) -> None:
    with pytest.raises(KeyError, match=r"^9$"):
        evaluate(expression, {})


def test_reads_and_constants() -> None:
    expression = Select(
        Binary("==", Read(1), Constant(4)),
        Unary("-", Read(2)),
        Binary("+", Read(1), Constant(-7)),
    )
    assert reads(expression) == {1, 2}
    assert constants(expression) == {4, -7}
    assert reads(Constant(3)) == frozenset()
    assert constants(Read(3)) == frozenset()


@given(EXPRESSIONS, VALUES)
def test_only_the_reads_of_an_expression_matter(
    expression: Expression, values: dict[int, int]
) -> None:
    mentioned = {index: values[index] for index in reads(expression)}
    assert evaluate(expression, mentioned) == evaluate(expression, values)


# ---- folding -------------------------------------------------------------------------------------


def folded(expression: Expression) -> Expression:
    """The expression, built anew with the constructors that fold."""
    match expression:
        case Unary(name, argument):
            return unary(name, folded(argument))
        case Binary(name, left, right):
            return binary(name, folded(left), folded(right))
        case Select(condition, then, otherwise):
            return select(folded(condition), folded(then), folded(otherwise))
    return expression


@given(EXPRESSIONS, VALUES)
def test_folding_keeps_the_value(expression: Expression, values: dict[int, int]) -> None:
    assert evaluate(folded(expression), values) == evaluate(expression, values)


@given(EXPRESSIONS)
def test_what_has_no_read_folds_to_a_constant(expression: Expression) -> None:
    if not reads(expression):
        assert isinstance(folded(expression), Constant)


def test_what_folds_and_what_does_not() -> None:
    zero, one, two, read = Constant(0), Constant(1), Constant(2), Read(0)
    assert binary("&&", zero, read) == zero
    assert binary("||", two, read) == one
    assert binary("&&", two, read) == Binary("&&", two, read)
    assert binary("||", zero, read) == Binary("||", zero, read)
    assert binary("&&", read, zero) == Binary("&&", read, zero)
    assert binary("+", one, two) == Constant(3)
    assert binary("+", zero, read) == Binary("+", zero, read)
    assert unary("!", read) == Unary("!", read)
    assert select(two, read, one) == read
    assert select(zero, read, one) == one
    assert select(read, two, two) == two
    assert select(read, one, two) == Select(read, one, two)


def test_conjunction_leaves_out_what_is_always_true() -> None:
    zero, two, read, other = Constant(0), Constant(2), Read(0), Read(1)
    assert conjunction(two, read) == read
    assert conjunction(read, two) == read
    assert conjunction(zero, read) == zero
    assert conjunction(read, zero) == zero
    assert conjunction(two, two) == two
    assert conjunction(read, other) == Binary("&&", read, other)


@given(EXPRESSIONS, EXPRESSIONS, VALUES)
def test_conjunction_is_true_where_both_are(
    left: Expression, right: Expression, values: dict[int, int]
) -> None:
    both = bool(evaluate(left, values)) and bool(evaluate(right, values))
    assert bool(evaluate(conjunction(left, right), values)) == both
