"""The values that reads may have: those that the program can bring to their locations."""

from __future__ import annotations

from rspverify.axiomatic.candidates import Candidates
from rspverify.axiomatic.circles import increments_are_in_line, values_may_cause_themselves
from rspverify.axiomatic.model import MemoryModel
from rspverify.limits import Limits
from rspverify.litmus import Kind, Program
from rspverify.smt import Term, pick
from rspverify.smt.choice import Choice
from rspverify.value import Constant
from rspverify.value.domain import Access, admissible, may_cause_itself


def candidates_of(program: Program, model: MemoryModel, limits: Limits) -> Candidates:
    """The candidate executions of a program under a model.

    A read has one of the values that the program can bring to its location. Raises LimitReached
    where there are too many values, or no time is left.
    """
    accesses = [
        Access(it.index, it.location, it.reads, it.value)
        for it in program.operations
        if it.location is not None and it.kind not in (Kind.LOCK, Kind.UNLOCK)
    ]
    atomic = [it.name for it in program.locations if it.atomic]
    in_line = atomic if increments_are_in_line(model) else []
    start = {location.name: location.initial for location in program.locations}
    circular = may_cause_itself(accesses, in_line) and values_may_cause_themselves(
        program, model, limits
    )
    conditions = [it.guard for it in program.operations if it.guard != Constant(1)]
    conditions += [it.success for it in program.operations if it.success is not None]
    locations = admissible(start, accesses, conditions, limits, circular).locations
    reads: dict[int, Choice[int]] = {}
    constraints: list[Term] = []
    for it in program.operations:
        if it.reads and it.location is not None:
            reads[it.index], own = pick(f"r{it.index}", sorted(locations[it.location]))
            constraints += own
    return Candidates(program, model, limits, reads, constraints)
