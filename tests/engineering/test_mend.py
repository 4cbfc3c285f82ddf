"""The smallest change of a table that mends a test, on machines that repair does not know, too."""

from __future__ import annotations

import pytest

from rspverify.axiomatic.cat import load_model
from rspverify.engineering.mend import mend
from rspverify.limits import LimitReached, Limits
from rspverify.soundness.case import Case
from rspverify.soundness.settings import Settings
from rspverify.source import read_source
from rspverify.translators import read_translator

EARLY = "WRITE_BACK_AFTER_OWN_STORES=off"
STORED = ["s_wait_loadcnt 0x0", "s_wait_storecnt 0x0", "s_wait_xcnt 0x0"]


def mended(scheme: str, test: str, machine: str | None, limits: Limits) -> dict[str, list[str]]:
    settings = Settings(shortest=False)
    program = settings.read(read_source(f"litmus/amdgpu/{test}.litmus"))
    table = read_translator(f"schemes/amdgpu/{scheme}.yaml", machine)
    changes = mend(Case(program, table, load_model(settings.model), settings), limits)
    return {str(now): list(then.text) for now, then in changes}


@pytest.mark.parametrize(
    ("scheme", "test", "switch", "expected"),
    [
        (
            "gfx942",
            "MP-dv",
            EARLY,
            {
                "store DV,N (release)": [
                    *("s_waitcnt vmcnt(0)", "buffer_wbl2 sc1", "s_waitcnt vmcnt(0)"),
                    "global_store_dword x r sc1",
                ]
            },
        ),
        (
            "gfx1250",
            "MP-dv",
            EARLY,
            {
                "store DV,N (release)": [
                    *("s_wait_storecnt 0x0", "global_wb scope:SCOPE_DEV", *STORED),
                    "global_store_b32 x r scope:SCOPE_DEV",
                ],
                "load DV,N (acquire)": [
                    *("global_load_b32 r x", "s_wait_loadcnt 0x0"),
                    *("global_inv scope:SCOPE_DEV", "s_wait_loadcnt 0x0"),
                ],
            },
        ),
        (
            "gfx900",
            "WRC-wg-dv",
            "",
            {"load WG,N (relaxed, acquire)": ["global_load_dword r x glc"]},
        ),
    ],
)
def test_the_smallest_change(
    scheme: str, test: str, switch: str, expected: dict[str, list[str]]
) -> None:
    """A wait before the write-back, and on gfx1250 behind the invalidation, too, as LLVM has it
    since. A wait that does nothing on the machine stays. A load that finds what another wave of its
    compute unit has stored, before others see it, has to pass by the L1."""
    machine = f"amdgpu-{scheme}+{switch}" if switch else None
    assert mended(scheme, test, machine, Limits()) == expected


def test_a_limit_is_for_all_of_it() -> None:
    with pytest.raises(LimitReached):
        mended("gfx942", "MP-dv", f"amdgpu-gfx942+{EARLY}", Limits(0))
