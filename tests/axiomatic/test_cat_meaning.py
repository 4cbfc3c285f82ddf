"""What a .cat text means: precedence, associativity, the two stars, and names in order."""

import pytest
from oracle_adapter import model_outcomes

from rspverify.axiomatic.cat import load_model, read_model
from rspverify.axiomatic.question import Questions
from rspverify.limits import Limits
from rspverify.litmus.reader import read_program
from rspverify.relation.expression import (
    Complement,
    Composition,
    Difference,
    Expression,
    Identity,
    Intersection,
    Inverse,
    Name,
    Optionally,
    Plus,
    Product,
    Sort,
    Star,
    Union,
)
from rspverify.source import InputError, Source

a, b, c = (Name(name, Sort.RELATION) for name in "abc")
S, T, U = (Name(name, Sort.SET) for name in "STU")
NAMES = "let a = rf let b = mo let c = sb let S = R let T = W let U = WG let hb = sb\n"


def read(text: str) -> Expression:
    source = Source("t.cat", f"{NAMES} let it = {text}\nacyclic hb as Hb")
    found = read_model(source, "t").definition("it")
    assert found is not None
    return found


BINARY = [("|", Union), (";", Composition), ("\\", Difference), ("&", Intersection)]
"""Loosest first, as in herd."""
POSTFIX = [("+", Plus), ("*", Star), ("?", Optionally), ("^-1", Inverse)]


@pytest.mark.parametrize(("loose", "outer"), BINARY)
@pytest.mark.parametrize(("tight", "inner"), BINARY)
def test_precedence(loose: str, outer: type, tight: str, inner: type) -> None:
    places = [symbol for symbol, _ in BINARY]
    if places.index(loose) < places.index(tight):
        assert read(f"a {loose} b {tight} c") == outer(a, inner(b, c))
        assert read(f"a {tight} b {loose} c") == outer(inner(a, b), c)
        assert read(f"(a {loose} b) {tight} c") == inner(outer(a, b), c)
        assert read(f"a{tight}(b{loose}c)") == inner(a, outer(b, c))


@pytest.mark.parametrize(("symbol", "build"), BINARY)
def test_associativity(symbol: str, build: type) -> None:
    """To the left; it matters for the difference only."""
    assert read(f"a {symbol} b {symbol} c") == build(build(a, b), c)
    assert read(f"a {symbol} (b {symbol} c)") == build(a, build(b, c))


@pytest.mark.parametrize(("symbol", "build"), BINARY)
def test_prefix_and_postfix_bind_tighter(symbol: str, build: type) -> None:
    assert read(f"~a {symbol} b") == build(Complement(a), b)
    assert read(f"a {symbol} ~b") == build(a, Complement(b))
    assert read(f"~(a {symbol} b)") == Complement(build(a, b))
    for sign, postfix in POSTFIX:
        assert read(f"a {symbol} b{sign}") == build(a, postfix(b))
        assert read(f"a{sign} {symbol} b") == build(postfix(a), b)
        assert read(f"(a {symbol} b){sign}") == postfix(build(a, b))


@pytest.mark.parametrize(("sign", "build"), POSTFIX)
def test_complement_is_looser_than_postfix(sign: str, build: type) -> None:
    assert read(f"~a{sign}") == Complement(build(a))
    assert read(f"(~a){sign}") == build(Complement(a))
    assert read(f"~~a{sign}") == Complement(Complement(build(a)))


def test_postfix_operators_follow_each_other() -> None:
    assert read("a+*?^-1") == Inverse(Optionally(Star(Plus(a))))
    assert read("a ? ^-1 + *") == Star(Plus(Inverse(Optionally(a))))


@pytest.mark.parametrize(
    ("text", "expression"),
    [
        ("S * T", Product(S, T)),
        ("S*T", Product(S, T)),
        ("S\n*\nT", Product(S, T)),
        ("~(S * T)", Complement(Product(S, T))),
        ("(S & T) * (T | U)", Product(Intersection(S, T), Union(T, U))),
        ("(S * T)*", Star(Product(S, T))),
        ("(S * T)+", Plus(Product(S, T))),
        ("a*", Star(a)),
        ("a *", Star(a)),
        ("[S]; a*", Composition(Identity(S), Star(a))),
    ],
)
def test_products_and_closures(text: str, expression: Expression) -> None:
    assert read(text) == expression


def test_a_relation_in_brackets_is_read_as_one() -> None:
    with pytest.raises(InputError, match=r"the inside of \[ \] must be a set"):
        read("[S * T & a; a | a] ; a")


@pytest.mark.parametrize(
    "follows",
    ["let z = a", "and z = a", "acyclic a as Z", "include", "empty a as Z", "irreflexive a as Z"],
)
def test_a_star_at_the_end_of_a_statement_is_a_closure(follows: str) -> None:
    more = 'include "opencl-incl-common.cat"' if follows == "include" else follows
    source = Source("t.cat", f"{NAMES} acyclic hb as Hb let it = a* {more}")
    assert read_model(source, "t").definition("it") == Star(a)


@pytest.mark.parametrize("name", ["letter", "as_", "android", "emptyset", "include.x", "show-all"])
def test_names_may_begin_like_keywords(name: str) -> None:
    source = Source("t.cat", f"{NAMES}let {name} = S let it = {name} * {name}\nacyclic hb as Hb")
    assert str(read_model(source, "t").statements[-2]).count(name) == 2


@pytest.mark.parametrize("name", ["rs'", "rs''", "a.b", "po-loc", "_x", "A1", "x_'"])
def test_names(name: str) -> None:
    source = Source("t.cat", f"let {name} = sb\nlet hb = {name}^-1\nacyclic hb as Hb")
    model = read_model(source, "t")
    assert model.definition("hb") == Inverse(Name(name, Sort.RELATION))


# ---- names in order ------------------------------------------------------------------------------

TEXT = """OPENCL t
{ [x]=0; [y]=0; }
P0@wg 0, dev 0 (global int* x, global atomic_int* y) {
  *x = 1;
  atomic_store_explicit(y, 1, memory_order_release, memory_scope_device);
}
P1@wg 1, dev 0 (global int* x, global atomic_int* y) {
  int r0 = atomic_load_explicit(y, memory_order_acquire, memory_scope_device);
  if (r0 == 1) { int r1 = *x; }
}
"""
PROGRAM = read_program(Source("mp.litmus", TEXT))


def questions(text: str) -> Questions:
    return Questions(PROGRAM, read_model(Source("t.cat", text), "t"), Limits())


def test_a_later_definition_hides_an_earlier_one() -> None:
    ours = load_model("opencl-rsp")
    expected, racy, _ = model_outcomes(PROGRAM)
    assert frozenset(Questions(PROGRAM, ours, Limits()).outcomes()) == expected
    assert not racy
    text = 'include "opencl-incl-common.cat"\nlet incl = {}\n' + (
        'include "opencl-hb-common.cat" include "opencl-axioms-common.cat"'
    )
    assert frozenset(questions(text.format("incl")).outcomes()) == expected
    # Nothing is inclusive any more: no synchronisation, and only the initial x is visible.
    weaker = {each.reads for each in questions(text.format("incl \\ incl")).outcomes()}
    assert weaker == {((2, 0),), ((2, 1), (3, 0))}


def test_a_definition_that_hides_a_base_name() -> None:
    """An axiom before the definition speaks of the base relation, one after it of the new."""
    before = questions("let hb = sb\nempty rf as None\nlet rf = rf \\ rf\nacyclic hb as Hb")
    after = questions("let hb = sb\nlet rf = rf \\ rf\nempty rf as None\nacyclic hb as Hb")
    assert list(before.outcomes()) == []
    assert len(list(after.outcomes())) == 3


def test_bindings_joined_by_and_are_made_at_once() -> None:
    text = "let hb = sb let a = sb let b = sb^-1 let a = b and b = a\nacyclic hb as Hb\n"
    # b is sb again, which is not empty.
    assert list(questions(f"{text}empty b \\ sb as B empty a \\ sb^-1 as A").outcomes())


def test_bindings_joined_by_and_may_change_sorts() -> None:
    text = "let hb = sb let a = W let b = rf let a = b and b = a\nacyclic hb as Hb\n"
    assert list(questions(f"{text}empty [b]; a; [W \\ W] as B").outcomes())


def test_a_condition_means_what_its_names_mean_where_it_stands() -> None:
    text = "let hb = sb\nacyclic hb as Hb\nlet dr = (W * R) & loc \\ thd\n"
    race = questions(f"{text}undefined_unless empty dr as Dr\nlet dr = dr \\ dr").race()
    assert race is not None


@pytest.mark.parametrize("text", ["let sw = W", "let sw = W let mo = W"])
def test_a_race_is_shown_whatever_a_model_calls_its_sets(text: str) -> None:
    rest = "let hb = sb\nacyclic hb as Hb\nundefined_unless empty (W * R) & loc as Dr"
    assert questions(f"{text}\n{rest}").race() is not None


def test_a_race_is_shown_whatever_a_model_calls_its_axioms() -> None:
    text = "let hb = sb\nacyclic hb as sw\nundefined_unless empty (W * R) & loc as Dr"
    assert questions(text).race() is not None


def test_a_race_of_a_set() -> None:
    """A condition on a set shows a member of it."""
    text = "let hb = sb\nacyclic hb as Hb\nundefined_unless empty R & na as Dr"
    race = questions(text).race()
    assert race is not None
    assert race.first == race.second
    assert race.first.access.startswith("R[na](x, ")
