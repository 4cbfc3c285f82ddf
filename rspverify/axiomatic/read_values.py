"""The values that reads may have: those that the program can bring to their locations.

A value causes itself where a read has it from a write that computes it from what another read has,
and so on, back to the first. Which executions have such a circle can be asked of the model before
any value is known: with all values equal and every guard free, the candidates of a program include
the shape of each of its executions. If none that is consistent has a circle, no execution has one,
and the values of the program are those that it can derive step by step (value/domain.py).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from rspverify.axiomatic.candidates import Candidates
from rspverify.axiomatic.model import MemoryModel
from rspverify.graph import circles
from rspverify.limits import Limits
from rspverify.litmus.program import Kind, Operation, Program
from rspverify.records import replace
from rspverify.relation.expression import Expression as Relation
from rspverify.relation.expression import Name, Plus, Test, Union
from rspverify.relation.terms import Relation as Terms
from rspverify.relation.terms import closure
from rspverify.smt.choice import Choice, constant, pick
from rspverify.smt.choice import Choice as Values
from rspverify.smt.solver import Solver
from rspverify.smt.term import Term, any_of
from rspverify.value import Binary, Constant, Expression, Read, reads
from rspverify.value.domain import Access, admissible, may_cause_itself


def candidates_of(
    program: Program,
    model: MemoryModel,
    limits: Limits,
    given: Mapping[int, Choice[int]] | None = None,
) -> Candidates:
    """The candidate executions of a program under a model. Otherwise as `values_of`."""
    return Candidates(program, model, limits, *values_of(program, model, limits, given))


def values_of(
    program: Program,
    model: MemoryModel,
    limits: Limits,
    given: Mapping[int, Choice[int]] | None = None,
) -> tuple[Mapping[int, Choice[int]], Sequence[Term]]:
    """By operation the values among which an execution chooses, and what makes it choose one.

    A read has one of the values that the program can bring to its location. given: the values of
    what guards look at besides, by numbers that no operation has. Raises LimitReached where there
    are too many values, or no time is left.
    """
    given = given or {}
    accesses = [
        Access(it.index, it.location, it.reads, it.value)
        for it in program.operations
        if it.location is not None and it.kind not in (Kind.LOCK, Kind.UNLOCK)
    ]
    chosen = [it.index for it in program.operations if it.kind is Kind.CHOICE]
    choices = {index: f"choice {index}" for index in chosen}
    for index, name in choices.items():  # One that nothing has written is 0, and 1 may be.
        accesses += [Access(index, name, True, None), Access(~index, name, False, Constant(1))]
    atomic = [it.name for it in program.locations if it.atomic]
    in_line = atomic if increments_are_in_line(model) else []
    start = {location.name: location.initial for location in program.locations}
    start |= dict.fromkeys(choices.values(), 0)
    circular = (
        may_cause_itself(accesses, in_line)
        and not values_follow_an_order(program, model)
        and values_may_cause_themselves(program, model, limits, tuple(given))
    )
    conditions = [it.guard for it in program.operations if it.guard != Constant(1)]
    conditions += [it.success for it in program.operations if it.success is not None]
    locations = admissible(start, accesses, conditions, limits, circular).locations
    reads = dict(given)
    constraints: list[Term] = []
    for it in program.operations:
        if it.gives:
            place = it.location or choices[it.index]
            reads[it.index], own = pick(f"r{it.index}", sorted(locations[place]))
            constraints += own
    return reads, constraints


def increments_are_in_line(model: MemoryModel) -> bool:
    """Whether no read-modify-writes of an atomic location read from each other in a circle.

    So it is if none reads from itself, nor from one that comes after it in mo: the solver need not
    be asked, to whom many of them are a hard question. Told from the axiom Rmw (Fig. 2); of a model
    that has it in other words, or has names of its own for rf or mo, nothing is assumed.
    """
    if model.coherence != "mo" or "rmw" in model.names:
        return False
    return model.says(Test.IRREFLEXIVE, "rf", "mo; rf")


def values_follow_an_order(program: Program, model: MemoryModel) -> bool:
    """Whether the model says in so many words that sb and rf together have no circle.

    A value goes on by rf, and from a read to what is sequenced after it: then none causes itself,
    whatever else the model says, which of many operations is much to ask the solver.
    """
    sequenced = all(it.unsequenced.isdisjoint(it.data) for it in program.operations)
    return sequenced and model.says(Test.ACYCLIC, "sb", "rf")


def values_may_cause_themselves(
    program: Program, model: MemoryModel, limits: Limits, given: Iterable[int] = ()
) -> bool:
    """Whether some execution that the model's axioms hold of may have such a circle of values.

    given: what guards look at besides. Raises LimitReached.
    """
    unknown, constraints = _unknown_values(program)
    unknown |= dict.fromkeys(given, constant(0))
    shapes = Candidates(_without_values(program), model, limits, unknown, constraints)
    flow = _flow(shapes, program)
    rings = circles(flow)
    flow = {(a, b): term for (a, b), term in flow.items() if any({a, b} <= it for it in rings)}
    if not flow:
        return False
    solver = Solver(limits)
    solver.add(*shapes.constraints, *shapes.axioms.values())
    steps = [((a // 2, b // 2), term) for (a, b), term in flow.items() if a // 2 != b // 2 or a > b]
    for name in _without_circles(model):
        order = shapes.relation(name)
        if all(pair in order for pair, _ in steps):
            outside = any_of(term & ~order[pair] for pair, term in steps)
            if solver.find([outside]) is None:
                return False
    circle = any_of(term for (a, b), term in closure(flow, limits).items() if a == b)
    return solver.find([circle]) is not None


def _without_circles(model: MemoryModel) -> Iterator[str]:
    """Relations of a model that an axiom says have no circle.

    Of an expression that is irreflexive those parts that are transitive, as hb is; of one that is
    acyclic any part.
    """
    for axiom in model.axioms:
        waiting: list[Relation] = []
        if axiom.test is not Test.EMPTY and not axiom.negated:
            waiting = [axiom.expression]
        while waiting:
            part = waiting.pop()
            if isinstance(part, Union):
                waiting += (part.left, part.right)
            elif isinstance(part, Name) and (means := model.defined_once(part.name)) is not None:
                waiting.append(means)
                if axiom.test is Test.ACYCLIC or isinstance(means, Plus):
                    yield part.name


def _unknown_values(program: Program) -> tuple[dict[int, Values[int]], list[Term]]:
    """Every read reads 0; whether a guard holds, and whether there is success, is free."""
    found: dict[int, Values[int]] = {}
    constraints: list[Term] = []
    for it in program.operations:
        found[it.index] = constant(0)
        for unknown in _unknowns(it):
            found[unknown], own = pick(f"unknown{unknown}", (0, 1))
            constraints += own
    return found, constraints


def _flow(shapes: Candidates, program: Program) -> Terms:
    """From which access to which a value goes on, by one step.

    An event is two numbers here, one for what it reads and one for what it writes.
    """
    edges = {(2 * a + 1, 2 * b): term for (a, b), term in shapes.rf.items()}
    for it in program.operations:
        for index in reads(it.value) & shapes.reader.keys() if it.value is not None else ():
            source, target = shapes.reader[index].index, shapes.writer[it.index].index
            both = shapes.executed[source] & shapes.writing[target]
            edges[2 * source, 2 * target + 1] = both
    return edges


def _without_values(program: Program) -> Program:
    """The program with every value 0, and with guards that may hold or not.

    Its expressions mention the same reads, so that its dependencies are those of the program.
    """
    threads = tuple(
        replace(thread, operations=tuple(_without_value(it) for it in thread.operations))
        for thread in program.threads
    )
    locations = tuple(replace(location, initial=0) for location in program.locations)
    return replace(program, threads=threads, locations=locations, cuts=(), spins=(), blocked=())


def _without_value(it: Operation) -> Operation:
    guard, success = _unknowns(it)
    return replace(
        it,
        value=None if it.value is None else _nought(it.value),
        guard=it.guard if isinstance(it.guard, Constant) else _free(it.guard, guard),
        success=None if it.success is None else _free(it.success, success),
    )


def _unknowns(it: Operation) -> Iterator[int]:
    """Numbers that no read has: of whether a guard holds, and of whether there is success."""
    yield -2 - 2 * it.index
    yield -3 - 2 * it.index


def _nought(expression: Expression) -> Expression:
    return Binary("*", expression, Constant(0))


def _free(condition: Expression, unknown: int) -> Expression:
    return Binary("|", _nought(condition), Read(unknown))
