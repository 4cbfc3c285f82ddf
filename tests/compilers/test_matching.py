"""What was emitted for a test is found again in it, and what a compiler does wrong is seen.

The assembly is hand-written, as a compiler might emit it for GFX9 where nothing else is said.
"""

from __future__ import annotations

import pytest
from machine.engines import events_outcomes, searched

from rspverify.architecture.machines import machine_named
from rspverify.assembly.program import AssemblyProgram, Seen
from rspverify.compilers.gpus import read_back_text
from rspverify.litmus.program import Program
from rspverify.litmus.reader import read_program
from rspverify.machine.machine import Machine
from rspverify.machine.reductions import placed
from rspverify.source import InputError, Severity, Source
from rspverify.value import Binary, Constant, Read
from rspverify.verdict import Outcome

LOAD_Y = "int r0 = atomic_load_explicit(y, memory_order_acquire, memory_scope_device);"


def program(*bodies: str) -> Program:
    parameters = "global int* x, global atomic_int* y, global int* z"
    threads = "".join(f"P{at} ({parameters}) {{ {body} }}\n" for at, body in enumerate(bodies))
    groups = " ".join(f"(work_group P{at})" for at in range(len(bodies)))
    head = "OpenCL t\n{ [x]=0; [y]=0; [z]=0; }\n"
    return read_program(Source("t", f"{head}{threads}scopeTree (device {groups})\n"))


def compiled(it: Program, *functions: str, machine: str = "amdgpu-gfx9") -> AssemblyProgram:
    """functions: the lines of each thread, without label and end."""
    text = ""
    for at, lines in enumerate(functions):
        body = "".join(
            f"{line}\n" if line.endswith(":") else f"\t{line}\n"
            for line in map(str.strip, lines.strip().splitlines())
        )
        text += f"P{at}:\n{body}\ts_setpc_b64 s[30:31]\n.Lfunc_end{at}:\n"
    return read_back_text(Source("t.s", text), it, machine_named(machine))


def outcomes(it: AssemblyProgram, *, by_search: bool = True) -> frozenset[Outcome]:
    """All that the machine reaches, each thread on a compute unit of its own; by both engines."""
    machine = placed(Machine(it))[0]
    found = events_outcomes(machine)
    assert not by_search or searched(machine, 200_000) == found
    return found


STORE_X = """
    v_mov_b32_e32 v4, 1
    global_store_dword v[0:1], v4, off
"""


def test_one_by_one() -> None:
    it = program(f"{LOAD_Y} if (r0 == 1) {{ *x = r0 + 1; }}")
    found = compiled(
        it,
        """
        global_load_dword v4, v[0:1], off glc
        s_waitcnt vmcnt(0)
        buffer_wbinvl1_vol
        v_cmp_eq_u32_e32 vcc, 1, v4
        s_and_saveexec_b64 s[4:5], vcc
        s_cbranch_execz .LBB0_2
        v_add_u32_e32 v5, 1, v4
        global_store_dword v[2:3], v5, off
        .LBB0_2:
        s_or_b64 exec, exec, s[4:5]
        .LP0.read0.v4:
        """,
    )
    assert found.seen is None
    load, _, _, store = found.instructions
    assert (load.register, store.location) == (0, "x")
    assert (store.guard, store.value) == (it.operations[1].guard, it.operations[1].value)
    assert [each.operation for each in found.instructions] == [0, 0, 0, 1]


def test_a_value_that_is_calculated_in_another_way() -> None:
    """Only 1 can be stored there, so that 2 - r0 is 1 and r0 is as well."""
    it = program("*x = 1;", "int r0 = *x; if (r0 == 1) { *z = r0; }")
    thread = """
        global_load_dword v4, v[0:1], off
        s_waitcnt vmcnt(0)
        .LP1.read1.v4:
        v_cmp_lt_i32_e32 vcc, 0, v4
        v_sub_u32_e32 v5, 2, v4
        s_and_saveexec_b64 s[4:5], vcc
        global_store_dword v[2:3], v5, off
    """
    assert compiled(it, STORE_X, thread).seen is None
    assert compiled(it, STORE_X.replace(", 1", ", 3"), thread).seen is not None


def test_stores_that_are_one() -> None:
    it = program("*x = 2; *x = 1;")
    found = compiled(it, STORE_X)
    assert found.seen == ()
    assert outcomes(found) == {Outcome((), (("x", 1), ("y", 0), ("z", 0)))}


def test_a_load_that_is_not_there() -> None:
    """What was stored is what is read."""
    it = program("*x = 1; int r0 = *x; if (r0) { *z = 3; }")
    store = "global_store_dword v[2:3], v5, off"
    found = compiled(it, f"{STORE_X} v_mov_b32_e32 v5, 3\n{store}\n.LP0.read1.v4:")
    assert found.seen == (Seen(1, Constant(1), Constant(1)),)
    assert outcomes(found) == {Outcome(((1, 1),), (("x", 1), ("y", 0), ("z", 3)))}


def test_loads_that_are_one_and_under_no_condition() -> None:
    it = program("int r0 = *x; if (r0 == 1) { int r1 = *x; }")
    load = "global_load_dword v4, v[0:1], off\ns_waitcnt vmcnt(0)"
    found = compiled(it, f"{load}\n.LP0.read0.v4:\n.LP0.read1.v4:")
    guard = Binary("==", Read(0), Constant(1))
    assert found.seen == (Seen(0, Constant(1), Read(0)), Seen(1, guard, Read(0)))
    assert outcomes(found) == {Outcome(((0, 0),), (("x", 0), ("y", 0), ("z", 0)))}


def test_a_load_that_is_executed_where_the_test_has_none() -> None:
    it = program(f"{LOAD_Y} if (r0) {{ int r1 = *x; }}")
    found = compiled(
        it,
        """
        global_load_dword v4, v[0:1], off glc
        global_load_dword v5, v[2:3], off
        s_waitcnt vmcnt(0)
        .LP0.read0.v4:
        .LP0.read1.v5:
        """,
    )
    assert found.seen is not None
    assert [each.guard for each in found.instructions if each.location] == [Constant(1)] * 2
    assert {it.reads for it in outcomes(found)} == {((0, 0),)}


def test_a_read_modify_write_that_became_a_load() -> None:
    add = "atomic_fetch_add_explicit(y, 0, memory_order_relaxed, memory_scope_device)"
    found = compiled(
        program(f"int r0 = {add};"),
        "global_load_dword v4, v[0:1], off glc\ns_waitcnt vmcnt(0)\n.LP0.read0.v4:",
    )
    assert found.seen == (Seen(0, Constant(1), Read(1)),)


def test_results_are_found_by_their_registers() -> None:
    """Of two loads of one location the second gives what the test reads first."""
    it = program("int r0 = *x; int r1 = *x;")
    loads = "global_load_dword v4, v[0:1], off\nglobal_load_dword v5, v[0:1], off"
    found = compiled(it, f"{loads}\ns_waitcnt vmcnt(0)\n.LP0.read0.v5:\n.LP0.read1.v4:")
    assert found.seen is None
    assert [each.register for each in found.instructions] == [1, 0]


def test_a_wait_for_a_part_of_what_was_issued() -> None:
    """P1 invalidates when y is there, though z need not be: then x is the new one if y is."""
    it = program(
        "*x = 1; atomic_store_explicit(y, 1, memory_order_release, memory_scope_device);",
        f"{LOAD_Y} int r1 = *z; int r2 = *x;",
    )
    first = """
        v_mov_b32_e32 v4, 1
        global_store_dword v[0:1], v4, off
        s_waitcnt vmcnt(0)
        global_store_dword v[2:3], v4, off
    """
    second = """
        global_load_dword v6, v[0:1], off glc
        global_load_dword v7, v[2:3], off
        {}
        buffer_wbinvl1_vol
        global_load_dword v8, v[4:5], off
        s_waitcnt vmcnt(0)
        .LP1.read2.v6:
        .LP1.read3.v7:
        .LP1.read4.v8:
    """

    def reached(wait: str) -> set[tuple[int, int]]:
        code = compiled(it, first, second.format(wait))
        found = outcomes(code, by_search="(1)" in wait)
        return {(dict(each.reads)[2], dict(each.reads)[4]) for each in found}

    assert (1, 0) in reached("s_nop 0")
    assert (1, 0) in reached("s_waitcnt vmcnt(2)")
    assert (
        reached("s_waitcnt vmcnt(1)") == reached("s_waitcnt vmcnt(0)") == {(0, 0), (0, 1), (1, 1)}
    )


def test_a_wait_for_a_part_that_was_stored() -> None:
    """P0 stores y when x is there, whatever becomes of z."""
    it = program(
        "*x = 1; *z = 1; atomic_store_explicit(y, 1, memory_order_release, memory_scope_device);",
        f"{LOAD_Y} int r1 = *x; int r2 = *z;",
    )
    first = """
        v_mov_b32_e32 v6, 1
        global_store_dword v[0:1], v6, off
        global_store_dword v[2:3], v6, off
        {}
        global_store_dword v[4:5], v6, off
    """
    second = """
        global_load_dword v6, v[0:1], off glc
        s_waitcnt vmcnt(0)
        buffer_wbinvl1_vol
        global_load_dword v7, v[2:3], off glc
        global_load_dword v8, v[4:5], off glc
        s_waitcnt vmcnt(0)
        .LP1.read3.v6:
        .LP1.read4.v7:
        .LP1.read5.v8:
    """

    def reached(wait: str) -> set[tuple[int, int]]:
        """What x and z may be where y is there."""
        code = compiled(it, first.format(wait), second)
        found = [dict(each.reads) for each in outcomes(code, by_search="(1)" in wait)]
        return {(each[4], each[5]) for each in found if each[3]}

    assert reached("s_waitcnt vmcnt(0)") == {(1, 1)}
    assert reached("s_waitcnt vmcnt(1)") == {(1, 1), (1, 0)}
    assert reached("s_nop 0") == {(1, 1), (1, 0), (0, 1), (0, 0)}


@pytest.mark.parametrize(
    ("body", "lines", "said"),
    [
        (
            "int r0 = *x;",
            "global_load_dword v4, v[0:1], off\ns_waitcnt vmcnt(0)",
            "what load na x reads must be in a register in the end, and cannot be found",
        ),
        (
            "int r0 = *x;",
            ".LP0.read0.v9:",
            "what load na x reads must be in a register in the end, and cannot be found",
        ),
        (
            "*x = 1;",
            "global_store_dword v[0:1], v9, off",
            "global_store_dword depends on a register to which nothing was written",
        ),
        (
            "work_group_barrier(CLK_GLOBAL_MEM_FENCE);",
            "s_nop 0",
            "P0 must have 1 barriers, and its code has another number",
        ),
        ("*x = 1;", "s_barrier", "P0 must have 0 barriers, and its code has another number"),
    ],
)
def test_what_does_not_belong_together(body: str, lines: str, said: str) -> None:
    with pytest.raises(InputError) as error:
        compiled(program(body), lines)
    assert [each.message for each in error.value.problems] == [said]
    assert error.value.severity is Severity.UNSUPPORTED


def test_a_function_that_is_missing() -> None:
    with pytest.raises(InputError, match=r"t\.s: must have the function P1, and has not"):
        compiled(program("*x = 1;", "*z = 1;"), STORE_X)
