"""Whether a test races under `opencl-rsp`, by brute force on so few events.

First the interleavings: two conflicting accesses that may both come next, and whose scopes are not
inclusive, race, as whatever orders them would go through an edge from one to the other. Only where
none has such a pair, nor does what is read hand each over (docs/proofs.md), the model is asked
whether some consistent execution has a race.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache

from rspverify.axiomatic.cat import load_model
from rspverify.axiomatic.enumeration import MOST, ConsistentExecutions
from rspverify.axiomatic.model import MemoryModel
from rspverify.axiomatic.plan import WrongTool
from rspverify.axiomatic.question import Questions
from rspverify.enumeration.naming import named
from rspverify.enumeration.packed import PackedAccess, PackedTest
from rspverify.enumeration.tables import Tables
from rspverify.limits import Limits
from rspverify.programs.meaning import program_of
from rspverify.records import replace
from rspverify.value.domain import Access, derivable

Base = tuple[int, int]
Value = tuple[Base, int]
"""The store that it is of, by thread and place, and the increments since."""

_INITIAL: Base = (-1, -1)
_MODEL = "opencl-rsp"


def races(packed: PackedTest, tables: Tables) -> bool:
    """Whether some consistent execution has a race."""
    suspects = tables.suspects(packed)
    if not suspects or _races_in_turn(packed, tables, suspects):
        return bool(suspects)
    ordered = all(
        _handed_over(packed, tables, a, b) or _handed_over(packed, tables, b, a)
        for a, b in suspects
    )
    return not ordered and _races_by_model(packed, tables)


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


def _handed_over(packed: PackedTest, tables: Tables, before: Base, after: Base) -> bool:
    """Whether an access happens before another wherever that is executed: an `if` around the other
    tests that its thread has acquired what was released by the first, or after it."""
    own, (number, end) = before[0], after
    here, there = packed.threads[own][2], packed.threads[number][2]
    return not packed.local and any(
        tested >= 0
        and of == own
        and before[1] <= at < len(here)
        and tables.releases[here[at][0]]
        and tables.acquires[there[tested][0]]
        for _, _, tested, of, at, *_ in there[: end + 1]
    )


def _races_by_model(packed: PackedTest, tables: Tables) -> bool:
    """Whether the model has a consistent execution with a race."""
    program = program_of(named(packed, tables.space), "enumerated")
    accesses = [it for it in program.operations if it.location is not None]
    initial = {it.name: it.initial for it in program.locations}
    flow = [Access(it.index, it.location or "", it.reads, it.value) for it in accesses]
    domains = derivable(initial, flow, Limits()).locations
    values = {it.index: domains[it.location or ""] for it in accesses if it.reads}
    racing = ConsistentExecutions(program, _racing()).endings(values, Limits(), MOST)
    try:
        return next(racing, None) is not None
    except WrongTool:  # What is compared and tested has too many values to go through.
        return Questions(program, load_model(_MODEL), Limits()).race() is not None


@cache
def _racing() -> MemoryModel:
    """The model whose consistent executions are those of `opencl-rsp` that have a race. No test of
    a space is undefined for another reason."""
    model = load_model(_MODEL)
    race = next(each for each in model.conditions if each.name == "Dr")
    return replace(model, axioms=(*model.axioms, replace(race, negated=True)))
