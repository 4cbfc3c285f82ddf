"""A proof: every obligation of a table is shown, or the executions that break it are found."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from enum import StrEnum
from functools import lru_cache

from msgspec import Struct

from rspverify.answers import Internal, Subject
from rspverify.convert import Count, Place, Seconds
from rspverify.judge.inputs import LoadedTest, NamedScheme
from rspverify.judge.judge import Judge
from rspverify.judge.question import WORKER_LOST, Incident, Question, Undecided
from rspverify.judge.run import read_inputs
from rspverify.judge.verdicts import Verdicts
from rspverify.programs.litmus_test import LitmusTest
from rspverify.programs.meaning import program_of
from rspverify.programs.notation import notation
from rspverify.programs.writer import litmus_text
from rspverify.proof.covered import Reason, reasons
from rspverify.proof.lemmas import LemmaAnswer, require_proved
from rspverify.proof.machines import is_base
from rspverify.proof.obligations import Failure, Kind, Obligation, failures, obligations
from rspverify.proof.programs import never_stuck, tests_of, that_may_get_stuck, wider_tests_of
from rspverify.proof.table import MODEL, ProofTable, proof_table
from rspverify.records import replace
from rspverify.soundness.progress import progress
from rspverify.soundness.settings import Settings
from rspverify.source import InternalError, Problem, Source
from rspverify.translators import machine_behind, table_of
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


class ProofTest(Struct, frozen=True, kw_only=True):
    """A test that is written from a broken obligation, and the verdict of the exact engine.

    program: it in one line; text: as a file. reason: what is observed, or why there is no verdict.
    """

    title: str
    program: str
    text: str
    verdict: Word
    reason: str

    @property
    def refutes(self) -> bool:
        """Whether it shows that the table is unsound."""
        return self.verdict is Word.UNSOUND

    def loaded(self, settings: Settings) -> LoadedTest:
        """The test to be asked about."""
        return _loaded(self.title, self.text, settings)


class BrokenObligation(Struct, frozen=True, kw_only=True):
    """An obligation that a table does not meet.

    rows: of the two operations. meaning: in words of the table. order: moments of both operations,
    in an order in which it is broken. test: one that is UNSOUND, or else the first that was tried;
    null where none can be written.
    """

    kind: Kind
    first: str
    second: str
    rows: tuple[Place, Place]
    meaning: str
    order: tuple[str, ...]
    test: ProofTest | None = None

    @property
    def is_shown(self) -> bool:
        """Whether its test refutes the table."""
        return self.test is not None and self.test.refutes

    @property
    def is_undecided(self) -> bool:
        """Whether a limit was met before the engine could say anything of its test."""
        return self.test is not None and self.test.verdict is Word.UNKNOWN


class Proof(Struct, frozen=True, kw_only=True):
    """What a table alone says of all its programs.

    operations: that they are made of. missing: operations of Tab. 3 that the table has no row for.
    refused: what of the table the proof says nothing of, each with its place. obligations: how
    many there are by kind. broken: those that are not met. progress: whether a program may get
    stuck; null where nothing is asked. reasons: what each instruction of a table that is PROVED is
    needed for, where that is asked for.
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
    reasons: tuple[Reason, ...] = ()
    internal: tuple[Internal, ...] = ()
    seconds: Seconds = 0.0

    @property
    def refuting(self) -> tuple[ProofTest, ...]:
        """The tests that show the table to be unsound, each once."""
        shown = (it.test for it in self.broken if it.test is not None and it.is_shown)
        return tuple(dict.fromkeys(shown))


class ProofReport(Struct, frozen=True):
    """What is proved of each scheme. lemmas: what solvers say of the lemmas, if that was asked.
    stopped: why no more were asked, if it is so."""

    proofs: tuple[Proof, ...]
    lemmas: tuple[LemmaAnswer, ...] = ()
    stopped: str | None = None


class ProofQuestion(Question[Proof], frozen=True):
    """Are all programs of a table's operations compiled soundly?

    Only the verdicts on its counterexamples are kept: the rest takes no longer than a cache does.
    """

    kind = "proof"

    verdicts: Verdicts
    scheme: NamedScheme
    reasons: bool = False

    @property
    def name(self) -> str:
        return self.scheme.name

    @property
    def incident(self) -> Incident:
        settings = self.verdicts.settings
        return Incident("prove", (), (self.scheme.file,), settings, takes=("machine", "seconds"))

    def decide(self) -> Proof:
        started = time.perf_counter()
        require_proved()
        table = proof_table(table_of(self.scheme.translator))
        found = self._unknown("")
        if table.operations:
            table, found = self._of_obligations(table, found)
        found = replace(
            found,
            operations=tuple(map(str, table.operations)),
            missing=table.missing,
            refused=tuple(map(_placed, table.refused)),
        )
        word, reason = _concluded(found)
        if self.reasons and word is ProofWord.PROVED:
            found = replace(found, reasons=tuple(reasons(table_of(self.scheme.translator))))
        return replace(found, word=word, reason=reason, seconds=time.perf_counter() - started)

    def refutations(self) -> Iterator[ProofTest]:
        """Tests that refute the table, a broken obligation each, as they are found."""
        require_proved()
        table = proof_table(table_of(self.scheme.translator))
        for it, how in failures(table).items():
            found = self._broken(it, how, tests_of(it, table)).test
            if found is not None and found.refutes:
                yield found

    def lost(self, why: Undecided) -> Proof:
        if why is WORKER_LOST:
            return super().lost(why)
        return self._unknown(why.reason, why.internal)

    def _unknown(self, reason: str, internal: Internal | None = None) -> Proof:
        """What is known before anything is asked, or where that goes wrong."""
        it, machine = self.scheme, machine_behind(self.scheme.translator)
        engine, file = self.verdicts.settings.engine, machine.path or None
        return Proof(
            subject=Subject(it.name, it.file, machine.name, MODEL, engine, file),
            word=ProofWord.NO_PROOF,
            reason=reason,
            internal=(internal,) if internal else (),
        )

    def _of_obligations(self, table: ProofTable, found: Proof) -> tuple[ProofTable, Proof]:
        """The table without the rows that are too weak to be proved, and what is known of it."""
        failed = failures(table)
        broken = {it: self._broken(it, how, tests_of(it, table)) for it, how in failed.items()}
        unknown = [it for it, known in broken.items() if not known.is_shown]
        denied = [it for it in unknown if not broken[it].is_undecided]
        is_exact = is_base(machine_behind(self.scheme.translator)) and table.is_exact
        if denied and is_exact:  # Then every broken obligation is an execution of its test.
            known = broken[denied[0]]
            raise InternalError(
                "an obligation that is broken must be an execution of its test",
                {"broken": f"{known.meaning}; {known.order}", "verdict": str(known.test)},
            )
        strong = [it for it in unknown if it.first.as_strong and it.second.as_strong]
        for it in strong if len(unknown) == len(broken) else ():
            known = self._broken(it, failed[it], wider_tests_of(it, table))
            if known.is_shown:
                broken[it] = known
                break
        unknown = [it for it, known in broken.items() if not known.is_shown]
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
        if never_stuck(table_of(self.scheme.translator), table):
            return ProgressWord.LIVE, LIVE
        for test in that_may_get_stuck(table):
            found = progress(program_of(test, ""), self.scheme.scheme, self.verdicts.settings)
            stuck = found.word is ProgressWord.STUCK
            if stuck and self._decided(test).verdict not in WITHOUT_PROGRESS:
                return ProgressWord.STUCK, f"{notation(test)}: {found.reason}"
        return ProgressWord.UNKNOWN, NOT_IN_ORDER

    def _broken(
        self, it: Obligation, failure: Failure, tests: Iterable[LitmusTest]
    ) -> BrokenObligation:
        """What is known of an obligation that is broken, by the first of some tests that refutes
        the table, or else by the first."""
        shown: ProofTest | None = None
        for test in tests:
            found = self._decided(test)
            if shown is None or found.refutes:
                shown = found
            if shown.refutes:
                break
        return BrokenObligation(
            kind=it.kind,
            first=str(it.first),
            second=str(it.second),
            rows=(it.first.row.number, it.second.row.number),
            meaning=str(it),
            order=failure.order,
            test=shown,
        )

    def _decided(self, test: LitmusTest) -> ProofTest:
        loaded = loaded_test(test, self.verdicts.settings)
        found = self.verdicts.answer(loaded, self.scheme).verdict
        return ProofTest(
            title=loaded.title,
            program=notation(test),
            text=loaded.source.text,
            verdict=found.word,
            reason=found.reason,
        )


def proof_questions(
    schemes: Sequence[str | Source], settings: Settings, judge: Judge, *, reasons: bool = False
) -> list[ProofQuestion]:
    """A question for each scheme. Raises InputError with all that is wrong with any of them."""
    run = read_inputs(schemes, replace(settings, model=MODEL), judge)
    return [ProofQuestion(run.verdicts, it, reasons) for it in run.schemes]


def loaded_test(test: LitmusTest, settings: Settings) -> LoadedTest:
    """A test as its text says it."""
    title = f"prove+{test.name}"
    text = litmus_text(test, title, comment=f"Found by `rspverify prove`: {notation(test)}")
    return _loaded(title, text, settings)


@lru_cache(maxsize=500)
def _loaded(title: str, text: str, settings: Settings) -> LoadedTest:
    """One for all tables that are held against a test: what is asked of it alone is asked once."""
    return LoadedTest(Source(f"{title}.litmus", text), settings)


def _placed(it: Problem) -> str:
    return f"{it.span}: {it.message}" if it.span else it.message


def _concluded(proof: Proof) -> tuple[ProofWord, str]:
    """What follows of all that is known."""
    total = sum(proof.obligations.values())
    if any(it.is_shown for it in proof.broken):
        return ProofWord.UNSOUND, f"{len(proof.broken)} of {total} obligations are broken"
    if proof.broken:
        reason = f"{len(proof.broken)} of {total} obligations are not shown"
        return ProofWord.NO_PROOF, f"{reason}, and no test is known that shows them broken"
    if not proof.obligations and not proof.refused:
        return ProofWord.NO_PROOF, "the table has no atomic operations that synchronise"
    if not proof.operations and proof.refused:
        return ProofWord.NO_PROOF, "nothing of the table is a part of the proof"
    if proof.refused:
        reason = "of the table something is no part of the proof"
        if total:
            reason += f"; for programs of the other operations all {total} obligations hold"
        return ProofWord.NO_PROOF, reason
    return ProofWord.PROVED, f"all {total} obligations hold"
