"""Candidates put to tests: those that kill most come first, and nothing is asked twice.

Before all of these they are held to obligations, which say of a test at once that it fails.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from msgspec import Struct

from rspverify.engineering.repair.codes import Code, weaker
from rspverify.engineering.repair.instructions import InstructionPool
from rspverify.judge.inputs import LoadedTest, NamedScheme
from rspverify.judge.verdicts import Verdicts
from rspverify.limits import LimitReached
from rspverify.litmus.program import Kind
from rspverify.machine.replay import Replayer
from rspverify.machine.rules import InstructionRule
from rspverify.proof.obligations import Obligation
from rspverify.proof.table import ProofTable, covers
from rspverify.records import replace
from rspverify.soundness.case import machine_of
from rspverify.soundness.progress import hang
from rspverify.source import InternalError
from rspverify.translators import table_of
from rspverify.verdict import WRONG, ProgressWord, Word

if TYPE_CHECKING:
    from rspverify.translators import Rows

Beginnings = Mapping[int, int | None]
"""By the number of a row how many instructions its code must begin with; None: all, and no more."""


Part = tuple[tuple[int, Code], ...]
"""Codes by the numbers of their rows, ascending: those that a test uses."""


class Trial(Struct, frozen=True):
    """A test, and the numbers of the rows that compile it. obligation: it fails if that is broken,
    as long as the other rows that it uses do no more than access."""

    test: LoadedTest
    rows: tuple[int, ...]
    obligation: Obligation | None = None

    def part(self, codes: Mapping[int, Code]) -> Part:
        """What of a candidate the test depends on."""
        return tuple((row, codes[row]) for row in self.rows)


class Trials:
    """Tests that say something of schemes with the rows of one, and what they have said.

    A test that passes under some codes passes under stronger ones, or they complete nothing there;
    so stronger ones are not asked about, until `verdict` is asked for.
    """

    def __init__(self, verdicts: Verdicts, scheme: Rows, pool: InstructionPool) -> None:
        self.asked = 0
        self.kills: Counter[str] = Counter()
        self.trials: list[Trial] = []
        self.broken: list[Trial] = []
        self._obligations: list[Trial] = []
        self._staying = ProofTable((), (), ())
        self._shown: dict[tuple[str, Part], bool] = {}
        self._verdicts = verdicts
        self._scheme = scheme
        self.pool = pool
        self._said: dict[tuple[str, Part], Word] = {}
        self._passed: dict[str, list[Part]] = {}

    def add(self, test: LoadedTest) -> Trial:
        """One more test. The scheme must have rows for it."""
        trial = self._trial(test)
        self.trials.append(trial)
        return trial

    def oblige(self, test: LoadedTest, obligation: Obligation, staying: ProofTable) -> None:
        """Hold candidates to an obligation, whose test fails if it is broken. staying: the
        operations of rows that do no more than access, and stay."""
        self._staying = staying
        self._obligations.append(replace(self._trial(test), obligation=obligation))

    def _trial(self, test: LoadedTest) -> Trial:
        return Trial(test, tuple(row.number for row in self._scheme.rows_used(test.program)))

    @property
    def every(self) -> list[Trial]:
        """All tests, those of obligations that a candidate broke among them."""
        return [*self.trials, *self.broken]

    def first_broken(self, codes: Mapping[int, Code]) -> Trial | None:
        """The test of an obligation that these codes break."""
        for trial in self._obligations:
            if self.fails(trial, codes):
                if trial not in self.broken:
                    self.broken.append(trial)
                return trial
        return None

    def confirm(self, trial: Trial, codes: Mapping[int, Code]) -> None:
        """Have the engine decide what an obligation said of its test. Raises LimitReached."""
        if trial.obligation is None:
            return
        word = self.word(trial, codes)
        if word is Word.UNKNOWN:
            raise LimitReached(f"{trial.test.file} was not decided")
        if word not in WRONG:
            message = "an obligation that is broken must be an execution of its test"
            raise InternalError(message, {"broken": str(trial.obligation), "verdict": word.value})

    def first_failure(self, codes: Mapping[int, Code]) -> tuple[Trial, Word] | None:
        """A test that is not SOUND under these codes, as far as is known without asking twice."""
        ordered = sorted(self.trials, key=lambda it: (-self.kills[it.test.file], it.test.size))
        for trial in ordered:
            if not self._surely_passes(trial, codes):
                word = self.word(trial, codes)
                if word is not Word.SOUND:
                    self.kills[trial.test.file] += 1
                    return trial, word
        return None

    def fails(self, trial: Trial, codes: Mapping[int, Code]) -> bool:
        """Whether a test is UNSOUND or OPEN under these codes."""
        if trial.obligation is not None:
            return self._breaks(trial, trial.obligation, codes)
        return not self._surely_passes(trial, codes) and self.word(trial, codes) in WRONG

    def _breaks(self, trial: Trial, it: Obligation, codes: Mapping[int, Code]) -> bool:
        """Whether codes break an obligation; of what no proof covers nothing is known."""
        part = trial.part(codes)
        key = trial.test.file, part
        if key not in self._shown:
            rows = {row.number: row for row in table_of(self._with(part)).rows}
            first, second = (replace(op, row=rows[op.row.number]) for op in (it.first, it.second))
            known = covers(first.row) and covers(second.row)
            operations = (first, second, *self._staying.operations)
            table = replace(self._staying, operations=operations)
            self._shown[key] = (
                known and Obligation(it.kind, first, second).failure(table) is not None
            )
        return self._shown[key]

    def word(self, trial: Trial, codes: Mapping[int, Code]) -> Word:
        """The verdict on a test under these codes, decided for them."""
        part = trial.part(codes)
        key = trial.test.file, part
        if key not in self._said:
            self.asked += 1
            word = self._verdicts.word(trial.test, NamedScheme.by(self._with(part)))
            self._said[key] = word
            if word is Word.SOUND:
                self._passed.setdefault(trial.test.file, []).append(part)
        return self._said[key]

    def progress(self, trial: Trial, codes: Mapping[int, Code]) -> ProgressWord:
        """Whether the test can always go on under these codes. It must be SOUND. What a model
        judges does."""
        scheme = NamedScheme.by(self._with(trial.part(codes)))
        found = self._verdicts.progress(trial.test, scheme, Word.SOUND)
        return found.progress.word if found else ProgressWord.LIVE

    def beginnings(self, trial: Trial, codes: Mapping[int, Code]) -> Beginnings | None:
        """Beginnings of these codes with which the test stops for ever; rows that are left out may
        have any code. None if no execution to a deadlock is found.
        """
        program, scheme = trial.test.program, table_of(self._with(trial.part(codes)))
        if program.spins:
            return None  # What never ends there is no deadlock of one iteration.
        compiled, settings = scheme.compiled(program), self._verdicts.settings
        machine = machine_of(compiled, settings)
        try:
            schedule = hang(machine, settings.limits()).schedule
        except LimitReached:
            return None
        if schedule is None:
            return None
        replayer = Replayer(machine)
        end = replayer.settled(replayer.states(schedule)[-1])
        begun = {it.instruction.index for it in schedule if isinstance(it, InstructionRule)}
        begun |= {
            rule.instruction.index
            for rule in replayer.explicit.next_rules(end)
            if not replayer.explicit.marked(end, rule)
        }
        known = Counter(it.operation for it in compiled.instructions if it.index in begun)
        whole = Counter(it.operation for it in compiled.instructions)
        found: dict[int, int | None] = {}
        for operation in program.operations:
            length, rows = known[operation.index], scheme.rows_of(operation)
            for row in rows if length else ():
                before = found.get(row.number, 0)
                complete = before is None or length == whole[operation.index]
                several = operation.kind is Kind.BARRIER  # Its code is that of two fences.
                found[row.number] = None if complete or several else max(length, before or 0)
        return found

    def scheme_of(self, codes: Mapping[int, Code], name: str) -> Rows:
        """The whole scheme with these codes."""
        return replace(self._with(tuple(codes.items())), name=name)

    def _with(self, part: Sequence[tuple[int, Code]]) -> Rows:
        scheme = self._scheme
        spans = {row.number: row.span for row in scheme.rows}
        for row, code in part:
            scheme = scheme.with_code(row, self.pool.written(code, spans[row]))
        return scheme

    def _surely_passes(self, trial: Trial, codes: Mapping[int, Code]) -> bool:
        return any(
            all(weaker(code, codes[row], self.pool) for row, code in passed)
            for passed in self._passed.get(trial.test.file, ())
        )
