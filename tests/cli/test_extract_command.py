"""`extract` as users meet it: the table of a compiler, or everything that is wrong."""

from __future__ import annotations

import re
from functools import partial
from pathlib import Path

import command_line
import pytest

import rspverify
from rspverify.commands import extract
from rspverify.compilers import Extraction, TableRow
from rspverify.compilers.llvm import Compiler
from rspverify.compilers.processors import Processor
from rspverify.litmus.program import Order, Scope
from rspverify.scheme.orders import Op
from rspverify.scheme.row import Shape
from rspverify.source import InputError, Source

run = partial(command_line.run, "extract")

SPLIT = ("--cpu", "gfx90a", "--features", "+tgsplit")


def test_the_table_is_a_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of few operations, as tests/compilers has all."""
    few = [Shape(Op.RMW, Scope.DV, Order.RELAXED, False, used=used) for used in (True, False)]
    monkeypatch.setattr(extract, "codes", partial(extract.codes, only=few))
    file = tmp_path / "table.yaml"
    result = run("amdgpu", *SPLIT, "--operators", "add,umax", "--llvm", "llvmlite", "-o", str(file))
    assert (result.exit_code, result.stdout, result.stderr) == (0, "", "")
    head, _, rows = file.read_text().partition("rows:\n")
    assert head.splitlines()[2:] == [
        "machine: amdgpu-gfx90a-tgsplit",
        'note: "rows for rmw are not for sub, xchg, and, or, xor, umin, max or min"',
    ]
    assert rows == (
        "  - {op: rmw, scope: dv, order: relaxed, remote: false, memory: global, result: used,\n"
        "     code: [global_atomic r x glc]}\n"
        "  - {op: rmw, scope: dv, order: relaxed, remote: false, memory: global, result: unused,\n"
        "     code: [global_atomic r x]}\n"
    )
    extraction = rspverify.extract("amdgpu", "gfx90a", "+tgsplit", operators=["add", "umax"])
    assert str(extraction) == file.read_text()


def test_what_cannot_be_read_is_left_out_with_a_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """By an LLVM that makes a loop of umax, as LLVM 16 to 20 do, and does not know the load."""
    emit = Compiler.emit

    def planted(compiler: Compiler, module: str, processor: Processor) -> Source:
        text = emit(compiler, module, processor).text
        text = re.sub(r"\tglobal_atomic_umax", "\ts_cbranch_execnz .L\n\\g<0>", text)
        return Source("a.s", re.sub(r"\tglobal_load_dword \S+, \S+, off( glc)", "\twhat", text))

    monkeypatch.setattr(Compiler, "emit", planted)
    few = [
        *(Shape(Op.RMW, Scope.DV, Order.RELAXED, False, used=used) for used in (True, False)),
        *(Shape(Op.LOAD, scope, Order.RELAXED, False) for scope in (Scope.WI, Scope.DV)),
    ]
    monkeypatch.setattr(extract, "codes", partial(extract.codes, only=few))
    file = tmp_path / "table.yaml"
    result = run("amdgpu", "--cpu", "gfx90a", "-o", str(file))
    assert (result.exit_code, result.stdout) == (3, "")
    assert re.fullmatch(
        r"note: left out: load DV,N \(relaxed\), umax, as a\.s:\d+:2: an instruction must be one "
        r"that is known in rows, not what\n",
        result.stderr,
    )
    text = file.read_text()
    assert 'note: "rows for rmw are not for umax"' in text
    assert text.count("  - {op: load") == 1
    assert "{op: load, scope: wi," in text


def test_what_does_not_compile_is_said_and_nothing_is_written(tmp_path: Path) -> None:
    llc, file = tmp_path / "llc", tmp_path / "table.yaml"
    llc.write_text(
        '#!/bin/sh\nif [ "$1" = --version ]; then echo "LLVM version 19.9"; echo "  amdgcn - GCN"\n'
        'else echo "LLVM ERROR: Cannot select: t14" >&2; exit 1; fi\n'
    )
    llc.chmod(0o755)
    result = run("amdgpu", *SPLIT, "--llc", str(llc), "-o", str(file))
    assert (result.exit_code, result.stdout) == (2, "")
    assert result.stderr == (
        "LLVM 19.9 by llc, gfx90a, features +tgsplit: cannot compile: LLVM ERROR: Cannot select: t14\n"
    )
    assert not file.exists()


def test_the_table_of_a_processor_is_compared_with_that_of_the_abi(tmp_path: Path) -> None:
    pytest.importorskip("llvmlite")
    file = tmp_path / "table.yaml"
    result = run("riscv64", "--operators", "add,sub", "-o", str(file))
    assert (result.exit_code, result.stdout) == (3, "")
    assert result.stderr == (
        "note: left out: sub, as `rmw (relaxed)` by sub must have a row: "
        "tables for riscv have no {OP} for an rmw by '-'\n"
        "note: schemes/c11/c11-riscv-psabi.yaml has this code\n"
    )
    name, source, *head = file.read_text().partition("rows:\n")[0].splitlines()
    assert name == "name: llvm-riscv64" and source.endswith(', riscv64 -O2"')
    assert head == [
        "target: riscv",
        'note: "rows for rmw are not for sub, xchg, and, or or xor"',
    ]


def test_what_the_machine_has_not_is_named() -> None:
    row = TableRow("store", ("na", "wg"), ("release",), ("global",), None, ("ds_store_b32 x r",))
    extraction = Extraction("llvm-gfx1", "by hand", "rsp", (row,))
    with pytest.raises(InputError) as error:
        extract.read_back(extraction)
    said = r"^llvm-gfx1\.yaml:6:.*: an instruction must be one of .*, not 'ds_store_b32'$"
    assert re.search(said, str(error.value), re.MULTILINE)
