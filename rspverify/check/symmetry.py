"""Threads that can be exchanged for each other, so that one order of them stands for all.

Exchanging two equal threads of a work-group, or two work-groups of a device with equal threads,
turns an execution of the program into one of the same program, of the source and of its compiled
form, and keeps it consistent or not. Whether there is a wrong execution can therefore be asked of
those alone in which exchangeable threads make their first access in the order of their numbers.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator
from itertools import groupby, pairwise

from rspverify.litmus import Program, Thread
from rspverify.value import Constant, shifted


def exchangeable(program: Program) -> list[tuple[int, int]]:
    """Pairs of operations that may be taken to come in this order, each the first of its thread.

    Only threads whose first operation is always executed are compared.
    """
    groups: dict[tuple[int, int], list[Thread]] = {}
    for thread in program.threads:
        if thread.operations:
            groups.setdefault((thread.device, thread.workgroup), []).append(thread)
    pairs: list[tuple[int, int]] = []
    alike: dict[Hashable, list[Thread]] = {}
    for (device, _), threads in groups.items():
        ranked = sorted(threads, key=lambda each: (repr(_text(each)), each.index))
        for _, equal in groupby(ranked, key=_text):
            pairs += _in_order(list(equal))
        alike.setdefault((device, tuple(map(_text, ranked))), []).append(ranked[0])
    for firsts in alike.values():
        pairs += _in_order(firsts)
    return pairs


def _in_order(threads: list[Thread]) -> Iterator[tuple[int, int]]:
    for one, other in pairwise(threads):
        if isinstance(one.operations[0].guard, Constant):
            yield one.operations[0].index, other.operations[0].index


def _text(thread: Thread) -> Hashable:
    """What a thread does, the same for threads that do the same."""
    start = -thread.operations[0].index
    return tuple(
        (
            it.kind,
            it.location,
            it.order,
            it.scope,
            it.remote,
            shifted(it.guard, start),
            None if it.value is None else shifted(it.value, start),
        )
        for it in thread.operations
    )
