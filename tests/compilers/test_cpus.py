"""Compilers for processors whose executions a model says, on whole tests."""

import shutil
from collections.abc import Mapping
from functools import cache
from pathlib import Path

import pytest

from rspverify.axiomatic.cat import load_model
from rspverify.compilers.cpus import CPUS, ForCpu, Linked, Setup, translator
from rspverify.compilers.llvm import Compiler, Kind
from rspverify.litmus.program import Program
from rspverify.litmus.reader import read_program
from rspverify.mapping.mapped import Mapped
from rspverify.soundness.case import Case
from rspverify.soundness.check import check
from rspverify.soundness.settings import Settings
from rspverify.source import InputError, Source, read_source
from rspverify.translators import names_compiler
from rspverify.value import Binary, Constant, Expression, Read, evaluate, reads
from rspverify.verdict import Word

TESTS = Path("litmus/targets")
SETTINGS = Settings(model="rc11")
MODEL = load_model("rc11")


class Says(Compiler, frozen=True):
    """A compiler that says the same whatever it is given."""

    text: str = ""

    def emit(self, module: str, goal: object) -> Source:
        return Source("emitted.s", self.text)


class Edited(Compiler, frozen=True):
    """A compiler that emits something else in some places."""

    old: str = ""
    new: str = ""

    def emit(self, module: str, goal: Setup) -> Source:  # type: ignore[override]
        source = by(goal.name).compiler.emit(module, goal)
        assert self.old in source.text, source.text
        return Source(source.name, source.text.replace(self.old, self.new))


@cache
def by(word: str) -> ForCpu:
    return translator(word)


def program(name: str) -> Program:
    return read_program(read_source(TESTS / f"{name}.litmus"))


def word(name: str, it: ForCpu) -> Word:
    return check(Case(program(name), it, MODEL, SETTINGS)).word


NAMES = ("CoRR", "LB+if", "MP", "MP+cas", "MP+fences", "MP+na", "MP+rmw", "S", "exchange-lock")
ORDERED = ("IRIW", "R", "SB", "SB+fences", "SB+rmws", "Z6.U")


NAMED = [it for it in CPUS if not it.startswith("nvptx")]


@pytest.mark.parametrize(
    "name", [*NAMED, "aarch64+lse+rcpc", "riscv64+zalasr", "riscv64+ztso", "x86-64-O1"]
)
def test_what_llvm_emits_is_right(name: str) -> None:
    """But that rc11 forbids load buffering, as everywhere but on x86 and with Ztso."""
    it = by(name)
    tests = [*(f"synchronisation/{each}" for each in NAMES)]
    tests += [f"seq_cst/{each}" for each in ORDERED]
    it.prepare(map(program, tests))
    assert {word(each, it) for each in tests} == {Word.SOUND}
    is_tso = name.startswith("x86") or name.endswith("ztso")
    wanted = Word.SOUND if is_tso else Word.UNSOUND
    assert word("synchronisation/LB", it) is wanted


@pytest.mark.parametrize(
    ("name", "test", "old", "new"),
    [
        ("aarch64", "synchronisation/MP", "ldar", "ldr"),
        ("aarch64", "synchronisation/MP", "stlr", "str"),
        ("aarch64", "synchronisation/MP+fences", "dmb\tishld", "nop"),
        ("aarch64", "synchronisation/MP+cas", "cmp\tw10, #1", "cmp\tw10, #0"),
        ("aarch64+lse", "synchronisation/MP+acq-rmw", "ldadda", "ldadd"),
        ("aarch64+lse", "synchronisation/increments", "ldadd", "swp"),
        ("riscv64", "synchronisation/MP", "fence\tr, rw", "fence\tr, w"),
        ("riscv64", "seq_cst/SB", "fence\trw, rw", "fence\trw, w"),
        ("x86-64", "seq_cst/SB", "xchg", "mov"),
        ("x86-64", "seq_cst/SB+fences", "lock\t\tor\tdword ptr [rsp - 64], 0", "nop"),
        ("ppc64le", "synchronisation/MP", "isync", "nop"),
        ("ppc64le", "seq_cst/SB", "\tsync", "\tlwsync"),
        ("armv7", "synchronisation/MP", "dmb\tish", "nop"),
    ],
)
def test_what_a_compiler_does_wrong(name: str, test: str, old: str, new: str) -> None:
    it = by(name)
    wrong = ForCpu(it.word, it.goal, Edited(it.compiler.version, old=old, new=new))
    assert word(test, it) is Word.SOUND
    assert word(test, wrong) is Word.UNSOUND


def publishing(which: str, failure: str) -> Program:
    """A message that is published by a compare-exchange which releases."""
    return read_program(
        Source(
            "t",
            f"""C MP+cas
{{ }}
P0 (atomic_int* x, atomic_int* y) {{
  atomic_store_explicit(x, 1, memory_order_relaxed);
  int e = 0;
  int r0 = atomic_compare_exchange_{which}_explicit(y, &e, 1, memory_order_release, {failure});
}}
P1 (atomic_int* x, atomic_int* y) {{
  int r0 = atomic_load_explicit(y, memory_order_acquire);
  int r1 = atomic_load_explicit(x, memory_order_relaxed);
}}
exists (1:r0=1)
""",
        )
    )


@pytest.mark.parametrize("failure", ["memory_order_relaxed", "memory_order_seq_cst"])
@pytest.mark.parametrize("name", [*NAMED, "aarch64+lse"])
def test_a_weak_exchange_fails_where_it_finds_something_else_alone(name: str, failure: str) -> None:
    """Its store-exclusive may fail, which is left out, as in the source."""
    found = [
        check(Case(publishing(which, failure), by(name), MODEL, SETTINGS))
        for which in ("strong", "weak")
    ]
    assert [it.word for it in found] == [Word.SOUND, Word.SOUND]
    assert ["spurious failures" in it.within for it in found] == [False, True]


def test_what_a_weak_exchange_does_wrong() -> None:
    it = by("aarch64")
    wrong = ForCpu(it.word, it.goal, Edited(it.compiler.version, old="stlxr", new="stxr"))
    weak, strong = (publishing(it, "memory_order_relaxed") for it in ("weak", "strong"))
    assert it.emitted(weak).text.count("cbnz") < it.emitted(strong).text.count("cbnz")
    assert check(Case(weak, wrong, MODEL, SETTINGS)).word is Word.UNSOUND


@pytest.mark.parametrize(
    ("test", "wanted"),
    [
        ("MP.dv", Word.SOUND),
        ("MP+fences", Word.SOUND),
        ("SB.dv", Word.SOUND),
        ("MP+rmws", Word.UNSOUND),
        ("LB", Word.UNSOUND),
    ],
)
def test_what_llvm_emits_for_ptx(test: str, wanted: Word) -> None:
    """Read-modify-writes of LLVM 22 order nothing."""
    settings = Settings(model="rc11-scoped")
    case = Case(program(f"scopes/{test}"), by("nvptx:sm_70"), load_model(settings.model), settings)
    assert check(case).word is wanted


@pytest.mark.parametrize(
    ("condition", "stored"), [("r == 3 || r == 4", "1"), ("r & 1", "1"), ("r != 9", "(r < 0) + 5")]
)
def test_what_ptx_calculates(condition: str, stored: str) -> None:
    """Where types tell: setp.gt.u32, not.pred and shr.u32."""
    given = "memory_order_relaxed, memory_scope_device"
    text = f"""OpenCL t
{{ }}
P0@wg 0, dev 0 (global atomic_int* x, global atomic_int* y) {{
  int r = atomic_load_explicit(x, {given});
  if ({condition}) atomic_store_explicit(y, {stored}, {given});
}}
"""
    source = read_program(Source("t.litmus", text))
    wanted, found = source.operations[1], by("nvptx:sm_80").compiled(source).program.operations[1]
    assert wanted.value is not None and found.value is not None
    for value in (0, 1, 2, 3, 4, 5, -1, -3, -(2**31)):
        read = {0: value}
        assert bool(evaluate(found.guard, read)) is bool(evaluate(wanted.guard, read)), value
        assert evaluate(found.value, read) == evaluate(wanted.value, read), value


def test_why_llvm_cannot_compile_is_said_alike_each_time() -> None:
    """LLVM 19 names what it cannot select by where it is in memory."""
    if shutil.which("llc-19") is None:
        pytest.skip("llc-19 is not installed")
    with pytest.raises(InputError, match=r"Cannot select: ch = AtomicFence, Target") as caught:
        by("nvptx:sm_70@llc-19").compiled(program("scopes/SB+fences"))
    assert "0x" not in str(caught.value)


# ---- other programs that compile -----------------------------------------------------------------

INSTALLED = [
    ("gcc:aarch64", "aarch64-linux-gnu-gcc"),
    ("gcc:riscv64", "riscv64-linux-gnu-gcc"),
    ("gcc:ppc64le", "powerpc64le-linux-gnu-gcc"),
    ("x86-64@clang-19", "clang-19"),
]


@pytest.mark.parametrize(("name", "needs"), INSTALLED)
def test_programs_of_the_system(name: str, needs: str) -> None:
    if shutil.which(needs) is None:
        pytest.skip(f"{needs} is not installed")
    it = by(name)
    tests = [f"synchronisation/{each}" for each in NAMES]
    assert {word(each, it) for each in tests} == {Word.SOUND}


def test_a_feature_that_gcc_has_not() -> None:
    if shutil.which("riscv64-linux-gnu-gcc") is None:
        pytest.skip("riscv64-linux-gnu-gcc is not installed")
    with pytest.raises(InputError, match="GCC has no feature zalasr"):
        translator("gcc:riscv64+zalasr")


def test_a_gcc_is_found_by_debians_name_for_its_triple() -> None:
    if shutil.which("arm-linux-gnueabihf-gcc") is None:
        pytest.skip("arm-linux-gnueabihf-gcc is not installed")
    assert word("synchronisation/MP", by("gcc:armv7")) is Word.SOUND


@pytest.mark.parametrize(
    ("name", "needs", "test"),
    [
        ("gcc:riscv64", "riscv64-linux-gnu-gcc-12", "MP+by-cas.sc-rlx"),
        ("gcc:riscv64", "riscv64-linux-gnu-gcc-12", "LB+by-cas.rel-acq"),
        ("gcc:ppc64le", "powerpc64le-linux-gnu-gcc-12", "MP+to-cas.rel-acq.fails"),
        ("gcc:armv7", "arm-linux-gnueabihf-gcc-12", "MP+to-cas.rel-acq.fails"),
    ],
)
def test_what_gcc_makes_of_the_orders_of_a_compare_exchange(
    name: str, needs: str, test: str
) -> None:
    if shutil.which(needs) is None:
        pytest.skip(f"{needs} is not installed")
    assert word(f"compare-exchange/{test}", by(f"{name}@{needs}")) is Word.UNSOUND
    assert word(f"compare-exchange/{test}", by(name.removeprefix("gcc:"))) is Word.SOUND


# ---- loops ---------------------------------------------------------------------------------------

RELEASING = read_program(
    Source(
        "MP+cas.rel.litmus",
        """C MP+cas.rel
{ }
P0 (atomic_int* x, atomic_int* y) {
  int e = 0;
  atomic_store_explicit(x, 1, memory_order_relaxed);
  int r0 = atomic_compare_exchange_strong_explicit(y, &e, 1, memory_order_release, memory_order_relaxed);
}
P1 (atomic_int* x, atomic_int* y) {
  int r1 = atomic_load_explicit(y, memory_order_acquire);
  int r2 = atomic_fetch_or_explicit(x, 2, memory_order_relaxed);
}
exists (1:r1=1 /\\ 1:r2=0)
""",
    )
)


@pytest.mark.parametrize(
    ("name", "within", "old", "new"),
    [
        ("x86-64", {"iterations": 2}, "\tor\te", "\tand\te"),
        ("ppc64le", {"iterations": 2}, "\tlwsync", "\tnop"),
        ("armv7", {"iterations": 2}, "dmb\tish", "nop"),
        ("aarch64", {}, "stlxr", "stxr"),
        ("riscv64", {}, "sc.w.rl", "sc.w"),
    ],
)
def test_a_loop_is_its_last_iteration_or_unrolled(
    name: str, within: Mapping[str, int], old: str, new: str
) -> None:
    """Only what goes on where a store-exclusive fails, and carries nothing round, is the first."""
    it = by(name)
    verdict = check(Case(RELEASING, it, MODEL, SETTINGS))
    assert (verdict.word, dict(verdict.within)) == (Word.SOUND, within)
    wrong = ForCpu(it.word, it.goal, Edited(it.compiler.version, old=old, new=new))
    assert check(Case(RELEASING, wrong, MODEL, SETTINGS)).word is Word.UNSOUND


# ---- what is read out of code --------------------------------------------------------------------


def one(*statements: str) -> Program:
    lines = "\n".join(f"  {each}" for each in statements)
    text = f"C t\n{{ }}\nP0 (atomic_int* x) {{\n{lines}\n}}\nexists (x=0)\n"
    return read_program(Source("t.litmus", text))


def compiled(name: str, of: Program, *code: str) -> Mapped:
    lines = "\n".join(each if each.endswith(":") else f"\t{each}" for each in code)
    says = Says("it", text=f"t0.P0:\n{lines}\n.Lfunc_end0:\n")
    it = ForCpu(name, by(name).goal, says)
    return it.compiled(of)


LOADS = (
    "int r0 = atomic_load_explicit(x, memory_order_relaxed);",
    "int r1 = atomic_load_explicit(x, memory_order_relaxed);",
)


def seen(made: Mapped) -> Mapping[int, object]:
    return {it.operation: it.value for it in made.seen}


def test_reads_that_are_merged_have_read_the_same() -> None:
    made = compiled(
        "aarch64", one(*LOADS), "ldr w8, [x0]", "str w8, [x0, #16]", "str w8, [x0, #32]", "ret"
    )
    assert seen(made) == {0: Read(0), 1: Read(0)}
    assert [str(it.location) for it in made.program.operations] == ["x"]


def test_a_compare_exchange_that_consumes_acquires() -> None:
    orders = "memory_order_consume, memory_order_relaxed"
    call = f"int e = 0; int r0 = atomic_compare_exchange_strong_explicit(x, &e, 1, {orders});"
    assert "ldaxr" in by("aarch64").emitted(one(call)).text


def test_a_value_that_is_known_is_read_nowhere() -> None:
    store = "atomic_store_explicit(x, 3, memory_order_relaxed);"
    code = ("mov dword ptr [rdi], 3", "mov dword ptr [rdi + 32], 3", "ret")
    made = compiled("x86-64", one(store, LOADS[0]), *code)
    assert seen(made) == {1: Constant(3)}


def test_a_function_that_does_not_end_goes_on_with_no_code_that_stands_before() -> None:
    code = ("ldr w8, [x0]", "b .LB", ".LA:", "str w8, [x0, #16]", "ret", ".LB:", "cbz w8, .LA")
    compiled("aarch64", one(LOADS[0]), *code, "str w8, [x0, #16]", "ret")
    with pytest.raises(InputError, match="must go to a label of its thread"):
        compiled("aarch64", one(LOADS[0]), *code, "str wzr, [x0]")


UNOBSERVED = read_program(
    Source(
        "MP+exchange.litmus",
        """C MP+exchange
{ }
P0 (atomic_int* x, atomic_int* y) {
  atomic_store_explicit(x, 1, memory_order_relaxed);
  atomic_store_explicit(y, 1, memory_order_release);
}
P1 (atomic_int* x, atomic_int* y) {
  atomic_exchange_explicit(y, 2, memory_order_acquire);
  int r1 = atomic_load_explicit(x, memory_order_relaxed);
}
exists (1:r1=0 /\\ y=2)
""",
    )
)
"""The exchange reads what nothing looks at, and orders what does."""


def test_a_read_at_which_nothing_looks_may_be_left_out() -> None:
    """But not what it orders, as LLVM 16 does where it makes a store of it."""
    it = by("x86-64")
    assert it.compiled(UNOBSERVED).untold == {2}
    assert check(Case(UNOBSERVED, it, MODEL, SETTINGS)).word is Word.SOUND
    stores = ForCpu(it.word, it.goal, Edited(it.compiler.version, old="xchg", new="mov"))
    verdict = check(Case(UNOBSERVED, stores, MODEL, SETTINGS))
    assert verdict.word is Word.UNSOUND and verdict.outcome is not None
    assert dict(verdict.outcome.reads) == {3: 0} and dict(verdict.outcome.memory)["y"] == 2


RETRIES = ("cbnz w8, .LD", "stxr w10, w8, [x0]", "cbnz w10, .LA", ".LD:")


def test_what_an_iteration_stores_as_a_result_is_not_read() -> None:
    """Where the last iteration does not, it is what one before has read: the loop stands twice."""
    add = "int r0 = atomic_fetch_add_explicit(x, 0, memory_order_relaxed);"
    result = "str w8, [x0, #16]"
    compiled("aarch64", one(add), ".LA:", "ldxr w8, [x0]", *RETRIES, result, "ret")
    code = (".LA:", "ldxr w8, [x0]", RETRIES[0], result, *RETRIES[1:], "ret")
    assert compiled("aarch64", one(add), *code).program.cuts


BYTES = ("xor eax, eax", "cmp ecx, 7", "setg al", "mov dword ptr [rdi + 16], eax", "ret")


@pytest.mark.parametrize(
    ("name", "code", "said"),
    [
        ("aarch64", ("ldr w8, [x0]", "ret"), "cannot be found"),
        ("aarch64", ("ldr w8, [x0, #4]", "ret"), "accesses what is no location of the test"),
        ("aarch64", ("ldr w8, [x0]", "str w8, [x0, #16]"), "the function must end"),
        ("aarch64", ("ldrb w8, [x0]", "str w8, [x0, #16]", "ret"), "LDRB W8, [X0] cannot be read"),
        ("aarch64", ("str w8, [x0]", "str w8, [x0, #16]", "ret"), "uses X8, which has no value"),
        ("aarch64", ("bl f", "ret"), "BL F cannot be read: it is not known"),
        ("x86-64", ("lea eax, [rdi+4]", *BYTES[3:]), "cannot be found"),
        ("x86-64", ("mov eax, byte ptr [rdi]", *BYTES[3:]), "accesses a byte alone"),
        ("x86-64", ("mov eax, dword ptr [rdi]", "add eax, eax", "jl .L1", ".L1:", "ret"), "left"),
    ],
)
def test_what_cannot_be_read_is_not_judged(name: str, code: tuple[str, ...], said: str) -> None:
    with pytest.raises(InputError) as caught:
        compiled(name, one(LOADS[0]), *code)
    assert said in str(caught.value)


TWO = read_program(
    Source(
        "two.litmus",
        """C two
{ }
P0 (atomic_int* x, atomic_int* y) {
  int r0 = atomic_load_explicit(x, memory_order_relaxed);
  if (r0) { atomic_store_explicit(x, 1, memory_order_relaxed); }
  else { atomic_store_explicit(y, 1, memory_order_relaxed); }
}
exists (x=0)
""",
    )
)


def test_an_address_that_is_chosen_on_the_way_is_that_of_each_location() -> None:
    chosen = ("cbz w8, .LA", "mov x9, x0", "b .LB", ".LA:", "add x9, x0, #16", ".LB:")
    code = ("ldr w8, [x0]", *chosen, "mov w10, #1", "str w10, [x9]", "str w8, [x0, #32]", "ret")
    _, *stores = compiled("aarch64", TWO, *code).program.operations
    guards = [(it.location, it.guard) for it in stores]
    zero = Constant(0)
    assert guards == [("x", Binary("!=", Read(0), zero)), ("y", Binary("==", Read(0), zero))]


def test_an_address_that_may_be_of_no_location_is_not_read() -> None:
    """What is calculated from a value may be anywhere."""
    code = ("mov eax, dword ptr [rdi]", "mov dword ptr [rdi + 4*rax], 1", "ret")
    with pytest.raises(InputError, match="may access what is no location of the test"):
        compiled("x86-64", TWO, *code)


def test_a_low_byte_is_written_beside_the_rest() -> None:
    made = compiled("x86-64", one(LOADS[0]), "mov ecx, dword ptr [rdi]", *BYTES)
    (value,) = seen(made).values()
    assert "255" not in str(value) and ">" in str(value)


@pytest.mark.parametrize(("does", "wanted"), [("or al, -1", 511), ("add al, 200", 456)])
def test_a_low_byte_has_no_more_than_eight_bits(does: str, wanted: int) -> None:
    code = ("mov eax, dword ptr [rdi]", does, "mov dword ptr [rdi + 16], eax", "ret")
    (value,) = seen(compiled("x86-64", one(LOADS[0]), *code)).values()
    assert isinstance(value, Expression)
    assert evaluate(value, dict.fromkeys(reads(value), 256)) == wanted
    wanted_of_all = {"or al, -1": -1, "add al, 200": -256 | 199}
    assert evaluate(value, dict.fromkeys(reads(value), -1)) == wanted_of_all[does]


def test_bytes_that_may_have_a_sign_are_not_compared() -> None:
    code = ("mov ecx, dword ptr [rdi]", "xor eax, eax", "cmp cl, -56", "sete al", *BYTES[3:])
    with pytest.raises(InputError, match="left, which is not known"):
        compiled("x86-64", one(LOADS[0]), *code)


def test_threads_of_linked_compilers_are_by_any_of_them() -> None:
    it = translator("aarch64,aarch64+lse")
    made = it.compiled(program("synchronisation/MP+rmw"))
    assert len(made.all) == 2  # The exchange alone is other code.
    assert it.name == "aarch64,aarch64+lse" and "; " in it.origin
    for word_ in ("riscv64,riscv64+zalasr", "riscv64+zalasr,riscv64"):
        either = translator(word_)
        assert either.model.name == "riscv-zalasr" and word("seq_cst/SB", either) is Word.SOUND
    right = by("aarch64")
    wrong = Linked(
        "wrong",
        right.goal,
        right.compiler,
        others=(ForCpu("", right.goal, Edited("it", old="stlr", new="str")),),
    )
    assert word("synchronisation/MP", wrong) is Word.UNSOUND
    with pytest.raises(InputError, match="must be for one processor"):
        translator("aarch64,riscv64")


# ---- the stack, and instructions with a condition ------------------------------------------------

STACK = {
    "aarch64": ("sub sp, sp, #16", "str x0, [sp, #8]", "ldr x9, [sp, #8]", "ldr w8, [x9]"),
    "x86-64": ("push rbp", "mov rbp, rsp", "mov qword ptr [rbp - 8], rdi", "mov rax, [rbp - 8]"),
    "riscv64": ("addi sp, sp, -16", "sd a0, 8(sp)", "ld a1, 8(sp)", "lw a2, 0(a1)"),
    "ppc64le": ("stdu r1, -64(r1)", "std r3, 48(r1)", "ld r4, 48(r1)", "lwz r5, 0(r4)"),
    "armv7": ("push {r4, lr}", "str r0, [sp, #-4]!", "ldr r1, [sp], #4", "ldr r2, [r1]"),
}
ENDS = {
    "aarch64": ("str w8, [sp, #4]", "ldr w10, [sp, #4]", "str w10, [x0, #16]", "ret"),
    "x86-64": ("mov ecx, [rax]", "mov dword ptr [rdi + 16], ecx", "leave", "ret"),
    "riscv64": ("sw a2, 4(sp)", "lw a3, 4(sp)", "sw a3, 16(a0)", "ret"),
    "ppc64le": ("stw r5, 32(r1)", "lwz r6, 32(r1)", "stw r6, 16(r3)", "blr"),
    "armv7": ("str r2, [sp, #-8]", "ldr r3, [sp, #-8]", "str r3, [r0, #16]", "pop {r4, pc}"),
}


@pytest.mark.parametrize("name", STACK)
def test_a_slot_of_the_stack_is_a_register(name: str) -> None:
    made = compiled(name, one(LOADS[0]), *STACK[name], *ENDS[name])
    assert seen(made) == {0: Read(0)}
    assert [it.location for it in made.program.operations] == ["x"]


@pytest.mark.parametrize(
    ("code", "said"),
    [
        (("str sp, [x0]", "ret"), "makes a number of the address of its stack"),
        (("ldr w8, [sp, #8]", "str w8, [x0]", "ret"), "uses X8, which has no value"),
        (("str w0, [sp]", "ldr x8, [sp]", "ldr w9, [x8]", "ret"), "uses X8, which has no value"),
        (
            ("str x0, [sp]", "str wzr, [sp, #4]", "ldr x8, [sp]", "ldr w9, [x8]", "ret"),
            "uses X8, which has no value",
        ),
        (("ldr w8, [x0]", "str w8, [sp, x8]", "ret"), "at an offset that is calculated"),
        (("ldadd w8, w9, [sp]", "ret"), "does more with the stack than load and store"),
    ],
)
def test_a_stack_that_is_more_than_slots_is_not_read(code: tuple[str, ...], said: str) -> None:
    with pytest.raises(InputError, match=said):
        compiled("aarch64+lse", one(LOADS[0]), *code)


@pytest.mark.parametrize("place", ["[rsp - 8]", "[rdi]"])
def test_a_number_of_eight_bytes_is_not_stored_as_one_of_four(place: str) -> None:
    with pytest.raises(InputError, match="MOV of 64 bits"):
        compiled("x86-64", one(LOADS[0]), f"mov qword ptr {place}, 5", "ret")


def test_a_dependency_goes_through_the_stack() -> None:
    code = ("ldr w8, [x0]", "str w8, [sp]", "ldr w9, [sp]", "str w9, [x0, #16]")
    made = compiled("aarch64", TWO, *code, "str w8, [x0, #32]", "ret")
    _, store = made.program.operations
    assert store.textual is not None and store.data == {0}


def test_what_comes_behind_a_conditional_store_does_not_depend_on_it() -> None:
    """As it does behind a branch; the store itself depends on the condition."""
    code = ("ldr r1, [r0]", "mov r2, #1", "cmp r1, #0", "strne r2, [r0]", "str r2, [r0, #16]")
    made = compiled("armv7", TWO, *code, "str r1, [r0, #32]", "bx lr")
    _, where, behind = made.program.operations
    assert (where.control, behind.control) == ({0}, frozenset())
    assert where.guard == Binary("!=", Read(0), Constant(0)) and behind.guard == Constant(1)


def test_a_register_that_is_set_on_a_condition() -> None:
    code = ("ldr r1, [r0]", "mov r2, #1", "cmp r1, #0", "moveq r2, #2", "str r2, [r0, #16]")
    made = compiled("armv7", TWO, *code, "str r1, [r0, #32]", "bx lr")
    (*_, store) = made.program.operations
    assert store.value is not None and store.data == {0}
    assert [evaluate(store.value, {0: it}) for it in (0, 3)] == [2, 1]


# ---- words ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ("aarch64+lsx", "a feature of aarch64 must be lse or rcpc, not lsx"),
        ("riscv64+rcpc", "a feature of riscv64 must be zalasr or ztso, not rcpc"),
        ("aarch64-O2@no-such-program", "no-such-program: cannot be run"),
        ("x86-64@true", "must be an llc, a clang, a GCC or a Python"),
        ("gcc:aarch64@gcc", "must be a GCC for aarch64, not for x86_64-linux-gnu"),
    ],
)
def test_words_that_name_no_compiler(given: str, said: str) -> None:
    if given.endswith("@gcc") and shutil.which("gcc") is None:
        pytest.skip("gcc is not installed")
    assert names_compiler(given)
    with pytest.raises(InputError) as caught:
        translator(given)
    assert said in str(caught.value)


def test_a_file_or_a_table_is_no_compiler() -> None:
    given = ("c11-aarch64", "aarch64.yaml", "aarch64/tests", "riscv6", "my-x86-64")
    assert not any(map(names_compiler, given))


def test_it_is_for_no_machine() -> None:
    from rspverify.architecture.machines import machine_named

    with pytest.raises(InputError, match="--machine must be left out"):
        by("aarch64").on_machine(machine_named("rsp"))


def test_the_compiler_is_named_with_its_version() -> None:
    assert by("aarch64").compiler.kind is Kind.LLVMLITE
    assert by("aarch64").origin.endswith(", aarch64 -O2") and by("aarch64").name == "aarch64"


def test_a_program_may_be_built_again_under_the_same_version() -> None:
    """So that no answer is kept by it."""
    right = by("aarch64")
    built = ForCpu("aarch64@llc", right.goal, Compiler("LLVM 23.0.0git by llc", "llc"))
    assert right.version_tells and not built.version_tells
    assert not Linked("both", right.goal, right.compiler, others=(built,)).version_tells
