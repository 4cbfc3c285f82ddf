"""What tests mean: memory, threads, operations with their guards and values, registers."""

from pathlib import Path

import pytest
from litmus.shown import shown
from messages import cases

from rspverify.litmus.comments import title_of
from rspverify.litmus.program import Kind, Program, one_subgroup
from rspverify.litmus.reader import read_program, read_program_file
from rspverify.source import InputError, Severity, Source
from rspverify.value import evaluate


@pytest.mark.parametrize(("text", "lines"), cases(Path(__file__).with_name("programs.txt")))
def test_what_a_text_means(text: str, lines: list[str]) -> None:
    program = read_program(Source("t", text), assembly=True)
    assert [f"= {line}" for line in shown(program)] == lines


@pytest.mark.parametrize("comment", ["(* c *)", "(*c*)", "/* c\n c */", "// c\n", "(*\n * c\n *)"])
def test_comments_stand_everywhere(comment: str) -> None:
    begin = ["{", "[x]", "= 1", ";", "}", "P0", "@", "wg 0,", "dev", "0", "(int*", "x)", "{"]
    end = ["*x", "= 2", ";", "}", "exists", "(x", "=", "2)"]
    text = f"OPENCL t {comment}\n" + f" {comment} ".join([*begin, *end])
    whole = read_program(Source("t", text))
    assert [str(each) for each in whole.operations] == ["store na x"]
    assert whole.locations[0].initial == 1


def test_a_file_is_read(tmp_path: Path) -> None:
    path = tmp_path / "t.litmus"
    path.write_text("OPENCL t\r\n{}\r\nP0@wg 0, dev 0 (int* x) {\r\n *x = 1;\r\n}\r\n")
    assert read_program_file(path).operations[0].span.line == 4
    with pytest.raises(InputError, match=r"no such file"):
        read_program_file(tmp_path / "none.litmus")


def test_a_thread_that_no_sub_group_has_is_alone_in_one() -> None:
    """Where threads are is in programs.txt."""
    heads = ("sg 0, wg 0", "sg 0, wg 0", "sg 1, wg 0", "sg 0, wg 1", "wg 0", "wg 0")
    threads = "".join(f"P{number}@{it}, dev 0 () {{ }}\n" for number, it in enumerate(heads))
    found = read_program(Source("t", f"OpenCL t\n{{}}\n{threads}")).threads
    pairs = [(a.index, b.index) for a in found for b in found if one_subgroup(a, b)]
    assert [(a, b) for a, b in pairs if a < b] == [(0, 1)] and (4, 4) in pairs


def test_titles() -> None:
    assert title_of(Source("t", "C MP+na\n{}")) == "MP+na"
    assert title_of(Source("t", "OpenCL MP\n")) == "MP"
    assert title_of(Source("t", "OpenCL of  several words (* said *)\n")) == "of several words"
    assert title_of(Source("t", "CPP11 MP\n")) is None
    assert title_of(Source("t", "PTX name\n{")) == "name"


def test_a_compare_exchange_of_c11_that_fails_writes_what_it_found() -> None:
    """C11 §7.17.7.4; herd's test C16 has this outcome."""
    body = "int r = atomic_compare_exchange_strong(a, zero, 2);"
    whole = read_program(Source("t", f"C t\n{{}}\nP0 (atomic_int* a, int* zero) {{ {body} }}"))
    expected, rmw, back = whole.operations
    assert (expected.location, rmw.location, back.location) == ("zero", "a", "zero")
    for wanted in (0, 1):
        read = {expected.index: wanted, rmw.index: 1}
        assert evaluate(whole.threads[0].registers["r"], read) == wanted
        assert evaluate(back.guard, read) == 1 - wanted


# ---- operands that are not sequenced -------------------------------------------------------------


def wide(levels: int) -> str:
    """A sum of 2 to the `levels` loads, as a balanced tree."""
    return f"({wide(levels - 1)} + {wide(levels - 1)})" if levels else "*y"


def test_an_expression_of_very_many_operations_is_not_supported() -> None:
    text = "C t\n{{ }}\nP0 (int* y, int* z) {{ *z = {}; }}\nexists (z=0)"
    assert len(read_program(Source("t", text.format(wide(8)))).operations) == 257
    with pytest.raises(InputError, match="more than 1,000 operations that are not") as caught:
        read_program(Source("t", text.format(wide(10))))
    assert len(caught.value.problems) == 1


# ---- tests in assembly ---------------------------------------------------------------------------


def assembly(rows: str) -> Program:
    text = f"PTX t\n{{ }}\nP0@cta 0,gpu 0 | P1@cta 1,gpu 0 ;\n{rows}\n"
    return read_program(Source("t", text), assembly=True)


def test_a_test_of_many_instructions_is_unsupported() -> None:
    rows = "ld r1, a | st a, 1 ;\n"
    assert len(assembly(rows * 125).operations) == 250
    with pytest.raises(InputError) as caught:
        assembly(rows * 125 + "ld r1, a | ;")
    (problem,) = caught.value.problems
    assert problem.severity is Severity.UNSUPPORTED
    message = "a test in assembly must have at most 250 instructions, not 251"
    assert problem.message == message


def test_who_asks_for_a_source_program_is_told_who_answers() -> None:
    with pytest.raises(InputError) as caught:
        read_program(Source("t", "(* first *)\nPTX t\n{}\n"))
    (problem,) = caught.value.problems
    assert str(problem.span) == "t:2:1" and problem.severity is Severity.ERROR
    assert problem.message.startswith("a test must be in OpenCL or C here")
    assert problem.hint == "`rspverify outcomes` answers it, with --machine or with --model"


# ---- read-modify-writes at whose value nothing looks ---------------------------------------------

ADD = "atomic_fetch_add_explicit(x, 1, memory_order_relaxed)"
GIVEN = "(global atomic_int* x, global int* y)"


def used(text: str, unroll: int = 8) -> list[bool]:
    program = read_program(Source("t.litmus", f"OpenCL t\n{{ [x]=0; [y]=0; }}\n{text}"), unroll)
    assert all(it.used for it in program.operations if it.kind is not Kind.RMW)
    return [it.used for it in program.operations if it.kind is Kind.RMW]


def test_it_is_the_same_however_often_a_loop_is_unrolled() -> None:
    """The value of the last iteration alone goes nowhere; a compiler has one instruction for all."""
    body = f"int p = 0; for (int i = 0; i < *y; i++) {{ if (p) {{ *y = 1; }} p = {ADD}; }}"
    thread = f"P0@wg 0, dev 0 {GIVEN} {{ {body} }}\nexists (x=1)"
    for unroll in (1, 2, 3):
        assert used(thread, unroll) == [True] * unroll
        assert used(thread.replace("if (p)", "if (i)"), unroll) == [False] * unroll


def test_functions_and_kernels() -> None:
    called = f"void f{GIVEN} {{ int r = {ADD}; }}\nint g{GIVEN} {{ return {ADD}; }}\n"
    thread = f"P0@wg 0, dev 0 {GIVEN} {{ f(x, y); g(x, y); }}\nexists (x=1)"
    assert used(f"{called}{thread}") == [False, True]
    kernel = f"kernel void k{GIVEN} {{ int r = {ADD}; }}\ngroups 1 threads 2\n"
    assert used(f"{kernel}exists (1:r=0)") == [True, True]
    assert used(f"{kernel}exists (x=0)") == [False, False]
