"""Barriers that part: who comes to which, and what another thread meets instead."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain, zip_longest

from msgspec import Struct

from rspverify.axiomatic.event import Part
from rspverify.axiomatic.execution import Execution, Pair
from rspverify.litmus.program import Kind, Operation, Program, Scope, one_barrier

DIVERGENCE = "Barrier"
"""What models call the condition that barriers break that part, and so is a fault of that kind."""


class Divergence(Struct, frozen=True):
    """Two threads that come to different barriers, or one of them to none.

    pair: the places of what they come to, or of an event of the thread that comes to none.
    """

    pair: Pair
    words: str


def divergence(execution: Execution, pair: Sequence[int]) -> Divergence | None:
    """What parts two threads, if a pair of events breaks a condition on barriers.

    That is the first barrier, in the order of the threads, at which they do not meet.
    """
    first, second = (execution.events[place] for place in pair)
    program = execution.candidates.program
    for one, other in ((first, second), (second, first)):
        if one.operation is None or one.operation.kind is not Kind.BARRIER:
            continue
        numbers = [it.index for it in program.party(one.operation)]
        if other.thread is not None and other.thread is not one.thread:
            numbers = [other.thread.index] if other.thread.index in numbers else []
        for number in numbers:
            found = _parted(execution, program, one.operation.thread, number)
            if found is not None:
                return found
    return None


def _parted(execution: Execution, program: Program, one: int, other: int) -> Divergence | None:
    theirs = (_barriers(execution, program, one, other), _barriers(execution, program, other, one))
    for here, there in zip_longest(*theirs):
        if here is not None and there is not None and one_barrier(here[1], there[1]):
            continue
        places = [
            execution.places_of(thread)[-1:] if came is None else (came[0],)
            for thread, came in ((one, here), (other, there))
        ]
        pair = sorted(chain.from_iterable(places))
        if len(pair) < 2:
            continue
        comes = f"{_comes(one, here)}, and {_comes(other, there)}"
        if here is None:
            comes = f"{_comes(other, there)}, and {_comes(one, here)}"
        return Divergence((pair[0], pair[1]), comes)
    return None


def _barriers(
    execution: Execution, program: Program, one: int, other: int
) -> Sequence[tuple[int, Operation]]:
    """The places and barriers that a thread comes to and another must come to as well, in order."""
    found: list[tuple[int, Operation]] = []
    for place in execution.places_of(one):
        event = execution.events[place]
        it = event.operation
        if it is None or it.kind is not Kind.BARRIER or event.part is Part.EXIT:
            continue
        if program.threads[other] in program.party(it):
            found.append((place, it))
    return found


def _comes(thread: int, came: tuple[int, Operation] | None) -> str:
    if came is None:
        return f"P{thread} ends without it"
    return f"P{thread} line {came[1].span.line} comes to {barrier_in_words(came[1])}"


def barrier_in_words(it: Operation) -> str:
    """A barrier by its label, and its iteration of each loop around it."""
    name, _, iterations = (it.label or "").partition("[")
    where = f" in iteration {iterations.rstrip(']').replace(',', ', ')}" if iterations else ""
    kind = "barrier" if it.meets is Scope.WG else "device barrier"
    return f"{kind} {name}{where}"
