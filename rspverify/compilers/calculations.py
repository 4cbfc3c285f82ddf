"""What AMD's instructions calculate with numbers of 32 bits: a line for each (AMD's ISA documents).

What is not here cannot be read.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from rspverify.value import Constant, Expression, binary, select, unary, wrap

BITS = 32
LOWEST = Constant(wrap(1 << (BITS - 1)))

Calculation = Callable[..., Expression]


def unsigned(value: Expression) -> Expression:
    """A number whose place among signed ones is that of a value among unsigned ones."""
    return binary("^", value, LOWEST)


def shifted_right(value: Expression, places: Expression) -> Expression:
    """A value without its last places, as unsigned. Of the places the last five bits count."""
    kept = binary("-", binary("<<", Constant(1), binary("-", Constant(BITS), places)), Constant(1))
    logical = binary("&", binary(">>", value, places), kept)
    return select(binary("&", places, Constant(BITS - 1)), logical, value)


def low_bits(value: Expression, count: int) -> Expression:
    """The last bits of a value, as unsigned."""
    return binary("&", value, Constant(wrap((1 << count) - 1)))


def extended(value: Expression, count: int) -> Expression:
    """The last bits of a value, as signed."""
    places = Constant(BITS - count)
    return binary(">>", binary("<<", value, places), places)


def _of(name: str) -> Calculation:
    return lambda left, right: binary(name, left, right)


def _reversed(name: str) -> Calculation:
    return lambda left, right: binary(name, right, left)


def _negated(name: str) -> Calculation:
    return lambda left, right: unary("~", binary(name, left, right))


def _last(operator: str, first: Calculation) -> Calculation:
    """What a calculation with two operands gives, joined with a third."""
    return lambda one, other, more: binary(operator, first(one, other), more)


def _smaller(left: Expression, right: Expression) -> Expression:
    return select(binary("<", left, right), left, right)


def _greater(left: Expression, right: Expression) -> Expression:
    return select(binary(">", left, right), left, right)


def _as_unsigned(calculation: Calculation) -> Calculation:
    """The same of operands as unsigned."""
    return lambda *operands: unsigned(calculation(*map(unsigned, operands)))


def _middle(one: Expression, other: Expression, more: Expression) -> Expression:
    return _greater(_smaller(one, other), _smaller(_greater(one, other), more))


def _product_24(left: Expression, right: Expression) -> Expression:
    return binary("*", extended(left, 24), extended(right, 24))


def _product_u24(left: Expression, right: Expression) -> Expression:
    return binary("*", low_bits(left, 24), low_bits(right, 24))


def _field(value: Expression, first: Expression, count: Expression) -> Expression:
    """So many bits of a value, from one on, as unsigned."""
    wanted = binary("-", binary("<<", Constant(1), count), Constant(1))
    return binary("&", shifted_right(value, first), wanted)


def _signed_field(value: Expression, first: Expression, count: Expression) -> Expression:
    places = binary("-", Constant(BITS), count)
    found = binary(">>", binary("<<", binary(">>", value, first), places), places)
    return select(binary("&", count, Constant(BITS - 1)), found, Constant(0))


def _packed(field: Calculation) -> Calculation:
    """Of a scalar field one operand has the first bit, and from bit 16 on how many there are."""

    def taken(value: Expression, both: Expression) -> Expression:
        count = binary("&", binary(">>", both, Constant(16)), Constant(0x7F))
        if not isinstance(count, Constant) or count.value >= BITS:
            raise TypeError
        return field(value, both, count)

    return taken


def _chosen(mask: Expression, then: Expression, otherwise: Expression) -> Expression:
    return binary("|", binary("&", mask, then), binary("&", unary("~", mask), otherwise))


def _aligned(high: Expression, low: Expression, places: Expression) -> Expression:
    above = binary("<<", high, binary("-", Constant(BITS), places))
    found = binary("|", shifted_right(low, places), above)
    return select(binary("&", places, Constant(BITS - 1)), found, low)


def _backwards(value: Expression) -> Expression:
    if not isinstance(value, Constant):
        raise TypeError
    return Constant(wrap(int(f"{value.value % (1 << BITS):0{BITS}b}"[::-1], 2)))


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
    total = unsigned(_sum(left, right, more))
    return select(more, binary("<=", total, unsigned(left)), binary("<", total, unsigned(left)))


def borrowed(left: Expression, right: Expression, more: Expression) -> Expression:
    """Whether a number and 0 or 1 are together more than another, as unsigned."""
    first, second = unsigned(left), unsigned(right)
    return select(more, binary("<=", first, second), binary("<", first, second))


def _sum(*parts: Expression) -> Expression:
    first, *rest = parts
    for each in rest:
        first = binary("+", first, each)
    return first


VECTOR: Mapping[str, Calculation] = {
    "v_mov_b32": lambda value: value,
    "v_add_u32": _of("+"),
    "v_add_nc_u32": _of("+"),
    "v_sub_u32": _of("-"),
    "v_sub_nc_u32": _of("-"),
    "v_subrev_u32": _reversed("-"),
    "v_subrev_nc_u32": _reversed("-"),
    "v_mul_lo_u32": _of("*"),
    "v_mul_i32_i24": _product_24,
    "v_mul_u32_u24": _product_u24,
    "v_mad_u32": _last("+", _of("*")),
    "v_mad_i32_i24": _last("+", _product_24),
    "v_mad_u32_u24": _last("+", _product_u24),
    "v_and_b32": _of("&"),
    "v_or_b32": _of("|"),
    "v_xor_b32": _of("^"),
    "v_xnor_b32": _negated("^"),
    "v_not_b32": lambda value: unary("~", value),
    "v_lshlrev_b32": _reversed("<<"),
    "v_ashrrev_i32": _reversed(">>"),
    "v_lshrrev_b32": lambda places, value: shifted_right(value, places),
    "v_bfe_u32": _field,
    "v_bfe_i32": _signed_field,
    "v_bfi_b32": _chosen,
    "v_bfrev_b32": _backwards,
    "v_alignbit_b32": _aligned,
    "v_min_i32": _smaller,
    "v_max_i32": _greater,
    "v_min_u32": _as_unsigned(_smaller),
    "v_max_u32": _as_unsigned(_greater),
    "v_min3_i32": lambda one, other, more: _smaller(_smaller(one, other), more),
    "v_max3_i32": lambda one, other, more: _greater(_greater(one, other), more),
    "v_med3_i32": _middle,
    "v_minmax_i32": lambda one, other, more: _greater(_smaller(one, other), more),
    "v_maxmin_i32": lambda one, other, more: _smaller(_greater(one, other), more),
    "v_add3_u32": _sum,
    "v_lshl_add_u32": _last("+", _of("<<")),
    "v_lshl_or_b32": _last("|", _of("<<")),
    "v_add_lshl_u32": lambda one, other, places: binary("<<", _sum(one, other), places),
    "v_and_or_b32": _last("|", _of("&")),
    "v_or3_b32": _last("|", _of("|")),
    "v_xor3_b32": _last("^", _of("^")),
    "v_xad_u32": _last("+", _of("^")),
}
"""Vector instructions: a register, then what their results are made of."""

SHORT: Mapping[str, Calculation] = {
    "v_mov_b16": lambda value: value,
    "v_and_b16": _of("&"),
    "v_or_b16": _of("|"),
    "v_xor_b16": _of("^"),
    "v_not_b16": lambda value: unary("~", value),
    "v_add_nc_u16": _of("+"),
    "v_sub_nc_u16": _of("-"),
    "v_mul_lo_u16": _of("*"),
    "v_lshlrev_b16": lambda places, value: binary("<<", value, low_bits(places, 4)),
}
"""Vector instructions whose result is half of a register: the last 16 bits of what is here."""

CARRYING: Mapping[str, tuple[Calculation, Calculation, bool]] = {
    "v_add_co_u32": (_of("+"), carried, False),
    "v_addc_co_u32": (_of("+"), carried, False),
    "v_add_co_ci_u32": (_of("+"), carried, False),
    "v_sub_co_u32": (_of("-"), borrowed, False),
    "v_subb_co_u32": (_of("-"), borrowed, False),
    "v_sub_co_ci_u32": (_of("-"), borrowed, False),
    "v_subrev_co_u32": (_of("-"), borrowed, True),
    "v_subbrev_co_u32": (_of("-"), borrowed, True),
    "v_subrev_co_ci_u32": (_of("-"), borrowed, True),
}
"""Sums and differences that tell, in a mask, what does not fit, and may take such a mask: what they
make of two operands and of it, when it does not fit, and whether the second operand is first."""


def _not_0(result: Expression, *_: Expression) -> Expression:
    return binary("!=", result, Constant(0))


def _carry(calculation: Calculation) -> Calculation:
    return lambda _, left, right: calculation(left, right, Constant(0))


SCALAR: Mapping[str, tuple[Calculation, Calculation | None]] = {
    "s_add_i32": (_of("+"), None),
    "s_add_u32": (_of("+"), _carry(carried)),
    "s_add_co_i32": (_of("+"), None),
    "s_add_co_u32": (_of("+"), _carry(carried)),
    "s_sub_i32": (_of("-"), None),
    "s_sub_u32": (_of("-"), _carry(borrowed)),
    "s_sub_co_i32": (_of("-"), None),
    "s_sub_co_u32": (_of("-"), _carry(borrowed)),
    "s_lshl_b32": (_of("<<"), _not_0),
    "s_lshr_b32": (shifted_right, _not_0),
    "s_ashr_i32": (_of(">>"), _not_0),
    "s_bfe_u32": (_packed(_field), _not_0),
    "s_bfe_i32": (_packed(_signed_field), _not_0),
    "s_nand_b32": (_negated("&"), _not_0),
    "s_nor_b32": (_negated("|"), _not_0),
    "s_xnor_b32": (_negated("^"), _not_0),
    "s_min_i32": (_smaller, None),
    "s_max_i32": (_greater, None),
}
"""Scalar instructions of two operands: what they make of them, and what of the result and of both
becomes scc, where that is known."""

UNTOLD: Mapping[str, Calculation] = {
    "s_mul_i32": _of("*"),
    "s_bfm_b32": lambda count, first: binary(
        "<<", binary("-", binary("<<", Constant(1), count), Constant(1)), first
    ),
    "s_brev_b32": _backwards,
}
"""Scalar instructions that leave scc as it is."""
