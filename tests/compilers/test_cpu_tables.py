"""The tables of compilers for processors: what is a row, and what is none."""

from __future__ import annotations

import re
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from rspverify.axiomatic.cat import load_model
from rspverify.compilers.cpu_tables import cpu_table, linked_tables
from rspverify.compilers.cpus import ForCpu, Linked, translator
from rspverify.compilers.llvm import Compiler, llvmlite
from rspverify.compilers.operations import shapes
from rspverify.compilers.processors import Goal
from rspverify.compilers.tables import Extraction
from rspverify.litmus.program import Scope
from rspverify.litmus.reader import read_program
from rspverify.mapping.reader import read_table
from rspverify.mapping.table import Table
from rspverify.scheme.orders import Op
from rspverify.soundness.case import Case
from rspverify.soundness.check import check
from rspverify.soundness.settings import Settings
from rspverify.source import Source, read_source
from rspverify.verdict import Word

PLAIN = (Op.LOAD, Op.STORE, Op.FENCE)


def spoken(found: Extraction) -> dict[str, tuple[str, ...]]:
    """The code of each operation that has a row."""
    table = read_table(Source("a table", str(found)))
    every = shapes((None, *(Scope if table.has_scopes else ())))
    return {str(it): row.text for it in every if (row := table.row_of(it)) is not None}


def test_llvm_has_the_table_of_the_abi() -> None:
    pytest.importorskip("llvmlite")
    found = cpu_table(translator("aarch64"), operators=("add", "xchg"))
    assert (found.published, found.differs) == ("schemes/c11/c11-aarch64.yaml", {})
    assert found.left_out == {}
    own = spoken(found)
    assert set(own) == set(map(str, shapes()))
    assert own["store (release)"] == ("STLR v,[x]",)
    assert own["rmw (acquire)"] == ("L: LDAXR r,[x]", "OP t,r,v", "STXR t1,t,[x]", "CBNZ t1,L")
    # What stands behind the return of the function stands before the place that it goes back to.
    assert own["cas (relaxed)"][-3:] == ("B L1", "F: CLREX", "L1:")


def test_a_register_that_is_not_named_keeps_its_name() -> None:
    pytest.importorskip("llvmlite")
    found = cpu_table(translator("x86-64"), operators=("add", "xchg"), kinds=(Op.RMW, Op.CAS))
    own = spoken(found)
    assert own["cas (seq_cst)"] == ("MOV EAX,e", "LOCK CMPXCHG [x],v", "MOV r,EAX")
    # One that adds, and gives no result, is another instruction, of the same events.
    assert own["rmw (relaxed) unused"] == ("MOV r,v", "{OP} [x],r")
    assert found.left_out == {} and found.differs == {}


def test_operators_without_the_code_of_the_others_are_left_out() -> None:
    pytest.importorskip("llvmlite")
    found = cpu_table(translator("x86-64"), operators=("add", "and", "sub"), kinds=(Op.RMW,))
    assert set(found.left_out) == {"and", "sub"}
    assert "has a loop that is unrolled" in found.left_out["and"]
    assert "tables for x86 have no {OP}" in found.left_out["sub"]
    assert found.note == "rows for rmw are not for sub, xchg, and, or or xor"


def test_it_is_said_where_the_abi_has_another_code() -> None:
    pytest.importorskip("llvmlite")
    found = cpu_table(translator("ppc64le"), operators=("add",), kinds=(Op.RMW,))
    assert set(found.differs) == {f"rmw ({it})" for it in ("acquire", "acq_rel", "seq_cst")}
    assert found.differs["rmw (acquire)"] == (
        "L: lwarx r,0,x; OP t,r,v; stwcx. t,0,x; bne cr0,L; lwsync, "
        "there L: lwarx r,0,x; OP t,r,v; stwcx. t,0,x; bne L; isync"
    )


def test_pairs_of_orders_with_codes_of_their_own_have_no_row() -> None:
    """LLVM orders what follows a failure on Power where its order says so, and not in others."""
    pytest.importorskip("llvmlite")
    found = cpu_table(translator("ppc64le"), kinds=(Op.CAS,))
    assert found.left_out["cas (acquire)"].startswith("`cas (acquire)` by acquire acquire must")
    assert "cas (acquire)" not in spoken(found)


SCOPED = sorted(Path("litmus/targets/scopes").glob("*.litmus"))


def test_the_table_for_ptx_has_scopes_and_the_verdicts_of_its_compiler() -> None:
    """And is for C, too: an operation without a scope is one of the system."""
    pytest.importorskip("llvmlite")
    compiler = translator("nvptx:sm_70")
    found = cpu_table(compiler, operators=("add", "xchg"))
    own = spoken(found)
    assert own["load DV,N (seq_cst)"] == ("fence.sc.gpu", "ld.acquire.gpu r,x")
    assert own["cas WG,N (release)"] == ("atom.release.cta.cas r,x,e,v",)
    assert own["store (release)"] == own["store ALL,N (release)"] == ("st.release.sys x,v",)
    # LLVM compiles no access of one work-item.
    assert found.left_out and all(" WI,N " in it for it in found.left_out)
    assert found.published == "schemes/gpus/ptx-abi-13.1.yaml"
    assert found.differs["fence DV,N (acquire)"] == (
        "fence.acq_rel.gpu, there fence.acquire.{SCOPE}"
    )
    assert "load DV,N (seq_cst)" not in found.differs

    table, settings = read_table(Source("a table", str(found))), Settings(model="rc11-scoped")
    model = load_model(settings.model)
    tests = [read_program(read_source(str(it))) for it in SCOPED]
    compiler.prepare(tests)
    words = set()
    for each, test in zip(SCOPED, tests, strict=True):
        theirs, ours = (check(Case(test, it, model, settings)).word for it in (compiler, table))
        assert (each.name, ours) == (each.name, theirs)
        words.add(ours)
    assert words == {Word.SOUND, Word.UNSOUND, Word.RACY}


Edit = Callable[[str], str]


def planted(edit: Edit, monkeypatch: pytest.MonkeyPatch, word: str = "aarch64+lse") -> ForCpu:
    """A compiler with a mistake."""
    pytest.importorskip("llvmlite")
    emit = Compiler.emit

    def wrong(compiler: Compiler, module: str, goal: Goal) -> Source:
        source = emit(compiler, module, goal)
        return Source(source.name, edit(source.text))

    monkeypatch.setattr(Compiler, "emit", wrong)
    return translator(word)


def of_functions(edit: Edit) -> Edit:
    """An edit of each function alone."""
    end = re.compile(r"(?<=\.Lfunc_end\d:\n)|(?<=\n}\n)")
    return lambda text: "".join(map(edit, end.split(text)))


def test_an_operator_that_loses_an_order_is_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    compiler = planted(lambda text: text.replace("ldeora\t", "ldeor\t"), monkeypatch)
    found = cpu_table(compiler, operators=("add", "xor", "or"), kinds=(Op.RMW,))
    assert set(found.left_out) == {"xor"}
    assert found.left_out["xor"] == (
        "`rmw (acquire)` by xor must have the code of its row, `{OP}A v,r,[x]`, not `LDEOR v,r,[x]`"
    )


def test_a_fence_that_is_lost_between_accesses_has_no_row(monkeypatch: pytest.MonkeyPatch) -> None:
    def edit(text: str) -> str:
        return text.replace("\tdmb\tish\n", "") if text.count("\tstr\t") > 1 else text

    found = cpu_table(planted(of_functions(edit), monkeypatch), kinds=PLAIN)
    left = {f"fence ({it})" for it in ("release", "acq_rel", "seq_cst")}
    assert set(found.left_out) == left
    assert "between other accesses" in found.left_out["fence (release)"]
    assert not left & set(spoken(found))


def test_a_store_of_another_value_has_no_row(monkeypatch: pytest.MonkeyPatch) -> None:
    compiler = planted(lambda text: re.sub(r"\tstlr\tw\d+,", "\tstlr\twzr,", text), monkeypatch)
    found = cpu_table(compiler, kinds=())
    assert set(found.left_out) == {"store (release)", "store (seq_cst)"}


@pytest.mark.parametrize(
    ("load", "around"), [("relaxed", "other accesses"), ("volatile", "read-modify-writes")]
)
def test_a_scope_that_is_lost_between_accesses_has_no_row(
    load: str, around: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where relaxed loads cannot be read, as of LLVM 19, read-modify-writes stand around."""

    def edit(text: str) -> str:
        several = text.count(f"\tld.{load}.gpu") > 1 or text.count("\tatom.") > 1
        return text.replace("fence.sc.gpu", "fence.sc.cta") if several else text

    def edits(text: str) -> str:
        return of_functions(edit)(text.replace("\tld.relaxed.", f"\tld.{load}."))

    compiler = planted(edits, monkeypatch, "nvptx:sm_70")
    found = cpu_table(compiler, operators=("add",), kinds=(Op.RMW, Op.FENCE))
    assert "fence.sc.cta" in found.left_out["fence DV,N (seq_cst)"]
    assert f" between {around} must have" in found.left_out["fence DV,N (seq_cst)"]
    own = spoken(found)
    assert "fence DV,N (seq_cst)" not in own and own["fence WG,N (seq_cst)"] == ("fence.sc.cta",)
    assert (own["load DV,N (relaxed)"] == ("ld.relaxed.gpu r,x",)) == (load == "relaxed")
    assert "rmw DV,N (relaxed)" in own and "load na" in own


def test_an_exchange_of_what_is_expected_has_no_row(monkeypatch: pytest.MonkeyPatch) -> None:
    """PTX's writes what it has read where it finds another value, which is no write of C's."""

    def edit(text: str) -> str:
        return re.sub(r"(\.cas.*\], )(%r\d+), (%r\d+);", r"\1\3, \2;", text)

    compiler = planted(edit, monkeypatch, "nvptx:sm_70")
    found = cpu_table(compiler, kinds=(Op.CAS,))
    assert "must do what it says" in found.left_out["cas DV,N (acquire)"]
    assert not any(it.startswith("cas") for it in spoken(found))


@pytest.mark.parametrize("word", ["gcc:riscv64", "gcc:aarch64"])
def test_gcc_has_a_table(word: str) -> None:
    compiler = f"{word.partition(':')[2]}-linux-gnu-gcc"
    if shutil.which(compiler) is None:
        pytest.skip(f"{compiler} is not installed")
    found = cpu_table(translator(word), kinds=PLAIN)
    assert found.name == word.replace(":", "-") and found.source.startswith("GCC ")
    assert found.left_out == {}
    assert set(spoken(found)) == {str(it) for it in shapes() if it.kind in PLAIN}


def test_code_that_cannot_be_read_has_no_row() -> None:
    """Without optimisation operands are kept on the stack."""
    pytest.importorskip("llvmlite")
    found = cpu_table(translator("aarch64-O0"), operators=("add",), kinds=(Op.RMW,))
    assert found.left_out["rmw (relaxed)"].endswith("has an address that is calculated")
    assert not any(it.startswith("rmw") for it in spoken(found))


class Before19(Compiler, frozen=True):
    """LLVM as it was before 19: no fence is behind a seq_cst store for RISC-V, as in table A.6."""

    def emit(self, module: str, goal: Goal) -> Source:
        source = llvmlite().emit(module, goal)
        text = re.sub(
            r"(\tfence\trw, w\n(?:\tli\t.*\n)?\tsw\t.*\n)\tfence\trw, rw\n", r"\1", source.text
        )
        return Source(source.name, text)


def test_code_that_is_linked_function_by_function() -> None:
    """A.6 and A.7 may not be, and where whole threads are linked SB does not show it: each of its
    threads has a store and a load by the same compiler."""
    pytest.importorskip("llvmlite")
    new = translator("riscv64,riscv64+zalasr")
    assert isinstance(new, Linked)
    old = Linked("old", new.goal, Before19("LLVM 18"), others=new.others)
    test = read_program(read_source("litmus/targets/seq_cst/SB.litmus"))
    settings, model = Settings(model="c11-simp"), load_model("c11-simp")

    def word(it: Linked | Table) -> Word:
        return check(Case(test, it, model, settings)).word

    assert [word(old), word(linked_tables(old, (Op.LOAD, Op.STORE)))] == [Word.SOUND, Word.UNSOUND]
    assert [word(new), word(linked_tables(new, (Op.LOAD, Op.STORE)))] == [Word.SOUND, Word.SOUND]
