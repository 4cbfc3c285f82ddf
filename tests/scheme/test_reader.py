"""Every mistake in a scheme: its words, and its place, which « and » mark in the examples."""

import re
from pathlib import Path

import pytest

from rspverify.scheme.reader import read_scheme, read_scheme_file
from rspverify.source import InputError, Problem, Source

ROW = "op: load, scope: dv, code: [LD r x]"


def table(*rows: str) -> str:
    return "name: s\nrows:\n" + "".join(f"  - {{{row}}}\n" for row in rows)


def code(*instructions: str, op: str = "load") -> str:
    return table(f"op: {op}, scope: dv, code: [{', '.join(instructions)}]")


def problems_of(text: str) -> tuple[Problem, ...]:
    with pytest.raises(InputError) as caught:
        read_scheme(Source("s.yaml", text))
    return caught.value.problems


def marked(text: str) -> tuple[str, int, int]:
    """A text without its first « and », and the line and column of what is between them."""
    before, _, rest = text.partition("«")
    lines = before.split("\n")
    return before + rest.replace("»", "", 1), len(lines), len(lines[-1]) + 1


MISTAKES = [
    # the file
    ("«- a»\n", r"^a scheme must be a mapping with the keys name, rows, not a list$"),
    ("--- \n«»", r"^a scheme must be a mapping with the keys name, rows, not nothing$"),
    ("«»", r"^the file must be a mapping, not empty$"),
    ("«»# only a comment\n", r"^the file must be a mapping, not empty$"),
    (table(ROW) + "«---»\na: b\n", r"^the file must be one YAML document, not several$"),
    ("name: s\n«\t»rows: []\n", r"^indentation must be spaces, not a tab$"),
    ("name: «\x07»\n", r"^the file must be printable text, not have the character U\+0007$"),
    ("name: [a\n«»", r"^the file must be YAML: while parsing a flow sequence expected ',' or ']'"),
    ("name: a«:» b\n", r"^the file must be YAML: mapping values are not allowed here$"),
    ('name: "\\U«F»FFFFFFF"\n', r"^the file must be YAML: a number is too large$"),
    ("a: " + "[" * 9 + "«[»" + "]" * 10, r"^nesting must be at most 10 deep, not deeper$"),
    (table("op: «!!str load», scope: na, code: [LD r x]"), r"^a value must have no tag, not one"),
    (table(ROW) + 'note: «"\\x1b[31m"»\n', r"^text must be printable, not escapes of control"),
    # keys
    ("«rows»:\n  - {" + ROW + "}\n", r"^a scheme must have the key name$"),
    ("name: s\n«row»: []\nrows: [{" + ROW + "}]", r"^a key of a scheme must be .*, not 'row'$"),
    ("«name»: s\n", r"^a scheme must have the key rows$"),
    (table("«scop»: na, " + ROW), r"^a key of a row must be op, scope, .* or note, not 'scop'$"),
    (table(ROW + ", «op»: store"), r"^the key 'op' must be given once, not twice$"),
    (table(ROW + ", «[a, b]»: c"), r"^a key must be a word, not a list or a mapping$"),
    (table("«{op: load, scope: na}»").replace("{«{", "«{").replace("}»}", "}»"),
     r"^a row must have the key code$"),
    (table("«{note: a}»").replace("{«{", "«{").replace("}»}", "}»"),
     r"^a row must have the keys op, scope, code$"),
    ("name: s\nrows:\n  - «load»\n", r"^a row must be a mapping with the keys .*, not 'load'$"),
    # values of the file
    (table(ROW).replace("s\n", "«two words»\n", 1), r"^name must be a word, not 'two words'$"),
    (table(ROW).replace("name: s", "name:«»"), r"^name must be a word, not nothing$"),
    (table(ROW).replace("s\n", "«''»\n", 1), r"^name must be a word, not ''$"),
    (table(ROW) + "machine: «rps»\n", r"^machine must be .*rsp, .* or a .machine file, not 'rps'$"),
    (table(ROW) + "source: «[a]»\n", r"^source must be text, not a list$"),
    (table(ROW) + "note:«»\n", r"^note must be text, not nothing$"),
    ("name: s\nrows: «[]»\n", r"^rows must be a list of rows, not an empty list$"),
    ("name: s\nrows: «{a: b}»\n", r"^rows must be a list of rows, not a mapping$"),
    # values of a row
    (table("op: «Load», scope: na, code: [LD r x]"), r"^op must be load, store, rmw, cas or fence, not 'Loa"),
    (table("op: «[load, rmw]», scope: na, code: [LD r x]"), r"^op must be .*, not a list$"),
    (table("op: load, scope: «device», code: [LD r x]"),
     r"^scope must be na, wi, sg, wg, dv or all, not 'device'$"),
    (table("op: load, scope: «[]», code: [LD r x]"),
     r"^scope must be na, wi, sg, wg, dv or all, or a list of these, not an empty list$"),
    (table("op: load, scope: [wg, «sy»], code: [LD r x]"), r"^scope must be .*, not 'sy'$"),
    (table("op: load, scope: [wg, «WG»], code: [LD r x]"), r"^scope must name wg once, not twice$"),
    (table("remote: «yes», " + ROW), r"^remote must be true or false, not 'yes'$"),
    (table("memory: «shared», " + ROW), r"^memory must be global or local, not 'shared'$"),
    (table("memory: «local», " + ROW),
     r"^memory must be global on machine rsp, which has no local memory$"),
    (table("memory: [global, «local»], op: fence, scope: wg, code: []"),
     r"^memory must be global on machine rsp, which has no local memory$"),
    (table("memory: «[]», " + ROW), r"^memory must be global or local, or a list of these, not an"),
    (table("result: «thrown», op: rmw, scope: wg, code: [RMW_L1 r x]"),
     r"^result must be used or unused, not 'thrown'$"),
    (table("result: «unused», " + ROW), r"^result must be left out of a row for a load$"),
    (table("op: load, scope: na, remote: «true», code: [LD r x]"),
     r"^remote must be left out of a row for non-atomic operations alone$"),
    (table("op: load, scope: [na], order: «acquire», code: [LD r x]"),
     r"^order must be left out of a row for non-atomic operations alone$"),
    (table("order: «release», " + ROW),
     r"^the order of a load must be relaxed, acquire or seq_cst, not 'release'$"),
    (table("op: store, scope: dv, order: [relaxed, «acq_rel»], code: [ST r x]"),
     r"^the order of a store must be relaxed, release or seq_cst, not 'acq_rel'$"),
    (table("order: «acq», " + ROW), r"^the order of a load must be .*, not 'acq'$"),
    (table("note: «[]», " + ROW), r"^note must be text, not an empty list$"),
    (table("op: load, scope: na, code: «LD r x»"),
     r"^code must be a list of instructions, not 'LD r x'$"),
    (table("op: load, scope: na, code: «[]»"),
     r"^code must be a list of instructions, not an empty list$"),
    # instructions
    (code("LD r x", "«FLUSH_L1» DV"), r"^an instruction must be one of LD, .* or UL_rmw, not 'F"),
    (code("LD r x", "«LK_RMW» DV"), r"^an instruction must be one of LD, .*, not 'LK_RMW'$"),
    (code("LD r x", "'«FLUSH_L1» DV'"), r"^an instruction must be one of LD, .*, not 'FLUSH_L1'$"),
    (code("LD r x", '«"FLUSH_L1\\x20DV"»'), r"^an instruction must be one of LD, .*, not 'FLUSH_"),
    (code("LD r x", "«FLUSH_L1\n     DV»"), r"^an instruction must be one of LD, .*, not 'FLUSH_"),
    (code("LD r x", "«[INV_L1 WG]»"), r"^an instruction must be text such as .*, not a list$"),
    (code("LD r x", "«''»"), r"^an instruction must be text such as 'LD r x', not ''$"),
    (code("«LD»"), r"^LD must have 2 operands, not 0$"),
    (code("«LD r»"), r"^LD must have 2 operands, not 1$"),
    (code("LD r x «y» z"), r"^LD must have 2 operands, not 4$"),
    (code("LD r x", "«INV_L1»"), r"^INV_L1 must have 1 operand, not 0$"),
    (code("LD r x", "INV_L1 WG «x»"), r"^INV_L1 must have 1 operand, not 2$"),
    (code("INC_L1 r x n «n»", op="rmw"), r"^INC_L1 must have 2 operands, not 4$"),
    (code("LD «x» r"), r"^the register of LD must be r, not 'x'$"),
    (code("LD r «y»"), r"^the location of LD must be x, not 'y'$"),
    (code("LK_L2 «DV»", "LD r x"), r"^the location of LK_L2 must be x, not 'DV'$"),
    (code("LD r x", "INV_L1   «ALL»"), r"^the reach of INV_L1 must be WG, DV or SY, not 'ALL'$"),
    (code("LD r x", "FLU_L2 «WG»"), r"^the reach of FLU_L2 must be DV or SY, not 'WG'$"),
    (code("LD r x", '"INV_L1 «dv»"'), r"^the reach of INV_L1 must be WG, DV or SY, not 'dv'$"),
    (code("INC_L1 r x «1»", op="rmw"),
     r"^the increment of INC_L1 must be n, the operation's own operand, not '1'$"),
    # the one access
    (table("op: load, scope: dv, code: «[INV_L1 WG]»"),
     r"^the code of a load must have exactly one instruction that reads into r \(LD\) "
     r"and no other access, not none$"),
    (code("LD r x", "«LD r x»"), r"^the code of a load must have .*, not LD and LD$"),
    (code("LD r x", "«ST r x»"), r"^the code of a load must have .*, not LD and ST$"),
    (code("«ST r x»"), r"^the code of a load must have .*, not ST$"),
    (code("«INC_L2 r x»"), r"^the code of a load must have .*, not INC_L2$"),
    (code("«LD r x»", op="store"),
     r"^the code of a store must have at least one instruction that writes r \(ST\) .*, not LD$"),
    (code("ST r x", "«LD r x»", "ST r x", op="store"),
     r"^the code of a store must have at least .* and no other access, not ST and LD and ST$"),
    (code("«ST r x»", "INC_L2 r x", op="rmw"),
     r"^the code of an rmw must have exactly one instruction .*, not ST and INC_L2$"),
    (code("INC_L2 r x", "«INC_L2 r x»", "ST r x", op="rmw"),
     r"^the code of an rmw must have .*, not INC_L2 and INC_L2 and ST$"),
    (code("«LD r x»", "ST r x", op="rmw"),
     r"^the code of an rmw must have exactly one instruction that reads into r and writes "
     r"\(INC_L1, INC_L2, RMW_L1 or RMW_L2\) and no other access, not LD and ST$"),
    (code("«INC_L2 r x»", op="cas"),
     r"^the code of a cas must have exactly one instruction that reads into r and writes whatever "
     r"it is given \(RMW_L1 or RMW_L2\) and no other access, not INC_L2$"),
    (code("RMW_L2 r x «n»", op="rmw"),
     r"^the operation of RMW_L2 must be f, the source operation's own, not 'n'$"),
    # fences
    (table("op: fence, scope: «na», code: []"),
     r"^the scope of a fence must be wi, sg, wg, dv or all, not 'na'$"),
    (table("op: fence, scope: dv, order: «consume», code: []"),
     r"^the order of a fence must be relaxed, acquire, release, acq_rel or seq_cst, not 'consume'"),
    (code("FLU_L1 WG", "«LD r x»", op="fence"),
     r"^the code of a fence must have no location, as fences have none, not LD$"),
    (code("«LK_L2 x»", op="fence"), r"^the code of a fence must have no location, .*, not LK_L2$"),
]  # fmt: skip


@pytest.mark.parametrize(("text", "message"), MISTAKES)
def test_a_mistake_is_named_at_its_place(text, message):
    text, line, column = marked(text)
    (problem,) = problems_of(text)
    assert re.search(message, problem.message), problem.message
    assert (problem.span.line, problem.span.column) == (line, column)
    assert str(problem).startswith(f"s.yaml:{line}:{column}: {problem.message}\n")


@pytest.mark.parametrize(
    ("text", "hint"),
    [
        (code("LD r x", "FLUSH_L1 DV"), r"^did you mean FLU_L1\?$"),
        (code("LD r x", "LK_RMW DV"), r"^did you mean LK_rmw\?$"),
        (code("LD r x", "INV_L1 dv"), r"^did you mean DV\?$"),
        (code("LD r x", "INV_L1 ALL"), r"^SY reaches every device$"),
        (code("LD r x", "FLU_L2"), r"^write FLU_L2 DV or FLU_L2 SY$"),
        (code("LD x r"), r"^write LD r x$"),
        (code("INC_L1 r x 1", op="rmw"), r"^leave it out: INC_L1 r x$"),
        (table("op: Load, scope: na, code: [LD r x]"), r"^did you mean load\?$"),
        (table("order: acq, " + ROW), r"^did you mean acquire\?$"),
        (table("order: release, " + ROW), r"^did you mean acquire\?$"),
        (
            table("order: acq_rel, op: store, scope: wg, code: [ST r x]"),
            r"^did you mean release\?$",
        ),
        (table(ROW).replace("rows", "row"), r"^did you mean rows\?$"),
        (table(ROW) + "machine: rsp_st_waits\n", r"^did you mean rsp-st-waits\?$"),
        (
            table("op: load, scope: na, code: LD r x"),
            r"^one item for each instruction, as in \[LD r x, INV_L1 WG\]$",
        ),
    ],
)
def test_a_hint_says_what_to_do(text, hint):
    assert any(re.search(hint, problem.hint or "") for problem in problems_of(text))


def test_a_caret_stands_under_each_character_of_the_word():
    (problem,) = problems_of(code("LD r x", "INV_L1 ALL"))
    _, line, carets, _ = str(problem).split("\n")
    assert line[carets.index("^") : carets.rindex("^") + 1] == "ALL"


def test_a_syntax_error_names_where_the_unfinished_thing_starts():
    (problem,) = problems_of("name: s\nrows: [a,\n  b\nc: d\n")
    ((span, words),) = problem.related
    assert (str(span), words) == ("s.yaml:2:7", "it starts here")


def test_a_key_given_twice_names_both_places():
    (problem,) = problems_of("name: s\nname: t\nrows: [{" + ROW + "}]")
    assert str(problem.span) == "s.yaml:2:1"
    assert [(str(span), words) for span, words in problem.related] == [
        ("s.yaml:1:1", "given here before")
    ]


@pytest.mark.parametrize(
    ("first", "second", "shape"),
    [
        ("scope: na", "scope: [na, wg]", "load na"),
        ("scope: wg", "scope: [na, wg], remote: true", "load WG,R (acquire)"),
        ("scope: dv, order: acquire", "scope: dv, remote: false", "load DV,N (acquire)"),
        ("scope: dv, order: [acquire, relaxed]", "scope: [dv], remote: false, order: relaxed",
         "load DV,N (relaxed)"),
        ("scope: dv", "scope: dv", "load DV,N (acquire) (and 1 more)"),
    ],
)  # fmt: skip
def test_two_rows_that_match_one_operation_name_both_places(first, second, shape):
    rows = [f"op: load, {fields}, code: [LD r x]" for fields in (first, second)]
    (problem,) = problems_of(table("op: store, scope: dv, code: [ST r x]", *rows))
    assert problem.message == f"{shape} must be matched by one row, not by two"
    assert str(problem.span) == "s.yaml:5:5"
    assert [(str(span), words) for span, words in problem.related] == [
        ("s.yaml:4:5", "row 2 matches it too")
    ]


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


def test_orders_of_which_none_is_the_weaker_must_not_meet():
    """An RMW that is relaxed, where one row is for acquire and one for release."""
    rows = [
        f"op: rmw, scope: dv, order: {each}, code: [RMW_L2 r x]" for each in ("acquire", "release")
    ]
    (problem,) = problems_of(table(*rows))
    assert (
        problem.message == "rmw DV,N (relaxed) (and 1 more) must be matched by one row, not by two"
    )
    assert str(problem.span) == "s.yaml:4:5"
    rows.append("op: rmw, scope: dv, order: relaxed, code: [RMW_L2 r x]")
    assert len(read_scheme(Source("s.yaml", table(*rows))).rows) == 3


@pytest.mark.parametrize(
    ("instruction", "said"),
    [
        (
            "global_load_dword r x glc",
            "global_load_dword must be written global_load_dword r x sc0 sc1, global_load_dword r x "
            "sc0, global_load_dword r x sc1 or global_load_dword r x, not global_load_dword r x glc",
        ),
        (
            "s_waitcnt vmcnt(0) lgkmcnt(0)",
            "s_waitcnt must be written s_waitcnt vmcnt(0) or s_waitcnt lgkmcnt(0), "
            "not s_waitcnt vmcnt(0) lgkmcnt(0)",
        ),
    ],
)
def test_all_ways_to_write_an_instruction_are_named(instruction: str, said: str) -> None:
    (problem,) = problems_of(code(instruction) + "machine: amdgpu-gfx942\n")
    assert (problem.message, problem.hint) == (said, None)


def test_all_mistakes_of_a_file_come_at_once_in_order_of_position():
    text = """\
nam: s
machine: vax
rows:
  - {op: lod, scope: dv, code: [LD r x, INV_L1]}
  - op: store
    scope: dv
    order: acquire
    code:
      - FLU_L1 WG
      - STORE r x
  - {op: load, scope: wg, code: [LD r y]}
  - {op: load, scope: wg, code: [LD r x]}
"""

    def places(text: str) -> list[str]:
        return [f"{problem.span.line}:{problem.span.column}" for problem in problems_of(text)]

    code = ["4:41", "10:9", "11:39", "12:5"]
    assert places(text.replace("vax", "rsp")) == ["1:1", "1:1", "4:10", "4:41", "7:12", *code[1:]]
    assert places(text) == ["1:1", "1:1", "2:10", "4:10", "7:12", "12:5"]  # code of which machine?


def test_no_more_problems_are_reported_than_anyone_reads():
    problems = problems_of(table(*[f"op: nop{i}, scope: dv, code: [LD r x]" for i in range(150)]))
    assert len(problems) == 101
    assert problems[-1].message == "and 50 more problems from here on"


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
