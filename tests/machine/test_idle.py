"""Which instructions do nothing where all memory is global."""

from __future__ import annotations

from pathlib import Path

import pytest

from rspverify.architecture import MACHINES, machine_named
from rspverify.machine.idle import idle


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("rsp", set()),
        ("amdgpu-gfx9", {"s_waitcnt lgkmcnt(0)"}),
        ("amdgpu-gfx1250", {"s_wait_dscnt 0x0", "s_wait_xcnt 0x0"}),
    ],
)
def test_only_waits_for_local_memory_do_nothing(name: str, expected: set[str]) -> None:
    assert {it for it, _ in idle(MACHINES[name], "global")} == expected


@pytest.mark.parametrize(
    "planted",
    ["when empty at_lds, empty loads", "when empty at_lds do invalidate_L0()"],
)
def test_what_waits_for_more_or_does_more(planted: str, tmp_path: Path) -> None:
    place = tmp_path / "planted.machine"
    head = 'machine planted "one thing else"\ninclude amdgpu-gfx9\n'
    place.write_text(f'{head}instruction "s_waitcnt lgkmcnt(0)" {planted}\n')
    assert not idle(machine_named(str(place)), "global")
