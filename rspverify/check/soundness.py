"""Thm. 1 of the RSP paper as a question: has every machine execution a source execution like it?"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from itertools import chain, islice

from rspverify.axiomatic import MemoryModel, Questions, ignored_features, require_covered
from rspverify.check.counterexample import where_it_stops
from rspverify.check.dossier import Dossier, confirmed
from rspverify.check.reached import Reached, ReachedByEvents, machine_for, reached
from rspverify.check.refutation import refuted_counterexample
from rspverify.check.settings import Reading, Settings
from rspverify.check.wording import observed, race_in_words
from rspverify.limits import LimitReached, Limits
from rspverify.litmus import Program
from rspverify.machine import Machine, Rule
from rspverify.scheme import Scheme, compile_program
from rspverify.source import InputError, Severity, in_one_line
from rspverify.verdict import Outcome, Verdict, Word

_FEW = 64
"""Up to so many allowed outcomes are listed before the machine is asked for any other."""


class SourceSide:
    """What is asked of a program and a model alone, to be shared by checks under several schemes.

    Where time is limited nothing is shared: each check has a clock of its own. race_free: whether
    it is known that the program has no race, so that this is not asked.
    """

    def __init__(self, program: Program, model: MemoryModel, *, race_free: bool = False) -> None:
        self.program = program
        self.model = model
        self.race_free = race_free
        self._unlimited: Questions | None = None

    def questions(self, limits: Limits) -> Questions:
        """The questions, with these limits. Raises LimitReached."""
        if limits.seconds is not None:
            return Questions(self.program, self.model, limits)
        if self._unlimited is None:
            self._unlimited = Questions(self.program, self.model, limits)
        return self._unlimited


def check(
    program: Program,
    scheme: Scheme,
    model: MemoryModel,
    settings: Settings,
    source: SourceSide | None = None,
) -> Verdict:
    """Whether a scheme compiles a program soundly under a model, read as the settings say (§5).

    source: of the same program and model, where other schemes are checked as well.
    """
    limits = settings.limits()
    source = source or SourceSide(program, model)
    dossier = Dossier(settings, program.source.name, scheme.name)
    try:
        require_covered(program, model)
        verdict = _as_far_as_read(_check(source, scheme, settings, limits, dossier), program)
        ignored = "".join(f" ({note})" for note in ignored_features(program, model))
        verdict = replace(verdict, reason=f"{verdict.reason}{ignored}")
        if verdict.word is Word.SOUND and settings.confirm is not None:
            verdict = _second(verdict, dossier, settings.confirm, limits)
        dossier.write(verdict.word)
        return verdict
    except InputError as error:
        word = Word.ERROR if error.severity is Severity.ERROR else Word.UNSUPPORTED
        return Verdict(word, in_one_line(error.problems))
    except LimitReached as limit:
        return Verdict(Word.UNKNOWN, str(limit))


def _as_far_as_read(verdict: Verdict, program: Program) -> Verdict:
    """A verdict with the bounds within which its program was read, where it depends on them.

    A race that is found stands in an execution that the program has. A counterexample does too, but
    it counts for nothing if the program races further on, and its outcome might be allowed by a
    spurious failure of a compare-exchange, which is left out.
    """
    bounds = {name: n for name, n in program.within.items() if name not in verdict.within}
    if verdict.word is Word.RACY or not bounds:
        return verdict
    reason = f"{_bounds(bounds)}{verdict.reason}"
    return replace(verdict, within={**bounds, **verdict.within}, reason=reason)


def _check(
    side: SourceSide, scheme: Scheme, settings: Settings, limits: Limits, dossier: Dossier
) -> Verdict:
    program, model = side.program, side.model
    compiled = compile_program(program, scheme)
    allowed = Allowed(side, limits, dossier)
    if not side.race_free:
        race = allowed.source.race()
        asks = "Has the source program a consistent execution with a race?"
        dossier.add("race", asks, allowed.source.asked_race(), race is not None)
        if race is not None:
            return Verdict(Word.RACY, race_in_words(race), race=race)

    machine = machine_for(compiled, settings)
    target = reached(machine, settings, limits)
    if isinstance(target, ReachedByEvents) and not model.chooses:
        return _by_events(program, machine, target, model, allowed, settings, limits)
    return _by_outcomes(program, machine, target, model, allowed, limits)


def _by_outcomes(
    program: Program,
    machine: Machine,
    target: Reached,
    model: MemoryModel,
    allowed: Allowed,
    limits: Limits,
) -> Verdict:
    """Does the machine reach an outcome other than the allowed ones?"""
    first = next(target.outcomes(), None)
    if first is None:
        return _vacuous(machine, target.within, limits)
    for outcome in allowed.some():
        target.exclude(outcome)
    outcomes = chain([first], target.outcomes())
    wrong = next((it for it in outcomes if it not in allowed), None)
    if wrong is not None:
        return _unsound(program, machine, model, allowed, limits, wrong)
    asks = "Has the compiled program an execution with an outcome other than those allowed?"
    allowed.dossier.add("other", asks, target.asked, False)
    return _sound(target.within)


def _by_events(
    program: Program,
    machine: Machine,
    target: ReachedByEvents,
    model: MemoryModel,
    allowed: Allowed,
    settings: Settings,
    limits: Limits,
) -> Verdict:
    """One question, whether an execution breaks the model by its own rf and mo; then its outcome.

    If none does, each execution is allowed as it is. If one does, and its outcome is allowed by
    other rf and mo, the question is put again without that outcome.
    """
    completes = target.completes()
    dossier = allowed.dossier
    dossier.add("complete", "Has the compiled program any execution?", target.asked, completes)
    if not completes:
        return _vacuous(machine, target.within, limits)
    asks = (
        "Has the compiled program an execution whose own rf and mo break the model (of those that "
        "differ in the order of exchangeable threads, one)?"
    )
    suspicion = None
    for found in target.suspicions(program, model):
        dossier.add("breaks", asks, found.asked, True)
        suspicion = suspicion or found
        asks = (
            "Has the compiled program an execution whose own rf and mo break the model, with an "
            "outcome other than those already asked about?"
        )
        if found.outcome not in allowed:
            known = (found.outcome, found.schedule)
            any_length = not settings.shortest
            return _unsound(program, machine, model, allowed, limits, *known, any_length=any_length)
    dossier.add("breaks", asks, target.asked, False)
    if suspicion is None or settings.reading is Reading.OUTCOME:
        return _sound(target.within)
    return Verdict(
        Word.UNKNOWN,
        f"an execution with {observed(program, suspicion.outcome)}{_breaks(suspicion.axioms)} by "
        "its own rf and mo, but no outcome is wrong",
        within=target.within,
    )


def _second(verdict: Verdict, dossier: Dossier, solver: str, limits: Limits) -> Verdict:
    """A SOUND as the second solver sees it."""
    refusal = confirmed(dossier, solver, limits)
    if refusal is None:
        return replace(verdict, confirmed=solver)
    return Verdict(Word.UNKNOWN, f"{verdict.reason}, but {refusal}", within=verdict.within)


def _vacuous(machine: Machine, within: Mapping[str, int], limits: Limits) -> Verdict:
    return Verdict(
        Word.VACUOUS,
        f"{_bounds(within)}no execution of the compiled program completes",
        within=within,
        blocked=() if within else where_it_stops(machine, limits),
    )


def _sound(within: Mapping[str, int]) -> Verdict:
    reason = f"{_bounds(within)}every outcome of the compiled program is allowed"
    return Verdict(Word.SOUND, reason, within=within)


def _unsound(
    program: Program,
    machine: Machine,
    model: MemoryModel,
    allowed: Allowed,
    limits: Limits,
    reported: Outcome,
    known: Sequence[Rule] | None = None,
    *,
    any_length: bool = False,
) -> Verdict:
    found = refuted_counterexample(
        program,
        allowed.source,
        model,
        machine,
        lambda it: it not in allowed,
        limits,
        reported,
        known,
        any_length=any_length,
    )
    axioms = allowed.source.forbidding_axioms(found.outcome)
    lines = [operation.span.line for operation in program.operations]
    return Verdict(
        Word.UNSOUND,
        f"{observed(program, found.outcome)}{_breaks(axioms)}",
        outcome=found.outcome,
        axioms=axioms,
        execution=found.shown(lines),
    )


class Allowed:
    """The outcomes that a model allows, remembered as they become known."""

    def __init__(self, side: SourceSide, limits: Limits, dossier: Dossier) -> None:
        self.dossier = dossier
        self._side = side
        self._limits = limits
        self._program = side.program
        self._known: dict[Outcome, bool] = {}
        self._complete = False

    @cached_property
    def source(self) -> Questions:
        """The questions to the model, made ready when the first is asked. Raises LimitReached."""
        return self._side.questions(self._limits)

    def some(self) -> list[Outcome]:
        """Allowed outcomes: all of them if they are few, which saves asking for each."""
        found = list(islice(self.source.outcomes(), _FEW + 1))
        self._complete = len(found) <= _FEW
        for outcome in found:
            self._learn(outcome, True)
        return found

    def __contains__(self, outcome: Outcome) -> bool:
        if outcome not in self._known:
            self._learn(outcome, not self._complete and self.source.allows(outcome))
        return self._known[outcome]

    def _learn(self, outcome: Outcome, allowed: bool) -> None:
        self._known[outcome] = allowed
        if self.dossier.wanted:
            asks = f"Is there a consistent execution with {observed(self._program, outcome)}?"
            self.dossier.add("allowed", asks, self.source.asked_outcome(outcome), allowed)


def _bounds(within: Mapping[str, int]) -> str:
    return "".join(f"within {bound} {name}, " for name, bound in within.items())


def _breaks(axioms: tuple[str, ...]) -> str:
    if not axioms:
        return ": no candidate execution has these values"
    return f" breaks {' or '.join(axioms)}"
