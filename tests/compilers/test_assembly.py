"""The text of assembly is read line by line, and what is no line of it is named at its place."""

import re

import pytest

from rspverify.compilers.assembly import read_assembly
from rspverify.isa.lines import Directive, Instruction, Label
from rspverify.source import InputError, Source

LINES = {
    "\tglobal_load_dword v0, v[0:1], off sc0 sc1": [
        ("global_load_dword", ("v0", "v[0:1]", "off"), ("sc0", "sc1"))
    ],
    "  global_store_b32 v[0:1], v2, off offset:16 scope:SCOPE_DEV ; a comment": [
        ("global_store_b32", ("v[0:1]", "v2", "off"), ("offset:16", "scope:SCOPE_DEV"))
    ],
    "s_waitcnt vmcnt(0) lgkmcnt(1)": [("s_waitcnt", (), ("vmcnt(0)", "lgkmcnt(1)"))],
    "s_waitcnt_vscnt null, 0x0 // another": [("s_waitcnt_vscnt", ("null", "0x0"), ())],
    "buffer_inv sc1": [("buffer_inv", (), ("sc1",))],
    "buffer_gl0_inv": [("buffer_gl0_inv", (), ())],
    "ds_add_rtn_u32 v3, v8, v2 offset:4": [("ds_add_rtn_u32", ("v3", "v8", "v2"), ("offset:4",))],
    "v_dual_mov_b32 v0, 0 :: v_dual_mov_b32 v1, s2": [
        ("v_dual_mov_b32", ("v0", "0"), ()),
        ("v_dual_mov_b32", ("v1", "s2"), ()),
    ],
    "s_cbranch_execz .LBB0_2": [("s_cbranch_execz", (".LBB0_2",), ())],
    "; nothing but a comment": [],
    "": [],
}


@pytest.mark.parametrize("line", LINES)
def test_instructions(line: str) -> None:
    read = read_assembly(Source("a.s", line))
    found = [(it.mnemonic, it.operands, it.modifiers) for it in read if isinstance(it, Instruction)]
    assert len(found) == len(read)
    assert found == LINES[line]


def test_an_instruction_is_written_as_it_was_read() -> None:
    text = "global_atomic_add_u32 v0, v[1:2], v3, off th:TH_ATOMIC_RETURN scope:SCOPE_DEV"
    (read,) = read_assembly(Source("a.s", f"\t{text}"))
    assert str(read) == text


def test_labels_and_directives() -> None:
    text = '.Lbegin0: s_nop 0\nf0: ; @f0\n\t.amdgcn_target "amdgcn--gfx942"\n\t.ascii ";no"'
    first, second, third, *directives = read_assembly(Source("a.s", text))
    assert isinstance(first, Label) and first.name == ".Lbegin0"
    assert isinstance(second, Instruction) and str(second.span) == "a.s:1:11"
    assert isinstance(third, Label) and third.name == "f0"
    assert all(isinstance(each, Directive) for each in directives)
    assert [each.argument for each in directives] == ['"amdgcn--gfx942"', '";no"']


def test_metadata_are_no_code() -> None:
    text = (
        "\t.amdgpu_metadata\n---\namdhsa.kernels:\n  - .args:\n...\n\t.end_amdgpu_metadata\ns_nop 0"
    )
    (read,) = read_assembly(Source("a.s", text))
    assert str(read) == "s_nop 0"


def test_every_line_that_is_none_is_named() -> None:
    with pytest.raises(InputError) as error:
        read_assembly(Source("a.s", "s_nop 0\n  = what\n\n<html>"))
    message = "a line of assembly must be a label, a directive or an instruction, not"
    pattern = rf"^a\.s:2:3: {message} '?= what'?\n.*\n +\^+\na\.s:4:1: {message} '?<html>'?\n"
    assert re.match(pattern, str(error.value))
