"""Every mistake in a scheme: its words, its place, and what to do."""

import re
from pathlib import Path

import pytest
from messages import cases, told

from rspverify.scheme.reader import read_scheme, read_scheme_file
from rspverify.source import InputError, Problem, Source

MESSAGES = Path(__file__).with_name("messages.txt")
ROW = "op: load, scope: dv, code: [LD r x]"


def table(*rows: str) -> str:
    return "name: s\nrows:\n" + "".join(f"  - {{{row}}}\n" for row in rows)


def code(*instructions: str, op: str = "load") -> str:
    return table(f"op: {op}, scope: dv, code: [{', '.join(instructions)}]")


def problems_of(text: str) -> tuple[Problem, ...]:
    with pytest.raises(InputError) as caught:
        read_scheme(Source("s.yaml", text))
    return caught.value.problems


@pytest.mark.parametrize(("text", "said"), cases(MESSAGES))
def test_what_is_said(text, said):
    with pytest.raises(InputError) as caught:
        read_scheme(Source("s.yaml", text))
    assert told(caught.value) == said


def test_a_document_must_be_one_and_not_empty():
    (empty,) = problems_of("--- \n")
    assert empty.message == "a scheme must be a mapping with the keys name, rows, not nothing"
    (second,) = problems_of(table(ROW) + "---\na: b\n")
    assert second.message == "the file must be one YAML document, not several"
    assert str(second.span) == "s.yaml:4:1"


def test_a_machine_must_be_one_that_ships():
    (problem,) = problems_of(table(ROW) + "machine: rsp_st_waits\n")
    words = r"machine must be .*rsp, .* or a .machine file, not 'rsp_st_waits'"
    assert re.fullmatch(words, problem.message)
    assert (str(problem.span), problem.hint) == ("s.yaml:4:10", "did you mean rsp-st-waits?")
    for switched, end in (("+A", "not nothing"), ("rsp+A", "must have the switch A, and has not")):
        (problem,) = problems_of(table(ROW) + f"machine: {switched}\n")
        assert problem.message.endswith(end) and str(problem.span) == "s.yaml:4:10"


def test_where_the_machine_is_unknown_nothing_is_said_of_the_code():
    load = "op: load, scope: wg, code: "
    rows = ("op: lod, scope: dv, code: [LD r x, INV_L1]", f"{load}[LD r y]", f"{load}[LD r x]")
    assert [it.span.line for it in problems_of(table(*rows))] == [3, 3, 4, 5]
    assert [it.span.line for it in problems_of(table(*rows) + "machine: vax\n")] == [3, 5, 6]


def test_a_row_may_stand_between_two_of_which_none_is_the_weaker():
    """An RMW that is relaxed, where one row is for acquire and one for release."""
    orders = ("acquire", "release", "relaxed")
    rows = [f"op: rmw, scope: dv, order: {each}, code: [RMW_L2 r x]" for each in orders]
    assert len(read_scheme(Source("s.yaml", table(*rows))).rows) == 3


def test_a_caret_stands_under_each_character_of_the_word():
    (problem,) = problems_of(code("LD r x", "INV_L1 ALL"))
    _, line, carets, _ = str(problem).split("\n")
    assert line[carets.index("^") : carets.rindex("^") + 1] == "ALL"


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("scope: na", "scope: [wg, dv, all]"),
        ("scope: dv, remote: true", "scope: [na, dv], remote: false"),
        ("scope: dv, order: relaxed", "scope: dv"),
        ("scope: dv, order: seq_cst", "scope: dv, remote: false"),
        ("scope: dv, order: acquire", "scope: [dv], remote: false, order: relaxed"),
    ],
)
def test_rows_that_match_different_operations_may_stand_together(first, second):
    rows = [f"op: load, {fields}, code: [LD r x]" for fields in (first, second)]
    assert len(read_scheme(Source("s.yaml", table(*rows))).rows) == 2


def test_no_more_problems_are_reported_than_anyone_reads():
    problems = problems_of(table(*[f"op: nop{i}, scope: dv, code: [LD r x]" for i in range(150)]))
    assert len(problems) == 101
    assert problems[-1].message == "50 more problems from here on"


def test_block_style_and_quotes_read_as_flow_style_does():
    text = """\
name: 's'
source: "a paper"
machine: rsp-st-waits
note: free text
rows:
  - op: rmw
    scope: [Na, "DV"]
    remote: true
    note: why
    code:
      - 'LK_rmw DV'
      - INC_L2  r x n
"""
    scheme = read_scheme(Source("s.yaml", text))
    (row,) = scheme.rows
    assert (scheme.name, scheme.origin, scheme.note) == ("s", "a paper", "free text")
    assert (scheme.machine.name, row.note) == ("rsp-st-waits", "why")
    assert scheme.machine.instructions["ST"].conditions
    assert (str(row), list(map(str, row.code))) == (
        "rmw na, rmw DV,R",
        ["LK_rmw DV", "INC_L2 r x"],
    )
    assert (row.span.end_line, row.span.end_column) == (12, 22)


def test_the_instruction_set_is_that_of_the_named_machine():
    plain, waits = (
        read_scheme(Source("s.yaml", f"machine: {name}\n" + code("ST r x", op="store")))
        for name in ("rsp", "rsp-st-waits")
    )
    assert not plain.rows[0].code[0].mnemonic.conditions
    assert waits.rows[0].code[0].mnemonic.conditions
    assert read_scheme(Source("s.yaml", table(ROW))).machine.name == "rsp"


def test_a_file_that_is_missing_too_large_or_binary_is_refused(tmp_path: Path):
    large, binary = tmp_path / "large.yaml", tmp_path / "binary.yaml"
    large.write_bytes(b"#" * 10_000_000)
    binary.write_bytes(b"\xff\xfe\x00name")
    for path, message in [
        (tmp_path / "none.yaml", r"none\.yaml: no such file$"),
        (large, r"large\.yaml: must have at most 100,000 bytes, not 10,000,000$"),
        (binary, r"binary\.yaml: must be UTF-8 text, not binary"),
    ]:
        with pytest.raises(InputError) as caught:
            read_scheme_file(path)
        assert re.search(message, caught.value.problems[0].message)
