"""Limits, each at its edge, and random texts: an InputError at the most, never anything else."""

import random
import re

import pytest
from architecture.texts import BASE, NAME, problems, told
from hypothesis import given, settings
from hypothesis import strategies as st

from rspverify.architecture.catalogue import MAX_CHARACTERS, SHIPPED
from rspverify.architecture.layout import MAX_CELLS, MAX_PARTS, MAX_SPREAD, PLACES
from rspverify.architecture.machines import MACHINES
from rspverify.architecture.parsing import LANGUAGE, MAX_ITEMS
from rspverify.architecture.reader import read_architecture
from rspverify.architecture.scope import MAX_DEPTH
from rspverify.source import MAX_PROBLEMS, InputError, Source

LANGUAGE_WORDS = """
machine places spaces reaches type state final complete always define instruction step include
without add dequeue do each empty enqueue for free from if is later location marker no nothing of
oldest or per ready remove self take to when true false not other own in outside r x s n f y w L1
L2 VALID data memory lock fifo pool queue workgroup device thread system WG DV value bit store
clean I rsp : ; , . := = [ ] ( ) { } < + # " "a" §
"""
WORDS = [*LANGUAGE_WORDS.split(), "\n", "\t"]


def test_how_long_a_text_may_be() -> None:
    assert problems("#" * (MAX_CHARACTERS - len(BASE))) == []
    assert told("#" * (MAX_CHARACTERS - len(BASE) + 1)) == [
        "m.machine: a machine must have at most 50,000 characters, not 50,001"
    ]


@pytest.mark.parametrize("end", ["", "}"], ids=["right", "wrong"])
def test_how_many_items_there_may_be(end: str) -> None:
    """Also where each is read by itself, for a syntax error."""
    said = told("final a\n" * MAX_ITEMS + end)
    assert len(said) == 1 and "must have at most 1,000 items, not 1,00" in said[0]
    assert len(told("final a\n" * (MAX_ITEMS - 20) + end)) == MAX_PROBLEMS + 1


@pytest.mark.parametrize(
    "text",
    [
        "step S of system, location x do {blocks} nothing {ends}; memory[x] := memory[x]",
        "{chain} step S of system, location x do d{last}(x)",
    ],
    ids=["blocks", "definitions"],
)
def test_how_deep_it_may_be(text: str) -> None:
    def filled(number: int) -> str:
        chain = "define d0(y) do memory[y] := memory[y]\n" + "".join(
            f"define d{it}(y) do d{it - 1}(y)\n" for it in range(1, number + 1)
        )
        return text.format(
            blocks="if each device d: ready d.lock[x] { " * number,
            ends="}" * number,
            chain=chain,
            last=number,
        )

    assert problems(filled(MAX_DEPTH // 2 - 3)) == []
    (said,) = told(filled(MAX_DEPTH + 1))
    assert "blocks, variables and definitions must be at most 32 deep" in said


@pytest.mark.parametrize(
    "text",
    [
        "instruction I x do {body}; memory[x] := memory[x]",
        "define d(x) do {body}\ninstruction I x do d(x); memory[x] := memory[x]",
    ],
    ids=["an instruction", "a definition"],
)
def test_how_much_variables_may_stand_for(text: str) -> None:
    def nested(number: int) -> str:
        each = "".join(f"each device d{it} {{ " for it in range(number))
        return text.format(body=f"{each} free d0.lock[x] {'}' * number}")

    assert problems(nested(7)) == []
    (said,) = told(nested(9))
    assert re.search(
        rf"[dI] must have fewer variables inside each other: for {PLACES} of each place and "
        rf"2 locations the machine has more than {MAX_SPREAD:,} conditions and effects",
        said,
    )


def doubled(number: int, what: str = "memory[y] := memory[y]") -> str:
    twice = "".join(f"define d{it}(y) do d{it - 1}(y); d{it - 1}(y)\n" for it in range(1, number))
    last = f"step S of system, location x do d{number - 1}(x)"
    return f"define d0(y) do {what}\n{twice}{last}"


def test_how_much_definitions_may_stand_for() -> None:
    assert problems(doubled(10)) == []
    (said,) = told(doubled(25))
    assert f"a machine must have at most {MAX_PARTS:,} conditions and effects" in said


def test_how_many_cells_there_may_be() -> None:
    def cells(number: int) -> str:
        inner = " ".join(f"c{it} : lock" for it in range(100))
        parts = " ".join(f"p{it} : t of thread" for it in range(number))
        return f"type t {{ {inner} }} state {{ {parts} }}"

    assert problems(cells(MAX_CELLS // 100 - 1)) == []
    (said,) = told(cells(MAX_CELLS // 100))
    assert f"must have at most {MAX_CELLS} cells" in said


@pytest.mark.parametrize(
    "text",
    [
        "step A of thread do " + "; ".join(["store(pool, y, zz)"] * 2_000),
        "final " + "a." * 20_000 + "a",
        "instruction a " + "b " * 20_000,
        "instruction a " + "b " * 20_000 + ":",
        "step S of thread, " + ", ".join(f"thread t{it}" for it in range(3_000)) + " do free rmw",
        "step A of system do " + "if ready memory {" * 2_500 + "nothing" + "}" * 2_499,
        "step A of system do store(" + "f(" * 9_000 + "r" + ")" * 9_000 + ")",
        '"' * 40_000,
        "{" * 40_000,
        "state { " + " ".join(f"a{it} : t{it} of p" for it in range(2_000)) + "}",
    ],
    ids=[
        "uses",
        "parts",
        "operands",
        "colon",
        "steps",
        "open",
        "calls",
        "quotes",
        "braces",
        "sorts",
    ],
)
def test_long_texts_end_in_words(text: str) -> None:
    assert 0 < len(told(text)) <= MAX_PROBLEMS + 1


# ---- random texts --------------------------------------------------------------------------------


def only_told(text: str) -> bool:
    """Whether a text is read; where it is not, that is told, each place in the text."""
    try:
        read_architecture(Source(NAME, text))
    except InputError as error:
        assert error.problems
        assert all(it.span is None or it.span.line <= text.count("\n") + 1 for it in error.problems)
        assert str(error)
        return False
    return True


@settings(max_examples=150, deadline=None)
@given(st.lists(st.sampled_from(WORDS), max_size=40), st.booleans())
def test_random_words(words: list[str], alone: bool) -> None:
    only_told(("" if alone else BASE) + " ".join(words))


@settings(max_examples=60, deadline=None)
@given(st.text(max_size=60))
def test_random_signs(text: str) -> None:
    only_told(BASE + text)


def test_torn_machines() -> None:
    """The words of a machine that ships: some left out, doubled, exchanged or replaced."""
    dice = random.Random(1)
    text = (SHIPPED / "rsp.machine").read_text(encoding="utf-8")
    every, offset, found = LANGUAGE.tables.every, 0, list[tuple[str, str]]()
    while offset < len(text):
        found += [every.at(text, offset) or ("", text[offset:])]
        offset += len(found[-1][1])
    words = [word for terminal, word in found if terminal not in LANGUAGE.tables.ignored]
    assert read_architecture(Source(NAME, " ".join(words))) == MACHINES["rsp"]
    read_count = 0
    for _ in range(60):
        torn = list(words)
        for _ in range(dice.randrange(1, 4)):
            at = dice.randrange(len(torn))
            torn[at : at + 1] = dice.choice(
                [[], [torn[at]] * 2, [dice.choice(WORDS)], [dice.choice(torn)]]
            )
        read_count += only_told(" ".join(torn))
    assert read_count < 30
