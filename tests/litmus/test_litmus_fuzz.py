"""Whatever the text is, the reader gives a Program or raises InputError."""

import os
import re

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from mutants import mutants

from rspverify.litmus import Program, read_program
from rspverify.source import InputError, Source

EXAMPLES = int(os.environ.get("RSPVERIFY_FUZZ", "300"))

VALID = (
    """OPENCL MP
"message passing"
{ [x] = 0; atomic_int y = -1; }
P0 (global int* x, global atomic_int* y) {
  *x = 42; // data
  atomic_store_explicit(y, 1, memory_order_release, memory_scope_device);
}
P1 (global int* x, global atomic_int* y) {
  int r0 = atomic_load_explicit_remote(y, memory_order_acquire, memory_scope_all_svm_devices);
  int r1 = -1, r2;
  if (r0 == 1 && !(*x < 3)) { r1 = *x; } else if (r0) r2 = r0 ? 0x1F : 3 + 4 * (r0 << 1);
}
scopeTree (device (work_group P0) (work_group P1))
locations [x; 1:r0;]
exists (1:r0 = 1 /\\ ~(x = 42) \\/ not y != 2)""",
    """OpenCL RMW (* a comment *)
{}
P0@wg 0, dev 0 (volatile __global atomic_int *x, local int *z) {
  while (*z) { atomic_fetch_add_explicit(x, *z, memory_order_relaxed, memory_scope_work_group); }
  for (int i = 0; i < 3; i++) { i += 1; continue; }
  r = atomic_exchange(x, 3) / 2 % 2;
  goto end; end: ; return;
}
P1@dev 1, wg 0 (atomic_int* x) { do { ; } while (atomic_load(x)); switch (1) { case 1: break; } }
filter x=1
forall [x] == 1""",
)

TOKEN = re.compile(r"\s+|\w+|[^\w\s]")
TOKENS = [
    *sorted({token for text in VALID for token in TOKEN.findall(text)}),
    "(*",
    "*)",
    "/*",
    "*/",
    "//",
    '"',
    "9" * 30,
    "\x00",
    "\x85",
    "é",
    "٣",
    "0:r0=1",
    "memory_scope_work_item",
]


def check(text: str) -> None:
    try:
        program = read_program(Source("t", text))
    except InputError as error:
        assert error.problems
        assert str(error)
        for problem in error.problems:
            assert problem.span is not None
            assert problem.span.line >= 1 and problem.span.column >= 1
            begin = (problem.span.line, problem.span.column)
            assert begin <= (problem.span.end_line, problem.span.end_column)
    else:
        assert isinstance(program, Program)
        assert [each.index for each in program.operations] == list(range(len(program.operations)))


fuzz = settings(max_examples=EXAMPLES, deadline=None, suppress_health_check=[HealthCheck.too_slow])


@fuzz
@given(st.text())
def test_any_text(text: str) -> None:
    check(text)


@fuzz
@given(st.lists(st.sampled_from(TOKENS), max_size=40).map(" ".join))
def test_any_tokens(text: str) -> None:
    check(text)
    check("OPENCL t\n{}\nP0@wg 0, dev 0 (int* x, atomic_int* y) {" + text + "}")


@fuzz
@given(mutants(VALID, TOKEN, TOKENS))
def test_mutants_of_valid_tests(text: str) -> None:
    check(text)
