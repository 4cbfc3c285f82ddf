"""Compilation: a row's templates with the operation put in."""

import re
from pathlib import Path

import pytest

from rspverify.assembly.program import ThreadId
from rspverify.litmus.program import (
    Cut,
    Kind,
    Location,
    Operation,
    Order,
    Program,
    Scope,
    Thread,
)
from rspverify.records import replace
from rspverify.scheme.reader import read_scheme, read_scheme_file
from rspverify.source import InputError, Severity, Source, Span
from rspverify.value import Binary, Constant, Expression, Read, evaluate

PROPOSED = read_scheme_file(Path(__file__).parents[2] / "schemes" / "proposed.yaml")


def program_of(*threads: tuple[Operation, ...]) -> Program:
    """Threads 0 and 1 are in work-groups 0 and 1 of device 0, thread 2 is on device 1."""
    places = [(0, 0), (0, 1), (1, 0)]
    return Program(
        "hand",
        Source("hand.litmus", ""),
        (Location("x", True, "global", 0), Location("y", True, "global", 7)),
        tuple(
            Thread(f"P{index}", index, *places[index], operations, {})
            for index, operations in enumerate(threads)
        ),
    )


def test_message_passing_by_the_proposed_scheme(operation):
    seen = Binary("==", Read(2), Constant(1))
    program = program_of(
        (
            operation(Kind.STORE, index=0, value=Constant(42)),
            operation(Kind.STORE, Scope.DV, location="y", index=1),
        ),
        (
            operation(Kind.LOAD, Scope.DV, location="y", index=2, thread=1),
            operation(Kind.LOAD, index=3, thread=1, guard=seen),
        ),
    )
    compiled = PROPOSED.compiled(program)

    first, second = ThreadId(0, 0, 0), ThreadId(0, 1, 1)
    assert compiled.threads == (first, second)
    assert compiled.initial == {"x": 0, "y": 7}
    assert [each.index for each in compiled.instructions] == [0, 1, 2, 3, 4, 5]
    assert [len(block) for block in compiled.code] == [3, 3]
    always, one = Constant(1), Constant(1)
    assert [
        (
            each.mnemonic.name,
            each.thread,
            each.operation,
            each.guard,
            each.location,
            each.reach,
            each.register,
            each.value,
        )
        for each in compiled.instructions
    ] == [
        ("ST", first, 0, always, "x", None, None, Constant(42)),
        ("FLU_L1", first, 1, always, None, "WG", None, None),
        ("ST", first, 1, always, "y", None, None, one),
        ("LD", second, 2, always, "y", None, 2, None),
        ("INV_L1", second, 2, always, None, "WG", None, None),
        ("LD", second, 3, seen, "x", None, 3, None),
    ]


def test_an_increment_reads_into_its_register_and_writes_the_operations_value(operation):
    program = program_of((operation(Kind.RMW, Scope.DV, True, value=Constant(5)),))
    (block,) = PROPOSED.compiled(program).code
    names = [each.mnemonic.name for each in block]
    assert ", ".join(names) == "LK_rmw, FLU_L1, INV_L1, INC_L2, FLU_L1, INV_L1, UL_rmw"
    increment = block[3]
    assert (increment.location, increment.register) == ("x", 0)
    assert increment.value == Binary("+", Read(0), Constant(5))
    assert {each.reach for each in block if each is not increment} == {"DV"}


def test_a_lockfile_instruction_gets_the_location(operation):
    original = read_scheme_file(Path(__file__).parents[2] / "schemes" / "original.yaml")
    program = program_of((operation(Kind.LOAD, Scope.DV, True, "y"),))
    (block,) = original.compiled(program).code
    assert [(each.mnemonic.name, each.location) for each in block] == [
        ("LK_L2", "y"),
        ("FLU_L1", None),
        ("INV_L1", None),
        ("LD", "y"),
        ("UL_L2", "y"),
    ]


def test_a_thread_without_operations_keeps_its_place(operation):
    program = program_of((), (operation(Kind.LOAD, thread=1),), ())
    compiled = PROPOSED.compiled(program)
    assert compiled.threads == (ThreadId(0, 0, 0), ThreadId(0, 1, 1), ThreadId(1, 0, 2))
    assert [len(block) for block in compiled.code] == [0, 1, 0]


def test_every_operation_that_the_scheme_cannot_compile_is_named_at_its_place(operation):
    program = program_of(
        (
            operation(Kind.LOAD, Scope.ALL, True, "y", index=0),
            operation(Kind.STORE, index=1),
            operation(Kind.STORE, Scope.DV, index=2, order=Order.SEQ_CST),
        ),
        (
            operation(Kind.RMW, index=3, thread=1),
            operation(Kind.RMW, Scope.DV, index=4, thread=1, operator="-"),
        ),
    )
    with pytest.raises(InputError) as caught:
        PROPOSED.compiled(program)
    problems = caught.value.problems
    assert [(str(problem.span), problem.message) for problem in problems] == [
        ("hand.litmus:1:1", "scheme proposed has no row for load ALL,R (acquire) on y"),
        ("hand.litmus:3:1", "scheme proposed has no row for store DV,N (seq_cst) on x"),
        ("hand.litmus:4:1", "scheme proposed has no row for rmw na on x"),
        ("hand.litmus:5:1", "scheme proposed must be given an rmw that adds, not one by '-' on x"),
    ]
    rows = "load na, load WG,_ (acquire); load DV,N (acquire); load DV,R (acquire)"
    assert problems[0].hint == f"its load rows: {rows}"
    full = "the scheme proposed-full has rows for all orders"
    rows = "store na, store WG,_ (release); store DV,N (release); store DV,R (release)"
    assert problems[1].hint == f"its store rows: {rows}; {full}"
    assert {problem.severity for problem in problems} == {Severity.UNSUPPORTED}
    assert caught.value.severity is Severity.UNSUPPORTED
    assert re.match(r"^hand\.litmus:1:1: scheme proposed has no row for", str(caught.value))


def test_rows_used_are_those_of_the_operations_in_the_order_of_the_table(operation):
    program = program_of(
        (
            operation(Kind.STORE, Scope.DV, index=0),
            operation(Kind.LOAD, index=1),
            operation(Kind.LOAD, Scope.WG, index=2),
            operation(Kind.LOAD, Scope.ALL, index=3),
        ),
    )
    assert [row.number for row in PROPOSED.rows_used(program)] == [1, 5]


# ---- beyond Tab. 3 -------------------------------------------------------------------------------

GENERAL = read_scheme(
    Source(
        "general.yaml",
        "name: general\nrows:\n"
        "  - {op: rmw, scope: dv, code: [FLU_L1 WG, RMW_L2 r x]}\n"
        "  - {op: fence, scope: dv, order: acq_rel, code: [FLU_L1 WG, INV_L1 WG]}\n"
        "  - {op: fence, scope: wg, code: []}\n"
        "  - {op: load, scope: na, code: [LD r x]}\n",
    )
)
ZERO = Binary("==", Read(0), Constant(0))


def compare_exchange(operation, wanted: Expression = ZERO) -> Operation:
    """Of 5 for 0, unless another condition is wanted."""
    made = operation(Kind.RMW, Scope.DV, operator="compare_exchange", success=wanted)
    return replace(made, value=Constant(5), operand=Constant(5), failure=Order.ACQUIRE)


def test_a_compare_exchange_that_fails_writes_back_what_it_has_read(operation):
    compiled = GENERAL.compiled(program_of((compare_exchange(operation),)))
    _, access = compiled.instructions
    assert (access.mnemonic.name, access.register, access.success) == ("RMW_L2", 0, ZERO)
    assert {read: evaluate(access.value, {0: read}) for read in (0, 1, 7)} == {0: 5, 1: 1, 7: 7}


def test_every_other_operation_is_that_of_the_source(operation):
    for operator in ("-", "&", "|", "^"):
        made = operation(Kind.RMW, Scope.DV, operator=operator, value=Constant(6))
        _, access = GENERAL.compiled(program_of((made,))).instructions
        assert access.value == made.value
        assert access.success is None


def test_a_fence_becomes_code_without_a_location(operation):
    seen = Binary("==", Read(0), Constant(1))
    program = program_of(
        (
            operation(Kind.LOAD, index=0),
            operation(Kind.FENCE, Scope.DV, index=1, regions=frozenset({"global"}), guard=seen),
            operation(Kind.FENCE, Scope.WG, index=2, regions=frozenset({"global", "local"})),
        )
    )
    _, *fence = GENERAL.compiled(program).instructions
    assert [
        (it.mnemonic.name, it.reach, it.location, it.operation, it.guard, it.value) for it in fence
    ] == [
        ("FLU_L1", "WG", None, 1, seen, None),
        ("INV_L1", "WG", None, 1, seen, None),
    ]


def test_where_loops_were_cut_off_the_compiled_program_is_too(operation):
    span = Span(Source("hand.litmus", ""), 1, 1, 1, 2)
    program = program_of((operation(Kind.LOAD, index=0),))
    assert (GENERAL.compiled(program).cuts, program.within) == ((), {})
    again = replace(program, cuts=(Cut(0, ZERO, 3, span, 1), Cut(0, Read(0), 2, span, 1)))
    compiled = GENERAL.compiled(again)
    assert compiled.cuts == (ZERO, Read(0))
    assert compiled.within == {"iterations": 3}


def test_what_no_scheme_can_compile_is_named_at_its_place(operation):
    program = program_of(
        (
            operation(Kind.LOAD, index=0, location="l", regions=frozenset({"local"})),
            operation(Kind.FENCE, Scope.DV, index=1, regions=frozenset({"local"})),
            operation(Kind.LOAD, index=2, order=Order.ACQUIRE),
        ),
    )
    program = replace(program, locations=(*program.locations, Location("l", False, "local", 0)))
    with pytest.raises(InputError) as caught:
        GENERAL.compiled(program)
    assert [(str(it.span), it.message) for it in caught.value.problems] == [
        (
            "hand.litmus:1:1",
            "load na l accesses local memory, and machine rsp declares no place for it",
        ),
        (
            "hand.litmus:2:1",
            "fence DV,N orders local memory alone, and machine rsp declares no place for it",
        ),
        (
            "hand.litmus:3:1",
            f"load acquire x is beyond scheme {GENERAL.name}: it has no scope, and its rows have",
        ),
    ]
    assert caught.value.severity is Severity.UNSUPPORTED


def test_an_instruction_that_adds_is_no_compare_exchange(operation):
    with pytest.raises(InputError) as caught:
        PROPOSED.compiled(program_of((compare_exchange(operation),)))
    (problem,) = caught.value.problems
    assert problem.message == (
        "scheme proposed must be given an rmw that adds, not one by 'compare_exchange' on x"
    )
    assert problem.hint == "row 8, rmw DV,N, can only add; RMW_L1 and RMW_L2 do every operation"
