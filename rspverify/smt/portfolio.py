"""Other solvers, for a second opinion: those of pySMT, Bitwuzla, and any that reads SMT-LIB 2."""

from __future__ import annotations

import importlib.util
import os
import shutil
import signal
import subprocess
import tempfile
from collections.abc import Sequence
from pathlib import Path

from rspverify.limits import Limits
from rspverify.smt.bridge import pysmt_solvers, second_opinion
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
