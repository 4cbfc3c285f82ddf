"""What the statements of a test mean: operations, guards, values and registers."""

from pathlib import Path

import pytest

from rspverify.litmus.formula import Atom, Junction, Negation
from rspverify.litmus.program import Kind, Location, Operation, Order, Program, Scope
from rspverify.litmus.reader import read_program, read_program_file
from rspverify.source import InputError, Source
from rspverify.value import Binary, Constant, Expression, Read, Select, Unary

PARAMETERS = "global int* x, global int* y, global atomic_int* a, global atomic_int* b"


def program(body: str, initial: str = "", condition: str = "") -> Program:
    text = f"OPENCL t\n{{ {initial} }}\nP0@wg 0, dev 0 ({PARAMETERS}) {{\n{body}\n}}\n{condition}"
    return read_program(Source("t.litmus", text))


def operations(body: str) -> tuple[Operation, ...]:
    return program(body).operations


def registers(body: str) -> dict[str, Expression]:
    return dict(program(body).threads[0].registers)


def names(body: str) -> list[str]:
    return [str(operation) for operation in operations(body)]


LOAD = "atomic_load_explicit(a, memory_order_acquire, memory_scope_device)"
LOAD_B = "atomic_load_explicit(b, memory_order_acquire, memory_scope_work_group)"
ADD = "atomic_fetch_add_explicit(a, 1, memory_order_acq_rel, memory_scope_device)"


# ---- operations ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("body", "shown"),
    [
        ("*x = 1;", "store na x"),
        ("r = *x;", "load na x"),
        ("*a = 1;", "store na a"),
        (f"{LOAD};", "load DV,N a"),
        (f"{LOAD.replace('explicit', 'explicit_remote')};", "load DV,R a"),
        (f"{ADD};", "rmw DV,N a"),
        (f"{ADD.replace('explicit', 'explicit_remote')};", "rmw DV,R a"),
        (
            "atomic_store_explicit_remote(b, 1, memory_order_release, memory_scope_work_group);",
            "store WG,R b",
        ),
        (
            "atomic_store_explicit(b, 1, memory_order_seq_cst, memory_scope_all_svm_devices);",
            "store ALL,N b",
        ),
    ],
)
def test_each_access_is_an_operation(body: str, shown: str) -> None:
    assert names(body) == [shown]


@pytest.mark.parametrize("order", [each for each in Order if each is not Order.CONSUME])
def test_orders(order: Order) -> None:
    body = f"atomic_fetch_add_explicit(a, 1, memory_order_{order.value}, memory_scope_device);"
    assert operations(body)[0].order is order


@pytest.mark.parametrize(
    ("word", "scope"),
    [("work_group", Scope.WG), ("device", Scope.DV), ("all_svm_devices", Scope.ALL)],
)
def test_scopes(word: str, scope: Scope) -> None:
    body = f"r = atomic_load_explicit(a, memory_order_relaxed, memory_scope_{word});"
    assert operations(body)[0].scope is scope


def test_an_rmw_writes_what_it_read_plus_its_operand() -> None:
    load, rmw = operations(f"r = *x; s = {ADD.replace('1', 'r * 2')};")
    assert load.value is None
    operand = Binary("*", Read(0), Constant(2))
    assert (rmw.kind, rmw.operator, rmw.operand) == (Kind.RMW, "+", operand)
    assert rmw.value == Binary("+", Read(1), operand)
    assert registers(f"s = {ADD};") == {"s": Read(0)}


def test_a_span_is_that_of_the_statement_or_the_call() -> None:
    first, second, third, fourth = operations(
        f"  *x = 1;\n  int r =\n   {LOAD};\n  if (*y == 1)\n    *x = *y;"
    )[:4]
    shown = [
        (each.span.line, each.span.column, each.span.end_column)
        for each in (first, second, third, fourth)
    ]
    assert shown == [(4, 3, 10), (6, 4, 4 + len(LOAD)), (7, 7, 9), (8, 10, 12)]


def test_indices_run_over_all_threads_in_the_order_of_their_numbers() -> None:
    text = """OPENCL t
    {}
    P1@wg 0, dev 0 (int* x) { *x = 3; r = *x; }
    P0@wg 0, dev 0 (int* x) { *x = 1; *x = 2; }"""
    whole = read_program(Source("t", text))
    assert [thread.name for thread in whole.threads] == ["P0", "P1"]
    assert [each.index for each in whole.operations] == [0, 1, 2, 3]
    assert [each.thread for each in whole.operations] == [0, 0, 1, 1]
    assert whole.threads[1].registers == {"r": Read(3)}


# ---- registers and guards ------------------------------------------------------------------------


def test_registers_are_the_expressions_that_they_hold() -> None:
    assert registers("int r = *x; int s = r + 1; r = s;") == {
        "r": Binary("+", Read(0), Constant(1)),
        "s": Binary("+", Read(0), Constant(1)),
    }


def test_a_register_starts_at_zero() -> None:
    assert registers("int r; int a1 = 1, b1;") == {
        "r": Constant(0),
        "a1": Constant(1),
        "b1": Constant(0),
    }
    assert registers("s = r; r = 1;") == {"s": Constant(0), "r": Constant(1)}


def test_an_operation_under_an_if_is_guarded_and_registers_merge() -> None:
    body = "int r = *x; int s = -1; if (r == 1) { s = *y; *x = s; } else *y = 2;"
    condition = Binary("==", Read(0), Constant(1))
    guards = [each.guard for each in operations(body)]
    assert guards == [Constant(1), condition, condition, Unary("!", condition)]
    assert registers(body)["s"] == Select(condition, Read(1), Constant(-1))
    assert operations(body)[2].value == Read(1)


def test_both_branches_merge_by_the_condition() -> None:
    body = "int r = *x; int s; if (r) s = 1; else { s = 2; t = 3; }"
    assert registers(body)["s"] == Select(Read(0), Constant(1), Constant(2))
    assert registers(body)["t"] == Select(Read(0), Constant(0), Constant(3))


def test_nested_guards_are_conjunctions_and_else_belongs_to_the_nearest_if() -> None:
    body = "r = *x; s = *y; if (r) if (s) *x = 1; else *x = 2;"
    guards = [each.guard for each in operations(body)[2:]]
    assert guards == [
        Binary("&&", Read(0), Read(1)),
        Binary("&&", Read(0), Unary("!", Read(1))),
    ]


def test_a_condition_keeps_the_value_it_had() -> None:
    body = "r = *x; if (r) { r = 0; *y = 1; } else { *y = 2; }"
    assert [each.guard for each in operations(body)[1:]] == [Read(0), Unary("!", Read(0))]
    assert registers(body) == {"r": Select(Read(0), Constant(0), Read(0))}


def test_dead_operations_are_dropped_and_leave_no_gap() -> None:
    body = "int r = 1; if (r == 2) { *x = 1; s = *y; } else *x = 2; 0 && *x; 1 || *x; 1 ? *y : *x;"
    assert names(body) == ["store na x", "load na y"]
    assert [each.index for each in operations(body)] == [0, 1]
    assert registers(body) == {"r": Constant(1), "s": Constant(0)}


def test_registers_of_parallel_blocks_may_share_a_name() -> None:
    body = "if (*x) { int r = 1; } else { int r = 2; }"
    assert registers(body) == {"r": Select(Read(0), Constant(1), Constant(2))}


# ---- expressions ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("expression", "value"),
    [
        ("1 + 2 * 3", 7),
        ("(1 + 2) * 3", 9),
        ("10 - 4 - 3", 3),
        ("1 << 2 + 1", 8),
        ("1 | 2 ^ 3 & 1", 1 | (2 ^ (3 & 1))),
        ("1 & 3 == 3", 1),
        ("2 < 3 == 1", 1),
        ("7 >> 1 >= 3", 1),
        ("0 && 0 || 1", 1),
        ("1 || 0 && 0", 1),
        ("0 ? 1 : 1 ? 2 : 3", 2),
        ("1 ? 0 ? 4 : 5 : 3", 5),
        ("-1 - -1", 0),
        ("- - 5", 5),
        ("!3 + ~0", -1),
        ("+4", 4),
        ("3 != 3", 0),
        ("0x1F", 31),
        ("0xFFFFFFFF", -1),
        ("-2147483648", -(2**31)),
        ("2147483647 + 1", -(2**31)),
    ],
)
def test_constant_expressions_follow_c(expression: str, value: int) -> None:
    assert registers(f"r = {expression};") == {"r": Constant(value)}


def test_evaluation_is_from_left_to_right() -> None:
    assert names(f"*x = *y + {LOAD} * {LOAD_B};") == [
        "load na y",
        "load DV,N a",
        "load WG,N b",
        "store na x",
    ]


@pytest.mark.parametrize(
    ("operator", "guard"), [("&&", Read(0)), ("||", Unary("!", Read(0)))], ids=["and", "or"]
)
def test_the_right_of_a_shortcut_is_guarded_by_the_left(operator: str, guard: Expression) -> None:
    body = f"r = *x {operator} {LOAD};"
    assert [each.guard for each in operations(body)] == [Constant(1), guard]
    assert registers(body) == {"r": Binary(operator, Read(0), Read(1))}


def test_the_sides_of_a_choice_are_guarded_by_its_condition() -> None:
    body = f"r = *x == 1 ? {LOAD} : *y;"
    condition = Binary("==", Read(0), Constant(1))
    assert [each.guard for each in operations(body)[1:]] == [condition, Unary("!", condition)]
    assert registers(body) == {"r": Select(condition, Read(1), Read(2))}


def test_calls_in_conditions() -> None:
    load, store = operations(f"if ({LOAD} == 1 && 1) {{ *x = 1; }}")
    assert str(load) == "load DV,N a"
    equal = Binary("==", Read(0), Constant(1))
    assert store.guard == Binary("&&", equal, Constant(1))


def test_a_location_in_brackets_is_not_a_comment() -> None:
    body = "if (*x == 1) r = (*y) + (*x); (* a comment *) s = (*y);"
    assert names(body) == ["load na x", "load na y", "load na x", "load na y"]


def test_empty_statements_and_blocks() -> None:
    assert names(";; {} { ; } if (1) ; else {} *x = 1;") == ["store na x"]


# ---- the rest of a test --------------------------------------------------------------------------


@pytest.mark.parametrize("word", ["OPENCL", "OpenCL", "opencl"])
def test_title(word: str) -> None:
    info = '"a // description"\nCom=Rf Fr'
    text = f"{word} MP+st.na-st.DV+ld.DV  \n{info}\n{{}}\nP0@wg 0, dev 0 () {{}}"
    assert read_program(Source("t", text)).title == "MP+st.na-st.DV+ld.DV"


@pytest.mark.parametrize("comment", ["(* c *)", "(*c*)", "/* c\n c */", "// c\n", "(*\n * c\n *)"])
def test_comments_stand_everywhere(comment: str) -> None:
    begin = ["{", "[x]", "= 1", ";", "}", "P0", "@", "wg 0,", "dev", "0", "(int*", "x)", "{"]
    end = ["*x", "= 2", ";", "}", "exists", "(x", "=", "2)"]
    text = f"OPENCL t {comment}\n" + f" {comment} ".join([*begin, *end])
    whole = read_program(Source("t", text))
    assert [str(each) for each in whole.operations] == ["store na x"]
    assert whole.locations[0].initial == 1


def test_locations_are_those_of_all_threads_and_of_the_initial_state() -> None:
    text = """OPENCL t
    { [x]=0; y=-3; atomic_int z = 1; int w; v = 0x10; atomic_int b = 7 }
    P0@wg 0, dev 0 (global int* x, volatile __global atomic_int *b) { }
    P1@wg 0, dev 0 (atomic_int *c, int* y) { }"""
    found = read_program(Source("t", text)).locations
    shown = [(each.name, each.atomic, each.region, each.initial) for each in found]
    assert shown == [
        ("x", False, "global", 0),
        ("b", True, "global", 7),
        ("c", True, "global", 0),
        ("y", False, "global", -3),
        ("z", True, "global", 1),
        ("w", False, "global", 0),
        ("v", False, "global", 16),
    ]
    assert all(isinstance(each, Location) and each.span is not None for each in found)


@pytest.mark.parametrize(
    ("text", "quantifier", "formula"),
    [
        ("exists 0:r=1", "exists", Atom(0, "r", 1)),
        ("exists (P0:r == -1)", "exists", Atom(0, "r", -1)),
        ("~exists x=1", "~exists", Atom(None, "x", 1)),
        ("not exists [x]=1", "~exists", Atom(None, "x", 1)),
        ("forall (x != 1)", "forall", Negation(Atom(None, "x", 1))),
        ("exists ~ x=1", "exists", Negation(Atom(None, "x", 1))),
        ("exists not (x=1)", "exists", Negation(Atom(None, "x", 1))),
        ("exists true", "exists", Junction(True, ())),
        ("exists false", "exists", Junction(False, ())),
        (
            "exists (x=1 /\\ y=2 /\\ ~x=3 \\/ 0:r=4)",
            "exists",
            Junction(
                False,
                (
                    Junction(
                        True,
                        (
                            Atom(None, "x", 1),
                            Atom(None, "y", 2),
                            Negation(Atom(None, "x", 3)),
                        ),
                    ),
                    Atom(0, "r", 4),
                ),
            ),
        ),
    ],
)
def test_final_conditions(text: str, quantifier: str, formula: object) -> None:
    condition = program("r = *x;", condition=text).condition
    assert condition is not None
    assert (condition.quantifier, condition.formula) == (quantifier, formula)
    assert condition.span.line == 6


def test_a_test_needs_no_final_condition() -> None:
    assert program("r = *x;").condition is None
    assert program("r = *x;", condition="locations [] exists x=1").condition is not None


def test_locations_that_states_tell_besides() -> None:
    found = program("r = *x;", condition="locations [x; [y]; 0:r; P0:r]")
    assert found.condition is None
    assert found.watched == ((None, "x"), (None, "y"), (0, "r"), (0, "r"))
    assert program("r = *x;", condition="locations []").watched == ()


def test_a_file_is_read(tmp_path: Path) -> None:
    path = tmp_path / "t.litmus"
    path.write_text("OPENCL t\r\n{}\r\nP0@wg 0, dev 0 (int* x) {\r\n *x = 1;\r\n}\r\n")
    assert read_program_file(path).operations[0].span.line == 4
    with pytest.raises(InputError, match=r"no such file"):
        read_program_file(tmp_path / "none.litmus")
