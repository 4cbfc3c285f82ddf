"""`draw`: which execution is wanted, and what is said above its picture."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from enum import Enum
from itertools import combinations, islice
from typing import TypeAlias, TypeVar, assert_never

from msgspec import Struct

from rspverify.axiomatic.awaits import awaited
from rspverify.axiomatic.coverage import ignored_features, require_covered
from rspverify.axiomatic.execution import Execution, executions
from rspverify.axiomatic.model import MemoryModel
from rspverify.axiomatic.question import Questions
from rspverify.axiomatic.vocabulary import BASE_RELATIONS
from rspverify.drawing.violation import EvaluatedExecution, Violation, arrows, usual, violation
from rspverify.limits import Limits
from rspverify.litmus.formula import Formula
from rspverify.litmus.program import Program
from rspverify.picture import Arrow, Picture, PlacedEvent, PlacedThread
from rspverify.records import replace
from rspverify.relation.expression import Name
from rspverify.schedulers import FAIR, Scheduler
from rspverify.soundness.final import claims, written
from rspverify.soundness.hang import Hang
from rspverify.soundness.scheduled import SourceProgress, in_words
from rspverify.soundness.wording import observed
from rspverify.source import InputError, Problem
from rspverify.verdict import Outcome

T = TypeVar("T")
MOST = 64
"""So many executions are drawn at the most."""


class Which(Enum):
    """Which execution is wanted."""

    CONSISTENT = "consistent"
    ALL = "all"
    RACE = "race"
    FORBIDDEN = "forbidden"
    HANGING = "hanging"


class NoExecutionError(Exception):
    """There is no execution of the kind that is wanted; the text says so in words for users."""


class Wanted(Struct, frozen=True):
    """What is to be drawn. outcome: as users write it; edges: None for the usual ones.

    scheduler: the one that allows an execution that hangs.
    """

    which: Which = Which.CONSISTENT
    outcome: str | None = None
    edges: tuple[str, ...] | None = None
    initial: bool = True
    scheduler: Scheduler = FAIR


def draw(program: Program, model: MemoryModel, wanted: Wanted, limits: Limits) -> list[Picture]:
    """The pictures that are wanted, at least one.

    Raises InputError for what the options say, NoExecutionError, and LimitReached.
    """
    require_covered(program, model)
    program = awaited(program, model)
    formula = None if wanted.outcome is None else claims(program, wanted.outcome)
    _require_relations(wanted.edges, model)
    source = Pictures(program, model, limits, wanted.edges)
    within = [
        f"only executions within {number} {bound}" for bound, number in program.within.items()
    ]
    beyond = (*within, *ignored_features(program, model))
    try:
        found = _executions(source, program, wanted, formula)
    except NoExecutionError as error:
        raise NoExecutionError("; ".join([str(error), *within])) from None
    pictures = []
    for kind, drawn, notes in found:
        ended = str(observed(program, drawn.outcome))
        if wanted.which is Which.HANGING:  # of threads that have not ended no register is known
            ended = " ".join(f"{name}={value}" for name, value in drawn.outcome.memory)
        title = f"{program.title} under {model.name}"
        picture = replace(drawn.picture, title=title, notes=(kind, ended, *notes, *beyond))
        pictures.append(picture if wanted.initial else _without_initial(picture))
    return pictures


_Named: TypeAlias = "tuple[str, Drawn, Sequence[str]]"
"""What kind of execution it is, what is drawn, and what is said of it besides its outcome."""


def _executions(
    source: Pictures, program: Program, wanted: Wanted, formula: Formula | None
) -> list[_Named]:
    """Those that are wanted. Raises NoExecutionError where there is none."""
    name = program.source.name
    match wanted.which:
        case Which.CONSISTENT:
            return [_consistent(source, wanted, program, formula)]
        case Which.FORBIDDEN:
            return [_forbidden(source, program, formula)]
        case Which.ALL:
            every = list(source.every(MOST + 1))
            _require_one(every, "no candidate execution is consistent")
            count = str(len(every)) if len(every) <= MOST else f"more than {MOST}"
            numbered = enumerate(every[:MOST], start=1)
            return [(f"consistent execution {n} of {count}", each, ()) for n, each in numbered]
        case Which.RACE:
            drawn = _require_one(source.racy(), f"{name}: no consistent execution has a race")
            return [(f"a consistent execution that violates {drawn.condition}", drawn, ())]
        case Which.HANGING:
            found = source.hanging(wanted.scheduler)
            if isinstance(found, str):
                raise NoExecutionError(f"{name}: {found}")
            kind = f"a consistent execution that hangs under {wanted.scheduler}"
            return [(kind, found[0], [in_words(found[1])])]
        case _:
            assert_never(wanted.which)


def _require_one(found: T | None, otherwise: str) -> T:
    if not found:
        raise NoExecutionError(otherwise)
    return found


def _consistent(
    source: Pictures, wanted: Wanted, program: Program, formula: Formula | None
) -> _Named:
    kind = "a consistent execution"
    if formula is not None:
        none = f"no consistent execution ends with {wanted.outcome}: --forbidden shows why"
        return kind, _require_one(source.consistent(formula), none), ()
    words = [] if program.condition is None else [written(program.condition.formula)]
    if program.condition is not None:
        drawn = source.consistent(program.condition.formula)
        if drawn is not None:
            return kind, drawn, [f"satisfies {each}" for each in words]
    drawn = _require_one(source.consistent(None), "no candidate execution is consistent")
    return kind, drawn, [f"no consistent execution satisfies {each}" for each in words]


def _forbidden(source: Pictures, program: Program, formula: Formula | None) -> _Named:
    if formula is None:
        if program.condition is None:
            message = f"{program.source.name}: must have a final condition for --forbidden"
            hint = "or say which outcome, as in --outcome '1:r0=1 1:r1=0'"
            raise InputError([Problem(None, message, hint)])
        formula = program.condition.formula
    words = written(formula)
    try:
        found = source.forbidden(formula)
    except ValueError:
        raise NoExecutionError(
            f"nothing forbids {words}: a consistent execution satisfies it; "
            "without --forbidden it is drawn"
        ) from None
    drawn = _require_one(found, f"no candidate execution has values that satisfy {words}")
    axioms = [it.axiom for it in drawn.violations]
    breaks = [f"breaks {it.name}: {str(it).rsplit(' as ', 1)[0]}" for it in axioms]
    return f"forbidden by {' and '.join(it.name for it in axioms)}", drawn, breaks


def _require_relations(edges: Sequence[str] | None, model: MemoryModel) -> None:
    known = model.relations.union(BASE_RELATIONS)
    wrong = [name for name in edges or () if name not in known]
    if wrong:
        message = f"--edges: {', '.join(wrong)} must be relations of the model {model.name}"
        raise InputError([Problem(None, message, f"it has {', '.join(sorted(known))}")])


def _without_initial(picture: Picture) -> Picture:
    """The picture without initial writes, and without the edges at them."""
    kept = [place for place, event in enumerate(picture.events) if event.thread is not None]
    place = {old: new for new, old in enumerate(kept)}
    arrows = tuple(
        replace(each, source=place[each.source], target=place[each.target])
        for each in picture.arrows
        if each.source in place and each.target in place
    )
    return replace(picture, events=tuple(picture.events[old] for old in kept), arrows=arrows)


# ---- executions, drawn ---------------------------------------------------------------------------


class Drawn(Struct, frozen=True):
    """A picture without words, and what they are about: the execution, and what is drawn bold.

    violations: of the axioms that it breaks. condition: the one that a race violates.
    """

    picture: Picture
    outcome: Outcome
    execution: EvaluatedExecution
    violations: tuple[Violation, ...] = ()
    condition: str = ""


class Pictures:
    """The executions of a program under a model. Every method raises LimitReached.

    edges: the relations that are to be drawn, None for the usual ones.
    """

    def __init__(
        self, program: Program, model: MemoryModel, limits: Limits, edges: Sequence[str] | None
    ) -> None:
        self._program = program
        self._model = model
        self._limits = limits
        self._questions = Questions(program, model, limits)
        self._candidates = self._questions.candidates
        self._edges = usual(model) if edges is None else edges

    def consistent(self, formula: Formula | None) -> Drawn | None:
        """A consistent execution whose final state satisfies a formula; None if there is none."""
        solver = self._questions.solver(reproducible=True)
        found = solver.find([] if formula is None else [self._questions.satisfying(formula)])
        return None if found is None else self._drawn(Execution(self._candidates, found))

    def every(self, most: int) -> Iterator[Drawn]:
        """Every consistent execution, with each memory that it may leave, up to so many."""
        memory = [term for choice in self._candidates.final.values() for term in choice.values()]
        solver = self._questions.solver(reproducible=True)
        found = executions(self._candidates, solver, memory)
        yield from islice(map(self._drawn, found), most)

    def racy(self) -> Drawn | None:
        """A consistent execution with a race, whose two accesses are marked; None if none races.

        Or one with a fault of the program, of which the condition says what it is.
        """
        found = self._questions.racy_execution()
        if found is None:
            return None
        execution, condition = found.execution, found.condition
        drawn = self._drawn(execution)
        if found.fault is not None:
            said = found.fault.said(dict(drawn.outcome.reads))
            where = f"P{found.fault.thread} line {found.fault.span.line}"
            return replace(drawn, condition=f"{condition}: {where}: {said}")
        (expression,) = [it.expression for it in self._model.conditions if it.name == condition]
        name = expression.name if isinstance(expression, Name) else condition
        plain = [each for each in drawn.picture.arrows if each.name != name]
        first, second = found.places
        arrows = (*plain, Arrow(name, first, second, True, True))
        picture = replace(_with_marks(drawn.picture, found.places), arrows=arrows)
        return replace(drawn, picture=picture, condition=condition)

    def forbidden(self, formula: Formula) -> Drawn | None:
        """A candidate execution that satisfies a formula and breaks as few axioms as any does.

        None if no candidate satisfies it at all. Of those that break one axiom, one that says so
        with the fewest edges. Raises ValueError if a consistent execution satisfies the formula.
        """
        axioms = self._candidates.axioms
        solver = self._questions.solver(consistent=False, reproducible=True)
        wanted = self._questions.satisfying(formula)
        if solver.find([wanted, *axioms.values()]) is not None:
            raise ValueError("a consistent execution satisfies the formula")
        for size in range(1, len(axioms) + 1):
            drawn = []
            for broken in combinations(axioms, size):
                terms = [~term if name in broken else term for name, term in axioms.items()]
                found = solver.find([wanted, *terms])
                if found is not None:
                    drawn.append(self._drawn(Execution(self._candidates, found), broken))
            if drawn:
                return min(drawn, key=lambda each: len(each.violations[0].edges))
        return None

    def hanging(self, scheduler: Scheduler) -> tuple[Drawn, Hang] | str:
        """An execution that hangs under a scheduler, with the reads of loops marked.

        If there is none, why. Raises InputError for what cannot be asked of the program.
        """
        progress = SourceProgress(self._program, self._model, self._limits)
        if progress.undefined is not None:
            return f"undefined behaviour: {progress.undefined}"
        found = progress.hang(scheduler)
        if found is None:
            return f"no execution hangs under {scheduler}"
        hang, execution = found
        reads = [execution.shown.index(each.read) for it in hang.stuck for each in it.reads]
        drawn = self._drawn(execution)
        return replace(drawn, picture=_with_marks(drawn.picture, reads)), hang

    def _drawn(self, execution: Execution, broken: Sequence[str] = ()) -> Drawn:
        evaluated = EvaluatedExecution(execution)
        axioms = [axiom for axiom in self._model.axioms if axiom.name in broken]
        found = [violation(axiom, evaluated) for axiom in axioms]
        assert all(found), "an axiom that is broken and holds"
        violations = tuple(each for each in found if each is not None)
        bold = [edge for each in violations for edge in each.edges]
        involved = frozenset[int]().union(*(each.involved for each in violations))
        columns = sorted(self._program.threads, key=lambda it: (it.device, it.workgroup, it.index))
        column = {thread.index: number for number, thread in enumerate(columns)}
        events = tuple(
            PlacedEvent(
                shown.access,
                None if shown.thread is None else column[shown.thread],
                shown.line,
                place in involved,
            )
            for place, shown in enumerate(execution.shown)
        )
        grouped = self._program.language == "OpenCL"
        threads = tuple(
            PlacedThread(
                thread.name,
                thread.device if grouped else None,
                thread.workgroup if grouped else None,
            )
            for thread in columns
        )
        picture = Picture("", (), threads, events, arrows(evaluated, self._edges, bold))
        return Drawn(picture, execution.outcome, evaluated, violations)


def _with_marks(picture: Picture, marked: Collection[int]) -> Picture:
    """The picture with some of its events marked."""
    events = tuple(
        replace(event, marked=place in marked) for place, event in enumerate(picture.events)
    )
    return replace(picture, events=events)
