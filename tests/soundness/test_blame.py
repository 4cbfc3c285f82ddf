"""The rows to blame for a program that a scheme breaks."""

from __future__ import annotations

from typing import Any

import pytest
from checks import MODEL, ROOT, data, scheme_named

from rspverify.limits import LimitReached, Limits
from rspverify.scheme.reader import read_scheme
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


@pytest.mark.parametrize("case", data("soundness/blamed_rows.yaml"))
def test_the_row_that_lacks_something(case: Any) -> None:
    path = ROOT / f"schemes/{case['table']}.yaml"
    before, begins, after = path.read_text().partition(case["row"])
    assert begins and case["code"] in after
    text = before + begins + after.replace(case["code"], case["instead"], 1)
    table = read_scheme(Source(str(path), text))
    if "switch" in case:
        table = table.on_machine(table.machine.switched(case["switch"]))
    program = Settings().read(read_source(ROOT / f"{case['test']}.litmus"))
    found = blame(Case(program, table, MODEL, Settings(shortest=False)), devices=program.devices)
    assert [str(each) for each in found.blamed] == case["blamed"]


def test_a_row_made_stronger_keeps_its_write_back() -> None:
    """The release is to blame, and not the plain store: a wait before its write-back mends it."""
    scheme = scheme_named("amdgpu/gfx942")
    off = "WRITE_BACK_AFTER_OWN_STORES=off"
    scheme = scheme.on_machine(scheme.machine.switched(off))
    program = Settings().read(read_source(ROOT / "litmus/amdgpu/MP-dv.litmus"))
    found = blame(Case(program, scheme, MODEL, Settings(shortest=False)), devices=1)
    assert [str(each) for each in found.blamed] == ["store DV,N (release)"]
