"""The rf and mo that machine executions generate themselves (SEMANTICS §5, witness; paper §6.2).

rf: the write whose value reached the read. mo: the order in which writes reached memory; writes
that one flush carries there together, in the order in which they came together.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import combinations

from rspverify.machine.events import Events, Origins
from rspverify.machine.happening import Happening
from rspverify.machine.rules import Memory, ValueOf
from rspverify.smt import Term, all_of, any_of

Word = ValueOf | Memory
Arrivals = list[tuple[Happening, Term]]
"""What brings a write to a word, and when it is that."""


class Generated:
    """rf, mo and the last writes of the executions of an `Events`, by source operation.

    rf: (write, read) → term, where a write that is None is the initial one; mo: (write, later
    write) → term, both of one location, meaningful where both happen; last: location → which write
    is the last to reach memory. Asks for the order of pairs that the events alone did not need: the
    constraints of their order must be taken after this.
    """

    def __init__(self, events: Events) -> None:
        self._events = events
        self.rf: dict[tuple[int | None, int], Term] = {}
        for register, sources in events.sources.items():
            for write, term in self._operations(sources):
                self.rf[write, register] = term
        self.last: Mapping[str, list[tuple[int | None, Term]]] = {
            x: self._operations(sources) for x, sources in events.last.items()
        }
        self.mo: dict[tuple[int, int], Term] = {}
        for a, b in combinations(self._writes(), 2):
            if _location(a) == _location(b):
                first, second = _operation(a), _operation(b)
                before = self._in_order(a, b)
                self.mo[first, second], self.mo[second, first] = before, ~before

    def _operations(self, sources: Origins) -> list[tuple[int | None, Term]]:
        instructions = self._events.machine.program.instructions
        return [
            (None if index is None else instructions[index].operation, term)
            for index, term in sources
        ]

    def _writes(self) -> Iterator[Happening]:
        for each in self._events.happenings.instructions:
            instruction = each.rule.instruction
            if instruction is not None and instruction.mnemonic.writes:
                yield each

    def _in_order(self, a: Happening, b: Happening) -> Term:
        """That a came before b to the first place where both come."""
        second = dict(self._route(b))
        word, arrivals = next(each for each in self._route(a) if each[0] in second)
        return any_of(
            all_of((one, other, self._events.before(first, then)))
            for first, one in arrivals
            for then, other in second[word]
        )

    def _route(self, write: Happening) -> Iterator[tuple[Word, Arrivals]]:
        """The words that a write passes on its way to memory."""
        word = _target(write)
        arrivals: Arrivals = [(write, self._events.happens[write.number])]
        while True:
            yield word, arrivals
            if isinstance(word, Memory):
                return
            arrivals = [
                (flush, at & carried)
                for each, at in arrivals
                for flush, carried in self._carriers(each, word)
            ]
            word = _target(arrivals[0][0])

    def _carriers(self, write: Happening, word: ValueOf) -> Iterator[tuple[Happening, Term]]:
        """The first flush of an entry after a write to it: its own, or that of a later write."""
        events = self._events
        entry = (word.cache, word.location)
        own = events.happenings.flushes[write, entry]
        yield own, events.happens[own.number]
        flushes = [
            events.happenings.flushes[other, entry] for other in events.happenings.dirtying[entry]
        ]
        for flush in flushes:
            if flush is not own and flush.owner is not None:
                between = (
                    events.not_between(other, write, flush)
                    for other in flushes
                    if other is not flush and other is not own
                )
                after = events.before(write, flush.owner)
                happens = events.happens[flush.number]
                yield flush, all_of([events.absent(own), happens, after, *between])


def _target(happening: Happening) -> Word:
    """The word that a write or a flush sets."""
    (word,) = (cell for cell in happening.changes if isinstance(cell, (ValueOf, Memory)))
    return word


def _location(write: Happening) -> str:
    return _target(write).location


def _operation(write: Happening) -> int:
    assert write.rule.instruction is not None
    return write.rule.instruction.operation
