"""`prove`: Whether a scheme is sound for all programs, of any size."""

from __future__ import annotations

from collections.abc import Collection, Generator, Iterable
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

from rspverify.answers import Detail
from rspverify.api.asked import Asked, Ending, Stop, ending_of
from rspverify.api.details import known_details
from rspverify.api.inputs import AScheme, schemes_given, several
from rspverify.api.parameters import Decided, question
from rspverify.corpus.inputs import meant_by
from rspverify.drawing.details import Broken
from rspverify.files import require_folder, write_new
from rspverify.options import argument, option
from rspverify.proof.lemmas import LemmaAnswer, proved
from rspverify.proof.proof import Proof, ProofReport, ProofWord, proof_questions
from rspverify.proof.rocq_table import certificate
from rspverify.soundness.settings import Settings
from rspverify.source import Source, require
from rspverify.terminal.command import EVERYWHERE, PAGES, Command
from rspverify.translators import table_of
from rspverify.verdict import Word

if TYPE_CHECKING:
    from rspverify.render.document import Document

Proving: TypeAlias = Asked[Proof, ProofReport]
"""What is proved of each scheme."""


@dataclass(frozen=True)
class ProofParameters(Decided):
    """The schemes that are to be proved."""

    schemes: AScheme | Iterable[AScheme] = argument(
        "Schemes: .yaml files, or names as of list. None: only --lemmas.",
        metavar="SCHEME…",
        completes="scheme",
        default=(),
    )
    settings: Settings = Settings()
    lemmas: bool = option(
        False, "Prove the lemmas again that the proof of every scheme rests on, and tell each."
    )
    reasons: bool = option(
        False, "Say of each instruction of a table that is PROVED which pairs of rows need it."
    )
    write: str | Path | None = option(
        None,
        "Write the tests that refute a scheme there, as prove+OPERATIONS.litmus.",
        metavar="DIR",
    )
    certificate: str | Path | None = option(
        None,
        "Write the theorem that the scheme is sound there, or that it is not, for the proof "
        "assistant Rocq: its table as a term, checked by the folder proof. Of one scheme that is "
        "PROVED or UNSOUND.",
        metavar="FILE",
    )


@question(ProofParameters)
def prove(asked: ProofParameters) -> Proving:
    """Is a scheme sound for all programs, of any size?

    Decided from the table alone. PROVED: every program of the operations that are named is
    compiled soundly, on one device. UNSOUND: a test of at most 4 operations is not; it is shown.
    NO PROOF: neither is known, and why. Beside it stands whether a program may get stuck.

    In Python: ProofParameters has what can be chosen. Raises InputError.

    Examples:
        >>> [str(it.word) for it in rspverify.prove(["proposed", "original"])]
        ['PROVED', 'UNSOUND']
    """
    judge = asked.decider
    require(bool(asked.lemmas or several(asked.schemes)), "at least one scheme must be given")
    if asked.write is not None:
        require_folder(str(asked.write), "tests")
    named = meant_by(schemes=schemes_given(asked.schemes)).schemes
    questions = proof_questions(named, asked.settings, judge, reasons=asked.reasons)
    schemes = {each.scheme.file: each.scheme for each in questions}
    if asked.certificate is not None:
        require(len(questions) == 1, "--certificate must be of one scheme")
        only = questions[0].scheme
        text = certificate(table_of(only.translator), only.name)
        write_new({Path(asked.certificate): text}, "this certificate")

    lemmas: list[LemmaAnswer] = []

    def answers(_: object) -> Generator[Proof, None, None]:
        if asked.lemmas:
            from rspverify.smt.portfolio import is_solver  # it takes long to load

            solvers = ["z3", *(["cvc5"] if is_solver("cvc5") else [])]
            lemmas.extend(it for solver in solvers for it in proved(solver))
        with closing(judge.run(questions, here=len(questions) == 1)) as coming:
            for it in coming:
                if asked.write is not None:
                    folder = Path(asked.write)
                    texts = {folder / f"{test.title}.litmus": test.text for test in it.refuting}
                    write_new(texts, "the test of this name")
                yield it

    def details(proofs: Iterable[Proof], most: int | None = None) -> dict[str, Detail]:
        """What their tests rest on, by the texts of these: the first ones of each scheme."""
        broken: dict[str, Broken] = {}
        for it in proofs:
            for test in it.refuting[:most]:
                source = Source(f"{it.subject.scheme}.litmus", test.text)
                broken[test.text] = Broken(source, schemes[it.subject.file], Word.UNSOUND, False)
        return known_details(broken, questions[0].verdicts, Stop()) if broken else {}

    def document(report: ProofReport, needs: Collection[str]) -> Document:
        from rspverify.render.prove import document

        return document(report, details(report.proofs))

    return Asked(
        answers,
        lambda it: ProofReport(tuple(it.known), tuple(lemmas), it.stopped.reason),
        "prove",
        document=document,
        told=lambda render, _: render.told(lambda it: details([it], 1)),
        ending=_ending,
        total=len(questions),
    )


def _ending(report: ProofReport) -> Ending:
    lemmas = (ProofWord.PROVED if it.proved else ProofWord.NO_PROOF for it in report.lemmas)
    return ending_of([*lemmas, *(it.word for it in report.proofs)], report.proofs)


COMMAND = Command(
    prove,
    ends="1 a scheme is UNSOUND; 3 of one there is NO PROOF, or a lemma is not proved; 0 all are "
    "PROVED",
    takes=("seconds", "machine"),
    forms=PAGES,
    also=EVERYWHERE,
)
