"""A row made as strong as can be: what it does, and that it is never weaker."""

from __future__ import annotations

from functools import cache
from itertools import product
from pathlib import Path

import pytest
from checks import MODEL, ROOT, judged, scheme_named

from rspverify.architecture.acts import does_the_same
from rspverify.scheme.reader import read_scheme_file
from rspverify.scheme.row import Template
from rspverify.scheme.scheme import Scheme
from rspverify.soundness.case import Case
from rspverify.soundness.check import check
from rspverify.soundness.settings import Settings
from rspverify.soundness.sides import ModelSide
from rspverify.soundness.strongest import strongest
from rspverify.source import read_source
from rspverify.verdict import Word

SCHEMES = [
    *sorted((ROOT / "schemes").glob("*.yaml")),
    *(ROOT / f"schemes/amdgpu/{each}.yaml" for each in ("gfx900", "gfx1030", "gfx942", "gfx1250")),
]


@cache
def scheme(name: str) -> Scheme:
    return scheme_named(name)


def told(name: str, number: int, devices: int = 1, anywhere: bool = False) -> str:
    table = scheme(name)
    code = strongest(table.rows[number - 1], table, devices, anywhere=anywhere)
    return ", ".join(map(str, code))


def test_out_before_it_is_invalid_each_in_its_order() -> None:
    """What leaves the L1 is in the L2, and must leave that; an L1 is filled from its L2."""
    assert told("quickrelease", 5) == ("FLU_L1 WG, FLU_L2 DV, ST r x, FLU_L1 WG, FLU_L2 DV")
    around = "FLU_L1 WG, FLU_L2 DV, INV_L2 DV, INV_L1 WG"
    assert told("proposed-multi-device-inv-l2", 4, 2) == f"{around}, LD r x, {around}"


def test_what_is_begun_is_waited_for() -> None:
    around = (
        "s_wait_loadcnt 0x0, s_wait_storecnt 0x0, s_wait_dscnt 0x0, global_wb scope:SCOPE_SYS, "
        "s_wait_storecnt 0x0, global_inv scope:SCOPE_DEV, s_wait_loadcnt 0x0"
    )
    assert told("amdgpu/gfx1250", 1) == f"{around}, global_load_b32 r x scope:SCOPE_DEV, {around}"


def test_second_stores_and_locks_stay() -> None:
    around = "FLU_L1 WG, FLU_L2 DV, INV_L1 WG"
    stores = f"{around}, ST r x, {around}, ST r x, {around}"
    assert told("proposed-multi-device", 6, 2) == f"LK_rmw DV, {stores}, UL_rmw DV"
    assert told("proposed-multi-device", 15, 2).startswith(f"LK_rmw SY, {around}, INC_L2 r x, ")


def test_nothing_is_added_under_a_lock_that_flushes_wait_for() -> None:
    """A flush of all L1s would wait for ever there for an L1 that has the location dirty."""
    around = "FLU_L1 DV, INV_L1 DV"
    own = "LK_L2 x, FLU_L1 WG, ST r x, INV_L1 DV, UL_L2 x"
    assert told("original", 6) == f"LK_rmw DV, {around}, {own}, {around}, UL_rmw DV"


def stands_for(mine: Template, each: Template, table: Scheme) -> bool:
    """Whether an instruction is another, but for its reach, or how near to memory its access is."""
    one, other = mine.mnemonic, each.mnemonic
    if each.accesses:
        return (one.reads, one.writes) == (other.reads, other.writes)
    places, reaches = table.machine.places, table.machine.reaches
    return does_the_same(one, other) and (
        each.reach is None
        or places.index(reaches[mine.reach or ""]) >= places.index(reaches[each.reach])
    )


@pytest.mark.parametrize("path", SCHEMES, ids=lambda it: it.stem)
def test_a_row_has_its_own_code_in_it(path: Path) -> None:
    """In its order, and as far. A row that is under all locks has none of its own of that kind."""
    table = read_scheme_file(str(path))
    for row, anywhere in product(table.rows, (False, True)):
        left = iter(code := strongest(row, table, 2, anywhere=anywhere))
        locks = {"LK_rmw", "UL_rmw"} if anywhere or row.remotes == {True} else set()
        assert not (locks & {*table.machine.instructions}) or (
            [code[0].mnemonic.name, code[-1].mnemonic.name] == ["LK_rmw", "UL_rmw"]
        )
        for each in row.code:
            idle = not (each.mnemonic.conditions or each.mnemonic.effects)
            if not idle and each.mnemonic.name not in locks:
                assert any(stands_for(it, each, table) for it in left), (row, each)


@pytest.mark.parametrize(
    ("name", "test"),
    [
        ("proposed", "litmus/rsp/paper/Fig5.litmus"),
        ("original", "litmus/rsp/MP/MP+st.na-st.WG+ld.DV.R-ld.na.litmus"),
        ("quickrelease", "litmus/rsp/MP/MP+st.na-st.DV+ld.DV-ld.na.litmus"),
        ("quickrelease", "litmus/rsp/paper/Fig5.litmus"),
        ("proposed-multi-device", "litmus/devices/MP/MP+st.na-st.ALL+ld.ALL-ld.na@0--1.litmus"),
        ("proposed-multi-device", "litmus/devices/RMW/RMW+inc.ALL+st.ALL@0--1.litmus"),
        ("proposed-multi-device", "litmus/devices/RMW/RMW+inc.WG+inc.ALL.R@0--1.litmus"),
        ("amdgpu/gfx942", "litmus/amdgpu/MP-wg.litmus"),
        ("amdgpu/gfx942+", "litmus/amdgpu/MP-dv.litmus"),
        ("amdgpu/gfx1250+", "litmus/amdgpu/MP-dv.litmus"),
    ],
)
def test_what_is_sound_stays_sound(name: str, test: str) -> None:
    """Whichever row is made stronger; + is with all switches of the machine on."""
    table = scheme(name.rstrip("+"))
    if name.endswith("+"):
        switches = "+".join(it.name for it in table.machine.switches)
        table = table.on_machine(table.machine.switched(switches))
    settings = Settings(shortest=False)
    program = settings.read(read_source(ROOT / test))
    source = ModelSide(program, MODEL)
    assert judged(program, table, settings, source=source).word is Word.SOUND
    for row in table.rows_used(program):
        for anywhere in (False, True):
            code = strongest(row, table, program.devices, anywhere=anywhere)
            case = Case(program, table.with_code(row.number, code), MODEL, settings)
            assert check(case, source).word is Word.SOUND, (row, anywhere)
