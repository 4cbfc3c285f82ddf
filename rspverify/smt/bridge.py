"""Any solver that pySMT knows, asked about the same terms: a second opinion on an answer.

The default solver (solver.py) is Z3 reached directly, because that is five times faster; what the
two say of one formula must not differ, and tests hold them to that.
"""

from __future__ import annotations

from collections.abc import Iterable
from io import StringIO

from pysmt.environment import Environment
from pysmt.exceptions import NoSolverAvailableError, SolverReturnedUnknownResultError
from pysmt.smtlib.parser import SmtLibParser

from rspverify.smt.smtlib import script
from rspverify.smt.term import Term


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
    read = SmtLibParser(environment).get_script(StringIO(script(terms)))
    wanted = read.get_last_formula(environment.formula_manager)
    limit = {"tlimit-per": str(max(1, int(seconds * 1000)))} if seconds and solver == "cvc5" else {}
    try:
        with environment.factory.Solver(
            name=solver, logic="QF_BOOL", generate_models=False, solver_options=limit
        ) as asked:
            asked.add_assertion(wanted)
            return bool(asked.solve())
    except NoSolverAvailableError:
        return f"pySMT has no solver named {solver}"
    except SolverReturnedUnknownResultError:
        return f"{solver} gave up"
