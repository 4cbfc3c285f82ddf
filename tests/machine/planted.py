"""Mistakes to be planted in the events engine, one for each thing that its argument rests on.

Each takes pytest's monkeypatch and changes one method; tests/machine/test_events_claims.py shows that
a small program then has other outcomes, so that the mistake would be noticed if it were made.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from pytest import MonkeyPatch

from rspverify.machine import machine as machines
from rspverify.machine.event import Enqueued, Event, EventFifos, EventOrder, PossibleEvents
from rspverify.machine.events import Events
from rspverify.machine.machine import Machine
from rspverify.machine.rules import AnyBit, Bit, Enqueue, InstructionRule, Marker, Ready, SetLock
from rspverify.machine.shapes import Entry, Shape
from rspverify.records import replace
from rspverify.smt.term import FALSE, TRUE, Term, all_of, any_of

Plant = Callable[[MonkeyPatch], None]


def keep_nothing(patch: MonkeyPatch) -> None:
    """Have what a machine is told anew for each program, so that a mistake is in it."""
    patch.setattr(machines, "_kept_whole", machines._Whole)
    patch.setattr(machines, "_kept_ground", machines._kept_ground.__wrapped__)


# ---- Flushes (claim 1) -----------------------------------------------------------------------------


def flush_of_an_overwritten_write(patch: MonkeyPatch) -> None:
    """An entry is flushed with the value of a write that another has overwritten."""
    patch.setattr(Events, "_still_set", lambda self, bit, flush: TRUE)


def every_write_is_flushed(patch: MonkeyPatch) -> None:
    """No write may be merged with a later one."""

    def complete(self: Events) -> None:
        for (write, _), (flush,) in self.possible.flushes.items():
            happens = self.order.happens
            self.constraints.append(happens(write).implies(happens(flush)))

    patch.setattr(Events, "_complete", complete)


def dirty_in_the_end(patch: MonkeyPatch) -> None:
    """An execution may end with DIRTY entries."""
    patch.setattr(Events, "_complete", lambda self: None)
    patch.setattr(Events, "_must_be_cleared", lambda self, setter, bit: False)


# ---- Fetches (claim 2) -----------------------------------------------------------------------------


def own_fetches_only(patch: MonkeyPatch) -> None:
    """A look does not find what another look has fetched."""
    original = Events._valid_sources

    def sources(self: Events, entry: Entry, at: Event) -> list[tuple[Event | None, Term]]:
        found = original(self, entry, at)
        for version, term in found:
            if version and version.shape is Shape.REFRESHES and version.owner is not at:
                self.constraints.append(~term)
        return found

    patch.setattr(Events, "_valid_sources", sources)


def one_fetch_for_an_entry(patch: MonkeyPatch) -> None:
    """Of all looks at an entry only the first may fetch."""
    original = Events._complete

    def complete(self: Events) -> None:
        original(self)
        seen = set()
        for (_, bit), (fetch,) in self.possible.fetches.items():
            if bit in seen:
                self.constraints.append(self.order.absent(fetch))
            seen.add(bit)

    patch.setattr(Events, "_complete", complete)


# ---- The last change of a cell (claim 4) -----------------------------------------------------------


def invalidations_unseen(patch: MonkeyPatch) -> None:
    """Looks do not mind an invalidation between a version and them."""
    _invalidating(patch, lambda each: False)


def only_instructions_invalidate(patch: MonkeyPatch) -> None:
    """A FLUSH_L1 leaves the entries of other L2s as they are."""
    _invalidating(patch, lambda each: isinstance(each.rule, InstructionRule))


def _invalidating(patch: MonkeyPatch, counts: Callable[[Event], bool]) -> None:
    original = PossibleEvents.__init__

    def made(self: PossibleEvents, machine: Machine) -> None:
        original(self, machine)
        self.unsetting = {
            bit: [each for each in found if counts(each)] for bit, found in self.unsetting.items()
        }

    patch.setattr(PossibleEvents, "__init__", made)


def fetch_over_dirty(patch: MonkeyPatch) -> None:
    """A fetch replaces what is DIRTY."""
    original = EventOrder.has_again

    def clean(self: EventOrder, bit: Bit, value: bool, at: Event | None) -> Term:
        return TRUE if at and at.shape is Shape.REFRESHES else original(self, bit, value, at)

    patch.setattr(EventOrder, "has_again", clean)


def dirty_is_no_hindrance(patch: MonkeyPatch) -> None:
    """An instruction does not wait until an entry is not DIRTY."""
    original = EventOrder.has_again

    def clean(self: EventOrder, bit: Bit, value: bool, at: Event | None) -> Term:
        return (
            TRUE if at and isinstance(at.rule, InstructionRule) else original(self, bit, value, at)
        )

    patch.setattr(EventOrder, "has_again", clean)


def only_its_own_flush_cleans(patch: MonkeyPatch) -> None:
    """«Not DIRTY» forgets that a write may have been overwritten."""

    def clean(self: EventOrder, bit: Bit, value: bool, at: Event | None) -> Term:
        return all_of(
            any_of(
                (
                    self.absent(write),
                    self.before(at, write),
                    self.between(self._possible.flushes[write, bit][0], write, at),
                )
            )
            for write in self._possible.setting.get(bit, ())
            if write is not at
        )

    patch.setattr(EventOrder, "has_again", clean)


def overwriting_cleans(patch: MonkeyPatch) -> None:
    """«Not DIRTY» takes a write for flushed as soon as any flush of its entry comes after it."""

    def clean(self: EventOrder, bit: Bit, value: bool, at: Event | None) -> Term:
        writes = self._possible.setting.get(bit, ())
        flushes = [self._possible.flushes[write, bit][0] for write in writes]
        return any_of(
            (
                all_of(any_of((self.absent(it), self.before(at, it))) for it in writes if it != at),
                *(self.between(flush, flush.owner, at) for flush in flushes if flush.owner),
            )
        )

    patch.setattr(EventOrder, "has_again", clean)


def any_version_before(patch: MonkeyPatch) -> None:
    """A look finds any version before it, not the last."""
    original = EventOrder.not_between

    def not_between(self: EventOrder, middle: Event, a: Event, b: Event | None) -> Term:
        given = b is not None and (
            isinstance(b.rule, InstructionRule) or b.shape is Shape.REFRESHES
        )
        changes = any(not isinstance(it, Bit) or it.field != "VALID" for it in middle.rule.changes)
        return TRUE if given and changes else original(self, middle, a, b)

    patch.setattr(EventOrder, "not_between", not_between)


# ---- Locks (claim 5) -------------------------------------------------------------------------------


def locks_do_not_block_instructions(patch: MonkeyPatch) -> None:
    """Instructions take no notice of locks."""
    _readiness(patch, lambda at: isinstance(at.rule, InstructionRule), TRUE)


def locks_do_not_block_steps(patch: MonkeyPatch) -> None:
    """Steps take no notice of locks."""
    _readiness(patch, lambda at: not isinstance(at.rule, InstructionRule), TRUE)


def _readiness(patch: MonkeyPatch, concerned: Callable[[Event], bool], instead: Term) -> None:
    original = Events._holds

    def holds(self: Events, guard: Any, at: Event) -> Term:
        if isinstance(guard, Ready) and concerned(at):
            return instead
        return original(self, guard, at)

    patch.setattr(Events, "_holds", holds)


def only_free_locks_are_ready(patch: MonkeyPatch) -> None:
    """A lock blocks its holder, and the steps of the holder's work-group, too."""
    original = Events._holds

    def holds(self: Events, guard: Any, at: Event) -> Term:
        if isinstance(guard, Ready):
            guard = replace(guard, threads=frozenset())
        return original(self, guard, at)

    patch.setattr(Events, "_holds", holds)


def only_the_holder_unlocks(patch: MonkeyPatch) -> None:
    """An UL leaves a lock that somebody else holds."""
    original = EventOrder.between

    def between(self: EventOrder, middle: Event, a: Event, b: Event | None) -> Term:
        if _frees(middle) and a.instruction.thread != middle.instruction.thread:
            return FALSE
        return original(self, middle, a, b)

    patch.setattr(EventOrder, "between", between)


def _frees(each: Event) -> bool:
    return any(isinstance(it, SetLock) and it.holder is None for it in each.rule.changes.values())


def a_second_lock_needs_a_second_unlock(patch: MonkeyPatch) -> None:
    """Locks are counted: an UL frees only what its thread's latest LK took."""
    original = EventOrder.ready

    def ready(self: EventOrder, lock: Any, threads: Any, at: Event | None) -> Term:
        setting = self._possible.locking.get(lock, ())
        taken: dict[Any, list[Event]] = {}
        paired = set()
        for each in setting:
            thread = each.instruction.thread
            if not _frees(each):
                taken.setdefault(thread, []).append(each)
            elif taken.get(thread):
                taken[thread].pop()
                paired.add(each)
        left = [each for all_ in taken.values() for each in all_]
        forever = [
            any_of((self.absent(each), self.before(at, each)))
            for each in left
            if each is not at and each.instruction.thread not in threads
        ]
        return all_of([original(self, lock, threads, at), *forever])

    patch.setattr(EventOrder, "ready", ready)


# ---- Fifos (claim 6) -------------------------------------------------------------------------------


def markers_wait_for_nothing(patch: MonkeyPatch) -> None:
    """A thread goes on at once after a FLU."""
    patch.setattr(EventFifos, "constraints", lambda self, order: iter(()))


def markers_wait_for_what_comes_later(patch: MonkeyPatch) -> None:
    """A marker waits for locations that enter behind it as well."""
    original = EventFifos._entered

    def entered(self: EventFifos, order: EventOrder, one: Enqueued, other: Enqueued) -> Term:
        if other.marks:
            return order.happens(one.by)
        return original(self, order, one, other)

    patch.setattr(EventFifos, "_entered", entered)


def locations_leave_in_any_order(patch: MonkeyPatch) -> None:
    """A location leaves although another stands before it."""
    original = EventFifos._first

    def first(
        self: EventFifos, order: EventOrder, one: Enqueued, other: Enqueued, what: Event
    ) -> Term:
        if not other.marks:
            return TRUE
        return original(self, order, one, other, what)

    patch.setattr(EventFifos, "_first", first)


def locations_leave_while_dirty(patch: MonkeyPatch) -> None:
    """A location leaves whether or not its entry is CLEAN."""
    original = Events._holds

    def holds(self: Events, guard: Any, at: Event) -> Term:
        dirty = isinstance(guard, AnyBit) and guard.bits[0][0].field == "DIRTY"
        return TRUE if dirty and at.shape is Shape.LEAVES else original(self, guard, at)

    patch.setattr(Events, "_holds", holds)


def locations_leave_at_their_own_flush(patch: MonkeyPatch) -> None:
    """A location leaves when the write that put it there is flushed, though others may overwrite."""

    def leaves(self: EventFifos, each: Enqueued) -> Event:
        (bit,) = self.wanted_clean(each)
        return self._possible.flushes[each.by, bit][0]

    patch.setattr(EventFifos, "_leaves", leaves)


def only_the_next_instruction_waits(patch: MonkeyPatch) -> None:
    """Behind an instruction that is not executed nobody waits for the marker."""
    original = EventFifos._followers

    def followers(self: EventFifos, marker: Enqueued) -> Iterator[Event]:
        found = list(original(self, marker))
        yield from found[:1]

    patch.setattr(EventFifos, "_followers", followers)


def markers_are_seen_by_their_own_work_group(patch: MonkeyPatch) -> None:
    """A FLU marks no L1 but that of its thread."""
    original = EventFifos.__init__

    def made(self: EventFifos, possible: PossibleEvents) -> None:
        original(self, possible)
        self._markers = [it for it in self._markers if _is_near(it.enqueue)]

    patch.setattr(EventFifos, "__init__", made)


def _is_near(enqueue: Enqueue) -> bool:
    """Whether a marker stands in a fifo of its own thread's places."""
    assert isinstance(enqueue.element, Marker)
    thread, path = enqueue.element.thread, enqueue.fifo.structure.place.path
    return path == (thread.device, thread.workgroup)[: len(path)]
