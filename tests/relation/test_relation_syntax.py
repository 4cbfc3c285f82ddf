"""Expressions know their sorts, and spell themselves as the .cat reader reads."""

import pytest
from hypothesis import given
from relation.concrete import expressions

from rspverify.axiomatic.cat import read_model
from rspverify.relation.expression import (
    Complement,
    Composition,
    Difference,
    Domain,
    Expression,
    Identity,
    Intersection,
    Inverse,
    Name,
    Nothing,
    Optionally,
    Plus,
    Product,
    Range,
    Sort,
    Star,
    Union,
)
from rspverify.source import Source

S, T, U = (Name(name, Sort.SET) for name in ("R", "W", "WG"))
r, s, t = (Name(name, Sort.RELATION) for name in ("rf", "sb", "loc"))


def test_sort() -> None:
    of_sets = [S, Complement(S), Domain(r), Range(r), Nothing(Sort.SET)]
    of_pairs = [r, Complement(r), Composition(r, s), Product(S, T), Identity(S), Inverse(r)]
    of_pairs += [Optionally(r), Plus(r), Star(r), Nothing(Sort.RELATION)]
    for each in (Union, Intersection, Difference):
        of_sets.append(each(S, T))
        of_pairs.append(each(r, s))
    assert {it.sort for it in of_sets} == {Sort.SET}
    assert {it.sort for it in of_pairs} == {Sort.RELATION}


@pytest.mark.parametrize(
    ("expression", "spelling"),
    [
        (Union(Union(r, s), t), "rf | sb | loc"),
        (Union(r, Union(s, t)), "rf | (sb | loc)"),
        (Composition(Composition(r, s), t), "rf; sb; loc"),
        (Composition(r, Union(s, t)), "rf; (sb | loc)"),
        (Union(Composition(r, s), t), "rf; sb | loc"),
        (Difference(Difference(r, s), t), "rf \\ sb \\ loc"),
        (Difference(r, Difference(s, t)), "rf \\ (sb \\ loc)"),
        (Composition(Difference(r, s), t), "rf \\ sb; loc"),
        (Difference(Intersection(r, s), t), "rf & sb \\ loc"),
        (Intersection(r, Difference(s, t)), "rf & (sb \\ loc)"),
        (Intersection(Product(S, T), r), "R * W & rf"),
        (Product(Intersection(S, T), U), "(R & W) * WG"),
        (Product(Complement(S), Complement(T)), "~R * ~W"),
        (Complement(Product(S, T)), "~(R * W)"),
        (Complement(Complement(r)), "~~rf"),
        (Complement(Plus(r)), "~rf+"),
        (Plus(Complement(r)), "(~rf)+"),
        (Star(Plus(Inverse(Optionally(r)))), "rf?^-1+*"),
        (Identity(Union(S, T)), "[R | W]"),
        (Plus(Identity(S)), "[R]+"),
        (Inverse(Composition(r, s)), "(rf; sb)^-1"),
        (Domain(Union(r, s)), "domain(rf | sb)"),
        (Product(Range(r), Domain(Inverse(s))), "range(rf) * domain(sb^-1)"),
        (Complement(Range(Plus(r))), "~range(rf+)"),
        (Union(Nothing(Sort.RELATION), r), "0 | rf"),
        (Product(Nothing(Sort.SET), S), "{} * R"),
        (Star(Plus(Plus(r))), "rf++*"),
    ],
    ids=str,
)
def test_spelling(expression: Expression, spelling: str) -> None:
    assert str(expression) == spelling
    assert read(spelling) == expression


def read(text: str) -> Expression:
    """The expression that a model binds to a name."""
    source = Source("t.cat", f"let hb = sb\nlet it = {text}\nacyclic hb as Hb")
    model = read_model(source, "t")
    found = model.definition("it")
    assert found is not None
    return found


@given(expressions(["R", "W", "WG"], ["rf", "sb", "loc"], 4))
def test_what_is_spelled_is_read_again(expression: Expression) -> None:
    """Equal as syntax, so equal in value under whatever the names mean."""
    assert read(str(expression)) == expression
    assert read(f"(* begin *) ({expression}) // end") == expression
