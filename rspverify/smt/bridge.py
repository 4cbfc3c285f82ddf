"""Any solver that pySMT knows, asked about the same terms: a second opinion on an answer.

The default solver (solver.py) is Z3 reached directly, because that is five times faster; what the
two say of one formula must not differ, and tests hold them to that.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from pysmt.environment import Environment
from pysmt.exceptions import NoSolverAvailableError, SolverReturnedUnknownResultError

from rspverify.smt.term import FALSE, TRUE, Kind, Term


def pysmt_solvers() -> list[str]:
    """The solvers that pySMT finds installed; none where a broken one keeps it from looking."""
    try:
        return sorted(Environment().factory.all_solvers())
    except Exception:
        return []  # such as the package `yices` without its shared library


def second_opinion(
    terms: Iterable[Term], solver: str = "z3", seconds: float | None = None
) -> bool | str:
    """Whether all terms can hold at once, says the solver of that pySMT name; or why it gave up.

    seconds: a limit that only cvc5 keeps to.
    """
    environment = Environment()
    formulas = _Formulas(environment)
    wanted = [formulas.of(term) for term in terms]
    limit = {"tlimit-per": str(max(1, int(seconds * 1000)))} if seconds and solver == "cvc5" else {}
    try:
        with environment.factory.Solver(
            name=solver, logic="QF_BOOL", generate_models=False, solver_options=limit
        ) as asked:
            for formula in wanted:
                asked.add_assertion(formula)
            return bool(asked.solve())
    except NoSolverAvailableError:
        return f"pySMT has no solver named {solver}"
    except SolverReturnedUnknownResultError:
        return f"{solver} gave up"


class _Formulas:
    """Terms as formulas of one pySMT environment, shared as the terms are."""

    def __init__(self, environment: Environment) -> None:
        self._manager = environment.formula_manager
        self._known: dict[Term, Any] = {
            TRUE: self._manager.TRUE(),
            FALSE: self._manager.FALSE(),
        }
        self.variables: dict[Term, Any] = {}

    def of(self, term: Term) -> Any:
        """The formula of a term, built bottom up."""
        stack = [term]
        while stack:
            top = stack[-1]
            if top in self._known:
                stack.pop()
                continue
            if top.kind is Kind.VARIABLE:
                symbol = self._manager.Symbol(f"v{len(self.variables)}")
                self.variables[top] = self._known[top] = symbol
                continue
            missing = [each for each in top.arguments if each not in self._known]
            if missing:
                stack.extend(missing)
                continue
            arguments = [self._known[each] for each in top.arguments]
            match top.kind:
                case Kind.NOT:
                    self._known[top] = self._manager.Not(arguments[0])
                case Kind.AND:
                    self._known[top] = self._manager.And(arguments)
                case _:
                    self._known[top] = self._manager.Or(arguments)
        return self._known[term]
