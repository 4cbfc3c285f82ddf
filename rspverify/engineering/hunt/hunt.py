"""A hunt: program after program under a scheme, which is made stronger where one breaks it."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Sequence
from contextlib import closing
from dataclasses import dataclass, replace

from rspverify.answers import Internal
from rspverify.engineering.hunt.blame import blame
from rspverify.engineering.hunt.decide import Deciding, row_shape, test_of_shape
from rspverify.engineering.hunt.finding import FIRST, NO_ROW, BlamedRow, Finding, PhaseCounts
from rspverify.enumeration.naming import line_of
from rspverify.enumeration.packed import decoded
from rspverify.enumeration.survey import Phase, Survey
from rspverify.scheme import Row, Scheme
from rspverify.soundness.case import Case
from rspverify.soundness.check import check
from rspverify.soundness.settings import Settings
from rspverify.verdict import Verdict, Word


@dataclass
class _Part:
    """Programs that were decided in a row, and under which of the schemes, by its number."""

    programs: Sequence[bytes]
    version: int


class Hunt:
    """One hunt. What is known so far can be asked for at any time.

    found: told of each program that breaks the scheme. decided: told how many more programs were
    decided, of how many of a phase.
    """

    def __init__(
        self,
        survey: Survey,
        scheme: Scheme,
        settings: Settings,
        *,
        file: str = "",
        first: bool = False,
        found: Callable[[Finding], Finding] = lambda finding: finding,
        phase: Callable[[Phase, int], None] = lambda phase, count: None,
        decided: Callable[[int], None] = lambda count: None,
    ) -> None:
        self.survey = survey
        self.deciding = Deciding(survey, settings, file)
        self.schemes = [scheme]
        self.stronger: list[int] = []
        self.findings: list[Finding] = []
        self.phases: list[PhaseCounts] = []
        self.internal: list[Internal] = []
        self.stopped = ""
        self.complete = False
        self._settings = settings
        self._first = first
        self._found = found
        self._phase = phase
        self._decided = decided
        self._parts: list[_Part] = []
        self._other: dict[bytes, Word] = {}
        self._reasons: dict[bytes, str] = {}
        self._changed: list[frozenset[int]] = []
        self._started = time.perf_counter()

    @property
    def words(self) -> Counter[Word]:
        """How many programs have each verdict, by the last that was found."""
        total = sum(len(part.programs) for part in self._parts)
        words = Counter(self._other.values())
        words[Word.SOUND] = total - sum(words.values())
        return +words

    @property
    def unknown(self) -> tuple[str, ...]:
        """The programs without a verdict, each with the reason."""
        undecided = (Word.UNKNOWN, Word.UNSUPPORTED, Word.ERROR)
        return tuple(
            self._reasons.get(each, "") for each, word in self._other.items() if word in undecided
        )

    @property
    def done(self) -> int:
        """How many programs were decided, that with which a part ends included."""
        return sum(len(part.programs) for part in self._parts) + 1

    def run(self) -> None:
        """Everything, unless it is stopped before."""
        for phase in self.survey.phases():
            larger = self.deciding.needs_larger(self.schemes[-1])
            programs: Sequence[bytes] = phase.to_decide(self.survey.space, larger=larger)
            self.phases.append(phase_counts(phase, len(programs)))
            self._phase(phase, len(programs))
            if not self._all(programs):
                return
        while (again := self._outdated()) is not None:
            part, programs = again
            part.version = len(self.schemes) - 1
            if programs and not self._all(programs, anew=True):
                return
        self.complete = True

    def _all(self, programs: Sequence[bytes], *, anew: bool = False) -> bool:
        """Decide programs, and go on after each finding; whether it is to go on after them."""
        while programs:
            done, broken = self._until_broken(programs)
            if not anew:
                self._parts.append(_Part(programs[:done], len(self.schemes) - 1))
            if broken is None:
                return True
            self._other[broken] = Word.UNSOUND
            if not self._finding(broken):
                if not anew:
                    self._parts.append(_Part([broken], len(self.schemes) - 1))
                return False
            programs = programs[done:]
        return True

    def _until_broken(self, programs: Sequence[bytes]) -> tuple[int, bytes | None]:
        """How many programs there are before the first that is broken, and that one."""
        done = 0
        with closing(self.deciding.words(programs, self.schemes[-1])) as coming:
            for chunk, words in coming:
                self.internal += words.internal
                reasons = iter(words.reasons)
                for program, word in zip(chunk, words.words, strict=True):
                    if word in (Word.UNKNOWN, Word.UNSUPPORTED):
                        self._reasons[program] = next(reasons)
                    if word is Word.UNSOUND:
                        self._decided(done % len(chunk))
                        return done, program
                    self._note(program, word)
                    done += 1
                self._decided(len(chunk))
        return done, None

    def _note(self, program: bytes, word: Word) -> None:
        if word is Word.SOUND:
            self._other.pop(program, None)
        else:
            self._other[program] = word

    def _finding(self, program: bytes) -> bool:
        """Decide a program again from its text, blame rows, and make them stronger; or stop."""
        survey, scheme = self.survey, self.schemes[-1]
        shape = decoded(program)
        settings = replace(self._settings, shortest=True, progress=False, seconds=None)
        test = test_of_shape(shape, survey.space, settings)
        verdict = check(Case(test.program, scheme, survey.model, settings))
        if verdict.word is not Word.UNSOUND:
            line = line_of(shape, survey.space)
            raise AssertionError(f"{line} is UNSOUND, and from its text {verdict.word.value}")
        devices = survey.space.devices
        at_fault = blame(
            test.program, scheme, survey.model, self.deciding.settings, devices=devices
        )
        shown = Finding(
            program=line_of(shape, survey.space),
            test=test.program.title,
            text=test.source.text,
            events=shape.size,
            threads=len(shape.threads),
            reason=verdict.reason,
            steps=_steps(verdict),
            axioms=verdict.axioms,
            blamed=tuple(_blamed(row, at_fault.mended) for row in at_fault.blamed),
            mends=tuple(tuple(row.number for row in rows) for rows in at_fault.mends),
            stronger=tuple(self.stronger),
            decided=self.done,
            open=len(self.unknown),
            seconds=time.perf_counter() - self._started,
        )
        self.findings.append(self._found(shown))
        if self._first or not at_fault.blamed:
            self.stopped = FIRST if self._first else NO_ROW
            return False
        self.schemes.append(at_fault.mended)
        numbers = [row.number for row in at_fault.blamed]
        self._changed.append(frozenset(numbers))
        self.stronger += [each for each in numbers if each not in self.stronger]
        return True

    def _outdated(self) -> tuple[_Part, Sequence[bytes]] | None:
        """Programs whose rows have changed since they were decided, of one part."""
        now = len(self.schemes) - 1
        for part in self._parts:
            if part.version < now:
                changed = frozenset[int]().union(*self._changed[part.version :])
                return part, [each for each in part.programs if changed & self._rows(each)]
        return None

    def _rows(self, program: bytes) -> frozenset[int]:
        """The numbers of the rows that a program uses."""
        accesses, table = self.survey.space.accesses, self.schemes[-1].table
        used = {step.operation for thread in decoded(program).threads for step in thread.accesses}
        shapes = (row_shape(accesses[each]) for each in used)
        return frozenset(table[each].number for each in shapes if each in table)


def phase_counts(phase: Phase, count: int) -> PhaseCounts:
    """A phase of which so many programs must be decided."""
    counts = phase.counts
    return PhaseCounts(
        events=phase.events,
        threads=phase.threads,
        programs=counts.programs,
        alone=counts.alone,
        larger=counts.larger,
        guarded=counts.guarded,
        to_decide=count,
        racy=counts.racy,
    )


def _blamed(row: Row, mended: Scheme) -> BlamedRow:
    stronger = next(each.code for each in mended.rows if each.number == row.number)
    code, strong = (tuple(map(str, each)) for each in (row.code, stronger))
    return BlamedRow(row.number, str(row), code, strong)


def _steps(verdict: Verdict) -> int | None:
    return None if verdict.execution is None else len(verdict.execution.steps)
