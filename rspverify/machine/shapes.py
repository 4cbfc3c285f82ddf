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

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from functools import cached_property
from graphlib import CycleError, TopologicalSorter
from itertools import product

from rspverify.machine.rules import (
    AnyBit,
    Bit,
    Copy,
    Deliver,
    Dequeue,
    Element,
    Fifo,
    Guard,
    Marker,
    Oldest,
    Rule,
    SetBit,
    StepRule,
    When,
    Without,
    Word,
    fails,
)


class Shape(Enum):
    """What a step does, as far as engines know such steps."""

    CLEARS = "clears a bit that it needs"
    REFRESHES = "refreshes a value"
    LEAVES = "lets an element leave a fifo"
    LOSES = "only takes away"


@dataclass(frozen=True)
class Entry:
    """A value that counts only where a bit is true, such as an entry of a cache.

    valid: true from each change of the value on until somebody makes it false, and wanted by
    whoever takes it. dirty: true where the value must still go somewhere, cleared by steps that
    need it; None where there is no such bit.
    """

    value: Word
    valid: Bit
    dirty: Bit | None


class Shapes:
    """The shapes of the steps among some rules, and of the bits that they look at.

    complete: what holds where an execution is complete. final: the words that are memory in the
    end. starts_true: what a bit is before any step. Where a step has no shape, or a bit no kind
    that goes with its steps, `unknown` says so.
    """

    def __init__(
        self,
        rules: Sequence[Rule],
        complete: Sequence[Guard],
        final: Iterable[Word],
        starts_true: Callable[[Bit], bool],
    ) -> None:
        self._rules = [rule for rule in rules if not _never(rule)]
        self._starts_true = starts_true
        self.complete = complete
        self._final = frozenset(final)

    # Bits

    @cached_property
    def losing(self) -> frozenset[object]:
        """The keys of the steps that only take away."""
        losing = {
            rule.key: rule
            for rule in self._rules
            if isinstance(rule, StepRule) and rule.updates
            if all(isinstance(update, SetBit) for update in rule.updates)
        }
        while True:
            wanted = {
                literal for rule in self._rules if rule.key not in losing for literal in wants(rule)
            } | set(_literals(self.complete))
            kept = {
                key: rule
                for key, rule in losing.items()
                if not any((it.bit, it.value) in wanted for it in _sets(rule))
            }
            if len(kept) == len(losing):
                return frozenset(kept)
            losing = kept

    @cached_property
    def _lasting(self) -> list[Rule]:
        return [rule for rule in self._rules if rule.key not in self.losing]

    @cached_property
    def wanted(self) -> frozenset[tuple[Bit, bool]]:
        """Which bits somebody wants true, or false; not who only takes away."""
        found = {literal for rule in self._lasting for literal in wants(rule)}
        return frozenset(found | set(_literals(self.complete)))

    def ignored(self, bit: Bit) -> bool:
        """Whether nobody looks at a bit."""
        return (bit, True) not in self.wanted and (bit, False) not in self.wanted

    @cached_property
    def clearing(self) -> Mapping[Bit, list[StepRule]]:
        """By bit that steps clear which need it, these steps."""
        found: dict[Bit, list[StepRule]] = {}
        for rule in self._lasting:
            if isinstance(rule, StepRule):
                for bit in _cleared(rule):
                    found.setdefault(bit, []).append(rule)
        return {bit: rules for bit, rules in found.items() if not self._starts_true(bit)}

    @cached_property
    def entries(self) -> Mapping[Bit, Entry]:
        """The values that count only where a bit is true, by that bit."""
        return {
            bit: entry
            for bit, entry in self._marked.items()
            if not any(self._takes_uncounted(rule, entry) for rule in self._lasting)
        }

    def _takes_uncounted(self, rule: Rule, entry: Entry) -> bool:
        """Whether a rule takes a value, be it under conditions, where it may not count."""
        if entry.value not in _taken(rule) or rule.awaits(entry.valid):
            return False
        return entry.dirty is None or entry.dirty not in _cleared(rule)

    @cached_property
    def _marked(self) -> Mapping[Bit, Entry]:
        """The values that have a bit which becomes true where they change, whoever takes them."""
        setting: dict[Bit, set[object]] = {}
        changing: dict[Word, set[object]] = {}
        for rule in self._lasting:
            for cell in rule.changes:
                if isinstance(cell, Word):
                    changing.setdefault(cell, set()).add(rule.key)
            for bit in rule.sets(True):
                setting.setdefault(bit, set()).add(rule.key)
        conditional = {
            cell for rule in self._lasting for when in rule.conditional for cell in _changed(when)
        }
        found = {}
        for bit, keys in setting.items():
            if (bit, True) not in self.wanted or (bit, False) in self.wanted:
                continue
            if self._starts_true(bit):
                continue
            values = [
                word
                for word, its in changing.items()
                if word.structure == bit.structure and word.location == bit.location
                if its == keys and word not in self._final
            ]
            if len(values) == 1 and not {bit, values[0]} & conditional:
                found[bit] = Entry(values[0], bit, None)
        return {bit: self._with_dirty(entry, changing) for bit, entry in found.items()}

    def _with_dirty(self, entry: Entry, changing: Mapping[Word, set[object]]) -> Entry:
        """With the bit that says that the value must still go somewhere."""
        takers = [rule for rule in self._lasting if entry.value in _taken(rule)]
        for bit in dict.fromkeys(it for rule in takers for it in _cleared(rule)):
            if bit.structure != entry.value.structure or bit.location != entry.value.location:
                continue
            setters = {rule.key for rule in self._lasting if bit in rule.may_set()}
            waiting = {rule.key for rule in self._lasting if fails(bit) in rule.guards}
            if setters <= changing[entry.value] <= setters | waiting:
                return Entry(entry.value, entry.valid, bit)
        return entry

    @cached_property
    def _of_marked(self) -> Mapping[Word, Entry]:
        return {entry.value: entry for entry in self._marked.values()}

    @cached_property
    def of_value(self) -> Mapping[Word, Entry]:
        """The entries by their values."""
        return {entry.value: entry for entry in self.entries.values()}

    # Steps

    @cached_property
    def shapes(self) -> Mapping[object, Shape | str]:
        """By key of a step, its shape, or why it has none."""
        return {rule.key: self._shape(rule) for rule in self._rules if isinstance(rule, StepRule)}

    def _shape(self, rule: StepRule) -> Shape | str:
        if rule.key in self.losing:
            return Shape.LOSES
        if rule.conditional:
            return "what it changes depends on the state"
        updates = [it for it in rule.updates if not self._idle(it)]
        oldest = [guard for guard in rule.guards if isinstance(guard, Oldest)]
        if oldest or rule.dequeues:
            if any(bit in self._marked for bit, _ in rule.literals):
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
            if hindrance is not None and not _cleared(rule):
                return hindrance
        cleared = _cleared(rule)
        if len(cleared) > 1:
            return "it clears several bits that it needs"
        if cleared and cleared[0] in self.clearing:
            return Shape.CLEARS
        return "it needs no bit that it takes away"

    def _idle(self, update: object) -> bool:
        return isinstance(update, SetBit) and self.ignored(update.bit)

    def _refreshed(self, rule: StepRule, updates: Sequence[object]) -> Entry | None:
        """The entry that a step refreshes, if it does nothing else."""
        copies = [it for it in updates if isinstance(it, Copy)]
        if len(copies) != 1:
            return None
        entry = self._of_marked.get(copies[0].target)
        if entry is None or len(updates) != 2 or SetBit(entry.valid, True) not in updates:
            return None
        return entry

    def _hindrance(self, updates: Sequence[object]) -> str | None:
        """Why what looks like a refresh is none: who uses the bit in another way."""
        values = {it.target for it in updates if isinstance(it, Copy)}
        bits = [it.bit for it in updates if isinstance(it, SetBit) and it.value]
        if len(values) != 1 or not all(isinstance(it, Copy | SetBit) for it in updates):
            return None
        (value,) = values
        for rule, bit in product(self._lasting, bits):
            if (bit, False) in wants(rule):
                return f"{_name(rule)} waits until {bit.word} is false"
            if (bit in rule.sets(True)) is not (value in rule.changes):
                return f"{_name(rule)} makes only one of {value.word} and {bit.word} new"
        return None

    def _free_to_refresh(self, entry: Entry, step: StepRule) -> Shape | str:
        """Whether a refresh that nobody sees can be left out."""
        for rule in self._lasting:
            if entry.value not in _taken(rule) or rule.awaits(entry.valid):
                continue
            dirty = entry.dirty
            kept = dirty is not None and AnyBit(((dirty, False),)) in step.guards
            if not (kept and dirty in _cleared(rule)):
                return f"{rule} takes {entry.value.word} without wanting it {entry.valid.word}"
        return Shape.REFRESHES

    @cached_property
    def refreshing(self) -> Mapping[Bit, list[StepRule]]:
        """By bit that says that a value counts, the steps that refresh the value."""
        found: dict[Bit, list[StepRule]] = {}
        for rule in self._lasting:
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
        for rule in self._lasting:
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
        for rule in self._rules:
            if not isinstance(rule, StepRule):
                if rule.conditional:
                    yield f"what {rule} changes depends on the state"
                continue
            found = self.shapes[rule.key]
            if not isinstance(found, Shape):
                yield f"nothing bounds how often {rule.step} may matter: {found}"
            if found is Shape.LEAVES and not isinstance(rule.element, (str, Marker)):
                yield f"{rule.step} takes an instruction out of a fifo"
        yield from self._staying()
        for guard in self.complete:
            if not isinstance(guard, AnyBit) or len(guard.bits) != 1 or not self._ends(guard):
                yield "what its executions end with is more than that bits are cleared"
        for rule in self._lasting:
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
        for rule in self._lasting:
            for fifo, element in ((it.fifo, it.element) for it in rule.enqueues):
                leaves = self.leaving.get((fifo, element))
                if leaves is None:
                    yield f"no step takes {element} out of {fifo}"
                elif isinstance(element, Marker) and len(leaves.guards) > 1:
                    yield f"{leaves.step} waits for more than its marker's turn"

    def _ends(self, guard: AnyBit) -> bool:
        ((bit, value),) = guard.bits
        return not value and bit in self.clearing

    def _strange(self, rule: Rule) -> Iterable[str]:
        """What the engine without steps knows no way to say of a rule."""
        for word in _taken(rule):
            entry = self._of_marked.get(word)
            if entry is not None and self._takes_uncounted(rule, entry):
                yield f"{rule} takes {word.word} without wanting it {entry.valid.word}"
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
        for rule in self._lasting:
            for update in rule.takes:
                entry = self.of_value.get(update.source)
                carried = entry is not None and entry.dirty in _cleared(rule)
                if isinstance(update, Copy) and not carried:
                    found.setdefault(update.target, set()).add(update.source)
        return found


def wants(rule: Rule) -> list[tuple[Bit, bool]]:
    """The bits that a rule looks at, and which value it wants, be it as one of several ways."""
    return [*_literals(rule.guards), *(it for when in rule.conditional for it in _asked(when))]


def _name(rule: Rule) -> str:
    return rule.step if isinstance(rule, StepRule) else str(rule)


def _asked(when: When) -> Iterable[tuple[Bit, bool]]:
    """Of what depends on a bit both values are asked for."""
    for bit, _ in _literals(when.guards):
        yield bit, True
        yield bit, False
    for update in when.updates:
        if isinstance(update, When):
            yield from _asked(update)


def _literals(guards: Iterable[Guard]) -> list[tuple[Bit, bool]]:
    return [each for guard in guards if isinstance(guard, AnyBit) for each in guard.bits]


def _changed(when: When) -> Iterable[object]:
    for update in when.updates:
        if isinstance(update, When):
            yield from _changed(update)
        elif isinstance(update, SetBit):
            yield update.bit
        elif not isinstance(update, (Dequeue, Deliver)):
            yield getattr(update, "target", None)


def _never(rule: Rule) -> bool:
    return AnyBit(()) in rule.guards


def _sets(rule: Rule) -> list[SetBit]:
    return [update for update in rule.updates if isinstance(update, SetBit)]


def _taken(rule: Rule) -> list[Word]:
    """The words whose values a rule takes, be it under conditions."""
    return [cell for cell in rule.looks if isinstance(cell, Word)]


def _cleared(rule: Rule) -> list[Bit]:
    """The bits that a step needs and takes away; of an instruction, none."""
    return rule.cleared if isinstance(rule, StepRule) else []
