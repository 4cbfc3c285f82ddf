"""Which events an execution has and in which order, as terms; and the last change of a cell.

A guard speaks of the last change of a cell before an event, wherever that stands
(docs/proofs.md, claims 4 and 5).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from rspverify.assembly.program import ThreadId
from rspverify.limits import Limits
from rspverify.machine.event import Event, PossibleEvents
from rspverify.machine.rules import Bit, Lock
from rspverify.machine.shapes import Entry
from rspverify.smt.order import Order
from rspverify.smt.solver import Model
from rspverify.smt.term import FALSE, TRUE, Term, all_of, any_of


class EventOrder:
    """The order of possible events; `happens[i]` says that event i is in the execution.

    An event that is None is the end, after everything. Each pair that is asked about gets a
    variable; what makes the pairs an order is to be taken when nobody asks for more.
    """

    def __init__(self, possible: PossibleEvents, happens: Sequence[Term]) -> None:
        self._possible = possible
        self._happens = happens
        self._order = Order(len(possible.all), possible.known)
        self._ready: dict[object, Term] = {}

    @property
    def pairs(self) -> int:
        """How many pairs have been asked about by now."""
        return self._order.pairs

    def constraints(self, limits: Limits | None = None) -> list[Term]:
        """Constraints: these pairs are a part of a total order. Raises LimitReached."""
        return self._order.constraints(limits)

    def present(self, model: Model) -> list[Event]:
        """The events of the execution that a model describes, in order."""
        found = [each for each, term in enumerate(self._happens) if model[term]]
        return [self._possible.all[number] for number in self._order.sorted(model, found)]

    def happens(self, event: Event) -> Term:
        """That it is in the execution."""
        return self._happens[event.number]

    def absent(self, event: Event) -> Term:
        """That it is not in the execution."""
        return ~self._happens[event.number]

    def before(self, a: Event | None, b: Event | None) -> Term:
        """That a comes before b, if both happen."""
        if a is None:
            return FALSE
        return TRUE if b is None else self._order.before(a.number, b.number)

    def not_between(self, middle: Event, a: Event, b: Event | None) -> Term:
        """That it is absent, or before a, or after b."""
        before, number = self._order.before, middle.number
        late = FALSE if b is None else before(b.number, number)
        return any_of((~self._happens[number], before(number, a.number), late))

    def between(self, middle: Event, a: Event, b: Event | None) -> Term:
        """That it happens after a and before b."""
        before, number = self._order.before, middle.number
        early = TRUE if b is None else before(number, b.number)
        return all_of((self._happens[number], before(a.number, number), early))

    def undone(self, event: Event, by: Iterable[Event], at: Event | None) -> Term:
        """That before `at` an event is absent, or followed by one of those that undo it."""
        return any_of(
            [
                self.absent(event),
                self.before(at, event),
                *(self.between(other, event, at) for other in by),
            ]
        )

    def clean(self, bit: Bit, at: Event | None) -> Term:
        """That a bit is not set: whatever set it, a DIRTY bit say, is flushed or followed, before.

        What follows is another setting, of which the same holds, or what makes it false anyhow.
        """
        writes = self._possible.setting.get(bit, ())
        unsetting = [it for it in self._possible.unsetting.get(bit, ()) if it is not at]
        return all_of(
            self.undone(
                write,
                [
                    *self._possible.flushes.get((write, bit), ()),
                    *(other for other in writes if other is not write and other is not at),
                    *unsetting,
                ],
                at,
            )
            for write in writes
            if write is not at
        )

    def is_set(self, bit: Bit, at: Event | None, *, at_first: bool) -> Term:
        """That a bit that no step clears is true: it was set last, or from the start."""
        changes = [
            [it for it in found.get(bit, ()) if it is not at]
            for found in (self._possible.setting, self._possible.unsetting)
        ]
        setting, unsetting = changes
        kept = all_of(self.undone(each, setting, at) for each in unsetting)
        if at_first:
            return kept
        return kept & any_of(all_of((self.happens(it), self.before(it, at))) for it in setting)

    def ready(self, lock: Lock, threads: frozenset[ThreadId], at: Event | None) -> Term:
        """That a lock is ready: it was set again since any other thread took it."""
        setting = [each for each in self._possible.locking.get(lock, ()) if each is not at]
        holders = {each: each.rule.holders[lock] for each in setting}
        alike = (at, tuple(holders.items()), threads)
        if alike not in self._ready:
            self._ready[alike] = all_of(
                self.undone(taking, [other for other in setting if other is not taking], at)
                for taking, holder in holders.items()
                if holder is not None and holder not in threads
            )
        return self._ready[alike]

    def spoilt(self, entry: Entry) -> Term:
        """In the end, of a DIRTY entry: it has been invalidated after the last write to it."""
        assert entry.dirty is not None
        spoiling = self._possible.unsetting.get(entry.valid, ())
        writes = self._possible.setting.get(entry.dirty, ())
        return all_of(self.undone(write, spoiling, None) for write in writes)
