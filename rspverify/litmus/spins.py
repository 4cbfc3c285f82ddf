"""Loops that only spin: an iteration that goes on has no effect that another thread can see.

It writes nothing but registers that the next iteration sets again (docs/semantics.md, Loops). What
it does must not depend on the one before, which is seen by running two, and comparing them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import product

from msgspec import Struct

from rspverify.litmus.program import Fault, Kind, Operation, Program, Spin
from rspverify.litmus.registers import Way
from rspverify.records import replace
from rspverify.source import Span
from rspverify.value import (
    Binary,
    Constant,
    Expression,
    Read,
    Unary,
    binary,
    conjuncts,
    evaluate,
    reads,
    renumbered,
    unary,
)

_MAX_TRIED = 10_000
"""So many combinations of values are tried to show that a condition never holds."""


class Iteration(Struct, frozen=True):
    """An iteration that was run. first: the index of its first operation.

    going: where it goes on; exits: by which guard and with which registers it leaves the loop, or
    the text; registers: what the loop has assigned by its end; inner: where the spins in it go on;
    faults: those that it may have.
    """

    first: int
    operations: Sequence[Operation]
    going: Expression
    exits: Sequence[Way]
    registers: Mapping[str, Expression]
    inner: Sequence[Expression]
    faults: Sequence[Fault] = ()

    @property
    def end(self) -> int:
        """One more than the index of its last operation."""
        return self.first + len(self.operations)


def is_what_follows(later: Iteration, earlier: Iteration) -> bool:
    """Whether the later iteration, the next, does just what the earlier one does."""
    width = earlier.end - earlier.first

    def place(index: int) -> int:
        return index + width if index >= earlier.first else index

    def moved(expression: Expression) -> Expression:
        return renumbered(expression, place)

    def registers(assigned: Mapping[str, Expression]) -> Mapping[str, Expression]:
        return {name: moved(value) for name, value in assigned.items()}

    return (
        moved(earlier.going) == later.going
        and [*map(moved, earlier.inner)] == [*later.inner]
        and [_moved(it, place) for it in earlier.operations] == [*later.operations]
        and [(moved(guard), registers(it)) for guard, it in earlier.exits] == [*later.exits]
        and registers(earlier.registers) == later.registers
        and [_moved_fault(it, place) for it in earlier.faults] == [*later.faults]
    )


def rmws_of(operations: Iterable[Operation]) -> frozenset[int]:
    """The read-modify-writes that are no compare-exchange."""
    return frozenset(it.index for it in operations if it.kind is Kind.RMW and it.success is None)


def no_spins(program: Program) -> frozenset[Span]:
    """The loops read as spins of which it is not certain that they are."""
    values = _Values(program)
    found = set[Span]()
    for spin in program.spins:
        for it in program.operations[spin.first : spin.end]:
            effect = _effect(it)
            if effect is not None and not values.never((spin.guard, it.guard, effect)):
                found.add(spin.span)
    return frozenset(found)


def _effect(it: Operation) -> Expression | None:
    """Where an operation that is executed changes what another thread can see; None: nowhere."""
    if it.kind in (Kind.LOAD, Kind.FENCE):
        return None
    if it.kind is not Kind.RMW or it.value is None:
        return Constant(1)
    return binary("!=", it.value, Read(it.index)) if it.success is None else it.success


class _Values:
    """Which values the reads of a program may have, where that is plain to see."""

    def __init__(self, program: Program) -> None:
        self._program = program
        self._initial = {each.name: each.initial for each in program.locations}

    def never(self, conditions: Sequence[Expression]) -> bool:
        """Whether these conditions are certain never to hold together."""
        literals = [each for condition in conditions for each in _literals(condition)]
        if any(_denies(literals, each) for each in literals) or Constant(0) in literals:
            return True
        choices: list[Sequence[tuple[int, int]]] = []
        tried = 1
        for index in sorted(frozenset[int]().union(*map(reads, literals))):
            values = self._of(self._program.operations[index].location)
            if values is None:
                return False
            choices.append([(index, value) for value in values])
            tried *= len(values)
            if tried > _MAX_TRIED:
                return False
        return not any(
            all(evaluate(each, dict(chosen)) for each in literals) for chosen in product(*choices)
        )

    def _of(self, location: str | None) -> Sequence[int] | None:
        """The values that a location may have, if only constants are written to it."""
        assert location is not None, "a read of no location"
        found = {self._initial[location]}
        for it in self._program.operations:
            if it.location != location or it.value is None:
                continue
            if not isinstance(it.value, Constant):
                return None
            found.add(it.value.value)
        return sorted(found)


def _literals(condition: Expression) -> Iterator[Expression]:
    """The conditions of which a condition is the conjunction, negations looked into."""
    for each in conjuncts(condition):
        match each:
            case Unary("!", Unary("!", inner)):
                yield from _literals(inner)
            case Unary("!", Binary("||", left, right)):
                yield from _literals(unary("!", left))
                yield from _literals(unary("!", right))
            case _:
                yield each


def _denies(literals: Sequence[Expression], literal: Expression) -> bool:
    """Whether a literal says that not all of some others hold."""
    if not (isinstance(literal, Unary) and literal.operator == "!"):
        return False
    return all(each in literals for each in _literals(literal.argument))


def going_on(program: Program, spin: Spin) -> Iterator[Program]:
    """The programs in which a spin goes on once, and in that iteration perhaps one in it, too."""
    more = one_more(program, spin)
    yield more
    inner = sum(it is not spin and _is_within(it, spin) for it in program.spins)
    for each in more.spins[:inner]:
        yield from going_on(more, each)


def _is_within(it: Spin, spin: Spin) -> bool:
    """Whether a spin is in an iteration of another, or the other itself."""
    return it.thread == spin.thread and spin.first <= it.first < spin.end and it.end <= spin.end


def one_more(program: Program, spin: Spin) -> Program:
    """The program in which a spin goes on exactly once: one iteration before its last."""
    width = spin.end - spin.first

    def later(index: int) -> int:
        return index + width if index >= spin.first else index

    def moved(expression: Expression) -> Expression:
        return renumbered(expression, later)

    threads = []
    for thread in program.threads:
        operations = [_moved(it, later) for it in thread.operations]
        if thread.index == spin.thread:
            place = sum(it.index < spin.first for it in thread.operations)
            operations[place:place] = program.operations[spin.first : spin.end]
        registers = {name: moved(value) for name, value in thread.registers.items()}
        threads.append(replace(thread, operations=tuple(operations), registers=registers))
    ended = replace(spin, guard=unary("!", spin.guard), first=spin.end)
    before = [it for it in program.spins if _is_within(it, spin) and it is not spin]
    return replace(
        program,
        threads=tuple(threads),
        cuts=tuple(
            replace(cut, guard=moved(cut.guard), at=cut.at + width * (cut.at > spin.first))
            for cut in program.cuts
        ),
        spins=(
            *before,
            ended,
            *(
                replace(
                    it,
                    guard=moved(it.guard),
                    first=later(it.first),
                    end=later(it.end - 1) + 1 if it.end > it.first else later(it.first),
                    rmws=frozenset(map(later, it.rmws)),
                    faults=tuple(_moved_fault(fault, later) for fault in it.faults),
                )
                for it in program.spins
            ),
        ),
        faults=(*spin.faults, *(_moved_fault(it, later) for it in program.faults)),
        unrolled=None,
    )


def _moved(it: Operation, place: Callable[[int], int]) -> Operation:
    """An operation with other indices."""

    def moved(expression: Expression | None) -> Expression | None:
        return None if expression is None else renumbered(expression, place)

    return replace(
        it,
        index=place(it.index),
        guard=renumbered(it.guard, place),
        value=moved(it.value),
        operand=moved(it.operand),
        success=moved(it.success),
        unsequenced=frozenset(map(place, it.unsequenced)),
        choice=it.choice and it.choice.moved(place),
    )


def _moved_fault(it: Fault, place: Callable[[int], int]) -> Fault:
    """A fault over reads with other indices."""
    value = it.value if it.value is None else renumbered(it.value, place)
    return replace(it, at=place(it.at), guard=renumbered(it.guard, place), value=value)
