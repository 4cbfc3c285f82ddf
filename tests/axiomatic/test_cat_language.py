"""Names of two sorts, recursion, headers, chosen orders, conditions, and herd's library."""

from pathlib import Path

import pytest

from rspverify.axiomatic.cat import load_model, read_model
from rspverify.axiomatic.library import LIBRARY, model_texts
from rspverify.axiomatic.model import Axiom, Let, LetRec, Linearisation, MemoryModel, Statement
from rspverify.relation.expression import Expression, Name, Nothing, Product, Sort
from rspverify.relation.expression import Test as Question
from rspverify.source import InputError, Problem, Severity, Source

MODEL = "let hb = sb\nacyclic hb as Hb\n"


def read(text: str) -> MemoryModel:
    return read_model(Source("t.cat", MODEL + text), "t")


def meaning(expression: str, before: str = "") -> Expression:
    found = read(f"{before}\nlet it = {expression}").definition("it")
    assert found is not None
    return found


def problems(text: str) -> tuple[Problem, ...]:
    with pytest.raises(InputError) as caught:
        read(text)
    return caught.value.problems


def said(text: str) -> list[str]:
    return [f"{each.span}: {each.message}" for each in problems(text)]


# ---- names of two sorts --------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("expression", "spelled", "names"),
    [
        ("rmw", "rmw", {"rmw"}),
        ("_ * rmw", "_ * RMW", {"_", "RMW"}),
        ("W | F | rmw", "W | F | RMW", {"W", "F", "RMW"}),
        ("rmw | R", "RMW | R", {"RMW", "R"}),
        ("rmw & (R | F | rmw)", "RMW & (R | F | RMW)", {"RMW", "R", "F"}),
        ("[rmw]", "[RMW]", {"RMW"}),
        ("[RMW] | rmw", "[RMW] | rmw", {"RMW", "rmw"}),
        ("rmw^2", "RMW * RMW", {"RMW"}),
        ("(!rmw)^2", "~RMW * ~RMW", {"RMW"}),
        ("!rmw", "~rmw", {"rmw"}),
        ("rf; rmw", "rf; rmw", {"rf", "rmw"}),
        ("rmw & rf", "rmw & rf", {"rmw", "rf"}),
        ("(rmw | rmw); rf", "(rmw | rmw); rf", {"rf", "rmw"}),
        ("[rmw | rmw]", "[RMW | RMW]", {"RMW"}),
        ("rmw+", "rmw+", {"rmw"}),
        ("domain(rmw) | rmw", "domain(rmw) | RMW", {"rmw", "RMW"}),
    ],
)
def test_rmw_is_what_is_wanted(expression: str, spelled: str, names: set[str]) -> None:
    model = read(f"let it = {expression}")
    assert str(model.definition("it")) == spelled
    assert model.names == names | {"sb"}


def test_what_a_function_is_given_may_be_of_two_sorts() -> None:
    model = read("let f(x) = [x]; rf; x let it = f(rmw)")
    assert str(model.definition("it")) == "[RMW]; rf; rmw"


def test_rmw_stays_the_base_set_where_the_model_has_another() -> None:
    model = read("let RMW = R let it = [rmw] & [RMW]")
    assert str(model.definition("it")) == "[RMW@1] & [RMW]"
    assert model.names == {"sb", "R", "RMW"}


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        ("0", Nothing(Sort.RELATION)),
        ("{}", Nothing(Sort.SET)),
        ("0 * {}", Product(Nothing(Sort.SET), Nothing(Sort.SET))),
    ],
)
def test_nothing(expression: str, expected: Expression) -> None:
    assert meaning(expression) == expected


@pytest.mark.parametrize(
    ("expression", "sort"),
    [("0 | R", Sort.SET), ("{} | rf", Sort.RELATION), ("0; {}", Sort.RELATION), ("~{}", Sort.SET)],
)
def test_nothing_is_of_the_sort_that_is_wanted(expression: str, sort: Sort) -> None:
    assert meaning(expression).sort is sort


def test_a_square_is_a_product() -> None:
    assert meaning("(R & W)^2") == meaning("(R & W) * (R & W)")
    assert meaning("~R ^ 2 \\ id") == meaning("~(R^2) \\ id")


# ---- let rec -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("let rec x = rf | (x; mo)", {"x": "rf | x; mo"}),
        ("let rec x = R | range([x]; rf)", {"x": "R | range([x]; rf)"}),
        ("let rec x = y and y = x | rf", {"x": "y", "y": "x | rf"}),
        ("let rec x = domain(y) and y = [x]; rf", {"x": "domain(y)", "y": "[x]; rf"}),
        ("let rec x = x", {"x": "x"}),
        ("let rec x = mo \\ rf | x", {"x": "mo \\ rf | x"}),
        ("let rec x = ~(rf \\ x)", {"x": "~(rf \\ x)"}),
    ],
)
def test_recursion(text: str, expected: dict[str, str]) -> None:
    (statement,) = (each for each in read(text).statements if isinstance(each, LetRec))
    assert {name: str(each) for name, each in statement.definitions} == expected


def test_names_of_a_recursion_are_those_that_it_defines() -> None:
    model = read("let rec rf = mo | rf; rf\nlet it = rf")
    assert model.names == {"sb", "mo"}
    assert model.definition("it") == Name("rf", Sort.RELATION)


# ---- headers, choices ----------------------------------------------------------------------------


@pytest.mark.parametrize("header", ['"OpenCL"\nwithsc', "OpenCL withsc withinit", "withsc"])
def test_a_header_may_ask_for_a_total_order(header: str) -> None:
    model = read_model(Source("t.cat", f"{header}\nlet S = S & po\nacyclic S as Sc"), "t")
    first = model.statements[0]
    assert first == Linearisation("S", False, Name("SC", Sort.SET), Nothing(Sort.RELATION))
    assert model.names == {"SC", "po"}


@pytest.mark.parametrize("header", ["withoutsc", "withco", "withoutco", "withinit"])
def test_other_headers_change_nothing(header: str) -> None:
    assert read_model(Source("t.cat", f"A {header}\n{MODEL}"), "t") == read("")


def test_initial_writes_are_events_whatever_the_header_says() -> None:
    model = read_model(Source("t.cat", f"A withoutinit\n{MODEL}"), "t")
    assert model.notes == ("t.cat:1:3: withoutinit counts for nothing, initial writes are events",)


@pytest.mark.parametrize(
    ("text", "choice"),
    [
        ("generate_orders(W & A, co0)", (True, "W & A", "co0")),
        ("generate_orders (W, 0)", (True, "W", "0")),
        ("generate_cos(rf)", (True, "W", "rf")),
        ("linearisations(SC, hb)", (False, "SC", "hb")),
        ("linearisations(0, 0)", (False, "{}", "0")),
        ("linearisations(rmw, rmw)", (False, "RMW", "rmw")),
    ],
)
def test_choices(text: str, choice: tuple[bool, str, str]) -> None:
    model = read(f"with S from {text}\nacyclic S; po as Sc")
    (found,) = (each for each in model.statements if isinstance(each, Linearisation))
    assert (found.name, found.per_location, str(found.events), str(found.order)) == ("S", *choice)
    assert model.chooses


# ---- axioms and conditions -----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "test", "negated", "condition"),
    [
        ("empty rf as X", Question.EMPTY, False, False),
        ("~empty rf as X", Question.EMPTY, True, False),
        ("~ acyclic rf as X", Question.ACYCLIC, True, False),
        ("undefined_unless empty rf as X", Question.EMPTY, False, True),
        ("undefined_unless acyclic rf as X", Question.ACYCLIC, False, True),
        ("flag ~empty rf as X", Question.EMPTY, False, True),
        ("flag ~irreflexive rf as X", Question.IRREFLEXIVE, False, True),
        ("flag ~acyclic rf as X", Question.ACYCLIC, False, True),
    ],
)
def test_what_must_hold(text: str, test: Question, negated: bool, condition: bool) -> None:
    model = read(text)
    found = Axiom("X", test, Name("rf", Sort.RELATION), negated, text.startswith("flag"))
    assert model.statements[-1] == found
    assert (model.conditions if condition else model.axioms[1:]) == (found,)
    assert str(found) == f"{'~' * negated}{test.value} rf as X"


def test_show_counts_for_nothing() -> None:
    model = read("show hb, nowhere\nshow hb \\ (sb & rf) as hb\nlet x = rf unshow x\nempty x as X")
    assert [each.name for each in model.statements] == ["hb", "Hb", "x", "X"]
    assert model.notes == ("t.cat: show and unshow count for nothing (lines 3, 4, 5)",)


# ---- herd's library ------------------------------------------------------------------------------

COS = """"Generate co's"
if "cos-opt"
  include "cos-ok-opt.cat"
else
  include "cos-no-opt.cat"
end
let ca = fr | co
"""
CROSS = """Cross
let co_locs (pco,wss) =
  let rec do_locs wss = match wss with
  || {} -> {}
  || ws ++ wss -> linearisations(ws,pco) ++ do_locs(wss)
  end in do_locs(wss)
let generate_orders(s,pco) = cross (co_locs (pco,partition s))
"""


def library(name: str) -> list[Statement]:
    text = f'include "{name}"\nacyclic po as Po\n'
    return list(read_model(Source("nowhere/t.cat", text), "t").statements)


@pytest.mark.parametrize("path", sorted(LIBRARY.glob("*.cat")), ids=lambda path: path.stem)
def test_the_library_is_there_and_costs_nothing(path: Path) -> None:
    assert [each.name for each in library(path.name)] == ["Po"]


def test_a_library_file_beside_the_model_comes_first(tmp_path: Path) -> None:
    (tmp_path / "cos.cat").write_text("let ca = mo")
    path = tmp_path / "m.cat"
    path.write_text('include "cos.cat"\nacyclic ca as Ca')
    model = load_model(str(path))
    assert model.names == {"mo"}
    assert not any("cos.cat" in note for note in model.notes)


@pytest.mark.parametrize(
    ("last", "is_relation"),
    [
        ("let lo = R", False),
        ("let lo = R\nwith lo from generate_orders(W, 0)", True),
        ("let lo = rf", True),
    ],
)
def test_an_order_that_is_chosen_may_be_hidden(last: str, is_relation: bool) -> None:
    """Its name stands for a set then, of which no edges are drawn."""
    model = read(f"with lo from generate_orders(W, 0)\n{last}")
    assert model.defines("lo") is is_relation
    defined = model.definition("lo")
    assert defined is None or (defined.sort is Sort.RELATION) is is_relation


def test_herds_own_library_means_what_it_means_in_ours(tmp_path: Path) -> None:
    (tmp_path / "cos.cat").write_text(COS)
    (tmp_path / "cross.cat").write_text(CROSS)
    path = tmp_path / "m.cat"
    path.write_text(
        'C M\ninclude "cos.cat"\ninclude "cross.cat"\n'
        "with mo from generate_orders(W, co0)\nacyclic ca | mo as Ca"
    )
    model = load_model(str(path))
    assert [each.name for each in model.statements] == ["co0", "ca", "mo", "Ca"]
    assert {"FW", "IW", "W", "co", "fr"} <= model.names
    beside = [Path(each.path).name for each in model.files if each.text is not None]
    assert beside == ["m.cat", "cos.cat", "cos.cat", "cross.cat", "cross.cat"]
    first, second = model.notes
    assert first.startswith(f'{path}:2:1: "cos.cat" beside it is beyond our language ')
    assert f"{tmp_path / 'cos.cat'}:2:1: if is not supported" in first
    assert second.startswith(f'{path}:3:1: "cross.cat" beside it is beyond our language ')


def test_a_file_with_axioms_is_not_taken_for_herds_library(tmp_path: Path) -> None:
    (tmp_path / "cos.cat").write_text(COS + "acyclic ca as Mine")
    path = tmp_path / "m.cat"
    path.write_text('include "cos.cat"\nacyclic ca as Ca')
    with pytest.raises(InputError) as caught:
        load_model(str(path))
    assert caught.value.severity is Severity.UNSUPPORTED
    assert [str(each.span) for each in caught.value.problems] == [f"{tmp_path / 'cos.cat'}:2:1"]


def test_another_file_beyond_our_language_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "mine.cat").write_text(COS)
    path = tmp_path / "m.cat"
    path.write_text('include "mine.cat"\nacyclic po as Po')
    with pytest.raises(InputError) as caught:
        load_model(str(path))
    assert caught.value.severity is Severity.UNSUPPORTED


def test_nothing_of_a_file_that_was_not_taken_stays(tmp_path: Path) -> None:
    (tmp_path / "cos.cat").write_text(f"{COS}let invrf = mo let mine = mo let rf = mo\nshow mine")
    path = tmp_path / "m.cat"
    path.write_text('include "cos.cat"\nacyclic invrf as Inv')
    model = load_model(str(path))
    assert model.names == {"rf"}
    assert [each.name for each in model.statements] == ["invrf", "Inv"]
    assert sum("beside it is beyond" in note for note in model.notes) == 1
    path.write_text('include "cos.cat"\nacyclic mine as Mine')
    with pytest.raises(InputError, match="mine must be a base name or defined above"):
        load_model(str(path))


def test_a_name_that_a_definition_gives_itself_is_not_mentioned() -> None:
    """c11_cos.cat of herd says `coi = coi`; no order of all writes must be chosen for that."""
    model = read("let co = mo and coi = coi")
    assert model.statements[-1] == Let((("co", Name("mo", Sort.RELATION)),))
    assert model.names == {"sb", "mo"}


def test_the_texts_of_a_model_are_a_model_of_their_own(tmp_path: Path) -> None:
    """With what it includes, of herd's library too, wherever that was found."""
    (tmp_path / "cross.cat").write_text(CROSS)
    path = tmp_path / "m.cat"
    path.write_text('include "cos.cat" include "cross.cat"\nacyclic ca as Ca')
    texts = model_texts(str(path))
    assert list(texts) == ["m.cat", "cos.cat", "cross.cat"]
    assert texts["cross.cat"] == CROSS
    copy = tmp_path / "copy"
    copy.mkdir()
    for name, text in texts.items():
        (copy / name).write_text(text)
    again, before = load_model(str(copy / "m.cat")), load_model(str(path))
    assert (again.axioms, again.names) == (before.axioms, before.names)
    assert [*again.statements] == [*before.statements]
