"""Where the time of a symbolic engine goes: building the formula, solving it, and by which door.

A formula takes part once BUILDERS says how it is made.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import partial

from bench.cases import Timed
from bench.measure import digits, side_by_side
from bench.sheet import Sheet
from rspverify.axiomatic.executions import GeneratedExecutions
from rspverify.limits import Limits
from rspverify.machine.events import Events
from rspverify.machine.firings import enough_steps
from rspverify.machine.unroll import Unrolling
from rspverify.machine.witness import GeneratedWitness
from rspverify.smt.portfolio import second_opinion
from rspverify.smt.solver import Solver
from rspverify.smt.term import Term


def unrolled(case: Timed) -> Sequence[Term]:
    """The unrolling at K*, as `check` makes it."""
    machine = case.machine()
    budget = enough_steps(machine)
    return Unrolling(machine, budget.total - budget.dequeues, Limits()).constraints


def evented(case: Timed) -> Sequence[Term]:
    """All executions at once."""
    events = Events(case.machine(), Limits())
    return [*events.constraints, *events.order.constraints()]


def denied(case: Timed) -> Sequence[Term]:
    """All executions whose own rf and mo break the model: the question of soundness."""
    limits = Limits()
    events = Events(case.machine(), limits)
    own = GeneratedWitness(events)
    judged = GeneratedExecutions(
        case.program, case.model, limits, events.reads, own.rf, own.mo, own.last
    )
    return [*events.constraints, *events.order.constraints(), judged.broken]


BUILDERS: dict[str, Callable[[Timed], Sequence[Term]]] = {
    "events": evented,
    "events, axioms denied": denied,
    "unroll": unrolled,
}


def parts(cases: Iterable[Timed], repeats: int) -> Sheet:
    """Building, from the source on, against solving; and Z3's two doors."""
    sheet = Sheet(
        "parts",
        f"Building and solving, directly and through pySMT (ms; median of {repeats})",
        ["test", "scheme", "formula"],
        ["nodes", "build", "solve", "build / solve", "through pySMT", "pySMT / direct"],
    )
    for case in cases:
        if case.racy:
            continue
        for formula, build in BUILDERS.items():
            terms = build(case)
            times = side_by_side(
                {
                    "build": partial(build, case),
                    "solve": partial(_solve, terms),
                    "pySMT": partial(second_opinion, terms),
                },
                repeats,
            )
            figures = [
                times["build"],
                times["solve"],
                times["build"] / times["solve"],
                times["pySMT"],
                times["pySMT"] / times["solve"],
            ]
            words = (case.name, case.scheme.name, formula, f"{nodes(terms):,}")
            sheet.add(*words, *map(digits, figures))
    return sheet


def nodes(terms: Iterable[Term]) -> int:
    """How many different terms there are in some."""
    seen: set[Term] = set()
    stack = list(terms)
    while stack:
        term = stack.pop()
        if term not in seen:
            seen.add(term)
            stack.extend(term.arguments)
    return len(seen)


def _solve(terms: Sequence[Term]) -> object:
    solver = Solver()
    solver.add(*terms)
    return solver.find()
