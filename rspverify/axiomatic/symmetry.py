"""Threads that can be exchanged for each other, so that one order of them stands for all.

Exchanging two equal threads of a work-group, or two work-groups of a device with equal threads,
turns an execution of the program into one of the same program, of the source and of its compiled
form, and keeps it consistent or not. Whether there is a wrong execution can therefore be asked of
those alone in which exchangeable threads make their first access in the order of their numbers.
Where it matters who shares a place, an exchange makes of an execution with one placement one with
another. So of placements that exchanges turn into each other one is asked about, and with it only
those are exchanged that leave it as it is.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence
from itertools import combinations, groupby, pairwise

from rspverify.assembly.program import AssemblyProgram, Placement
from rspverify.litmus.program import Operation, Program, Thread
from rspverify.records import fields_of
from rspverify.value import Constant, Expression, renumbered

Unit = tuple[Thread, ...]


def exchangeable(
    program: Program, compiled: AssemblyProgram | None = None
) -> list[tuple[int, int]]:
    """Pairs of accesses that may be taken to come in this order, each the first of its thread.

    Only threads whose first access is always executed are compared, in programs without sub-groups.
    compiled: what the program was made to; equal threads must have equal code there, too, as a
    compiler need not see to it, and their exchange must not change its placement.
    """
    pairs: list[tuple[int, int]] = []
    placement = compiled.placement if compiled else ()
    for units in alike(program, compiled):
        left = units
        while left:
            same = [it for it in left if _exchanged(placement, left[0], it) == placement]
            left = [it for it in left if it not in same]
            for (one, *_), (other, *_) in pairwise(same):
                first, second = _first_access(one), _first_access(other)
                if first is not None and second is not None and isinstance(first.guard, Constant):
                    pairs.append((first.index, second.index))
    return pairs


def repeated(program: Program, made: Sequence[AssemblyProgram]) -> frozenset[int]:
    """Which of the placed programs, by their places, an exchange makes of one before them."""
    place = {it.placement: at for at, it in enumerate(made)}
    swaps = [pair for units in alike(program, made[0]) for pair in combinations(units, 2)]
    return frozenset(
        at
        for it, at in place.items()
        if any(place.get(_exchanged(it, *pair), at) < at for pair in swaps)
    )


def _exchanged(placement: Placement, one: Unit, other: Unit) -> Placement:
    """The same with the threads of two units exchanged, places numbered as they come."""
    moved = {a.index: b.index for a, b in zip((*one, *other), (*other, *one), strict=True)}
    found: list[tuple[str, tuple[int, ...]]] = []
    for kind, numbers in placement:
        names: dict[int, int] = {}
        others = (numbers[moved.get(it, it)] for it in range(len(numbers)))
        found.append((kind, tuple(names.setdefault(it, len(names)) for it in others)))
    return tuple(found)


def alike(program: Program, compiled: AssemblyProgram | None = None) -> Iterator[list[Unit]]:
    """What can be exchanged: first single threads of a work-group, then whole work-groups.

    Each of a list can take the place of each other, its threads those of the other in their order.
    Threads that do nothing are left out.
    """
    if any(each.subgroup is not None for each in program.threads):
        return
    groups: dict[tuple[int, int], list[Thread]] = {}
    for thread in program.threads:
        if thread.operations:
            groups.setdefault((thread.device, thread.workgroup), []).append(thread)
    same: dict[Hashable, list[Unit]] = {}
    for (device, _), threads in groups.items():
        texts = {each.index: (_text(each, program), _code(each, compiled)) for each in threads}
        ranked = sorted(threads, key=lambda each: (repr(texts[each.index]), each.index))
        for _, equal in groupby(ranked, key=lambda each: texts[each.index]):
            yield [(each,) for each in equal]
        whole = tuple(texts[each.index] for each in ranked)
        same.setdefault((device, whole), []).append(tuple(ranked))
    yield from same.values()


def _first_access(thread: Thread) -> Operation | None:
    return next((it for it in thread.operations if it.location is not None), None)


def _text(thread: Thread, program: Program) -> Hashable:
    """What a thread does, the same for threads that do the same."""
    start = -thread.operations[0].index
    code = tuple(_all_but_its_place(it, start) for it in thread.operations)
    loops = (it for it in program.loops if it.thread == thread.index)
    return code, tuple(_shifted(it.guard, start) for it in loops)


def _code(thread: Thread, compiled: AssemblyProgram | None) -> Hashable:
    """What a thread was compiled to, the same for threads that are compiled in one way."""
    if compiled is None:
        return None
    start = -thread.operations[0].index
    return tuple((str(it), _shifted(it.guard, start)) for it in compiled.code[thread.index])


def _shifted(expression: Expression, start: int) -> Expression:
    return renumbered(expression, lambda index: index + start)


def _all_but_its_place(operation: Operation, start: int) -> Hashable:
    """Every field of an operation but its place, with indices that count from 0 in its thread."""
    found: list[Hashable] = []
    for name in _FIELDS:
        value = getattr(operation, name)
        if isinstance(value, Expression):
            value = _shifted(value, start)
        elif name == "unsequenced":
            value = tuple(sorted(index + start for index in value))
        elif isinstance(value, frozenset):
            value = tuple(sorted(value))
        found.append(value)
    return tuple(found)


_FIELDS = [each for each in fields_of(Operation) if each not in ("index", "thread", "span")]
