"""What AMD's instructions are called in rows: known ones by name, others by an error."""

import re

import pytest

from rspverify.compilers.amdgpu import named, with_waits_joined
from rspverify.compilers.assembly import read_assembly
from rspverify.isa.lines import Instruction
from rspverify.source import InputError, Source

NAMES = {
    "global_load_dword v0, v[0:1], off glc dlc": ["global_load_dword r x glc dlc"],
    "global_store_b32 v[0:1], v2, off scope:SCOPE_SE": ["global_store_b32 x r scope:SCOPE_SE"],
    "global_atomic_add v0, v[0:1], v2, off sc0": ["global_atomic r x sc0"],
    "global_atomic_swap v[0:1], v2, off": ["global_atomic r x"],
    "global_atomic_max_i32 v[0:1], v2, off": ["global_atomic r x"],
    "global_atomic_cmpswap_b32 v0, v[0:1], v[2:3], off glc": ["global_atomic_cmpswap r x glc"],
    "ds_read_b32 v0, v1": ["ds_read_b32 r x"],
    "ds_store_b32 v0, v1": ["ds_store_b32 x r"],
    "ds_wrxchg_rtn_b32 v0, v1, v2": ["ds_atomic r x"],
    "ds_min_u32 v0, v1": ["ds_atomic r x"],
    "ds_cmpst_rtn_b32 v0, v1, v2, v3": ["ds_cmpst r x"],
    "s_waitcnt lgkmcnt(0) vmcnt(0)": ["s_waitcnt vmcnt(0)", "s_waitcnt lgkmcnt(0)"],
    "s_waitcnt_vscnt null, 0x0": ["s_waitcnt_vscnt null 0x0"],
    "s_wait_loadcnt_dscnt 0x102": ["s_wait_loadcnt 0x1", "s_wait_dscnt 0x2"],
    "s_wait_storecnt_dscnt 0x0": ["s_wait_storecnt 0x0", "s_wait_dscnt 0x0"],
    "s_wait_xcnt 0x0": ["s_wait_xcnt 0x0"],
    "buffer_wbl2 sc0 sc1": ["buffer_wbl2 sc0 sc1"],
    "global_inv scope:SCOPE_DEV": ["global_inv scope:SCOPE_DEV"],
    "v_mov_b32_e32 v12, v11": [],
    "s_delay_alu instid0(VALU_DEP_1)": [],
}

UNKNOWN = (
    "flat_load_dword v0, v[0:1]",
    "global_load_dwordx2 v[0:1], v[0:1], off",
    "global_atomic_add_f32 v[0:1], v2, off",
    "s_waitcnt 0",
    "s_wait_loadcnt what",
    "s_waitcnt_vscnt null, -1",
    "s_waitcnt vmcnt(٠)",
    "s_waitcnt_vscnt s[0:1, 0x0",
    "s_wait_storecnt",
    "s_waitcnt vmcnt(0) othercnt(0)",
    "s_branch .LBB0_1",
    "s_barrier",
)


def read(*lines: str) -> list[Instruction]:
    found = read_assembly(Source("a.s", "\n".join(lines)))
    return [each for each in found if isinstance(each, Instruction)]


@pytest.mark.parametrize("line", NAMES)
def test_names(line: str) -> None:
    assert [str(each) for each in named(read(line))] == NAMES[line]


def test_what_is_not_known_is_named_all_at_once() -> None:
    with pytest.raises(InputError) as error:
        named(read("s_nop 0", *UNKNOWN))
    said = [problem.message.rpartition(" ")[2] for problem in error.value.problems]
    assert said == [line.split()[0] for line in UNKNOWN]
    first = "a.s:2:1: an instruction must be one that is known in rows, not flat_load_dword"
    assert re.match(
        rf"^{re.escape(first)}\n    flat_load_dword v0, .*\n    \^+\n", str(error.value)
    )


def test_waits_that_follow_each_other_are_one() -> None:
    apart = read("s_waitcnt lgkmcnt(0)", "s_waitcnt vmcnt(2) lgkmcnt(1)", "s_nop 0")
    joined = read("s_waitcnt vmcnt(2) lgkmcnt(0)", "s_nop 0")
    assert with_waits_joined(apart) == with_waits_joined(joined)
    weaker = read("s_waitcnt vmcnt(3) lgkmcnt(0)", "s_nop 0")
    later = read("s_nop 0", "s_waitcnt vmcnt(2) lgkmcnt(0)")
    assert with_waits_joined(joined) != with_waits_joined(weaker)
    assert with_waits_joined(joined) != with_waits_joined(later)
