"""A compiler in the place of a scheme: what it makes of tests, and what it does wrong, is seen."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import pytest
import yaml

from rspverify.axiomatic.cat import load_model
from rspverify.compilers.gpus import ForGpu, translator
from rspverify.compilers.llvm import Compiler
from rspverify.compilers.processors import Processor
from rspverify.limits import Limits
from rspverify.litmus.program import Program
from rspverify.litmus.reader import read_program
from rspverify.machine.explicit import ExplicitMachine
from rspverify.machine.machine import Machine
from rspverify.records import replace
from rspverify.scheme.reader import read_scheme_file
from rspverify.soundness.case import Case
from rspverify.soundness.check import check
from rspverify.soundness.settings import Settings
from rspverify.source import InputError, Problem, Severity, Source, read_source
from rspverify.verdict import Verdict, Word

ROOT = Path(__file__).resolve().parents[2]
TESTS = ROOT / "litmus/amdgpu"
MODEL = load_model("opencl-rsp")
SETTINGS = Settings(shortest=False)


@cache
def by(word: str) -> ForGpu:
    return translator(word)


@cache
def program(name: str) -> Program:
    return read_program(read_source(TESTS / f"{name}.litmus"))


def verdict(name: str, it: ForGpu) -> Verdict:
    return check(Case(program(name), it, MODEL, SETTINGS))


class Edited(Compiler, frozen=True):
    """A compiler that emits something else in one place."""

    old: str = ""
    new: str = ""

    def emit(self, module: str, processor: Processor) -> Source:
        source = by("amdgpu:gfx900").compiler.emit(module, processor)
        assert self.old in source.text
        return replace(source, text=source.text.replace(self.old, self.new, 1))


def edited(word: str, old: str, new: str = "") -> ForGpu:
    it = by(word)
    compiler = Edited(it.compiler.version, old=old, new=new)
    return ForGpu(word, it.goal, compiler, it.machine)


# ---- the whole of it -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("cpu", "names"),
    [
        (
            "gfx900",
            ("CoRR-dv", "ISA2-wg-dv", "MP-fences-dv", "MP-local-wg", "MP-rmw-dv", "WRC-wg-dv"),
        ),
        ("gfx1030+cumode", ("CAS-lock-dv", "CoWR-rmw-wg", "MP-by-local-wg", "WRC-wg-dv")),
        ("gfx1100", ("MP-in-local-wg", "MP-of-rmw-wg", "SB-sc-dv")),
    ],
)
def test_it_is_as_its_table_says(cpu: str, names: tuple[str, ...]) -> None:
    """LLVM 22.1 emits for each of these what it emits for its operations one by one."""
    expected = yaml.safe_load((TESTS / "expected.yaml").read_text())["verdicts"]
    it = by(f"amdgpu:{cpu}")
    it.prepare(map(program, names))
    for name in names:
        word, _, _ = expected[f"{name}.litmus"][f"llvm-{cpu}"].partition(" if ")
        assert verdict(name, it).word is Word(word), name


MISTAKES = [
    ("MP-dv", "\tbuffer_wbinvl1_vol\n", ""),
    ("MP-dv", "\ts_waitcnt vmcnt(0)\n\tglobal_store", "\tglobal_store"),
    ("MP-dv", "v_mov_b32_e32 v4, 1", "v_mov_b32_e32 v4, 2"),
    ("CAS-lock-dv", "v_mov_b32_e32 v4, 1", "v_mov_b32_e32 v4, 0"),
    ("CoRR-dv", "v3, v[0:1], off glc", "v3, v[0:1], off"),
    ("MP-local-wg", "\ts_waitcnt lgkmcnt(0)\n\tglobal", "\tglobal"),
]


@pytest.mark.parametrize(("name", "old", "new"), MISTAKES)
def test_what_a_compiler_does_wrong(name: str, old: str, new: str) -> None:
    """A line of what is emitted is lost, or changed, and everything else is as before."""
    found = verdict(name, edited("amdgpu:gfx900", old, new))
    assert found.word is Word.UNSOUND, found.reason
    assert verdict(name, by("amdgpu:gfx900")).word is Word.SOUND


@pytest.mark.parametrize(
    ("name", "old", "new", "said"),
    [
        ("SB-sc-dv", "P0.read1.v0:", "P0.read1.v9:", "line 6: what load DV,N y reads"),
        ("MP-dv", "vcc, 1, v", "vcc, 0, v", "line 10: what load na x reads"),
    ],
)
def test_a_result_that_is_in_no_register(name: str, old: str, new: str, said: str) -> None:
    """Nothing was written to the register that has it, be it only where the test looks at it."""
    found = verdict(name, edited("amdgpu:gfx900", old, new))
    assert found.word is Word.UNSUPPORTED
    assert found.reason == f"{said} must be in a register in the end, and cannot be found"


def test_a_read_modify_write_that_changes_nothing_is_a_load() -> None:
    """Which the table, where it stands for all of them, does not show; it is sound."""
    it = by("amdgpu:gfx900")
    names = [str(each) for each in it.compiled(program("CoRR-dv")).code[1]]
    assert names == ["global_load_dword r x glc"] * 2
    assert verdict("CoRR-dv", it).word is Word.SOUND


def test_values_are_calculated_as_in_the_test() -> None:
    """One thread alone, with every operator: the code and the table reach one outcome, the same."""
    operations = "add sub or xor and min max"
    calls = "".join(
        f"int a{at} = atomic_fetch_{it}_explicit(y, a{at - 1} + {at}, memory_order_relaxed, "
        "memory_scope_device);\n"
        for at, it in enumerate(operations.split(), 1)
    )
    text = f"""OpenCL all
{{ [x]=5; [y]=9; [z]=0; }}
P0@wg 0,dev 0 (global int *x, global atomic_int *y, global int *z) {{
  int a0 = *x;
  {calls}
  int b = atomic_exchange_explicit(y, a6 * 3 - a2, memory_order_relaxed, memory_scope_device);
  int e = b;
  int c = atomic_compare_exchange_strong_explicit(y, &e, b << 1, memory_order_relaxed,
    memory_order_relaxed, memory_scope_device);
  if (a1 > a2 && (b != 3 || !c)) {{ *z = ~a4; if (a3 >= 2) {{ *x = c ? 2 : a5 >> 1; }} }}
  else {{ *z = -a3; }}
}}
"""
    it = read_program(Source("t", text))
    table = read_scheme_file(ROOT / "schemes/amdgpu/gfx900.yaml")
    codes = by("amdgpu:gfx900").compiled(it), table.compiled(it)
    found = [ExplicitMachine(Machine(each)).search(Limits()).outcomes for each in codes]
    assert len(found[0]) == 1 and found[0] == found[1]


def test_a_write_back_that_is_not_waited_for() -> None:
    """The code has no wait that the table has, and with it is as sound."""
    word, name = "amdgpu:gfx90a", "ISA2-dv-all"
    table = Case(
        program(name), read_scheme_file(ROOT / "schemes/amdgpu/gfx90a.yaml"), MODEL, SETTINGS
    )
    waiting = edited(word, "\tbuffer_wbl2\n", "\tbuffer_wbl2\n\ts_waitcnt vmcnt(0)\n")
    found = verdict(name, by(word)).word, check(table).word, verdict(name, waiting).word
    assert found == (Word.OPEN, Word.SOUND, Word.SOUND)


# ---- what it is called, and what it is given -----------------------------------------------------


def test_names() -> None:
    it = by("amdgpu:gfx1030+cumode")
    assert (it.name, it.machine.name) == ("amdgpu:gfx1030+cumode", "amdgpu-gfx10-cu")
    assert it.origin.endswith(", gfx1030, features +cumode")


@pytest.mark.parametrize(
    ("word", "said"),
    [
        ("amdgpu:", r"^a compiler must be called as amdgpu:gfx942, not amdgpu:\n"),
        ("amdgpu:gfx9oo", r"must be a processor that can be read, not gfx9oo"),
        ("amdgpu:gfx900+cumode", r"must be left out, as gfx900 has one mode, not \+cumode"),
        ("amdgpu:gfx1030@no/llc", r"^no/llc: cannot be run: No such file"),
    ],
)
def test_wrong_names(word: str, said: str) -> None:
    with pytest.raises(InputError, match=said):
        translator(word)


def of(body: str, parameters: str = "global atomic_int *y") -> Program:
    return read_program(
        Source("t", f"OpenCL t\n{{ [y]=0; }}\nP0@wg 0,dev 0 ({parameters}) {{ {body} }}\n")
    )


LOAD = "int r0 = atomic_load_explicit{}(y, memory_order_acquire, memory_scope_device);"


def test_what_is_beyond_every_compiler() -> None:
    it = by("amdgpu:gfx900")
    with pytest.raises(InputError) as error:
        it.compiled(of(LOAD.format("_remote")))
    assert error.value.severity is Severity.UNSUPPORTED
    assert str(error.value) == (
        "remote operations are beyond amdgpu:gfx900: compilers do not know them"
    )


class Failing(Compiler, frozen=True):
    """A compiler that fails where an operation is seq_cst, whatever else is in the module."""

    def emit(self, module: str, processor: Processor) -> Source:
        if "seq_cst" in module:
            raise InputError([Problem(None, "cannot select")])
        return by("amdgpu:gfx900").compiler.emit(module, processor)


def test_a_test_that_cannot_be_compiled_is_refused_alone() -> None:
    it = by("amdgpu:gfx900")
    failing = ForGpu(it.word, it.goal, Failing("it"), it.machine)
    names = ("MP-dv", "SB-sc-dv", "LB-dv")
    failing.prepare(map(program, names))
    words = {name: verdict(name, failing) for name in names}
    assert [each.word for each in words.values()] == [Word.SOUND, Word.UNSUPPORTED, Word.SOUND]
    assert words["SB-sc-dv"].reason == "cannot select"


def test_a_test_has_one_text_with_whatever_it_is_compiled() -> None:
    alone, it = by("amdgpu:gfx1100"), by("amdgpu:gfx1100")
    together = ForGpu(it.word, it.goal, it.compiler, it.machine)
    together.prepare([program("MP-dv"), program("CAS-lock-dv")])
    assert together.emitted(program("CAS-lock-dv")) == alone.emitted(program("CAS-lock-dv"))


def test_what_an_answer_depends_on() -> None:
    """What the compiler has emitted, whatever its version."""
    test = program("MP-dv")
    it = by("amdgpu:gfx900")
    again = ForGpu(it.word, it.goal, it.compiler, it.machine)
    newer = ForGpu(it.word, it.goal, replace(it.compiler, version="LLVM 99"), it.machine)
    other = edited("amdgpu:gfx900", "\tbuffer_wbinvl1_vol\n")
    assert it.key(test) == again.key(test) == newer.key(test) != other.key(test)


def test_a_switch_that_excuses_it() -> None:
    found = check(Case(program("WRC-wg-dv"), by("amdgpu:gfx900"), MODEL, Settings()))
    assert (found.word, found.sound_if) == (Word.OPEN, ("STORE_DROPS_LINE",))
    machine = by("amdgpu:gfx900").machine.switched("STORE_DROPS_LINE")
    assert verdict("WRC-wg-dv", by("amdgpu:gfx900").on_machine(machine)).word is Word.SOUND
