"""A syntax error hides no later mistake where recovery is safe, and invents none."""

import random
import re
import time

import pytest

from rspverify.litmus.reader import read_program
from rspverify.source import InputError, Source

TEST = """\
OpenCL MP "message passing"
"in words: { ( ;"
{ [x] = 0; atomic_int y = -1; }
P0 (global int* x, global atomic_int* y) {
  *x = 42; // data
  if (*x == 1) { *x = 2; } else *x = 3;
  atomic_store_explicit(y, 1, memory_order_release, memory_scope_device);
}
P1 (global int* x, global atomic_int* y) {
  int r0 = atomic_load_explicit(y, memory_order_acquire, memory_scope_device);
  int r1 = -1, r2;
  do { r2 = r0 ? 0x1F : 3 + 4 * (r0 << 1); } while (r0 < 1);
  for (r1 = 0; r1 < 2; r1 = r1 + 1) { r2 = *x; }
}
scopeTree (device (work_group P0) (work_group P1))
exists (1:r0 = 1 /\\ ~(x = 42) \\/ not y != 2)
"""


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
    head = TEST.index("{ [x]")
    for word in WORD.finditer(TEST, head):
        start, end = word.span()
        changed = [TEST[:start] + TEST[end:]]
        changed += [f"{TEST[:start]}{chosen.choice(WORDS)} {TEST[start:]}"]
        changed += [f"{TEST[:start]}{chosen.choice(WORDS)}{TEST[end:]}"]
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
