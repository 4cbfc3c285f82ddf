"""Functions that the description of AMD's instructions calculates with (isa/sets/amdgpu.isa)."""

from __future__ import annotations

from collections.abc import Mapping

from rspverify.isa.execution import CannotReadError
from rspverify.isa.formula import Function
from rspverify.value import Constant, Expression, binary, select, unary, wrap

BITS = 32
LOWEST = Constant(wrap(1 << (BITS - 1)))


def unsigned(value: Expression) -> Expression:
    """A number whose place among signed ones is that of a value among unsigned ones."""
    return binary("^", value, LOWEST)


def shifted_right(value: Expression, places: Expression) -> Expression:
    """A value without its last places, as unsigned. Of the places the last five bits count."""
    kept = binary("-", binary("<<", Constant(1), binary("-", Constant(BITS), places)), Constant(1))
    logical = binary("&", binary(">>", value, places), kept)
    return select(binary("&", places, Constant(BITS - 1)), logical, value)


def low_bits(value: Expression, count: int | Expression) -> Expression:
    """The last bits of a value, as unsigned."""
    return binary("&", value, Constant(wrap((1 << _number(count)) - 1)))


def extended(value: Expression, count: int | Expression) -> Expression:
    """The last bits of a value, as signed."""
    places = Constant(BITS - _number(count))
    return binary(">>", binary("<<", value, places), places)


def _number(count: int | Expression) -> int:
    """A number that must be known."""
    if isinstance(count, int):
        return count
    if not isinstance(count, Constant):
        raise CannotReadError("calculates with a number that is not known")
    return count.value


def _smaller(left: Expression, right: Expression) -> Expression:
    return select(binary("<", left, right), left, right)


def _greater(left: Expression, right: Expression) -> Expression:
    return select(binary(">", left, right), left, right)


def _smaller_unsigned(left: Expression, right: Expression) -> Expression:
    return select(binary("<", unsigned(left), unsigned(right)), left, right)


def _greater_unsigned(left: Expression, right: Expression) -> Expression:
    return select(binary(">", unsigned(left), unsigned(right)), left, right)


def _field(value: Expression, first: Expression, count: Expression) -> Expression:
    """So many bits of a value, from one on, as unsigned."""
    wanted = binary("-", binary("<<", Constant(1), count), Constant(1))
    return binary("&", shifted_right(value, first), wanted)


def _signed_field(value: Expression, first: Expression, count: Expression) -> Expression:
    places = binary("-", Constant(BITS), count)
    found = binary(">>", binary("<<", binary(">>", value, first), places), places)
    return select(binary("&", count, Constant(BITS - 1)), found, Constant(0))


def _high(both: Expression) -> Expression:
    """How many bits a scalar field has: its operand tells from bit 16 on."""
    count = low_bits(binary(">>", both, Constant(16)), 7)
    if _number(count) >= BITS:
        raise CannotReadError("takes more bits than a register has")
    return count


def _aligned(high: Expression, low: Expression, places: Expression) -> Expression:
    above = binary("<<", high, binary("-", Constant(BITS), places))
    found = binary("|", shifted_right(low, places), above)
    return select(binary("&", places, Constant(BITS - 1)), found, low)


def _backwards(value: Expression) -> Expression:
    return Constant(wrap(int(f"{_number(value) % (1 << BITS):0{BITS}b}"[::-1], 2)))


def by_table(table: int, one: Expression, other: Expression, more: Expression) -> Expression:
    """What a table of eight bits says of each three bits; its highest is for three ones."""
    found: Expression = Constant(0)
    for at in range(8):
        bits = ((one, at & 4), (other, at & 2), (more, at & 1))
        term: Expression = Constant(-1 if table >> at & 1 else 0)
        for each in (it if bit else unary("~", it) for it, bit in bits):
            term = _joined("&", term, each)
        found = _joined("|", found, term)
    return found


def _joined(operator: str, one: Expression, other: Expression) -> Expression:
    """`&` or `|` of two values, without what makes no difference."""
    nothing, all_ = (Constant(-1), Constant(0)) if operator == "&" else (Constant(0), Constant(-1))
    if all_ in (one, other):
        return all_
    if nothing in (one, other):
        return other if one == nothing else one
    return binary(operator, one, other)


def carried(left: Expression, right: Expression, more: Expression) -> Expression:
    """Whether the sum of two numbers and of 0 or 1 is beyond 32 bits, as unsigned."""
    total = unsigned(binary("+", binary("+", left, right), more))
    return select(more, binary("<=", total, unsigned(left)), binary("<", total, unsigned(left)))


def borrowed(left: Expression, right: Expression, more: Expression) -> Expression:
    """Whether a number and 0 or 1 are together more than another, as unsigned."""
    first, second = unsigned(left), unsigned(right)
    return select(more, binary("<=", first, second), binary("<", first, second))


FUNCTIONS: Mapping[str, Function] = {
    "unsigned": unsigned,
    "shr": shifted_right,
    "low": low_bits,
    "signed": extended,
    "min": _smaller,
    "max": _greater,
    "umin": _smaller_unsigned,
    "umax": _greater_unsigned,
    "field": _field,
    "signed_field": _signed_field,
    "high": _high,
    "aligned": _aligned,
    "backwards": _backwards,
    "carried": carried,
    "borrowed": borrowed,
}
