"""The rows to blame for a program that a scheme breaks."""

from __future__ import annotations

from pathlib import Path

import pytest

from rspverify.axiomatic import load_model
from rspverify.limits import LimitReached, Limits
from rspverify.scheme import Op, read_scheme_file
from rspverify.soundness.blame import blame, strongest
from rspverify.soundness.case import Case
from rspverify.soundness.settings import Settings
from rspverify.source import read_source

ROOT = Path(__file__).resolve().parents[2]
MODEL = load_model("opencl-rsp")


def case_of(test: str) -> Case:
    scheme = read_scheme_file(str(ROOT / "schemes/original.yaml"))
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


@pytest.mark.parametrize("devices", [1, 2])
@pytest.mark.parametrize("anywhere", [False, True])
@pytest.mark.parametrize("path", sorted((ROOT / "schemes").glob("*.yaml")), ids=lambda it: it.stem)
def test_every_row_can_be_made_stronger(path: Path, devices: int, anywhere: bool) -> None:
    """Its code has one access, that of a fence none."""
    scheme = read_scheme_file(str(path))
    for row in scheme.rows:
        accesses = [it for it in strongest(row, scheme, devices, anywhere=anywhere) if it.accesses]
        assert len(accesses) == (row.kind is not Op.FENCE)


def test_a_row_made_stronger_keeps_its_write_back() -> None:
    """The release is to blame, and not the plain store: a wait before its write-back mends it."""
    scheme = read_scheme_file(str(ROOT / "schemes/amdgpu/gfx942.yaml"))
    program = Settings().read(read_source(ROOT / "litmus-amdgpu/MP-dv.litmus"))
    found = blame(Case(program, scheme, MODEL, Settings(shortest=False)), devices=1)
    assert [str(each) for each in found.blamed] == ["store DV,N (relaxed, release)"]
