"""Threads that can be exchanged for each other, so that one order of them stands for all.

Exchanging two equal threads of a work-group, or two work-groups of a device with equal threads,
turns an execution of the program into one of the same program, of the source and of its compiled
form, and keeps it consistent or not. Whether there is a wrong execution can therefore be asked of
those alone in which exchangeable threads make their first access in the order of their numbers.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator
from itertools import groupby, pairwise

from rspverify.assembly.program import AssemblyProgram
from rspverify.litmus.program import Operation, Program, Thread
from rspverify.records import fields_of
from rspverify.value import Constant, Expression, renumbered


def exchangeable(
    program: Program, compiled: AssemblyProgram | None = None
) -> list[tuple[int, int]]:
    """Pairs of accesses that may be taken to come in this order, each the first of its thread.

    Only threads whose first access is always executed are compared, in programs without sub-groups.
    compiled: what the program was made to; equal threads must have equal code there, too, as a
    compiler need not see to it.
    """
    pairs: list[tuple[int, int]] = []
    for units in alike(program, compiled):
        for (one, *_), (other, *_) in pairwise(units):
            first, second = _first_access(one), _first_access(other)
            if first is not None and second is not None and isinstance(first.guard, Constant):
                pairs.append((first.index, second.index))
    return pairs


def alike(
    program: Program, compiled: AssemblyProgram | None = None
) -> Iterator[list[tuple[Thread, ...]]]:
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
    same: dict[Hashable, list[tuple[Thread, ...]]] = {}
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
