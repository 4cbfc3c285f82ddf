"""`draw`: which execution is wanted, and what is said above its picture."""

from __future__ import annotations

from collections.abc import Sequence
from enum import Enum
from typing import assert_never

from msgspec import Struct

from rspverify.axiomatic.awaits import awaited
from rspverify.axiomatic.coverage import ignored_features, require_covered
from rspverify.axiomatic.model import MemoryModel
from rspverify.axiomatic.vocabulary import BASE_RELATIONS
from rspverify.drawing.pictures import Drawn, Pictures
from rspverify.limits import Limits
from rspverify.litmus.formula import Formula
from rspverify.litmus.program import Program
from rspverify.picture import Picture
from rspverify.records import replace
from rspverify.schedulers import FAIR, Scheduler
from rspverify.soundness.final import claims, written
from rspverify.soundness.scheduled import in_words
from rspverify.soundness.wording import observed
from rspverify.source import InputError, Problem

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
    match wanted.which:
        case Which.ALL:
            found = _every(source)
        case Which.RACE:
            found = [_racy(source, program)]
        case Which.FORBIDDEN:
            found = [_forbidden(source, program, formula)]
        case Which.HANGING:
            found = [_hanging(source, program, wanted.scheduler)]
        case Which.CONSISTENT:
            found = [_consistent(source, wanted, program, formula)]
        case _:
            assert_never(wanted.which)
    within = [
        f"only executions within {number} {bound}" for bound, number in program.within.items()
    ]
    ignored = ignored_features(program, model)

    def ended(drawn: Drawn) -> str:
        """The outcome; of threads that have not ended no register is known."""
        if wanted.which is Which.HANGING:
            return " ".join(f"{name}={value}" for name, value in drawn.outcome.memory)
        return str(observed(program, drawn.outcome))

    pictures = [
        replace(
            drawn.picture,
            title=f"{program.title} under {model.name}",
            notes=(kind, ended(drawn), *notes, *within, *ignored),
        )
        for kind, drawn, notes in found
    ]
    return pictures if wanted.initial else [_without_initial(each) for each in pictures]


Named = tuple[str, Drawn, list[str]]
"""What kind of execution it is, what is drawn, and what is said of it besides its outcome."""


def _consistent(
    source: Pictures, wanted: Wanted, program: Program, formula: Formula | None
) -> Named:
    kind = "a consistent execution"
    if formula is not None:
        drawn = source.consistent(formula)
        if drawn is None:
            raise NoExecutionError(
                f"no consistent execution ends with {wanted.outcome}: --forbidden shows why"
            )
        return kind, drawn, []
    if program.condition is not None:
        drawn = source.consistent(program.condition.formula)
        if drawn is not None:
            return kind, drawn, [f"satisfies {written(program.condition.formula)}"]
    drawn = source.consistent(None)
    if drawn is None:
        raise NoExecutionError("no candidate execution is consistent")
    if program.condition is None:
        return kind, drawn, []
    return kind, drawn, [f"no consistent execution satisfies {written(program.condition.formula)}"]


def _every(source: Pictures) -> list[Named]:
    drawn = list(source.every(MOST + 1))
    if not drawn:
        raise NoExecutionError("no candidate execution is consistent")
    count = str(len(drawn)) if len(drawn) <= MOST else f"more than {MOST}"
    return [
        (f"consistent execution {number} of {count}", each, [])
        for number, each in enumerate(drawn[:MOST], start=1)
    ]


def _racy(source: Pictures, program: Program) -> Named:
    drawn = source.racy()
    if drawn is None:
        raise NoExecutionError(f"{program.source.name}: no consistent execution has a race")
    return f"a consistent execution that violates {drawn.condition}", drawn, []


def _hanging(source: Pictures, program: Program, scheduler: Scheduler) -> Named:
    found = source.hanging(scheduler)
    if isinstance(found, str):
        raise NoExecutionError(f"{program.source.name}: {found}")
    drawn, hang = found
    return f"a consistent execution that hangs under {scheduler}", drawn, [in_words(hang)]


def _forbidden(source: Pictures, program: Program, formula: Formula | None) -> Named:
    if formula is None:
        if program.condition is None:
            message = f"{program.source.name}: must have a final condition for --forbidden"
            hint = "or say which outcome, as in --outcome '1:r0=1 1:r1=0'"
            raise InputError([Problem(None, message, hint)])
        formula = program.condition.formula
    words = written(formula)
    try:
        drawn = source.forbidden(formula)
    except ValueError:
        raise NoExecutionError(
            f"nothing forbids {words}: a consistent execution satisfies it; "
            "without --forbidden it is drawn"
        ) from None
    if drawn is None:
        raise NoExecutionError(f"no candidate execution has values that satisfy {words}")
    names = " and ".join(each.axiom.name for each in drawn.violations)
    breaks = [f"breaks {it.axiom.name}: {_axiom(str(it.axiom))}" for it in drawn.violations]
    return f"forbidden by {names}", drawn, breaks


def _axiom(text: str) -> str:
    return text.rsplit(" as ", 1)[0]


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
