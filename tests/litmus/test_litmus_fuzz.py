"""Whatever the text is, the reader gives a Program or raises InputError."""

import os
import re

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from mutants import mutants

from rspverify.litmus.program import Program
from rspverify.litmus.reader import read_program
from rspverify.source import InputError, Source
from rspverify.value import reads

EXAMPLES = int(os.environ.get("RSPVERIFY_FUZZ", "60"))

VALID = (
    """OPENCL MP "message passing"
"in words: { ( ;"
{ [x] = 0; atomic_int y = -1; }
P0 (global int* x, global atomic_int* y) {
  *x = 42; // data
  atomic_store_explicit(y, 1, memory_order_release, memory_scope_device);
}
P1 (global int* x, global atomic_int* y) {
  int r0 = atomic_load_explicit_remote(y, memory_order_acquire, memory_scope_all_svm_devices);
  int r1 = -1, r2;
  if (r0 == 1 && !(*x < 3)) { r1 = *x; } else if (r0) r2 = r0 ? 0x1F : 3 + 4 * (r0 << 1);
  do { r2 = *x; } while (r0 < 1);
  for (r1 = 0; r1 < 2; r1 = r1 + 1) { r2 = *x; }
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
    """OPENCL loops
{ 0:r = 1; [m]; atomic_int n = 2; }
P0 (global atomic_int* a, __local int* b, global_fga atomic_int* c, global int* zero) {
  int i, r = atomic_compare_exchange_strong_explicit_remote(a, zero, *b + 1,
    memory_order_acq_rel, memory_order_relaxed, memory_scope_work_group);
  for (i = 0, r ^= 2; i < 3; i++, --r) { if (*b) continue; else if (*c) break; *b = i; }
  do { r += *b; B1: barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE); } while (r <= 2);
  while (1) { if (atomic_fetch_max(a, 1) && !*b) { break; } atomic_init(c, i ? 2 : 3); }
  atomic_work_item_fence(CLK_LOCAL_MEM_FENCE, memory_order_seq_cst, memory_scope_work_item);
  work_group_barrier(CLK_GLOBAL_MEM_FENCE, memory_scope_device);
  return;
}
P1 () { int k; while (k < 9) k = k + 2; }
scopeTree ((device (work_group P0 P1)))
exists ()""",
    """C c11
{ x = 0; int y[2] = {0, 1}; atomic_t z = ATOMIC_INIT(0); mutex m; }
P0 (atomic_int* a, volatile int* x, _Atomic int* y, mutex* m, const int* e) {
  lock(m); *x = 1; unlock(m); mtx_lock(m);
  atomic_thread_fence(memory_order_consume);
  while (!atomic_compare_exchange_weak(a, x, *y)) { r0 = *x; r1 += r0; }
  if (atomic_exchange_explicit(y, 2, memory_order_acq_rel) == 1) goto out; else ++r0;
  out: atomic_store(a, atomic_load_explicit(y, memory_order_consume) << 1);
}
P1 (atomic_int* a, int* x) { do { int r2 = atomic_fetch_xor(a, *x); } while (r2 > 0); }
locations [x; 0:r0;]
~exists (0:r0 = 1 \\/ P1:r2 = -1 /\\ not [x] = 3)""",
    """PTX columns
"message passing"
{ global a=0; shared [b]=-1; c=0x2; shared d; 1:r3=4; }
 P0@cta 0,gpu 0 | P1@cta 1,gpu 0 ;
 st.weak a, 1   | ld r1, b       ; (* of two threads *)
 membar.gl      | membar.cta     ;
 mov r1, 2      | ld.relaxed.gpu r2, [a] ;
 st b, r1       |                ; // done
                | st c, r3       ;
locations [1:r1;]
exists (1:r1=2 /\\ ~(1:r2=1 \\/ not 1:r3 != 4))""",
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
    "memory_scope_sub_group",
    "while (*x)",
    "for (;;)",
    "do {",
    "continue;",
    "B: ",
]


def check(text: str) -> None:
    try:
        program = read_program(Source("t", text), assembly=True)
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
        known = {each.index for each in program.operations if each.reads}
        for each in program.operations:
            parts = (each.guard, each.value, each.operand, each.success)
            assert all(reads(part) <= known for part in parts if part is not None)
        assert all(reads(cut.guard) <= known for cut in program.cuts)
        assert all(
            reads(value) <= known
            for thread in program.threads
            for value in thread.registers.values()
        )


fuzz = settings(max_examples=EXAMPLES, suppress_health_check=[HealthCheck.too_slow])


@fuzz
@given(st.text())
def test_any_text(text: str) -> None:
    check(text)


@fuzz
@given(st.lists(st.sampled_from(TOKENS), max_size=40).map(" ".join))
def test_any_tokens(text: str) -> None:
    check(text)
    check("OPENCL t\n{}\nP0@wg 0, dev 0 (int* x, atomic_int* y) {" + text + "}")
    check("C t\n{}\nP0 (int* x, atomic_int* y, mutex* m) {" + text + "}")
    check("PTX t\n{}\nP0@cta 0, gpu 0 | P1@cta 0, gpu 0;" + text)


@fuzz
@given(mutants(VALID, TOKEN, TOKENS))
def test_mutants_of_valid_tests(text: str) -> None:
    check(text)
