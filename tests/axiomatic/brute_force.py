"""All consistent executions of a program under a model, by trying everything: no cleverness at all.

Values of reads out of a given set, a write for each read, an order of the writes of each location, a
write that comes last, and every order that the model lets an execution choose; the model is then
calculated on plain sets of pairs. With the package it shares the events, the base names and the
syntax of expressions.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import count, permutations, product

from relation.concrete import World

from rspverify.axiomatic.event import Event, Part, events_of
from rspverify.axiomatic.model import Let, LetRec, Linearisation, MemoryModel
from rspverify.axiomatic.vocabulary import DERIVED, RELATIONS, SETS
from rspverify.litmus.program import Program
from rspverify.relation import expression as syntax
from rspverify.value import evaluate

Pairs = frozenset[tuple[int, int]]
Value = Pairs | frozenset[int]


@dataclass(frozen=True)
class Found:
    """A consistent execution: reads, final memory, rf, the order of writes, and what it violates."""

    reads: tuple[tuple[int, int], ...]
    memory: tuple[tuple[str, int], ...]
    rf: Pairs
    order: Pairs
    undefined: frozenset[str]


class TooMany(Exception):
    """There are more candidates than are to be tried."""


def consistent(
    program: Program, model: MemoryModel, values: Iterable[int], most: int = sys.maxsize
) -> set[Found]:
    """Every consistent execution whose reads have values out of those given.

    Raises TooMany where there are more than `most` candidates.
    """
    found: set[Found] = set()
    reads = [it.index for it in program.operations if it.reads]
    tried = count(1)
    for chosen in product(sorted(values), repeat=len(reads)):
        with_values = dict(zip(reads, chosen, strict=True))
        for candidate in _with_values(program, model, with_values):
            if next(tried) > most:
                raise TooMany
            if candidate is not None:
                found.add(candidate)
    return found


@dataclass(frozen=True)
class Run:
    """What is executed with certain values: events, what they read and write, and the choices left.

    sources: of each read the pairs with a write that it may read from; writers: of each location;
    orders: each choice of an order for every location that has one, as lists of writes.
    """

    events: list[Event]
    read: Mapping[int, int]
    written: Mapping[int, int]
    sources: list[list[tuple[int, int]]]
    writers: Mapping[str, list[int]]
    ordered: list[list[int]]

    @property
    def orders(self) -> Iterator[Pairs]:
        """Each order of the writes of the locations that have one, the initial write first."""
        for orders in product(
            *([(own[0], *it) for it in permutations(own[1:])] for own in self.ordered)
        ):
            yield frozenset(
                (a, b) for own in orders for i, a in enumerate(own) for b in own[i + 1 :]
            )

    def ends(
        self, model: MemoryModel, rf: Pairs, co: Pairs, last: tuple[int, ...]
    ) -> Iterator[tuple[Pairs, frozenset[str]] | None]:
        """The order that the model goes by, and the conditions that are broken, for each choice of
        the model's own orders; None where that is not consistent, or these are not the last writes.
        """
        by_index = {event.index: event for event in self.events}
        mo = frozenset((a, b) for a, b in co if by_index[a].at.atomic)
        base = _Base(self.events, rf, mo, co, frozenset(last))
        named = model.coherence
        for names, broken in _evaluations(model, base):
            if broken is None or not _ends(model, base, names, last, named):
                yield None
            else:
                order = names.get(named, mo) if named else mo
                yield frozenset(order), broken  # type: ignore[arg-type]

    def memory(self, last: tuple[int, ...]) -> tuple[tuple[str, int], ...]:
        """What the last writes leave, by location."""
        return tuple((name, self.written[it]) for name, it in zip(self.writers, last, strict=True))


def run(program: Program, model: MemoryModel, values: Mapping[int, int]) -> Run | None:
    """What is executed with these values of reads; None if that is nothing, or the same with other
    values of what is not executed."""
    events: list[Event] = []
    read: dict[int, int] = {}
    written: dict[int, int] = {}
    for event in events_of(program, model):
        it = event.operation
        if it is None:
            if event.initial:
                written[event.index] = event.at.initial
        else:
            if not evaluate(it.guard, values):
                if it.reads and values[it.index] != min(values.values()):
                    return None  # Its value does not matter: once is enough.
                continue
            if it.success is not None and not evaluate(it.success, values):
                if event.part is Part.WRITE:
                    continue
                assert event.failed is not None
                event = event.failed
            if event.reads:
                read[event.index] = values[it.index]
            if event.writes and it.value is not None:
                written[event.index] = evaluate(it.value, values)
        events.append(event)
    if any(evaluate(cut.guard, values) for cut in program.cuts):
        return None
    place = {event.index: event.location for event in events}
    sources = [
        [(w, r) for w in written if place[w] is place[r] and written[w] == read[r]] for r in read
    ]
    writers = {it.name: [w for w in written if place[w] is it] for it in program.locations}
    every = "co" in model.names
    ordered = [writers[it.name] for it in program.locations if it.atomic or every]
    return Run(events, read, written, sources, writers, ordered)


def _with_values(
    program: Program, model: MemoryModel, values: Mapping[int, int]
) -> Iterator[Found | None]:
    """Every candidate with these values, None for one that is not consistent."""
    made = run(program, model, values)
    if made is None:
        return
    operation = {it.index: it.operation.index for it in made.events if it.operation}
    observed = tuple(sorted((operation[r], value) for r, value in made.read.items()))
    for rf in map(frozenset, product(*made.sources)):
        for co in made.orders:
            for last in product(*made.writers.values()):
                for ended in made.ends(model, rf, co, last):
                    if ended is None:
                        yield None
                    else:
                        yield Found(observed, made.memory(last), rf, *ended)


@dataclass(frozen=True)
class _Base:
    events: list[Event]
    rf: Pairs
    mo: Pairs
    co: Pairs
    last: frozenset[int]

    def value(self, name: str) -> Value:
        if name in SETS:
            return frozenset(each.index for each in self.events if SETS[name](each))
        if name in RELATIONS:
            test = RELATIONS[name]
            return frozenset(
                (a.index, b.index) for a in self.events for b in self.events if test(a, b)
            )
        return {"rf": self.rf, "mo": self.mo, "co": self.co, "FW": self.last, "lo": frozenset()}[
            name
        ]


def _ends(
    model: MemoryModel,
    base: _Base,
    names: Mapping[str, Value],
    last: tuple[int, ...],
    named: str | None,
) -> bool:
    """Whether no write comes after the last one of its location."""
    by_index = {event.index: event for event in base.events}
    for write in last:
        location = by_index[write].at
        if named is not None and model.defines(named):
            later = [names[named], *(names[name] for name in model.happens_before)]
        elif named == "co":
            later = [base.co]
        elif location.atomic:
            later = [base.mo]
        else:
            later = [names[name] for name in model.happens_before]
        for event in base.events:
            after = event.writes and event.location is location and event.index != write
            if after and any((write, event.index) in each for each in later):
                return False
    return True


def _evaluations(
    model: MemoryModel, base: _Base
) -> Iterator[tuple[dict[str, Value], frozenset[str] | None]]:
    """For each choice of the model's own orders: all names, and the conditions that are broken.

    None in their place if an axiom does not hold.
    """
    names = {name: base.value(name) for name in model.names - DERIVED.keys()}
    universe = frozenset(event.index for event in base.events)
    for name in model.names & DERIVED.keys():
        names[name] = calculate(DERIVED[name], names, universe)
    yield from _from(model, base, 0, names, frozenset(), universe)


def _from(
    model: MemoryModel,
    base: _Base,
    place: int,
    names: dict[str, Value],
    broken: frozenset[str],
    universe: frozenset[int],
) -> Iterator[tuple[dict[str, Value], frozenset[str] | None]]:
    if place == len(model.statements):
        yield names, broken
        return
    statement = model.statements[place]
    if isinstance(statement, Let):
        fresh = {name: calculate(it, names, universe) for name, it in statement.definitions}
        yield from _from(model, base, place + 1, names | fresh, broken, universe)
    elif isinstance(statement, LetRec):
        known: dict[str, Value] = {name: frozenset() for name, _ in statement.definitions}
        while True:
            more = {
                name: calculate(it, names | known, universe) for name, it in statement.definitions
            }
            if more == known:
                break
            known = more
        yield from _from(model, base, place + 1, names | known, broken, universe)
    elif isinstance(statement, Linearisation):
        members = calculate(statement.events, names, universe)
        given = calculate(statement.order, names, universe)
        for order in _orders(base, members, given, statement.per_location):
            bound = names | {statement.name: order}
            yield from _from(model, base, place + 1, bound, broken, universe)
    else:
        world = World(universe, names, names)  # type: ignore[arg-type]
        holds = world.holds(statement.test, statement.expression) is not statement.negated
        if statement in model.conditions:
            broken = broken if holds else broken | {statement.name}
        elif not holds:
            yield names, None
            return
        yield from _from(model, base, place + 1, names, broken, universe)


def _orders(base: _Base, members: Value, given: Value, per_location: bool) -> Iterator[Pairs]:
    located: dict[object, list[int]] = {}
    for event in base.events:
        if event.index in members:
            key = None if not per_location else event.location.name if event.location else ""
            if not (per_location and event.location is None):
                located.setdefault(key, []).append(event.index)
    for chosen in product(*map(permutations, located.values())):
        order = frozenset(
            (a, b) for group in chosen for i, a in enumerate(group) for b in group[i + 1 :]
        )
        wanted = {
            (a, b)
            for a, b in given  # type: ignore[misc]
            if any(a in group and b in group for group in chosen)
        }
        if wanted <= order:
            yield order


def calculate(
    expression: syntax.Expression, names: Mapping[str, Value], universe: frozenset[int]
) -> Value:
    """The value of an expression, from the definition of each operator."""
    world = World(universe, names, names)  # type: ignore[arg-type]
    if expression.sort is syntax.Sort.SET:
        return frozenset(world.members(expression))
    return frozenset(world.pairs(expression))
