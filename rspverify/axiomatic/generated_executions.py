"""Executions whose values, rf and mo something else has generated: the witness reading."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from rspverify.axiomatic.event import Event
from rspverify.axiomatic.executions import Executions
from rspverify.axiomatic.model import Linearisation, MemoryModel
from rspverify.limits import Limits
from rspverify.litmus.program import Program
from rspverify.relation.terms import EventSet, Relation
from rspverify.smt.choice import Choice as Values
from rspverify.smt.term import FALSE, TRUE, Term, all_of, any_of


class GeneratedExecutions(Executions):
    """Executions that a machine brings its own rf and mo for (§6.2, the witness reading).

    reads: operation → the value it reads. rf: (write, read) and mo: (write, later write) as
    operations, a write that is None being the initial one of the location; last: location → which
    write is the last to reach memory. Relations are taken where both ends are executed, and write.
    broken: that some axiom does not hold, or the last write of a location without an order of its
    writes has a later one. Raises ValueError for a model with choices of its own.
    """

    def __init__(
        self,
        program: Program,
        model: MemoryModel,
        limits: Limits,
        reads: Mapping[int, Values[int]],
        rf: Mapping[tuple[int | None, int], Term],
        mo: Mapping[tuple[int, int], Term],
        last: Mapping[str, Iterable[tuple[int | None, Term]]],
    ) -> None:
        super().__init__(program, model, limits, reads)
        initial = {it.at.name: it for it in self.events if it.initial}
        self.rf = _possible(self._reading(initial, rf))
        ordered = [(self.writer[a], self.writer[b], term) for (a, b), term in mo.items()]
        ordered += [
            (initial[it.at.name], it, TRUE) for it in self.events if it.writes and not it.initial
        ]
        self.co = _possible(
            (a, b, all_of((term, self.writing[a.index], self.writing[b.index])))
            for a, b, term in ordered
        )
        self.mo = {(a, b): term for (a, b), term in self.co.items() if self.events[a].at.atomic}
        for location in program.locations:
            writes = (
                (initial[location.name] if write is None else self.writer[write], term)
                for write, term in last[location.name]
            )
            self.last[location.name] = {event.index: term for event, term in writes}
        self._judge()
        overtaken = [is_last & any_of(later) for _, is_last, later in self._unordered()]
        self.broken = any_of([*(~term for term in self.axioms.values()), *overtaken])

    def _reading(
        self, initial: Mapping[str, Event], rf: Mapping[tuple[int | None, int], Term]
    ) -> Iterator[tuple[Event, Event, Term]]:
        for (write, read), term in rf.items():
            reader = self.reader[read]
            source = initial[reader.at.name] if write is None else self.writer[write]
            both = self.writing[source.index] & self.executed[reader.index]
            yield source, reader, term & both

    def _linearised(self, asked: Linearisation, members: EventSet, given: Relation) -> Relation:
        raise ValueError(f"{self.model.name} lets an execution choose more than rf and mo")


def _possible(pairs: Iterable[tuple[Event, Event, Term]]) -> Relation:
    return {(a.index, b.index): term for a, b, term in pairs if term is not FALSE}
