"""Codes that nobody can tell apart: what is said to be so has the same outcomes, and no more is."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest
from machine.engines import events_outcomes

from rspverify.architecture.architecture import Architecture
from rspverify.architecture.machines import MACHINES
from rspverify.architecture.reader import read_architecture
from rspverify.generate.rows import row_tests
from rspverify.litmus.program import Program
from rspverify.litmus.reader import read_program
from rspverify.scheme.equivalence import (
    ANY_ORDER,
    HELD,
    NOTHING,
    TWICE,
    Code,
    equivalent,
    waits_longer,
)
from rspverify.scheme.mutants import mutants_of
from rspverify.scheme.reader import read_scheme, read_scheme_file
from rspverify.scheme.scheme import Scheme
from rspverify.soundness.case import machine_of
from rspverify.soundness.settings import Settings
from rspverify.source import Source

SCHEMES = Path(__file__).resolve().parents[2] / "schemes/amdgpu"
VM, LGKM, VS = "s_waitcnt vmcnt(0)", "s_waitcnt lgkmcnt(0)", "s_waitcnt_vscnt null 0x0"
READ, INV = "ds_read_b32 r x", "buffer_gl0_inv"

ROW_TESTS = {each.title: each.written().text for each in row_tests()}


def code_of(machine: Architecture, *words: str) -> Scheme:
    code = ", ".join(words)
    text = f"name: s\nmachine: {machine.name}\nrows:\n"
    row = f"  - {{op: load, scope: wg, order: acquire, memory: local, code: [{code}]}}\n"
    return read_scheme(Source("s.yaml", text + row))


def said(one: tuple[str, ...], other: tuple[str, ...], name: str = "amdgpu-gfx10") -> str | None:
    machine = MACHINES[name]
    codes = [code_of(machine, *each).rows[0].code for each in (one, other)]
    return equivalent(codes[0], codes[1], machine)


@pytest.mark.parametrize(
    ("one", "other", "why"),
    [
        ((VM, LGKM, READ), (LGKM, VM, READ), ANY_ORDER),
        ((READ, VS, VM, LGKM), (READ, LGKM, VS, VM), ANY_ORDER),
        ((VM, LGKM, READ), (VM, LGKM, VM, READ), ANY_ORDER),
        ((LGKM, READ, LGKM), (READ, LGKM), TWICE),
        ((VM, LGKM, READ, LGKM), (VM, READ, LGKM), TWICE),
        ((VM, READ, LGKM), (READ, LGKM), None),
        ((VM, READ, VM), (READ, VM), None),
        ((VM, READ, VM), (VM, READ), HELD),
        ((VM, READ, INV, VM), (VM, READ, INV), HELD),
        ((LGKM, READ, LGKM), (LGKM, READ), None),
        ((LGKM, READ), (READ,), None),
        ((READ, LGKM), (LGKM, READ), None),
        ((READ, VM, INV), (READ, INV, VM), None),
        ((READ, VM), (READ, VS), None),
    ],
)
def test_what_is_said(one: tuple[str, ...], other: tuple[str, ...], why: str | None) -> None:
    assert said(one, other) == why


@pytest.mark.parametrize(
    ("one", "other", "longer"),
    [
        ((VM, READ, LGKM), (READ, LGKM), True),
        ((READ, INV, VM), (READ, INV), True),
        ((VM, LGKM, READ), (LGKM, READ), True),
        ((READ, LGKM), (READ, LGKM), True),
        ((LGKM, READ), (READ, LGKM), False),
        ((READ, LGKM), (LGKM, READ), True),
        ((READ, VM), (VM, READ), False),
        ((READ, INV), (READ,), False),
        ((READ,), (READ, LGKM), False),
        ((VM, READ, INV), (READ, VM, INV), True),
        ((LGKM, READ, INV), (READ, LGKM, INV), False),
        ((VM, READ, LGKM), (READ, VM, LGKM), True),
        ((VM, READ, LGKM), (READ, VS, LGKM), False),
    ],
)
def test_a_code_that_waits_longer(
    one: tuple[str, ...], other: tuple[str, ...], longer: bool
) -> None:
    machine = MACHINES["amdgpu-gfx10"]
    codes = [code_of(machine, *each).rows[0].code for each in (one, other)]
    assert waits_longer(codes[0], codes[1], machine) is longer


XCNT, LOAD = "s_wait_xcnt 0x0", "ds_load_b32 r x"


@pytest.mark.parametrize(
    ("one", "other", "why"),
    [
        ((XCNT, LOAD), (LOAD,), NOTHING),
        ((XCNT, LOAD), (LOAD, XCNT), NOTHING),
        (("s_wait_dscnt 0x0", LOAD), (LOAD,), None),
        (("global_inv scope:SCOPE_DEV", LOAD), (LOAD,), None),
    ],
)
def test_what_does_nothing_may_go(
    one: tuple[str, ...], other: tuple[str, ...], why: str | None
) -> None:
    assert said(one, other, "amdgpu-gfx1250") == why


def test_what_does_nothing_may_wait_for_what_all_wait_for(tmp_path: Path) -> None:
    text = ON_THE_WAY + "instruction NOP do nothing\n"
    one, other = ("ST x r", "NOP"), ("ST x r",)
    assert equivalent(*codes_on(text, tmp_path, one, other)) == NOTHING
    text += "always when empty queue\n"
    assert equivalent(*codes_on(text, tmp_path, one, other)) is None


def test_waits_for_all_waves_do_not_change_places() -> None:
    """Another wave may issue something in between."""
    machine = MACHINES["amdgpu-gfx10"].switched("WAITS_COVER_UNIT")
    first, second = (
        code_of(MACHINES["amdgpu-gfx10"], *each).rows[0].code
        for each in ((VM, LGKM, READ), (LGKM, VM, READ))
    )
    assert equivalent(first, second, machine) is None


OUT_OF_TURN = """
machine loose "local accesses in any order"
include amdgpu-gfx9
without ds_read_b32
instruction ds_read_b32 r x
  when x is local
  do   add self to at_lds
  later LDS
    when self in at_lds
    do   remove self from at_lds; r := memory[x]
"""


def test_a_wait_counts_where_accesses_are_not_in_turn() -> None:
    loose = read_architecture(Source("loose.machine", OUT_OF_TURN.lstrip()))
    known = code_of(MACHINES["amdgpu-gfx9"], LGKM, READ, LGKM).on_machine(loose).rows[0].code
    assert equivalent(known, known[1:], loose) is None


OTHERS_WAITS = """machine waits "waits that are alike"
places thread < workgroup < device < system
reaches WG = workgroup, DV = device, SY = system
spaces global, local
state {
  memory[x] : value of system
  late[x]   : pool of thread
}
final memory
complete when each thread t, location y: empty t.late[y]
instruction LD r x do r := memory[x]
instruction ST x r
  do add self to late[x]
  later DONE when self in late[x] do remove self from late[x]; memory[x] := r
instruction WAIT_ONE when each global location y: empty late[y]
instruction WAIT_OWN when each location y: empty late[y]
instruction WAIT_ALL when each thread t in workgroup, location y: empty t.late[y]
"""


@pytest.mark.parametrize(
    ("code", "why"),
    [
        (("WAIT_OWN", "WAIT_OWN", "LD r x"), ANY_ORDER),
        (("WAIT_OWN", "WAIT_ONE", "LD r x"), None),
        (("WAIT_OWN", "WAIT_ALL", "LD r x"), None),
        (("WAIT_ALL", "WAIT_ALL", "LD r x"), None),
    ],
)
def test_waits_for_other_parts_of_what_is_counted_are_others(
    code: tuple[str, ...], why: str | None, tmp_path: Path
) -> None:
    (tmp_path / "waits.machine").write_text(OTHERS_WAITS)
    row = f"{{op: load, scope: wg, order: acquire, memory: global, code: [{', '.join(code)}]}}"
    file = tmp_path / "s.yaml"
    file.write_text(f"name: s\nmachine: waits.machine\nrows:\n  - {row}\n")
    scheme = read_scheme_file(file)
    known = scheme.rows[0].code
    assert equivalent(known, known[1:], scheme.machine) == why


ON_THE_WAY = """machine behind "what has left its queue is still on its way"
places thread < workgroup < device < system
reaches WG = workgroup, DV = device, SY = system
spaces global, local
state {
  memory[x] : value of system
  queue     : fifo of thread
  way       : pool of thread
  counted   : pool of thread
  shut      : bit of system
}
final memory
complete when each thread t: empty t.queue, each thread t: empty t.way
switch NEVER "never"
instruction LD r x do r := memory[x]
instruction SHUT do shut := true
instruction ST x r
  do enqueue self in queue
  later GO when oldest queue is self do dequeue queue; add self to way
  later DONE when self in way do remove self from way; memory[x] := r
instruction SEND x r when x is global, not shut
  do enqueue self in line; add self to counted
  later SENT when oldest line is self
    do dequeue line; remove self from counted; memory[x] := r
state { line : fifo of thread }
instruction WAIT_QUEUE when empty queue
instruction WAIT_WAY when empty way
instruction WAIT_LINE when empty line
instruction WAIT_SENT when empty counted
instruction HALT when NEVER, empty line
"""


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (("WAIT_QUEUE", "WAIT_WAY", "ST x r"), ("WAIT_QUEUE", "ST x r")),
        (("WAIT_QUEUE", "WAIT_WAY", "ST x r"), ("WAIT_WAY", "WAIT_QUEUE", "ST x r")),
        (("WAIT_SENT", "SEND x r", "WAIT_SENT"), ("SEND x r", "WAIT_SENT")),
        (("HALT", "ST x r"), ("WAIT_LINE", "ST x r")),
    ],
)
def test_what_steps_count_or_others_hold_up_is_not_said_to_be_the_same(
    one: tuple[str, ...], other: tuple[str, ...], tmp_path: Path
) -> None:
    """What a step puts into a pool, an access that may have to wait, a wait that never ends."""
    first, second, machine = codes_on(ON_THE_WAY, tmp_path, one, other)
    assert equivalent(first, second, machine) is None
    assert equivalent(first, first, machine) is not None


@pytest.mark.parametrize(
    ("looks", "why"),
    [
        ("", TWICE),
        ("step LOOK of thread when empty line do shut := true", None),
        ("instruction PEEK do if empty counted { shut := true }", None),
        ("instruction ALL when each thread t: empty t.line", None),
    ],
)
def test_a_counter_that_others_look_at(looks: str, why: str | None, tmp_path: Path) -> None:
    text = ON_THE_WAY.replace(", not shut", "") + looks + "\n"
    one, other = ("WAIT_SENT", "SEND x r", "WAIT_SENT"), ("SEND x r", "WAIT_SENT")
    assert equivalent(*codes_on(text, tmp_path, one, other)) == why


def codes_on(
    text: str, folder: Path, one: tuple[str, ...], other: tuple[str, ...]
) -> tuple[Code, Code, Architecture]:
    """Two codes on a machine."""
    (folder / "behind.machine").write_text(text)
    codes = []
    for code in (one, other):
        row = f"{{op: store, scope: wg, order: release, code: [{', '.join(code)}]}}"
        file = folder / "s.yaml"
        file.write_text(f"name: s\nmachine: behind.machine\nrows:\n  - {row}\n")
        scheme = read_scheme_file(file)
        codes.append(scheme.rows[0].code)
    return codes[0], codes[1], scheme.machine


SAMPLE = (
    "SB-then-load-seq_cst-local-wg",
    "SB-then-load-seq_cst-wg-after-local",
    "MP-by-rmw-seq_cst-dv",
)


@pytest.mark.parametrize(("cpu", "sample"), [("gfx900", SAMPLE), ("gfx1030-cumode", SAMPLE[:1])])
def test_equivalent_mutants_have_the_same_outcomes(cpu: str, sample: Sequence[str]) -> None:
    scheme = read_scheme_file(SCHEMES / f"{cpu}.yaml")
    programs = [read_program(Source(title, ROW_TESTS[title])) for title in sample]
    tried = set()
    for row in mutants_of(scheme):
        same = [it for it in row.mutants if equivalent(it.row.code, it.code, scheme.machine)]
        for program in programs if same else ():
            if row.row.number in {it.number for it in scheme.rows_used(program)}:
                mutant = same[-1]
                assert outcomes(program, mutant.of(scheme)) == outcomes(program, scheme)
                tried.add(mutant.name)
    assert len(tried) > 1


def test_a_mutant_without_what_does_nothing_has_the_same_outcomes() -> None:
    scheme, title = read_scheme_file(SCHEMES / "gfx1250.yaml"), "CoWR-store-wi"
    program = read_program(Source(title, ROW_TESTS[title]))
    used = {it.number for it in scheme.rows_used(program)}
    mutants = [it for row in mutants_of(scheme) for it in row.mutants if it.row.number in used]
    same = [it for it in mutants if equivalent(it.row.code, it.code, scheme.machine) == NOTHING]
    assert same
    for mutant in same:
        assert outcomes(program, mutant.of(scheme)) == outcomes(program, scheme)


def test_a_mutant_that_waits_longer_has_no_other_outcomes() -> None:
    """The wait for loads comes before the write-back: nothing of it is counted."""
    scheme, title = read_scheme_file(SCHEMES / "gfx1200.yaml"), "LB-by-store-release-all"
    program = read_program(Source(title, ROW_TESTS[title]))
    used = {it.number for it in scheme.rows_used(program)}
    (row,) = (
        each
        for each in mutants_of(scheme)
        if each.row.number in used and "global_wb" in " ".join(map(str, each.row.code))
    )
    longer = [it for it in row.mutants if waits_longer(it.code, it.row.code, scheme.machine)]
    (moved,) = (it for it in longer if not equivalent(it.code, it.row.code, scheme.machine))
    assert (moved.step.place, moved.step.mutation) == (1, "swap")
    known = outcomes(program, scheme)
    assert outcomes(program, moved.of(scheme)) <= known
    others = [it for it in row.mutants if it not in longer]
    assert not all(outcomes(program, it.of(scheme)) <= known for it in others)


def outcomes(program: Program, scheme: Scheme) -> frozenset[object]:
    return frozenset(events_outcomes(machine_of(scheme.compiled(program), Settings())))
