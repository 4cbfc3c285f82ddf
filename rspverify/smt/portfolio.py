"""Other solvers, for a second opinion: those of pySMT, Bitwuzla, and any that reads SMT-LIB 2.

The default solver (solver.py) is Z3 reached directly, because that is five times faster; what any
two say of one formula must not differ, and tests hold them to that.
"""

from __future__ import annotations

import importlib.util
import os
import shutil
import signal
import subprocess
import tempfile
from collections.abc import Iterable, Sequence
from io import StringIO
from pathlib import Path

from pysmt.environment import Environment
from pysmt.exceptions import NoSolverAvailableError, SolverReturnedUnknownResultError
from pysmt.smtlib.parser import SmtLibParser

from rspverify.limits import Limits
from rspverify.smt.smtlib import script
from rspverify.smt.term import Term


def other_solvers() -> list[str]:
    """The names of the solvers beside Z3 that are installed as Python packages."""
    bitwuzla = ["bitwuzla"] if importlib.util.find_spec("bitwuzla") else []
    return sorted({*pysmt_solvers(), *bitwuzla} - {"z3"})


def is_solver(name: str) -> bool:
    """Whether `satisfiable` can ask it: an installed package, or a program."""
    return Path(name).name != "z3" and (name in other_solvers() or shutil.which(name) is not None)


def satisfiable(terms: Sequence[Term], solver: str, limits: Limits) -> bool | str:
    """Whether all terms can hold at once, says a solver; or in words why it does not know.

    solver: a name out of `other_solvers`, or a program that reads a file of SMT-LIB 2 and prints
    `sat` or `unsat`. Time is limited for cvc5, Bitwuzla and programs; pySMT offers no limit for the
    others. Raises LimitReached when no time is left before.
    """
    seconds = limits.remaining()
    if solver == "bitwuzla" and importlib.util.find_spec("bitwuzla"):
        return _bitwuzla(terms, seconds)
    if solver in pysmt_solvers():
        return second_opinion(terms, solver, seconds)
    program = shutil.which(solver)
    return _program(program, terms, seconds) if program else f"there is no solver {solver}"


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


def _bitwuzla(terms: Sequence[Term], seconds: float | None) -> bool | str:
    import bitwuzla

    options = bitwuzla.Options()
    if seconds is not None:
        options.set(bitwuzla.Option.TIME_LIMIT_PER, max(1, int(seconds * 1000)))
    parser = bitwuzla.Parser(bitwuzla.TermManager(), options)
    text = script(terms)
    parser.parse(text[: text.rindex("(check-sat)")], True, False)
    answers = {bitwuzla.Result.SAT: True, bitwuzla.Result.UNSAT: False}
    return answers.get(parser.bitwuzla().check_sat(), "bitwuzla gave up")


def _program(program: str, terms: Sequence[Term], seconds: float | None) -> bool | str:
    name = Path(program).name
    with tempfile.TemporaryDirectory() as folder:
        question = Path(folder, "question.smt2")
        question.write_text(script(terms), encoding="utf-8")
        try:
            text, status = _said([program, str(question)], seconds)
        except subprocess.TimeoutExpired:
            return f"{name} gave up: timeout"
        except (OSError, UnicodeDecodeError) as error:
            return f"{name} cannot be run: {error}"
    answers = {"sat": True, "unsat": False}
    said = " ".join(text.split())
    if said in answers and status == 0:
        return answers[said]
    ended = f" and ended with {status}" if status else ""
    return f"{name} said {said[:80] or 'nothing'}{ended}"


def _said(command: Sequence[str], seconds: float | None) -> tuple[str, int]:
    """What a command prints, and its exit status.

    When time is over it ends, and with it all that it has started.
    """
    with subprocess.Popen(
        command,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        start_new_session=True,
    ) as asked:
        try:
            return asked.communicate(timeout=seconds)[0], asked.returncode
        except BaseException:
            os.killpg(asked.pid, signal.SIGKILL)
            raise
