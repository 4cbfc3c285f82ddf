"""Final states and the final condition of a test, in herd's words."""

from __future__ import annotations

import re
from collections.abc import Collection

from rspverify.answers import FinalStates, Observation, Quantifier
from rspverify.litmus.formula import Atom, Formula, Junction, Negation, satisfies
from rspverify.litmus.program import Program
from rspverify.soundness.wording import registers
from rspverify.source import InputError, Problem
from rspverify.verdict import Outcome

_TRUE = Junction(True, ())
_CLAIM = re.compile(r"(?:P?(\d+):(\w+)|\[?(\w+(?:\[\d+\])?)\]?)=(-?\d+);?")
"""What an outcome says of a register or a location: `1:r0=1`, `P1:r0=1`, `x=2`, `[x]=2`."""
Place = tuple[int | None, str]
"""A register by thread and name, or a location by None and its name."""


class FinalCount:
    """Counts executions by their outcomes, as herd does.

    An execution in which plain writes race counts once for each memory that it may leave, as their
    order is part of an execution for herd. What a `filter` leaves out does not count.
    """

    def __init__(self, program: Program) -> None:
        self._program = program
        self._condition = program.condition
        self._formula = self._condition.formula if self._condition else _TRUE
        named = self._condition.places if self._condition else ()
        self._places = sorted({*named, *program.watched}, key=_in_order)
        self._known: dict[Outcome, tuple[bool | None, tuple[int, ...]]] = {}
        self._counts: dict[bool | None, int] = {True: 0, False: 0, None: 0}
        self._counted = True

    def add(self, outcome: Outcome) -> None:
        """Count one more execution."""
        self._counts[self.holds(outcome)] += 1

    def restart(self) -> None:
        """Count from nothing again."""
        self._counts, self._counted = dict.fromkeys(self._counts, 0), True

    def stop(self) -> None:
        """Say that there are more executions than were counted."""
        self._counted = False

    def holds(self, outcome: Outcome) -> bool | None:
        """Whether the formula of the condition holds; true where there is no condition, None where
        the test does not speak of the outcome."""
        return self._judged(outcome)[0]

    def result(self, outcomes: Collection[Outcome]) -> FinalStates:
        """The states of all outcomes, and the counts."""
        if not self._counted:  # an observation rests on all outcomes
            for outcome in outcomes:
                holds = self.holds(outcome)
                self._counts[holds] = max(1, self._counts[holds])
        positive, negative = self._counts[True], self._counts[False]
        names = [_named(place) for place in self._places]
        judged = map(self._judged, outcomes)
        states = sorted({state for holds, state in judged if holds is not None})
        return FinalStates(
            Quantifier(self._condition.quantifier) if self._condition else Quantifier.FORALL,
            written(self._formula),
            _observation(positive, negative),
            positive,
            negative,
            self._counted,
            tuple(dict(zip(names, state, strict=True)) for state in states),
        )

    def _judged(self, outcome: Outcome) -> tuple[bool | None, tuple[int, ...]]:
        if outcome not in self._known:
            named, memory = registers(self._program, outcome), dict(outcome.memory)
            state = tuple(
                memory[name] if thread is None else named[thread, name]
                for thread, name in self._places
            )
            given = self._program.given
            spoken_of = given is None or satisfies(given, named, memory)
            holds = satisfies(self._formula, named, memory) if spoken_of else None
            self._known[outcome] = holds, state
        return self._known[outcome]


def _observation(positive: int, negative: int) -> Observation:
    if not positive:
        return Observation.NEVER
    return Observation.SOMETIMES if negative else Observation.ALWAYS


def written(formula: Formula) -> str:
    """A formula in herd's notation: `0:r0=1 /\\ not ([x]=2)`."""
    match formula:
        case Atom(thread, name, value):
            of = value if isinstance(value, int) else _named(value)
            return f"{_named((thread, name))}={of}"
        case Negation(argument):
            return f"not ({written(argument)})"
        case Junction(conjunctive, ()):
            return "true" if conjunctive else "false"
        case Junction(conjunctive, arguments):
            parts = [
                f"({written(each)})"
                if conjunctive and isinstance(each, Junction) and _disjunctive(each)
                else written(each)
                for each in arguments
            ]
            return (" /\\ " if conjunctive else " \\/ ").join(parts)


def _disjunctive(formula: Junction) -> bool:
    return not formula.conjunctive and len(formula.arguments) > 1


def claims(program: Program, text: str) -> Formula:
    """An outcome as users write it: `1:r0=1 1:r1=0 x=2`. Raises InputError."""
    locations = {location.name for location in program.locations}
    atoms: list[Formula] = []
    problems: list[Problem] = []
    for word in re.split(r"[\s;]+(?:/\\\s*)?", text.strip(" ;")):
        matched = _CLAIM.fullmatch(word)
        if matched is None:
            message = f"--outcome: {word!r} must be like 1:r0=1 or x=2"
            problems.append(Problem(None, message))
            continue
        thread, register, location, value = matched.groups()
        if thread is None:
            known = location in locations
            atoms.append(Atom(None, location, int(value)))
        else:
            number = int(thread)
            known = number < len(program.threads)
            known = known and register in program.threads[number].registers
            atoms.append(Atom(number, register, int(value)))
        if not known:
            what = "location" if thread is None else "register"
            message = f"--outcome: {word!r} must speak of a {what} of {program.source.name}"
            problems.append(Problem(None, message))
    if problems:
        raise InputError(problems)
    return Junction(True, tuple(atoms))


def _in_order(place: Place) -> tuple[bool, int, str]:
    """Registers by thread and name, and then locations, as herd lists them."""
    thread, name = place
    return thread is None, thread or 0, name


def _named(place: Place) -> str:
    thread, name = place
    return f"[{name}]" if thread is None else f"{thread}:{name}"
