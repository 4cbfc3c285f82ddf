"""The shapes of a machine's steps, and its valid and dirty bits, inferred from its rules.

What an engine may leave out, and how often a step can matter, follows from its shape:

* it *clears* a bit that it needs (FLUSH): at most once for each time that the bit was set;
* it *refreshes* a value that is not waiting to be written (FETCH): only the last one before
  somebody looks at the value matters;
* it lets an element *leave* a fifo (DEQLOC, DEQMARKER): once for each element;
* it only *loses* what nobody needs to be lost (EVICT): it adds nothing.

docs/proofs.md proves what the engines make of these.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from enum import Enum
from functools import cached_property
from graphlib import TopologicalSorter
from itertools import product
from typing import TypeVar

from msgspec import Struct

from rspverify.graph import on_circle
from rspverify.machine import rules as ground
from rspverify.machine.rules import Bit, Fifo, Guard, Issued, Rule, StepRule, Update, Word, by

_Cell = TypeVar("_Cell", Bit, Word)


class Entry(Struct, frozen=True):
    """A value that counts only where a bit is true, such as an entry of a cache.

    valid: true from each change of the value on until somebody makes it false, which is no step
    that needs it, and wanted by whoever takes it. dirty: true where the value must still go
    somewhere, cleared by steps that need it; None where there is no such bit.
    """

    value: Word
    valid: Bit
    dirty: Bit | None


class Shape(Enum):
    """The kinds of steps that the engines know."""

    CLEARS = "clears a bit that it needs"
    REFRESHES = "refreshes a value"
    LEAVES = "lets an element leave a fifo"
    LOSES = "only takes away"


class Shapes:
    """The valid and dirty bits of some rules, and the shapes of the steps among them.

    Where a step has no shape, or a bit no kind that goes with its steps, `unknown` says so.

    rules: those that may ever fire. complete: what holds where an execution is complete. final: the
    words that are memory in the end. starts_true: what a bit is before any step.
    """

    def __init__(
        self,
        rules: Sequence[Rule],
        complete: Sequence[Guard],
        final: Iterable[Word],
        starts_true: Callable[[Bit], bool],
    ) -> None:
        self.rules = [rule for rule in rules if not rule.never]
        self.starts_true = starts_true
        self.complete = complete
        self.final = frozenset(final)

    @cached_property
    def losing(self) -> frozenset[object]:
        """The keys of the steps that only take away.

        Not of those that take an instruction out of a fifo in which another waits for its turn.
        """
        losing = {
            rule.key: rule
            for rule in self.rules
            if isinstance(rule, StepRule) and rule.updates
            if all(isinstance(update, ground.SetBit) for update in rule.updates)
        }
        while True:
            others = [rule for rule in self.rules if rule.key not in losing]
            wanted = {literal for rule in others for literal in rule.wants}
            wanted |= set(ground.literals(self.complete))
            turns = {it for rule in others for it in rule.turns}
            kept = {
                key: rule
                for key, rule in losing.items()
                if not any(
                    (it, value) in wanted for value in (True, False) for it in rule.sets(value)
                )
                if turns.isdisjoint(rule.turns)
            }
            if len(kept) == len(losing):
                return frozenset(kept)
            losing = kept

    @cached_property
    def lasting(self) -> list[Rule]:
        """The rules that do more than to take away."""
        return [rule for rule in self.rules if rule.key not in self.losing]

    @cached_property
    def wanted(self) -> frozenset[ground.Literal]:
        """Which bits somebody wants true, or false; not who only takes away."""
        found = {literal for rule in self.lasting for literal in rule.wants}
        return frozenset(found | set(ground.literals(self.complete)))

    def ignored(self, bit: Bit) -> bool:
        """Whether nobody looks at a bit."""
        return (bit, True) not in self.wanted and (bit, False) not in self.wanted

    def counting(self, rule: Rule) -> list[Update]:
        """The updates of a rule, without those of bits that nobody looks at."""
        return [
            it
            for it in rule.updates
            if not (isinstance(it, ground.SetBit) and self.ignored(it.bit))
        ]

    @cached_property
    def mixing(self) -> Rule | None:
        """A rule that takes the value of one location for that of another, if there is one."""
        return next((rule for rule in self.rules if _mixes(rule)), None)

    @cached_property
    def clearing(self) -> Mapping[Bit, list[StepRule]]:
        """By bit that steps clear which need it, these steps."""
        found = by(self._lasting_steps, lambda rule: rule.cleared)
        return {bit: rules for bit, rules in found.items() if not self.starts_true(bit)}

    @cached_property
    def _lasting_steps(self) -> list[StepRule]:
        return [rule for rule in self.lasting if isinstance(rule, StepRule)]

    @cached_property
    def entries(self) -> Mapping[Bit, Entry]:
        """The values that count only where a bit is true, by that bit."""
        return {
            bit: entry
            for bit, entry in self.marked.items()
            if not any(self._takes_uncounted(rule, entry) for rule in self.takers(entry.value))
        }

    def _takes_uncounted(self, rule: Rule, entry: Entry) -> bool:
        """Whether a rule may take a value while it is not valid."""
        if rule.awaits(entry.valid):
            return False
        return entry.dirty is None or entry.dirty not in rule.cleared

    @cached_property
    def marked(self) -> Mapping[Bit, Entry]:
        """The values with a bit that becomes true whenever they change."""
        setting = self._keys(lambda rule: rule.sets(True))
        conditional = {
            ground.changed_by(it) for rule in self.lasting for it in ground.plain(rule.conditional)
        }
        found, words = {}, dict[str | None, list[Word]]()
        for word in self._changing:
            words.setdefault(word.location, []).append(word)
        for bit, keys in setting.items():
            if (bit, True) not in self.wanted or bit in self.clearing:
                continue
            if self.starts_true(bit):
                continue
            values = [
                word
                for word in words.get(bit.location, ())
                if self._changing[word] == keys and word not in self.final
            ]
            if len(values) > 1:
                values = [it for it in values if it.structure == bit.structure]
            if len(values) == 1 and not {bit, values[0]} & conditional:
                found[bit] = Entry(values[0], bit, None)
        return {bit: self._with_dirty(entry) for bit, entry in found.items()}

    def _with_dirty(self, entry: Entry) -> Entry:
        """With the bit that says that the value must still go somewhere."""
        for bit in dict.fromkeys(it for rule in self.takers(entry.value) for it in rule.cleared):
            if bit.location != entry.value.location:
                continue
            setters = self._setters.get(bit, set())
            waiting = self._waiting.get(bit, set())
            if setters <= self._changing[entry.value] <= setters | waiting:
                return Entry(entry.value, entry.valid, bit)
        return entry

    def is_new_with(self, word: Word, bit: Bit) -> bool:
        """Whether a bit starts false, and every rule that makes it true changes a word."""
        setters = self._setters.get(bit, set())
        return setters <= self._changing.get(word, set()) and not self.starts_true(bit)

    def takers(self, word: Word) -> Sequence[Rule]:
        """The rules that take the value of a word, also under conditions."""
        return self._takers.get(word, ())

    @cached_property
    def _takers(self) -> Mapping[Word, list[Rule]]:
        return by(self.lasting, lambda rule: rule.taken)

    @cached_property
    def _changing(self) -> Mapping[Word, set[object]]:
        """By word, the keys of the rules that change it, whatever else holds."""
        return self._keys(lambda rule: [it for it in rule.changes if isinstance(it, Word)])

    @cached_property
    def _setters(self) -> Mapping[Bit, set[object]]:
        """By bit, the keys of the rules that make it true, also under conditions."""
        return self._keys(lambda rule: rule.may_set)

    @cached_property
    def _waiting(self) -> Mapping[Bit, set[object]]:
        """By bit, the keys of the rules that wait until it is false, whatever else holds."""
        return self._keys(lambda rule: [bit for bit, value in rule.needs if not value])

    def _keys(self, found: Callable[[Rule], Iterable[_Cell]]) -> dict[_Cell, set[object]]:
        rules = by(self.lasting, found).items()
        return {cell: {rule.key for rule in its} for cell, its in rules}

    @cached_property
    def of_value(self) -> Mapping[Word, Entry]:
        """The entries by their values."""
        return {entry.value: entry for entry in self.entries.values()}

    # Steps

    @cached_property
    def shapes(self) -> Mapping[object, Shape | str]:
        """By key of a step, its shape, or why it has none."""
        return {rule.key: self._shape(rule) for rule in self.rules if isinstance(rule, StepRule)}

    def _shape(self, rule: StepRule) -> Shape | str:
        if rule.key in self.losing:
            return Shape.LOSES
        if rule.conditional:
            return "what it changes depends on the state, so write a step for each case"
        updates = self.counting(rule)
        oldest = [it for it in rule.oldest if not isinstance(it.element, Issued)]
        if oldest or any(isinstance(it, ground.Dequeue) for it in rule.updates):
            if any(bit in self.marked for bit, _ in rule.literals):
                return "an element waits until a value counts, so let it leave whatever counts"
            leaves = [ground.Dequeue(guard.fifo) for guard in oldest]
            if len(leaves) == 1 and updates == leaves:
                return Shape.LEAVES
            return "it does more than to dequeue, so write a step for the rest"
        if any(isinstance(it, ground.SetBit) and it.value for it in updates):
            refreshed = self._refreshed(rule, updates)
            if refreshed is not None:
                return self._free_to_refresh(refreshed, rule)
            hindrance = self._hindrance(updates)
            if hindrance is not None and not rule.cleared:
                return hindrance
        needed = rule.cleared
        if len(needed) > 1:
            first, second, *_ = needed
            return f"it clears {first.word} and {second.word}, so let it wait for one alone"
        if needed and needed[0] in self.clearing:
            if (needed[0], False) in rule.literals:
                return f"it waits until {needed[0].word} is true and false, so leave one out"
            return Shape.CLEARS
        return "it needs no bit that it takes away, so let it wait for one, and make that false"

    def _refreshed(self, rule: StepRule, updates: Sequence[Update]) -> Entry | None:
        """The entry that a step refreshes, if it does nothing else."""
        new = [it.bit for it in updates if isinstance(it, ground.SetBit) and it.value]
        copied = [it.target for it in updates if isinstance(it, ground.Copy)]
        if len(updates) != 2 or len(new) != 1 or len(copied) != 1:
            return None
        entry = self.marked.get(new[0])
        return entry if entry is not None and entry.value == copied[0] else None

    def _hindrance(self, updates: Sequence[Update]) -> str | None:
        """Why a step that looks like a refresh is none: another use of the bit."""
        values = {it.target for it in updates if isinstance(it, ground.Copy)}
        bits = [it.bit for it in updates if isinstance(it, ground.SetBit) and it.value]
        if len(values) != 1 or not all(
            isinstance(it, ground.Copy | ground.SetBit) for it in updates
        ):
            return None
        (value,) = values
        for rule, bit in product(self.lasting, bits):
            if (bit in rule.sets(True)) is not (value in rule.changes):
                both = f"{value.word} and {bit.word}"
                return f"{_name(rule)} makes only one of {both} new, so let it change both"
        for bit in bits:
            for step in self.clearing.get(bit, ()):
                waiting = next((it for it in self.lasting if (bit, False) in it.wants), None)
                change = f"{step.step} not wait for {bit.word}"
                if waiting is not None:
                    change = f"{_name(waiting)} not wait until {bit.word} is false"
                return f"{step.step} waits for {bit.word} and takes it away, so let {change}"
        return None

    def _free_to_refresh(self, entry: Entry, step: StepRule) -> Shape | str:
        """Whether a refresh that nobody sees can be left out."""
        for rule in self.takers(entry.value):
            if rule.awaits(entry.valid):
                continue
            dirty = entry.dirty
            if dirty is None or (dirty, False) not in step.needs or dirty not in rule.cleared:
                why = f"{rule} takes {entry.value.word} without wanting it {entry.valid.word}"
                if dirty is not None and dirty in rule.cleared:
                    return f"{why}, so let {step.step} wait until {dirty.word} is false"
                return f"{why}, so let it wait for {entry.valid.word}"
        return Shape.REFRESHES

    @cached_property
    def refreshing(self) -> Mapping[Bit, list[StepRule]]:
        """By bit that says that a value counts, the steps that refresh the value."""
        steps = [it for it in self._lasting_steps if self.shapes[it.key] is Shape.REFRESHES]
        return by(steps, lambda rule: [self.refreshed(rule)])

    def refreshed(self, rule: StepRule) -> Bit:
        """Of a refresh, the bit that says that the value counts which it refreshes."""
        (copy,) = (it for it in rule.takes if isinstance(it, ground.Copy))
        return self.of_value[copy.target].valid

    @cached_property
    def leaving(self) -> Mapping[tuple[Fifo, ground.Element], StepRule]:
        """The step by which an element leaves a fifo."""
        steps = (it for it in self._lasting_steps if self.shapes[it.key] is Shape.LEAVES)
        return {(it.fifo, it.element): rule for rule in steps for it in rule.oldest}

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
                yield f"it needs a bound on {rule.step}, which can repeat for ever here: {found}"
        if self.mixing is not None:
            yield f"{self.mixing} takes the value of one location for that of another"
        yield from self._staying()
        for guard in self.complete:
            if not isinstance(guard, ground.AnyBit) or not self._ends(guard):
                yield "what its executions end with is more than that bits are cleared"
        for rule in self.lasting:
            if any(isinstance(it, ground.Without) and not it.of_markers for it in rule.guards):
                yield f"{rule} waits for elements of a fifo that are no markers"
        if (word := on_circle(self._flow)) is not None:
            yield f"{word.word} may be made of what it was before"
        if self.circle is not None:
            yield f"it needs a bound on {self.circle}, which can bring itself about again for ever"

    @cached_property
    def circle(self) -> str | None:
        """A step that may enable itself again, directly or through others."""
        setting = {
            bit: {it for rule in rules for it in rule.sets(True) if it in self.clearing}
            for bit, rules in self.clearing.items()
        }
        for graph, steps in ((self._wanting, self.refreshing), (setting, self.clearing)):
            if (bit := on_circle(graph)) is not None:
                return steps[bit][0].step
        return None

    def _staying(self) -> Iterator[str]:
        """Elements that may never leave their fifo, or markers that wait for more than that."""
        for rule in self.lasting:
            for fifo, element in ((it.fifo, it.element) for it in rule.enqueues):
                leaves = self.leaving.get((fifo, element))
                if leaves is None:
                    yield f"no step takes {element} out of {fifo}"
                elif isinstance(element, ground.Marker) and len(leaves.guards) > 1:
                    yield f"{leaves.step} waits for more than its marker's turn"

    def _ends(self, guard: ground.AnyBit) -> bool:
        return guard.only is not None and not guard.only[1] and guard.only[0] not in self.entries

    @cached_property
    def _wanting(self) -> Mapping[Bit, set[Bit]]:
        """By bit, the bits that its refreshes want true."""
        return {
            bit: {it for rule in rules for it, value in rule.wants if value and it in self.entries}
            for bit, rules in self.refreshing.items()
        }

    @cached_property
    def _flow(self) -> Mapping[Word, set[Word]]:
        """By word, the words that it is copied from, except by a flush, which carries a write."""
        found: dict[Word, set[Word]] = {}
        for rule in self.lasting:
            for update in rule.takes:
                entry = self.of_value.get(update.source)
                carried = entry is not None and entry.dirty in rule.cleared
                if isinstance(update, ground.Copy) and not carried:
                    found.setdefault(update.target, set()).add(update.source)
        return found


def may_fire(rules: Iterable[Rule], starts_true: Callable[[Bit], bool]) -> list[Rule]:
    """The rules without those that fire in no state, as they need a bit that nothing makes true."""
    left = [it for it in rules if not it.never]
    while True:
        true = {bit for it in left for bit in it.may_set}
        kept = [
            it
            for it in left
            if all(
                any(not value or bit in true or starts_true(bit) for bit, value in guard.bits)
                for guard in it.guards
                if isinstance(guard, ground.AnyBit)
            )
        ]
        if len(kept) == len(left):
            return left
        left = kept


def _mixes(rule: Rule) -> bool:
    own = None if rule.instruction is None else rule.instruction.location
    for update in rule.flat:
        match update:
            case ground.Copy(target, source) if target.location != source.location:
                return True
            case ground.Deliver(_, word) | ground.Assign(word, _) if word.location != own:
                return True
            case _:
                pass
    return False


def _name(rule: Rule) -> str:
    return rule.step if isinstance(rule, StepRule) else str(rule)
