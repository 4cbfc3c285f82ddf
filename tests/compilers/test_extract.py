"""What cannot be read, or does not agree with itself, has no row."""

import re
from collections.abc import Callable
from functools import cache

import pytest
from msgspec import field

from rspverify.compilers import Processor, codes, processor
from rspverify.compilers.llvm import Compiler, llvmlite
from rspverify.litmus.program import Order, Scope
from rspverify.scheme.memory import IN_LOCAL
from rspverify.scheme.orders import Op
from rspverify.scheme.row import Shape
from rspverify.source import InputError, Source

STORE = Shape(Op.STORE, Scope.DV, Order.RELEASE, False)
RMW = Shape(Op.RMW, Scope.WG, Order.SEQ_CST, False, IN_LOCAL, used=False)
FENCE = Shape(Op.FENCE, Scope.DV, Order.ACQUIRE, False)
ALL = (STORE, RMW, FENCE)


@cache
def compiled(module: str, processor: Processor) -> Source:
    """What LLVM makes of a module, once for all tests."""
    return llvmlite().emit(module, processor)


class Planted(Compiler, frozen=True):
    """LLVM, with a mistake in some modules. when: whether it is in what is compiled of a module."""

    when: Callable[[str], bool] = field(default=lambda module: True)
    old: str = ""
    new: str = ""

    def emit(self, module: str, processor: Processor) -> Source:
        source = compiled(module, processor)
        planted = re.sub(self.old, self.new, source.text)
        return Source(source.name, planted) if self.when(module) else source


def extracted(compiler: Compiler, cpu: str = "gfx942", features: str = "") -> list[list[str]]:
    found = codes(processor(cpu, features), compiler, only=ALL).rows
    return [[*found[shape]] for shape in ALL]


def test_it_agrees_with_itself() -> None:
    assert extracted(Planted("nothing planted")) == [
        ["buffer_wbl2 sc1", "s_waitcnt vmcnt(0)", "global_store_dword x r sc1"],
        ["s_waitcnt lgkmcnt(0)", "ds_atomic r x", "s_waitcnt lgkmcnt(0)"],
        ["s_waitcnt vmcnt(0)", "buffer_inv sc1"],
    ]


def in_kernels(module: str) -> bool:
    return "amdgpu_kernel" in module


def without_labels(module: str) -> bool:
    return ".Lbegin" not in module


def with_nothing_before(module: str) -> bool:
    return "%lstore syncscope" not in module


MISTAKES = [
    ("sub", None, r"ds_sub_u32", "ds_read_b32", r"the code of `rmw local WG,N \(seq_cst\) "
     r"unused` by sub must be s_waitcnt lgkmcnt\(0\); ds_atomic r x; .*, not .*; ds_read_b32 r "
     r"x; .*"),
    ("umax", None, r"ds_max_u32", "s_cbranch_execnz .LBB0_1\n ds_max_u32", r"the code of `rmw "
     r"local WG,N \(seq_cst\) unused` by umax must be s_waitcnt .*: an instruction must be one "
     r"that is known in rows, not s_cbranch_execnz"),
    (RMW, None, r"ds_add_u32", "ds_read_b32", r"the code of `rmw local WG,N .*` must have an "
     r"instruction that reads and writes, not ds_read_b32 r x"),
    (FENCE, None, r"buffer_inv sc1", "global_load_dword v1, v[2:3], off", r"the code of `fence "
     r"DV,N \(acquire\)` must have no access, not global_load_dword r x"),
    (FENCE, None, r"buffer_inv sc1", "buffer_what sc1", r"an instruction must be one that is "
     r"known in rows, not buffer_what"),
    (STORE, without_labels, r"buffer_wbl2 sc1", "buffer_wbl2 sc0", r"the code of `store DV,N "
     r"\(release\)` must be the same without labels, and is not"),
    (STORE, in_kernels, r"buffer_wbl2 sc1\n", "s_nop 0\n", r"the code of `store DV,N "
     r"\(release\)` in a kernel must be buffer_wbl2 sc1; .*, not s_waitcnt vmcnt\(0\); "
     r"global_store_dword x r sc1"),
    (STORE, in_kernels, r"buffer_wbl2 sc1\n", "buffer_what\n", r"the code of `store DV,N "
     r"\(release\)` in a kernel must be .*: an instruction must be one that is known in rows, .*"),
    (FENCE, with_nothing_before, r"buffer_inv sc1", "buffer_inv sc0", r"the code of `fence "
     r"DV,N \(acquire\)`, where nothing has begun before, must be a part of its row's, .*, not .*"),
]  # fmt: skip


@pytest.mark.parametrize(("what", "when", "old", "new", "said"), MISTAKES)
def test_what_is_wrong_is_left_out(
    what: Shape | str, when: Callable[[str], bool] | None, old: str, new: str, said: str
) -> None:
    """All else stays as it is."""
    compiler = Planted("planted", when=when or (lambda module: True), old=old, new=new)
    whole, found = (codes(processor("gfx942"), it, only=ALL) for it in (llvmlite(), compiler))
    assert [*found.left_out] == [str(what)]
    assert re.fullmatch(said, found.left_out[str(what)].message)
    assert found.operators == tuple(it for it in whole.operators if it != what)
    assert found.rows == {shape: code for shape, code in whole.rows.items() if shape != what}


NO_TABLE = [
    (None, r"\.Lbegin1:", "", r"gfx942\.s: must have the label \.Lbegin1, and has not"),
    (in_kernels, r"\.amdhsa_tg_split 0", ".amdhsa_tg_split 1", r"\.amdhsa_tg_split must be 0 for "
     r"gfx942, not 1"),
    (in_kernels, r"\.amdhsa_tg_split 0", "", r"\.amdhsa_tg_split must be 0 for gfx942, not missing"),
    (None, r"\t(ds|buffer|global)_", "\twhat_", r"an instruction must be one that is known in rows, "
     r"not what_.*"),
]  # fmt: skip


@pytest.mark.parametrize(("when", "old", "new", "said"), NO_TABLE)
def test_no_table(when: Callable[[str], bool] | None, old: str, new: str, said: str) -> None:
    compiler = Planted("planted", when=when or (lambda module: True), old=old, new=new)
    with pytest.raises(InputError) as error:
        extracted(compiler)
    messages = [problem.message for problem in error.value.problems]
    assert any(re.fullmatch(said, message) for message in messages), messages
