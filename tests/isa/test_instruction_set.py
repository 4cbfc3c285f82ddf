"""Instruction sets by their files: what instructions do, and what executing them tells."""

import re

import pytest

from rspverify.architecture.architecture import Architecture
from rspverify.architecture.machines import MACHINES
from rspverify.axiomatic.cat import load_model
from rspverify.axiomatic.event import events_of
from rspverify.axiomatic.vocabulary import SETS, names_of
from rspverify.isa.addresses import Address
from rspverify.isa.by_table import Event, TableExecutor
from rspverify.isa.catalogue import ENDING, instruction_sets
from rspverify.isa.catalogue import SETS as SETS_THAT_SHIP
from rspverify.isa.conditions import expression
from rspverify.isa.instruction_set import instruction_set, read_instruction_set
from rspverify.isa.lines import Instruction, Label
from rspverify.litmus.reader import read_program
from rspverify.scheme.reader import read_scheme
from rspverify.source import InputError, Source, Span
from rspverify.value import Binary, Constant, Read, evaluate

SET = read_instruction_set(
    Source(
        "toy.isa",
        """
instructions toy "loads, branches, and a locked exchange"
li d, n : d = n
addi d, a, b : d = a + b
{ld|ld.acq=ACQ} r, {[x]|x} : r = [x]
st{|.rel=REL} {[x]|x}, v : [x] = v
swap{|.aq=R:ACQ|.aqrl=R:ACQ+W:REL} r, {[x]|x}, v : r = [x]; [x] = v
cas r, {[x]|x}, e, v : r = [x]; [x] = v if old == e
{sync=SYNC|isync=ISYNC} : fence
bne a, b, L : if a != b goto L
b L : goto L
ret : end
""",
    )
)


def run(*lines: str) -> TableExecutor:
    """The lines executed, where x1 has the address of x and y is named."""
    executor = TableExecutor(
        SET, re.compile(r"[rx]\d"), {"x": 1 << 28, "y": 2 << 28}, {"x1": Address("x")}
    )
    source = Source("t", "\n".join(lines))
    code: list[Instruction | Label] = []
    for number, line in enumerate(lines, start=1):
        span = Span(source, number, 1, number, len(line) + 1)
        mnemonic, _, rest = line.partition(" ")
        operands = tuple(filter(None, rest.replace(" ", "").split(",")))
        is_label = mnemonic.endswith(":")
        code.append(
            Label(mnemonic[:-1], span) if is_label else Instruction(mnemonic, operands, (), span)
        )
    executor.follow(code)
    return executor


def events(*lines: str) -> list[Event]:
    executor = run(*lines)
    executor.require()
    return executor.events


def test_accesses_through_registers() -> None:
    load, exchange, compare, store = events(
        "li r2, 0x10", "ld r0, [x1]", "swap r3, y, r2", "cas r4, y, r0, 7", "st [x1], r4"
    )
    assert (load.location, exchange.location, store.location) == ("x", "y", "x")
    assert exchange.value == Constant(16) and store.value == Read(2)
    assert compare.value == Constant(7) and compare.success == Binary("==", Read(2), Read(0))


def test_a_branch_forward_and_what_is_joined() -> None:
    executor = run("ld r0, x", "li r1, 1", "bne r0, 0, L", "st y, 5", "li r1, 2", "L:", "st x, r1")
    _, inside, after = executor.events
    assert [evaluate(expression(inside.guard), {0: it}) for it in (0, 3)] == [1, 0]
    assert after.guard is True and after.value is not None
    assert [evaluate(after.value, {0: it}) for it in (0, 3)] == [2, 1]


def test_dependencies_are_those_of_the_text() -> None:
    """A calculation depends on what it names, whatever it gives; a branch reaches all behind it."""
    _, store, fence, end = events(
        "ld r0, x", "addi r2, r0, r0", "st y, r2", "bne r0, r0, L", "L:", "sync", "st x, 1"
    )
    assert (store.data, store.control) == ({0}, frozenset())
    assert fence.control == end.control == {0} and end.data == frozenset()


def test_what_depends_on_a_read_on_one_path_is_an_event_for_each() -> None:
    """Behind an inner branch an access depends on what that looks at only where it was come to."""
    nested = ["ld r0, x", "ld r2, y", "bne r0, 1, A", "bne r2, 1, A", "st x, 3", "A:", "st y, 1"]
    *_, come_to, passed_by = events(*nested)
    assert (come_to.control, passed_by.control) == ({0, 1}, {0})
    for it, first in ((come_to, 1), (passed_by, 0)):
        assert [evaluate(expression(it.guard), {0: each}) for each in (0, 1)] == [1 - first, first]
    values = ["ld r0, x", "ld r2, y", "li r3, 1", "bne r0, 1, A", "li r3, r2", "A:", "st y, r3"]
    assert [it.data for it in events(*values)[2:]] == [{1}, frozenset()]
    assert len(events(*values[:-1], "li r3, 1", "st y, r3")) == 3
    again = ["ld r0, x", "bne r0, 1, A", "li r0, 1", "A:", "bne r0, 1, B", "B:", "st y, 1"]
    assert events(*again)[-1].control == {0}  # it was looked at before
    one_path = ["ld r0, x", "bne r0, 1, A", "ld r2, y", "bne r2, 1, A", "A:", "st y, 1"]
    assert events(*one_path)[-1].control == {0, 1}  # r2 is read on no other path


def test_what_an_iteration_before_the_last_may_have_set_is_not_known() -> None:
    """A store-exclusive that fails leaves what was calculated for it in registers."""
    loop = ["li r3, 0", "L:", "ld r0, x", "bne r0, 0, D", "li r3, 1", "bne r0, 5, L", "D:"]
    with pytest.raises(InputError, match="uses r3, which a loop may have set before its end"):
        run(*loop, "st y, r3").require()
    run(*loop, "st y, r0").require()
    run(*loop, "li r3, 2", "st y, r3").require()
    skips = ["li r3, 0", "L:", "ld r0, x", "bne r0, 1, S", "li r3, 1", "S:", "st y, r3"]
    run(*skips).require()
    some = [*skips[:-1], "li r4, r3", "bne r0, 2, L"]
    with pytest.raises(InputError, match="and r3 goes on from there"):
        run(*some).require()


EXCLUSIVE = """AArch64 t
{ 0:X1=x; 1:X1=x; }
 P0          | P1              ;
 MOV W2,#1   | MOV W2,#2       ;
 STR W2,[X1] | MOV W5,#0       ;
             | L:              ;
             | LDXR W0,[X1]    ;
             | CBNZ W0,D       ;
             | MOV W5,#1       ;
             | STXR W6,W2,[X1] ;
             | CBNZ W6,L       ;
             | D:              ;
"""


def test_such_a_register_is_not_asked_for() -> None:
    asked = read_program(Source("t", EXCLUSIVE + "exists (1:X0=1)"), assembly=True)
    assert set(asked.threads[1].registers) == {"X0", "X2"}
    with pytest.raises(InputError, match="1:X5 cannot be told: a loop may have set it"):
        read_program(Source("t", EXCLUSIVE + "exists (1:X5=1 /\\ 1:X0=1)"), assembly=True)


def test_a_thread_that_ends_early_keeps_its_registers() -> None:
    code = ["LDR W0,[X1]", "MOV W2,#1", "CBZ W0,L", "RET", "L:", "MOV W2,#2"]
    head = "AArch64 t\n{ 0:X1=x; }\n P0 ;\n"
    test = "".join([head, *(f" {it} ;\n" for it in code), "exists (0:X2=1)"])
    registers = read_program(Source("t", test), assembly=True).threads[0].registers
    assert [evaluate(registers["X2"], {0: it}) for it in (0, 1)] == [2, 1]


@pytest.mark.parametrize(
    ("head", "line", "said"),
    [
        ("PPC", "isel r3,r4,r5,2", "it has 4 operands"),  # Bit 2 is eq_cr0, and no number.
        ("PPC", "bc 12,2,L", "it has 3 operands"),
        ("ARM", "MOV PC,LR", "PC, which is not a register"),
        ("ARM", "ADD R0,R15,#4", "R15, which is not known"),
    ],
)
def test_what_looks_like_a_number_or_a_register(head: str, line: str, said: str) -> None:
    with pytest.raises(InputError, match=said):
        read_program(Source("t", f"{head} t\n{{ x=0; }}\n P0 ;\n {line} ;\n L: ;\n"), assembly=True)


@pytest.mark.parametrize(
    ("alias", "own"),
    [
        ("CSET W3,EQ", "CSINC W3,WZR,WZR,NE"),
        ("CSETM W3,EQ", "CSINV W3,WZR,WZR,NE"),
        ("CINC W3,W4,EQ", "CSINC W3,W4,W4,NE"),
        ("CINV W3,W4,EQ", "CSINV W3,W4,W4,NE"),
        ("CNEG W3,W4,EQ", "CSNEG W3,W4,W4,NE"),
    ],
)
def test_an_alias_depends_on_the_same(alias: str, own: str) -> None:
    """Arm ARM, C6.2: what is compared only decides (B2.3, pick dependencies)."""
    head = "AArch64 t\n{ 0:X1=x; }\n P0 ;\n"
    found = []
    for each in (alias, own):
        code = ["LDR W2,[X1]", "LDR W4,[X1]", "CMP W2,#1", each, "STR W3,[X1]"]
        test = "".join([head, *(f" {it} ;\n" for it in code)])
        store = read_program(Source("t", test), assembly=True).operations[-1]
        assert store.value is not None
        values = [evaluate(store.value, {0: it, 1: 5}) for it in (0, 1)]
        found.append((store.textual, values))
    assert found[0] == found[1]


def test_a_register_of_another_kind_is_not_meant() -> None:
    """Q1 is a vector register; X1 has the address still, and nobody asks for Y1."""
    head = "AArch64 t\n{ 0:X1=x; 0:Q1=3; }\n P0 ;\n LDR W0,[X1] ;\n"
    (load,) = read_program(Source("t", head), assembly=True).operations
    assert load.location == "x"
    with pytest.raises(InputError, match="`Y0` must be a register of P0"):
        read_program(Source("t", f"{head}exists (0:Y0=1)"), assembly=True)


@pytest.mark.parametrize("line", ["MOVEQ R3,R3", "MOVNE R3,#0", "CMP R4,R4 ;\n MOVNE R3,#1"])
def test_what_has_a_condition_depends_on_it_whatever_it_sets(line: str) -> None:
    """Also where R3 keeps what it had, and where the condition cannot hold."""
    head = "ARM t\n{ 0:R1=x; }\n P0 ;\n LDR R4,[R1] ;\n CMP R4,#1 ;\n"
    test = f"{head} {line} ;\n STR R3,[R1] ;\n"
    store = read_program(Source("t", test), assembly=True).operations[-1]
    assert store.textual is not None and store.textual.data == {0}


def test_event_tags_are_of_the_read_or_of_the_write() -> None:
    exchange, fence, store = events("swap.aqrl r0, x, 1", "isync", "st.rel x, 2")
    tags = [(set(it.form.tags.read), set(it.form.tags.write)) for it in (exchange, fence, store)]
    assert tags[0] == ({"ACQ"}, {"REL"})
    assert tags[1][1] == {"ISYNC"} and tags[2][1] == {"REL"}


@pytest.mark.parametrize(
    ("lines", "said"),
    [
        (["L:", "bne 1, 0, L"], "t:2:1: bne 1, 0, L cannot be read: it goes back to L"),
        (["b L"], "t:1:1: a branch must go to a label of its thread, not to L"),
        (["ld r0"], "t:1:1: ld r0 cannot be read: it has 1 operands"),
        (["lorem"], "t:1:1: lorem cannot be read: it is not known"),
        (["ld r0, r9"], "it uses r9, which has no value"),
        (["li r0, 5", "ld r2, r0"], "it has the address r0, which is not that of a location"),
        (["addi r0, x1, 4", "ld r2, r0"], "it accesses memory beyond x"),
        (["addi r0, x1, x1"], "it calculates with an address"),
    ],
)
def test_what_cannot_be_read_is_told_at_its_place(lines: list[str], said: str) -> None:
    with pytest.raises(InputError) as error:
        run(*lines).require()
    assert said in str(error.value)


def test_all_mistakes_of_a_file_are_told() -> None:
    text = 'instructions t "t"\nlorem\nld r : r = [x]\nadd r : r = +\nst x : sit amet'
    with pytest.raises(InputError) as error:
        read_instruction_set(Source("t.isa", text))
    assert [it.span.line for it in error.value.problems if it.span] == [2, 3, 4, 5]
    with pytest.raises(InputError, match="the first line must be"):
        read_instruction_set(Source("t.isa", "ld r, x : r = [x]"))


@pytest.mark.parametrize("name", instruction_sets())
def test_every_set_that_ships_can_be_read(name: str) -> None:
    text = (SETS_THAT_SHIP / f"{name}{ENDING}").read_text(encoding="utf-8")
    every_line = read_instruction_set(Source(name, text))
    assert instruction_set(name).name == every_line.name == name
    assert instruction_set(name).mnemonics == every_line.mnemonics


@pytest.mark.parametrize("machine", MACHINES.values(), ids=str)
def test_machines_do_what_their_set_says(machine: Architecture) -> None:
    """Waits for counters have numbers, and are in no set."""
    known = instruction_set(machine.executes)
    forms = {form.name: form for it in known.mnemonics for form in known.forms(it)}
    for it in machine.instructions.values():
        if not it.name.startswith("s_wait"):
            form = forms[it.stem]
            assert (form.reads, form.written is not None) == (it.reads, it.writes), it.name


def test_a_scheme_names_the_set_of_its_code() -> None:
    head = "name: t\nrows: [{op: load, scope: na, code: [LD r x]}]\n"
    assert read_scheme(Source("t", head)).instructions == "rsp"
    assert read_scheme(Source("t", head + "instructions: rsp")).machine.name == "rsp"
    with pytest.raises(InputError, match="instructions must be rsp, not 'ptx'"):
        read_scheme(Source("t", head + "instructions: ptx"))


def test_a_model_may_name_the_sets_of_an_instruction_set() -> None:
    text = "PTX t\n{}\nP0@cta 0,gpu 0;\nst.release.gpu x, 1;\nfence.sc.sys;\nld r0, x;"
    program = read_program(Source("t", text), assembly=True)
    found = [
        {name for name in ("W", "F", "REL", "GPU", "SC", "SYS", "WEAK") if SETS[name](each)}
        for each in events_of(program, load_model("opencl-rsp"))
        if each.operation is not None
    ]
    assert found == [{"W", "REL", "GPU"}, {"F", "SC", "SYS"}, {"WEAK"}]
    assert "acq" not in names_of("PTX") and "R" in names_of("PTX")


SHIFTS = [
    ("x86", r"E[A-D]X", "SHR EAX,{}", False),
    ("x86", r"E[A-D]X", "SAR EAX,{}", True),
    ("aarch64", r"W\d", "LSR W9,W9,{}", False),
    ("riscv", r"a\d", "srliw a5,a5,{}", False),
    ("arm", r"R\d", "LSR R9,R9,{}", False),
    ("arm", r"R\d", "ASR R9,R9,{}", True),
    ("ptx", r"r\d", "shr r9,r9,{}", True),
]
"""Shifts to the right, and whether they keep the sign."""


@pytest.mark.parametrize(("name", "register", "line", "is_signed"), SHIFTS)
def test_shifts_to_the_right(name: str, register: str, line: str, is_signed: bool) -> None:
    """Also by nothing, and on Arm and in PTX by all bits (Arm ARM, DecodeImmShift; PTX ISA, shr)."""
    for count in (0, 1, 31, 32) if name in ("arm", "ptx") else (0, 1, 31):
        word, _, operands = line.format(count).partition(" ")
        own = operands.split(",")[0]
        executor = TableExecutor(instruction_set(name), re.compile(register), {}, {own: Read(0)})
        span = Span(Source("t", line), 1, 1, 1, 2)
        executor.follow([Instruction(word, tuple(operands.split(",")), (), span)])
        executor.require()
        assert executor.state is not None
        for value in (0, 1, 6, -1, -5, 2**31 - 1, -(2**31)):
            shifted = (value if is_signed else value % 2**32) >> count
            found = evaluate(executor.state.values[own], {0: value})
            assert found % 2**32 == shifted % 2**32, (count, value)
