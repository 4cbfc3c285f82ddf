"""What a compiler makes of operations, as rows: changed in whatever it emits, and in nothing else."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import pytest

from rspverify.axiomatic.cat import load_model
from rspverify.compilers.gpus import read_back_text, translator
from rspverify.compilers.observed import Observed, observed
from rspverify.litmus.program import Program
from rspverify.litmus.reader import read_program
from rspverify.records import replace
from rspverify.scheme.mutants import mutants_of
from rspverify.soundness.case import Case
from rspverify.soundness.check import check
from rspverify.soundness.settings import Settings
from rspverify.source import Source, read_source
from rspverify.verdict import Word

pytest.importorskip("llvmlite")
TESTS = Path(__file__).resolve().parents[2] / "litmus/amdgpu"
MODEL = load_model("opencl-rsp")
SETTINGS = Settings(shortest=False)
TWO_LOADS = """OpenCL waits_for_a_part
{ [x] = 0; [y] = 0; [z] = 0; [w] = 0; }
P0 (global atomic_int* x, global atomic_int* y, global atomic_int* z, global atomic_int* w) {
  int r0 = atomic_load_explicit(x, memory_order_acquire, memory_scope_device);
  int r1 = atomic_load_explicit(y, memory_order_relaxed, memory_scope_device);
  int r2 = atomic_load_explicit(z, memory_order_relaxed, memory_scope_device);
  atomic_store_explicit(w, r1, memory_order_relaxed, memory_scope_device);
}
exists (P0:r0=0 /\\ P0:r2=0)
"""

BARRIER = """OpenCL message_by_a_barrier
{ [x]=0; }
P0 (global int* x) {
  *x = 1;
  barrier(CLK_GLOBAL_MEM_FENCE);
}
P1 (global int* x) {
  barrier(CLK_GLOBAL_MEM_FENCE);
  int r0 = *x;
}
scopeTree (device (work_group P0 P1))
exists (1:r0=0)
"""


@cache
def program(name: str) -> Program:
    return read_program(read_source(TESTS / f"{name}.litmus"))


def of(*programs: Program) -> Observed:
    return observed(translator("amdgpu:gfx942"), programs)


def code(it: Observed, of: Program) -> list[list[str]]:
    return [[each.mnemonic.name for each in thread] for thread in it.compiled(of).code]


def test_rows_are_what_operations_became_and_change_nothing_by_themselves() -> None:
    every = [program(it) for it in ("MP-dv", "MP-fences-dv", "CAS-lock-dv", "SB-sc-dv")]
    it = of(*every)
    assert len({(str(row), row.named, row.text) for row in it.rows}) == len(it.rows)
    release = next(
        row for row in it.rows if row.text[0] == "buffer_wbl2 sc1" and len(row.text) == 3
    )
    assert release.text[1:] == ("s_waitcnt vmcnt(0)", "global_store_dword x r sc1")
    for each in every:
        assert it.compiled(each) == it.compiler.compiled(each)
        assert it.key(each) == it.compiler.key(each)
        assert it.rows_used(each)


def test_a_mutant_is_what_the_compiler_would_have_emitted() -> None:
    """It is what is read back from a text without the same lines."""
    mp = program("MP-dv")
    it = of(mp)
    found = {
        f"{mutant.row.text[mutant.step.place - 1]}: {mutant.step.words}": mutant.of(it)
        for row in mutants_of(it)
        for mutant in row.mutants
    }
    assert check(Case(mp, it, MODEL, SETTINGS)).word == "SOUND"
    for gone in ("buffer_wbl2 sc1", "buffer_inv sc1"):
        changed = found[f"{gone}: drop"]
        kept = [[name for name in thread if name != gone] for thread in code(it, mp)]
        assert code(changed, mp) == kept != code(it, mp)
        assert changed.key(mp) != it.key(mp)
        assert check(Case(mp, changed, MODEL, SETTINGS)).word == "UNSOUND"
        text = it.compiler.emitted(mp).text.replace(f"\t{gone}\n", "")
        read = read_back_text(Source("MP.s", text), mp, it.machine).instructions
        made = changed.compiled(mp).instructions
        assert made == tuple(
            replace(each, operation=own.operation) for each, own in zip(read, made, strict=True)
        )
    sent = code(it, mp)[0]
    swapped = found["buffer_wbl2 sc1: swap with s_waitcnt vmcnt(0)"]
    assert code(swapped, mp)[0] == [sent[0], sent[2], sent[1], sent[3]]
    other = program("MP-all")
    assert found["buffer_inv sc1: drop"].compiled(other) == it.compiler.compiled(other)


def test_waits_for_a_part_stay_where_they_are_and_know_what_they_wait_for() -> None:
    two = read_program(Source("two.litmus", TWO_LOADS))
    it = of(two)
    (partial,) = [each for each in it.compiled(two).instructions if each.waits]
    waited = {it.compiled(two).instructions[each].location for each in partial.waits}
    for row in mutants_of(it):
        for mutant in row.mutants:
            changed = mutant.of(it).compiled(two).instructions
            (again,) = [each for each in changed if each.waits]
            assert {changed[each].location for each in again.waits} >= waited - {None}


def test_a_barrier_is_two_fences_and_without_either_it_is_unsound() -> None:
    """On gfx1030, whose work-groups may be on two compute units."""
    test = read_program(Source("t", BARRIER))
    it = observed(translator("amdgpu:gfx1030"), [test])
    found = {
        (str(each.row), each.step.instruction): check(Case(test, each.of(it), MODEL, SETTINGS)).word
        for row in mutants_of(it)
        for each in row.mutants
    }
    assert check(Case(test, it, MODEL, SETTINGS)).word is Word.SOUND
    assert found == {
        ("fence WG,N (release)", "s_waitcnt_vscnt null 0x0"): Word.UNSOUND,
        ("fence WG,N (acquire)", "buffer_gl0_inv"): Word.UNSOUND,
    }
