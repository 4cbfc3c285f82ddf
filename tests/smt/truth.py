"""Terms by brute force: their value under an assignment, and random ones."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import product
from typing import Any

from hypothesis import strategies as st

from rspverify.smt.term import FALSE, TRUE, Kind, Term, all_of, any_of, if_then_else

Assignment = Mapping[Term, bool]


def value(term: Term, assignment: Assignment) -> bool:
    """The value of a term; every variable in it must be assigned."""
    return truth(term, dict(assignment))


def truth(term: Term, known: dict[Term, bool]) -> bool:
    """The same of a term that shares a lot with others, whose values are known, and then its own."""
    if term not in known:
        below = [truth(each, known) for each in term.arguments]
        match term.kind:
            case Kind.NOT:
                known[term] = not below[0]
            case Kind.AND:
                known[term] = all(below)
            case Kind.OR:
                known[term] = any(below)
            case Kind.CONSTANT:
                known[term] = term is TRUE
            case Kind.VARIABLE:
                raise KeyError(term)
    return known[term]


def held(found: Mapping[Any, Term], assignment: Assignment) -> set[Any]:
    """The keys whose terms hold."""
    known = dict(assignment)
    return {key for key, term in found.items() if truth(term, known)}


def assignments(variables: Sequence[Term]) -> Iterator[dict[Term, bool]]:
    """Every assignment of some variables."""
    for values in product((False, True), repeat=len(variables)):
        yield dict(zip(variables, values, strict=True))


def variables(term: Term) -> set[Term]:
    """The variables in a term."""
    if term.kind is Kind.VARIABLE:
        return {term}
    return set().union(*(variables(each) for each in term.arguments))


def terms(names: Sequence[Term], leaves: int = 12) -> st.SearchStrategy[Term]:
    """Random terms over given variables, built with the operators."""

    def combined(inside: st.SearchStrategy[Term]) -> st.SearchStrategy[Term]:
        several = st.lists(inside, max_size=4)
        return (
            inside.map(lambda a: ~a)
            | several.map(all_of)
            | several.map(any_of)
            | st.builds(lambda a, b: a & b, inside, inside)
            | st.builds(lambda a, b: a | b, inside, inside)
            | st.builds(lambda a, b: a.iff(b), inside, inside)
            | st.builds(lambda a, b: a.implies(b), inside, inside)
            | st.builds(if_then_else, inside, inside, inside)
        )

    return st.recursive(st.sampled_from([*names, TRUE, FALSE]), combined, max_leaves=leaves)
