"""The candidate executions of a program under a model: terms, and constraints on them.

A candidate chooses a value for each read, a write for it to read from, and for each location an
order of its writes; operations under false guards are not executed (§2.2).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations, permutations
from math import comb

from rspverify.axiomatic.executions import Executions
from rspverify.axiomatic.model import Linearisation, MemoryModel
from rspverify.axiomatic.vocabulary import CO, LO, SYNC_FENCE
from rspverify.limits import Limits
from rspverify.litmus.program import Location, Program
from rspverify.relation.terms import EventSet, Relation, possible
from rspverify.smt.choice import Choice as Values
from rspverify.smt.choice import equal, pick, truth
from rspverify.smt.term import FALSE, TRUE, Term, all_of, any_of, variable

_OFTEN = 4096
"""After so many circles that are ruled out the time is looked at."""

_SECONDS, _BYTES = 20e-6, 1_000
"""What three events of a total order take at least: a fifth of what was measured of mo."""


class Candidates(Executions):
    """The candidate executions of a program under a model.

    reads: operation → the values among which an execution chooses. final: the last value of each
    location. constraints: what makes a candidate. Raises LimitReached where no time is left.
    """

    def __init__(
        self,
        program: Program,
        model: MemoryModel,
        limits: Limits,
        reads: Mapping[int, Values[int]],
        constraints: Sequence[Term],
    ) -> None:
        super().__init__(program, model, limits, reads)
        self.constraints = [*constraints, *(~truth(guard, reads) for guard in program.goes_on)]
        self.rf = self._reads_from()
        self._order_writes()
        self.lo = self._lock_order()
        self.fences = self._fence_order()
        self._choose_last_writes()
        self._judge()
        for it, is_last, overtaken in self._unordered():
            self.constraints.append(is_last.implies(self.writing[it]))
            self.constraints += [is_last.implies(~term) for term in overtaken]
        self.final = {location.name: self._final(location) for location in program.locations}

    def _reads_from(self) -> Relation:
        """Each executed read reads exactly one executed write of its location and value."""
        found: dict[tuple[int, int], Term] = {}
        for reader in (event for event in self.events if event.reads):
            writers = [it.index for it in self.writers(reader.at)]
            source, constraints = pick(f"rf{reader.index}", writers)
            self.constraints += constraints
            for writer, chosen in source.items():
                edge = chosen & self.executed[reader.index]
                if edge is FALSE:
                    continue
                found[writer, reader.index] = edge
                same = equal(self.written[writer], self.read[reader.index])
                self.constraints += [edge.implies(self.writing[writer]), edge.implies(same)]
        return found

    def identifying(self) -> Iterator[Term]:
        """The terms whose values tell two candidate executions apart."""
        yield from self.rf.values()
        yield from self.coherence.values()
        yield from self.executed.values()
        for it, happens in self.happens.items():
            yield from (happens & term for term in self.reads[it].values())

    # ---- orders ------------------------------------------------------------------------------

    def _order_writes(self) -> None:
        """mo and co: per location a total order of its executed writes, the initial one first."""
        every = CO in self.model.names
        for location in self.program.locations:
            if not (location.atomic or every):
                continue
            first, *writers = (it.index for it in self.writers(location))
            members = {it: self.writing[it] for it in writers}
            order = {(first, it): term for it, term in members.items()}
            ordered = self._partial_order if self.partial else self._total_order
            order |= ordered("mo", members)
            order = possible(order)
            self.co = {**self.co, **order}
            if location.atomic:
                self.mo = {**self.mo, **order}

    def _lock_order(self) -> Relation:
        """Per mutex a total order of its locks and unlocks, with those of one thread in order."""
        found: dict[tuple[int, int], Term] = {}
        if LO not in self.model.names:
            return found
        for location in (it for it in self.program.locations if it.mutex):
            members = [it for it in self.events if it.location is location and not it.initial]
            terms = {it.index: self.executed[it.index] for it in members}
            in_program_order = {
                (a.index, b.index): TRUE
                for a in members
                for b in members
                if a.thread is b.thread and a.index < b.index
            }
            found |= self._total_order("lo", terms, in_program_order)
        return possible(found)

    def _fence_order(self) -> Relation:
        """A total order of PTX's fences in SC, between those in the scope of each other."""
        if SYNC_FENCE not in self.model.names:
            return {}
        strong = self.decided("SC")
        members = {it: term for it, term in strong.items() if self.events[it].location is None}
        scoped = self.decided("sr")
        order = self._total_order(SYNC_FENCE, members)
        return possible({pair: term for pair, term in order.items() if pair in scoped})

    def _linearised(self, asked: Linearisation, members: EventSet, given: Relation) -> Relation:
        found: dict[tuple[int, int], Term] = {}
        for group in self._groups(members, asked.per_location):
            own = {pair: term for pair, term in given.items() if group.keys() >= set(pair)}
            found |= self._total_order(asked.name, group, own)
        return possible(found)

    def _groups(self, members: EventSet, per_location: bool) -> Iterator[EventSet]:
        if not per_location:
            yield members
            return
        for location in self.program.locations:
            yield {it: term for it, term in members.items() if self.events[it].location is location}

    def _total_order(
        self, name: str, members: EventSet, given: Relation | None = None
    ) -> dict[tuple[int, int], Term]:
        """A choice of a total order of those members that are there, containing what is given."""
        given = given or {}
        triples = comb(len(members), 3)
        self._limits.require_room(triples, "triples of events to be ordered", _SECONDS, _BYTES)
        before: dict[tuple[int, int], Term] = {}
        names = list(members)
        for place, a in enumerate(names):
            for b in names[place + 1 :]:
                forth, back = given.get((a, b), FALSE), given.get((b, a), FALSE)
                if forth is TRUE and back is FALSE:
                    before[a, b] = TRUE
                elif back is TRUE and forth is FALSE:
                    before[a, b] = FALSE
                else:
                    before[a, b] = variable(f"{name}{a},{b}")
                    both = members[a] & members[b]
                    self.constraints += [
                        all_of((both, forth)).implies(before[a, b]),
                        all_of((both, back)).implies(~before[a, b]),
                    ]
                before[b, a] = ~before[a, b]
        for number, (a, b, c) in enumerate(combinations(names, 3)):
            if number % _OFTEN == 0:
                self._limits.remaining()
            circle = (before[a, b], before[b, c], before[c, a])
            self.constraints += [any_of(circle), any_of(~term for term in circle)]
        self.constraints += [
            ~all_of((members[a], term)) for (a, b), term in given.items() if a == b and a in members
        ]
        return {(a, b): all_of((term, members[a], members[b])) for (a, b), term in before.items()}

    def _partial_order(self, name: str, members: EventSet) -> dict[tuple[int, int], Term]:
        """A choice of a strict partial order of those members that are there."""
        self._limits.require_room(comb(len(members), 3), "triples of events", _SECONDS, _BYTES)
        before = {
            (a, b): all_of((variable(f"{name}{a},{b}"), members[a], members[b]))
            for a, b in permutations(members, 2)
        }
        for a, b in combinations(members, 2):
            self.constraints.append(~before[a, b] | ~before[b, a])
        for number, (a, b, c) in enumerate(permutations(members, 3)):
            if number % _OFTEN == 0:
                self._limits.remaining()
            self.constraints.append((before[a, b] & before[b, c]).implies(before[a, c]))
        return before

    # ---- the values that are left in the end ---------------------------------------------------

    def _choose_last_writes(self) -> None:
        for location in self.program.locations:
            writers = [it.index for it in self.writers(location)]
            order = self._order_of(location)
            if order is None:
                self.last[location.name], constraints = pick(f"final {location.name}", writers)
                self.constraints += constraints
                continue
            self.last[location.name] = {
                it: all_of(
                    [self.writing[it]]
                    + [
                        ~self.writing[other] | order.get((other, it), FALSE)
                        for other in writers
                        if other != it
                    ]
                )
                for it in writers
            }

    def _final(self, location: Location) -> Values[int]:
        values: dict[int, list[Term]] = {}
        for it, chosen in self.last[location.name].items():
            for value, term in self.written[it].items():
                values.setdefault(value, []).append(chosen & term)
        return possible({value: any_of(terms) for value, terms in values.items()})
