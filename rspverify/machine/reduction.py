"""What nobody can look at again is forgotten, so that a search has fewer states.

docs/machine.md says why no outcome is lost; tests hold searches with and without it together.
"""

from __future__ import annotations

from typing import Any

from rspverify.machine.machine import Machine
from rspverify.machine.relevance import LastPlaces, last_looks, last_marks
from rspverify.machine.rules import IsDirty, IsValid, Step, StepRule, ValueOf
from rspverify.machine.state import Layout


class Reduction:
    """Chooses one state out of those that differ in nothing that matters any more.

    dequeue_alone: fifos dequeue as soon as they can.
    """

    def __init__(self, machine: Machine, layout: Layout, *, dequeue_alone: bool) -> None:
        self._alone = dequeue_alone
        self._looks = last_looks(machine)
        marks = last_marks(machine)
        self._plan = [
            (
                layout.fifo(cache),
                marks.get(cache, []),
                [
                    (
                        layout.cell(IsDirty(cache, x)),
                        layout.cell(IsValid(cache, x)),
                        layout.cell(ValueOf(cache, x)),
                        self._looks.get((cache, x), []),
                    )
                    for x in machine.locations
                ],
            )
            for cache in machine.caches
        ]

    def looks(self, rule: StepRule) -> LastPlaces | None:
        """Of a FETCH, the last place of each thread that looks at what it brings."""
        return self._looks.get(rule.entry, []) if rule.step is Step.FETCH else None

    def settle(self, state: list[Any]) -> None:
        """Turn a state into its representative."""
        for fifo, marks, entries in self._plan:
            for is_dirty, is_valid, value, looks in entries:
                if not state[is_dirty]:
                    if state[is_valid]:
                        for thread, place in looks:
                            if state[thread] <= place:
                                break
                        else:
                            state[is_valid] = False
                    if not state[is_valid]:
                        state[value] = 0
            queue = state[fifo]
            if not queue:
                continue
            if self._alone:
                while queue and (queue[0] < 0 or not state[entries[queue[0]][0]]):
                    queue = queue[1:]
            if min(queue, default=0) >= 0 and not any(state[t] <= place for t, place in marks):
                queue = ()
            state[fifo] = queue
