"""x86-tso against the machine that it describes: processors with store buffers, run step by step."""

from __future__ import annotations

from random import Random

import pytest
from oracle.processors import table

import rspverify
from rspverify.soundness.settings import Settings
from rspverify.source import InputError, Source

SETTINGS = Settings(model="x86-tso")
LOCATIONS, REGISTERS = ("x", "y"), ("EAX", "EBX")
Line = tuple[str, ...]


def reached(threads: list[list[Line]]) -> set[tuple[tuple[tuple[str, int], ...], ...]]:
    """The final values of registers by thread, and of memory, of all runs."""
    start = (
        tuple((0, (), (("EAX", 0), ("EBX", 0))) for _ in threads),
        tuple((name, 0) for name in LOCATIONS),
    )
    waiting, seen, ends = [start], {start}, set()
    while waiting:
        state = waiting.pop()
        after = list(steps(threads, *state))
        if not after:
            ends.add((*(registers for _, _, registers in state[0]), state[1]))
        for each in after:
            if each not in seen:
                seen.add(each)
                waiting.append(each)
    return ends


def steps(threads: list[list[Line]], processors, memory):  # type: ignore[no-untyped-def]
    """The states that one step leads to."""
    for index, (at, buffer, registers) in enumerate(processors):
        others = (*processors[:index], None, *processors[index + 1 :])

        def now(processor, memory, others=others):  # type: ignore[no-untyped-def]
            return tuple(processor if it is None else it for it in others), memory

        if buffer:
            name, value = buffer[0]
            yield now((at, buffer[1:], registers), stored(memory, name, value))
        if at == len(threads[index]):
            continue
        match threads[index][at]:
            case ("store", name, value):
                yield now((at + 1, (*buffer, (name, int(value))), registers), memory)
            case ("load", register, name):
                own = [value for it, value in buffer if it == name]
                value = own[-1] if own else dict(memory)[name]
                yield now((at + 1, buffer, stored(registers, register, value)), memory)
            case ("exchange", register, name) if not buffer:
                old, new = dict(memory)[name], dict(registers)[register]
                after = stored(registers, register, old)
                yield now((at + 1, buffer, after), stored(memory, name, new))
            case ("fence",) if not buffer:
                yield now((at + 1, buffer, registers), memory)


def stored(values, name: str, value: int):  # type: ignore[no-untyped-def]
    return tuple((it, value if it == name else old) for it, old in values)


def text(threads: list[list[Line]]) -> str:
    spelled = {
        "store": "MOV [{0}],${1}",
        "load": "MOV {0},[{1}]",
        "exchange": "XCHG {0},[{1}]",
        "fence": "MFENCE",
    }
    columns = [[spelled[kind].format(*operands) for kind, *operands in each] for each in threads]
    shown = table([f"P{number}" for number in range(len(threads))], columns)
    watched = "; ".join(
        [f"{thread}:{name}" for thread in range(len(threads)) for name in REGISTERS] + [*LOCATIONS]
    )
    return f"X86 random\n{{ x=0; y=0; }}\n{shown}\nlocations [{watched}]\nexists (x=0)\n"


def drawn(random: Random) -> list[list[Line]]:
    threads = []
    for _ in range(random.choice((2, 2, 3))):
        lines: list[Line] = [("load", name, random.choice(LOCATIONS)) for name in REGISTERS]
        for _ in range(random.choice((0, 1, 2))):
            kinds: tuple[Line, ...] = (
                ("store", random.choice(LOCATIONS), str(random.choice((1, 2)))),
                ("exchange", random.choice(REGISTERS), random.choice(LOCATIONS)),
                ("fence",),
            )
            lines.insert(random.randrange(len(lines) + 1), random.choice((*kinds, kinds[0])))
        threads.append(lines)
    return threads


@pytest.mark.parametrize("seed", range(40))
def test_outcomes_are_those_of_store_buffers(seed: int) -> None:
    threads = drawn(Random(seed))
    (answer,) = rspverify.outcomes(Source("t", text(threads)), settings=SETTINGS).report().results
    assert answer.answered, answer.reason
    found = {
        tuple(sorted({**row.outcome.registers, **row.outcome.memory}.items()))
        for row in answer.outcomes
    }
    expected = {
        tuple(
            sorted(
                [
                    (f"{index}:{name}", value)
                    for index, own in enumerate(each[:-1])
                    for name, value in own
                ]
                + [*each[-1]]
            )
        )
        for each in reached(threads)
    }
    assert found == expected


def test_models_and_tests_of_other_languages_are_refused() -> None:
    """A model of another architecture is no model of a test, and the hint says which are."""
    cases = (
        ("X86 t\n{ }\n P0 ;\n MOV [x],$1 ;\n", "opencl-rsp", "--model names one: x86-tso"),
        ("X86 t\n{ }\n P0 ;\n MOV [x],$1 ;\n", "rc11", "--model names one: x86-tso"),
        ("C t\n{ }\nP0 (int* x) { *x = 1; }\n", "x86-tso", "x86-tso speaks of MFENCE"),
    )
    for test, model, said in cases:
        settings = Settings(model=model)
        (answer,) = rspverify.outcomes(Source("t", test), settings=settings).report().results
        assert answer.word == "ERROR" and said in answer.reason


def test_instructions_that_are_not_known_are_named_at_their_place() -> None:
    test = "X86 t\n{ }\n P0 | P1 ;\n LOCK CMPXCHG | MOV [x],$1 ;\n MOV EAX,EBX | BSWAP EAX ;\n"
    (answer,) = rspverify.outcomes(Source("t", test), settings=SETTINGS).report().results
    assert answer.word == "UNSUPPORTED"
    assert "t:4:2: LOCK CMPXCHG cannot be read" in answer.reason
    assert "t:5:16: BSWAP EAX cannot be read" in answer.reason


def test_a_model_of_x86_is_asked_of_no_source_program() -> None:
    with pytest.raises(InputError, match="programs in OpenCL must be put to a model of OpenCL"):
        rspverify.compare_models("x86-tso", "opencl-rsp")
    with pytest.raises(InputError, match="programs in OpenCL must be put to a model of OpenCL"):
        rspverify.hunt("proposed", SETTINGS, events=2)
    test = Source("t", "X86 t\n{ }\n P0 ;\n MOV [x],$1 ;\n")
    (answer,) = rspverify.outcomes(test, "proposed", SETTINGS).report().results
    assert answer.reason == "t: a test in X86 must go without --scheme"
