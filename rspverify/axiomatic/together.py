"""All executions of many programs at once, which have the same accesses in another spelling.

Programs whose threads access the same locations with the same values differ in what else their
operations are: orders, the instructions that they become, fences around them. Which operations are
executed, what they read and in which order they write is the same choice in all of them. So a bit
stands for a choice in a program, and the axioms are calculated once for all bits (columns.py). It
is how a hunt decides a hundred programs in the time of one; no solver is asked.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from itertools import permutations, product
from math import factorial, prod

from msgspec import Struct

from rspverify.assembly.program import Seen
from rspverify.axiomatic.awaits import iterations_needed
from rspverify.axiomatic.event import Event, Part, events_of
from rspverify.axiomatic.interpretation import interpret
from rspverify.axiomatic.model import Linearisation, MemoryModel
from rspverify.axiomatic.vocabulary import (
    CO,
    DERIVED,
    FINAL_WRITES,
    LO,
    MO,
    RF,
    SETS,
    SYNC_FENCE,
    decided,
)
from rspverify.limits import Limits
from rspverify.litmus.program import Dependencies, Kind, Location, Operation, Program, Thread
from rspverify.records import replace
from rspverify.relation.columns import Columns, any_of
from rspverify.relation.expression import Name, Test
from rspverify.relation.graded import Value
from rspverify.value import Binary, Constant, Expression, Read, evaluate, renumbered
from rspverify.value.domain import Access, derivable

_WIDE = 1 << 19
"""So many bits are calculated with at a time: a choice in a program each."""

_ROOM, _THREAD = 16, 1 << 10
"""The numbers from one access of a thread to the next, where fences between them are, and from one
thread to the next."""

Ending = tuple[tuple[tuple[int, int], ...], tuple[int, ...]]
"""What is read by each read that tells something, and what is left in each location."""


Where = Callable[[Iterable[bool]], int]
"""The bits of the choices of which something holds, one for each."""


class Unfit(Exception):
    """Why programs cannot be decided together, in words that follow their names."""


class Body(Struct, frozen=True, dict=True):
    """A thread with its events under a model, numbered so that accesses have the same numbers
    whatever fences are around them.

    operations: the accesses, and what is chosen besides. told: by the number of each read of the
    source, the read that tells it. goes_on: where a loop is not at its end.
    """

    operations: tuple[Operation, ...]
    events: tuple[Event, ...]
    told: tuple[tuple[int, int], ...]
    goes_on: tuple[Expression, ...]

    @cached_property
    def shape(self) -> tuple[object, ...]:
        """What is the same in all programs that are decided together."""
        same = (
            (it.index, it.kind, it.location, it.guard, it.value, it.success)
            for it in self.operations
        )
        parts = (event.index for event in self.events if event.location is not None)
        return *same, self.told, self.goes_on, *parts


def body_of(
    program: Program,
    model: MemoryModel,
    thread: Thread,
    locations: Mapping[str, Location],
    seen: Sequence[Seen] | None = None,
) -> Body:
    """The only thread of a program, as this thread of another. locations: of that, by name. seen:
    as in Mapped, of single reads; None where each read tells itself. Raises Unfit."""
    if (why := iterations_needed(model, program) if program.spins else None) is not None:
        raise Unfit(f"have loops whose iterations matter: {why}")
    if program.cuts or program.faults:
        raise Unfit("have loops or faults")
    place: dict[int, int] = {}
    at = behind = 0
    for it in program.operations:
        fence = it.kind in (Kind.FENCE, Kind.BARRIER)
        behind = behind + 1 if fence else 0
        at += not fence
        if behind >= _ROOM // 2:
            raise Unfit("have too many fences between two accesses")
        number = at * _ROOM + behind
        place[it.index] = (thread.index + 1) * _THREAD + number
    operations = tuple(_moved(it, place.__getitem__) for it in program.operations)
    for it in operations:
        _require_simple(it)
    moved = replace(program, threads=(replace(program.threads[0], operations=operations),))
    events = tuple(
        replace(
            it,
            index=2 * it.operation.index + (it.part is Part.WRITE),
            thread=thread,
            location=it.location and locations[it.location.name],
        )
        for it in events_of(moved, model)
        if it.operation is not None
    )
    own = {it.index: it.index for it in program.operations if it.reads}
    if seen is not None:
        own = {it.operation: it.value.index for it in seen if isinstance(it.value, Read)}
    return Body(
        tuple(it for it in operations if it.kind not in (Kind.FENCE, Kind.BARRIER)),
        events,
        tuple(sorted((_of_source(number, thread), place[it]) for number, it in own.items())),
        tuple(renumbered(it, place.__getitem__) for it in program.goes_on),
    )


def _of_source(number: int, thread: Thread) -> int:
    """The number that the source calls an operation by, whichever thread it is in."""
    return thread.index * _THREAD + number


def _moved(it: Operation, place: Callable[[int], int]) -> Operation:
    """The same with other indices."""

    def moved(of: Expression | None) -> Expression | None:
        return None if of is None else renumbered(of, place)

    def depends(of: Dependencies | None) -> Dependencies | None:
        if of is None:
            return None
        address, data, control = (
            frozenset(map(place, each)) for each in (of.address, of.data, of.control)
        )
        return Dependencies(address, data, control, depends(of.picked))

    return replace(
        it,
        index=place(it.index),
        guard=renumbered(it.guard, place),
        value=moved(it.value),
        operand=moved(it.operand),
        success=moved(it.success),
        textual=depends(it.textual),
        pair=None if it.pair is None else place(it.pair),
        unsequenced=frozenset(map(place, it.unsequenced)),
    )


def _require_simple(it: Operation) -> None:
    """Raises Unfit unless what an operation writes is a constant, or a value that was read and
    something more: then no value causes itself, as no sum of these is 0."""
    match it.value:
        case None | Constant() | Read() | Binary("+", Read(), Constant()):
            pass
        case _:
            raise Unfit("write what is calculated otherwise than by adding a constant")
    if it.choice is not None or it.kind in (Kind.BARRIER, Kind.LOCK, Kind.UNLOCK):
        raise Unfit("have barriers, locks, or accesses of a location that is computed")


class Choice(Struct, frozen=True):
    """A choice of what is read and in which order writes are: an execution, if it is consistent.

    read: the value of each read, of one that is not executed any. writing: the operations that do.
    rf: of each read its write, both as events. orders: the writes to each location, the initial one
    first; last: the one whose value is left. ending: its outcome.
    """

    read: Mapping[int, int]
    writing: frozenset[int]
    rf: Mapping[int, int]
    orders: tuple[tuple[int, ...], ...]
    last: tuple[int, ...]
    ending: Ending


class Together:
    """Programs of some threads, each of which may be any of some bodies of one shape.

    threads: by thread, its bodies, each with the programs that have it, as bits. programs: all of
    these. Raises Unfit.
    """

    def __init__(
        self,
        model: MemoryModel,
        locations: Sequence[Location],
        threads: Sequence[Sequence[tuple[Body, int]]],
        programs: int,
    ) -> None:
        require_fit(model)
        self._model, self._locations = model, locations
        self._threads = [
            [(body, mask & programs) for body, mask in bodies if mask & programs]
            for bodies in threads
        ]
        self._every, self._size = programs, programs.bit_length()
        self._initial = {it.name: -1 - at for at, it in enumerate(locations)}
        first = [bodies[0][0] for bodies in threads]
        self._operations = [it for body in first for it in body.operations]
        self._told = [it for body in first for it in body.told]
        self._goes_on = [it for body in first for it in body.goes_on]
        self._at: dict[str, list[int]] = {it.name: [] for it in locations}
        self._reader: dict[int, int] = {}
        self._writer: dict[int, int] = {}
        for event in (each for body in first for each in body.events):
            if event.operation is not None and event.reads:
                self._reader[event.operation.index] = event.index
            if event.operation is not None and event.writes:
                self._writer[event.operation.index] = event.index
        self._ordered = [CO in model.names or it.atomic for it in locations]

    @cached_property
    def choices(self) -> tuple[Choice, ...]:
        """Every choice that there is. Raises Unfit where there are too many."""
        return tuple(self._choices())

    def _choices(self) -> Iterator[Choice]:
        domains = self._domains()
        gives = [it for it in self._operations if it.gives]
        ranges = [domains[it.location] if it.location else (0, 1) for it in gives]
        if prod(map(len, ranges)) > _WIDE:
            raise Unfit("have reads with too many values")
        for chosen in product(*ranges):
            read = {it.index: value for it, value in zip(gives, chosen, strict=True)}
            if any(evaluate(it, read) for it in self._goes_on):
                continue
            there = [it for it in self._operations if evaluate(it.guard, read)]
            executed = frozenset(it.index for it in there)
            absent = (at for at, it in enumerate(gives) if it.index not in executed)
            if any(chosen[at] != ranges[at][0] for at in absent):
                continue  # What is not executed reads nothing.
            yield from self._executed(read, there, executed)

    def _executed(
        self, read: Mapping[int, int], there: Sequence[Operation], executed: frozenset[int]
    ) -> Iterator[Choice]:
        written = {self._initial[it.name]: it.initial for it in self._locations}
        writers = {it.name: [self._initial[it.name]] for it in self._locations}
        writing = set[int]()
        for it in there:
            if it.writes and it.value is not None and it.location is not None:
                if it.success is None or evaluate(it.success, read):
                    writing.add(it.index)
                    writers[it.location].append(self._writer[it.index])
                    written[self._writer[it.index]] = evaluate(it.value, read)
        readers = [it for it in there if it.reads and it.location is not None]
        sources = [
            [each for each in writers[it.location or ""] if written[each] == read[it.index]]
            for it in readers
        ]
        orders = [
            [(all_[0], *others) for others in permutations(all_[1:])] if ordered else [(all_[0],)]
            for all_, ordered in zip(writers.values(), self._ordered, strict=True)
        ]
        given = {it: value for it, value in read.items() if it in executed}
        told = tuple((it, given[by]) for it, by in self._told if by in given)
        for rf in product(*sources):
            source = {self._reader[it.index]: by for it, by in zip(readers, rf, strict=True)}
            for order in product(*orders):
                lasts = [
                    [own[-1]] if ordered else all_
                    for own, all_, ordered in zip(
                        order, writers.values(), self._ordered, strict=True
                    )
                ]
                for last in product(*lasts):
                    ending = told, tuple(written[it] for it in last)
                    yield Choice(read, frozenset(writing), source, order, last, ending)

    def _domains(self) -> Mapping[str, Sequence[int]]:
        """The values that each location may have: none causes itself."""
        initial = {it.name: it.initial for it in self._locations}
        accesses = [
            Access(it.index, it.location, it.reads, it.value)
            for it in self._operations
            if it.location is not None
        ]
        found = derivable(initial, accesses, Limits()).locations
        return {name: sorted(values) for name, values in found.items()}

    def endings(self) -> tuple[dict[Ending, int], int]:
        """By outcome, the programs that have it in a consistent execution; and those of which a
        consistent execution breaks a condition, so that they are undefined."""
        found: dict[Ending, int] = {}
        undefined = 0
        totals = [*self._totals()]
        chosen = self.choices
        step = max(1, _WIDE // (self._size * len(totals)))
        for start in range(0, len(chosen), step):
            part = chosen[start : start + step]
            consistent, broken = self._judged(part, totals)
            for at, choice in enumerate(each for each in part for _ in totals):
                place = at * self._size
                if bits := consistent >> place & self._every:
                    found[choice.ending] = found.get(choice.ending, 0) | bits
                    undefined |= broken >> place & self._every
        return found, undefined

    def _totals(self) -> Iterator[tuple[int, ...]]:
        """The orders of what the model puts into a total order, all of which an execution may
        choose; one that is empty where it has none."""
        members = set[int]()
        for it in self._model.statements:
            if isinstance(it, Linearisation) and isinstance(it.events, Name):
                belongs = SETS[it.events.name]
                events = (
                    each for those in self._threads for body, _ in those for each in body.events
                )
                members |= {it.index for it in events if belongs(it)}
        if factorial(len(members)) > _WIDE // self._size:
            raise Unfit("have too many operations that an execution puts into a total order")
        yield from permutations(sorted(members))

    def _judged(
        self, choices: Sequence[Choice], totals: Sequence[tuple[int, ...]]
    ) -> tuple[int, int]:
        """Where an execution is consistent, and where it breaks a condition, by bits: for each
        choice and each total order the programs."""
        width = self._size * len(totals)
        once = sum(1 << self._size * at for at in range(len(totals)))

        def where(holds: Iterable[bool]) -> int:
            return sum(once << width * at for at, it in enumerate(holds) if it)

        every = where(True for _ in choices) * self._every
        there = self._there(choices, where)
        executed = {it: any_of(bits for _, bits in ways) for it, ways in there.items()}
        algebra = Columns(executed)
        witness = self._witness(choices, where)
        names = self._model.names - DERIVED.keys()
        base: dict[str, Value] = {**witness, LO: {}}
        for name in sorted(names - base.keys()):
            base[name] = decided(name, there, executed, any_of, 0)
        broken = 0

        def order(asked: Linearisation, values: Mapping[str, Value]) -> Value:
            nonlocal broken
            own = algebra.value(asked.events, values)
            found: dict[tuple[int, int], int] = {}
            for number, total in enumerate(totals):
                at = sum(1 << width * it + self._size * number for it in range(len(choices)))
                at *= self._every
                for place, a in enumerate(total):
                    for b in total[place + 1 :]:
                        if both := own.get(a, 0) & own.get(b, 0) & at:
                            found[a, b] = found.get((a, b), 0) | both
            for (a, b), bits in algebra.value(asked.order, values).items():
                inside = bits & own.get(a, 0) & own.get(b, 0)
                broken |= inside & ~found.get((a, b), 0)
            return found

        meaning = interpret(self._model, base, algebra, order)
        consistent = every & ~broken & ~self._overtaken(choices, where, meaning.end.values)
        undefined = 0
        for axiom in (*self._model.axioms, *self._model.conditions):
            holds = algebra.holds(axiom.test, axiom.expression, meaning.at[axiom.name].values)
            holds = ~holds if axiom.negated else holds
            if axiom in self._model.conditions:
                undefined |= every & ~holds
            else:
                consistent &= holds
        return consistent, undefined & consistent

    def _there(self, choices: Sequence[Choice], where: Where) -> dict[int, list[tuple[Event, int]]]:
        """What each event may be, and in which executions it is that."""
        always = where(True for _ in choices)
        found: dict[int, list[tuple[Event, int]]] = {
            self._initial[it.name]: [(Event(self._initial[it.name], it), always * self._every)]
            for it in self._locations
        }
        guarded: dict[Expression, int] = {}
        fails: dict[int, int] = {}
        for bodies in self._threads:
            ways: dict[int, dict[Operation, tuple[Event, int]]] = {}
            for body, programs in bodies:
                for event in body.events:
                    assert event.operation is not None
                    same = ways.setdefault(event.index, {})
                    known = same.get(event.operation, (event, 0))
                    same[event.operation] = known[0], known[1] | programs
            for index, same in ways.items():
                found[index] = []
                for it, (event, programs) in same.items():
                    if it.guard not in guarded:
                        guarded[it.guard] = where(
                            evaluate(it.guard, at.read) != 0 for at in choices
                        )
                    bits = guarded[it.guard]
                    if it.success is not None:
                        if it.index not in fails:
                            fails[it.index] = bits & ~where(
                                it.index in at.writing for at in choices
                            )
                        if event.failed is not None and fails[it.index]:
                            found[index].append((event.failed, fails[it.index] * programs))
                        bits &= ~fails[it.index]
                    if bits:
                        found[index].append((event, bits * programs))
        return found

    def _witness(self, choices: Sequence[Choice], where: Where) -> Mapping[str, Value]:
        rf: dict[tuple[int, int], int] = {}
        readers: dict[int, list[int]] = {}
        co: dict[tuple[int, int], int] = {}
        mo: dict[tuple[int, int], int] = {}
        for at, location in enumerate(self._locations):
            writers = [
                self._initial[location.name],
                *(
                    self._writer[it.index]
                    for it in self._operations
                    if it.writes and it.location == location.name
                ),
            ]
            for it in self._operations:
                if it.reads and it.location == location.name:
                    readers[self._reader[it.index]] = writers
            for a, b in permutations(writers, 2) if self._ordered[at] else ():
                pair = where(_before(a, b, it.orders[at]) for it in choices)
                if pair:
                    co[a, b] = pair * self._every
                    if location.atomic:
                        mo[a, b] = co[a, b]
        for reader, writers in readers.items():
            for writer in writers:
                if pair := where(it.rf.get(reader) == writer for it in choices):
                    rf[writer, reader] = pair * self._every
        return {RF: rf, MO: mo, CO: co}

    def _overtaken(
        self,
        choices: Sequence[Choice],
        where: Where,
        values: Mapping[str, Value],
    ) -> int:
        """Where the last write to a location, all of whose writes nothing orders, happens before
        another."""
        found = 0
        for at, location in enumerate(self._locations):
            if self._ordered[at]:
                continue
            lasts = {it.last[at] for it in choices}
            for last in lasts:
                bits = where(it.last[at] == last for it in choices) * self._every
                for it in self._operations:
                    if it.writes and it.location == location.name:
                        for name in self._model.happens_before:
                            pair = (last, self._writer[it.index])
                            found |= bits & values[name].get(pair, 0)
        return found


def require_fit(model: MemoryModel) -> None:
    """Raises Unfit where an execution of a model is more than rf, an order of the writes of each
    location, and one of a set of events."""
    if model.names & {FINAL_WRITES, SYNC_FENCE}:
        raise Unfit("are judged by a model that looks at final writes, or orders fences")
    if model.coherence is not None and model.defines(model.coherence):
        raise Unfit("are judged by a model with an order of writes of its own")
    chosen = [it for it in model.statements if isinstance(it, Linearisation)]
    if any(it.per_location or not isinstance(it.events, Name) for it in chosen):
        raise Unfit("are judged by a model that chooses orders of what it calculates")
    if any(it.events.name not in SETS for it in chosen if isinstance(it.events, Name)):
        raise Unfit("are judged by a model that chooses orders of what it defines")


def keeps_locations(model: MemoryModel) -> bool:
    """Whether a model says in so many words that in an execution all accesses of a location are in
    one order, with those of a thread in program order."""
    return model.says(Test.ACYCLIC, "po-loc", "rf", "co", "fr")


def keeps_pairs(model: MemoryModel) -> bool:
    """Whether a model says in so many words that no write of another comes between the read and the
    write of a pair."""
    return any(model.says(Test.EMPTY, it) for it in ("rmw & (fre; coe)", "rmw & fre; coe"))


def _before(a: int, b: int, order: Iterable[int]) -> bool:
    found = [it for it in order if it in (a, b)]
    return found == [a, b]
