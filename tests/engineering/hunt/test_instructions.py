"""Hunts over tables from one processor to another: programs of the source's own instructions."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import rspverify
from rspverify.engineering.hunt.finding import HuntReport
from rspverify.judge.judge import Judge
from rspverify.litmus.reader import read_program
from rspverify.programs.assembly import assembly_text, instruction_access
from rspverify.programs.litmus_test import Access, Thread, litmus_test
from rspverify.programs.notation import notation
from rspverify.records import replace
from rspverify.soundness.settings import Settings
from rspverify.source import InputError, Source
from rspverify.value import Binary, Constant, Read
from rspverify.verdict import Word

ROWS = {
    "load": '"MOV r,[x]", code: ["LDR r,[x]", "DMB LD"]',
    "store": '"MOV [x],v", code: ["DMB ST", "STR v,[x]"]',
    "xchg": '"XCHG [x],r", code: ["SWPAL v,r,[x]"]',
    "cmpxchg": '"LOCK CMPXCHG [x],v", code: ["MOV r,e", "CASAL r,v,[x]"]',
    "torn": '"LOCK XADD [x],r", code: ["LDR r,[x]", "ADD t,r,v", "STR t,[x]"]',
}


def hunted(folder: Path, rows: str, under: str = "aarch64", **rest: Any) -> HuntReport:
    """All that a hunt finds in a table from x86 to AArch64 with these rows."""
    lines = [f"  - {{from: {ROWS[it]}}}\n" for it in rows.split()]
    head = f"name: table\nfrom: x86\ntarget: aarch64\nunder: {under}\nrows:\n"
    (folder / "table.yaml").write_text(head + "".join(lines))
    settings = Settings(model="x86-tso")
    return rspverify.hunt(
        folder / "table.yaml", settings=settings, threads=2, judge=Judge(), **rest
    ).report()


def test_a_comparison_that_fails_is_found_unaided(tmp_path: Path) -> None:
    found = hunted(tmp_path, "store cmpxchg")
    assert [it.program for it in found.findings] == [
        "MOV [x],10; MOV [y],20 || MOV [y],30; r0=LOCK CMPXCHG [x],40 if 10 @01"
    ]
    assert [it.number for it in found.findings[0].uses] == [1, 2]
    assert "MOV EAX,$10" in found.findings[0].text


def test_an_exchange_was_no_fence(tmp_path: Path) -> None:
    then = hunted(tmp_path, "load xchg", "aarch64-2021")
    assert "r0=XCHG [x],10; r1=MOV [y] || r0=XCHG [y],20; r1=MOV [x] @01" in {
        it.program for it in then.findings
    }
    now = hunted(tmp_path, "load xchg")
    assert now.sound and now.decided[Word.SOUND] > 20
    assert now.space.idle_rows == ()


def test_code_that_another_may_come_between_is_decided_in_full(tmp_path: Path) -> None:
    torn = hunted(tmp_path, "load torn", events=2)
    assert [it.program for it in torn.findings] == ["r0=LOCK XADD [x],1 || r0=LOCK XADD [x],1 @01"]
    assert torn.phases[-1].alone == 0
    assert hunted(tmp_path, "load xchg", events=2).phases[-1].alone > 0


def test_what_happens_in_turn_is_sound_when_it_is_decided(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    left_out = hunted(tmp_path, "load cmpxchg", events=3)
    module = "rspverify.engineering.hunt.by_shapes.Shapes"
    monkeypatch.setattr(f"{module}.in_turn", lambda *_: False)
    in_full = hunted(tmp_path, "load cmpxchg", events=3)
    assert left_out.phases[-1].alone > 50 and in_full.phases[-1].alone == 0
    assert left_out.sound and in_full.sound
    assert [it.programs for it in left_out.phases] == [it.programs for it in in_full.phases]


def of(text: str, location: str | None, value: int | None = None, expected: int = 0) -> Access:
    """An instruction at a location."""
    found = instruction_access(text)
    assert found is not None
    its = found.value if value is None else Constant(value)
    wanted = Constant(expected) if found.compares else None
    return replace(found, location=location, value=its, expected=wanted)


def test_a_test_in_assembly_is_read_as_it_was_meant() -> None:
    accesses = (
        of("AArch64: STLR v, [x]", "x", 10),
        of("AArch64: SWPAL v, r, [x]", "y", 20),
        of("AArch64: LDADD v, r, [x]", "y"),
        of("AArch64: CASAL r, v, [x]", "x", 30, 10),
        of("AArch64: DMB SY", None),
        of("AArch64: LDAPR r, [x]", "y"),
    )
    test = litmus_test([Thread((0, 0), accesses)])
    read = read_program(Source("t", assembly_text(test, "t")), assembly=True)
    assert [str(it) for it in read.operations] == [
        "store na x", "rmw y", "rmw y", "rmw x", "fence", "load na y",
    ]  # fmt: skip
    assert [it.instruction for it in read.operations] == [
        "STLR", "SWPAL", "LDADD", "CASAL", "DMB", "LDAPR",
    ]  # fmt: skip
    compared = Binary("==", Read(3), Constant(10))
    assert [it.success for it in read.operations][3:4] == [compared]
    assert read.operations[2].value == Binary("+", Read(2), Constant(1))
    assert "r0=CASAL 30,[x] if 10" in notation(test)


def test_operations_of_rows_are_not_chosen(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="operations are the rows of table"):
        hunted(tmp_path, "load store", kinds=["ld"])
