"""Compilers that are not there, or complain, are said in words."""

from pathlib import Path

import pytest

from rspverify.compilers import llvm
from rspverify.compilers.llvm import Compiler, llc, llvmlite
from rspverify.compilers.processors import PROCESSORS, Processor, processor
from rspverify.source import InputError

GOOD = 'echo "  LLVM version 99.1.2"; echo "    amdgcn - AMD GCN GPUs"'


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
    compiler = llc(path)
    assert compiler == Compiler("LLVM 99.1.2 by llc", path)
    source = compiler.emit("; a module\n", processor("gfx942", "+tgsplit"))
    options = "-mtriple=amdgcn-amd-amdhsa -mcpu=gfx942 -O2 -o - -mattr=+tgsplit"
    assert (source.name, source.text) == ("gfx942+tgsplit.s", f"; a module\n; {options}\n")


@pytest.mark.parametrize(
    ("lines", "said"),
    [
        ("echo hello", "PATH: must be an llc, which tells its LLVM version"),
        ('echo "LLVM version 9"', "PATH: must have the target amdgcn, and has not"),
        (GOOD.replace("99.1.2", "14.0.6"), "PATH: must be of LLVM 15 or later, not 14.0.6"),
        ("exit 3", "PATH: cannot compile: it ends with 3"),
        ("echo oh; echo no >&2", "PATH: cannot compile: no"),
        (r"printf '\377\376'", "PATH: cannot be run: it prints no text"),
    ],
)
def test_a_program_that_is_none(tmp_path: Path, lines: str, said: str) -> None:
    path = program(tmp_path, lines)
    with pytest.raises(InputError) as error:
        llc(path)
    assert str(error.value).splitlines()[0] == said.replace("PATH", path)


def test_a_program_that_is_not_there() -> None:
    with pytest.raises(InputError, match=r"^no/llc: cannot be run: No such file or directory$"):
        llc("no/llc")


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
    meant = processor(cpu) if cpu in PROCESSORS else Processor(cpu, (), "amdgpu-none", None)
    with pytest.raises(InputError, match=f"(?s)^LLVM .*{said}"):
        llvmlite().emit(module, meant)
