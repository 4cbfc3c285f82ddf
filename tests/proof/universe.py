"""A universe of a few events, where each quantifier of a lemma is a list of cases.

There hypotheses are shown to hold together, and facts to be needed.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from itertools import product

from rspverify.proof.lemmas import SORTS, Formula, Lemma, pairs, theory, written

SIZES = dict(zip(SORTS, (4, 2, 2, 1, 1), strict=True))


def parts(lemma: Lemma) -> list[tuple[Formula, Formula]]:
    """What a lemma says, each as a premise and a conclusion."""
    goal = lemma.goal
    joined = isinstance(goal, tuple) and goal[0] == "and"
    goals: Sequence[Formula] = goal[1:] if joined else (goal,)
    return [(it[1], it[2]) if it[0] == "=>" else ("true", it) for it in goals]


def possible(facts: Iterable[str], *claims: Formula) -> str:
    """The question whether some facts hold, and claims of some of its things."""
    chosen: dict[str, str] = {}
    lines = [f"(declare-const {each} {sort})" for sort in SIZES for each in things(sort)]
    lines += (f"(assert (distinct {' '.join(things(sort))}))" for sort in SIZES if SIZES[sort] > 1)
    for name, of in theory().functions.items():
        for given in product(*(things(sort) for sort in of[:-1])) if of[-1] in SIZES else ():
            lines.append(one_of(written((name, *given)), of[-1]))
    for claim in claims:
        for name in theory().free(claim):
            if name not in chosen:
                chosen[name] = f"some-{name}"
                sort = theory().variables[name]
                lines.append(f"(declare-const some-{name} {sort})")
                lines += [one_of(f"some-{name}", sort)] if sort in SIZES else []
    whole = [of_all(each) for each in facts]
    whole += (written(cases(it, chosen)) for it in claims)
    return theory().script([*lines, *(f"(assert {it})" for it in whole)])


def one_of(value: str, sort: str) -> str:
    """That a value is one of the things of its sort."""
    return f"(assert (or {' '.join(f'(= {value} {each})' for each in things(sort))}))"


@cache
def of_all(fact: str) -> str:
    """What a fact says of all things."""
    return written(cases(theory().for_all(theory().facts[fact].body), {}))


def things(sort: str) -> list[str]:
    return [f"{sort.lower()}{number}" for number in range(SIZES[sort])]


def cases(it: Formula, values: Mapping[str, Formula]) -> Formula:
    """A formula without quantifiers and definitions, with these values for variables."""
    if isinstance(it, str):
        return values.get(it, it)
    head, *rest = it
    if head in ("forall", "exists"):
        names = [(str(name), str(sort)) for name, sort in pairs(it[1])]
        every = product(*(things(sort) for _, sort in names))
        each = (dict(zip((name for name, _ in names), case, strict=True)) for case in every)
        word = "and" if head == "forall" else "or"
        return (word, *(cases(it[2], {**values, **case}) for case in each))
    given = [cases(each, values) for each in rest]
    if isinstance(head, str) and head in theory().definitions:
        known = theory().definitions[head]
        return cases(known.body, dict(zip(known.of, given, strict=True)))
    return (head, *given)
