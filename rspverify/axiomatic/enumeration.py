"""The consistent executions of a program, by a search through rf and mo.

Which operations are executed is fixed first: by an outcome, which tells every value that is read,
or in each way in turn that the program has (ways.py). What is left to choose is the write that each
read reads from, and an order of the writes of each atomic location; an axiom that is broken by a
part of both, and stays so as they grow, ends a branch. This is the check on the symbolic encoding
(executions.py, candidates.py), with which it shares the reading of the model: the base names of the
vocabulary, and which definition a name stands for (interpretation.py). What operators and axioms
mean, and how an execution is put together, it has for itself. Where a program has many outcomes,
it lists them ten times as fast.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from functools import reduce
from itertools import combinations, permutations, product
from operator import or_
from typing import Any

from msgspec import Struct

from rspverify.axiomatic.event import Event, Part, events_of
from rspverify.axiomatic.model import MemoryModel
from rspverify.axiomatic.plan import ATOMIC, Check, Plan, Steps, WrongTool, plan_of
from rspverify.axiomatic.vocabulary import CO, RELATIONS, RF, SETS, SYNC_FENCE
from rspverify.axiomatic.ways import Demand, State, state_of, ways
from rspverify.limits import Limits
from rspverify.litmus.dialects import is_partial
from rspverify.litmus.program import Kind, Program
from rspverify.records import replace
from rspverify.relation.concrete import Value, members, pairs_of, related
from rspverify.value import Constant, Expression, evaluate, reads
from rspverify.verdict import Outcome

MOST = 200_000
"""After so many candidates, partial ones included, the enumeration gives up."""

_CLOCK = 256
"""Candidates between two looks at the clock."""

_NOT_READ = -(2**32)
"""What stands for the value of a read that is not executed; no value is as small."""

_SPARE, _FOR_ONE = 1_000, 10
"""All executions are found by the solver where more candidates than this in all, and for each
execution, were tried in vain."""


Relations = Mapping[str, frozenset[tuple[int, int]]]
"""By name, as pairs of indices among events_of(program, model)."""


def consistent_execution(
    program: Program, model: MemoryModel, outcome: Outcome, limits: Limits, most: int = MOST
) -> Relations | None:
    """A consistent execution with an outcome, as its rf and mo; None if there is none.

    Whether the program has the values is not asked (docs/semantics.md, Values): an outcome that
    a machine reaches has no others. Raises LimitReached after too many candidates, or too late.
    """
    reads, memory = dict(outcome.reads), dict(outcome.memory)
    return ConsistentExecutions(program, model).first(reads, memory, limits, most)


class ConsistentExecutions:
    """Those of a program under a model; what its events are is calculated once.

    Raises WrongTool for a model of which an execution is more than rf and an order.
    """

    def __init__(self, program: Program, model: MemoryModel) -> None:
        self._program, self._plan = program, plan_of(model)
        self._partial = is_partial(program.language)
        self._events = events_of(program, model)
        self._known: dict[tuple[tuple[int, ...], tuple[int, ...]], Steps] = {}

    def first(
        self,
        reads: Mapping[int, int],
        memory: Mapping[str, int],
        limits: Limits,
        most: int = MOST,
    ) -> Relations | None:
        """A consistent execution in which reads, by operation, and locations in the end have these
        values; one that is not named may end with any."""
        states = []
        for it in self._program.operations:
            if it.gives and bool(evaluate(it.guard, reads)) != (it.index in reads):
                return None
            states.append(state_of(it, reads))
        if any(evaluate(guard, reads) for guard in self._program.goes_on):
            return None
        run = _run(self._events, states)
        written = {place: evaluate(it, reads) for place, it in run.written.items()}
        sources = {
            reader: [it for it in writers if written[it] == reads[run.operation(reader)]]
            for reader, writers in run.sources.items()
        }
        constants = {place: Constant(value) for place, value in written.items()}
        run = replace(run, sources=sources, written=constants)
        for fences in self._orders_of_fences(run):
            steps = self._steps(run, fences)
            search = _Search(
                run, self._plan, steps, limits, most, reads, memory, partial=self._partial
            )
            for found in search.executions():
                return search.relations(found)
        return None

    def _orders_of_fences(self, run: _Run) -> Iterator[tuple[int, ...]]:
        """The orders of the fences in SC that are executed, where the model speaks of one."""
        strong = SETS["SC"] if self._plan.orders_fences else None
        places = [
            place
            for place, event in enumerate(run.events)
            if strong is not None and event.location is None and strong(event)
        ]
        return permutations(places)

    def endings(
        self, values: Mapping[int, Collection[int]], limits: Limits, most: int = _SPARE
    ) -> Iterator[Outcome]:
        """The outcome of every consistent execution with every final memory that it may leave.

        values: those that each read may have. Raises LimitReached, and WrongTool where values
        cause themselves, or more than so many parts of executions were met in vain.
        """
        if not self._plan.by_order:
            raise WrongTool("the model orders writes by a relation of its own")
        if self._partial:
            raise WrongTool("writes may be in no order")
        if any(it.kind is Kind.CHOICE for it in self._program.operations):
            raise WrongTool("the program has choices beside those of values and orders")
        left = most
        for states, demands in ways(self._program, values):
            run = replace(_run(self._events, states), demands=demands)
            executed = {run.operation(place) for place in run.sources}
            known = {it: _NOT_READ for it in values if it not in executed}
            search = _Search(run, self._plan, self._steps(run), limits, left, known, {})
            for found in search.executions():
                for outcome in search.outcomes(found):
                    search.most += _FOR_ONE
                    yield outcome
            left = search.most - search.seen

    def _steps(self, run: _Run, fences: tuple[int, ...] = ()) -> Steps:
        """fences: those in SC, in their order."""
        events = run.events
        mine = tuple(it.index if it is self._events[it.index] else ~it.index for it in events)
        key = (mine, fences)

        def value(name: str) -> Value:
            if name != SYNC_FENCE:
                return base_value(name, events)
            pairs = combinations(fences, 2)
            scoped = ((a, b) for a, b in pairs if RELATIONS["sr"](events[a], events[b]))
            return related(scoped, len(events))

        if key not in self._known:
            self._known[key] = self._plan.steps(value, len(events))
        return self._known[key]


class _Run(Struct, frozen=True):
    """What an execution executes, by places among these events.

    written: what each write writes, over the reads of the program. sources: the writes that each
    read may read from. reader: of a read-modify-write, from the write that it is to the read.
    demands: what the values that are read must be like.
    """

    events: Sequence[Event]
    written: Mapping[int, Expression]
    sources: Mapping[int, Sequence[int]]
    reader: Mapping[int, int]
    demands: Sequence[Demand] = ()

    def operation(self, place: int) -> int:
        """The index of the operation of an event."""
        operation = self.events[place].operation
        assert operation is not None
        return operation.index

    def writers(self, location: str) -> list[int]:
        """The places of the writes to a location, the initial one first."""
        return [place for place in self.written if self.events[place].at.name == location]


def _run(every: Sequence[Event], states: Sequence[State]) -> _Run:
    """The run of a program whose operations are executed so."""
    events: list[Event] = []
    written: dict[int, Expression] = {}
    readers: dict[int, int] = {}
    pairs: dict[int, int] = {}
    for event in every:
        place, it = len(events), event.operation
        if it is None:
            if event.initial:
                written[place] = Constant(event.at.initial)
        else:
            state = states[it.index]
            if state is State.ABSENT or (state is State.FAILS and event.part is Part.WRITE):
                continue
            if state is State.FAILS:
                event = event.failed or event
            if event.reads:
                readers[it.index] = place
            if event.writes and it.value is not None:
                written[place] = it.value
                if it.index in readers:
                    pairs[place] = readers[it.index]
        events.append(event)
    run = _Run(events, written, {}, pairs)
    sources = {place: run.writers(events[place].at.name) for place in readers.values()}
    return replace(run, sources=sources)


class _Node(Struct, frozen=True):
    """A part of an execution: rf and the order of writes so far.

    values: of the steps. read: the value of each read, by operation, as far as it is known. source:
    the write that each read reads from, by their places.
    """

    values: list[Any]
    order: Value
    read: Mapping[int, int]
    source: Mapping[int, int]


class _Order(Struct, frozen=True):
    """The writes of a location that are to be put in order after its first, and those of them that
    may be the last."""

    first: int
    writers: int
    ends: int


class _Pair(Struct, frozen=True):
    """Two writes of a location, either of which may come before the other, or neither."""

    one: int
    other: int


class _Search:
    """The search through rf and mo. Orders grow from their first write to their last; partial ones
    pair by pair.

    known: all that is read, by operation, and then reads choose their writes before these are put
    in order; or `_NOT_READ` for each that is not executed. Then a read-modify-write chooses when it
    is put in order, and what only reads comes last, as there nearly always is a write for it.
    seen, most: how many parts of executions were met, and may be.
    """

    def __init__(
        self,
        run: _Run,
        plan: Plan,
        steps: Steps,
        limits: Limits,
        most: int,
        known: Mapping[int, int],
        memory: Mapping[str, int],
        *,
        partial: bool = False,
    ) -> None:
        self._run, self._plan, self._steps, self._limits = run, plan, steps, limits
        self.seen, self.most = 0, most
        self._start, self._partial = known, partial
        self._events = len(run.events)
        self._refuted: dict[tuple[int, int, int], bool] = {}
        self._at = {place: run.operation(place) for place in run.sources}
        self._needs = {place: reads(it) for place, it in run.written.items()}
        self._demands = [(reads(it.expression), it) for it in run.demands]
        self._sources = {place: self._fitting(place) for place in run.sources}
        self._last: list[tuple[str, int, int, bool]] = []
        self._order, orders = 0, list[_Order | _Pair]()
        for location in dict.fromkeys(event.at.name for event in run.events if event.initial):
            initial, *others = writers = run.writers(location)
            ends = _mask(writers)
            if location in memory:
                wanted = Constant(memory[location])
                ends = _mask(it for it in writers if run.written[it] == wanted)
            ordered = plan.every or run.events[initial].at.atomic
            by_order = ordered and plan.by_order and not partial
            self._last.append((location, _mask(writers), ends, by_order))
            if ordered and others:
                self._order |= _mask(others) << initial * self._events
                last = (ends if by_order else -1) & _mask(others)
                if partial:
                    orders += (_Pair(a, b) for a, b in combinations(others, 2))
                    continue
                orders.append(_Order(initial, _mask(others), last))
        free = [place for place, writers in self._sources.items() if len(writers) > 1]
        self._decisions: list[int | _Order | _Pair] = (
            [*free, *orders] if known.keys() >= {*self._at.values()} else [*orders, *free]
        )

    def _fitting(self, place: int) -> Sequence[int]:
        """The writes that a read may read from, as far as it alone and constants tell."""
        it, written = self._at[place], self._run.written
        own = [demand for needs, demand in self._demands if needs == {it}]
        return [
            writer
            for writer in self._run.sources[place]
            if self._needs[writer]
            or all(each.holds({it: evaluate(written[writer], {})}) for each in own)
        ]

    def executions(self) -> Iterator[_Node]:
        """The consistent executions. Raises LimitReached."""
        if not all(self._sources.values()) or not all(ends for _, _, ends, _ in self._last):
            return
        source = {place: them[0] for place, them in self._sources.items() if len(them) == 1}
        node = _Node(self._steps.values, self._order, self._start, {})
        root = self._checked(node, source, self._order)
        if root is not None:
            yield from self._completed(-1, 0, 0, root)

    def _completed(self, at: int, before: int, rest: int, node: _Node) -> Iterator[_Node]:
        """The consistent executions that a part grows to.

        at: the decision that it is at, `rest` being the writes still to be put in order there, and
        `before` the last one that was. A write that is put next comes before all the rest, so that
        mo only grows on the way.
        """
        while not rest:
            at += 1
            if at == len(self._decisions):
                whole = not self._partial or _is_transitive(node.order, self._events)
                late = whole and self._hold(self._steps.late, node.values)
                if late and all(self._ends(node)):
                    yield node
                return
            decision = self._decisions[at]
            if isinstance(decision, _Pair):
                one, other = decision.one, decision.other
                for pairs in ((), ((one, other),), ((other, one),)):
                    order = node.order | related(pairs, self._events)
                    grown = self._checked(node, node.source, order)
                    if grown is not None:
                        yield from self._completed(at, 0, 0, grown)
                return
            if isinstance(decision, _Order):
                before, rest = decision.first, decision.writers
            elif decision not in node.source:
                for found in self._reading(decision, node):
                    yield from self._completed(at, 0, 0, found)
                return
        decision = self._decisions[at]
        assert isinstance(decision, _Order)
        for write in members(rest):
            after = rest & ~(1 << write)
            if (after or rest) & decision.ends:
                placed = _Placed(write, before, node.order | after << write * self._events)
                for found in self._placed(placed, node):
                    yield from self._completed(at, write, after, found)

    def _reading(self, reader: int, node: _Node, placed: _Placed | None = None) -> Iterator[_Node]:
        """A read reads from each write in turn; placed: it is that of the write that comes next."""
        for writer in self._sources[reader]:
            if placed is None or not self._cannot(writer, reader, placed):
                order = node.order if placed is None else placed.order
                found = self._checked(node, {**node.source, reader: writer}, order)
                if found is not None:
                    yield found

    def _placed(self, placed: _Placed, node: _Node) -> Iterator[_Node]:
        """A write comes next in the order; if it is part of a read-modify-write, with its read."""
        reader = self._run.reader.get(placed.write)
        if reader is None or reader in node.source:
            found = self._checked(node, node.source, placed.order)
            if found is not None:
                yield found
        else:
            yield from self._reading(reader, node, placed)

    def _cannot(self, writer: int, reader: int, placed: _Placed) -> bool:
        """Whether a write that comes next cannot read from a write, as the two and the one before
        it say alone. That is kept, so that it costs less than the axioms on all events."""
        write, before = placed.write, placed.before
        if writer == before:
            return False
        earlier = placed.order >> writer * self._events + write & 1
        key = (writer, write, before if earlier else write)
        if key not in self._refuted:
            pairs = [(write, writer)] if writer != write else []
            if earlier:
                pairs = [(writer, before), (writer, write), (before, write)]
            order, rf = (related(it, self._events) for it in (pairs, [(writer, reader)]))
            self._refuted[key] = self._calculated(self._steps.values, order, rf) is None
        return self._refuted[key]

    def _checked(self, node: _Node, source: Mapping[int, int], order: Value) -> _Node | None:
        """A part of an execution that has grown, if it may grow to a consistent one."""
        self.seen += 1
        if self.seen > self.most:
            raise WrongTool(f"more than {self.most} candidate executions with one outcome")
        if self.seen % _CLOCK == 1:
            self._limits.remaining()
        read, rf = node.read, None
        if source is not node.source:
            found = self._read(node.read, source)
            if found is None:
                return None
            read = found
            rf = related(((writer, reader) for reader, writer in source.items()), self._events)
        values = self._calculated(node.values, order, rf)
        if values is None:
            return None
        if len(source) == len(self._sources) and not self._hold(self._steps.early, values):
            return None
        return _Node(values, order, read, source)

    def _calculated(self, values: list[Any], order: Value, rf: Value | None) -> list[Any] | None:
        """The values of the steps, None if an axiom is broken for good. rf: None as before."""
        values, given = [*values], self._plan.calculation.given
        values[given[CO]] = order
        if rf is not None:
            values[given[RF]] = rf
            self._calculate(self._steps.reading, values)
        return values if self._hold(self._steps.rising, values) else None

    def _hold(self, checks: Sequence[Check], values: list[Any]) -> bool:
        for check in checks:
            self._calculate(check.steps, values)
            if not check.holds(values[check.place], self._events):
                return False
        return True

    def _calculate(self, steps: tuple[int, ...], values: list[Any]) -> None:
        self._plan.calculation.run(steps, values, self._events)

    def _read(
        self, known: Mapping[int, int], source: Mapping[int, int]
    ) -> Mapping[int, int] | None:
        """What is read, as far as it is known; None where that is asked for otherwise."""
        read = dict(known)
        waiting = {place: it for place, it in source.items() if self._at[place] not in read}
        while True:
            ready = [it for it, writer in waiting.items() if self._needs[writer] <= read.keys()]
            for place in ready:
                written = self._run.written[waiting.pop(place)]
                read[self._at[place]] = evaluate(written, read)
            if not ready:
                break
        if any(needs <= read.keys() and not it.holds(read) for needs, it in self._demands):
            return None
        return read

    def _ends(self, node: _Node) -> list[list[int]]:
        """For each location the writes that may be the last."""
        self._calculate(self._steps.last, node.values)
        start = node.order if self._partial else 0
        later = reduce(or_, (node.values[place] for place in self._plan.later), start)
        return [
            [
                write
                for write in members(ends)
                if not (node.order if by_order else later) >> write * self._events
                & writers
                & ~(1 << write)
            ]
            for _, writers, ends, by_order in self._last
        ]

    def outcomes(self, node: _Node) -> Iterator[Outcome]:
        """The outcome of an execution with each memory that it may leave. Raises WrongTool."""
        if any(it not in node.read for it in self._at.values()):
            raise WrongTool("values of the program may cause themselves")
        reads = tuple((it, node.read[it]) for it in self._at.values())
        names = [name for name, *_ in self._last]
        written = self._run.written
        for values in product(
            *({evaluate(written[it], node.read) for it in ends} for ends in self._ends(node))
        ):
            yield Outcome(reads, tuple(zip(names, values, strict=True)))

    def relations(self, node: _Node) -> Relations:
        """The rf and mo of an execution."""
        index = [event.index for event in self._run.events]
        given = self._plan.calculation.given
        return {
            name: frozenset(
                (index[a], index[b]) for a, b in pairs_of(node.values[given[base]], self._events)
            )
            for name, base in (("rf", RF), ("mo", CO))
        }


class _Placed(Struct, frozen=True):
    """A write that comes next in the order of its location, and the one before it."""

    write: int
    before: int
    order: Value


def _is_transitive(order: Value, events: int) -> bool:
    pairs = set(pairs_of(order, events))
    return all((a, d) in pairs for a, b in pairs for c, d in pairs if b == c)


def _mask(places: Iterable[int]) -> int:
    return sum(1 << place for place in places)


def base_value(name: str, events: Sequence[Event]) -> Value:
    """The value of a base name that the executed events alone decide."""
    if name in SETS:
        return _mask(place for place, event in enumerate(events) if SETS[name](event))
    holds = RELATIONS[name] if name != ATOMIC else _on_one_atomic_location
    places = range(len(events))
    pairs = ((a, b) for a in places for b in places if holds(events[a], events[b]))
    return related(pairs, len(events))


def _on_one_atomic_location(a: Event, b: Event) -> bool:
    return a.location is not None and a.location is b.location and a.location.atomic
