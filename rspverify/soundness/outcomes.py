"""What a model allows of a program, and what schemes make of it on the machine."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence

from msgspec import Struct

from rspverify.answers import UNDEFINED, Observation, OutcomeAnswer, OutcomeRow
from rspverify.architecture.architecture import Architecture
from rspverify.axiomatic.awaits import awaited
from rspverify.axiomatic.coverage import ignored_features, require_covered
from rspverify.axiomatic.model import MemoryModel
from rspverify.axiomatic.plan import WrongTool
from rspverify.axiomatic.question import Questions
from rspverify.limits import LimitReached, Limits
from rspverify.litmus.formula import Junction
from rspverify.litmus.program import Program
from rspverify.mapping.mapped import untold_in
from rspverify.records import replace
from rspverify.schedulers import Scheduler
from rspverify.soundness.case import decided, machine_of, side_of
from rspverify.soundness.final import FinalCount
from rspverify.soundness.settings import Settings
from rspverify.soundness.sides import Side
from rspverify.soundness.wording import observed, race_in_words
from rspverify.source import InputError
from rspverify.translators import Translator
from rspverify.verdict import Outcome, Word

MAX_EXECUTIONS = 10_000
"""Beyond so many consistent executions they are not counted to the end."""


_ENOUGH, _ENOUGH_SEARCHED = 0.5, 0.1
"""Executions are listed on as long as so many of them have an outcome of their own: by the solver,
and by search, which takes a tenth of the time."""


class SoFar:
    """What is found of one test before its answer is whole. on_step: takes it in words."""

    def __init__(self, on_step: Callable[[str], None] = lambda _: None) -> None:
        self.step = on_step
        self.found: set[Outcome] = set()
        self._test: tuple[Program, OutcomeAnswer] | None = None

    def begin(self, program: Program, answer: OutcomeAnswer) -> None:
        """Another test, and what is known of it: whether it races."""
        self.found, self._test = set(), (program, answer)

    def end(self) -> None:
        """The answer is whole, or there is none."""
        self._test = None

    def answer(self, reason: str) -> OutcomeAnswer | None:
        """What is known of the test, if there is one, and why it is not all."""
        if self._test is None:
            return None
        program, answer = self._test
        rows = _rows(program, sorted(self.found), self.found, FinalCount(program), {})
        return replace(answer, answered=False, word=Word.UNKNOWN, reason=reason, so_far=rows)


def outcomes(
    program: Program,
    model: MemoryModel,
    schemes: Sequence[Translator],
    test: str,
    settings: Settings,
    so_far: SoFar | None = None,
    scheduler: Scheduler | None = None,
) -> OutcomeAnswer:
    """All outcomes. Raises InputError where the model is silent, and LimitReached.

    scheduler: whose executions alone count, where it lets only so many work-groups be occupant at
    once: of others each execution that ends is one. so_far: is told what is found, so that it is
    there whatever ends this before.
    """
    so_far = so_far or SoFar()
    require_covered(program, model)
    program = decided(program, model, schemes, settings)
    limits = settings.limits()
    if scheduler is not None and scheduler.bound is not None:
        from rspverify.soundness.hanging import Hanging

        hanging = Hanging(program, model, limits)
        every, source = hanging.every, hanging.ending(scheduler.bound)
    else:
        every = source = Questions(program, model, limits)
    racy = _whether_racy(program, model, test, every)
    racy = replace(racy, scheduler=None if scheduler is None else str(scheduler))
    count = FinalCount(program)
    so_far.begin(program, racy)
    allowed = _allowed(source, count, limits, so_far)
    free = not racy.racy
    reach = [_reach(program, scheme, settings, so_far, race_free=free) for scheme in schemes]
    everything = sorted(allowed.union(*(it.found for it in reach if it.found)))
    condition = program.condition
    violated = every.violated()
    names = _distinct([scheme.name for scheme in schemes])
    reached = {name: it.found for name, it in zip(names, reach, strict=True)}
    rows = _rows(program, everything, allowed, count, reached)
    return replace(
        racy,
        schemes=names,
        limited=any(it.limited for it in reach),
        condition=condition.span.text if condition else None,
        final=count.result(allowed),
        outcomes=rows,
        violated=violated,
        flags=_flags(model, violated),
        notes=(*racy.notes, *(it.note for it in reach if it.note)),
    )


def machine_outcomes(
    program: Program,
    machine: Architecture,
    test: str,
    settings: Settings,
    so_far: SoFar | None = None,
) -> OutcomeAnswer:
    """All outcomes of a test in assembly on a machine. Raises InputError and LimitReached.

    so_far: as for `outcomes`.
    """
    from rspverify.scheme.assemble import assemble
    from rspverify.soundness.machine_side import MachineSide

    so_far = so_far or SoFar()
    limits = settings.limits()
    answer = OutcomeAnswer(
        test=program.title, file=test, model=None, machine=machine.name, answered=True
    )
    so_far.begin(program, answer)
    runs = machine_of(assemble(program, machine), settings)
    target = MachineSide(runs, settings, limits)
    count = FinalCount(program)
    for outcome in _listed(target, so_far.found, limits, so_far):
        count.add(outcome)
    found = sorted(so_far.found)
    condition = program.condition
    return replace(
        answer,
        within=target.within,
        condition=condition.span.text if condition else None,
        final=count.result(found),
        outcomes=_rows(program, found, found, count, {}),
        violated=(),
        flags=(),
        notes=() if found else ("VACUOUS: no execution completes",),
    )


def _listed(
    side: Side, found: set[Outcome], limits: Limits, so_far: SoFar, name: str = ""
) -> Iterator[Outcome]:
    """The outcomes of a side, each once it was added to those found."""
    for outcome in side.outcomes():
        found.add(outcome)
        limits.require_outcomes(len(found))
        so_far.step(f"{name}{len(found):,} outcomes")
        yield outcome


def races(program: Program, model: MemoryModel, test: str, settings: Settings) -> OutcomeAnswer:
    """Whether a consistent execution races. Raises as `outcomes`."""
    require_covered(program, model)
    program = awaited(program, model)
    return _whether_racy(program, model, test, Questions(program, model, settings.limits()))


def _whether_racy(
    program: Program, model: MemoryModel, test: str, source: Questions
) -> OutcomeAnswer:
    race = source.race()
    return OutcomeAnswer(
        test=program.title,
        file=test,
        model=model.name,
        answered=True,
        within=program.within,
        racy=race is not None,
        race=race,
        notes=ignored_features(program, model),
    )


def _distinct(names: Sequence[str]) -> tuple[str, ...]:
    """The names of schemes, with a number where one has the name of one before it."""
    return tuple(
        f"{name} ({names[: place + 1].count(name)})" if name in names[:place] else name
        for place, name in enumerate(names)
    )


def _rows(
    program: Program,
    outcomes: Iterable[Outcome],
    allowed: Collection[Outcome],
    count: FinalCount,
    reached: Mapping[str, Collection[Outcome] | None],
) -> tuple[OutcomeRow, ...]:
    """A row for each outcome. reached: by scheme, None where that is not known."""
    return tuple(
        OutcomeRow(
            observed(program, outcome),
            outcome in allowed,
            count.holds(outcome) if program.condition else None,
            {name: None if them is None else outcome in them for name, them in reached.items()},
        )
        for outcome in outcomes
    )


def _allowed(source: Questions, count: FinalCount, limits: Limits, so_far: SoFar) -> set[Outcome]:
    """All outcomes; unless they are many, the executions are listed once and counted too.

    Executions are found faster than outcomes that are still to be found: so where there are many,
    they are listed on as long as they bring new outcomes. By a search where that is the way.
    """
    for endings, enough in (
        (source.searched_endings, _ENOUGH_SEARCHED),
        (source.endings, _ENOUGH),
    ):
        try:
            if _listed_on(endings(), enough, count, limits, so_far):
                return so_far.found
            break
        except WrongTool:
            count.restart()
    for outcome in source.outcomes(set(so_far.found)):
        so_far.found.add(outcome)
        so_far.step(f"{len(so_far.found):,} outcomes")
    return so_far.found


def _listed_on(
    endings: Iterator[Outcome], enough: float, count: FinalCount, limits: Limits, so_far: SoFar
) -> bool:
    """Whether all executions were listed: the outcomes that they have are added to those found."""
    found = so_far.found
    for number, outcome in enumerate(endings):
        if number < MAX_EXECUTIONS:
            count.add(outcome)
        elif number == MAX_EXECUTIONS:
            count.stop()
        found.add(outcome)
        limits.require_outcomes(len(found))
        so_far.step(f"{number + 1:,} executions, {len(found):,} outcomes")
        if number >= MAX_EXECUTIONS and len(found) < enough * number:
            return False
    return True


def _flags(model: MemoryModel, violated: Sequence[str]) -> tuple[str, ...]:
    """What herd calls the conditions that are violated."""
    broken = [each for each in model.conditions if each.name in violated]
    flags = [each.name for each in broken if each.flag]
    return (*([UNDEFINED] if len(flags) < len(violated) else []), *flags)


class _Reached(Struct, frozen=True):
    """The outcomes under a scheme, None if they cannot be told; what must be said of them; and
    whether a limit was met."""

    found: set[Outcome] | None
    note: str | None
    limited: bool = False


def _reach(
    program: Program, scheme: Translator, settings: Settings, so_far: SoFar, *, race_free: bool
) -> _Reached:
    """What is reached under a scheme.

    race_free: whether the source is, so that its code must be as well.
    """
    limits = settings.limits()
    try:
        made = scheme.compiled(program)
        if untold_in(made):
            return _Reached(
                None, f"{scheme.name}: UNSUPPORTED: it has reads at which nothing looks"
            )
        target = side_of(made, settings, limits)
        race = target.race() if race_free else None
        if race is not None:
            told = f"the target alone is undefined: {race_in_words(race)}"
            return _Reached(None, f"{scheme.name}: {told}")
        found = set[Outcome]()
        for _ in _listed(target, found, limits, so_far, f"{scheme.name}: "):
            pass
    except InputError as error:
        words = "; ".join(problem.message for problem in error.problems)
        return _Reached(None, f"{scheme.name}: UNSUPPORTED: {words}")
    except LimitReached as limit:
        return _Reached(None, f"{scheme.name}: UNKNOWN: {limit}", limited=True)
    if target.within:
        bounds = ", ".join(f"{bound} {name}" for name, bound in target.within.items())
        return _Reached(found, f"{scheme.name}: only executions within {bounds}")
    return _Reached(found, None if found else f"{scheme.name}: VACUOUS: no execution completes")


class ModelObservation(Struct, frozen=True):
    """In which consistent executions the formula holds; racy: whether one of them is undefined.

    within: the bounds that this depends on.
    """

    observation: Observation
    racy: bool
    within: Mapping[str, int]


def observed_by(program: Program, model: MemoryModel, settings: Settings) -> ModelObservation:
    """The answer, for which no outcomes are listed.

    Raises InputError where the model is silent, and LimitReached.
    """
    require_covered(program, model)
    program = decided(program, model, (), settings)
    questions = Questions(program, model, settings.limits())
    formula = program.condition.formula if program.condition else Junction(True, ())
    spoken_of = questions.satisfying(program.given or Junction(True, ()))
    holds, solver = questions.satisfying(formula), questions.solver()
    found = Observation.NEVER
    if solver.find([spoken_of, holds]) is not None:
        fails = solver.find([spoken_of, ~holds]) is not None
        found = Observation.SOMETIMES if fails else Observation.ALWAYS
    return ModelObservation(found, questions.race() is not None, program.within)
