"""Any solver that pySMT knows, asked about the same terms: a second opinion on an answer.

The default solver (solver.py) is Z3 reached directly, because that is five times faster; what the
two say of one formula must not differ, and tests hold them to that.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from pysmt.environment import Environment
from pysmt.exceptions import NoSolverAvailableError, SolverReturnedUnknownResultError

from rspverify.smt.solver import Answer, Model, Satisfiable, Unknown, Unsatisfiable
from rspverify.smt.term import FALSE, TRUE, Kind, Term


def second_opinion(terms: Iterable[Term], solver: str = "z3") -> Answer:
    """Is there an assignment under which every term holds, says the solver of that pySMT name?

    An Unsatisfiable answer has no core. A solver that is not installed is Unknown.
    """
    environment = Environment()
    formulas = _Formulas(environment)
    wanted = [formulas.of(term) for term in terms]
    try:
        with environment.factory.Solver(name=solver, logic="QF_BOOL") as asked:
            for formula in wanted:
                asked.add_assertion(formula)
            if not asked.solve():
                return Unsatisfiable(frozenset())
            model = asked.get_model()
            values = {
                term: bool(model.get_py_value(symbol, model_completion=True))
                for term, symbol in formulas.variables.items()
            }
            return Satisfiable(Model(lambda term: values.get(term, False)))
    except NoSolverAvailableError:
        return Unknown(f"pySMT has no solver named {solver}")
    except SolverReturnedUnknownResultError:
        return Unknown(f"{solver} gave up")


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
