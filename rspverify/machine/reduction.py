"""What nobody can look at again is forgotten, so that a search has fewer states.

docs/proofs.md says why no outcome is lost; tests hold searches with and without it together.
"""

from __future__ import annotations

from typing import Any

from rspverify.machine.closures import Holds, compile_guards
from rspverify.machine.machine import Machine
from rspverify.machine.relevance import LastPlaces, last_looks, last_marks, plain_fifos
from rspverify.machine.rules import Fifo, Oldest, StepRule
from rspverify.machine.shapes import Shape
from rspverify.machine.state import Layout


class Reduction:
    """Chooses one state out of those that differ in nothing that matters any more.

    dequeue_alone: elements leave their fifos as soon as they can.
    """

    def __init__(self, machine: Machine, layout: Layout, *, dequeue_alone: bool) -> None:
        self._shapes = machine.shapes
        self._looks = last_looks(machine)
        self._entries = [
            (
                layout.cell(entry.dirty) if entry.dirty else None,
                layout.cell(entry.valid),
                layout.cell(entry.value),
                self._looks[entry.valid],
            )
            for entry in machine.shapes.entries.values()
            if entry.valid in self._looks
        ]
        marks = last_marks(machine)
        self._plain = plain_fifos(machine)
        self._alone = self._plain if dequeue_alone else frozenset()
        self._fifos = [
            (
                layout.cell(fifo),
                fifo in self._alone,
                _leaving(machine, layout, fifo),
                marks[fifo],
            )
            for fifo in self._plain
        ]

    def happens_alone(self, rule: StepRule) -> bool:
        """Whether a step needs none, as it happens as soon as it can."""
        fifos = [guard.fifo for guard in rule.guards if isinstance(guard, Oldest)]
        return bool(fifos) and fifos[0] in self._alone

    def looks(self, rule: StepRule) -> LastPlaces | None:
        """Of a refresh, the last place of each thread that looks at what it brings."""
        if self._shapes.shape(rule) is not Shape.REFRESHES:
            return None
        return self._looks.get(self._shapes.refreshed(rule))

    def settle(self, state: list[Any]) -> None:
        """Turn a state into its representative."""
        for is_dirty, is_valid, value, looks in self._entries:
            if is_dirty is None or not state[is_dirty]:
                if state[is_valid]:
                    for thread, place in looks:
                        if state[thread] <= place:
                            break
                    else:
                        state[is_valid] = False
                if not state[is_valid]:
                    state[value] = 0
        for fifo, alone, leaving, marks in self._fifos:
            queue = state[fifo]
            if not queue:
                continue
            if alone:
                while queue and queue[0] in leaving and leaving[queue[0]](state):
                    queue = queue[1:]
            if min(queue, default=0) >= 0 and not any(state[t] <= place for t, place in marks):
                queue = ()
            state[fifo] = queue


def _leaving(machine: Machine, layout: Layout, fifo: Fifo) -> dict[int, Holds]:
    """By element of a fifo, whether it may leave when it is the oldest."""
    return {
        layout.number(element): compile_guards(
            [it for it in rule.guards if not isinstance(it, Oldest)], layout
        )
        for (its, element), rule in machine.shapes.leaving.items()
        if its == fifo
    }
