"""What may stand in the place of a table's instructions, as the files of instruction sets have it."""

from __future__ import annotations

import random
from collections.abc import Iterator

import pytest

from rspverify.axiomatic.question import Questions
from rspverify.isa.instruction_set import instruction_set
from rspverify.limits import Limits
from rspverify.litmus.reader import read_program
from rspverify.mapping.items import item
from rspverify.mapping.reader import read_table
from rspverify.mapping.strength import gives, means_the_same, strengths
from rspverify.mapping.table import Table
from rspverify.mapping.targets import TARGETS
from rspverify.records import replace
from rspverify.scheme.mutants import Mutation, mutants_of, wider_mutants_of
from rspverify.scheme.writer import scheme_text
from rspverify.source import Source, read_source

GPUS = ("opencl-ptx", "opencl-vulkan")
SHIPPED = ("c11-x86", "c11-power-leading", "c11-aarch64-rcpc", "c11-riscv", *GPUS)


def shipped(name: str) -> Table:
    folder = "gpus" if name in GPUS else "c11"
    return read_table(read_source(f"schemes/{folder}/{name}.yaml"))


def steps(name: str, row: int) -> list[str]:
    (of_row,) = (it for it in mutants_of(shipped(name)) if it.row.number == row)
    return [f"{it.step.instruction}: {it.step.words}" for it in of_row.mutants]


@pytest.mark.parametrize(
    ("table", "row", "expected"),
    [
        ("c11-power-leading", 7, ["lwsync: drop", "lwsync: weaken to eieio"]),
        ("c11-power-leading", 8, ["sync: drop", "sync: weaken to lwsync"]),
        ("c11-power-leading", 4, ["beq L: drop", "isync: drop"]),
        ("c11-aarch64-rcpc", 5, ["LDAR r,[x]: weaken to LDAPR r,[x]"]),
        ("c11-aarch64-rcpc", 4, ["LDAPR r,[x]: weaken to LDR r,[x]"]),
        ("c11-aarch64-rcpc", 7, ["STLR v,[x]: weaken to STR v,[x]"]),
        (
            "c11-aarch64-rcpc",
            12,
            ["{OP}AL v,r,[x]: weaken to {OP}A v,r,[x]", "{OP}AL v,r,[x]: weaken to {OP}L v,r,[x]"],
        ),
        ("c11-aarch64", 10, ["L: LDAXR r,[x]: weaken to L: LDXR r,[x]"]),
        ("c11-riscv", 11, ["amo{OP}.w.rl r,v,(x): weaken to amo{OP}.w r,v,(x)"]),
        ("c11-riscv", 7, ["fence rw,w: drop", "fence rw,w: weaken to fence r,w"]),
        ("c11-x86", 8, ["MFENCE: drop"]),
        ("c11-x86-xchg", 8, ["XCHG [x],t: weaken to MOV [x],t"]),
        ("opencl-ptx", 3, ["ld.relaxed.{SCOPE} r,x: weaken to ld.relaxed.cta r,x"]),
        (
            "opencl-ptx",
            12,
            [
                f"atom.acq_rel.{{SCOPE}}.{{OP}} r,x,v: weaken to atom.{less}.{{OP}} r,x,v"
                for less in ("acquire.{SCOPE}", "release.{SCOPE}", "acq_rel.cta")
            ],
        ),
        (
            "opencl-ptx",
            21,
            [
                "fence.sc.{SCOPE}: drop",
                "fence.sc.{SCOPE}: weaken to fence.sc.cta",
                "fence.sc.{SCOPE}: weaken to fence.acq_rel.{SCOPE}",
            ],
        ),
        (
            "opencl-vulkan",
            6,
            [
                f"st.atom.rel.{{SCOPE}}.sc0.semsc0.semav x,v: weaken to st.atom.rel.{less} x,v"
                for less in ("sg.sc0.semsc0.semav", "{SCOPE}.sc0.semav", "{SCOPE}.sc0.semsc0")
            ],
        ),
        ("opencl-vulkan", 5, ["st.atom.{SCOPE}.sc0 x,v: weaken to st.av.{SCOPE}.sc0 x,v"]),
        ("opencl-vulkan", 1, ["ld.nonpriv.sc0 r,x: weaken to ld.sc0 r,x"]),
    ],
)
def test_what_a_row_is_one_step_away_from(table: str, row: int, expected: list[str]) -> None:
    found = steps(table, row)
    assert found[: len(expected)] == expected or set(expected) <= set(found)


def test_nothing_goes_without_which_a_row_does_something_else() -> None:
    """Of a loop that stores conditionally no instruction does."""
    for name in (*SHIPPED, "c11-aarch64"):
        dropped = [
            it.step.instruction
            for row in mutants_of(shipped(name))
            for it in row.mutants
            if it.step.mutation is Mutation.DROP
        ]
        wanted = ("fence", "sync", "lwsync", "isync", "beq", "DMB", "MFENCE", "membar")
        assert dropped and all(it.startswith(wanted) for it in dropped), dropped


def test_a_table_is_made_stronger_with_what_it_may_use() -> None:
    """LDAPR and lw.aq need extensions, so that only a table that has such may have more of them."""
    wider = [
        it.step.words for row in wider_mutants_of(shipped("c11-aarch64")) for it in row.mutants
    ]
    assert "strengthen to LDAR r,[x]" in wider and not any("LDAPR" in it for it in wider)
    wider = [it.step.words for row in wider_mutants_of(shipped("c11-riscv")) for it in row.mutants]
    assert not any("lw." in it for it in wider)
    more = wider_mutants_of(shipped("c11-aarch64-rcpc"))
    assert any("LDAPR" in it.step.words for row in more for it in row.mutants)


def test_the_scope_of_an_operation_is_between_the_narrowest_and_the_widest() -> None:
    known = strengths(shipped("opencl-ptx"))
    (cta, gpu, own, all_) = (
        item(f"st.release.{scope} x,v", known.target, known.span)
        for scope in ("cta", "gpu", "{SCOPE}", "sys")
    )
    assert known.above(own, cta) and known.above(all_, own) and known.above(all_, cta)
    assert not known.stronger(own, gpu) and not known.stronger(gpu, own)


def test_a_fence_is_given_the_scope_of_its_operation_and_a_plain_access_none() -> None:
    for name in GPUS:
        known, table = strengths(shipped(name)), shipped(name)
        assert known.fences and all("{SCOPE}" in str(it) for it in known.fences)
        for row in table.rows[:2]:
            assert table.steps.mean(row, row.code)
            assert not any(table.steps.mean(row, (*row.code, it)) for it in known.fences)


def test_an_atomic_of_another_scope_is_a_slip_and_not_weaker() -> None:
    """In Vulkan it may end the release sequence of another thread."""
    table = shipped("opencl-vulkan")
    own, narrow = (
        item(f"st.atom.{scope}.sc0 x,v", table.target, table.rows[0].span)
        for scope in ("{SCOPE}", "sg")
    )
    assert strengths(table, loosely=True).above(own, narrow)
    assert not strengths(table).stronger(own, narrow) and not strengths(table).stronger(narrow, own)


def test_what_is_equal_but_for_its_order_means_the_same() -> None:
    target, span = TARGETS["aarch64"], shipped("c11-aarch64").rows[0].span

    def code(*texts: str) -> tuple[object, ...]:
        return tuple(item(it, target, span) for it in texts)

    cas = ("L: LDXR r,[x]", "CMP r,e", "B.NE F", "STXR t1,v,[x]", "CBNZ t1,L", "F:")
    strong = ("DMB ISH", "L: LDAXR r,[x]", *cas[1:], "ISB")
    assert means_the_same(code(*cas), code(*strong), target)  # type: ignore[arg-type]
    for place in range(len(cas)):
        rest = code(*cas[:place], *cas[place + 1 :])
        assert not means_the_same(rest, code(*cas), target), cas[place]  # type: ignore[arg-type]


@pytest.mark.parametrize("name", SHIPPED)
def test_a_table_is_written_as_it_is_read(name: str) -> None:
    table = shipped(name)
    again = read_table(Source("again.yaml", scheme_text(table, "the same")))
    assert [(str(it), it.text) for it in again.rows] == [(str(it), it.text) for it in table.rows]
    assert (again.name, again.target, again.origin) == (table.name, table.target, table.origin)


def test_a_translator_is_written_as_it_is_read() -> None:
    table = read_table(read_source("schemes/translators/x86-aarch64-risotto.yaml"))
    again = read_table(Source("again.yaml", scheme_text(table)))
    assert again.translates == table.translates
    assert [(str(it), it.text) for it in again.rows] == [(str(it), it.text) for it in table.rows]


# ---- what is stronger leaves no outcome more -----------------------------------------------------

PROGRAMS = {
    "MP": ("seq_cst store x 1; seq_cst store y 1", "relaxed load y; acquire load x"),
    "SB": ("release store x 1; seq_cst load y", "relaxed store y 1; acquire load x"),
    "LB": ("acquire load x; release store y 1", "relaxed load y; relaxed store x 1"),
}


def program_of(threads: tuple[str, ...], name: str = "") -> Source:
    """A program; for a GPU with the scope of a device, for Vulkan without seq_cst."""
    bodies, scope, pointer = [], "", "atomic_int*"
    if name in GPUS:
        scope, pointer = ", memory_scope_device", "global atomic_int*"
    for number, thread in enumerate(threads):
        lines = []
        for at, words in enumerate(it.split() for it in thread.split("; ")):
            order, kind, x, *value = words
            if name == "opencl-vulkan":
                order = order.replace("seq_cst", "release" if value else "acquire")
            last = f", {value[0]}" if value else ""
            result = "" if value else f"int r{at} = "
            call = f"atomic_{kind}_explicit({x}{last}, memory_order_{order}{scope});"
            lines.append(f"{result}{call}")
        bodies.append(f"P{number} ({pointer} x, {pointer} y) {{ {' '.join(lines)} }}")
    if scope:
        bodies.append("scopeTree (device (work_group P0) (work_group P1))")
    head = "OpenCL" if scope else "C"
    return Source("t.litmus", f"{head} t\n{{ }}\n" + "\n".join(bodies))


def outcomes(table: Table, test: Source) -> set[object]:
    made = table.compiled(read_program(test))
    return {*Questions(made.program, made.model, Limits(), seen=made.seen).outcomes()}


def used(table: Table, test: Source) -> Table:
    return replace(table, rows=table.rows_used(read_program(test)))


def drawn(table: Table, rng: random.Random) -> Iterator[tuple[Table, Table]]:
    """The table with code as strong as can be, and ever weaker ones."""
    known, strong = strengths(table), table
    for row in table.rows:
        result = row.number in {it.number for it in table.rows if str(it).startswith("load")}
        strong = strong.with_code(row.number, known.strongest(row.code, result=result))
    for _ in range(4):
        weak = strong
        for row in mutants_of(strong):
            less = [it for it in row.mutants if it.step.mutation is not Mutation.SWAP]
            if less:
                weak = weak.with_code(row.row.number, rng.choice(less).code)
        yield strong, weak
        strong = weak


@pytest.mark.parametrize("test", PROGRAMS)
@pytest.mark.parametrize("name", SHIPPED)
def test_weaker_code_has_every_outcome(name: str, test: str) -> None:
    source = program_of(PROGRAMS[test], name)
    sizes = []
    for strong, weak in drawn(used(shipped(name), source), random.Random(f"{name} {test}")):
        fewer, more = outcomes(strong, source), outcomes(weak, source)
        assert fewer <= more
        sizes += [len(fewer), len(more)]
    assert sizes[0] <= sizes[-1] and sizes[-1] > 0


def test_what_is_stronger_costs_no_less() -> None:
    rng = random.Random(1)
    for target in TARGETS.values():
        known = instruction_set(target.dialect.instructions)
        for one in rng.sample(known.every, min(200, len(known.every))):
            for other in known.alike(one):
                if known.stronger(one, other, loosely=True):
                    assert known.cost(one) >= known.cost(other), (one.spelled, other.spelled)


def test_a_store_that_reads_as_well_gives_nothing() -> None:
    """GCC 12 stores so for RISC-V: no branch can look at what it has read."""
    text = """\
name: exchanges
target: riscv
rows:
  - {op: load, order: relaxed, code: ["lw r,0(x)"]}
  - {op: store, order: relaxed, code: ["amoswap.w zero,v,0(x)"]}
"""
    table = read_table(Source("exchanges.yaml", text))
    assert [gives(row) for row in table.rows] == [True, False]
    stores = [it for it in wider_mutants_of(table) if it.row.number == 2]
    assert not any("bnez r" in mutation.step.words for it in stores for mutation in it.mutants)
