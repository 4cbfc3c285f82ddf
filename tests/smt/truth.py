"""Terms by brute force: their value under an assignment, and random ones."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import product

from hypothesis import strategies as st

from rspverify.smt.term import FALSE, TRUE, Kind, Term, all_of, any_of, if_then_else

Assignment = Mapping[Term, bool]


def value(term: Term, assignment: Assignment) -> bool:
    """The value of a term; every variable in it must be assigned."""
    match term.kind:
        case Kind.CONSTANT:
            return term is TRUE
        case Kind.VARIABLE:
            return assignment[term]
        case Kind.NOT:
            return not value(term.arguments[0], assignment)
        case Kind.AND:
            return all(value(each, assignment) for each in term.arguments)
        case Kind.OR:
            return any(value(each, assignment) for each in term.arguments)


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
