"""Terms of propositional logic, finite-domain choices, and the solvers that answer about them."""

from rspverify.smt.choice import Choice, choose, pick, truth
from rspverify.smt.solver import Answer, Model, Satisfiable, Solver, Unknown, Unsatisfiable
from rspverify.smt.term import (
    FALSE,
    TRUE,
    Term,
    all_of,
    any_of,
    at_most_one,
    if_then_else,
    variable,
)

__all__ = [
    "FALSE",
    "TRUE",
    "Answer",
    "Choice",
    "Model",
    "Satisfiable",
    "Solver",
    "Term",
    "Unknown",
    "Unsatisfiable",
    "all_of",
    "any_of",
    "at_most_one",
    "choose",
    "if_then_else",
    "pick",
    "truth",
    "variable",
]
