"""Does a program hang under a scheduler (docs/progress.md)?

A program hangs if the model allows an execution in which every thread has ended, is stuck, waits at
a barrier, or is stopped by the scheduler, and at least one that is scheduled has not ended.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cached_property

from rspverify.axiomatic.awaits import awaited
from rspverify.axiomatic.coverage import require_covered
from rspverify.axiomatic.execution import Execution
from rspverify.axiomatic.model import MemoryModel
from rspverify.axiomatic.partial import Stopped, Stuck, Waiting
from rspverify.limits import Limits
from rspverify.litmus.program import Kind, Program
from rspverify.records import replace
from rspverify.schedulers import Scheduler, Unit
from rspverify.smt.solver import Model
from rspverify.smt.term import TRUE, Term
from rspverify.soundness.hang import (
    Hang,
    LastRead,
    ScheduledAnswer,
    StoppedGroup,
    StoppedThread,
    StuckThread,
    WaitingThread,
)
from rspverify.soundness.hanging import Hanging
from rspverify.soundness.wording import race_in_words
from rspverify.source import InputError, Problem, Severity
from rspverify.verdict import ProgressWord

ENDS = "every execution that the scheduler allows comes to its end"
"""Why a program is LIVE."""


class SourceProgress:
    """A program under a model, asked about one scheduler after the other.

    Raises InputError where the model is silent about it, or this version. Every method raises
    LimitReached.
    """

    def __init__(
        self, program: Program, model: MemoryModel, limits: Limits, unit: Unit = Unit.GROUP
    ) -> None:
        require_covered(program, model)
        _require_no_mutexes(program)
        self.program = awaited(program, model)
        self._model, self.limits, self._unit = model, limits, unit

    @cached_property
    def hanging(self) -> Hanging:
        """The executions that hang."""
        return Hanging(self.program, self._model, self.limits, self._unit)

    def under(self, scheduler: Scheduler, file: str) -> ScheduledAnswer:
        """Whether the program may hang under a scheduler. file: of the test."""
        answer = ScheduledAnswer(
            test=self.program.title,
            file=file,
            model=self._model.name,
            scheduler=str(scheduler),
            unit=self._unit,
            progress=ProgressWord.UNKNOWN,
            reason="",
            within=self.program.within,
        )
        if self.undefined is not None:
            reason = f"undefined behaviour: {self.undefined}"
            return replace(answer, reason=reason, undefined=True, within={})
        found = self.hang(scheduler)
        bounds = " and ".join(f"{number} {bound}" for bound, number in answer.within.items())
        if found is not None:
            hang, _ = found
            beyond = f", unless the program races beyond {bounds}" if bounds else ""
            reason = f"{in_words(hang, self._unit)}{beyond}"
            return replace(answer, progress=ProgressWord.STUCK, reason=reason, hang=hang)
        if bounds:
            reason = f"no execution hangs within {bounds}, but there are others"
            return replace(answer, reason=reason)
        return replace(answer, progress=ProgressWord.LIVE, reason=ENDS)

    @cached_property
    def undefined(self) -> str | None:
        """What makes the behaviour of the program undefined, in words; None if nothing does."""
        race = self.hanging.every.race()
        if race is None or race.divergence or race.second is None:
            return None if race is None else race_in_words(race)
        return f"race ({race.condition}): {race_in_words(race)}"

    # ---- hanging executions --------------------------------------------------------------------

    def hang(self, scheduler: Scheduler) -> tuple[Hang, Execution] | None:
        """An execution that hangs and that the scheduler allows; None if there is none.

        With nobody stopped if there is such a one, or nobody that has started. Which one it is
        depends on the program and the scheduler alone.
        """
        hanging = self.hanging
        for occupancy, allowed in hanging.allowed(scheduler):
            found = self._with_nobody_stopped if occupancy is None else None
            if found is None and hanging.may(allowed):
                found = self._first([hanging.nobody, hanging.before_the_start, TRUE], allowed)
            if found is not None:
                execution = Execution(hanging.executions.candidates, found)
                return self._told(execution, found, occupancy), execution
        return None

    @cached_property
    def _with_nobody_stopped(self) -> Model | None:
        """An execution that hangs and that every scheduler allows that has no bound."""
        nobody = self.hanging.nobody
        return self._first([nobody], TRUE) if self.hanging.may(nobody) else None

    def _first(self, wishes: Sequence[Term], allowed: Term) -> Model | None:
        """An execution that hangs, is allowed, and is as wished, by the first wish that is met."""
        solver = self.hanging.every.solver(reproducible=True)
        solver.add(self.hanging.hangs, allowed)
        found = (solver.find([wish]) for wish in wishes)
        return next((each for each in found if each is not None), None)

    def _told(self, execution: Execution, found: Model, occupancy: int | None) -> Hang:
        hanging, partial = self.hanging, self.hanging.executions
        candidates = partial.candidates
        stuck, waiting = [], []
        stopped: list[StoppedGroup] = []
        for number, group in enumerate(hanging.members):
            halted = found[hanging.stopped[number]]
            threads = []
            for thread in group:
                (end,) = (it for it, term in partial.ends[thread.index].items() if found[term])
                if halted and not found[partial.finished(thread.index)]:
                    threads.append(StoppedThread(thread.index, self._next_line(thread.index, end)))
                elif isinstance(end, Stuck):
                    reads = tuple(self._last_reads(end, execution, found))
                    stuck.append(StuckThread(thread.index, end.spin.span.line, reads))
                elif isinstance(end, Waiting):
                    it = end.barrier
                    missing = tuple(who for who, term in partial.absent(it) if found[term])
                    label = it.label or ""
                    waiting.append(WaitingThread(thread.index, it.span.line, label, missing))
            if halted:
                started = found[hanging.active[number]]
                stopped.append(StoppedGroup(number, started, tuple(threads)))
        edges = {
            "rf": execution.pairs(candidates.rf),
            "mo": execution.pairs(candidates.coherence),
        }
        return Hang(tuple(stuck), tuple(waiting), tuple(stopped), occupancy, execution.shown, edges)

    def _next_line(self, thread: int, end: object) -> int | None:
        """The line of what a thread that is stopped would do next."""
        if isinstance(end, Stuck):
            return end.spin.span.line
        if isinstance(end, Waiting):
            return end.barrier.span.line
        assert isinstance(end, Stopped)
        operations = self.program.operations
        here = end.next < len(operations) and operations[end.next].thread == thread
        return operations[end.next].span.line if here else None

    def _last_reads(self, end: Stuck, execution: Execution, found: Model) -> Iterator[LastRead]:
        candidates, shown = self.hanging.executions.candidates, execution.shown
        for it in self.program.operations[end.spin.first : end.spin.end]:
            if it.reads and found[self.hanging.executions.executed(it)]:
                reader = candidates.reader[it.index].index
                (writer,) = (a for (a, b), rf in candidates.rf.items() if b == reader and found[rf])
                yield LastRead(shown[execution.place(reader)], shown[execution.place(writer)])


def in_words(hang: Hang, unit: Unit = Unit.GROUP) -> str:
    """Who is stuck, who waits and who is stopped, in a line."""
    stuck = [f"P{it.thread} is stuck in the loop in line {it.line}" for it in hang.stuck]
    waiting = [f"P{it.thread} waits at the barrier in line {it.line}" for it in hang.waiting]
    stopped = []
    for started, words in ((True, ("is stopped", "are stopped")), (False, ("starts", "start"))):
        groups = [it.group for it in hang.stopped if it.started == started]
        if groups:
            one = len(groups) == 1
            verb = words[0] if one else words[1]
            names = f"{unit} {groups[0]}" if one else f"{unit}s {_listed(groups)}"
            stopped.append(f"{names} {verb if started else f'never {verb}'}")
    return "; ".join((*stuck, *waiting, *stopped))


def _listed(numbers: Sequence[int]) -> str:
    *front, last = map(str, numbers)
    return f"{', '.join(front)} and {last}" if front else last


def _require_no_mutexes(program: Program) -> None:
    """Raises InputError, UNSUPPORTED, for what waits in a way that is not looked at."""
    problems = [
        Problem(
            it.span,
            "whether a mutex is waited for for ever is not supported",
            "write the lock as a loop over an atomic location",
            severity=Severity.UNSUPPORTED,
        )
        for it in program.operations
        if it.kind is Kind.LOCK
    ]
    if problems:
        raise InputError(problems)
