"""Fences by formula: of each program what is said of it by itself, and none is lost."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from engineering.hunt.agreement import Asked, lost, said, suspected
from engineering.hunt.tables import ROOT, scheme, without
from enumeration.written import packed_line

from rspverify.engineering.hunt.formula.choices import Choices
from rspverify.engineering.hunt.operations import hunting_space, row_shape
from rspverify.enumeration.races import races
from rspverify.enumeration.space import Space, access_of
from rspverify.enumeration.tables import Tables
from rspverify.litmus.reader import read_program
from rspverify.programs.meaning import program_of
from rspverify.programs.notation import notation, read_notation
from rspverify.programs.writer import litmus_text
from rspverify.scheme.scheme import Scheme
from rspverify.smt.term import Term
from rspverify.source import Source

MESSAGE = "st.na x 10; F.rel.DV; st.rlx.DV y 20 || r0=ld.rlx.DV y; F.acq.DV; if r0==20: r1=ld.na x"
BUFFERS = "st.rlx.DV x 10; F.sc.DV; r0=ld.rlx.DV y || st.rlx.DV y 20; F.sc.DV; r0=ld.rlx.DV x"


@pytest.mark.parametrize(
    ("line", "name", "row", "dropped"),
    [
        (MESSAGE, "proposed-full", "", ""),
        (MESSAGE, "proposed-full", "F.rel.DV", "FLU_L1 WG"),
        (MESSAGE, "proposed-full", "F.acq.DV", "INV_L1 WG"),
        (MESSAGE, "amdgpu/gfx900", "F.rel.DV", "s_waitcnt vmcnt(0)"),
        (MESSAGE, "amdgpu/gfx900", "F.acq.DV", "buffer_wbinvl1_vol"),
        (BUFFERS, "amdgpu/gfx900", "", ""),
        (BUFFERS, "amdgpu/gfx900", "F.sc.DV", "s_waitcnt vmcnt(0)"),
    ],
)
def test_what_fences_order_is_suspected_as_by_itself(
    line: str, name: str, row: str, dropped: str
) -> None:
    """Messages and store buffering, in a formula of six operations, with a planted mistake or not."""
    table = without(scheme(name), row, dropped) if row else scheme(name)
    shape, space = packed_line(line)
    assert not races(shape, Tables(space))
    expected = suspected(shape, space, table)
    assert expected is bool(row)
    assert Asked(space, table).choose(shape) is expected


def test_naming_the_first_location_by_what_may_be_a_fence_would_be_noticed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    space = Space(events=5, threads=2, operations=("inc.DV", "F.rel.DV"))

    def wrong(self: Choices) -> Iterator[Term]:
        if len(self.sketch.atomic) == 2:
            yield self._at((0, 0), 0)

    assert not lost(space)
    monkeypatch.setattr(Choices, "_first_of_symmetric", wrong)
    assert lost(space)


@pytest.mark.parametrize("name", sorted(it.stem for it in (ROOT / "schemes/amdgpu").glob("*.yaml")))
def test_fences_of_both_memories_have_the_code_of_others_but_for_local_memory(name: str) -> None:
    """So that a hunt need not have them. Where a row lacks an instruction, it has."""
    table = scheme(f"amdgpu/{name}")
    assert not [it for it in fences(table) if it.endswith(".both")]
    shape = row_shape(access_of("F.acq.DV.both"))
    if shape in table.table:
        last = str(table.table[shape].code[-1])
        assert "inv" in last
        planted = without(table, "F.acq.DV.both", last)
        assert "F.acq.DV.both" in fences(planted)


def fences(table: Scheme) -> tuple[str, ...]:
    asked = {"orders": ["acq", "rel", "ar", "sc"], "kinds": ["F"]}
    return hunting_space(table, (3, 2, 2, 1, 1, None), None, mixed=False, **asked)[0].operations


def test_a_fence_of_both_memories_has_a_row_of_its_own() -> None:
    """It lacks an invalidation here, which that of global memory has."""
    table = without(
        scheme("amdgpu/gfx900+RMW_DROPS_LINE=off"), "F.acq.DV.both", "buffer_wbinvl1_vol"
    )
    names = ["F.acq.DV", "F.acq.DV.both", "inc.rlx.DV", "ld.rlx.WG"]
    space = hunting_space(table, (3, 1, 1, 1, 1, None), names, mixed=False)[0]
    found = said(space, table)
    assert found.broken <= found.suspected == found.chosen
    line = "r0=inc.rlx.DV x; F.acq.DV{}; r1=ld.rlx.WG x"
    assert line.format(".both") in found.broken
    assert line.format("") in found.programs - found.broken


def test_a_fence_of_both_memories_says_so_in_the_text() -> None:
    test = read_notation(MESSAGE.replace("F.acq.DV", "F.acq.DV.both"))
    assert notation(test) == MESSAGE.replace("F.acq.DV", "F.acq.DV.both")
    text = litmus_text(test, "MP")
    assert text.count("CLK_GLOBAL_MEM_FENCE | CLK_LOCAL_MEM_FENCE") == 1
    read = [it.regions for it in read_program(Source("MP", text)).operations]
    assert read == [it.regions for it in program_of(test, "MP").operations]
    assert read.count(frozenset({"global", "local"})) == 1
