"""Compilers that are not there, or complain, are said in words."""

import sys
from pathlib import Path

import pytest

from rspverify.compilers import llvm
from rspverify.compilers.llvm import Compiler, Kind, compiler_at, llvmlite
from rspverify.compilers.processors import PROCESSORS, processor
from rspverify.records import replace
from rspverify.source import InputError

GOAL = processor("gfx942", "+tgsplit")
GOOD = 'echo "  LLVM version 99.1.2"'

MODULE = (
    'target triple = "amdgcn-amd-amdhsa"\n'
    "define void @f(ptr addrspace(1) %x) { store i32 1, ptr addrspace(1) %x ret void }"
)


def program(folder: Path, lines: str) -> str:
    path = folder / "llc"
    path.write_text(f"#!/bin/sh\n{lines}\n")
    path.chmod(0o755)
    return str(path)


def test_a_program_that_is_one(tmp_path: Path) -> None:
    path = program(tmp_path, f'if [ "$1" = --version ]; then {GOOD}; else cat; echo "; $*"; fi')
    compiler = compiler_at(path, GOAL)
    assert compiler == Compiler("LLVM 99.1.2 by llc", path)
    source = compiler.emit("; a module\n", GOAL)
    options = "-mtriple=amdgcn-amd-amdhsa -mcpu=gfx942 -O2 -o - -mattr=+tgsplit"
    assert (source.name, source.text) == ("gfx942+tgsplit.s", f"; a module\n; {options}\n")


def test_a_python_that_has_an_llvm(tmp_path: Path) -> None:
    path = program(tmp_path, f'exec {sys.executable} "$@"')
    compiler, own = compiler_at(path, GOAL), llvmlite()
    assert compiler == Compiler(own.version, path, Kind.LLVMLITE)
    assert compiler.emit(MODULE, GOAL) == own.emit(MODULE, GOAL)


def test_pointers_of_an_old_llvm_have_types(tmp_path: Path) -> None:
    lines = f'if [ "$1" = --version ]; then {GOOD.replace("99.1.2", "14.0.6")}; else cat; fi'
    text = compiler_at(program(tmp_path, lines), GOAL).emit(MODULE, GOAL).text
    assert text == MODULE.replace("ptr addrspace(1)", "i32 addrspace(1)*")


@pytest.mark.parametrize(
    ("lines", "said"),
    [
        ("echo hello", "PATH: must be an llc, a clang, a GCC or a Python"),
        (GOOD.replace("99.1.2", "12.0.1"), "PATH: must be of LLVM 13 or later, not 12"),
        ("echo gcc", "PATH: must be a GCC for gfx942+tgsplit, not for gcc"),
        ("exit 3", "PATH: cannot compile: it ends with 3"),
        ("echo oh; echo no >&2", "PATH: cannot compile: no"),
        (r"printf '\377\376'", "PATH: cannot be run: it prints no text"),
    ],
)
def test_a_program_that_is_none(tmp_path: Path, lines: str, said: str) -> None:
    path = program(tmp_path, lines)
    with pytest.raises(InputError) as error:
        compiler_at(path, GOAL)
    assert str(error.value).splitlines()[0] == said.replace("PATH", path)


def test_a_program_that_is_not_there() -> None:
    with pytest.raises(InputError, match=r"^no/llc: cannot be run: No such file or directory$"):
        compiler_at("no/llc", GOAL)


def test_llvmlite_that_is_not_there(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(llvm, "find_spec", lambda _: None)
    with pytest.raises(InputError) as error:
        llvmlite()
    assert str(error.value) == (
        "llvmlite must be installed, and is not\n"
        "  hint: python -m pip install 'rspverify[llvm]', or name an llc: --llc PATH"
    )


@pytest.mark.parametrize(
    ("module", "cpu", "said"),
    [
        (MODULE, "gfx1", "must know the processor gfx1, .*of those that can be read .* gfx942, "),
        (MODULE, "gfx940", "must know the processor gfx940, .*of its .* it knows gfx942, gfx950$"),
        ("what", "gfx942", "cannot compile: .*expected top-level entity"),
    ],
)
def test_what_llvm_says_is_said(module: str, cpu: str, said: str) -> None:
    """Also where it ends its process, as it does for a processor that it does not know."""
    meant = processor(cpu) if cpu in PROCESSORS else replace(processor("gfx900"), cpu=cpu)
    with pytest.raises(InputError, match=f"(?s)^LLVM .*{said}"):
        llvmlite().emit(module, meant)
