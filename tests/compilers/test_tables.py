"""Codes become rows, and rows say the code of each operation again."""

import yaml

from rspverify.compilers.extract import Codes
from rspverify.compilers.ir import shapes
from rspverify.compilers.llvm import Compiler
from rspverify.compilers.processors import processor
from rspverify.compilers.tables import TableRow, table
from rspverify.litmus.program import Order, Scope
from rspverify.scheme.memory import IN_GLOBAL, IN_LOCAL
from rspverify.scheme.orders import Op
from rspverify.scheme.row import Shape
from rspverify.source import Problem

COMPILER = Compiler("LLVM 1.2.3 by hand")
Spoken = dict[Shape, tuple[str, ...]]


def spoken(text: str) -> Spoken:
    """The code of each operation that the text of a scheme has a row for."""
    found: Spoken = {}
    for row in yaml.safe_load(text)["rows"]:
        op, memory = Op(row["op"]), frozenset(_listed(row["memory"]))
        results = {"used": [True], "unused": [False], None: [True, False]}[row.get("result")]
        for scope in _listed(row["scope"]):
            orders = [None] if scope == "na" else [*map(Order, _listed(row["order"]))]
            for order in orders:
                for used in results if op.gives else [True]:
                    own = None if scope == "na" else Scope(scope.upper())
                    shape = Shape(op, own, order, False, memory, used)
                    assert shape not in found
                    found[shape] = tuple(row["code"])
    return found


def _listed(words: str | list[str]) -> list[str]:
    return [words] if isinstance(words, str) else words


def written(codes: Spoken) -> str:
    return str(table(Codes(codes), processor("gfx942"), COMPILER))


def test_where_every_code_is_another_there_are_as_many_rows() -> None:
    codes = {shape: (f"code {at}", "s_waitcnt vmcnt(0)") for at, shape in enumerate(shapes())}
    assert len(yaml.safe_load(written(codes))["rows"]) == len(codes)
    assert spoken(written(codes)) == codes


def test_where_codes_are_the_same_rows_are_one() -> None:
    codes = {
        shape: (f"{shape.kind.value} r x", "wait" if shape.order is Order.SEQ_CST else "no wait")
        for shape in shapes()
        if shape.order is not None
    }
    assert spoken(written(codes)) == codes
    rows = table(Codes(codes), processor("gfx942"), COMPILER).rows
    assert len(rows) == 2 * (4 * 2 + 3)  # the orders; accesses of two memories, fences of three


def test_non_atomic_accesses_stand_with_atomic_ones_whose_code_is_theirs() -> None:
    codes: Spoken = {Shape(Op.LOAD, None, None, False): ("LD r x",)}
    for scope, code in ((Scope.WI, ("LD r x",)), (Scope.WG, ("LD r x", "INV"))):
        for order in (Order.RELAXED, Order.ACQUIRE):
            codes[Shape(Op.LOAD, scope, order, False)] = code
    assert [row.scope for row in table(Codes(codes), processor("gfx942"), COMPILER).rows] == [
        ("na", "wi"),
        ("wg",),
    ]
    assert spoken(written(codes)) == codes


def test_a_result_is_named_where_it_matters() -> None:
    codes = {
        Shape(Op.RMW, Scope.DV, Order.RELAXED, False, memory, used): (
            "RMW r x" + " glc" * (used and far),
        )
        for memory, far in ((IN_GLOBAL, True), (IN_LOCAL, False))
        for used in (True, False)
    }
    rows = table(Codes(codes), processor("gfx942"), COMPILER).rows
    assert [row.result for row in rows] == ["used", "unused", None]
    assert spoken(written(codes)) == codes


def test_what_is_left_out_is_said_of_nobody() -> None:
    """Neither non-atomic accesses, nor the other result, nor another scope stands for it."""
    codes: Spoken = {
        shape: (f"{shape.kind.value} x",)
        for shape in shapes(memories=(IN_GLOBAL,))
        if (shape.scope, shape.order) != (Scope.WI, Order.RELAXED) and shape.used
    }
    assert spoken(written(codes)) == codes
    problem = Problem(None, "the code must be another one")
    extraction = table(Codes({}, ("add",), {"umax": problem}), processor("gfx942"), COMPILER)
    assert extraction.left_out == {"umax": "the code must be another one"}
    assert extraction.note == (
        "rows for rmw are not for sub, xchg, and, or, xor, umax, umin, max or min"
    )


def test_the_head_says_what_it_is() -> None:
    split = str(table(Codes({}), processor("gfx942", "+tgsplit"), COMPILER))
    assert split == (
        "name: llvm-gfx942+tgsplit\n"
        'source: "LLVM 1.2.3 by hand, gfx942, features +tgsplit; '
        "OpenCL's scopes by clang: one-as, but seq_cst and fences\"\n"
        "machine: amdgpu-gfx942-tgsplit\n"
        "rows:\n"
    )


def test_long_rows_are_broken_behind_commas() -> None:
    code = tuple(f"instruction{at} with modifiers" for at in range(9))
    row = TableRow("rmw", ("dv", "all"), ("acq_rel",), ("global",), "used", code)
    lines = str(row).splitlines()
    assert all(len(line) <= 100 for line in lines)
    assert lines[1].startswith("     code: [instruction0 with modifiers, instruction1")
    assert spoken("rows:\n" + str(row)) != {}
