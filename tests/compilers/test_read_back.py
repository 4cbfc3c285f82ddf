"""The schemes that we have of LLVM are ones that our reader reads, instruction by instruction.

The machine here is made for the test: it has every instruction of a table, accesses are performed at
once, and the others do nothing.
"""

from __future__ import annotations

import re
from pathlib import Path

import pytest
import yaml
from compilers.test_documented import TABLES, place

import rspverify
from rspverify.litmus.program import Order, Scope
from rspverify.records import replace
from rspverify.scheme.orders import Op
from rspverify.scheme.reader import read_scheme_file
from rspverify.scheme.row import Shape
from rspverify.scheme.scheme import Scheme

HEAD = """\
machine at-once "performs every access at once"

places thread < workgroup < device < system
reaches WG = workgroup, DV = device, SY = system
spaces global, local

state { memory[x] : value of system }
final memory
"""
LOADS = ("global_load", "ds_read", "ds_load")
STORES = ("global_store", "ds_write", "ds_store")
UPDATES = ("global_atomic", "ds_atomic", "ds_cmpst")


def machine(instructions: set[str]) -> str:
    """A machine that has instructions, given as rows have them."""
    return HEAD + "".join(_declared(each) for each in sorted(instructions))


def _declared(text: str) -> str:
    words = text.split()
    operands = [word for word in words if word in ("r", "x")]
    name = " ".join(word for word in words if word not in operands)
    effect = "nothing"
    if name.startswith(LOADS):
        effect = "r := memory[x]"
    elif name.startswith(STORES):
        effect = "memory[x] := r"
    elif name.startswith(UPDATES):
        effect = "r := memory[x]; memory[x] := f(r)"
    where = f"\n  when x is {'local' if name.startswith('ds_') else 'global'}" if operands else ""
    return f'\ninstruction "{name}" {" ".join(operands)}{where}\n  do   {effect}\n'


def read(folder: Path, file: Path) -> Scheme:
    """A scheme that we have, on a machine that has its instructions."""
    text = file.read_text()
    code = {each for row in yaml.safe_load(text)["rows"] for each in row["code"]}
    (folder / "at-once.machine").write_text(machine(code))
    copy = folder / file.name
    copy.write_text(re.sub(r"^machine: .*", "machine: at-once.machine", text, flags=re.MULTILINE))
    return read_scheme_file(copy)


@pytest.mark.parametrize(("cpu", "features"), [it for it in TABLES if it[1] != "+cumode"])
def test_it_is_a_scheme(cpu: str, features: str, tmp_path: Path) -> None:
    file = place(cpu, features)
    scheme = read(tmp_path, file)
    rows = yaml.safe_load(file.read_text())["rows"]
    assert [[str(each) for each in row.code] for row in scheme.rows] == [it["code"] for it in rows]


def test_its_rows_are_those_of_their_operations(tmp_path: Path) -> None:
    scheme = read(tmp_path, place("gfx1100", ""))

    def code(shape: Shape) -> list[str]:
        return [str(each) for each in scheme.table[shape].code]

    load = Shape(Op.LOAD, Scope.WG, Order.ACQUIRE, False)
    wait, invalidation = "s_waitcnt vmcnt(0)", "buffer_gl0_inv"
    assert code(load) == ["global_load_b32 r x glc", wait, invalidation]
    assert code(replace(load, order=Order.RELAXED)) == ["global_load_b32 r x glc"]
    assert code(replace(load, scope=None, order=None)) == ["global_load_b32 r x"]


def test_where_accesses_are_performed_at_once_it_is_sound(tmp_path: Path) -> None:
    scheme = read(tmp_path, place("gfx942", ""))
    made = rspverify.TestBuilder("MP")
    producer, consumer = made.thread(), made.thread()
    producer.store("x", 1)
    producer.store("flag", 1, "dv")
    with consumer.when(consumer.load("flag", "dv") == 1):
        consumer.load("x")
    asked = rspverify.check(scheme, made.test(), judge=rspverify.judge_of(1, cache=False))
    assert [result.verdict.value for result in asked] == ["SOUND"]
