"""The rows to blame for a program that a scheme breaks."""

from __future__ import annotations

import pytest
from checks import MODEL, ROOT, scheme_named

from rspverify.limits import LimitReached, Limits
from rspverify.scheme.reader import read_scheme
from rspverify.scheme.scheme import Scheme
from rspverify.soundness.blame import blame
from rspverify.soundness.case import Case
from rspverify.soundness.settings import Settings
from rspverify.source import Source, read_source


def case_of(test: str) -> Case:
    scheme = scheme_named("original")
    program = Settings().read(read_source(ROOT / "litmus/rsp/paper" / test))
    return Case(program, scheme, MODEL, Settings(shortest=False))


@pytest.mark.parametrize(("test", "row"), [("Fig4.litmus", 2), ("Ex4.litmus", 6)])
def test_the_rows_that_the_paper_blames(test: str, row: int) -> None:
    found = blame(case_of(test), devices=1)
    assert [each.number for each in found.blamed] == [row]
    assert found.blamed in found.mends


def test_a_limit_on_all_checks_together() -> None:
    with pytest.raises(LimitReached, match="timeout"):
        blame(case_of("Fig4.litmus"), devices=1, limits=Limits(seconds=0.000001))


def edited(name: str, row: str, code: str, other: str) -> Scheme:
    """A shipped scheme with another code in the first row that begins so."""
    path = ROOT / f"schemes/{name}.yaml"
    before, begins, after = path.read_text().partition(row)
    assert begins and code in after
    return read_scheme(Source(str(path), before + begins + after.replace(code, other, 1)))


WRITES_LATER = "WRITE_BACK_AFTER_OWN_STORES"
RELEASE_942 = "scope: dv, order: release, remote: false, memory: global"
ACQUIRE_1250 = "scope: dv, order: acquire, remote: false, memory: global"


@pytest.mark.parametrize(
    ("table", "switch", "test", "blamed"),
    [
        (  # Its writes leave the L1 and stay in the L2, whatever it flushes there first.
            edited("quickrelease", "store, scope: dv", "FLU_L2 DV, ST", "ST"),
            None,
            "litmus/rsp/MP/MP+st.na-st.DV+ld.DV-ld.na",
            ["store DV,N"],
        ),
        (  # The same, under a lock of its own.
            edited(
                "proposed-multi-device-inv-l2",
                "op: store\n    scope: all\n    remote: false",
                "FLU_L2 DV, ST",
                "ST",
            ),
            None,
            "litmus/devices/MP/MP+st.na-st.ALL+ld.ALL-ld.na@0--1",
            ["store ALL,N"],
        ),
        (  # Stores twice, and the second must be flushed.
            edited(
                "proposed-multi-device",
                "op: store\n    scope: na",
                "ST r x, FLU_L1 WG, FLU_L2 DV, ST r x",
                "ST r x, ST r x",
            ),
            None,
            "litmus/devices/MP/MP+st.na-st.ALL+ld.ALL-ld.na@0--1",
            ["store na"],
        ),
        (  # The lock of its own is what another takes, and waits for.
            edited(
                "proposed-multi-device",
                "op: rmw\n    scope: all\n    remote: false",
                "INC_L2 r x\n      - FLU_L2 DV",
                "INC_L2 r x",
            ),
            None,
            "litmus/devices/RMW/RMW+inc.ALL+inc.ALL@0--1",
            ["rmw ALL,N"],
        ),
        (
            edited("amdgpu/gfx942", RELEASE_942, "buffer_wbl2 sc1, ", ""),
            WRITES_LATER,
            "litmus/amdgpu/MP-dv",
            ["store DV,N (release)"],
        ),
        (
            edited("amdgpu/gfx1250", ACQUIRE_1250, ", global_inv scope:SCOPE_DEV", ""),
            WRITES_LATER,
            "litmus/amdgpu/MP-dv",
            ["load DV,N (acquire)"],
        ),
        (  # Neither is enough alone: the write-back of the release is issued before what it waits for.
            edited("amdgpu/gfx1250", ACQUIRE_1250, ", global_inv scope:SCOPE_DEV", ""),
            None,
            "litmus/amdgpu/MP-dv",
            ["load DV,N (acquire)", "store DV,N (release)"],
        ),
    ],
)
def test_the_row_that_lacks_something(
    table: Scheme, switch: str | None, test: str, blamed: list[str]
) -> None:
    if switch:
        table = table.on_machine(table.machine.switched(switch))
    program = Settings().read(read_source(ROOT / f"{test}.litmus"))
    found = blame(Case(program, table, MODEL, Settings(shortest=False)), devices=program.devices)
    assert [str(each) for each in found.blamed] == blamed


def test_a_row_made_stronger_keeps_its_write_back() -> None:
    """The release is to blame, and not the plain store: a wait before its write-back mends it."""
    scheme = scheme_named("amdgpu/gfx942")
    program = Settings().read(read_source(ROOT / "litmus/amdgpu/MP-dv.litmus"))
    found = blame(Case(program, scheme, MODEL, Settings(shortest=False)), devices=1)
    assert [str(each) for each in found.blamed] == ["store DV,N (release)"]
