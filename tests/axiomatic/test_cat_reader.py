"""What is said of .cat files that are wrong, or right and beyond what we read.

Each row is a text and all that must be said of it.
"""

import re
from pathlib import Path

import pytest

from rspverify.axiomatic.cat import load_model, read_model
from rspverify.axiomatic.catalogue import shipped_models
from rspverify.axiomatic.model import MemoryModel
from rspverify.source import MAX_BYTES, InputError, Problem, Severity, Source

MODEL = "let hb = sb\nacyclic hb as Hb\n"
"""A model that is complete; a line 3 may follow."""


HERE = "a .cat file must have here"


def problems(text: str) -> tuple[Problem, ...]:
    with pytest.raises(InputError) as caught:
        read_model(Source("t.cat", text), "t")
    return caught.value.problems


def said(found: tuple[Problem, ...]) -> list[str]:
    """Place, message and hint of every problem."""
    return [
        (f"{each.span}: " if each.span else "")
        + each.message
        + (f" ({each.hint})" if each.hint else "")
        for each in found
    ]


def read(text: str) -> MemoryModel:
    return read_model(Source("t.cat", text), "t")


def test_the_caret_is_under_what_is_wrong() -> None:
    with pytest.raises(InputError) as caught:
        read(MODEL + "let x = rf | hb; [rf]; nam  // end")
    assert str(caught.value) == (
        "t.cat:3:18: the inside of [ ] must be a set, not a relation\n"
        "    let x = rf | hb; [rf]; nam  // end\n"
        "                     ^^^^\n"
        "t.cat:3:24: nam must be a base name or defined above\n"
        "    let x = rf | hb; [rf]; nam  // end\n"
        "                           ^^^\n"
        "  hint: did you mean na?"
    )


def test_empty_may_have_a_set() -> None:
    model = read(MODEL + "empty SC as Sc\nundefined_unless empty R & I as I")
    assert [str(each) for each in model.axioms] == ["acyclic hb as Hb", "empty SC as Sc"]
    assert [str(each) for each in model.conditions] == ["empty R & I as I"]


# ---- what we do not read -------------------------------------------------------------------------


def test_a_mistake_weighs_more_than_what_is_unsupported() -> None:
    with pytest.raises(InputError) as caught:
        read(MODEL + "debug hb\nlet x = mistake1")
    assert caught.value.severity is Severity.ERROR
    assert len(caught.value.problems) == 2


# ---- axioms and the model as a whole -------------------------------------------------------------


@pytest.mark.parametrize(
    ("line", "column"),
    [
        ("empty rf as Hb", 13),
        ("undefined_unless empty rf as Hb", 30),
        ("acyclic hb as Hb", 15),
        ("flag ~empty rf as Hb", 19),
    ],
)
def test_names_of_axioms_are_unique(line: str, column: int) -> None:
    """c11_base.cat of herd has two axioms with the name NaRf."""
    model = read(MODEL + line)
    assert [each.name for each in model.statements] == ["hb", "Hb", "Hb@3"]
    assert model.notes == (f"t.cat:3:{column}: the name Hb is taken, this axiom is called Hb@3",)


def test_axioms_without_a_name_are_called_after_their_place(tmp_path: Path) -> None:
    (tmp_path / "inner.cat").write_text("let hb = sb\nacyclic hb empty rf empty mo\nempty rf;rf")
    path = tmp_path / "m.cat"
    path.write_text('include "inner.cat"\nempty hb empty hb\nempty hb\nempty rf as empty@5')
    with pytest.raises(InputError):  # A name has no @.
        load_model(str(path))
    path.write_text('include "inner.cat"\nempty hb empty hb\nempty hb\nflag ~empty rf')
    model = load_model(str(path))
    assert [each.name for each in model.statements] == [
        "hb",
        "acyclic@2",
        "empty@2",
        "empty@inner:2",
        "empty@3",
        "empty@m:2",
        "empty@m:2:10",
        "empty@m:3",
        "empty@4",
    ]
    assert model.notes == ()


@pytest.mark.parametrize("text", ["", "\n\n", "let hb = sb"])
def test_a_model_has_axioms(text: str) -> None:
    assert said(problems(text)) == [
        "t.cat:1:1: a model must have at least one axiom (e.g. acyclic hb as Hb)"
    ]


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("", ()),
        ("let hb = sb", ("hb",)),
        ("let hb = W", ()),
        ("let ghb = sb let lhb = po", ("ghb", "lhb")),
        ("let lhb = po", ("lhb",)),
        ("let ghb = W let lhb = po", ("lhb",)),
        ("let ghb = sb let lhb = po let rec hb = sb | hb", ("hb",)),
    ],
)
def test_happens_before(text: str, names: tuple[str, ...]) -> None:
    assert read(f"{text}\nacyclic sb as Sb").happens_before == names


@pytest.mark.parametrize(
    "text",
    [
        f'"a title"\n{MODEL}',
        f'RSP "a title"\n{MODEL}',
        f"RSP\n{MODEL}",
        f"C RC11\n{MODEL}",
        f'"C++11" withinit withco withoutsc\n{MODEL}',
        f"OpenCL\nwithoutsc withoutco\n{MODEL}",
        f"\n\n(* first *)  {MODEL}",
        f"{MODEL}//",
        MODEL.replace("\n", " "),
        MODEL.replace("\n", "\r\n"),
        MODEL.replace(" ", "\t\n"),
    ],
)
def test_titles_and_white_space(text: str) -> None:
    model = read(text)
    assert [str(each) for each in model.axioms] == ["acyclic hb as Hb"]
    assert model.names == {"sb"}
    assert model.conditions == ()


def test_statements_stay_in_order() -> None:
    text = (
        MODEL + "let a = rf and b = mo\nundefined_unless empty a as C\nlet a = a; b\nempty a as A"
    )
    model = read(text)
    assert [each.name for each in model.statements] == ["hb", "Hb", "a and b", "C", "a", "A"]
    assert [each.name for each in model.axioms] == ["Hb", "A"]
    assert [each.name for each in model.conditions] == ["C"]
    assert model.names == {"sb", "rf", "mo"}


# ---- comments ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "comment",
    [
        "(**)",
        "(***)",
        "(* ** *)",
        "(* a * b *)",
        "(* ( ) ) ( *)",
        "(* let rec // *)",
        "(* two\nlines *)",
        '(* "a string *)',
        "// let rec (* \n",
        "//\n",
    ],
)
def test_comments(comment: str) -> None:
    model = read(f"{comment}let{comment} hb {comment}={comment}sb{comment}\nacyclic hb as Hb")
    assert [str(each) for each in model.axioms] == ["acyclic hb as Hb"]


def test_two_comments_are_not_one() -> None:
    model = read(f"(* a *) {MODEL} (* b *) let x = rf (* c *)")
    assert [each.name for each in model.statements] == ["hb", "Hb", "x"]


def test_comments_nest() -> None:
    model = read(f"(* (* inner *) let outer = rf *)\n{MODEL}")
    assert [each.name for each in model.statements] == ["hb", "Hb"]


@pytest.mark.parametrize("comment", ["(* all *)", "// all\n"])
def test_a_comment_after_the_star_of_a_product(comment: str) -> None:
    assert str(read(f"{MODEL}empty R * {comment} W as X").axioms[-1]) == "empty R * W as X"


# ---- syntax --------------------------------------------------------------------------------------


@pytest.mark.parametrize("text", ["let x = ", "let x = \n"])
def test_the_end_of_a_file_is_shown_at_its_last_line(text: str) -> None:
    (problem,) = problems(MODEL + text)
    assert problem.message.endswith(", not the end of the file")
    assert f"{problem.span}" == "t.cat:3:9"


def test_a_syntax_mistake_shows_its_line() -> None:
    with pytest.raises(InputError) as caught:
        read("let hb = sb &\n  & rf\n")
    assert str(caught.value) == (
        f"t.cat:2:3: {HERE} a statement (`let x = …`, `acyclic x as X`) or the rest of its "
        "expression, not &\n"
        "      & rf\n"
        "      ^"
    )


# ---- nesting and size ----------------------------------------------------------------------------

CHAINS = [(f"rf {operator} ", "") for operator in ("|", "&", ";", "\\")]


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("[", "]"),
        ("~", ""),
        ("domain(", ")"),
        ("let x = ", " in x"),
        ("ext ((", "))"),
        ("(rf; ", ")"),
        ("", "?"),
        ("(", ")^-1"),
        ("~(rf | ", ")"),
        *CHAINS,
    ],
)
@pytest.mark.parametrize("depth", [500, 5_000])
def test_nesting_has_a_bound(before: str, after: str, depth: int) -> None:
    found = problems(f"{MODEL}let x = {before * depth}rf{after * depth}")
    assert {each.message for each in found} == {"an expression must be at most 150 operators deep"}
    assert str(found[0].span).startswith("t.cat:3:")


@pytest.mark.parametrize(("before", "after"), [("~", ""), ("(rf; ", ")"), ("", "?"), ("", "^-1")])
def test_nesting_has_the_bound_that_it_says(before: str, after: str) -> None:
    problems(f"{MODEL}let x = {before * 151}rf{after * 151}")


@pytest.mark.parametrize("depth", [200, 5_000])
def test_brackets_are_no_operators(depth: int) -> None:
    model = read(f"{MODEL}let x = {'(' * depth}rf{')' * depth}")
    assert str(model.definition("x")) == "rf"


@pytest.mark.parametrize(
    ("before", "after"), [("(", ")"), ("~", ""), ("(rf; ", ")"), ("", "?"), ("(", ")^-1"), *CHAINS]
)
def test_nesting_up_to_the_bound_is_read(before: str, after: str) -> None:
    model = read(f"{MODEL}let x = {before * 140}rf{after * 140}")
    assert model.statements[-1].name == "x"


def test_a_long_file() -> None:
    lines = [f"let x{i} = {f'x{i - 1}' if i else 'rf'} | sb" for i in range(2_000)]
    model = read(MODEL + "\n".join(lines) + "\nacyclic x1999 as Long")
    assert len(model.statements) == 2_003


# ---- files ---------------------------------------------------------------------------------------


def refused(path: Path) -> list[str]:
    with pytest.raises(InputError) as caught:
        load_model(str(path))
    return said(caught.value.problems)


def test_a_file_is_a_model_named_after_it(tmp_path: Path) -> None:
    path = tmp_path / "my-model.cat"
    path.write_text(MODEL)
    assert load_model(str(path)).name == "my-model.cat"


def test_a_byte_order_mark_is_no_mistake(tmp_path: Path) -> None:
    path = tmp_path / "m.cat"
    path.write_bytes(b"\xef\xbb\xbf" + MODEL.replace("\n", "\r\n").encode())
    assert load_model(str(path)).axioms


def test_files_that_cannot_be_read(tmp_path: Path) -> None:
    path = tmp_path / "m.cat"
    assert refused(path) == [f"{path}: no such file (check the path)"]
    path.write_bytes(b"let hb = sb \xff\xfe")
    assert refused(path) == [f"{path}: must be UTF-8 text, not binary (byte 12 is not UTF-8)"]
    path.write_bytes(MODEL.encode() + b"\0")
    assert refused(path) == [f"{path}: must be text, not binary (it has a NUL byte)"]
    path.write_bytes(b" " * (MAX_BYTES + 1))
    assert refused(path) == [
        f"{path}: must have at most 1,000,000 bytes, not 1,000,001 "
        "(split the file, or check that it is the right one)"
    ]
    folder = tmp_path / "folder.cat"
    folder.mkdir()
    assert refused(folder) == [f"{folder}: must be a file, not a folder"]


SHIPPED = ", ".join(shipped_models())


@pytest.mark.parametrize(
    ("name", "hint"),
    [
        ("opencl-rps", " (did you mean opencl-rsp?)"),
        ("hrf", ""),
        ("opencl-hb-common", ""),
        ("", None),
        ("qqq", ""),
    ],
)
def test_models_that_are_not_shipped(name: str, hint: str | None) -> None:
    with pytest.raises(InputError) as caught:
        load_model(name)
    if hint is not None:
        (found,) = said(caught.value.problems)
        message = f"the model must be one of {SHIPPED} or a .cat file, not {name}"
        assert found.startswith(message)
        assert found.endswith(hint)


# ---- include -------------------------------------------------------------------------------------


INCLUDES = Path(__file__).with_name("includes.txt").read_text().split("\n== ")[1:]


@pytest.mark.parametrize("entry", INCLUDES, ids=lambda entry: entry.partition("\n")[0])
def test_models_of_several_files(entry: str, tmp_path: Path) -> None:
    expected: list[str] = []
    for name, text in re.findall(r"^\[(.+)\]\n((?:[^\[].*\n?)*)", entry, re.MULTILINE):
        lines = text.strip().split("\n")
        expected = [it for it in lines if re.match(r"has: |\w+\.cat:\d", it)]
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        path.write_text("\n".join(it for it in lines if it not in expected))
    if expected[0].startswith("has: "):
        names = ", ".join(each.name for each in load_model(str(path)).statements)
        assert [f"has: {names}"] == expected
    else:
        assert refused(path) == [f"{tmp_path}/{each}" for each in expected]


def test_an_included_file_is_no_binary(tmp_path: Path) -> None:
    binary = tmp_path / "a.cat"
    binary.write_bytes(bytes(range(256)))
    path = tmp_path / "m.cat"
    path.write_text(MODEL + 'include "a.cat"')
    (found,) = refused(path)
    assert found == f"{binary}: must be UTF-8 text, not binary (byte 128 is not UTF-8)"


def test_files_that_include_twice_are_so_many_at_most(tmp_path: Path) -> None:
    for each in range(24):
        text = f'include "e{each + 1}.cat"\n' * 2
        (tmp_path / f"e{each}.cat").write_text(f"m{each}\n{text}")
    (tmp_path / "e24.cat").write_text("m24\n")
    with pytest.raises(InputError, match="a model must include at most 63 files"):
        load_model(str(tmp_path / "e0.cat"))


def test_a_link_to_itself_is_no_file(tmp_path: Path) -> None:
    (tmp_path / "l.cat").symlink_to("l.cat")
    with pytest.raises(InputError, match="cannot be read: Too many levels of symbolic links"):
        load_model(str(tmp_path / "l.cat"))


def test_include_of_a_name_that_is_too_long() -> None:
    assert len(problems(f'{MODEL}include "{"a" * 300}"')) == 1


def test_a_recursion_that_is_a_closure_is_read_as_one() -> None:
    def statements(text: str) -> str:
        return str(read_model(Source("m.cat", text), "m").statements)

    closed = statements("let hb = (po | rf)+ acyclic hb as Hb")
    assert statements("let rec hb = po | (hb; hb) | rf acyclic hb as Hb") == closed
    for other in ("po | (hb; hb) | (hb; rf)", "hb; hb", "po | (hb; po)", "po | rf"):
        assert "Rec" in statements(f"let rec hb = {other} acyclic hb as Hb")
