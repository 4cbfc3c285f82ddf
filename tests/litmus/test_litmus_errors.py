"""What is said of texts that are wrong, or right and beyond this version.

Each row is a mistake and what must be said of it: nothing else may be said.
"""

import re

import pytest

from rspverify.litmus.reader import read_program
from rspverify.source import InputError, Problem, Severity, Source

PARAMETERS = "global int* x, global atomic_int* a"


def problems(text: str) -> tuple[Problem, ...]:
    with pytest.raises(InputError) as caught:
        read_program(Source("t", text))
    return caught.value.problems


def one(body: str = "", initial: str = "", condition: str = "") -> str:
    """A test whose thread has the body at line 4 and whose initial state is at line 2."""
    head = f"OPENCL t\n{{ {initial} }}\nP0@wg 0, dev 0 ({PARAMETERS}) {{\n"
    return f"{head}{body}\n}}\n{condition}"


def said(text: str) -> list[str]:
    return [f"{each.span}: {each.message}" for each in problems(text)]


def only(text: str) -> Problem:
    (problem,) = problems(text)
    return problem


# ---- syntax --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("*x = ;", r"t:4:6: what follows `=` must be an expression, not `;`"),
        ("*x = 1", r"t:4:7: what follows `1` must be `;` or an operator, not `}`"),
        ("*x = 1\nr = 2;", r"t:4:7: what follows `1` must be `;` or an operator, not `r`"),
        ("r = (1;", r"t:4:7: what follows `1` must be `\)`, not `;`"),
        ("if r == 1) {}", r"t:4:4: what follows `if` must be `\(`, not `r`"),
        ("r = 1 $ 2;", r"t:4:7: what follows `1` must be `;` or an operator, not `\$`"),
        ("r = *x x;", r"t:4:8: what follows `x` must be `\(`, `;` or an operator, not `x`"),
        ("else {}", r"t:4:1: what follows `{` must be `}` or a statement, not `else`"),
        (
            "int = 3;",
            r"t:4:5: what follows `int` must be `\*`, a type such as `int` or a name, "
            r"not `=`",
        ),
        (
            "r = 1; }",
            r"t:5:1: what follows `}` must be `scopeTree`, a final condition, a thread "
            r"such as `P0 \(global int\* x\) { }` or the end of the file, not `}`",
        ),
        ("/* open", r"t:4:1: a comment must end with `\*/`, and this one has no end"),
        ("(* open", r"t:4:1: a comment must end with `\*\)`, and this one has no end"),
    ],
)
def test_syntax_of_statements(body: str, expected: str) -> None:
    (message,) = said(one(body))
    assert re.match(f"^{expected}$", message)


@pytest.mark.parametrize(
    ("condition", "expected"),
    [
        (
            "exists",
            r"t:6:7: what follows `exists` must be a condition such as `1:r0=1`, not the "
            r"end of the file",
        ),
        (
            "exists (x=1",
            r"t:6:12: what follows `1` must be `\)`, not the end of the "
            r"file",
        ),
        ("exists (x=)", r"t:6:11: what follows `=` must be an integer, not `\)`"),
        ("exists (x<1)", r"t:6:10: what follows `x` must be `:`, `\[` or `=`, not `<`"),
        ("exists x=1 x=2", r"t:6:12: what follows `1` must be the end of the file, not `x`"),
        (
            "exists x=1 /\\",
            r"t:6:14: what follows `/\\` must be a condition such as `1:r0=1`, not "
            r"the end of the file",
        ),
    ],
)
def test_syntax_of_conditions(condition: str, expected: str) -> None:
    (message,) = said(one(condition=condition))
    assert re.match(f"^{expected}$", message)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            "",
            r"t:1:1: the first line must be `OpenCL name`, `C name` or `PTX name`, not an empty file",
        ),
        (
            "CPP11 MP\n{}",
            r"t:1:1: the first line must be `OpenCL name`, `C name` or `PTX name`, not `CPP11 MP`",
        ),
        ("C MP\n{}", r"t:2:1: a test must have a thread, and this one has none"),
        (
            "OPENCL\n{}",
            r"t:1:1: the first line must be `OpenCL name`, `C name` or `PTX name`, not `OPENCL`",
        ),
        ("OPENCL t", r"t:1:9: what follows `t` must be `{`, not the end of the file"),
        ("OPENCL t\n{}", r"t:2:1: a test must have a thread, and this one has none"),
        ("OPENCL t\n{ x=1 y=2 }", r"t:2:7: what follows `1` must be `;` or `}`, not `y`"),
        ("OPENCL t\n{ x= }", r"t:2:6: what follows `=` must be an integer, not `}`"),
    ],
)
def test_syntax_of_the_beginning(text: str, expected: str) -> None:
    (message,) = said(text)
    assert re.match(f"^{expected}$", message)


def test_missing_semicolons_are_told_with_all_other_problems() -> None:
    assert said(one("*x = 1\nint r = 2\nif (r) { *x = 1 }", "x = 1; x = 2")) == [
        "t:2:10: `x` must have one initial value, not two",
        "t:4:7: what follows `1` must be `;` or an operator, not `int`",
        "t:5:10: what follows `2` must be `,`, `;` or an operator, not `if`",
        "t:6:16: what follows `1` must be `;` or an operator, not `}`",
    ]


@pytest.mark.parametrize(
    ("text", "hint"),
    [
        (one("*x = 1\n*x = 2;"), "is a `;` missing at the end of the line above?"),
        (
            "OPENCL t\n{}\nP0 () {\n if (1) {}\nP1 (global int* x) {}",
            "is a `}` missing at the end of the thread above?",
        ),
        (one(condition="exist (x=1)"), "did you mean `exists`?"),
        (one(condition="scopetree (device (wg P0))"), "did you mean `scopeTree`?"),
        (
            one(initial="(*words\n more*)"),
            "a comment of several lines must begin with `(*` and a blank",
        ),
    ],
)
def test_hints_for_syntax_errors(text: str, hint: str | None) -> None:
    assert only(text).hint == hint


# ---- names ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("*z = 1;", "t:4:2: the location `z` must be declared as a parameter of P0"),
        ("r = *z;", "t:4:6: the location `z` must be declared as a parameter of P0"),
        ("r = x;", "t:4:5: `x` must be a register here, not a location"),
        ("x = 1;", "t:4:1: `x` must be a register here, not a location"),
        ("int x = 1;", "t:4:5: `x` must be a register here, not a location"),
        ("r = 1; *r = 2;", "t:4:9: what `*` writes must be a location, not the register `r`"),
        ("r = 1; s = *r;", "t:4:13: what `*` reads must be a location, not the register `r`"),
        (
            "s = **x;",
            "t:4:6: what `*` reads must be the name of a location, not its value",
        ),
        ("r = s;", "t:4:5: the register `s` must be declared or assigned in P0"),
        ("int r; if (1) { int r; }", "t:4:21: the register `r` must be declared once, not again"),
        (
            "1 = 2;",
            "t:4:1: what is assigned must be a register or a location `*x`, not an expression",
        ),
        ("int r; r += q;", "t:4:13: the register `q` must be declared or assigned in P0"),
        ("q++;", "t:4:1: the register `q` must be declared or assigned in P0"),
        ("break;", "t:4:1: break must stand in a loop, and here is none"),
        ("if (1) continue;", "t:4:8: continue must stand in a loop, and here is none"),
        (
            "B: barrier(CLK_LOCAL_MEM_FENCE); B: barrier(CLK_LOCAL_MEM_FENCE);",
            "t:4:34: the label `B` must stand once in its thread, not twice",
        ),
        ("atomic_int r;", "t:4:1: a register must be int, not atomic_int"),
    ],
)
def test_names_in_statements(body: str, expected: str) -> None:
    assert said(one(body)) == [expected]


def test_a_location_of_another_thread_must_be_a_parameter_too() -> None:
    text = """OPENCL t
{ [v]=1; }
P0@wg 0, dev 0 (global atomic_int* z) { *z = 1; }
P1@wg 0, dev 0 () { r = *z; s = *v; t = z; }"""
    first, second, third = problems(text)
    assert first.message == "the location `z` must be a parameter of P1 to be used there"
    assert first.hint == "add `global atomic_int* z` to its parameters"
    assert second.hint == "add `global int* v` to its parameters"
    assert third.message == "`z` must be a register here, not a location"


@pytest.mark.parametrize(
    ("body", "hint"),
    [
        ("int value = 1; r = valeu;", "did you mean `value`?"),
        ("r = x;", "write `*x` to access the location"),
        ("int r; if (r = 1) {}", "write `==` to compare"),
    ],
)
def test_hints_for_names(body: str, hint: str) -> None:
    assert only(one(body)).hint == hint


@pytest.mark.parametrize(
    ("condition", "expected", "hint"),
    [
        (
            "exists (0:r9=0)",
            "t:6:11: `r9` must be a register of P0, which has no such register",
            None,
        ),
        (
            "exists 0:valeu=0",
            "t:6:10: `valeu` must be a register of P0, which has no such register",
            "did you mean `value`?",
        ),
        (
            "exists 0:x=0",
            "t:6:10: `x` must be a register of P0, which has no such register",
            "write `x` for the location",
        ),
        ("exists 3:r=0", "t:6:8: `3` must be a thread of the test, which has P0 only", None),
        ("exists Q:r=0", "t:6:8: `Q` must be a thread of the test, which has P0 only", None),
        (
            "exists z=0",
            "t:6:8: `z` must be a location of the test, or a register with its thread",
            None,
        ),
        (
            "exists value=0",
            "t:6:8: `value` must be a location of the test, or a register with its thread",
            "write `0:value` for the register of P0",
        ),
    ],
)
def test_names_in_conditions(condition: str, expected: str, hint: str | None) -> None:
    problem = only(one("int value = 1;", condition=condition))
    assert (f"{problem.span}: {problem.message}", problem.hint) == (expected, hint)


# ---- declarations --------------------------------------------------------------------------------


def test_declarations_that_disagree_name_both_places() -> None:
    text = """OPENCL t
{ int x = 1; }
P0@wg 0, dev 0 (global int* x, global int* y) { }
P1@wg 0, dev 0 (global int* x, global atomic_int* y) { }"""
    problem = only(text)
    assert str(problem.span) == "t:4:32"
    expected = "`y` must be global int in P1 as in P0, not global atomic_int"
    assert problem.message == expected
    ((span, words),) = problem.related
    assert (str(span), words) == ("t:3:32", "global int here")


def test_the_initial_state_must_agree_too() -> None:
    assert said(one(initial="atomic_int x = 1;")) == [
        "t:2:3: `x` must be global int in the initial state as in P0, not global atomic_int"
    ]


@pytest.mark.parametrize(
    ("parameters", "expected"),
    [
        ("int* x, int* x", "t:3:30: the parameters of P0 must differ, not be `x` twice"),
        ("int x", "t:3:17: a parameter must be a pointer such as `global int* x`, not a value"),
        ("global* x", "t:3:17: a declaration must have a type, int or atomic_int"),
        (
            "global constant int* x",
            "t:3:24: a declaration must have one region, not global and constant",
        ),
    ],
)
def test_parameters(parameters: str, expected: str) -> None:
    whole = problems(f"OPENCL t\n{{}}\nP0@wg 0, dev 0 ({parameters}) {{ }}")
    errors = [each for each in whole if each.severity is Severity.ERROR]
    assert [f"{each.span}: {each.message}" for each in errors] == [expected]


def test_an_initial_value_is_given_once() -> None:
    problem = only(one(initial="x=1; [x]=2;"))
    assert f"{problem.span}: {problem.message}" == (
        "t:2:8: `x` must have one initial value, not two"
    )
    assert [str(span) for span, _ in problem.related] == ["t:2:3"]


@pytest.mark.parametrize(
    ("threads", "expected"),
    [
        (("P0", "P2"), ["t:4:1: threads must be numbered without gaps, and there is no P1"]),
        (("P1", "P2"), ["t:3:1: threads must be numbered without gaps, and there is no P0"]),
        (("P0", "P0"), ["t:4:1: P0 must be one thread, not two"]),
        (("P0", "Q"), ["t:4:1: a thread must be named P0, P1 and so on, not `Q`"]),
        (("P0", "P01"), ["t:4:1: a thread must be named P0, P1 and so on, not `P01`"]),
    ],
)
def test_thread_numbers(threads: tuple[str, ...], expected: list[str]) -> None:
    text = "\n".join(f"{name}@wg 0, dev 0 () {{}}" for name in threads)
    assert said(f"OPENCL t\n{{}}\n{text}") == expected


@pytest.mark.parametrize("text", ["4294967296", "-2147483649", "0x100000000", "9" * 6000])
def test_integers_of_more_than_32_bits(text: str) -> None:
    for whole in (one(initial=f"x={text}"), one(condition=f"exists x={text}")):
        assert re.match("^an integer must fit into 32 bits, not be `.*`$", only(whole).message)


def test_integers_in_expressions() -> None:
    assert said(one("r = 4294967296;")) == [
        "t:4:5: an integer must fit into 32 bits, not be `4294967296`"
    ]
    assert said(one("r = 010;")) == [
        "t:4:5: an integer must be decimal or hexadecimal, not octal as `010`"
    ]


# ---- atomic functions ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("call", "expected"),
    [
        (
            "atomic_load_explicit(a, memory_order_release, memory_scope_device)",
            r"t:4:25: the memory order of a load must be relaxed, acquire or seq_cst, not release",
        ),
        (
            "atomic_load_explicit_remote(a, memory_order_acq_rel, memory_scope_device)",
            r"t:4:32: the memory order of a load must be relaxed, acquire or seq_cst, not acq_rel",
        ),
        (
            "atomic_store_explicit(a, 1, memory_order_acquire, memory_scope_device)",
            r"t:4:29: the memory order of a store must be relaxed, release or seq_cst, not acquire",
        ),
        (
            "atomic_store_explicit(a, 1, memory_order_acq_rel, memory_scope_device)",
            r"t:4:29: the memory order of a store must be relaxed, release or seq_cst, not acq_rel",
        ),
        (
            "atomic_load_explicit(a, memory_order_acquir, memory_scope_device)",
            r"t:4:25: a memory order must be .*, not `memory_order_acquir`",
        ),
        (
            "atomic_load_explicit(a, memory_order_acquire, memory_scope_dev)",
            r"t:4:47: a memory scope must be .*, not `memory_scope_dev`",
        ),
        (
            "atomic_load_explicit(a, 1, memory_scope_device)",
            r"t:4:25: a memory order must be .*, not an expression",
        ),
        (
            "atomic_load_explicit(a)",
            r"t:4:1: atomic_load_explicit must have 2 or 3 arguments "
            r"\(location, order, scope\), not 1",
        ),
        (
            "atomic_load_explicit(1, memory_order_acquire, memory_scope_device)",
            r"t:4:22: the first argument of atomic_load_explicit must be the name of a location, "
            r"not an integer",
        ),
        (
            "atomic_loud_explicit(a)",
            r"t:4:1: a function must be one that this version knows, not `atomic_loud_explicit`",
        ),
        (
            "r = atomic_store_explicit(a, 1, memory_order_release, memory_scope_device)",
            r"t:4:5: atomic_store_explicit has no value: it must be a statement of its own",
        ),
    ],
)
def test_calls(call: str, expected: str) -> None:
    problem = only(one(f"{call};"))
    assert re.match(f"^{expected}$", f"{problem.span}: {problem.message}")
    assert problem.severity is Severity.ERROR


@pytest.mark.parametrize(
    ("call", "hint"),
    [
        (
            "atomic_load_explicit(a, memory_order_acquir, memory_scope_device)",
            "did you mean `memory_order_acquire`?",
        ),
        (
            "atomic_load_explicit(a, memory_order_acquire, memory_scope_dev)",
            "did you mean `memory_scope_device`?",
        ),
        ("atomic_loud_explicit(a)", "did you mean `atomic_load_explicit`?"),
        (
            "atomic_thread_fence(memory_order_acquire)",
            "`atomic_thread_fence` is a function of C, and this test is OpenCL",
        ),
        (
            "frob()",
            "this version has atomic_load, atomic_store, atomic_exchange, "
            "atomic_compare_exchange_strong, atomic_compare_exchange_weak, atomic_fetch_add, "
            "atomic_fetch_sub, atomic_fetch_or, atomic_fetch_xor, atomic_fetch_and, "
            "atomic_fetch_min, atomic_fetch_max, atomic_work_item_fence, fence, atomic_init, "
            "barrier, work_group_barrier and inter_workgroup_barrier, and longer forms of them",
        ),
    ],
)
def test_hints_for_calls(call: str, hint: str) -> None:
    assert only(one(f"{call};")).hint == hint


# ---- what this version does not have -------------------------------------------------------------

ENDLESS = (
    "a loop that has not ended when the loops of its thread had 1,000 iterations or 50,000 "
    "statements is not supported"
)
UPDATED = "an update of what is not a register is not supported"
COMPUTED = "must be the name of a location: an address that is computed is not supported"


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("for (;;) *x = 1;", f"t:4:1: {ENDLESS}"),
        ("while (1) { *x = 1; }", f"t:4:1: {ENDLESS}"),
        ("for (int i = 0; i < 1001; i++) ;", f"t:4:1: {ENDLESS}"),
        ("switch (*x) { }", "t:4:1: switch is not supported"),
        ("switch (*x) { break; }", "t:4:1: switch is not supported"),
        ("goto end;", "t:4:1: goto is not supported"),
        ("end: *x = 1;", "t:4:1: a label before what is no barrier is not supported"),
        ("r = 4 / 2;", "t:4:5: division (`/`) is not supported"),
        ("r = 4 % 2;", "t:4:5: the remainder (`%`) is not supported"),
        ("int r; r /= 2;", "t:4:8: the assignment `/=` is not supported"),
        ("int r; int s = r++;", "t:4:16: `++` inside an expression is not supported"),
        ("int r; *x = (r -= 2);", "t:4:14: `-=` inside an expression is not supported"),
        ("int r; if (r = 1) {}", "t:4:12: an assignment inside an expression is not supported"),
        ("*x += 1;", f"t:4:1: {UPDATED}"),
        ("++*x;", f"t:4:1: {UPDATED}"),
        ("s = *(x + 1);", f"t:4:7: what `*` reads {COMPUTED}"),
        ("atomic_store(a + 1, 1);", f"t:4:14: the first argument of atomic_store {COMPUTED}"),
        (
            "int e; atomic_compare_exchange_weak(a, &e + 1, 1);",
            f"t:4:40: the second argument of atomic_compare_exchange_weak {COMPUTED}",
        ),
        ("uint r;", "t:4:1: the type `uint` is not supported: only int and atomic_int are"),
        (
            "unsigned int r;",
            "t:4:1: the type `unsigned int` is not supported: only int and atomic_int are",
        ),
        ("int* r;", "t:4:4: a pointer as a register is not supported"),
        ("local int r;", "t:4:1: local memory that is declared in a thread is not supported"),
        ("r = 1u;", "t:4:5: an integer with a suffix is not supported"),
        ("r = &x;", "t:4:5: an address (`&`) as a value is not supported"),
        (
            "barrier(CLK_IMAGE_MEM_FENCE);",
            "t:4:9: the flag `CLK_IMAGE_MEM_FENCE` is not supported",
        ),
    ],
)
def test_unsupported_constructs(body: str, expected: str) -> None:
    problem = only(one(body))
    assert problem.severity is Severity.UNSUPPORTED
    assert f"{problem.span}: {problem.message}" == expected


@pytest.mark.parametrize(
    "name",
    [
        "atomic_flag_clear",
        "atomic_inc",
        "get_work_dim",
        "mem_fence",
        "read_mem_fence",
        "sub_group_barrier",
    ],
)
def test_unsupported_functions(name: str) -> None:
    problem = only(one(f"{name}(a, CLK_GLOBAL_MEM_FENCE | CLK_LOCAL_MEM_FENCE, 1);"))
    assert problem.message == f"the function `{name}` is not supported"
    assert problem.severity is Severity.UNSUPPORTED


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (one(condition="filter x=1"), "t:6:1: filter is not supported"),
        (one(initial="int v[257];"), "t:2:9: an array of more than 256 elements is not supported"),
        (
            one(initial="atomic_t v = ATOMIC_INIT(0);"),
            "t:2:3: the type `atomic_t` is not supported: only int and atomic_int are",
        ),
        (
            "OPENCL t\n{}\nP0@wg 0, dev 0 (constant int* x) {}",
            "t:3:17: constant memory is not supported",
        ),
        (
            "OPENCL t\n{}\nP0@wg 0, dev 0 (global atomic_long* x) {}",
            "t:3:24: the type `atomic_long` is not supported: only int and atomic_int are",
        ),
    ],
)
def test_unsupported_parts(text: str, expected: str) -> None:
    problem = problems(text)[0]
    assert problem.severity is Severity.UNSUPPORTED
    assert f"{problem.span}: {problem.message}" == expected


def test_all_problems_of_both_kinds_are_told_at_once() -> None:
    text = one("switch (*x) { *z = 1; get_work_dim(1); }\nr = 1 / s;", "x=1;x=2;", "exists 0:q=1")
    found = problems(text)
    assert [(each.span and each.span.line, each.severity.value) for each in found] == [
        (2, "error"),
        (4, "unsupported"),
        (4, "error"),
        (4, "unsupported"),
        (5, "unsupported"),
        (5, "error"),
        (7, "error"),
    ]


def test_problems_in_dead_code_are_told() -> None:
    assert said(one("if (0) { *z = 1; }")) == [
        "t:4:11: the location `z` must be declared as a parameter of P0"
    ]


# ---- sizes ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "body",
    [
        "r = " + "(" * 5000 + "1" + ")" * 5000 + ";",
        "r = " + "!" * 5000 + "1;",
        "r = " + "1+" * 5000 + "1;",
        "r = " + "1 ? 2 : " * 5000 + "1;",
        "if (1) " * 5000 + ";",
        "if (*x) ; else " * 5000 + ";",
        "{" * 5000 + "}" * 5000,
        "while (1) " * 5000 + ";",
    ],
)
def test_deep_nesting(body: str) -> None:
    expected = "operators, brackets and statements must be nested at most 100 deep"
    assert only(one(body)).message == expected


def test_deep_conditions_and_scope_trees() -> None:
    for text in (
        one(condition="exists " + "~" * 5000 + "x=1"),
        one(condition="exists " + "(" * 5000 + "x=1" + ")" * 5000),
        one(condition="scopeTree " + "(device " * 5000 + ")" * 5000),
    ):
        assert re.match("^operators, brackets and statements must be", only(text).message)


@pytest.mark.parametrize(
    "body",
    [
        "r = *x;" + "r = r + r;" * 200,
        "r = *x;" + "r = r + 1;" * 5000,
        "r = *x;" + "if (r) r = r + *x;" * 200,
    ],
)
def test_values_that_grow_without_end(body: str) -> None:
    problem = only(one(body))
    assert problem.severity is Severity.UNSUPPORTED
    assert re.match(
        "^an expression with more than 10,000 parts.* is not supported$", problem.message
    )


def test_a_hundred_problems_are_told_and_the_rest_is_counted() -> None:
    found = problems(one("get_work_dim(1);\n" * 150 + "r = s;\n"))
    assert len(found) == 101
    assert found[-1].message == "51 more problems from here on"
    assert found[-1].severity is Severity.ERROR


def test_declarations_may_be_mixed_if_asked_for() -> None:
    """As Dartagnan reads them: atomic if all say so, and local if one does."""
    text = """OpenCL t
{ }
P0@wg 0, dev 0 (global int* x, global atomic_int* y, global atomic_int* z) { }
P1@wg 0, dev 0 (global atomic_int* x, local atomic_int* y, global atomic_int* z) { }"""
    with pytest.raises(InputError):
        read_program(Source("t", text))
    found = {it.name: it for it in read_program(Source("t", text), mixed=True).locations}
    assert {name: (it.atomic, it.region) for name, it in found.items()} == {
        "x": (False, "global"),
        "y": (True, "local"),
        "z": (True, "global"),
    }
