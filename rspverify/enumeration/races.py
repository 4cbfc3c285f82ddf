"""Whether a test races under `opencl-rsp`, by brute force on so few events.

First the interleavings: two conflicting accesses that may both come next, and whose scopes are not
inclusive, race, as whatever orders them would go through an edge from one to the other. Only where
none has such a pair, the model is asked, for each way in which the reads may have values, whether
some rf and mo are consistent and leave a race.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cache

from rspverify.axiomatic.cat import load_model
from rspverify.axiomatic.enumeration import ConsistentExecutions
from rspverify.axiomatic.model import MemoryModel
from rspverify.enumeration.naming import named
from rspverify.enumeration.packed import PackedAccess, PackedTest
from rspverify.enumeration.tables import Tables
from rspverify.limits import Limits
from rspverify.litmus.program import Program
from rspverify.programs.meaning import program_of
from rspverify.records import replace
from rspverify.value import evaluate
from rspverify.value.domain import Access, derivable

Base = tuple[int, int]
Value = tuple[Base, int]
"""The store that it is of, by thread and place, and the increments since."""

_INITIAL: Base = (-1, -1)


def races(packed: PackedTest, tables: Tables) -> bool:
    """Whether some consistent execution has a race."""
    suspects = tables.suspects(packed)
    return bool(suspects) and (
        _races_in_turn(packed, tables, suspects) or _races_by_model(packed, tables, suspects)
    )


def _races_in_turn(
    packed: PackedTest, tables: Tables, suspects: Sequence[tuple[Base, Base]]
) -> bool:
    """Whether some interleaving has two accesses next to each other that race."""
    pairs = set(suspects)
    threads = [thread[2] for thread in packed.threads]
    start = (
        (0,) * len(threads),
        ((_INITIAL, 0),) * len(packed.atomic),
        ((),) * len(threads),
    )
    stack: list[tuple[tuple[int, ...], tuple[Value, ...], tuple[tuple[Value | None, ...], ...]]]
    stack = [start]
    seen = set(stack)
    while stack:
        places, memory, read = stack.pop()
        ready = [
            (thread, place)
            for thread, place in enumerate(places)
            if place < len(threads[thread]) and _holds(threads[thread][place], read[thread])
        ]
        for number, second in enumerate(ready):
            for first in ready[:number]:
                if (first, second) in pairs and any(
                    _writes(threads[thread][place], memory, tables)
                    for thread, place in (first, second)
                ):
                    return True
        for thread, place in ready:
            access = threads[thread][place]
            found = memory[access[1]]
            after = memory
            if _writes(access, memory, tables):
                written = (
                    (found[0], found[1] + 1) if tables.adds[access[0]] else ((thread, place), 0)
                )
                after = (*memory[: access[1]], written, *memory[access[1] + 1 :])
            got = found if tables.reads[access[0]] else None
            state = (
                (*places[:thread], place + 1, *places[thread + 1 :]),
                after,
                (*read[:thread], (*read[thread], got), *read[thread + 1 :]),
            )
            if state not in seen:
                seen.add(state)
                stack.append(state)
    return False


def _writes(access: PackedAccess, memory: Sequence[Value], tables: Tables) -> bool:
    """Whether an access writes if it comes next: a compare-exchange finds what it expects."""
    if not tables.cas[access[0]]:
        return tables.writes[access[0]]
    return memory[access[1]] == _expected(access)


def _expected(access: PackedAccess) -> Value:
    """What a compare-exchange expects."""
    return (access[6], access[7]), access[8]


def _holds(access: PackedAccess, read: Sequence[Value | None]) -> bool:
    """Whether the `if` before an access lets it be executed, after what its thread has read."""
    return access[2] < 0 or read[access[2]] == ((access[3], access[4]), access[5])


def _races_by_model(
    packed: PackedTest, tables: Tables, suspects: Sequence[tuple[Base, Base]]
) -> bool:
    """Whether the model has a consistent execution with a race."""
    program = program_of(named(packed, tables.space), "enumerated")
    places = [(it, place) for it, own in enumerate(packed.threads) for place in range(len(own[2]))]
    pairs = [(places.index(one), places.index(other)) for one, other in suspects]
    racing = ConsistentExecutions(program, _racing())
    return any(racing.first(values, {}, Limits()) is not None for values in _values(program, pairs))


@cache
def _racing() -> MemoryModel:
    """The model whose consistent executions are those of `opencl-rsp` that have a race. No test of
    a space is undefined for another reason."""
    model = load_model("opencl-rsp")
    race = next(each for each in model.conditions if each.name == "Dr")
    return replace(model, axioms=(*model.axioms, replace(race, negated=True)))


def _values(program: Program, pairs: Sequence[tuple[int, int]]) -> Iterator[dict[int, int]]:
    """The values that reads may have together where both operations of a pair are executed, as far
    as one can see without rf."""
    accesses = [it for it in program.operations if it.location is not None]
    initial = {it.name: it.initial for it in program.locations}
    flow = [Access(it.index, it.location or "", it.reads, it.value) for it in accesses]
    domains = derivable(initial, flow, Limits()).locations

    def longer(place: int, values: dict[int, int]) -> Iterator[dict[int, int]]:
        if place == len(accesses):
            yield values
            return
        it = accesses[place]
        read = it.reads and evaluate(it.guard, values)
        for value in sorted(domains[it.location or ""]) if read else [0]:
            yield from longer(place + 1, {**values, it.index: value} if read else values)

    for values in longer(0, {}):
        executed = {it.index for it in program.operations if evaluate(it.guard, values)}
        written = {
            (it.location, evaluate(it.value, values))
            for it in accesses
            if it.value is not None and it.index in executed
        }
        found = {(program.operations[at].location, value) for at, value in values.items()}
        if found <= {*initial.items(), *written}:
            if any(one in executed and other in executed for one, other in pairs):
                yield values
