"""The shapes of a machine's steps, told from what they want and change, never by a name.

What an engine may leave out, and how often a step can matter, follows from its shape:

* it *clears* a bit that it needs (FLUSH): at most once for each time that the bit was set;
* it *refreshes* a value that is not waiting to be written (FETCH): only the last one before
  somebody looks at the value matters;
* it lets an element *leave* a fifo (DEQLOC, DEQMARKER): once for each element;
* it only *loses* what nobody needs to be lost (EVICT): it adds nothing.

docs/events-encoding.md and docs/machine.md prove what the engines make of these.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from enum import Enum
from functools import cached_property
from graphlib import CycleError, TopologicalSorter
from itertools import product

from rspverify.machine.entries import Entries, Entry, cleared, wants
from rspverify.machine.rules import (
    AnyBit,
    Bit,
    Copy,
    Dequeue,
    Element,
    Fifo,
    Issued,
    Marker,
    Oldest,
    Rule,
    SetBit,
    StepRule,
    Update,
    Without,
    Word,
)


class Shape(Enum):
    """What a step does, as far as engines know such steps."""

    CLEARS = "clears a bit that it needs"
    REFRESHES = "refreshes a value"
    LEAVES = "lets an element leave a fifo"
    LOSES = "only takes away"


class Shapes(Entries):
    """The shapes of the steps among some rules.

    Where a step has no shape, or a bit no kind that goes with its steps, `unknown` says so.
    """

    @cached_property
    def shapes(self) -> Mapping[object, Shape | str]:
        """By key of a step, its shape, or why it has none."""
        return {rule.key: self._shape(rule) for rule in self.rules if isinstance(rule, StepRule)}

    def _shape(self, rule: StepRule) -> Shape | str:
        if rule.key in self.losing:
            return Shape.LOSES
        if rule.conditional:
            return "what it changes depends on the state"
        updates = self.counting(rule)
        oldest = [it for it in rule.guards if isinstance(it, Oldest) and not _in_turn(it)]
        if oldest or rule.takes_out:
            if any(bit in self.marked for bit, _ in rule.literals):
                return "an element waits there until a value counts"
            leaves = [Dequeue(guard.fifo) for guard in oldest]
            if len(leaves) == 1 and updates == leaves:
                return Shape.LEAVES
            return "it does more than to take an element out of a fifo"
        if any(isinstance(it, SetBit) and it.value for it in updates):
            refreshed = self._refreshed(rule, updates)
            if refreshed is not None:
                return self._free_to_refresh(refreshed, rule)
            hindrance = self._hindrance(updates)
            if hindrance is not None and not cleared(rule):
                return hindrance
        needed = cleared(rule)
        if len(needed) > 1:
            return "it clears several bits that it needs"
        if needed and needed[0] in self.clearing:
            if (needed[0], False) in rule.literals:
                return "it also waits until the bit that it takes away is false"
            return Shape.CLEARS
        return "it needs no bit that it takes away"

    def _refreshed(self, rule: StepRule, updates: Sequence[Update]) -> Entry | None:
        """The entry that a step refreshes, if it does nothing else."""
        copies = [it for it in updates if isinstance(it, Copy)]
        if len(copies) != 1:
            return None
        entry = self.of_marked.get(copies[0].target)
        if entry is None or len(updates) != 2 or SetBit(entry.valid, True) not in updates:
            return None
        return entry

    def _hindrance(self, updates: Sequence[Update]) -> str | None:
        """Why what looks like a refresh is none: who uses the bit in another way."""
        values = {it.target for it in updates if isinstance(it, Copy)}
        bits = [it.bit for it in updates if isinstance(it, SetBit) and it.value]
        if len(values) != 1 or not all(isinstance(it, Copy | SetBit) for it in updates):
            return None
        (value,) = values
        for rule, bit in product(self.lasting, bits):
            if (bit, False) in wants(rule):
                return f"{_name(rule)} waits until {bit.word} is false"
            if (bit in rule.sets(True)) is not (value in rule.changes):
                return f"{_name(rule)} makes only one of {value.word} and {bit.word} new"
        return None

    def _free_to_refresh(self, entry: Entry, step: StepRule) -> Shape | str:
        """Whether a refresh that nobody sees can be left out."""
        for rule in self.takers(entry.value):
            if rule.awaits(entry.valid):
                continue
            dirty = entry.dirty
            kept = dirty is not None and AnyBit(((dirty, False),)) in step.guards
            if not (kept and dirty in cleared(rule)):
                return f"{rule} takes {entry.value.word} without wanting it {entry.valid.word}"
        return Shape.REFRESHES

    @cached_property
    def refreshing(self) -> Mapping[Bit, list[StepRule]]:
        """By bit that says that a value counts, the steps that refresh the value."""
        found: dict[Bit, list[StepRule]] = {}
        for rule in self.lasting:
            if isinstance(rule, StepRule) and self.shapes[rule.key] is Shape.REFRESHES:
                found.setdefault(self.refreshed(rule), []).append(rule)
        return found

    def refreshed(self, rule: StepRule) -> Bit:
        """Of a refresh, the bit that says that the value counts which it refreshes."""
        (copy,) = (it for it in rule.takes if isinstance(it, Copy))
        return self.of_value[copy.target].valid

    @cached_property
    def leaving(self) -> Mapping[tuple[Fifo, Element], StepRule]:
        """The step by which an element leaves a fifo."""
        found = {}
        for rule in self.lasting:
            if isinstance(rule, StepRule) and self.shapes[rule.key] is Shape.LEAVES:
                (oldest,) = (guard for guard in rule.guards if isinstance(guard, Oldest))
                found[oldest.fifo, oldest.element] = rule
        return found

    @cached_property
    def from_below(self) -> list[Bit]:
        """The bits of entries, each after those that its refreshes want."""
        if self.circle is not None:
            return list(self.entries)
        order = TopologicalSorter(dict.fromkeys(self.entries, ()))
        for bit, wanted in self._wanting.items():
            order.add(bit, *wanted)
        return list(order.static_order())

    def shape(self, rule: StepRule) -> Shape | None:
        """The shape of a step, None where engines know none like it."""
        found = self.shapes[rule.key]
        return found if isinstance(found, Shape) else None

    @cached_property
    def unknown(self) -> str | None:
        """Why the engine without steps does not know this machine; None if it does."""
        return next(self._objections(), None)

    def _objections(self) -> Iterator[str]:
        for rule in self.rules:
            if not isinstance(rule, StepRule):
                if rule.conditional:
                    yield f"what {rule} changes depends on the state"
                continue
            found = self.shapes[rule.key]
            if not isinstance(found, Shape):
                yield f"nothing bounds how often {rule.step} may matter: {found}"
        if self.mixing is not None:
            yield f"{self.mixing} takes the value of one location for that of another"
        yield from self._staying()
        for guard in self.complete:
            if not isinstance(guard, AnyBit) or len(guard.bits) != 1 or not self._ends(guard):
                yield "what its executions end with is more than that bits are cleared"
        for rule in self.lasting:
            yield from self._strange(rule)
        try:
            TopologicalSorter(self._flow).prepare()
        except CycleError as error:
            yield f"{error.args[1][0].word} may be made of what it was before"
        if self.circle is not None:
            yield f"{self.circle} may happen again by what it does itself"

    @cached_property
    def circle(self) -> str | None:
        """A step that may happen again by what it does itself, be it by way of others."""
        for graph, steps in (
            (self._wanting, self.refreshing),
            (self._setting, self.clearing),
        ):
            try:
                TopologicalSorter(graph).prepare()
            except CycleError as error:
                return steps[error.args[1][0]][0].step
        return None

    def _staying(self) -> Iterator[str]:
        """Elements that may never leave their fifo, or markers that wait for more than that."""
        for rule in self.lasting:
            for fifo, element in ((it.fifo, it.element) for it in rule.enqueues):
                leaves = self.leaving.get((fifo, element))
                if leaves is None:
                    yield f"no step takes {element} out of {fifo}"
                elif isinstance(element, Marker) and len(leaves.guards) > 1:
                    yield f"{leaves.step} waits for more than its marker's turn"

    def _ends(self, guard: AnyBit) -> bool:
        ((bit, value),) = guard.bits
        return not value and bit not in self.entries

    def _strange(self, rule: Rule) -> Iterable[str]:
        """What the engine without steps knows no way to say of a rule."""
        for guard in rule.guards:
            if isinstance(guard, Without) and not guard.of_markers:
                yield f"{rule} waits for elements of a fifo that are no markers"

    @cached_property
    def _wanting(self) -> Mapping[Bit, set[Bit]]:
        """By bit, the bits that its refreshes want true."""
        return {
            bit: {it for rule in rules for it, value in wants(rule) if it in self.entries}
            for bit, rules in self.refreshing.items()
        }

    @cached_property
    def _setting(self) -> Mapping[Bit, set[Bit]]:
        """By bit that steps clear, the bits of this kind that these steps set."""
        return {
            bit: {it for rule in rules for it in rule.sets(True) if it in self.clearing}
            for bit, rules in self.clearing.items()
        }

    @cached_property
    def _flow(self) -> Mapping[Word, set[Word]]:
        """By word, those that it is copied from; not by a flush, which carries what was written."""
        found: dict[Word, set[Word]] = {}
        for rule in self.lasting:
            for update in rule.takes:
                entry = self.of_value.get(update.source)
                carried = entry is not None and entry.dirty in cleared(rule)
                if isinstance(update, Copy) and not carried:
                    found.setdefault(update.target, set()).add(update.source)
        return found


def _in_turn(guard: Oldest) -> bool:
    """Whether an instruction waits for its turn in a fifo."""
    return isinstance(guard.element, Issued)


def _name(rule: Rule) -> str:
    return rule.step if isinstance(rule, StepRule) else str(rule)
