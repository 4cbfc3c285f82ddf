"""Compilation: a row's templates with the operation put in."""

import re
from pathlib import Path

import pytest

from rspverify.assembly import Reach, ThreadId
from rspverify.litmus.program import Kind, Location, Operation, Order, Program, Scope, Thread
from rspverify.scheme import compile_program, read_scheme_file, rows_used
from rspverify.source import InputError, Severity, Source
from rspverify.value import Binary, Constant, Read

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
    compiled = compile_program(program, PROPOSED)

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
        ("FLU_L1", first, 1, always, None, Reach.WG, None, None),
        ("ST", first, 1, always, "y", None, None, one),
        ("LD", second, 2, always, "y", None, 2, None),
        ("INV_L1", second, 2, always, None, Reach.WG, None, None),
        ("LD", second, 3, seen, "x", None, 3, None),
    ]


def test_an_increment_reads_into_its_register_and_writes_the_operations_value(operation):
    program = program_of((operation(Kind.RMW, Scope.DV, True, value=Constant(5)),))
    (block,) = compile_program(program, PROPOSED).code
    names = [each.mnemonic.name for each in block]
    assert ", ".join(names) == "LK_rmw, FLU_L1, INV_L1, INC_L2, FLU_L1, INV_L1, UL_rmw"
    increment = block[3]
    assert (increment.location, increment.register) == ("x", 0)
    assert increment.value == Binary("+", Read(0), Constant(5))
    assert {each.reach for each in block if each is not increment} == {Reach.DV}


def test_a_lockfile_instruction_gets_the_location(operation):
    original = read_scheme_file(Path(__file__).parents[2] / "schemes" / "original.yaml")
    program = program_of((operation(Kind.LOAD, Scope.DV, True, "y"),))
    (block,) = compile_program(program, original).code
    assert [(each.mnemonic.name, each.location) for each in block] == [
        ("LK_L2", "y"),
        ("FLU_L1", None),
        ("INV_L1", None),
        ("LD", "y"),
        ("UL_L2", "y"),
    ]


def test_a_thread_without_operations_keeps_its_place(operation):
    program = program_of((), (operation(Kind.LOAD, thread=1),), ())
    compiled = compile_program(program, PROPOSED)
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
        compile_program(program, PROPOSED)
    problems = caught.value.problems
    assert [(str(problem.span), problem.message) for problem in problems] == [
        ("hand.litmus:1:1", "scheme proposed has no row for load ALL,R (acquire) on y"),
        ("hand.litmus:3:1", "scheme proposed has no row for store DV,N (seq_cst) on x"),
        ("hand.litmus:4:1", "scheme proposed has no row for rmw na on x"),
        ("hand.litmus:5:1", "scheme proposed must be given an rmw that adds, not one by '-' on x"),
    ]
    assert problems[0].hint == "its load rows: load na, load WG,_; load DV,N; load DV,R"
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
    assert [row.number for row in rows_used(program, PROPOSED)] == [1, 5]
