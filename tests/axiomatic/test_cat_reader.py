"""What is said of .cat files that are wrong, or right and beyond what we read.

Each row is a text and all that must be said of it.
"""

from pathlib import Path

import pytest

from rspverify.axiomatic.cat import load_model, read_model
from rspverify.axiomatic.library import shipped_models
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


# ---- names and sorts -----------------------------------------------------------------------------

SEE = "(docs/cat-fragment.md lists the base names)"


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        (
            "let x = hbb | rf",
            ["t.cat:3:9: hbb must be a base name or defined above (did you mean hb?)"],
        ),
        (
            "let x = rf; [ACK]",
            ["t.cat:3:14: ACK must be a base name or defined above (did you mean ACQ?)"],
        ),
        (
            "let x =\n  rf |\n  qwertyuiop",
            [f"t.cat:5:3: qwertyuiop must be a base name or defined above {SEE}"],
        ),
        (
            "let qwx = qwx | rf",
            [f"t.cat:3:11: qwx must be a base name or defined above {SEE}"],
        ),
        (
            "let x = rf and y = xx",
            [f"t.cat:3:20: xx must be a base name or defined above {SEE}"],
        ),
        (
            "acyclic unknown1 as A acyclic unknown2 as B",
            [
                f"t.cat:3:9: unknown1 must be a base name or defined above {SEE}",
                f"t.cat:3:31: unknown2 must be a base name or defined above {SEE}",
            ],
        ),
    ],
)
def test_names_that_are_not_known(line: str, expected: list[str]) -> None:
    assert said(problems(MODEL + line)) == expected


def test_a_name_is_reported_once_and_what_follows_from_it_not_at_all() -> None:
    text = MODEL + "let x = nothing1\nlet y = x | nothing1\nacyclic y as Y\nempty [y] as Z"
    assert said(problems(text)) == [
        f"t.cat:3:9: nothing1 must be a base name or defined above {SEE}"
    ]


def test_bindings_joined_by_and_do_not_see_each_other() -> None:
    assert said(problems(MODEL + "let first = rf and second = first")) == [
        f"t.cat:3:29: first must be a base name or defined above {SEE}"
    ]


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        (
            "let x = rf | R",
            "t.cat:3:9: both sides of | must be of one sort, not a relation and a set",
        ),
        (
            "let x = R & rf",
            "t.cat:3:9: both sides of & must be of one sort, not a set and a relation",
        ),
        (
            "let x = hb | (R \\ rf)",
            "t.cat:3:15: both sides of \\ must be of one sort, not a set and a relation",
        ),
        ("let x = R; rf", "t.cat:3:9: the left side of ; must be a relation, not a set"),
        ("let x = rf; R", "t.cat:3:9: the right side of ; must be a relation, not a set"),
        ("let x = rf * W", "t.cat:3:9: the left side of * must be a set, not a relation"),
        ("let x = W * rf", "t.cat:3:9: the right side of * must be a set, not a relation"),
        ("let x = R * W * W", "t.cat:3:9: the left side of * must be a set, not a relation"),
        ("let x = rf; [rf]", "t.cat:3:13: the inside of [ ] must be a set, not a relation"),
        ("let x = R+", "t.cat:3:9: the operand of + must be a relation, not a set"),
        ("let x = R*", "t.cat:3:9: the operand of * must be a relation, not a set"),
        ("let x = (R & W)?", "t.cat:3:9: the operand of ? must be a relation, not a set"),
        ("let x = R^-1", "t.cat:3:9: the operand of ^-1 must be a relation, not a set"),
        ("acyclic R as X", "t.cat:3:9: acyclic must have a relation, not a set"),
        ("irreflexive R | W as X", "t.cat:3:13: irreflexive must have a relation, not a set"),
    ],
)
def test_sorts(line: str, expected: str) -> None:
    found = problems(MODEL + line)
    # A parenthesis belongs to what it encloses or not: the place is that of either.
    (only,) = said(found)
    message = expected.split(": ", 1)[1]
    assert only.endswith(f": {message}")
    assert found[0].span is not None
    column = int(expected.split(":")[2])
    assert (found[0].span.line, found[0].span.column) in {(3, column), (3, column + 1)}


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

LISTED = "(docs/cat-fragment.md lists what is)"


@pytest.mark.parametrize(
    ("line", "column", "construct"),
    [
        ("let rec f(x) = x", 9, "a recursive function"),
        ("let rec x = y and f(x) = x; rf", 19, "a recursive function"),
        ("let rec x = rf | x when empty x", 1, "let rec … when"),
        ("let x = let rec y = rf in y", 9, "let rec inside an expression"),
        ("let (x, y) = rf", 5, "a let of several names at once"),
        ("let x, y = (rf, rf)", 5, "a let of several names at once"),
        ("let x = (rf, rf)", 9, "a tuple outside the application of a function"),
        ("let x = ()", 9, "a tuple outside the application of a function"),
        ("let f = fun x -> x", 9, "fun"),
        ("let f = fun (x, y) -> x", 9, "fun"),
        ("let x = try rf with 0", 9, "try"),
        ('let x = if "cos-opt" then rf else mo', 9, "if"),
        ("let x = if rf = mo then rf else mo", 9, "if"),
        ("let x = match rf with || {} -> {} || e ++ es -> es end", 9, "match"),
        ("let x = match rf with 'a -> rf || _ -> mo end", 9, "match"),
        ("let x = rf ++ {}", 9, "a set of sets (`++`)"),
        ("let x = {R, W}", 9, "a set of sets (`{…}`)"),
        ("let x = 'tag", 9, "a tag"),
        ("enum orders = 'a || 'b", 1, "enum"),
        ("procedure p(a, b) = acyclic a let c = b end", 1, "procedure"),
        ("procedure p(a) = call q(a) end", 1, "procedure"),
        ("call p(rf)", 1, "call"),
        ("call p(rf, mo) as X", 1, "call"),
        ("forall x in R do acyclic x end", 1, "forall"),
        ('if "a" let x = rf else let x = mo end', 1, "if"),
        ('if not "a" && "b" let x = rf end', 1, "if"),
        ("match x with 'a -> let y = rf || _ -> end", 1, "match"),
        ("debug rf", 1, "debug"),
        ("assert empty rf as X", 1, "assert"),
    ],
)
def test_constructs_that_are_not_supported(line: str, column: int, construct: str) -> None:
    (problem,) = problems(MODEL + line)
    assert said((problem,)) == [
        f"t.cat:3:{column}: {construct} is not supported by this version {LISTED}"
    ]
    assert problem.severity is Severity.UNSUPPORTED


@pytest.mark.parametrize(
    "line",
    [
        "let rec abc(x) = def and def = abc",
        "let (abc, def) = rf",
        "let rec def = rf when empty def",
        "procedure def(x) = acyclic x end",
    ],
)
def test_the_use_of_an_unsupported_name_is_no_further_mistake(line: str) -> None:
    (problem,) = problems(f"{MODEL}{line}\nacyclic def as Def")
    assert problem.severity is Severity.UNSUPPORTED


def test_everything_unsupported_is_named_at_once() -> None:
    text = MODEL + "enum x = 'a\nlet rec f(x) = f\nlet g = try x with 0\nassert empty rf as f\n"
    with pytest.raises(InputError) as caught:
        read(text)
    assert caught.value.severity is Severity.UNSUPPORTED
    assert [each.message.split(" is not supported")[0] for each in caught.value.problems] == [
        "enum",
        "a recursive function",
        "try",
        "assert",
    ]


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


@pytest.mark.parametrize("text", ["", "\n\n", "(* none *)", '"title"', "title", "let hb = sb"])
def test_a_model_has_axioms(text: str) -> None:
    assert said(problems(text)) == [
        "t.cat:1:1: a model must have at least one axiom (e.g. acyclic hb as Hb)"
    ]


def test_conditions_are_no_axioms() -> None:
    assert said(problems("let hb = sb\nundefined_unless empty hb as Dr")) == [
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


@pytest.mark.parametrize("text", ["(* open", "(* open *", "(*", "(*)"])
def test_a_comment_ends(text: str) -> None:
    (problem,) = problems(MODEL + text)
    assert str(problem.span).startswith("t.cat:3:")


# ---- syntax --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "place", "found"),
    [
        ("let = rf", "3:5", "="),
        ("let x rf", "3:9", "the end of the file"),
        ("let x = ", "3:9", "the end of the file"),
        ("let x = \n", "3:9", "the end of the file"),
        ("let x = rf |", "3:13", "the end of the file"),
        ("let x = | rf", "3:9", "|"),
        ("let x = (rf", "3:12", "the end of the file"),
        ("let x = rf)", "3:11", ")"),
        ("let x = [R", "3:11", "the end of the file"),
        ("let x = [R)", "3:11", ")"),
        ("let x = rf ~ R", "3:14", "R"),
        ("let x = [R] sb", "3:13", "sb"),
        ("let x = (rf) (rf)", "3:14", "("),
        ("let in = rf", "3:5", "in"),
        ("let x = f(rf,)", "3:14", ")"),
        ("let f(x,) = x", "3:9", ")"),
        ("with x in rf", "3:8", "in"),
        ("let x = rf^3", "3:11", "^"),
        ("match rf with end", "3:15", "end"),
        ("let x = rf^+1", "3:11", "^"),
        ("let x = 1", "3:9", "1"),
        ("let x = rf @ sb", "3:12", "@"),
        ("acyclic as X", "3:9", "as"),
        ("acyclic hb as", "3:14", "the end of the file"),
        ("acyclic hb as let", "3:15", "let"),
        ("acyclic hb as X, Y", "3:16", ","),
        ("include hb", "3:9", "hb"),
        ("rf", "3:1", "rf"),
        ('include "open', "3:9", '"'),
        ("let x = rf let", "3:15", "the end of the file"),
        ("let x = é", "3:9", "é"),
    ],
)
def test_syntax(text: str, place: str, found: str) -> None:
    (problem,) = problems(MODEL + text)
    assert problem.message.startswith(f"{HERE} a statement (`let x = …`, ")
    assert problem.message.endswith(f", not {found}")
    assert f"{problem.span}" == f"t.cat:{place}"
    assert problem.severity is Severity.ERROR


@pytest.mark.parametrize(
    "line", ["letx = rf", "acyclicx as Y", "acyclic (hb) asY", "let y = [R]\nshowx"]
)
def test_words_are_whole(line: str) -> None:
    (problem,) = problems(f"{MODEL}let x = rf\n{line}")
    assert problem.message.startswith((HERE, "a statement must begin with a word such as "))


@pytest.mark.parametrize(
    ("text", "place"),
    [
        ('"m"\nacylic po | rf as Sc', "2:1"),
        ('"m"\nempty rf as X\nlet x = rf\n  acylic po | rf as Sc\nlet y = rf', "4:3"),
        ('"m"\nacylic po\n  | rf as Sc', "2:1"),
    ],
)
def test_a_word_that_is_misspelt_is_shown_and_not_what_comes_after(text: str, place: str) -> None:
    (problem,) = problems(text)
    assert problem.message == "a statement must begin with a word such as acyclic, not acylic"
    assert problem.hint == "did you mean acyclic?"
    assert f"{problem.span}" == f"t.cat:{place}"


def test_a_mistake_of_a_later_statement_is_no_misspelling() -> None:
    """`emptyy` is a name here, and `incl` is no word that is misspelt."""
    for text in ("let emptyy = rf\nlet x = | rf", "let x = incl\n  | incl as X"):
        (problem,) = problems(MODEL + text)
        assert problem.message.startswith(HERE)


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


@pytest.mark.parametrize("operator", ["|", "&", ";", "\\"])
def test_chains_are_no_nesting(operator: str) -> None:
    model = read(f"{MODEL}let x = {operator.join(['rf'] * 100)}")
    assert model.statements[-1].name == "x"


@pytest.mark.parametrize("operator", ["|", "&", ";", "\\"])
def test_long_chains(operator: str) -> None:
    text = f"{MODEL}let x = {operator.join(['rf'] * 3_000)}"
    try:
        read(text)
    except InputError as error:
        assert error.problems


@pytest.mark.parametrize(
    ("before", "after"), [("(", ")"), ("~", ""), ("(rf; ", ")"), ("", "?"), ("(", ")^-1")]
)
def test_nesting_up_to_the_bound_is_read(before: str, after: str) -> None:
    model = read(f"{MODEL}let x = {before * 59}rf{after * 59}")
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


def test_include_beside_the_file_comes_first(tmp_path: Path) -> None:
    (tmp_path / "opencl-hb-common.cat").write_text("let hb = sb\nacyclic hb as Mine")
    path = tmp_path / "m.cat"
    path.write_text('include "opencl-hb-common.cat"\nempty hb \\ hb as Last')
    assert [each.name for each in load_model(str(path)).axioms] == ["Mine", "Last"]


def test_include_of_what_is_shipped(tmp_path: Path) -> None:
    path = tmp_path / "m.cat"
    path.write_text('let hb = (sb | rf)+\ninclude "opencl-axioms-common.cat"')
    model = load_model(str(path))
    assert [each.name for each in model.axioms] == ["Hb", "Coh", "Rf", "Narf", "Rmw"]


def test_include_in_include_is_relative_to_the_inner_file(tmp_path: Path) -> None:
    inner = tmp_path / "inner"
    inner.mkdir()
    (inner / "a.cat").write_text('include "b.cat"\nlet a = b')
    (inner / "b.cat").write_text('"with a title"\nlet b = sb')
    path = tmp_path / "m.cat"
    path.write_text('include "inner/a.cat"\nlet hb = a | b\nacyclic hb as Hb')
    assert [each.name for each in load_model(str(path)).statements] == ["b", "a", "hb", "Hb"]


def test_a_mistake_in_an_included_file_is_placed_there(tmp_path: Path) -> None:
    (tmp_path / "a.cat").write_text("let a = sb\nlet b = mistake1")
    path = tmp_path / "m.cat"
    path.write_text('include "a.cat"\nlet hb = a | b\nacyclic hb as Hb')
    inner = tmp_path / "a.cat"
    assert refused(path) == [f"{inner}:2:9: mistake1 must be a base name or defined above {SEE}"]


def test_a_syntax_mistake_in_an_included_file_does_not_hide_others(tmp_path: Path) -> None:
    (tmp_path / "a.cat").write_text("let a = ;")
    path = tmp_path / "m.cat"
    path.write_text('include "a.cat"\nlet hb = sb | mistake1\nacyclic hb as Hb')
    found = refused(path)
    assert found[0].startswith(f"{tmp_path / 'a.cat'}:1:9: {HERE}")
    assert found[1:] == [f"{path}:2:15: mistake1 must be a base name or defined above {SEE}"]


@pytest.mark.parametrize("name", ["missing.cat", "", ".", "../missing.cat", "models"])
def test_include_of_what_is_missing(name: str) -> None:
    assert said(problems(MODEL + f'include "{name}"')) == [
        f't.cat:3:1: the included file must exist beside this one or among the models, not "{name}"'
    ]


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


def test_a_file_must_not_include_itself(tmp_path: Path) -> None:
    path = tmp_path / "m.cat"
    path.write_text(MODEL + 'include "m.cat"')
    assert refused(path) == [f'{path}:3:1: "m.cat" must not include itself']


def test_files_must_not_include_each_other(tmp_path: Path) -> None:
    for name, other in (("a", "b"), ("b", "c"), ("c", "a")):
        (tmp_path / f"{name}.cat").write_text(f'include "{other}.cat"\n')
    path = tmp_path / "m.cat"
    path.write_text(MODEL + 'include "a.cat"')
    assert refused(path) == [f'{tmp_path / "c.cat"}:1:1: "a.cat" must not include itself']


def test_a_file_and_what_it_includes_must_not_include_each_other(tmp_path: Path) -> None:
    path = tmp_path / "m.cat"
    path.write_text(MODEL + 'include "b.cat"')
    other = tmp_path / "b.cat"
    other.write_text('let b = hb\ninclude "m.cat"')
    assert refused(path) == [f'{other}:2:1: "m.cat" must not include itself']


def test_include_of_a_name_that_is_too_long() -> None:
    assert len(problems(f'{MODEL}include "{"a" * 300}"')) == 1


def test_a_file_may_be_included_twice_if_it_only_defines(tmp_path: Path) -> None:
    (tmp_path / "a.cat").write_text("let a = sb\n")
    path = tmp_path / "m.cat"
    path.write_text('include "a.cat"\ninclude "a.cat"\nlet hb = a\nacyclic hb as Hb')
    assert [each.name for each in load_model(str(path)).statements] == ["a", "a", "hb", "Hb"]
