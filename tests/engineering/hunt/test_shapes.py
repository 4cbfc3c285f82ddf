"""Hunts over tables for processors: all programs of a shape at once, and one after the other."""

from __future__ import annotations

from pathlib import Path

import pytest

import rspverify
from rspverify.axiomatic.cat import load_model
from rspverify.engineering.hunt.finding import By, HuntReport
from rspverify.engineering.hunt.hunt import Hunt, HuntSetup
from rspverify.engineering.hunt.operations import hunting_space
from rspverify.judge.judge import Judge
from rspverify.mapping.reader import read_table
from rspverify.mapping.table import Table
from rspverify.soundness.settings import Settings
from rspverify.source import InputError, Source
from rspverify.verdict import Word

ROOT = Path(__file__).parents[3]

WEAK = """
name: weak
target: aarch64
rows:
  - {op: load, scope: na, code: ["LDR r,[x]"]}
  - {op: store, scope: na, code: ["STR v,[x]"]}
  - {op: load, order: relaxed, code: ["LDR r,[x]"]}
  - {op: load, order: acquire, code: ["LDR r,[x]", "LDR t,[x]"]}
  - {op: load, order: seq_cst, code: ["LDAPR r,[x]"]}
  - {op: store, order: [relaxed, release], code: ["STR v,[x]"]}
  - {op: store, order: seq_cst, code: ["STLR v,[x]"]}
  - {op: rmw, order: [relaxed, acquire], code: ["LDADD v,r,[x]"]}
  - {op: rmw, order: [release, seq_cst], code: ["L: LDXR r,[x]", "OP t,r,v", "STLXR t1,t,[x]", "CBNZ t1,L"]}
  - {op: cas, order: [relaxed, acquire, release, acq_rel, seq_cst],
     code: ["L: LDXR r,[x]", "CMP r,e", "B.NE F", "STXR t1,v,[x]", "CBNZ t1,L", "F:"]}
  - {op: fence, order: [relaxed, acquire, release, acq_rel], code: ["DMB ISHLD"]}
  - {op: fence, order: seq_cst, code: ["DMB ISH"]}
"""


def table(text: str) -> Table:
    """The table of a text."""
    return read_table(Source("table.yaml", text))


def hunted(
    it: Table, model: str, events: int, by: By | None, names: str, *, guards: int | None = None
) -> HuntReport:
    """All that a hunt finds in programs of these operations in up to three threads, or two."""
    threads = 3 if events < 4 else 2
    bounds = (events, threads, 1, 1, 2, guards)
    space, _ = hunting_space(it, bounds, names.split(), mixed=False)
    setup = HuntSetup(it, "", load_model(model), space, (), Settings(), by)
    return Hunt(setup, Judge()).run()


@pytest.mark.parametrize(
    ("model", "broken"), [("c11-orig", False), ("rc11", False), ("c11-simp", True)]
)
def test_a_shape_at_once_is_what_its_programs_are_one_by_one(model: str, broken: bool) -> None:
    text = WEAK.replace('release], code: ["STR v,[x]"]', "release], code: []") if broken else WEAK
    names = "ld.sc.DV st.sc.DV ld.DV st.rlx.DV cas.sc.DV inc.sc.DV F.sc.DV ld.na st.na"
    one, other = (hunted(table(text), model, 2, by, names) for by in (By.SHAPES, By.PROGRAMS))
    if not broken:
        assert one.decided == other.decided
    else:  # Program by program it ends with the first.
        assert one.findings[0].program == other.findings[0].program
        assert one.decided[Word.UNSOUND] > 30
    assert broken or one.phases == other.phases


def test_each_set_of_rows_that_breaks_has_its_smallest_program() -> None:
    it = hunted(table(WEAK), "rc11", 4, None, "ld.sc.DV st.sc.DV", guards=0)
    assert it.method.by is By.SHAPES and it.complete and not it.sound
    found = {each.program: [row.number for row in each.uses] for each in it.findings}
    message = "st.sc.DV x 10; r0=ld.sc.DV y || st.sc.DV y 20; r0=ld.sc.DV x @01"
    assert found[message] == [5, 7]
    assert not [a for a in found.values() for b in found.values() if set(a) < set(b)]


def test_one_thread_is_not_left_out_where_code_looks_at_what_it_reads() -> None:
    names = "ld.rlx.DV st.rlx.DV inc.rlx.DV"
    alone = hunted(table(WEAK), "rc11", 3, None, names, guards=0).phases[3]
    assert (alone.threads, alone.to_decide) == (1, 0) and alone.larger == alone.programs > 100
    third = '["LDADD v,r,[x]", "CMP r,#2", "B.NE L", "STR v,[x]", "L:"]'
    counting = table(WEAK.replace('["LDADD v,r,[x]"]', third))
    found = hunted(counting, "rc11", 3, None, names, guards=0)
    assert found.phases[3].to_decide == alone.programs
    assert found.findings[0].program.count("inc.rlx.DV x") == 3


def test_a_shape_of_another_code_is_decided_apart() -> None:
    """A row for acquire reads twice, and one for seq_cst increments is a loop."""
    names = "ld.rlx.DV ld.DV inc.rlx.DV inc.sc.DV"
    one, other = (hunted(table(WEAK), "c11-simp", 2, by, names) for by in (None, By.PROGRAMS))
    assert one.decided == other.decided
    assert one.decided[Word.SOUND] == one.programs


def test_shapes_are_for_tables_alone() -> None:
    with pytest.raises(InputError, match="shapes are for targets that are judged by a model"):
        rspverify.hunt("original", events=1, by=By.SHAPES)


def test_of_a_mixed_table_each_program_counts_once_by_its_worst_code() -> None:
    mixed = read_table(
        Source("schemes/mixed/t.yaml", (ROOT / "schemes/mixed/c11-riscv-manual.yaml").read_text())
    )
    names = "ld.sc.DV st.sc.DV"
    it = hunted(mixed, "c11-simp", 4, None, names, guards=0)
    plain = hunted(table(WEAK), "c11-simp", 4, None, names, guards=0)
    assert it.decided[Word.UNSOUND] and it.programs == plain.programs
    assert sum(it.decided.values()) == sum(plain.decided.values())
