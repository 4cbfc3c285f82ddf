"""The questions that a verdict rests on, kept for a second solver and for anyone who re-checks.

The two sides of the theorem write down what each was asked (sides.py).
"""

from __future__ import annotations

import os
import re
from pathlib import Path
from urllib.parse import quote

from rspverify import __version__
from rspverify.limits import LimitReached, Limits
from rspverify.smt.portfolio import satisfiable
from rspverify.smt.smtlib import script
from rspverify.soundness.settings import Settings
from rspverify.soundness.sides import QueryLog
from rspverify.source import InputError, InternalError, Problem


class Contradiction(InternalError):
    """Two solvers give opposite answers to one question: one of them, or we, must be wrong."""


def not_confirmed(log: QueryLog, solver: str, limits: Limits) -> str | None:
    """Why a second solver does not confirm every «no» of a log, in words; None if it does.

    A «yes» comes with an assignment and needs no confirmation. Raises Contradiction if the second
    solver says the opposite.
    """
    doubts = []
    try:
        for query in log:
            if query.satisfiable:
                continue
            answer = satisfiable(query.terms, solver, limits)
            if answer is True:
                raise Contradiction(f"{solver} contradicts z3 on the question «{query.asks}»")
            if answer is not False:
                doubts.append(f"«{query.asks}»: {answer}")
    except LimitReached as limit:
        doubts = [str(limit)]
    return f"not confirmed by {solver}: {'; '.join(doubts)}" if doubts else None


def write_queries(log: QueryLog, settings: Settings, test: str, scheme: str, word: str) -> None:
    """One SMT-LIB 2 file per question, in the folder of the settings, if they name one.

    There each test has its place as it has here, with folders of the same names. word: of the
    verdict. Raises InputError if that cannot be written.
    """
    if settings.smt_dir is None:
        return
    inner, last = os.path.split(os.path.splitdrive(os.path.normpath(test))[1])
    steps = ["%2E%2E" if step == os.pardir else step for step in inner.split(os.sep) if step]
    if os.path.isabs(inner):
        steps.insert(0, "%2F")
    place = Path(settings.smt_dir, *steps)
    name = f"{last}@{quote(scheme, safe='()+,=')}"
    try:
        place.mkdir(parents=True, exist_ok=True)
        for old in place.iterdir():
            if re.fullmatch(rf"{re.escape(name)}\.\d+-\w+\.smt2", old.name):
                old.unlink()
        for number, query in enumerate(log, 1):
            head = [
                f"rspverify {__version__}: question {number} of {len(log)} behind {word}",
                f"test {test}, scheme {scheme}, model {settings.model}",
                f"engine {settings.engine}, {settings.reading} reading",
                f"Asks: {query.asks}",
                "sat means yes, and the assignment is such an execution; unsat means no.",
                f"z3 answered {'sat' if query.satisfiable else 'unsat'}.",
            ]
            text = script(query.terms, head, query.satisfiable)
            target = place / f"{name}.{number:02}-{query.name}.smt2"
            target.write_text(text, encoding="utf-8")
    except OSError as error:
        problem = Problem(None, f"{settings.smt_dir}: its files must be writable, not: {error}")
        raise InputError([problem]) from None
