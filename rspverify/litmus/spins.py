"""Loops that only spin: an iteration that goes on has no effect that another thread can see.

It writes nothing but registers that the next iteration sets again (docs/semantics.md, Loops). What
it does must not depend on the one before, which is seen by running two, and comparing them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import product
from typing import Any

from msgspec import Struct
from msgspec.structs import astuple

from rspverify.litmus.frames import Way
from rspverify.litmus.program import Choice, Fault, Kind, Operation, Program, Spin
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

Place = Callable[[int], int]
"""The new index of an operation, by its old one."""


class Iteration(Struct, frozen=True):
    """An iteration that was run. first: the index of its first operation.

    going: where it goes on; exits: by which guard and with which registers it leaves the loop, or
    the text; registers: what the loop has assigned by its end; inner: where the spins in it go on;
    faults: those that it may have.
    """

    first: int
    operations: list[Operation]
    going: Expression
    exits: list[Way]
    registers: Mapping[str, Expression]
    inner: list[Expression]
    faults: list[Fault]

    @property
    def end(self) -> int:
        """One more than the index of its last operation."""
        return self.first + len(self.operations)


def follows(later: Iteration, earlier: Iteration) -> bool:
    """Whether the later iteration, the next, does just what the earlier one does."""
    place = _later(earlier.first, len(earlier.operations))
    parts = (_moved(it, place) for it in astuple(earlier)[1:])
    return later == Iteration(earlier.end, *parts)


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
    later = _later(spin.first, width)
    threads = []
    for thread in program.threads:
        operations = [_moved(it, later) for it in thread.operations]
        if thread.index == spin.thread:
            place = sum(it.index < spin.first for it in thread.operations)
            operations[place:place] = program.operations[spin.first : spin.end]
        registers = _moved(thread.registers, later)
        threads.append(replace(thread, operations=tuple(operations), registers=registers))
    ended = replace(spin, guard=unary("!", spin.guard), first=spin.end)
    before = [it for it in program.spins if _is_within(it, spin) and it is not spin]
    cuts = (
        replace(it, guard=_moved(it.guard, later), at=it.at + width * (it.at > spin.first))
        for it in program.cuts
    )
    return replace(
        program,
        threads=tuple(threads),
        cuts=tuple(cuts),
        spins=(*before, ended, *_moved(program.spins, later)),
        faults=(*spin.faults, *_moved(program.faults, later)),
        blocked=_moved(program.blocked, later),
        unrolled=None,
    )


def _later(first: int, width: int) -> Place:
    """The place of an operation when so many more come before the one with index `first`."""
    return lambda index: index + width if index >= first else index


def _moved(it: Any, place: Place) -> Any:
    """The same over operations with other indices."""

    def fields(*names: str) -> dict[str, Any]:
        return {name: _moved(getattr(it, name), place) for name in names}

    match it:
        case None | int():
            return it
        case tuple() | list():
            return type(it)(_moved(each, place) for each in it)
        case dict():
            return {key: _moved(each, place) for key, each in it.items()}
        case Operation():
            own = fields("guard", "value", "operand", "success", "choice")
            own["unsequenced"] = frozenset(map(place, it.unsequenced))
            own["pair"] = None if it.pair is None else place(it.pair)
            own["textual"] = it.textual and it.textual.moved(place)
            return replace(it, index=place(it.index), **own)
        case Choice():
            return it.moved(place)
        case Fault():
            return replace(it, at=place(it.at), **fields("guard", "value"))
        case Spin():
            first, rmws = place(it.first), frozenset(map(place, it.rmws))
            end = place(it.end - 1) + 1 if it.end > it.first else first
            return replace(it, first=first, end=end, rmws=rmws, **fields("guard", "faults"))
        case _:
            return renumbered(it, place)
