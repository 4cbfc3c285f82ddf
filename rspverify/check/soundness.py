"""Thm. 1 of the RSP paper as a question: has every machine execution a source execution like it?"""

from __future__ import annotations

from collections.abc import Mapping
from itertools import islice

from rspverify.axiomatic import MemoryModel, Questions
from rspverify.check.counterexample import shortest_counterexample, where_it_stops
from rspverify.check.reached import machine_for, reached
from rspverify.check.settings import Settings
from rspverify.check.wording import observed, race_in_words
from rspverify.limits import LimitReached, Limits
from rspverify.litmus import Order, Program
from rspverify.scheme import Scheme, compile_program
from rspverify.source import InputError, Problem, Severity, in_one_line
from rspverify.verdict import Outcome, Verdict, Word

_FEW = 64
"""Up to so many allowed outcomes are listed before the machine is asked for any other."""


def check(program: Program, scheme: Scheme, model: MemoryModel, settings: Settings) -> Verdict:
    """Whether a scheme compiles a program soundly under a model, outcome reading (SEMANTICS §5)."""
    limits = settings.limits()
    try:
        require_understood(program, model)
        return _check(program, scheme, model, settings, limits)
    except InputError as error:
        word = Word.ERROR if error.severity is Severity.ERROR else Word.UNSUPPORTED
        return Verdict(word, in_one_line(error.problems))
    except LimitReached as limit:
        return Verdict(Word.UNKNOWN, str(limit))


def _check(
    program: Program, scheme: Scheme, model: MemoryModel, settings: Settings, limits: Limits
) -> Verdict:
    compiled = compile_program(program, scheme)
    source = Questions(program, model, limits)
    race = source.race()
    if race is not None:
        return Verdict(Word.RACY, race_in_words(race), race=race)

    machine = machine_for(compiled, settings)
    target = reached(machine, settings, limits)
    first = next(target.outcomes(), None)
    if first is None:
        return Verdict(
            Word.VACUOUS,
            f"{_bounds(target.within)}no execution of the compiled program completes",
            within=target.within,
            blocked=() if target.within else where_it_stops(machine, limits),
        )

    allowed = Allowed(source)
    for outcome in allowed.some():
        target.exclude(outcome)
    wrong = first not in allowed or any(it not in allowed for it in target.outcomes())
    if not wrong:
        return Verdict(
            Word.SOUND,
            f"{_bounds(target.within)}every outcome of the compiled program is allowed",
            within=target.within,
        )

    found = shortest_counterexample(machine, lambda it: it not in allowed, limits)
    axioms = source.forbidding_axioms(found.outcome)
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

    def __init__(self, source: Questions) -> None:
        self._source = source
        self._known: dict[Outcome, bool] = {}
        self._complete = False

    def some(self) -> list[Outcome]:
        """Allowed outcomes: all of them if they are few, which saves asking for each."""
        found = list(islice(self._source.outcomes(), _FEW + 1))
        self._complete = len(found) <= _FEW
        self._known |= dict.fromkeys(found, True)
        return found

    def __contains__(self, outcome: Outcome) -> bool:
        if outcome not in self._known:
            self._known[outcome] = not self._complete and self._source.allows(outcome)
        return self._known[outcome]


def require_understood(program: Program, model: MemoryModel) -> None:
    """Raises InputError if the program uses what the model is silent about."""
    if "SC" in model.names:
        return
    problems = [
        Problem(
            operation.span,
            f"seq_cst is beyond the model {model.name}, which has no order of seq_cst operations",
            severity=Severity.UNSUPPORTED,
        )
        for operation in program.operations
        if operation.order is Order.SEQ_CST
    ]
    if problems:
        raise InputError(problems)


def _bounds(within: Mapping[str, int]) -> str:
    return "".join(f"within {bound} {name}, " for name, bound in within.items())


def _breaks(axioms: tuple[str, ...]) -> str:
    if not axioms:
        return ": no candidate execution has these values"
    return f" breaks {' or '.join(axioms)}"
