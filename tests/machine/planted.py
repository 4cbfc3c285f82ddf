"""Mistakes to be planted in the events engine, one for each thing that its argument rests on.

Each takes pytest's monkeypatch and changes one method; tests/machine/test_events_claims.py shows that
a small program then has other outcomes, so that the mistake would be noticed if it were made.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

from pytest import MonkeyPatch

from rspverify.machine import Events, Machine
from rspverify.machine.happening import Entry, Happening, Happenings
from rspverify.machine.queues import Element, Queues
from rspverify.machine.rules import AnyBit, IsDirty, IsValid, Marker, Ready, SetLock
from rspverify.smt import FALSE, TRUE, Term, all_of, any_of

Plant = Callable[[MonkeyPatch], None]


# ---- Flushes (claim 1) -----------------------------------------------------------------------------


def flush_of_an_overwritten_write(patch: MonkeyPatch) -> None:
    """An entry is flushed with the value of a write that another has overwritten."""
    patch.setattr(Events, "_still_dirty", lambda self, entry, flush: TRUE)


def every_write_is_flushed(patch: MonkeyPatch) -> None:
    """No write may be merged with a later one."""

    def complete(self: Events) -> None:
        for (write, _), flush in self.happenings.flushes.items():
            self.constraints.append(self.happens[write.number].implies(self.happens[flush.number]))

    patch.setattr(Events, "_complete", complete)


def dirty_in_the_end(patch: MonkeyPatch) -> None:
    """An execution may end with DIRTY entries."""
    patch.setattr(Events, "_complete", lambda self: None)
    patch.setattr(Events, "_must_be_flushed", lambda self, entry: False)


# ---- Fetches (claim 2) -----------------------------------------------------------------------------


def own_fetches_only(patch: MonkeyPatch) -> None:
    """A look does not find what another look has fetched."""
    original = Events._valid_sources

    def sources(self: Events, entry: Entry, at: Happening) -> list[tuple[Happening | None, Term]]:
        found = original(self, entry, at)
        for version, term in found:
            if version and version.rule.step == "FETCH" and version.owner is not at:
                self.constraints.append(~term)
        return found

    patch.setattr(Events, "_valid_sources", sources)


def one_fetch_for_an_entry(patch: MonkeyPatch) -> None:
    """Of all looks at an entry only the first may fetch."""
    original = Events._complete

    def complete(self: Events) -> None:
        original(self)
        seen = set()
        for (_, entry), fetch in self.happenings.fetches.items():
            if entry in seen:
                self.constraints.append(self.absent(fetch))
            seen.add(entry)

    patch.setattr(Events, "_complete", complete)


# ---- The last change of a cell (claim 4) -----------------------------------------------------------


def invalidations_unseen(patch: MonkeyPatch) -> None:
    """Looks do not mind an invalidation between a version and them."""
    _invalidating(patch, lambda each: False)


def only_instructions_invalidate(patch: MonkeyPatch) -> None:
    """A FLUSH_L1 leaves the entries of other L2s as they are."""
    _invalidating(patch, lambda each: each.rule.instruction is not None)


def _invalidating(patch: MonkeyPatch, counts: Callable[[Happening], bool]) -> None:
    original = Happenings.__init__

    def made(self: Happenings, machine: Machine) -> None:
        original(self, machine)
        self.invalidating = {
            entry: [each for each in found if counts(each)]
            for entry, found in self.invalidating.items()
        }

    patch.setattr(Happenings, "__init__", made)


def fetch_over_dirty(patch: MonkeyPatch) -> None:
    """A fetch replaces what is DIRTY."""
    original = Events.clean

    def clean(self: Events, entry: Entry, at: Happening | None) -> Term:
        return TRUE if at and at.rule.step == "FETCH" else original(self, entry, at)

    patch.setattr(Events, "clean", clean)


def dirty_is_no_hindrance(patch: MonkeyPatch) -> None:
    """An instruction does not wait until an entry is not DIRTY."""
    original = Events.clean

    def clean(self: Events, entry: Entry, at: Happening | None) -> Term:
        return TRUE if at and at.rule.instruction else original(self, entry, at)

    patch.setattr(Events, "clean", clean)


def only_its_own_flush_cleans(patch: MonkeyPatch) -> None:
    """«Not DIRTY» forgets that a write may have been overwritten."""

    def clean(self: Events, entry: Entry, at: Happening | None) -> Term:
        return all_of(
            any_of(
                (
                    self.absent(write),
                    self.before(at, write),
                    self.between(self.happenings.flushes[write, entry], write, at),
                )
            )
            for write in self.happenings.dirtying.get(entry, ())
            if write is not at
        )

    patch.setattr(Events, "clean", clean)


def overwriting_cleans(patch: MonkeyPatch) -> None:
    """«Not DIRTY» takes a write for flushed as soon as any flush of its entry comes after it."""

    def clean(self: Events, entry: Entry, at: Happening | None) -> Term:
        writes = self.happenings.dirtying.get(entry, ())
        flushes = [self.happenings.flushes[write, entry] for write in writes]
        return any_of(
            (
                all_of(any_of((self.absent(it), self.before(at, it))) for it in writes if it != at),
                *(self.between(flush, flush.owner, at) for flush in flushes if flush.owner),
            )
        )

    patch.setattr(Events, "clean", clean)


def any_version_before(patch: MonkeyPatch) -> None:
    """A look finds any version before it, not the last."""
    original = Events.not_between

    def not_between(self: Events, middle: Happening, a: Happening, b: Happening | None) -> Term:
        given = b is not None and (b.rule.instruction is not None or b.rule.step == "FETCH")
        changes = any(not isinstance(it, IsValid) for it in middle.changes)
        return TRUE if given and changes else original(self, middle, a, b)

    patch.setattr(Events, "not_between", not_between)


# ---- Locks (claim 5) -------------------------------------------------------------------------------


def locks_do_not_block_instructions(patch: MonkeyPatch) -> None:
    """Instructions take no notice of locks."""
    _readiness(patch, lambda at: at.rule.instruction is not None, TRUE)


def locks_do_not_block_steps(patch: MonkeyPatch) -> None:
    """Steps take no notice of locks."""
    _readiness(patch, lambda at: at.rule.instruction is None, TRUE)


def _readiness(patch: MonkeyPatch, concerned: Callable[[Happening], bool], instead: Term) -> None:
    original = Events._holds

    def holds(self: Events, guard: Any, at: Happening) -> Term:
        if isinstance(guard, Ready) and concerned(at):
            return instead
        return original(self, guard, at)

    patch.setattr(Events, "_holds", holds)


def only_free_locks_are_ready(patch: MonkeyPatch) -> None:
    """A lock blocks its holder, and the steps of the holder's work-group, too."""
    original = Events._holds

    def holds(self: Events, guard: Any, at: Happening) -> Term:
        if isinstance(guard, Ready):
            guard = replace(guard, threads=frozenset())
        return original(self, guard, at)

    patch.setattr(Events, "_holds", holds)


def only_the_holder_unlocks(patch: MonkeyPatch) -> None:
    """An UL leaves a lock that somebody else holds."""
    original = Events.between

    def between(self: Events, middle: Happening, a: Happening, b: Happening | None) -> Term:
        first, then = a.rule.instruction, middle.rule.instruction
        if first and then and first.thread != then.thread and _frees(middle):
            return FALSE
        return original(self, middle, a, b)

    patch.setattr(Events, "between", between)


def _frees(each: Happening) -> bool:
    return any(isinstance(it, SetLock) and it.holder is None for it in each.changes.values())


def a_second_lock_needs_a_second_unlock(patch: MonkeyPatch) -> None:
    """Locks are counted: an UL frees only what its thread's latest LK took."""
    original = Events.ready

    def ready(self: Events, lock: Any, threads: Any, at: Happening | None) -> Term:
        setting = self.happenings.locking.get(lock, ())
        taken: dict[Any, list[Happening]] = {}
        paired = set()
        for each in setting:
            thread = each.rule.instruction.thread if each.rule.instruction else None
            if not _frees(each):
                taken.setdefault(thread, []).append(each)
            elif taken.get(thread):
                taken[thread].pop()
                paired.add(each)
        left = [each for all_ in taken.values() for each in all_]
        forever = [
            any_of((self.absent(each), self.before(at, each)))
            for each in left
            if each is not at
            and each.rule.instruction is not None
            and each.rule.instruction.thread not in threads
        ]
        return all_of([original(self, lock, threads, at), *forever])

    patch.setattr(Events, "ready", ready)


# ---- Fifos (claim 6) -------------------------------------------------------------------------------


def markers_wait_for_nothing(patch: MonkeyPatch) -> None:
    """A thread goes on at once after a FLU."""
    patch.setattr(Queues, "constraints", lambda self, events: iter(()))


def markers_wait_for_what_comes_later(patch: MonkeyPatch) -> None:
    """A marker waits for locations that enter behind it as well."""
    original = Queues._entered

    def entered(self: Queues, events: Events, one: Element, other: Element) -> Term:
        if isinstance(other.element, Marker):
            return events.happens[one.by.number]
        return original(self, events, one, other)

    patch.setattr(Queues, "_entered", entered)


def locations_leave_in_any_order(patch: MonkeyPatch) -> None:
    """A location leaves although another stands before it."""
    original = Queues._first

    def first(self: Queues, events: Events, one: Element, other: Element, what: Happening) -> Term:
        if not isinstance(other.element, Marker):
            return TRUE
        return original(self, events, one, other, what)

    patch.setattr(Queues, "_first", first)


def locations_leave_while_dirty(patch: MonkeyPatch) -> None:
    """A location leaves whether or not its entry is CLEAN."""
    original = Events._holds

    def holds(self: Events, guard: Any, at: Happening) -> Term:
        dirty = isinstance(guard, AnyBit) and isinstance(guard.bits[0][0], IsDirty)
        return TRUE if dirty and at.rule.step == "DEQLOC" else original(self, guard, at)

    patch.setattr(Events, "_holds", holds)


def locations_leave_at_their_own_flush(patch: MonkeyPatch) -> None:
    """A location leaves when the write that put it there is flushed, though others may overwrite."""

    def leaves(self: Queues, each: Element) -> Happening:
        return self._happenings.flushes[each.by, (each.cache, str(each.element))]

    patch.setattr(Queues, "_leaves", leaves)


def only_the_next_instruction_waits(patch: MonkeyPatch) -> None:
    """Behind an instruction that is not executed nobody waits for the marker."""
    original = Queues._followers

    def followers(self: Queues, marker: Element) -> Iterator[Happening]:
        found = list(original(self, marker))
        yield from found[:1]

    patch.setattr(Queues, "_followers", followers)


def markers_are_seen_by_their_own_work_group(patch: MonkeyPatch) -> None:
    """A FLU marks no L1 but that of its thread."""
    original = Queues.__init__

    def made(self: Queues, happenings: Happenings) -> None:
        original(self, happenings)
        self._markers = [
            each
            for each in self._markers
            if isinstance(each.element, Marker)
            and each.cache.workgroup in (None, each.element.thread.workgroup)
            and each.cache.device == each.element.thread.device
        ]

    patch.setattr(Queues, "__init__", made)
