"""The values of a program: 32-bit signed integers, expressions over values read, and domains."""

from rspverify.value.expression import (
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
    shifted,
    unary,
    wrap,
)

__all__ = [
    "Binary",
    "Constant",
    "Expression",
    "Read",
    "Select",
    "Unary",
    "binary",
    "conjunction",
    "constants",
    "evaluate",
    "reads",
    "select",
    "shifted",
    "unary",
    "wrap",
]
