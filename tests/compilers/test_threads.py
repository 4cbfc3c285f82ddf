"""Functions of assembly, hand-written: what they do to memory, and what cannot be read."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from rspverify.architecture.machines import machine_named
from rspverify.compilers.assembly import read_assembly
from rspverify.compilers.threads import Emitted, EmittedThread, read_thread
from rspverify.isa.conditions import expression
from rspverify.source import InputError, Severity, Source
from rspverify.value import Binary, Constant, Expression, Read, evaluate

POINTERS = {"x": ("v0", "v1"), "y": ("v2", "v3"), "l": ("v4",)}
ONE = Constant(1)
LOAD_X, LOAD_Y = "global_load_dword v5, v[0:1], off", "global_load_dword v6, v[2:3], off"
WAIT, END = "s_waitcnt vmcnt(0)", "s_setpc_b64 s[30:31]"


def read(*lines: str, machine: str = "amdgpu-gfx9") -> EmittedThread:
    text = "".join(f"\t{each}\n" if not each.endswith(":") else f"{each}\n" for each in lines)
    lines_read = read_assembly(Source("a.s", text))
    return read_thread(lines_read, POINTERS, machine_named(machine))


def refused(*lines: str, machine: str = "amdgpu-gfx9") -> list[str]:
    with pytest.raises(InputError) as error:
        read(*lines, machine=machine)
    assert error.value.severity is Severity.UNSUPPORTED
    return [str(each).splitlines()[0] for each in error.value.problems]


def names(code: tuple[Emitted, ...]) -> list[str]:
    return [it.name for it in code]


def value(*lines: str, machine: str = "amdgpu-gfx9") -> Expression:
    """What v9 has behind lines, after x was loaded into v5 and y into v6."""
    found = read(LOAD_X, LOAD_Y, WAIT, *lines, ".Lit.v9:", END, machine=machine)
    return found.named[".Lit"]


# ---- memory --------------------------------------------------------------------------------------


def test_what_accesses_read_and_write() -> None:
    found = read(
        "v_mov_b32_e32 v7, 3",
        LOAD_X + " glc",
        WAIT,
        "global_store_dword v[2:3], v5, off",
        "global_atomic_add v8, v[0:1], v7, off glc",
        "global_atomic_swap v[2:3], v7, off",
        "ds_write_b32 v4, v7",
        "ds_sub_rtn_u32 v9, v4, v7",
        END,
    ).code
    assert names(found) == [
        "global_load_dword glc",
        "s_waitcnt vmcnt(0)",
        "global_store_dword",
        "global_atomic glc",
        "global_atomic",
        "ds_write_b32",
        "ds_atomic",
    ]
    assert [it.location for it in found] == ["x", None, "y", "x", "y", "l", "l"]
    values = [it.value for it in found]
    assert values[2:] == [
        Read(0),
        Binary("+", Read(3), Constant(3)),
        Constant(3),
        Constant(3),
        Binary("-", Read(6), Constant(3)),
    ]


@pytest.mark.parametrize(
    ("line", "machine"),
    [
        ("global_atomic_cmpswap v9, v[0:1], v[6:7], off glc", "amdgpu-gfx9"),
        ("ds_cmpst_rtn_b32 v9, v4, v7, v6", "amdgpu-gfx9"),
        ("ds_cmpstore_rtn_b32 v9, v4, v6, v7", "amdgpu-gfx11"),
    ],
)
def test_which_operand_of_a_compare_exchange_is_expected(line: str, machine: str) -> None:
    """v6 is written, v7 is expected."""
    moves = ("v_mov_b32_e32 v6, 5", "v_mov_b32_e32 v7, 4")
    (it,) = read(*moves, line, END, machine=machine).code
    assert it.success is not None and it.value is not None
    assert [evaluate(it.value, {0: old}) for old in (4, 3)] == [5, 3]
    assert [evaluate(it.success, {0: old}) for old in (4, 3)] == [1, 0]


@pytest.mark.parametrize(
    ("word", "old", "new"),
    [
        ("umin", -1, 3),
        ("smin", -1, -1),
        ("umax", -1, -1),
        ("smax", -1, 3),
        ("and", 6, 2),
        ("or", 4, 7),
        ("xor", 1, 2),
        ("sub", 5, 2),
    ],
)
def test_operators(word: str, old: int, new: int) -> None:
    (it,) = read("v_mov_b32_e32 v7, 3", f"global_atomic_{word} v[0:1], v7, off", END).code
    assert it.value is not None and evaluate(it.value, {0: old}) == new


# ---- branches and masks --------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("machine", "lines"),
    [
        (
            "amdgpu-gfx9",
            (
                "v_cmp_eq_u32_e32 vcc, 1, v5",
                "s_and_saveexec_b64 s[4:5], vcc",
                "s_cbranch_execz .LBB0_2",
                "global_store_dword v[2:3], v5, off",
                ".LBB0_2:",
                "s_or_b64 exec, exec, s[4:5]",
            ),
        ),
        (
            "amdgpu-gfx10",
            (
                "s_mov_b32 s4, exec_lo",
                "v_cmpx_eq_u32_e32 1, v5",
                "s_cbranch_execz .LBB0_2",
                "global_store_dword v[2:3], v5, off",
                ".LBB0_2:",
                "s_or_b32 exec_lo, exec_lo, s4",
            ),
        ),
        (
            "amdgpu-gfx9",
            (
                "v_readfirstlane_b32 s6, v5",
                "s_cmp_lg_u32 s6, 1",
                "s_cbranch_scc1 .LBB0_2",
                "global_store_dword v[2:3], v5, off",
                ".LBB0_2:",
            ),
        ),
        (
            "amdgpu-gfx9",
            (
                "v_cmp_ne_u32_e64 s[6:7], 1, v5",
                "s_and_b64 vcc, exec, s[6:7]",
                "s_cbranch_vccnz .LBB0_2",
                "global_store_dword v[2:3], v5, off",
                ".LBB0_2:",
            ),
        ),
        (
            "amdgpu-gfx9",
            (
                "v_cmp_eq_u32_e32 vcc, 1, v5",
                "s_and_saveexec_b64 s[4:5], vcc",
                "global_store_dword v[2:3], v5, off",
                "s_mov_b64 exec, s[4:5]",
            ),
        ),
    ],
)
def test_what_is_executed_under_a_condition(machine: str, lines: tuple[str, ...]) -> None:
    *_, store, last = read(
        LOAD_X, WAIT, *lines, "global_store_dword v[0:1], v5, off", END, machine=machine
    ).code
    assert expression(store.guard) == Binary("==", Read(0), ONE)
    assert last.guard is True


def test_both_sides_of_a_branch() -> None:
    """A register has what the side has written that was taken; what one side waits for is its own."""
    found = read(
        LOAD_X,
        WAIT,
        "v_cmp_lt_i32_e32 vcc, 0, v5",
        "s_cbranch_vccz .LBB0_2",
        "v_mov_b32_e32 v9, 7",
        "buffer_wbinvl1_vol",
        "s_branch .LBB0_3",
        ".LBB0_2:",
        "v_mov_b32_e32 v9, 8",
        ".LBB0_3:",
        ".Lit.v9:",
        "global_store_dword v[0:1], v9, off",
        END,
    )
    assert [evaluate(found.named[".Lit"], {0: it}) for it in (0, 1)] == [8, 7]
    _, _, invalidation, store = found.code
    assert [evaluate(expression(invalidation.guard), {0: it}) for it in (0, 1)] == [0, 1]
    assert store.guard is True


def test_a_lane_that_takes_no_part_keeps_its_registers() -> None:
    found = value(
        "v_mov_b32_e32 v9, 1",
        "v_cmp_eq_u32_e32 vcc, v5, v6",
        "s_and_saveexec_b64 s[4:5], vcc",
        "v_mov_b32_e32 v9, 2",
        "s_or_b64 exec, exec, s[4:5]",
    )
    assert [evaluate(found, {0: 3, 1: it}) for it in (3, 4)] == [2, 1]


def test_what_is_issued_together_looks_before_it_writes() -> None:
    lines = (
        "v_mov_b32_e32 v8, 1",
        "v_mov_b32_e32 v9, 2",
        "v_dual_mov_b32 v8, v9 :: v_dual_mov_b32 v9, v8",
    )
    found = read(*lines, ".Lit.v9:", ".Lthat.v8:", END, machine="amdgpu-gfx11").named
    assert (found[".Lit"], found[".Lthat"]) == (Constant(1), Constant(2))


# ---- calculation ---------------------------------------------------------------------------------


def test_scalars() -> None:
    found = value(
        "v_readfirstlane_b32 s6, v5",
        "s_add_i32 s7, s6, 2",
        "s_and_b32 s8, s7, 6",
        "s_cselect_b32 s9, s8, s6",
        "s_not_b32 s9, s9",
        "v_mov_b32_e32 v9, s9",
    )
    assert [evaluate(found, {0: it, 1: 0}) for it in (3, -2)] == [~4, ~-2]


# ---- waits ---------------------------------------------------------------------------------------


def test_waits_before_anything_and_behind_everything_are_left_out() -> None:
    entry = "s_waitcnt vmcnt(0) expcnt(0) lgkmcnt(0)"
    found = read(entry, LOAD_X, WAIT, LOAD_Y, "s_waitcnt vmcnt(0) lgkmcnt(0)", END)
    assert names(found.code) == ["global_load_dword", WAIT, "global_load_dword"]


def test_a_wait_for_a_part_waits_for_that() -> None:
    """Loads complete in their order, so that all but the last are complete."""
    store = "global_store_dword v[0:1], v5, off"
    found = read(LOAD_X, LOAD_Y, "s_waitcnt vmcnt(1)", store, END)
    part = found.code[2]
    assert (part.name, part.waits) == ("s_waitcnt vmcnt(1)", frozenset({0}))
    assert names(found.code) == ["global_load_dword"] * 2 + [part.name, "global_store_dword"]


def test_a_wait_for_nothing_new_is_none() -> None:
    store = "global_store_dword v[0:1], v5, off"
    found = read(LOAD_X, WAIT, LOAD_Y, "s_waitcnt vmcnt(1)", store, END)
    assert names(found.code) == [
        "global_load_dword",
        WAIT,
        "global_load_dword",
        "global_store_dword",
    ]


def test_what_a_part_is_after_a_branch() -> None:
    """What both sides issue last is told apart from what one of them has issued before."""
    start = (LOAD_X, WAIT, "v_cmp_eq_u32_e32 vcc, 1, v5", "s_cbranch_vccz .LBB0_2")
    side = ("global_load_dword v7, v[2:3], off", ".LBB0_2:", LOAD_Y)
    store = ("global_store_dword v[0:1], v5, off", END)
    found = read(*start, *side, "s_waitcnt vmcnt(1)", *store)
    assert next(it.waits for it in found.code if it.name == "s_waitcnt vmcnt(1)") == {2}
    assert not any(it.waits for it in read(*start, *side, "s_waitcnt vmcnt(2)", *store).code)
    late = (LOAD_Y, "s_cbranch_vccz .LBB0_2", "global_load_dword v7, v[2:3], off", ".LBB0_2:")
    *_, wait, end = read(*start[:-1], *late, "s_waitcnt vmcnt(1)", *store).code
    assert wait.waits == {2} and expression(wait.guard) == Binary("==", Read(0), ONE)
    assert end.guard is True


def test_a_later_load_into_a_register_comes_after_an_earlier_one() -> None:
    again = "global_load_dword v5, v[2:3], off"
    found = read(LOAD_X, again, WAIT, ".Lit.v5:", END)
    assert found.named[".Lit"] == Read(1)


# ---- what cannot be read -------------------------------------------------------------------------


def functions() -> Iterator[tuple[str, list[str], list[str]]]:
    """Machine, lines, and what must be said, of each function of the table."""
    machine = ""
    text = Path(__file__).with_name("refused.txt").read_text()
    for entry in (each.splitlines() for each in text.strip().split("\n\n")):
        if entry[0].startswith("["):
            machine = entry[0].partition("]")[0][1:]
        elif not entry[0].startswith("#"):
            lines = [line.strip() for line in entry if line.startswith(" ")]
            yield machine, lines, entry[len(lines) :]


@pytest.mark.parametrize(("machine", "lines", "said"), [*functions()])
def test_what_cannot_be_read_is_told_at_its_place(
    machine: str, lines: list[str], said: list[str]
) -> None:
    assert refused(*lines, machine=machine) == [f"a.s:{each}" for each in said]


@pytest.mark.parametrize("line", ["v_mov_b32 v9, {}", "s_waitcnt vmcnt({})", "s_wait_loadcnt {}"])
def test_numbers_that_are_too_long_are_refused(line: str) -> None:
    assert refused(LOAD_X, LOAD_Y, WAIT, line.format("9" * 5000), END)


def test_one_counter_counts_loads_and_stores_together() -> None:
    """On GFX9 vmcnt counts both, so that one that is left may be a store; on GFX10 it does not."""
    store = "global_store_dword v[2:3], v9, off"
    lines = ("v_mov_b32_e32 v9, 1", LOAD_X, store, "s_waitcnt vmcnt(1)", ".Lit.v5:", END)
    found = read(*lines[:4], "global_store_dword v[0:1], v5, off", *lines[4:])
    assert [sorted(it.waits) for it in found.code if it.waits] == [[0]]


# ---- what looks harmless -------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("line", "wanted"),
    [
        ("s_movk_i32 s0, 0xfc18", -1000),
        ("s_movk_i32 s0, 0x3e8", 1000),
        ("s_movk_i32 s0, -3", -3),
        ("s_mov_b32 s0, 0xfc18", 64536),
    ],
)
def test_a_short_number_has_its_sign(line: str, wanted: int) -> None:
    assert value(line, "v_mov_b32_e32 v9, s0") == Constant(wanted)


@pytest.mark.parametrize(
    ("comparison", "holds"),
    [("s_cmpk_eq_i32", 1), ("s_cmpk_lg_i32", 0), ("s_cmpk_eq_u32", 0), ("s_cmp_eq_i32", 0)],
)
def test_a_short_number_has_its_sign_where_it_is_compared(comparison: str, holds: int) -> None:
    lines = "s_mov_b32 s0, 0xfffffc18", f"{comparison} s0, 0xfc18", "s_cselect_b32 s1, 1, 0"
    assert value(*lines, "v_mov_b32_e32 v9, s1") == Constant(holds)


def test_a_result_that_is_named_on_several_paths() -> None:
    branch = LOAD_X, LOAD_Y, WAIT, "v_cmp_eq_u32_e32 vcc, 0, v5", "s_cbranch_vccz .LBB0_1"
    found = read(*branch, ".Lit.v5:", END, ".LBB0_1:", ".Lit.v6:", END).named[".Lit"]
    assert [evaluate(found, {0: x, 1: 7, -1: 8}) for x in (0, 1)] == [0, 7]
    found = read(*branch, END, ".LBB0_1:", ".Lit.v6:", END).named[".Lit"]
    assert [evaluate(found, {0: x, 1: 7, -1: 8}) for x in (0, 1)] == [8, 7]


def test_a_cache_is_not_emptied_where_no_lane_may_take_part() -> None:
    masked = "v_cmp_eq_u32_e32 vcc, 0, v5", "s_and_saveexec_b64 s[0:1], vcc", "buffer_wbinvl1"
    assert refused(LOAD_X, WAIT, *masked, END)
    assert read(LOAD_X, WAIT, "s_mov_b64 s[0:1], exec", "buffer_wbinvl1", LOAD_Y, WAIT, END)


def test_a_count_of_what_may_not_be_issued() -> None:
    masked = (
        "v_cmp_eq_u32_e32 vcc, 0, v6",
        "s_and_saveexec_b64 s[0:1], vcc",
        "global_store_dword v[2:3], v7, off",
        "s_mov_b64 exec, s[0:1]",
    )
    load_y = LOAD_Y.replace("v6", "v8")
    use = "v_mov_b32_e32 v9, v5"
    assert read(LOAD_Y, WAIT, LOAD_X, *masked, load_y, "s_waitcnt vmcnt(0)", use, END)
    assert read(LOAD_Y, WAIT, LOAD_X, *masked, load_y, "s_waitcnt vmcnt(1)", use, END)


@pytest.mark.parametrize("line", ["s_cbranch_vccz .LBB0_1", "s_mov_b64 exec, vcc"])
def test_lanes_of_no_work_item_are_taken_out_by_an_and_with_exec(line: str) -> None:
    """An inverted mask has some, whatever the work-item says."""
    inverted = "v_cmp_eq_u32_e32 vcc, 0, v5", "s_xor_b64 vcc, vcc, -1", "s_and_b64 vcc, exec, vcc"
    store = "global_store_dword v[2:3], v5, off"
    (*_, stored) = read(LOAD_X, WAIT, *inverted, line, store, ".LBB0_1:", END).code
    if line.startswith("s_cbranch"):
        assert [evaluate(expression(stored.guard), {0: x}) for x in (0, 1)] == [0, 1]


def test_a_wave_of_32_lanes_has_the_other_half_for_numbers() -> None:
    lines = "s_mov_b32 vcc_hi, 5", "v_cmp_eq_u32_e32 vcc_lo, 0, v5", "s_cbranch_vccz .LBB0_1"
    load, wait = LOAD_X.replace("dword", "b32"), "s_waitcnt vmcnt(0)"
    store = "global_store_b32 v[2:3], v5, off"
    assert read(load, wait, *lines, store, ".LBB0_1:", END, machine="amdgpu-gfx11").code
