"""A syntax error hides no later mistake where recovery is safe, and invents none."""

import random
import re
import time

import pytest
from litmus.test_litmus_fuzz import VALID

from rspverify.litmus.reader import read_program
from rspverify.source import InputError, Source


def mistakes(text: str) -> list[str]:
    try:
        read_program(Source("t", text))
    except InputError as error:
        return [f"{each.span.line}:{each.span.column} {each.message}" for each in error.problems]
    return []


WORD = re.compile(r"\w+|[^\w\s]")
WORDS = [*"(){};[]=+$,x1", "==", "if", "else", "do", "while", "for", "P1", "exists", "return"]


def test_one_mistake_has_no_consequences() -> None:
    """A word left out, put in or exchanged is one mistake, wherever it is."""
    chosen = random.Random(7)
    test = VALID[0]
    for word in WORD.finditer(test, test.index("{ [x]")):
        start, end = word.span()
        changed = [test[:start] + test[end:]]
        changed += [f"{test[:start]}{chosen.choice(WORDS)} {test[start:]}"]
        changed += [f"{test[:start]}{chosen.choice(WORDS)}{test[end:]}"]
        for text in changed:
            found = [each for each in mistakes(text) if re.search("what (follows|stands)", each)]
            assert len(found) <= 1, (text, found)


@pytest.mark.parametrize(
    "line",
    [
        "*x = ;\n",
        "*x = 1\n",
        "*x = $;\n",
        "if (1) { *x = ; }\n",
        "f(1;\n",
        "x = (1;\n",
        "x = ;" + "\n" * 50,
    ],
)
def test_many_mistakes_are_found_in_bounded_time(line: str) -> None:
    for count in (400, 40_000):
        start = time.perf_counter()
        text = "OpenCL t\n{ x = 0 }\nP0 (global int* x) {\n" + line * count + "}\n"
        assert mistakes(text)
        assert time.perf_counter() - start < 30
