"""Arrays: their declarations, and accesses whose index is known or computed."""

import random
from collections.abc import Mapping, Sequence

import pytest

from rspverify.axiomatic.cat import load_model
from rspverify.axiomatic.question import Questions
from rspverify.limits import Limits
from rspverify.litmus.program import Kind, Program
from rspverify.litmus.reader import read_program
from rspverify.source import InputError, Severity, Source
from rspverify.value import evaluate
from rspverify.verdict import Outcome

MODEL = load_model("opencl-rsp")
GIVEN = "global atomic_int* flag, global int* x, global int* i"
STATE = "global atomic_int flag[3]; global int x[2] = {1, 2};"


def program(body: str, state: str = STATE, given: str = GIVEN, rest: str = "") -> Program:
    text = f"OpenCL t\n{{ {state} }}\nP0@wg 0, dev 0 ({given}) {{\n{body}\n}}\n{rest}"
    return read_program(Source("t", text))


# ---- accesses ------------------------------------------------------------------------------------


def test_an_index_that_depends_on_reads_is_an_operation_for_each_element() -> None:
    whole = program("int r = *i; int s = -1; if (r) s = atomic_load(&flag[r]);")
    index, *loads = whole.operations
    assert [each.location for each in loads] == ["flag[0]", "flag[1]", "flag[2]"]
    for value in range(-1, 5):
        read = {index.index: value, **{each.index: 10 + n for n, each in enumerate(loads)}}
        executed = [each.location for each in loads if evaluate(each.guard, read)]
        assert executed == ([f"flag[{value}]"] if value in (1, 2) else [])
        expected = 10 + value if value in (1, 2) else -1 if value == 0 else 0
        assert evaluate(whole.threads[0].registers["s"], read) == expected
        (fault,) = whole.faults
        assert (evaluate(fault.guard, read) != 0) == (value not in (0, 1, 2))
    assert loads[1].control == {index.index} and loads[1].address == {index.index}


def test_address_and_control_are_told_apart() -> None:
    whole = program("int r = *i; int s = *x; if (s) flag[r & 1] = 4;")
    *_, one, two = whole.operations
    assert (one.control, one.address) == ({1}, {0}) == (two.control, two.address)
    assert not one.data


def test_read_modify_writes_of_elements() -> None:
    whole = program(
        "int r = *i & 1; int s = atomic_fetch_add(&flag[r], 2);"
        "int t = atomic_compare_exchange_strong(&flag[r], &x[r], 5);"
    )
    kinds = [(each.location, each.kind) for each in whole.operations[1:]]
    assert kinds == [
        ("flag[0]", Kind.RMW),
        ("flag[1]", Kind.RMW),
        ("x[0]", Kind.LOAD),
        ("x[1]", Kind.LOAD),
        ("flag[0]", Kind.RMW),
        ("flag[1]", Kind.RMW),
    ]
    read = {0: 3, 1: 7, 2: 4, 3: 0, 4: 6, 5: 0, 6: 6}
    registers = whole.threads[0].registers
    assert [evaluate(registers[name], read) for name in "st"] == [4, 1]
    assert [evaluate(each.value, read) for each in whole.operations if each.value][:2] == [9, 6]


def test_too_many_operations() -> None:
    body = "int r = *i; for (int k = 0; k < 200; k++) z[r] = 1;"
    with pytest.raises(InputError) as caught:
        program(body, "int z[200];", "int* z, int* i")
    (problem,) = caught.value.problems
    assert problem.severity is Severity.UNSUPPORTED
    assert problem.message.startswith("more than 5,000 operations of a thread for accesses")


# ---- against programs without arrays -------------------------------------------------------------


def outcomes(text: str, names: Mapping[str, str]) -> tuple[set[tuple[object, ...]], bool]:
    """What threads' registers and memory may be in the end, and whether the program is racy."""
    whole = read_program(Source("t", text))
    questions = Questions(whole, MODEL, Limits())

    def shown(outcome: Outcome) -> tuple[object, ...]:
        read = dict(outcome.reads)
        held = [
            (thread.index, name, evaluate(value, read))
            for thread in whole.threads
            for name, value in thread.registers.items()
            if name.startswith("r")
        ]
        return (*held, *sorted((names.get(name, name), it) for name, it in outcome.memory))

    return {shown(each) for each in questions.outcomes()}, questions.race() is not None


def access(rng: random.Random, number: int, array: bool) -> str:
    """An access of v[e], or the same by cases of v0 and v1."""
    index = rng.choice([f"r{number - 1} & 1", f"!r{number - 1}", "1"]) if number else "0"
    what = rng.choice(["load", "store", "fetch_add", "plain"])
    order, scope = "acq_rel" if what == "fetch_add" else "relaxed", "memory_scope_device"
    order = rng.choice([order, "acquire" if what == "load" else order])

    def at(place: str) -> str:
        if what == "plain":
            return f"r{number} = *{place.replace('v', 'u')};"
        value = "" if what == "load" else ", 1"
        call = f"atomic_{what}_explicit({place}{value}, memory_order_{order}, {scope});"
        return call if what == "store" else f"r{number} = {call}"

    if array:
        cell = f"&v[{index}]"
        return at(cell).replace("*&u", "u") if what == "plain" else at(cell)
    return f"if (({index}) == 0) {{ {at('v0')} }} else {{ {at('v1')} }}"


def text(seeds: Sequence[int], array: bool) -> str:
    declared = (
        ("global atomic_int v[2]; global int u[2] = {3, 4};", "global atomic_int* v, global int* u")
        if array
        else (
            "[u0] = 3; [u1] = 4;",
            "global atomic_int* v0, global atomic_int* v1, global int* u0, global int* u1",
        )
    )
    lines = ["OpenCL t", f"{{ {declared[0]} }}"]
    for thread, seed in enumerate(seeds):
        rng = random.Random(seed)
        body = " ".join(access(rng, number, array) for number in range(3))
        start = "int r0 = 0; int r1 = 0; int r2 = 0;"
        lines.append(f"P{thread}@wg {thread}, dev 0 ({declared[1]}) {{ {start} {body} }}")
    return "\n".join(lines)


@pytest.mark.parametrize("seed", range(12))
def test_arrays_mean_what_cases_mean(seed: int) -> None:
    names = {f"{name}[{n}]": f"{name}{n}" for name in "uv" for n in (0, 1)}
    seeds = (2 * seed, 2 * seed + 1)
    assert outcomes(text(seeds, array=True), names) == outcomes(text(seeds, array=False), {})
