"""Dependencies that carry no value: a compiler may fold them away, and no others."""

from __future__ import annotations

from random import Random

import pytest

import rspverify
from rspverify.axiomatic.question import Questions
from rspverify.limits import Limits
from rspverify.mapping.folding import folded
from rspverify.mapping.reader import read_table
from rspverify.soundness.settings import Dependencies, Settings
from rspverify.source import Source, read_source
from rspverify.value import (
    Constant,
    Expression,
    Read,
    binary,
    evaluate,
    reads,
    select,
    unary,
)
from rspverify.verdict import Word

FOLDED, KEPT = Dependencies.FOLDED, Dependencies.KEPT
OPERATORS = ("+", "-", "*", "&", "|", "^", "==", "!=", "<", "<=", "&&", "||")


def drawn(rng: Random, depth: int) -> Expression:
    """An expression over two reads, with much that is the same on both sides."""
    kind = rng.randrange(8) if depth else 0
    if kind < 2:
        return rng.choice((Read(0), Read(0), Read(1), Constant(0), Constant(1)))
    one = drawn(rng, depth - 1)
    other = one if rng.random() < 0.4 else drawn(rng, depth - 1)
    if kind == 2:
        return unary(rng.choice("-~!"), one)
    if kind == 3:
        return select(one, other, drawn(rng, depth - 1))
    return binary(rng.choice(OPERATORS), one, other)


@pytest.mark.parametrize("seed", range(20))
def test_what_is_folded_has_the_same_value(seed: int) -> None:
    rng = Random(seed)
    fewer = 0
    for _ in range(300):
        it = drawn(rng, 3)
        left = folded(it)
        assert reads(left) <= reads(it)
        for values in ((0, 0), (1, 0), (0, 1), (-1, 2), (2, -1), (-(1 << 31), 7), (7, 1 << 30)):
            given = {0: values[0], 1: values[1]}
            assert evaluate(left, given) == evaluate(it, given), it
        fewer += len(reads(it)) - len(reads(left))
    assert fewer


def program(*threads: str) -> Source:
    bodies = "\n".join(
        f"P{at} (atomic_int* x, atomic_int* y) {{ {text} }}" for at, text in enumerate(threads)
    )
    return Source("t.litmus", f"C t\n{{ }}\n{bodies}\nexists (x=1)")


def load(register: str, x: str) -> str:
    return f"int {register} = atomic_load_explicit({x}, memory_order_relaxed);"


def store(x: str, value: str) -> str:
    return f"atomic_store_explicit({x}, {value}, memory_order_relaxed);"


BACK = f"{load('r0', 'y')} {store('x', 'r0')}"


@pytest.mark.parametrize("table", ["c11-aarch64", "c11-power-leading", "c11-riscv"])
@pytest.mark.parametrize(
    ("code", "kept", "folds"),
    [
        (store("y", "1"), Word.UNSOUND, Word.UNSOUND),
        (store("y", "1 + (r0 ^ r0)"), Word.SOUND, Word.UNSOUND),
        (store("y", "1 + (r0 & 0)"), Word.SOUND, Word.UNSOUND),
        (store("y", "1 + (r0 - r0)"), Word.SOUND, Word.UNSOUND),
        (store("y", "r0"), Word.SOUND, Word.SOUND),
        (store("y", "r0 ^ 1"), Word.SOUND, Word.SOUND),
        (f"if (r0 == r0) {{ {store('y', '1')} }}", Word.SOUND, Word.UNSOUND),
        (f"if (r0 == 1) {{ {store('y', '1')} }}", Word.SOUND, Word.SOUND),
        (
            f"if (r0 == 1) {{ {store('y', '1')} }} else {{ {store('y', '1')} }}",
            Word.SOUND,
            Word.UNSOUND,
        ),
        (
            f"if (r0 == 1) {{ {store('y', '1')} }} else {{ {store('y', '2')} }}",
            Word.SOUND,
            Word.SOUND,
        ),
    ],
)
def test_load_buffering_by_what_depends(table: str, code: str, kept: Word, folds: Word) -> None:
    """RC11 forbids it, and the processors do where each write depends on a read."""
    test = program(f"{load('r0', 'x')} {code}", BACK)
    for how, word in ((KEPT, kept), (FOLDED, folds)):
        settings = Settings(model="rc11", dependencies=how)
        (result,) = rspverify.check(table, test, settings=settings).report().results
        assert result.verdict is word, (how, result)


# ---- against the program that a compiler makes of it ---------------------------------------------


def statements(rng: Random, name: str) -> tuple[str, str]:
    """Code with branches whose sides do the same, and the same code without."""
    given, merged = [], []
    for _ in range(rng.choice((1, 1, 2))):
        x, value = rng.choice("xy"), rng.choice(("1", "2", f"({name} ^ {name}) + 1", name))
        own, left = store(x, value), store(x, "1" if "^" in value else value)
        if rng.random() < 0.2:
            own, left = (f"if ({name} == 2) {{ {it} }}" for it in (own, left))
        given.append(own)
        merged.append(left)
    body, rest = " ".join(given), " ".join(merged)
    if rng.random() < 0.7:
        body = f"if ({name} == 1) {{ {body} }} else {{ {body} }}"
    return body, rest


def outcomes(table: str, test: Source, how: Dependencies) -> set[tuple[object, ...]]:
    """By the values that are read, in the order of the text, and memory."""
    made = read_table(read_source(f"schemes/c11/{table}.yaml")).compiled(
        Settings(dependencies=how).read(test)
    )
    asked = Questions(made.program, made.model, Limits(), seen=made.seen)
    return {(tuple(value for _, value in it.reads), it.memory) for it in asked.outcomes()}


@pytest.mark.parametrize("table", ["c11-aarch64", "c11-power-leading"])
def test_a_folded_program_is_the_one_that_a_compiler_makes_of_it(table: str) -> None:
    """And it is another one than what the text is, in some programs; never does it allow less."""
    rng, more = Random(table), 0
    for _ in range(40):
        bodies = [
            (load("r0", x), load("r1", y), *statements(rng, rng.choice(("r0", "r1"))))
            for x, y in (rng.choice(("xy", "yx", "xx")) for _ in range(2))
        ]
        given = program(*(f"{a} {b} {body}" for a, b, body, _ in bodies))
        merged = program(*(f"{a} {b} {rest}" for a, b, _, rest in bodies))
        left = outcomes(table, given, FOLDED)
        assert left == outcomes(table, merged, KEPT), given.text
        kept = outcomes(table, given, KEPT)
        assert kept <= left, given.text
        more += kept < left
    assert more
