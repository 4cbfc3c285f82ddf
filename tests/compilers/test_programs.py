"""The IR of tests: an operation is the one that rows are of, and branches stand where tests have them."""

import pytest

from rspverify.compilers.programs import module, pointers, read_as, shapes_in
from rspverify.litmus.program import Program
from rspverify.litmus.reader import read_program
from rspverify.source import InputError, Source


def program(*bodies: str, locals_: str = "") -> Program:
    parameters = "global int* x, global atomic_int* y" + locals_
    threads = "".join(f"P{at} ({parameters}) {{ {body} }}\n" for at, body in enumerate(bodies))
    groups = " ".join(f"(work_group P{at})" for at in range(len(bodies)))
    return read_program(
        Source("t", f"OpenCL t\n{{ [x]=0; [y]=0; }}\n{threads}scopeTree (device {groups})\n")
    )


def body(it: Program, thread: int = 0) -> list[str]:
    text = module({"": it}, has_local=True)
    part = text.partition(f"define void @P{thread}(")[2].partition("\n}")[0]
    return [line.strip() for line in part.splitlines()[1:]]


LOAD = "atomic_load_explicit(y, memory_order_acquire, memory_scope_device)"
STORE = "atomic_store_explicit(y, 2, memory_order_release, memory_scope_work_group)"


def test_operations_are_those_of_rows() -> None:
    cas = "atomic_compare_exchange_strong_explicit(y, &e, 5, memory_order_acq_rel, "
    cas += "memory_order_relaxed, memory_scope_device)"
    add = "atomic_fetch_min_explicit(y, 3, memory_order_relaxed, memory_scope_device)"
    lines = body(program(f"*x = 1; int e = 4; int r0 = {cas}; {STORE}; int r1 = {add};"))
    device = ", !amdgpu.no.fine.grained.memory !0, !amdgpu.no.remote.memory !0"
    assert lines[1:6] == [
        "store i32 1, ptr addrspace(1) %x0, align 4",
        '%both4 = cmpxchg ptr addrspace(1) %x1, i32 4, i32 5 syncscope("agent-one-as") '
        f"acq_rel monotonic{device}",
        "%r3 = extractvalue {i32, i1} %both4, 0",
        'store atomic i32 2, ptr addrspace(1) %x1 syncscope("workgroup-one-as") release, align 4',
        '%r7 = atomicrmw min ptr addrspace(1) %x1, i32 3 syncscope("agent-one-as") '
        f"monotonic{device}",
    ]


def test_conditions_are_branches_that_lie_in_each_other() -> None:
    text = f"int r0 = {LOAD}; if (r0) {{ int r1 = *x; if (r1 == 2) {{ *x = r1 + r0; }} *x = 3; }}"
    lines = [it for it in body(program(text)) if it.startswith(("br", "store", "%r"))]
    assert [it.split(",")[0].split(" ptr")[0] for it in lines] == [
        "%r1 = load atomic i32",
        "br i1 %t3",
        "%r6 = load i32",
        "br i1 %t8",
        "store i32 %t13",
        "br label %end10",
        "store i32 3",
        "br label %end5",
        "%r16 = phi i32 [ %r6",
    ]


def test_what_is_read_is_named_in_the_end() -> None:
    found = body(program(f"int r0 = {LOAD}; int r1 = *x;", f"int r0 = {LOAD};"), 1)
    assert found[-2] == 'call void asm sideeffect ".LP1.read2.$0:", "v"(i32 %r1)'


def test_a_barrier_is_a_fence_a_rendezvous_and_a_fence() -> None:
    found = body(program("*x = 1; work_group_barrier(CLK_GLOBAL_MEM_FENCE);"))
    assert found[2:-1] == [
        'fence syncscope("workgroup") release, !mmra !1',
        "call void @llvm.amdgcn.s.barrier()",
        'fence syncscope("workgroup") acquire, !mmra !1',
    ]


def test_pointers_are_arguments_in_the_order_of_accesses() -> None:
    (thread,) = (it := program(f"{STORE}; *x = 1;")).threads
    assert pointers(thread, it) == {"y": ("v0", "v1"), "x": ("v2", "v3")}


def test_too_many_pointers() -> None:
    names = [f"x{at}" for at in range(16)]
    parameters = ", ".join(f"global int* {it}" for it in names)
    stores = " ".join(f"*{it} = 1;" for it in names)
    text = f"OpenCL t\n{{ }}\nP0@wg 0,dev 0 ({parameters}) {{ {stores} }}\n"
    it = read_program(Source("t", text))
    with pytest.raises(InputError, match="P0 must access fewer locations, as pointers to 16 are"):
        module({"": it}, has_local=True)


def test_the_operations_of_a_table() -> None:
    """In every order, as rows are for all that have one code."""
    it = program(f"{STORE}; *x = 1;")
    words = [str(each) for each in shapes_in([it], has_local=True)]
    assert words == [
        "store na",
        "store WG,N (relaxed)",
        "store WG,N (release)",
        "store WG,N (seq_cst)",
    ]


def test_loops_are_unrolled() -> None:
    it = program(f"while ({LOAD} == 0) {{ }} *x = 1;")
    assert it.spins and not read_as(it).spins and len(read_as(it).operations) > 2
