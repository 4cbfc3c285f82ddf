"""The rf and mo that machine executions generate themselves (the witness reading; paper §6.2).

rf: the write whose value reached the read. mo: the order in which writes reached memory; writes
that one flush carries there together, in the order in which they came together. An operation whose
code stores its value again (docs/schemes.md) has the place in mo of the last time, so that the last
operation in mo is the one whose value stays.

A compare-exchange that fails writes back what it has read (docs/machine.md), and has no write in
the source. What finds its value has read, by way of it, what it has read itself.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cached_property
from itertools import combinations

from rspverify.machine.event import Event
from rspverify.machine.events import Events, Origins
from rspverify.machine.rules import Bit, Word
from rspverify.smt.choice import truth
from rspverify.smt.term import FALSE, TRUE, Term, all_of, any_of, variable

Arrivals = list[tuple[Event, Term]]
"""What brings a write to a word, and when it is that."""

Sources = list[tuple[int | None, Term]]
"""Which operation a value is from, None for the initial one, and when it is that one."""


class GeneratedWitness:
    """rf, mo and the last writes of the executions of an `Events`, by source operation.

    rf: (write, read) → term, where a write that is None is the initial one; mo: (write, later
    write) → term, both of one location, meaningful where both are executed, and none where one is
    a compare-exchange that fails; last: location → which write's value stays in memory.
    constraints: what these terms mean, where they are not made of others. overtaken: that what
    stays in memory is not the last write in mo, which takes a compare-exchange that writes back an
    old value, or an operation that writes by several ways. Asks for the order of pairs that the
    events alone did not need: the constraints of their order must be taken after this.
    """

    def __init__(self, events: Events) -> None:
        self._events = events
        self.constraints: list[Term] = []
        self._succeeds = {
            it.operation: truth(it.success, events.reads)
            for it in events.machine.program.instructions
            if it.success is not None
        }
        self._found = {
            register: self._operations(sources) for register, sources in events.sources.items()
        }
        self._read: dict[int, Sources] = {}
        self._carriers_of: dict[tuple[Event, Bit], Arrivals] = {}
        for register in self._succeeds:
            self._name_sources(register)
        self.rf: dict[tuple[int | None, int], Term] = {
            (write, register): term
            for register in self._found
            for write, term in self._sources(register)
        }
        self.last: Mapping[str, Sources] = {
            x: self._written_through(self._operations(sources))
            for x, sources in events.last.items()
        }
        self.mo: dict[tuple[int, int], Term] = {}
        self._writing = self._writes()
        for a, b in combinations(self._writing, 2):
            if self._location(a) == self._location(b):
                self._relate(a, b)
        self.overtaken = any_of(self._overtaken())

    def _relate(self, first: int, second: int) -> None:
        before = self._in_order(first, second)
        both = self._writes_at_all(first) & self._writes_at_all(second)
        self.mo[first, second], self.mo[second, first] = before & both, ~before & both

    def _writes_at_all(self, operation: int) -> Term:
        """That an operation, if executed, writes in the source too."""
        return self._succeeds.get(operation, TRUE)

    def _operations(self, sources: Origins) -> Sources:
        instructions = self._events.machine.program.instructions
        return [
            (None if index is None else instructions[index].operation, term)
            for index, term in sources
        ]

    # Compare-exchanges that fail

    def _name_sources(self, register: int) -> None:
        """A term for each write that a compare-exchange may read from, by way of others or not.

        Values go forward in time, so that the meanings of these terms go round in no circle.
        """
        writes = dict.fromkeys(self._possible(register, set()))
        self._read[register] = [(write, variable(f"rf{register}")) for write in writes]

    def _possible(self, register: int, seen: set[int]) -> Iterator[int | None]:
        """The writes that a read may have its value from."""
        seen.add(register)
        for write, _ in self._found[register]:
            yield write
            if write in self._succeeds and write not in seen:
                yield from self._possible(write, seen)

    def _sources(self, register: int) -> Sources:
        """Which write a read has its value from, in the source."""
        through = self._written_through(self._found[register])
        if register not in self._read:
            return through
        terms = dict(through)
        for write, term in self._read[register]:
            self.constraints.append(term.iff(terms.get(write, FALSE)))
        return self._read[register]

    def _written_through(self, sources: Sources) -> Sources:
        """The same, where a compare-exchange that fails passes on what it has read."""
        terms: dict[int | None, list[Term]] = {}
        for write, term in sources:
            terms.setdefault(write, [])
            if write is None or write not in self._succeeds:
                terms[write].append(term)
                continue
            terms[write].append(term & self._succeeds[write])
            for earlier, read in self._read[write]:
                terms.setdefault(earlier, []).append(all_of((term, ~self._succeeds[write], read)))
        return [(write, any_of(alternatives)) for write, alternatives in terms.items()]

    def _overtaken(self) -> Iterator[Term]:
        """Per location with such an operation, that a write follows the last one in mo."""
        asked = [*self._succeeds, *self._by_several_ways()]
        for x in sorted({self._location(operation) for operation in asked}):
            for last, stays in self.last[x]:
                for operation, writing in self._writing.items():
                    if self._location(operation) != x or operation == last:
                        continue
                    later = TRUE if last is None else self.mo[last, operation]
                    happens = any_of(map(self._events.order.happens, writing))
                    yield all_of((stays, happens, self._writes_at_all(operation), later))

    # mo

    def _location(self, write: int) -> str:
        """Where an operation writes."""
        it = self._writing[write][0].rule.instruction
        assert it is not None and it.location is not None
        return it.location

    def _by_several_ways(self) -> Iterator[int]:
        """The operations whose instructions do not all begin to write at one place."""
        starts: dict[int, set[Word]] = {}
        for index, events in self._starting.items():
            operation = self._events.machine.program.instructions[index].operation
            starts.setdefault(operation, set()).update(word for _, word in events)
        yield from (operation for operation, found in starts.items() if len(found) > 1)

    @cached_property
    def _starting(self) -> Mapping[int, list[tuple[Event, Word]]]:
        """By instruction that writes, what may bring its write on the way, and to which word."""
        routes = self._events.machine.in_cases.routes
        found: dict[int, list[tuple[Event, Word]]] = {}
        for each in self._events.possible.all:
            it = each.rule.instruction
            if it is not None and (start := routes.start(each.rule)) is not None:
                found.setdefault(it.index, []).append((each, start))
        return found

    def _writes(self) -> Mapping[int, list[Event]]:
        """By operation that writes, what may bring its write: of the last instruction that does."""
        instructions = self._events.machine.program.instructions
        return {
            instructions[index].operation: [each for each, _ in self._starting[index]]
            for index in sorted(self._starting)
        }

    def _in_order(self, a: int, b: int) -> Term:
        """That a came before b to the first place where both come."""
        second = dict(self._route(b))
        word, arrivals = next(each for each in self._route(a) if each[0] in second)
        return any_of(
            all_of((one, other, self._events.order.before(first, then)))
            for first, one in arrivals
            for then, other in second[word]
        )

    def _route(self, write: int) -> Iterator[tuple[Word, Arrivals]]:
        """The words that a write passes on its way to memory."""
        routes, writing = self._events.machine.in_cases.routes, self._writing[write]
        word = routes.start(writing[0].rule)
        arrivals: Arrivals = [(each, self._events.order.happens(each)) for each in writing]
        while word is not None:
            yield word, arrivals
            entry = self._events.machine.in_cases.shapes.of_value.get(word)
            if entry is None or entry.dirty is None:
                return
            arrivals = [
                (flush, at & carried)
                for each, at in arrivals
                for flush, carried in self._carried_by(each, entry.dirty)
            ]
            word = routes.after(word)

    def _carried_by(self, write: Event, dirty: Bit) -> Arrivals:
        """The same for every write that it is compared with."""
        if (write, dirty) not in self._carriers_of:
            self._carriers_of[write, dirty] = list(self._carriers(write, dirty))
        return self._carriers_of[write, dirty]

    def _carriers(self, write: Event, dirty: Bit) -> Iterator[tuple[Event, Term]]:
        """The first flush of an entry after a write to it: its own, or that of a later write."""
        possible, order = self._events.possible, self._events.order
        (own,) = possible.flushes[write, dirty]
        yield own, order.happens(own)
        flushes = [each for it in possible.setting[dirty] for each in possible.flushes[it, dirty]]
        for flush in flushes:
            if flush is not own and flush.owner is not None:
                between = (
                    order.not_between(other, write, flush)
                    for other in flushes
                    if other is not flush and other is not own
                )
                after = order.before(write, flush.owner)
                yield flush, all_of([order.absent(own), order.happens(flush), after, *between])
