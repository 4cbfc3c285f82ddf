"""Each mistake is told in words that say where it is, what must be otherwise, and what to do."""

import re
from pathlib import Path

import pytest
from architecture.texts import BASE, NAME, problems, read, told

from rspverify.architecture.catalogue import shipped
from rspverify.architecture.reader import read_architecture
from rspverify.source import MAX_PROBLEMS, InputError, Source
from rspverify.wording import alternatives

Case = tuple[str, list[str]]


def cases(part: str) -> list[Case]:
    """Texts with all that is said of each: line:column, words, and the hint in parentheses."""
    found = []
    for each in part.split("---\n"):
        text, *said = f"\n{each}".rstrip("\n").split("\n! ")
        found.append((text[1:], said))
    return found


SECTIONS = re.split(
    r"^=== .*\n",
    Path(__file__).with_name("messages.txt").read_text(encoding="utf-8"),
    flags=re.MULTILINE,
)[1:]
*BEHIND, ALONE = map(cases, SECTIONS)
MACHINES = alternatives(shipped())


@pytest.mark.parametrize(("text", "said"), [it for part in BEHIND for it in part])
def test_what_is_said(text: str, said: list[str]) -> None:
    assert told(text) == said


@pytest.mark.parametrize(("text", "said"), ALONE)
def test_what_is_said_of_a_text_alone(text: str, said: list[str]) -> None:
    assert told(text, "") == said


def test_machines_that_ship_are_listed() -> None:
    said = f"1:1 rps must be a machine that ships: {MACHINES} (did you mean rsp?)"
    assert told("include rps") == [said]


def test_a_mistake_is_shown_in_its_line() -> None:
    with pytest.raises(InputError) as raised:
        read_architecture(Source(NAME, "machine m\nplaces thread < sytem"))
    assert str(raised.value) == (
        "m.machine:2:17: sytem must say for what there is one: programs say thread, workgroup, "
        "device, system\n"
        "    places thread < sytem\n"
        "                    ^^^^^\n"
        "  hint: did you mean system?"
    )


def test_a_mistake_in_a_definition_says_where_it_is_used() -> None:
    (found,) = problems("step S of workgroup, location x do\n  store(rmw, x, memory[x])")[:1]
    assert found.message == "a lock has no parts, so no data"
    ((span, words),) = found.related
    assert words == "it is used here"
    assert span.text == "store(rmw, x, memory[x])"


def test_what_stands_twice_says_where_it_stood() -> None:
    (found,) = problems("final memory\nfinal memory")
    ((span, words),) = found.related
    assert (words, span.line) == ("the first one is here", (found.span and found.span.line - 1))


def test_a_definition_that_is_used_twice_is_told_of_once() -> None:
    found = told("define d(C) do C.nope := true\nstep S of workgroup do d(L1); d(L1); d(L2)")
    assert [each.partition(" (")[0] for each in found] == [
        "1:18 nope must be a cell of L1: data, DIRTY, VALID or fifo",
        "1:18 nope must be a cell of L2: data, DIRTY, VALID or fifo",
    ]


def test_after_a_syntax_error_the_other_items_are_judged() -> None:
    """But not where it hides what they depend on."""
    wrong = "instruction I r x when ready do r := memory[x]\n"
    assert len(told(wrong + "step S of device when no I in pool, no J in pool do free rmw")) == 5
    assert len(told("type t { a }\n" + wrong + "step S of device do free rmw")) == 2


def test_only_so_many_are_told() -> None:
    many = "; ".join(f"free l{number}" for number in range(MAX_PROBLEMS + 7))
    found = told(f"step S of workgroup do {many}")
    assert len(found) == MAX_PROBLEMS + 1
    assert found[-1].endswith(" 7 more problems from here on (mend the ones above first)")


def test_the_base_is_right() -> None:
    assert read("").name == "m"


def test_so_many_questions_may_be_asked_before_r_is_delivered() -> None:
    cells = " ".join(f"b{n} : bit of thread" for n in range(13))
    tests = ", ".join(f"b{n}" for n in range(13))
    text = f"instruction I r x do if {tests} {{ r := memory[x] }}"
    (found,) = told(text, f"{BASE}state {{ {cells} }}\n")
    assert found.startswith("1:13 I must ask 12 questions at most before it delivers r, not 13")
