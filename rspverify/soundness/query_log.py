"""The questions that a verdict rests on, kept for a second solver and for anyone who re-checks."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote

from rspverify import __version__
from rspverify.limits import LimitReached, Limits
from rspverify.smt import Term
from rspverify.smt.portfolio import satisfiable
from rspverify.smt.smtlib import script
from rspverify.soundness.internal import InternalError
from rspverify.soundness.settings import Settings
from rspverify.source import InputError, Problem


@dataclass(frozen=True)
class Asked:
    """One question to the solver, and its answer.

    name: short, for a file name; asks: in words, what a satisfying assignment would be.
    """

    name: str
    asks: str
    terms: Sequence[Term]
    satisfiable: bool


class Dossier:
    """The questions of one check. What nobody wants is not kept."""

    def __init__(self, settings: Settings, test: str, scheme: str) -> None:
        self._settings = settings
        self._test = test
        self._scheme = scheme
        self.asked: list[Asked] = []

    @property
    def wanted(self) -> bool:
        """Whether questions are kept."""
        return self._settings.confirm is not None or self._settings.smt_dir is not None

    def add(self, name: str, asks: str, terms: Sequence[Term], satisfiable: bool) -> None:
        """Keep a question with its answer, if anyone wants it."""
        if self.wanted:
            self.asked.append(Asked(name, asks, list(terms), satisfiable))

    def doubts(self, limits: Limits) -> Iterator[tuple[Asked, str]]:
        """The questions answered with «no» that the second solver does not confirm, and why.

        An answer of «yes» comes with an assignment and needs no confirmation. Raises Contradiction
        if the second solver says the opposite, LimitReached when time is over.
        """
        solver = self._settings.confirm
        for each in self.asked:
            if solver is None or each.satisfiable:
                continue
            answer = satisfiable(each.terms, solver, limits)
            if answer is True:
                raise Contradiction(f"{solver} contradicts z3 on the question «{each.asks}»")
            if answer is not False:
                yield each, answer

    def write(self, word: str) -> None:
        """One SMT-LIB 2 file per question in the folder of the settings, if they name one.

        There each test has its place as it has here, with folders of the same names.

        Raises InputError if that cannot be written.
        """
        if self._settings.smt_dir is None:
            return
        inner, test = os.path.split(os.path.splitdrive(os.path.normpath(self._test))[1])
        steps = ["%2E%2E" if step == os.pardir else step for step in inner.split(os.sep) if step]
        if os.path.isabs(inner):
            steps.insert(0, "%2F")
        folder = Path(self._settings.smt_dir, *steps)
        name = f"{test}@{quote(self._scheme, safe='()+,=')}"
        try:
            folder.mkdir(parents=True, exist_ok=True)
            for old in folder.iterdir():
                if re.fullmatch(rf"{re.escape(name)}\.\d+-\w+\.smt2", old.name):
                    old.unlink()
            for place, each in enumerate(self.asked, 1):
                path = folder / f"{name}.{place:02}-{each.name}.smt2"
                text = script(each.terms, self._header(each, place, word), each.satisfiable)
                path.write_text(text, encoding="utf-8")
        except OSError as error:
            problem = Problem(
                None, f"{self._settings.smt_dir}: its files must be writable, not: {error}"
            )
            raise InputError([problem]) from None

    def _header(self, each: Asked, place: int, word: str) -> list[str]:
        chosen = self._settings
        return [
            f"rspverify {__version__}: question {place} of {len(self.asked)} behind {word}",
            f"test {self._test}, scheme {self._scheme}, model {chosen.model}",
            f"engine {chosen.engine}, {chosen.reading} reading",
            f"Asks: {each.asks}",
            "sat means yes, and the assignment is such an execution; unsat means no.",
            f"z3 answered {'sat' if each.satisfiable else 'unsat'}.",
        ]


class Contradiction(InternalError):
    """Two solvers give opposite answers to one question: one of them, or we, must be wrong."""


def confirmed(dossier: Dossier, solver: str, limits: Limits) -> str | None:
    """None if the second solver confirms each «no»; otherwise why it does not, in words."""
    try:
        doubts = [f"«{each.asks}»: {why}" for each, why in dossier.doubts(limits)]
    except LimitReached as limit:
        doubts = [str(limit)]
    return f"not confirmed by {solver}: {'; '.join(doubts)}" if doubts else None
