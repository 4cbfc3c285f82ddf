"""Processors, their machines, and what is said of others."""

import pytest

from rspverify.architecture.machines import MACHINES
from rspverify.compilers.processors import PROCESSORS, processor
from rspverify.source import InputError


@pytest.mark.parametrize(
    ("cpu", "features", "machine"),
    [
        ("gfx906", "", "amdgpu-gfx9"),
        ("gfx90a", "+tgsplit", "amdgpu-gfx90a-tgsplit"),
        ("gfx940", "", "amdgpu-gfx942"),
        ("gfx950", "-tgsplit", "amdgpu-gfx942"),
        ("gfx1036", "", "amdgpu-gfx10"),
        ("gfx1103", " +cumode ", "amdgpu-gfx11-cu"),
        ("gfx1201", "+cumode", "amdgpu-gfx12-cu"),
        ("gfx1250", "", "amdgpu-gfx1250"),
    ],
)
def test_machines(cpu: str, features: str, machine: str) -> None:
    assert processor(cpu, features).machine == machine


def test_every_machine_ships() -> None:
    for cpu, (_, mode) in PROCESSORS.items():
        for features in ("", f"+{mode.feature}") if mode else ("",):
            assert processor(cpu, features).machine in MACHINES


def test_there_is_no_local_memory_where_work_groups_are_split() -> None:
    without = {cpu for cpu in PROCESSORS if not processor(cpu).has_local}
    assert without == set()
    assert not processor("gfx942", "+tgsplit").has_local
    assert processor("gfx942", "-tgsplit").has_local
    assert processor("gfx1100", "+cumode").has_local


@pytest.mark.parametrize(
    ("cpu", "features", "said"),
    [
        (
            "gfx94",
            "",
            "--cpu must be a processor that can be read, not gfx94\n  hint: did you mean gfx942?",
        ),
        (
            "gfx803",
            "",
            "--cpu must be a processor that can be read, not gfx803\n  hint: its accesses of global memory,"
            " flat or of buffers, and its m0 are not known; the nearest is gfx900",
        ),
        ("gfx900", "+tgsplit", "--features must be left out, as gfx900 has one mode, not +tgsplit"),
        (
            "gfx942",
            "tgsplit,+cumode",
            "--features must be +tgsplit or -tgsplit for gfx942, not tgsplit\n"
            "  hint: did you mean +tgsplit?\n"
            "--features must be +tgsplit or -tgsplit for gfx942, not +cumode",
        ),
        (
            "gfx1030",
            "+cumode,-cumode",
            "--features must have +cumode or -cumode, not both",
        ),
    ],
)
def test_others(cpu: str, features: str, said: str) -> None:
    with pytest.raises(InputError) as error:
        processor(cpu, features)
    assert str(error.value) == said
