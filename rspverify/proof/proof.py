"""A proof: every obligation of a table is shown, or the executions that break it are found."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Mapping
from enum import StrEnum

from msgspec import Struct

from rspverify.answers import Internal, Subject
from rspverify.architecture.machines import machine_named
from rspverify.convert import Count, Place, Seconds
from rspverify.judge.inputs import LoadedTest, NamedScheme
from rspverify.judge.question import Incident, Question
from rspverify.judge.verdicts import Verdicts
from rspverify.programs.litmus_test import LitmusTest
from rspverify.programs.meaning import program_of
from rspverify.programs.notation import notation
from rspverify.programs.writer import litmus_text
from rspverify.proof.obligations import Failure, Kind, Obligation, obligations
from rspverify.proof.programs import never_stuck, tests_of, that_may_get_stuck
from rspverify.proof.table import BASE, MODEL, ProofTable, proof_table
from rspverify.records import replace
from rspverify.soundness.internal import InternalError
from rspverify.soundness.progress import progress
from rspverify.source import Problem, Source
from rspverify.verdict import WITHOUT_PROGRESS, ProgressWord, Word

LIVE = "locks are taken in an order, and nothing else keeps anybody waiting for ever"
NOT_IN_ORDER = "locks are not taken in an order, and no small program is known to get stuck"


class ProofWord(StrEnum):
    """What is known of all programs of a table's operations.

    PROVED: they are compiled soundly, whatever their size. UNSOUND: a test is not. NO PROOF:
    neither is known; why is said.
    """

    PROVED = "PROVED"
    UNSOUND = "UNSOUND"
    NO_PROOF = "NO PROOF"


class BrokenObligation(Struct, frozen=True, kw_only=True):
    """An obligation that a table does not meet.

    rows: of the two operations. meaning: in words of the table. order: moments of both operations,
    in an order in which it is broken. test: the file that the program has with `--write`; program:
    it in one line, text: as a test; null where none is known. verdict: what the exact engine says
    of it. reason: what is observed, or why there is no verdict.
    """

    kind: Kind
    first: str
    second: str
    rows: tuple[Place, Place]
    meaning: str
    order: tuple[str, ...]
    test: str | None = None
    program: str | None = None
    text: str | None = None
    verdict: Word | None = None
    reason: str = ""


class Proof(Struct, frozen=True, kw_only=True):
    """What a table alone says of all its programs.

    operations: that they are made of. missing: operations of Tab. 3 that the table has no row for.
    refused: what of the table the proof says nothing of, each with its place. obligations: how
    many there are by kind. broken: those that are not met. progress: whether a program may get
    stuck; null where nothing is asked.
    """

    subject: Subject
    word: ProofWord
    reason: str
    operations: tuple[str, ...] = ()
    missing: tuple[str, ...] = ()
    refused: tuple[str, ...] = ()
    obligations: Mapping[str, Count] = {}
    broken: tuple[BrokenObligation, ...] = ()
    progress: ProgressWord | None = None
    progress_reason: str | None = None
    internal: tuple[Internal, ...] = ()
    seconds: Seconds = 0.0


class ProofReport(Struct, frozen=True):
    """What is proved of each scheme. stopped: why no more were asked, if it is so."""

    proofs: tuple[Proof, ...]
    stopped: str | None = None


class ProofQuestion(Question[Proof], frozen=True):
    """Are all programs of a table's operations compiled soundly?

    Only the verdicts on its counterexamples are kept: the rest takes no longer than a cache does.
    """

    kind = "proof"

    verdicts: Verdicts
    scheme: NamedScheme

    @property
    def name(self) -> str:
        return self.scheme.name

    @property
    def incident(self) -> Incident:
        settings = self.verdicts.settings
        return Incident("prove", (), (self.scheme.file,), settings, takes=("machine", "seconds"))

    def decide(self) -> Proof:
        started = time.perf_counter()
        table = proof_table(self.scheme.scheme)
        machine, settings = self.scheme.machine, self.verdicts.settings
        file = machine.path or None
        found = Proof(
            subject=Subject(
                self.scheme.name, self.scheme.file, machine.name, MODEL, settings.engine, file
            ),
            word=ProofWord.NO_PROOF,
            reason="",
        )
        if table.operations:
            table, found = self._of_obligations(table, found)
        found = replace(
            found,
            operations=tuple(map(str, table.operations)),
            missing=table.missing,
            refused=tuple(map(_placed, table.refused)),
        )
        word, reason = _concluded(found)
        return replace(found, word=word, reason=reason, seconds=time.perf_counter() - started)

    def _of_obligations(self, table: ProofTable, found: Proof) -> tuple[ProofTable, Proof]:
        """The table without the rows that are too weak to be proved, and what is known of it."""
        failed = {it: how for it in obligations(table) if (how := it.failure(table)) is not None}
        broken = {it: self._broken(it, how, table) for it, how in failed.items()}
        unknown = [it for it, known in broken.items() if known.verdict is not Word.UNSOUND]
        if unknown and self._is_exact(table):
            known = broken[unknown[0]]
            raise InternalError(
                f"an obligation that is broken must be an execution of {known.program}",
                {"broken": f"{known.meaning}; {known.order}", "verdict": known.reason},
            )
        weak = {op for it in unknown for op in (it.first, it.second) if not op.as_strong}
        table = table.without(weak)
        kept = tuple(each for it, each in broken.items() if not weak & {it.first, it.second})
        going, reason = self._progress(table)
        return table, replace(
            found,
            obligations=Counter(str(it.kind) for it in obligations(table)),
            broken=kept,
            progress=going,
            progress_reason=reason,
        )

    def _progress(self, table: ProofTable) -> tuple[ProgressWord, str]:
        """Whether a program of the table may get stuck; a small one that does, if it is known."""
        if never_stuck(self.scheme.scheme, table):
            return ProgressWord.LIVE, LIVE
        for test in that_may_get_stuck(table):
            found = progress(program_of(test, ""), self.scheme.scheme, self.verdicts.settings)
            stuck = found.word is ProgressWord.STUCK
            if stuck and self._decided(test).verdict not in WITHOUT_PROGRESS:
                return ProgressWord.STUCK, f"{notation(test)}: {found.reason}"
        return ProgressWord.UNKNOWN, NOT_IN_ORDER

    def _is_exact(self, table: ProofTable) -> bool:
        """Whether every broken obligation is an execution of its test."""
        same = self.scheme.machine.meaning_digest == machine_named(BASE).meaning_digest
        return same and table.is_exact

    def _broken(self, it: Obligation, failure: Failure, table: ProofTable) -> BrokenObligation:
        """What is known of an obligation that is broken, with the verdict on its first test that
        is UNSOUND, or else on its first."""
        shown = _Decided()
        for test in tests_of(it, table):
            found = self._decided(test)
            if shown.test is None or found.verdict is Word.UNSOUND:
                shown = found
            if shown.verdict is Word.UNSOUND:
                break
        return BrokenObligation(
            kind=it.kind,
            first=str(it.first),
            second=str(it.second),
            rows=(it.first.row.number, it.second.row.number),
            meaning=str(it),
            order=failure.order,
            test=shown.test,
            program=shown.program,
            text=shown.text,
            verdict=shown.verdict,
            reason=shown.reason,
        )

    def _decided(self, test: LitmusTest) -> _Decided:
        loaded = self._loaded(test)
        found = self.verdicts.answer(loaded, self.scheme).verdict
        return _Decided(loaded.title, notation(test), loaded.source.text, found.word, found.reason)

    def _loaded(self, test: LitmusTest) -> LoadedTest:
        """A test as its text says it."""
        title = f"prove+{test.name}"
        text = litmus_text(test, title, comment=f"Found by `rspverify prove`: {notation(test)}")
        return LoadedTest(Source(f"{title}.litmus", text), self.verdicts.settings)


class _Decided(Struct, frozen=True):
    """A test and what the engine says of it."""

    test: str | None = None
    program: str | None = None
    text: str | None = None
    verdict: Word | None = None
    reason: str = ""


def _placed(it: Problem) -> str:
    return f"{it.span}: {it.message}" if it.span else it.message


def _concluded(proof: Proof) -> tuple[ProofWord, str]:
    """What follows of all that is known."""
    total = sum(proof.obligations.values())
    if any(it.verdict is Word.UNSOUND for it in proof.broken):
        return ProofWord.UNSOUND, f"{len(proof.broken)} of {total} obligations are broken"
    if proof.broken:
        reason = f"{len(proof.broken)} of {total} obligations are not shown"
        return ProofWord.NO_PROOF, f"{reason}, and no test is known that shows them broken"
    if not proof.obligations and not proof.refused:
        return ProofWord.NO_PROOF, "the table has no atomic operations that synchronise"
    if proof.refused:
        reason = "of the table something is no part of the proof"
        if total:
            reason += f"; for programs of the other operations all {total} obligations hold"
        return ProofWord.NO_PROOF, reason
    return ProofWord.PROVED, f"all {total} obligations hold"
