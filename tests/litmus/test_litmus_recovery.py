"""A syntax error hides no later mistake where recovery is safe, and invents none."""

import random
import re
import time

import pytest

from rspverify.litmus.reader import read_program
from rspverify.source import InputError, Source

MANY = """\
OpenCL many
{ [x] = 0; [y] = ; [z] = 1 }
P0 (global in* x, global atomic_int* y) {
  *x = 1 +;
  int r0 = = 2;
  if (r0 == ) { *x = 2; *x = ; }
  atomic_store(y, 1;
  *x = 3);
  if (r0) { *x = ; } else { *x = $; }
}
P1 (global int* x) {
  if (1) x = ; else x = 2;
  do { x = ; } while (1);
  for (int i = 0; i < ; i++) { *x = 1; }
  *x = 7 $ 8;
  *x = 9
}
exists (1:r1=)
"""

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


def test_every_syntax_error_is_said_at_its_place() -> None:
    assert mistakes(MANY) == [
        "2:18 what follows `=` must be an integer, not `;`",
        "3:14 what follows `in` must be `)`, `,` or `[`, not `*`",
        "4:11 what follows `+` must be an expression, not `;`",
        "5:12 what follows `=` must be an expression, not `=`",
        "6:13 what follows `==` must be an expression, not `)`",
        "7:20 what follows `1` must be `)` or `,`, not `;`",
        "8:9 what follows `3` must be `;`, not `)`",
        "9:18 what follows `=` must be an expression, not `;`",
        "9:34 what follows `=` must be an expression, not `$`",
        "12:14 what follows `=` must be an expression, not `;`",
        "13:12 what follows `=` must be an expression, not `;`",
        "14:23 what follows `<` must be an expression, not `;`",
        "15:10 what follows `7` must be `;` or an operator, not `$`",
        "16:9 what follows `9` must be `;` or an operator, not `}`",
        "18:14 what follows `=` must be an integer, not `)`",
    ]


def test_each_has_a_caret_and_a_hint() -> None:
    with pytest.raises(InputError) as raised:
        read_program(Source("t", MANY))
    for problem in raised.value.problems:
        assert "^" in str(problem)
        assert problem.span is not None and problem.span.source.text == MANY


@pytest.mark.parametrize(
    "text",
    [
        # A brace is missing or one too many: what follows is read as something else.
        "OpenCL t\n{ x = 0 }\nP0 (global int* x) {\n  *x = ;\n  if (1) { *x = 1;\n}\nP1 (global in x) { }",
        "OpenCL t\n{ x = 0 }\nP0 (global int* x) {\n  *x = ;\n}\n}\nP1 (global in x) { }",
        # An error outside of any block or list.
        "OpenCL t\n{ x = 0 }\nP0 [global int* x) { *x = 1; }\nP1 (global int* x) { *x = ; }",
        "OpenCL t\n{ x = 0 }\nP0 (global int* x) { }\nscopetree (device P0)\nexists (x = )",
        # A bracket that is open where another block begins.
        "OpenCL t\n{ x = 0 }\nP0 (global int* x) {\n  if (1 { *x = 1; }\n  *x = ;\n}",
        # The initial state runs into the first thread.
        "OpenCL t\n{ x = 0 y }\nP0 (global int* x) { *x = 1; }",
    ],
)
def test_in_doubt_the_reading_ends(text: str) -> None:
    assert len(mistakes(text)) == 1


def test_nothing_is_said_of_meaning_after_a_syntax_error() -> None:
    """`r` is unknown only because the statement that assigns it was left out."""
    text = (
        "OpenCL t\n{ x = 0 }\nP0 (global int* x) {\n  int r = *x +;\n  *x = r;\n}\nexists (0:r = 1)"
    )
    assert mistakes(text) == ["4:15 what follows `+` must be an expression, not `;`"]


WORD = re.compile(r"\w+|[^\w\s]")
WORDS = [*"(){};[]=+$,x1", "==", "if", "else", "do", "while", "for", "P1", "exists", "return"]


def test_one_mistake_has_no_consequences() -> None:
    """A word left out, put in or exchanged is one mistake, wherever it is."""
    chosen = random.Random(7)
    head = TEST.index("{ [x]")
    for word in WORD.finditer(TEST, head):
        start, end = word.span()
        changed = [TEST[:start] + TEST[end:]]
        changed += [f"{TEST[:start]}{chosen.choice(WORDS)} {TEST[start:]}" for _ in range(2)]
        changed += [f"{TEST[:start]}{chosen.choice(WORDS)}{TEST[end:]}" for _ in range(2)]
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
