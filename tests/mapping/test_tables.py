"""Tables for targets whose executions are those of a model: verdicts, and what a table may say."""

import random
from itertools import product, zip_longest

import pytest

import rspverify
from rspverify.axiomatic.cat import load_model
from rspverify.axiomatic.question import Questions
from rspverify.limits import Limits
from rspverify.litmus.program import Kind, Program
from rspverify.litmus.reader import read_program
from rspverify.mapping.mapped import Mapped
from rspverify.mapping.reader import read_table
from rspverify.mapping.table import Table
from rspverify.records import replace
from rspverify.scheme.writer import scheme_text
from rspverify.soundness.settings import Engine, Settings
from rspverify.source import InputError, Source, read_source
from rspverify.translators import read_scheme_or_table
from rspverify.value import Read
from rspverify.verdict import Word

RC11, C11 = Settings(model="rc11"), Settings(model="c11-simp")


def shipped(name: str) -> Source:
    return read_source(f"schemes/c11/{name}.yaml")


def without(name: str, row: str, code: str) -> Source:
    """A shipped table with other code in the row that begins so."""
    lines = shipped(name).text.split("\n")
    (at,) = (number for number, line in enumerate(lines) if f"{{{row}," in line)
    lines[at] = f"  - {{{row}, code: [{code}]}}"
    return Source(f"{name}-mutant.yaml", "\n".join(lines))


def word(table: Source, test: str, settings: Settings) -> Word:
    source = read_source(f"litmus/targets/{test}.litmus")
    return rspverify.explain(table, source, settings).explanation.verdict.word


@pytest.mark.parametrize(
    ("name", "row", "code", "test"),
    [
        ("c11-x86", "op: store, order: seq_cst", '"MOV [x],v"', "seq_cst/SB"),
        ("c11-x86-loads", "op: load, order: seq_cst", '"MOV r,[x]"', "seq_cst/SB"),
        ("c11-power-leading", "op: store, order: release", '"stw v,0(x)"', "synchronisation/MP"),
        ("c11-power-leading", "op: load, order: acquire", '"lwz r,0(x)"', "synchronisation/MP"),
        ("c11-aarch64", "op: load, order: acquire", '"LDR r,[x]"', "synchronisation/MP"),
        ("c11-aarch64", "op: store, order: release", '"STR v,[x]"', "synchronisation/MP"),
        ("c11-aarch64", "op: fence, order: acquire", '"DMB ISHST"', "synchronisation/MP+fences"),
        ("c11-riscv", "op: load, order: seq_cst", '"lw r,0(x)", "fence r,rw"', "seq_cst/SB"),
        ("c11-riscv", "op: store, order: release", '"sw v,0(x)"', "synchronisation/MP"),
        ("c11-riscv", "op: fence, order: release", '"fence r,w"', "synchronisation/MP+fences"),
    ],
)
def test_what_a_table_lacks_is_found(name: str, row: str, code: str, test: str) -> None:
    settings = C11 if test.startswith("seq_cst") else RC11
    assert word(shipped(name), test, settings) is Word.SOUND
    assert word(without(name, row, code), test, settings) is Word.UNSOUND


def test_both_columns_of_x86_may_not_be_mixed() -> None:
    """Stores of the one with loads of the other: neither has the fence."""
    row, code = "op: load, order: seq_cst", '"MOV r,[x]"'
    assert word(without("c11-x86-loads", row, code), "seq_cst/SB", C11) is Word.UNSOUND
    assert word(shipped("c11-x86"), "seq_cst/SB", C11) is Word.SOUND


def test_an_execution_of_the_target_is_shown_at_the_lines_of_the_test() -> None:
    test = read_source("litmus/targets/seq_cst/Z6.U.litmus")
    text = str(rspverify.explain(shipped("c11-power-leading"), test, C11))
    assert "power allows the execution below" in text and "F[SYNC,sync]" in text
    assert "lwarx r,0,x; OP t,r,v; stwcx. t,0,x; bne L" in text and "Sc: acyclic" in text
    lines = {
        int(line.split()[2]) for line in text.split("\n") if line.startswith("e") and "P" in line
    }
    assert lines <= {*range(5, 16)}


# ---- what a program becomes ------------------------------------------------------------------------

HEAD = "name: t\ntarget: {target}\nrows:\n"


def table(target: str, *rows: str) -> Table:
    return read_table(Source("t.yaml", HEAD.format(target=target) + "\n".join(rows)))


def told(made: Mapped) -> dict[int, int]:
    """The read that gives the result of each read of the source."""
    reads = {it.operation: it.value for it in made.seen}
    assert all(isinstance(it, Read) for it in reads.values())
    return {index: it.index for index, it in reads.items() if isinstance(it, Read)}


def program(*threads: str) -> Program:
    parameters = "(atomic_int* x, atomic_int* y)"
    bodies = [f"P{number} {parameters} {{ {text} }}" for number, text in enumerate(threads)]
    return read_program(Source("t.litmus", "C t\n{ }\n" + "\n".join(bodies)))


def load(register: str, x: str) -> str:
    return f"int {register} = atomic_load_explicit({x}, memory_order_relaxed);"


def store(x: str, value: str) -> str:
    return f"atomic_store_explicit({x}, {value}, memory_order_relaxed);"


PLAIN = (
    "  - {op: load, order: relaxed, code: ['lw r,0(x)']}",
    "  - {op: store, order: relaxed, code: ['sw v,0(x)']}",
)


def test_dependencies_are_those_of_the_source() -> None:
    """By data and by control, which reaches what is behind the branch as well."""
    body = f"{load('r0', 'x')} {load('r1', 'y')} if (r1) {{ {store('x', 'r0 ^ r0')} }} {store('y', '1')}"
    made = table("riscv", *PLAIN).compiled(program(body))
    first, second, inside, behind = (it.textual for it in made.program.operations)
    assert first is not None and not first.control and second is not None
    assert inside is not None and (inside.data, inside.control) == ({0}, {1})
    assert behind is not None and (behind.data, behind.control) == (frozenset(), {1})


def test_a_compare_exchange_that_fails_writes_nothing() -> None:
    rows = ["L: lwarx r,0,x", "cmpw r,e", "bne F", "stwcx. v,0,x", "bne L", "F:"]
    made = table("power", f"  - {{op: cas, order: relaxed, code: {rows}}}").compiled(
        program(
            "int r0 = 1; int r1 = atomic_compare_exchange_strong_explicit"
            "(x, &r0, 2, memory_order_relaxed, memory_order_relaxed);"
        )
    )
    kinds = [it.kind for it in made.program.operations]
    assert kinds == [Kind.LOAD, Kind.CHOICE, Kind.STORE] and told(made) == {0: 0}
    found = Questions(made.program, load_model("power"), Limits(), seen=made.seen).outcomes()
    assert [(dict(it.reads), dict(it.memory)["x"]) for it in found] == [({0: 0}, 0)]


NESTED = {
    "if in an if": "if (r1 == 1) { if (r2 == 1) { *a = 3; } }",
    "and": "if (r1 == 1 && r2 == 1) { *a = 3; }",
    "value": "int r3 = 1; if (r1 == 1) { r3 = r2; } atomic_store_explicit(x, r3, memory_order_relaxed);",
}


@pytest.mark.parametrize("text", NESTED.values(), ids=NESTED)
@pytest.mark.parametrize("name", ["c11-power-leading", "c11-aarch64", "c11-x86"])
def test_what_depends_on_a_read_on_some_ways_only_is_not_judged(name: str, text: str) -> None:
    """Where r1 is 0 nothing looks at r2: the store behind does not depend on it then."""
    parameters = "(atomic_int* x, atomic_int* y, atomic_int* z, int* a)"
    first = f"{load('r1', 'y')} {load('r2', 'z')} {text} {store('y', '1')}"
    second = f"{load('r1', 'y')} {store('z', 'r1')}"
    threads = f"P0 {parameters} {{ {first} }}\nP1 {parameters} {{ {second} }}"
    test = Source("t.litmus", f"C t\n{{ }}\n{threads}")
    verdict = rspverify.explain(shipped(name), test, RC11).explanation.verdict
    assert verdict.word is Word.UNSUPPORTED and "on some of the ways to it" in verdict.reason


def test_a_loop_is_a_branch_for_what_is_behind_it() -> None:
    body = "while (atomic_load_explicit(x, memory_order_relaxed) == 0) ; " + store("y", "1")
    _, behind = (
        it.textual for it in table("riscv", *PLAIN).compiled(program(body)).program.operations
    )
    assert behind is not None and behind.control == {0}


@pytest.mark.parametrize("code", ["OP t,r", "OP x,r,v", "OP t,x,v", "OP t,r,r"])
def test_an_operation_must_be_written_as_it_is(code: str) -> None:
    rows = ["L: lwarx r,0,x", code, "stwcx. t,0,x", "bne L"]
    with pytest.raises(InputError, match="OP must be written"):
        table("power", f"  - {{op: rmw, order: relaxed, code: {rows}}}")


@pytest.mark.parametrize("code", ["exists (x=1)", "stw v,0(x) ; sync", "stw v,0(x)\nsync", "|"])
def test_an_item_of_code_is_one_instruction(code: str) -> None:
    item = code.replace("\n", "\\n")
    with pytest.raises(InputError):
        table("power", f'  - {{op: store, order: relaxed, code: [sync, "{item}"]}}')


def test_what_is_exchanged_does_not_depend_on_what_was_there() -> None:
    rows = ["L: LDXR r,[x]", "OP t,r,v", "STXR t1,t,[x]", "CBNZ t1,L"]
    made = table("aarch64", f"  - {{op: rmw, order: relaxed, code: {rows}}}")
    for call, depends in (("exchange", frozenset()), ("fetch_add", {0})):
        text = f"int r0 = atomic_{call}_explicit(x, 1, memory_order_relaxed);"
        (store_,) = (
            it for it in made.compiled(program(text)).program.operations if it.kind is Kind.STORE
        )
        assert store_.textual is not None and store_.textual.data == depends


def test_what_has_no_code_has_no_branch_around_it() -> None:
    fence = "  - {op: fence, order: relaxed, code: []}"
    body = f"{load('r0', 'x')} if (r0) {{ atomic_thread_fence(memory_order_relaxed); }} {store('y', '1')}"
    _, behind = (
        it.textual
        for it in table("riscv", *PLAIN, fence).compiled(program(body)).program.operations
    )
    assert behind is not None and not behind.control


def test_an_operation_without_values_is_refused() -> None:
    made = table("power", "  - {op: load, order: relaxed, code: ['lwz r,0(x)', 'OP t,r,v']}")
    with pytest.raises(InputError, match="calculates with an address"):
        made.compiled(program(load("r0", "x")))


def test_an_engine_of_machines_is_refused() -> None:
    for settings in (
        Settings(model="rc11", engine=Engine.EXPLICIT),
        Settings(model="rc11", engine=Engine.UNROLL, steps=5),
    ):
        assert word(shipped("c11-x86"), "synchronisation/MP", settings) is Word.UNSUPPORTED


def test_an_else_has_the_branch_of_its_if() -> None:
    body = f"{load('r0', 'x')} if (r0) {{ {store('y', '1')} }} else {{ {store('y', '2')} }}"
    made = table("riscv", *PLAIN).compiled(program(f"{body} {store('x', '1')}"))
    assert [it.textual.control for it in made.program.operations if it.textual] == [
        frozenset(),
        {0},
        {0},
        {0},
    ]


def test_a_model_of_another_architecture_is_refused() -> None:
    text = shipped("c11-aarch64").text.replace("target: aarch64", "target: aarch64\nunder: x86-tso")
    with pytest.raises(InputError, match="under must name a model of aarch64, not x86-tso"):
        read_table(Source("t.yaml", text))


def test_a_loop_that_goes_on_where_it_wrote_is_refused() -> None:
    rows = ["L: lwarx r,0,x", "stwcx. v,0,x", "beq L"]
    made = table("power", f"  - {{op: rmw, order: relaxed, code: {rows}}}")
    with pytest.raises(InputError, match="goes back to L, and loops are not read"):
        made.compiled(program("atomic_fetch_add_explicit(x, 1, memory_order_relaxed);"))


def test_a_loop_that_carries_a_register_round_is_refused() -> None:
    rows = ["li t,0", "L: addi t,t,1", "lwarx r,0,x", "stwcx. t,0,x", "bne L"]
    made = table("power", f"  - {{op: rmw, order: relaxed, code: {rows}}}")
    with pytest.raises(InputError, match="goes back to L, and t goes on from there"):
        made.compiled(program("atomic_fetch_add_explicit(x, 1, memory_order_relaxed);"))


@pytest.mark.parametrize(
    ("row", "said"),
    [
        ("{op: load, order: relaxed, code: ['lwq r,0(x)']}", "must be an instruction of power"),
        ("{op: fence, order: seq_cst, code: [sync, blr]}", "blr must not end the thread"),
        ("{op: load, order: relaxed, code: ['lwz r,']}", "what follows `,` must be"),
        ("{op: load, order: relaxed, code: lwz}", "code must be a list of instructions"),
        ("{op: lod, order: relaxed, code: ['lwz r,0(x)']}", "op must be"),
    ],
)
def test_mistakes_are_told_at_their_place(row: str, said: str) -> None:
    with pytest.raises(InputError) as error:
        table("power", f"  - {row}", "  - {op: store, order: strong, code: ['stw v,0(x)']}")
    told = [str(it) for it in error.value.problems]
    assert any(said in each and "t.yaml:4:" in each for each in told)
    assert any("t.yaml:5:" in each for each in told)


@pytest.mark.parametrize(
    ("code", "said"),
    [("[]", "must leave one read in r"), ("['li r,1']", "must leave one read in r")],
)
def test_a_load_must_leave_what_it_read(code: str, said: str) -> None:
    made = table("power", f"  - {{op: load, order: relaxed, code: {code}}}")
    with pytest.raises(InputError, match=said):
        made.compiled(program(load("r0", "x")))


def test_what_is_for_machines_alone_says_so() -> None:
    with pytest.raises(InputError, match="a table for a target, which a model judges, is not what"):
        rspverify.read_scheme("schemes/c11/c11-x86.yaml")


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("c11-riscv-manual", Word.UNSOUND),
        ("c11-riscv-psabi", Word.SOUND),
        ("c11-aarch64-dmb", Word.UNSOUND),
        ("c11-aarch64-rcpc", Word.SOUND),
        ("c11-power", Word.UNSOUND),
    ],
)
def test_objects_of_several_compilers_in_one_program(name: str, expected: Word) -> None:
    """As the psABI of RISC-V says, its table goes with A.7 of the manual, and A.6 does not."""
    source = read_source(f"schemes/mixed/{name}.yaml")
    assert word(source, "seq_cst/SB", C11) is expected
    assert word(source, "synchronisation/MP", RC11) is Word.SOUND


def linked(under: str, *tables: Source) -> Source:
    """Tables for RISC-V of which each operation may have the code of any."""
    first, *rest = (read_table(it) for it in tables)
    parts = tuple(replace(it, under=under) for it in (first, *rest))
    text = scheme_text(replace(first, under=under, rows=(), parts=parts))
    return Source("schemes/mixed/t.yaml", text)


def test_what_may_be_linked_with_code_for_ztso() -> None:
    """The psABI's mappings with each other and with A.6. Fences before seq_cst loads, as they were
    proposed first (P. Reames, A. Parri, «TSO Memory Mappings for RISCV»), not with fences behind
    stores, the alternative there, as neither of them has both."""
    own, ztso = shipped("c11-riscv-ztso"), "riscv-ztso"
    for other in ("c11-riscv", "c11-riscv-psabi"):
        assert word(linked(ztso, own, shipped(other)), "seq_cst/SB", C11) is Word.SOUND
    proposed = without("c11-riscv-ztso", "op: store, order: seq_cst", '"sw v,0(x)"')
    alternative = without("c11-riscv-ztso", "op: load, order: seq_cst", '"lw r,0(x)"')
    for each in (proposed, alternative, linked(ztso, own, proposed)):
        assert word(each, "seq_cst/SB", C11) is Word.SOUND
    assert word(linked(ztso, proposed, alternative), "seq_cst/SB", C11) is Word.UNSOUND
    without_ztso = Source("t.yaml", own.text.replace(f"under: {ztso}\n", ""))
    assert word(without_ztso, "synchronisation/MP", RC11) is Word.UNSOUND


def test_a_mixed_table_is_what_its_parts_are_alone_where_they_agree() -> None:
    mixed = read_table(read_source("schemes/mixed/c11-riscv-psabi.yaml"))
    relaxed = program(f"{load('r0', 'x')} {store('y', 'r0')}")
    assert not mixed.compiled(relaxed).others
    strong = program("atomic_store(x, 1); int r0 = atomic_load(y);")
    assert len(mixed.compiled(strong).all) == 4


@pytest.mark.parametrize(
    ("mixed", "said"),
    [
        ("[../c11/c11-x86.yaml]", "mixed must be a list of two tables or more"),
        ("[../c11/c11-x86.yaml, ../c11/c11-riscv.yaml]", "mixed must name tables for riscv"),
        ("[../c11/none.yaml, ../c11/c11-riscv.yaml]", "none.yaml"),
    ],
)
def test_mistakes_of_a_mixed_table(mixed: str, said: str) -> None:
    text = f"name: t\ntarget: riscv\nmixed: {mixed}\n"
    with pytest.raises(InputError, match=said):
        read_table(Source("schemes/mixed/t.yaml", text))


def test_a_mixed_table_must_say_its_target() -> None:
    with pytest.raises(InputError, match="a table for a target must have the key target"):
        read_scheme_or_table(Source("t.yaml", "name: t\nmixed: [a.yaml, b.yaml]\n"))


LOCKING = """C t
{ }
P0 (atomic_int* x, atomic_int* y) {
  while (atomic_exchange_explicit(x, 1, memory_order_acquire) == 1) ;
  atomic_store_explicit(y, 1, memory_order_relaxed);
}
P1 (atomic_int* x, atomic_int* y) { atomic_store_explicit(x, 1, memory_order_relaxed); }
"""
WAITING = LOCKING.replace("atomic_exchange_explicit(x, 1, ", "atomic_load_explicit(x, ")


@pytest.mark.parametrize("name", ["c11-x86", "c11-aarch64-lse", "c11-power-leading"])
def test_a_loop_that_writes_is_unrolled_and_one_that_waits_is_not(name: str) -> None:
    """What an iteration writes that goes on, no model of a processor is known to leave out."""
    verdicts = [
        rspverify.explain(shipped(name), Source("t.litmus", text), RC11).explanation.verdict
        for text in (LOCKING, WAITING)
    ]
    assert [it.word for it in verdicts] == [Word.SOUND, Word.SOUND]
    assert "iterations" in verdicts[0].within and not verdicts[1].within


# ---- from one instruction set to another -----------------------------------------------------------


def translator(name: str, under: str = "") -> Source:
    text = read_source(f"schemes/translators/{name}.yaml").text
    old = "target: aarch64\n"
    return Source(f"{name}.yaml", text.replace(old, f"{old}under: {under}\n") if under else text)


TSO = Settings(model="x86-tso")


def test_an_exchange_that_acquires_and_releases_was_no_fence_until_2021() -> None:
    """What Risotto reported of QEMU (ASPLOS 2023), and Arm's model has changed since."""
    test = "from-x86/SB+xchgs"
    assert word(translator("x86-aarch64-qemu", "aarch64-2021"), test, TSO) is Word.UNSOUND
    assert word(translator("x86-aarch64-qemu"), test, TSO) is Word.SOUND
    assert word(translator("x86-aarch64-lasagne", "aarch64-2021"), test, TSO) is Word.SOUND


def test_a_test_in_another_language_is_not_translated() -> None:
    assert word(translator("aarch64-x86-lasagne"), "from-x86/MP", TSO) is Word.UNSUPPORTED
    assert word(translator("x86-aarch64-fex"), "synchronisation/MP", RC11) is Word.UNSUPPORTED


AARCH64 = """AArch64 t
{ 0:X1=x; 0:X3=y; 1:X1=y; 1:X3=x; }
 P0 | P1 ;
 MOV W0,#1 | MOV W0,#1 ;
 STLR W0,[X1] | STLR W0,[X1] ;
 LDAR W2,[X3] | LDAR W2,[X3] ;
exists (0:X2=0 /\\ 1:X2=0)
"""


def test_a_store_that_releases_needs_its_fence_on_x86() -> None:
    table, settings = translator("aarch64-x86-lasagne"), Settings(model="aarch64")
    test = Source("t.litmus", AARCH64)
    assert rspverify.explain(table, test, settings).explanation.verdict.word is Word.SOUND
    without_fence = Source("t.yaml", table.text.replace('["MOV [x],v", MFENCE]', '["MOV [x],v"]'))
    found = rspverify.explain(without_fence, test, settings).explanation.verdict
    assert found.word is Word.UNSOUND


def test_a_row_from_no_access_is_refused() -> None:
    text = "name: t\nfrom: x86\ntarget: riscv\nrows:\n  - {from: 'MOV r,v', code: []}\n"
    with pytest.raises(InputError, match="from must be an access or a fence, not MOV r, v"):
        read_table(Source("t.yaml", text))


# ---- an independent reading of the theorem ---------------------------------------------------------


def outcomes(made: Program, model: str, told: dict[int, int]) -> set[tuple[object, ...]]:
    """By listing all executions of one side, and looking at them afterwards."""
    found = set()
    for it in Questions(made, load_model(model), Limits()).outcomes():
        reads = dict(it.reads)
        values = tuple((source, reads[by]) for source, by in sorted(told.items()) if by in reads)
        found.add((values, it.memory))
    return found


@pytest.mark.parametrize("name", ["c11-x86", "c11-power-leading", "c11-aarch64", "c11-riscv"])
def test_random_programs_agree_with_sets_of_outcomes(name: str) -> None:
    """SOUND is that the outcomes of the target are among those of the source."""
    rng, seen = random.Random(name), set()
    mapped = read_table(shipped(name))
    orders = {"load": ("relaxed", "acquire", "seq_cst"), "store": ("relaxed", "release", "seq_cst")}
    for number in range(8):
        threads = []
        for thread in range(2):
            body = []
            for place in range(rng.choice((2, 3))):
                x, kind = rng.choice("xy"), rng.choice(("load", "store", "add"))
                order = "memory_order_" + rng.choice(
                    orders.get(kind, ("relaxed", "acq_rel", "seq_cst"))
                )
                register = f"r{place}"
                body.append(
                    {
                        "load": f"int {register} = atomic_load_explicit({x}, {order});",
                        "store": f"atomic_store_explicit({x}, {thread * 3 + place + 1}, {order});",
                        "add": f"int {register} = atomic_fetch_add_explicit({x}, 8, {order});",
                    }[kind]
                )
            threads.append(" ".join(body))
        source = program(*threads)
        made = mapped.compiled(source)
        own = {it.index: it.index for it in source.operations if it.reads}
        for model in ("rc11", "c11-simp"):
            wanted = outcomes(source, model, own)
            within = outcomes(made.program, made.model.name, told(made)) <= wanted
            text = Source("t.litmus", source.source.text)
            verdict = rspverify.explain(
                shipped(name), text, Settings(model=model)
            ).explanation.verdict
            assert (verdict.word is Word.SOUND) == within, (number, model, threads)
            seen.add(verdict.word)
    assert Word.SOUND in seen


@pytest.mark.parametrize(
    "name", ["x86-aarch64-lasagne", "x86-aarch64-qemu", "x86-aarch64-fex", "x86-riscv-arancini"]
)
def test_random_programs_of_x86_agree_with_sets_of_outcomes(name: str) -> None:
    rng, table = random.Random(name), translator(name)
    mapped, words = read_table(table), set()
    for number in range(8):
        threads: list[list[str]] = [[], []]
        for thread, place in product(range(2), range(rng.choice((2, 3)))):
            x, register = rng.choice("xy"), ("EBX", "ECX", "EDX")[place]
            value = thread * 3 + place + 1
            threads[thread] += rng.choice(
                [
                    [f"MOV {register},[{x}]"],
                    [f"MOV [{x}],${value}"],
                    [f"MOV {register},${value}", f"XCHG [{x}],{register}"],
                    [f"MOV {register},$8", f"LOCK XADD [{x}],{register}"],
                    ["MOV EAX,$0", f"MOV {register},${value}", f"LOCK CMPXCHG [{x}],{register}"],
                    ["MFENCE"],
                ]
            )
        rows = "".join(f" {a or ''} | {b or ''} ;\n" for a, b in zip_longest(*threads))
        text = Source("t.litmus", f"X86 t\n{{ x=0; y=0; }}\n P0 | P1 ;\n{rows}")
        source = read_program(text, assembly=True)
        made = mapped.compiled(source)
        own = {it.index: it.index for it in source.operations if it.reads}
        wanted = outcomes(source, "x86-tso", own)
        within = outcomes(made.program, made.model.name, told(made)) <= wanted
        verdict = rspverify.explain(table, text, TSO).explanation.verdict
        assert (verdict.word is Word.SOUND) == within, (number, rows)
        words.add(verdict.word)
    assert Word.SOUND in words
