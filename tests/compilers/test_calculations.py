"""What instructions calculate, held to their definitions in AMD's ISA documents over unsigned numbers."""

from __future__ import annotations

from collections.abc import Callable
from random import Random

import pytest
from compilers.test_threads import refused, value

from rspverify.value import evaluate

ALL = (1 << 32) - 1
EDGES = (0, 1, 2, 31, 32, 33, 0x7FFF, 0x8000, 0xFFFF, 0x10000, 0x7FFFFFFF, 0x80000000, ALL)
RANDOM = Random(1)
PAIRS = [(a, b) for a in EDGES for b in EDGES]
PAIRS += [(RANDOM.getrandbits(32), RANDOM.getrandbits(32)) for _ in range(60)]


def signed(number: int, size: int = 32) -> int:
    number &= (1 << size) - 1
    return number - ((number >> (size - 1)) << size)


CALCULATIONS: dict[str, Callable[[int, int], int]] = {
    "v_add_u32_e32 v9, v5, v6": lambda a, b: a + b,
    "v_sub_u32_e32 v9, v5, v6": lambda a, b: a - b,
    "v_subrev_u32_e32 v9, v5, v6": lambda a, b: b - a,
    "v_mul_lo_u32 v9, v5, v6": lambda a, b: a * b,
    "v_and_b32_e32 v9, v5, v6": lambda a, b: a & b,
    "v_or_b32_e32 v9, v5, v6": lambda a, b: a | b,
    "v_xor_b32_e32 v9, v5, v6": lambda a, b: a ^ b,
    "v_not_b32_e32 v9, v5": lambda a, b: ~a,
    "v_lshlrev_b32_e32 v9, v6, v5": lambda a, b: a << (b & 31),
    "v_ashrrev_i32_e32 v9, v6, v5": lambda a, b: signed(a) >> (b & 31),
    "v_min_i32_e32 v9, v5, v6": lambda a, b: min(signed(a), signed(b)),
    "v_max_i32_e32 v9, v5, v6": lambda a, b: max(signed(a), signed(b)),
    "v_add3_u32 v9, v5, v6, 4": lambda a, b: a + b + 4,
    "v_lshl_add_u32 v9, v5, 2, v6": lambda a, b: (a << 2) + b,
    "v_lshl_or_b32 v9, v5, 2, v6": lambda a, b: (a << 2) | b,
    "v_add_lshl_u32 v9, v5, v6, 1": lambda a, b: (a + b) << 1,
    "v_and_or_b32 v9, v5, 5, v6": lambda a, b: (a & 5) | b,
    "v_or3_b32 v9, v5, v6, 8": lambda a, b: a | b | 8,
    "v_xad_u32 v9, v5, v6, -1": lambda a, b: (a ^ b) - 1,
    "v_lshrrev_b32_e32 v9, v6, v5": lambda a, b: a >> (b & 31),
    "v_lshrrev_b32_e32 v9, 3, v5": lambda a, b: a >> 3,
    "v_lshrrev_b32_e32 v9, 0, v5": lambda a, b: a,
    "v_bfe_u32 v9, v5, v6, 7": lambda a, b: (a >> (b & 31)) & 0x7F,
    "v_bfe_u32 v9, v5, 3, v6": lambda a, b: (a >> 3) & ((1 << (b & 31)) - 1),
    "v_bfe_i32 v9, v5, 4, 8": lambda a, b: signed(a >> 4, 8),
    "v_bfe_i32 v9, v5, 28, 8": lambda a, b: signed(a) >> 28,
    "v_bfe_i32 v9, v5, 4, 0": lambda a, b: 0,
    "v_bfi_b32 v9, v5, v6, 9": lambda a, b: (a & b) | (~a & 9),
    "v_alignbit_b32 v9, v5, v6, 5": lambda a, b: (a << 32 | b) >> 5,
    "v_alignbit_b32 v9, 7, v5, v6": lambda a, b: (7 << 32 | a) >> (b & 31),
    "v_mul_u32_u24_e32 v9, v5, v6": lambda a, b: (a & 0xFFFFFF) * (b & 0xFFFFFF),
    "v_mul_i32_i24_e32 v9, v5, v6": lambda a, b: signed(a, 24) * signed(b, 24),
    "v_mad_u32_u24 v9, v5, v6, 7": lambda a, b: (a & 0xFFFFFF) * (b & 0xFFFFFF) + 7,
    "v_mad_u64_u32 v[9:10], s[2:3], v5, v6, 7": lambda a, b: a * b + 7,
    "v_xnor_b32_e32 v9, v5, v6": lambda a, b: ~(a ^ b),
    "v_xor3_b32 v9, v5, v6, 8": lambda a, b: a ^ b ^ 8,
    "v_min_u32_e32 v9, v5, v6": min,
    "v_max_u32_e32 v9, v5, v6": max,
    "v_min3_i32 v9, v5, v6, 2": lambda a, b: min(signed(a), signed(b), 2),
    "v_max3_i32 v9, v5, v6, 2": lambda a, b: max(signed(a), signed(b), 2),
    "v_med3_i32 v9, v5, v6, 2": lambda a, b: sorted((signed(a), signed(b), 2))[1],
    "v_minmax_i32 v9, v5, v6, 2": lambda a, b: max(min(signed(a), signed(b)), 2),
    "v_maxmin_i32 v9, v5, v6, 2": lambda a, b: min(max(signed(a), signed(b)), 2),
    "v_bfrev_b32_e32 v9, 6": lambda a, b: 0x60000000,
    "v_and_b32_e32 v9, 2.0, v5": lambda a, b: a & 0x40000000,
    "v_mov_b32_e32 v9, -0.5": lambda a, b: 0xBF000000,
    "v_bitop3_b32 v9, v5, v6, 12 bitop3:0x78": lambda a, b: a ^ (b & 12),
    "v_bitop3_b32 v9, v5, v6, v5 bitop3:0x3f": lambda a, b: ~(a & b),
    "v_bitop3_b32 v9, v5, v6, 12 bitop3:0xca": lambda a, b: (a & b) | (~a & 12),
    "v_dual_bitop2_b32 v9, v5, v6 bitop3:0x14": lambda a, b: a ^ b,
    "v_dual_bitop2_b32 v9, v5, v6 bitop3:0x40": lambda a, b: a & b,
    "v_dual_bitop2_b32 v9, v5, v6 bitop3:0x54": lambda a, b: a | b,
    "v_mov_b32_sdwa v9, v5 dst_sel:DWORD dst_unused:UNUSED_PAD src0_sel:WORD_1": (
        lambda a, b: a >> 16
    ),
    "v_sub_u32_sdwa v9, v5, v6 src0_sel:WORD_1 src1_sel:BYTE_2": (
        lambda a, b: (a >> 16) - (b >> 16 & 0xFF)
    ),
    "v_sub_u32_sdwa v9, v5, sext(v6) dst_sel:DWORD dst_unused:UNUSED_PAD src1_sel:WORD_0": (
        lambda a, b: a - signed(b, 16)
    ),
    "v_add_u32_sdwa v9, v5, v6 dst_sel:BYTE_1 dst_unused:UNUSED_PAD": (
        lambda a, b: (a + b & 0xFF) << 8
    ),
}


def _held(found: Callable[[int, int], int], right: Callable[[int, int], int]) -> None:
    for a, b in PAIRS:
        assert found(a, b) % (1 << 32) == right(a, b) % (1 << 32), (hex(a), hex(b))


def _evaluated(*lines: str, machine: str = "amdgpu-gfx9") -> Callable[[int, int], int]:
    it = value(*lines, machine=machine)
    return lambda a, b: evaluate(it, {0: signed(a), 1: signed(b)})


@pytest.mark.parametrize("line", CALCULATIONS)
def test_calculations(line: str) -> None:
    _held(_evaluated(line), CALCULATIONS[line])


@pytest.mark.parametrize(
    ("compare", "holds"),
    [
        ("v_cmp_lt_i32_e32 vcc, v5, v6", lambda a, b: signed(a) < signed(b)),
        ("v_cmp_le_i32_e32 vcc, v5, v6", lambda a, b: signed(a) <= signed(b)),
        ("v_cmp_gt_i32_e32 vcc, v5, v6", lambda a, b: signed(a) > signed(b)),
        ("v_cmp_ge_i32_e32 vcc, v5, v6", lambda a, b: signed(a) >= signed(b)),
        ("v_cmp_ne_u32_e32 vcc, v5, v6", lambda a, b: a != b),
        ("v_cmp_lt_u32_e32 vcc, v5, v6", lambda a, b: a < b),
        ("v_cmp_ge_u32_e32 vcc, v5, v6", lambda a, b: a >= b),
        ("v_cmp_gt_i32_e32 vcc, 2, v6", lambda a, b: signed(b) < 2),
    ],
)
def test_comparisons(compare: str, holds: Callable[[int, int], int]) -> None:
    _held(_evaluated(compare, "v_cndmask_b32_e64 v9, 0, 1, vcc"), holds)


_LESS = "v_cmp_lt_u32_e32 vcc, v5, v6"


@pytest.mark.parametrize(
    ("lines", "right"),
    [
        ((_LESS, "v_addc_co_u32_e32 v9, vcc, 7, v5, vcc"), lambda a, b: a + 7 + (a < b)),
        (
            (_LESS, "v_cndmask_b32_sdwa v9, v5, v6, vcc src0_sel:BYTE_3 src1_sel:WORD_0"),
            lambda a, b: b & 0xFFFF if a < b else a >> 24,
        ),
        ((_LESS, "v_subb_co_u32_e64 v9, vcc, v5, v6, vcc"), lambda a, b: a - b - (a < b)),
        ((_LESS, "v_subbrev_co_u32_e32 v9, vcc, v5, v6, vcc"), lambda a, b: b - a - (a < b)),
        (
            ("v_add_co_u32_e32 v9, vcc, v5, v6", "v_cndmask_b32_e64 v9, 0, 1, vcc"),
            lambda a, b: a + b > ALL,
        ),
        (
            ("v_sub_co_u32_e32 v9, vcc, v5, v6", "v_cndmask_b32_e64 v9, 0, 1, vcc"),
            lambda a, b: a < b,
        ),
        (
            (
                _LESS,
                "v_addc_co_u32_e32 v9, vcc, v5, v6, vcc",
                "v_cndmask_b32_e64 v9, 0, 1, vcc",
            ),
            lambda a, b: a + b + (a < b) > ALL,
        ),
        (
            (
                "v_cmp_ge_u32_e32 vcc, v5, v6",
                "v_subb_co_u32_e32 v9, vcc, v5, v6, vcc",
                "v_cndmask_b32_e64 v9, 0, 1, vcc",
            ),
            lambda a, b: a < b + (a >= b),
        ),
    ],
)
def test_carries(lines: tuple[str, ...], right: Callable[[int, int], int]) -> None:
    _held(_evaluated(*lines), right)


@pytest.mark.parametrize(
    ("line", "right"),
    [
        ("s_lshr_b32 s2, s4, s5", lambda a, b: a >> (b & 31)),
        ("s_bfe_u32 s2, s4, 0x80003", lambda a, b: a >> 3 & 0xFF),
        ("s_bfe_i32 s2, s4, 0x80003", lambda a, b: signed(a >> 3, 8)),
        ("s_nand_b32 s2, s4, s5", lambda a, b: ~(a & b)),
        ("s_min_i32 s2, s4, s5", lambda a, b: min(signed(a), signed(b))),
        ("s_bfm_b32 s2, s4, 3", lambda a, b: ((1 << (a & 31)) - 1) << 3),
        ("s_brev_b32 s2, 6", lambda a, b: 0x60000000),
    ],
)
def test_scalars(line: str, right: Callable[[int, int], int]) -> None:
    taken = ("v_readfirstlane_b32 s4, v5", "v_readfirstlane_b32 s5, v6")
    _held(_evaluated(*taken, line, "v_mov_b32_e32 v9, s2"), right)


@pytest.mark.parametrize(
    ("line", "right"),
    [
        ("s_lshl_b32 s2, s4, 4", lambda a, b: a << 4 & ALL != 0),
        ("s_add_u32 s2, s4, s5", lambda a, b: a + b > ALL),
        ("s_sub_u32 s2, s4, s5", lambda a, b: a < b),
    ],
)
def test_what_scalars_tell(line: str, right: Callable[[int, int], int]) -> None:
    taken = ("v_readfirstlane_b32 s4, v5", "v_readfirstlane_b32 s5, v6")
    told = ("s_cselect_b32 s2, 1, 0", "v_mov_b32_e32 v9, s2")
    _held(_evaluated(*taken, line, *told), right)


@pytest.mark.parametrize(
    ("lines", "right"),
    [
        (("v_mov_b32_e32 v9, v5", "v_mov_b16_e32 v9.l, v6.h"), lambda a, b: a & ~0xFFFF | b >> 16),
        (
            ("v_mov_b32_e32 v9, v5", "v_and_b16 v9.h, 7, v6.l"),
            lambda a, b: a & 0xFFFF | (b & 7) << 16,
        ),
        (("v_mov_b16_e32 v9.l, v5.l", "v_mov_b32_e32 v9, v6"), lambda a, b: b),
        (
            ("v_cmp_lt_i16_e32 vcc_lo, v5.l, v6.h", "v_cndmask_b32_e64 v9, 0, 1, vcc_lo"),
            lambda a, b: signed(a, 16) < signed(b >> 16, 16),
        ),
        (
            ("v_cmp_lt_u16_e32 vcc_lo, v5.l, v6.l", "v_cndmask_b32_e64 v9, 0, 1, vcc_lo"),
            lambda a, b: a & 0xFFFF < b & 0xFFFF,
        ),
        (
            (
                "v_mov_b32_e32 v9, v5",
                "v_cmp_lt_i32_e32 vcc_lo, v5, v6",
                "s_and_saveexec_b32 s2, vcc_lo",
                "v_mov_b16_e32 v9.l, 5",
                "s_or_b32 exec_lo, exec_lo, s2",
            ),
            lambda a, b: a & ~0xFFFF | 5 if signed(a) < signed(b) else a,
        ),
        (
            ("v_mov_b32_e32 v8, v5", "v_mov_b16_e32 v8.l, v6.l", "v_mov_b32_e32 v9, v8"),
            lambda a, b: a & ~0xFFFF | b & 0xFFFF,
        ),
        (
            (
                "v_mov_b32_e32 v8, v5",
                "v_mov_b16_e32 v8.h, v6.l",
                "v_cmp_lt_u32_e32 vcc_lo, v5, v6",
                "v_cndmask_b32_e32 v9, v6, v8, vcc_lo",
            ),
            lambda a, b: a & 0xFFFF | (b & 0xFFFF) << 16 if a < b else b,
        ),
        (
            (
                "v_mov_b32_e32 v9, v5",
                "v_mov_b16_e32 v9.l, 5",
                "v_cmp_lt_i32_e32 vcc_lo, v5, v6",
                "s_and_saveexec_b32 s2, vcc_lo",
                "v_mov_b32_e32 v9, v6",
                "s_or_b32 exec_lo, exec_lo, s2",
            ),
            lambda a, b: b if signed(a) < signed(b) else a & ~0xFFFF | 5,
        ),
        (
            (
                "v_mov_b16_e32 v9.l, v5.l",
                "v_cmp_lt_i32_e32 vcc_lo, v5, v6",
                "s_and_saveexec_b32 s2, vcc_lo",
                "s_cbranch_execz .LBB0_2",
                "v_mov_b32_e32 v9, v6",
                ".LBB0_2:",
                "s_or_b32 exec_lo, exec_lo, s2",
                "v_cmp_eq_u16_e32 vcc_lo, v9.l, v5.l",
                "v_cndmask_b32_e64 v9, 0, 1, vcc_lo",
            ),
            lambda a, b: (b if signed(a) < signed(b) else a) & 0xFFFF == a & 0xFFFF,
        ),
    ],
)
def test_halves_of_registers(lines: tuple[str, ...], right: Callable[[int, int], int]) -> None:
    _held(_evaluated(*lines, machine="amdgpu-gfx10"), right)


@pytest.mark.parametrize(
    "lines",
    [
        ("v_bfrev_b32_e32 v9, v5",),
        ("s_bfe_u32 s2, 9, 0x200003",),
        ("s_add_i32 s2, 9, 9", "s_cbranch_scc1 .Lx"),
        ("v_mov_b16_e32 v9, 5",),
        ("v_mul_hi_u32 v9, v5, v6",),
    ],
)
def test_what_is_not_told_is_refused(lines: tuple[str, ...]) -> None:
    start = ("global_load_dword v5, v[0:1], off", "s_waitcnt vmcnt(0)")
    assert refused(*start, *lines, ".Lx:", "s_setpc_b64 s[30:31]")


def test_the_high_half_of_a_product_may_not_be_asked_for() -> None:
    found = value("v_mad_u64_u32 v[8:9], s[2:3], v5, v6, 7")
    with pytest.raises(KeyError):
        evaluate(found, {0: 1, 1: 1})
