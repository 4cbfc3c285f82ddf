"""The smallest change of a table that mends a test, on machines that repair does not know."""

from __future__ import annotations

import pytest

from rspverify.axiomatic.cat import load_model
from rspverify.engineering.mend import Mend, mend
from rspverify.soundness.case import Case
from rspverify.soundness.settings import Settings
from rspverify.source import read_source
from rspverify.translators import read_translator


def mended(scheme: str, test: str, machine: str) -> Mend:
    settings = Settings()
    program = settings.read(read_source(f"litmus/amdgpu/{test}.litmus"))
    table = read_translator(f"schemes/amdgpu/{scheme}.yaml", machine)
    return mend(Case(program, table, load_model(settings.model), settings))


@pytest.mark.parametrize(
    ("scheme", "expected"),
    [
        ("gfx942", {"store DV,N (release)": ["s_waitcnt vmcnt(0)", "buffer_wbl2 sc1"]}),
        (
            "gfx1250",
            {
                "store DV,N (release)": ["s_wait_storecnt 0x0", "global_wb scope:SCOPE_DEV"],
                "load DV,N (acquire)": ["global_inv scope:SCOPE_DEV", "s_wait_loadcnt 0x0"],
            },
        ),
    ],
)
def test_the_waits_that_message_passing_lacks(scheme: str, expected: dict[str, list[str]]) -> None:
    """Before the write-back, and on gfx1250 behind the invalidation, too, as LLVM has it since."""
    found = mended(scheme, "MP-dv", f"amdgpu-{scheme}+WRITE_BACK_AFTER_OWN_STORES=off")
    codes = {str(it.row): [str(each) for each in it.code] for it in found.changes}
    assert codes.keys() == expected.keys()
    for row, code in expected.items():
        places = [at for at in range(len(codes[row])) if codes[row][at : at + 2] == code]
        assert places, codes[row]


def test_what_no_instruction_more_mends_is_said() -> None:
    """A load that finds what another wave of its compute unit has stored, before others see it."""
    found = mended("gfx900", "WRC-wg-dv", "amdgpu-gfx9")
    assert not found.changes and found.tried > 200
