"""Tables that no proof covers: each is unsound, its obligations hold all the same, and `prove` does
not say PROVED but what is no part of the proof."""

from __future__ import annotations

from dataclasses import dataclass

import pytest
from command_line import run

import rspverify
from rspverify.programs.notation import read_notation
from rspverify.programs.writer import litmus_text
from rspverify.source import Source

PROPOSED = """
  - {op: load,  scope: [na, wg],           code: [LD r x]}
  - {op: load,  scope: dv, remote: false,  code: [LD r x, INV_L1 WG]}
  - {op: store, scope: [na, wg],           code: [ST r x]}
  - {op: store, scope: dv, remote: false,  code: [FLU_L1 WG, ST r x]}
  - {op: rmw,   scope: wg,                 code: [INC_L1 r x]}
  - {op: rmw,   scope: dv, remote: false,  code: [FLU_L1 WG, INC_L2 r x, INV_L1 WG]}
"""
"""The rows of Proposed that are not remote."""


@dataclass(frozen=True)
class Refused:
    """A row more, a program that it breaks, and what is said of it.

    rows: the others. verdict: of the program.
    """

    row: str
    program: str
    said: str
    rows: str = PROPOSED
    machine: str = "rsp"
    verdict: str = "UNSOUND"

    @property
    def table(self) -> Source:
        """The table."""
        text = f"name: refused\nmachine: {self.machine}\nrows:\n{self.rows}\n  - {self.row}\n"
        return Source("refused.yaml", text)


SB = "st.sc.DV x 1; r0=ld.sc.DV y || st.sc.DV y 1; r0=ld.sc.DV x"
MP = "st.na x 1; {} y 1 || r0={} y; if r0==1: r1=ld.na x"
SEQ_CST = """{op: load, scope: dv, remote: false, order: seq_cst, code: [LD r x, INV_L1 WG]}
  - {op: store, scope: dv, remote: false, order: seq_cst, code: [FLU_L1 WG, ST r x]}"""

REMOTE_STORE = (
    "{op: store, scope: dv, remote: true, code: [LK_rmw DV, FLU_L1 DV, INV_L1 DV, ST r x, "
    "FLU_L1 WG, INV_L1 DV, UL_rmw DV]}"
)
"""That of Proposed."""

CASES = {
    "seq_cst": Refused(SEQ_CST, SB, "axiom Sc"),
    "relaxed stores": Refused(
        "{op: store, scope: dv, remote: true, order: relaxed, code: [ST r x]}",
        "r0=inc.WG x || st.rlx.DV.R x 10",
        "every atomic store must release",
    ),
    "compare-exchanges": Refused(
        "{op: cas, scope: dv, remote: false, code: [RMW_L1 r x]}",
        "r0=cas.DV x 0 1 || r0=cas.DV x 0 1 (atomic x)",
        "not for a cas",
    ),
    "fences": Refused(
        """{op: fence, scope: dv, remote: false, code: []}
  - {op: load, scope: dv, remote: false, order: relaxed, code: [LD r x]}
  - {op: store, scope: dv, remote: false, order: relaxed, code: [ST r x]}""",
        "st.na x 1; F.rel.DV; st.rlx.DV y 1 || r0=ld.rlx.DV y; F.acq.DV; if r0==1: r1=ld.na x",
        "not for a fence",
    ),
    "scopes within a work-group, with a lock that others hold": Refused(
        f"""{{op: load, scope: wi, code: [LD r x, UL_rmw DV]}}
  - {REMOTE_STORE}""",
        "r0=inc.WG x || st.DV.R x 10 || r0=ld.WI z",
        "scope WI is not proved",
    ),
    "scope ALL": Refused(
        "{op: load, scope: all, remote: false, code: [LD r x]}",
        "st.na x 1; st.DV y 1 || r0=ld.ALL y; if r0==1: r1=ld.na x",
        "store DV,N then load ALL,N",
    ),
    "two stores": Refused(
        REMOTE_STORE.replace("]", ", ST r x]"),
        "r0=inc.WG x || st.DV.R x 10",
        "access memory once, by ST, not by ST and ST",
    ),
    "flushes of the L2": Refused(
        "{op: load, scope: dv, remote: true, code: [LD r x, FLU_L2 DV]}",
        "st.na x 1; st.WG y 1 || r0=ld.DV.R y; if r0==1: r1=ld.na x",
        "without FLU_L2 DV",
    ),
    "reach SY": Refused(
        "{op: load, scope: dv, remote: true, code: [LD r x, FLU_L1 SY]}",
        "st.na x 1; st.WG y 1 || r0=ld.DV.R y; if r0==1: r1=ld.na x",
        "without FLU_L1 SY",
    ),
    "other machines": Refused(
        "{op: rmw, scope: dv, remote: true, code: [INC_L2 r x]}",
        "r0=inc.WG x || r0=inc.DV.R x",
        "no proof is known for machine rsp-lines",
        machine="rsp-lines",
    ),
    "no row at all": Refused(
        "{op: load, scope: [na, wg], code: [LD r x]}",
        "r0=ld.na x",
        "no atomic operations",
        rows="",
        verdict="SOUND",
    ),
    "locks freed by those that do not hold them": Refused(
        REMOTE_STORE.replace("[", "[UL_rmw DV, "),
        "st.DV.R y 5 || st.DV.R x 10 || r0=inc.WG x",
        "store DV,R then rmw WG,N",
    ),
}


PLAIN_LOCATION = """OpenCL plain
{{ [y]=0; }}
P0 (global int* y) {{
  atomic_fetch_add_explicit(y, 1, memory_order_{order}, memory_scope_device);
}}
P1 (global int* y) {{
  int r0 = atomic_load_explicit(y, memory_order_acquire, memory_scope_device);
}}
scopeTree (device (work_group P0) (work_group P1))
exists (1:r0=1)
"""


@pytest.mark.parametrize("name", CASES)
def test_not_proved(name: str) -> None:
    """Neither is it said to be proved, nor is the reason kept back."""
    case = CASES[name]
    (proof,) = rspverify.prove(case.table)
    assert proof.word != "PROVED"
    told = [*proof.refused, proof.reason, *(it.meaning for it in proof.broken)]
    assert any(case.said in each for each in told)
    assert proof.refused == () or proof.broken == (), "what is no part of it breaks no obligation"


def test_plain_locations() -> None:
    """An RMW on a location that is not declared atomic must release and acquire: with less Proposed,
    which is proved, is UNSOUND. So it is said that others are not meant."""
    shown = run("prove", "proposed")
    assert shown.output.startswith("PROVED") and "atomics on atomic locations" in shown.output
    for order, verdict in (("acquire", "UNSOUND"), ("acq_rel", "SOUND")):
        test = Source("plain.litmus", PLAIN_LOCATION.format(order=order))
        (found,) = rspverify.check("proposed", test)
        assert found.verdict == verdict


@pytest.mark.parametrize("name", [it for it in CASES if CASES[it].verdict == "UNSOUND"])
def test_unsound(name: str) -> None:
    """A test shows that the table is unsound."""
    case = CASES[name]
    test = Source("refused.litmus", litmus_text(read_notation(case.program), "refused"))
    (found,) = rspverify.check(case.table, test)
    assert found.verdict == "UNSOUND"


def test_places_are_told() -> None:
    """The line and the column of the row."""
    (proof,) = rspverify.prove(CASES["two stores"].table)
    assert proof.refused[0].startswith("refused.yaml:12:5: row 7, store DV,R: ")
