"""The bits of a machine, told from what its rules want and change: which say that a value counts.

docs/machine.md, «The shapes of steps», says what an entry is.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cached_property
from typing import assert_never

from msgspec import Struct

from rspverify.machine.rules import (
    AnyBit,
    Assign,
    Bit,
    Copy,
    Deliver,
    Fifo,
    Guard,
    Issued,
    Oldest,
    Rule,
    SetBit,
    SetLock,
    StepRule,
    Update,
    When,
    Word,
    changed_by,
    plain,
)


class Entry(Struct, frozen=True):
    """A value that counts only where a bit is true, such as an entry of a cache.

    valid: true from each change of the value on until somebody makes it false, and wanted by
    whoever takes it. dirty: true where the value must still go somewhere, cleared by steps that
    need it; None where there is no such bit.
    """

    value: Word
    valid: Bit
    dirty: Bit | None


class Entries:
    """What the bits of some rules are for.

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
        self.rules = [rule for rule in rules if not never(rule)]
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
            if all(isinstance(update, SetBit) for update in rule.updates)
        }
        while True:
            others = [rule for rule in self.rules if rule.key not in losing]
            wanted = {literal for rule in others for literal in wants(rule)}
            wanted |= set(literals(self.complete))
            turns = {it for rule in others for it in _turns(rule)}
            kept = {
                key: rule
                for key, rule in losing.items()
                if not any((it.bit, it.value) in wanted for it in _sets(rule))
                if turns.isdisjoint(_turns(rule))
            }
            if len(kept) == len(losing):
                return frozenset(kept)
            losing = kept

    @cached_property
    def lasting(self) -> list[Rule]:
        return [rule for rule in self.rules if rule.key not in self.losing]

    @cached_property
    def wanted(self) -> frozenset[tuple[Bit, bool]]:
        """Which bits somebody wants true, or false; not who only takes away."""
        found = {literal for rule in self.lasting for literal in wants(rule)}
        return frozenset(found | set(literals(self.complete)))

    def ignored(self, bit: Bit) -> bool:
        """Whether nobody looks at a bit."""
        return (bit, True) not in self.wanted and (bit, False) not in self.wanted

    def counting(self, rule: Rule) -> list[Update]:
        """The updates of a rule, without those of bits that nobody looks at."""
        return [it for it in rule.updates if not (isinstance(it, SetBit) and self.ignored(it.bit))]

    @cached_property
    def mixing(self) -> Rule | None:
        """A rule that takes the value of one location for that of another, if there is one."""
        return next((rule for rule in self.rules if _mixes(rule)), None)

    @cached_property
    def clearing(self) -> Mapping[Bit, list[StepRule]]:
        """By bit that steps clear which need it, these steps."""
        found: dict[Bit, list[StepRule]] = {}
        for rule in self.lasting:
            if isinstance(rule, StepRule):
                for bit in cleared(rule):
                    found.setdefault(bit, []).append(rule)
        return {bit: rules for bit, rules in found.items() if not self.starts_true(bit)}

    @cached_property
    def entries(self) -> Mapping[Bit, Entry]:
        """The values that count only where a bit is true, by that bit."""
        return {
            bit: entry
            for bit, entry in self.marked.items()
            if not any(self._takes_uncounted(rule, entry) for rule in self.takers(entry.value))
        }

    def _takes_uncounted(self, rule: Rule, entry: Entry) -> bool:
        """Whether a taker of a value takes it, be it under conditions, where it may not count."""
        if rule.awaits(entry.valid):
            return False
        return entry.dirty is None or entry.dirty not in cleared(rule)

    @cached_property
    def marked(self) -> Mapping[Bit, Entry]:
        """The values that have a bit which becomes true where they change, whoever takes them."""
        setting: dict[Bit, set[object]] = {}
        changing = self._changing
        for rule in self.lasting:
            for bit in rule.sets(True):
                setting.setdefault(bit, set()).add(rule.key)
        conditional = {changed_by(it) for rule in self.lasting for it in plain(rule.conditional)}
        found = {}
        for bit, keys in setting.items():
            if (bit, True) not in self.wanted or (bit, False) in self.wanted:
                continue
            if self.starts_true(bit):
                continue
            values = [
                word
                for word, its in changing.items()
                if its == keys and word.location == bit.location
                if word.structure == bit.structure and word not in self.final
            ]
            if len(values) == 1 and not {bit, values[0]} & conditional:
                found[bit] = Entry(values[0], bit, None)
        return {bit: self._with_dirty(entry) for bit, entry in found.items()}

    def _with_dirty(self, entry: Entry) -> Entry:
        """With the bit that says that the value must still go somewhere."""
        for bit in dict.fromkeys(it for rule in self.takers(entry.value) for it in cleared(rule)):
            if bit.location != entry.value.location or bit.structure != entry.value.structure:
                continue
            setters = self._setters.get(bit, set())
            waiting = self._waiting.get(bit, set())
            if setters <= self._changing[entry.value] <= setters | waiting:
                return Entry(entry.value, entry.valid, bit)
        return entry

    def is_new_with(self, word: Word, bit: Bit) -> bool:
        """Whether whoever makes a bit true, which is false at first, changes a word."""
        setters = self._setters.get(bit, set())
        return setters <= self._changing.get(word, set()) and not self.starts_true(bit)

    def takers(self, word: Word) -> Sequence[Rule]:
        """The rules that take the value of a word, be it under conditions."""
        return self._takers.get(word, ())

    @cached_property
    def _takers(self) -> Mapping[Word, list[Rule]]:
        found: dict[Word, list[Rule]] = {}
        for rule in self.lasting:
            for word in dict.fromkeys(taken(rule)):
                found.setdefault(word, []).append(rule)
        return found

    @cached_property
    def _changing(self) -> Mapping[Word, set[object]]:
        """By word, the keys of the rules that change it, whatever else holds."""
        found: dict[Word, set[object]] = {}
        for rule in self.lasting:
            for cell in rule.changes:
                if isinstance(cell, Word):
                    found.setdefault(cell, set()).add(rule.key)
        return found

    @cached_property
    def _setters(self) -> Mapping[Bit, set[object]]:
        """By bit, the keys of the rules that make it true, be it under conditions."""
        found: dict[Bit, set[object]] = {}
        for rule in self.lasting:
            for bit in rule.may_set:
                found.setdefault(bit, set()).add(rule.key)
        return found

    @cached_property
    def _waiting(self) -> Mapping[Bit, set[object]]:
        """By bit, the keys of the rules that wait until it is false, whatever else holds."""
        found: dict[Bit, set[object]] = {}
        for rule in self.lasting:
            for guard in rule.guards:
                if isinstance(guard, AnyBit) and len(guard.bits) == 1 and not guard.bits[0][1]:
                    found.setdefault(guard.bits[0][0], set()).add(rule.key)
        return found

    @cached_property
    def of_marked(self) -> Mapping[Word, Entry]:
        return {entry.value: entry for entry in self.marked.values()}

    @cached_property
    def of_value(self) -> Mapping[Word, Entry]:
        """The entries by their values."""
        return {entry.value: entry for entry in self.entries.values()}


def wants(rule: Rule) -> list[tuple[Bit, bool]]:
    """The bits that a rule looks at, and which value it wants, be it as one of several ways."""
    return [*literals(rule.guards), *(it for when in rule.conditional for it in _asked(when))]


def _asked(when: When) -> Iterable[tuple[Bit, bool]]:
    """Of what depends on a bit both values are asked for."""
    for bit, _ in literals(when.guards):
        yield bit, True
        yield bit, False
    for update in when.updates:
        if isinstance(update, When):
            yield from _asked(update)


def literals(guards: Iterable[Guard]) -> list[tuple[Bit, bool]]:
    return [each for guard in guards if isinstance(guard, AnyBit) for each in guard.bits]


def never(rule: Rule) -> bool:
    """Whether a rule fires in no state: an access of memory that the instruction is not for."""
    return AnyBit(()) in rule.guards


def may_fire(rules: Iterable[Rule], starts_true: Callable[[Bit], bool]) -> list[Rule]:
    """The rules without those that fire in no state, as they need a bit that nothing makes true."""
    left = [it for it in rules if not never(it)]
    while True:
        true = {bit for it in left for bit in it.may_set}
        kept = [
            it
            for it in left
            if all(
                any(not value or bit in true or starts_true(bit) for bit, value in guard.bits)
                for guard in it.guards
                if isinstance(guard, AnyBit)
            )
        ]
        if len(kept) == len(left):
            return left
        left = kept


def _turns(rule: Rule) -> list[Fifo]:
    """The fifos in which its instruction must be the oldest."""
    return [
        it.fifo for it in rule.guards if isinstance(it, Oldest) and isinstance(it.element, Issued)
    ]


def _sets(rule: Rule) -> list[SetBit]:
    return [update for update in rule.updates if isinstance(update, SetBit)]


def changed_words(rule: Rule) -> list[Word]:
    """The words whose values a rule changes, be it under conditions."""
    return [it.target for it in rule.may_change if isinstance(it, Copy | Assign)]


def taken(rule: Rule) -> list[Word]:
    """The words whose values a rule takes, be it under conditions."""
    return [cell for cell in rule.looks if isinstance(cell, Word)]


def cleared(rule: Rule) -> list[Bit]:
    """The bits that a step needs and takes away; of an instruction, none."""
    return rule.cleared if isinstance(rule, StepRule) else []


def _mixes(rule: Rule) -> bool:
    own = None if rule.instruction is None else rule.instruction.location
    for update in rule.may_change:
        match update:
            case Copy(target, source):
                if target.location != source.location:
                    return True
            case Deliver(_, word) | Assign(word, _):
                if word.location != own:
                    return True
            case SetBit() | SetLock():
                pass
            case _:
                assert_never(update)
    return False
