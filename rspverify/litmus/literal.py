"""Integers as they are written, and their values of 32 bits."""

from __future__ import annotations

from collections.abc import Mapping

from rspverify.litmus.problems import Problems, quote
from rspverify.litmus.tree import Integer, Name
from rspverify.value import wrap

TRUTHS = {"true": 1, "false": 0}
"""The values of a bool as they are written."""


def number(integer: Integer, problems: Problems, *, wider: bool = False) -> int:
    """The value of an integer, which must fit into 32 bits; 0 if it does not.

    wider: whether the language has integers of more bits, which are not supported.
    """
    text = integer.text.lower()
    digits = text.lstrip("-").rstrip("ul")
    if digits != text.lstrip("-"):
        hint = f"write {quote(integer.text.rstrip('uUlL'))}: every value is a signed 32-bit integer"
        problems.unsupported(integer.span, "an integer with a suffix is not supported", hint)
    hexadecimal = digits.startswith("0x")
    if not hexadecimal and digits.startswith("0") and len(digits.lstrip("0")) > 1:
        message = f"an integer must be decimal or hexadecimal, not octal as {quote(integer.text)}"
        problems.error(integer.span, message)
        return 0
    if len(digits) <= 12:
        value = int(digits, 16 if hexadecimal else 10)
        if value < 2**32 and (not text.startswith("-") or value <= 2**31):
            return wrap(-value if text.startswith("-") else value)
    if wider:
        problems.unsupported(integer.span, "an integer of more than 32 bits is not supported")
        return 0
    message = f"an integer must fit into 32 bits, not be {quote(integer.text)}"
    problems.error(integer.span, message)
    return 0


def stated(
    value: Integer | Name, problems: Problems, addresses: Mapping[str, int] | None = None
) -> int:
    """The integer that an initial state or a final condition gives.

    addresses: the numbers that stand for those of locations; None: they are not supported.
    """
    if isinstance(value, Integer):
        return number(value, problems, wider=addresses is not None)
    if value.text in TRUTHS:
        return TRUTHS[value.text]
    if addresses is not None:
        if value.text not in addresses:
            message = f"a value must be an integer or a location, not {quote(value.text)}"
            problems.error(value.span, message, problems.suggestion(value.text, addresses))
        return addresses.get(value.text, 0)
    message = f"a value must be an integer, and the address {quote(value.text)} is not supported"
    problems.unsupported(value.span, message)
    return 0
