"""The ways by which writes go to memory: from entry to entry, by the steps that flush them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property

from msgspec import Struct

from rspverify.machine.rules import Assign, Copy, InstructionRule, Rule, StepRule, Word, by, fails
from rspverify.machine.shapes import Entry, Shapes


def below(entry: Entry, shapes: Shapes) -> Word | None:
    """The word to which the only step that flushes an entry copies it; None if not only one."""
    flushes = [] if entry.dirty is None else shapes.clearing.get(entry.dirty, [])
    if len(flushes) != 1:
        return None
    targets = [
        it.target for it in flushes[0].takes if isinstance(it, Copy) and it.source == entry.value
    ]
    return targets[0] if len(targets) == 1 else None


class Routes(Struct, frozen=True, dict=True):
    """The ways of all writes to memory. Where they are not all known, `unknown` says of which.

    memory: the words that are memory in the end.
    """

    shapes: Shapes
    rules: Sequence[Rule]
    memory: frozenset[Word]

    def start(self, rule: Rule) -> Word | None:
        """The word where the way of a write to memory starts, or which is memory.

        None where it brings no write on its way: it writes nothing, or for the own place alone, or
        a later step is what writes.
        """
        starts = self._starts(rule)
        if not starts:
            return None
        (found,) = starts
        return found

    def after(self, word: Word) -> Word | None:
        """The next word on the way; None at its end."""
        entry = self.shapes.of_value.get(word)
        return None if entry is None else below(entry, self.shapes)

    def _starts(self, rule: Rule) -> list[Word]:
        return [
            cell
            for cell, update in rule.changes.items()
            if isinstance(cell, Word) and isinstance(update, Assign) and self._leads(cell)
        ]

    def _leads(self, word: Word) -> bool:
        """Whether a value in a word is memory, or will be."""
        entry = self.shapes.of_value.get(word)
        return word in self.memory or (entry is not None and entry.dirty is not None)

    @cached_property
    def unknown(self) -> str | None:
        """Why the order in which writes reach memory is not known; None if it is."""
        return next(iter(self._objections()), None)

    def _objections(self) -> Iterable[str]:
        flushes: dict[object, tuple[Word, Word]] = {}
        clearing = by(self.rules, lambda it: it.sets(False))
        for entry in self.shapes.entries.values():
            if entry.dirty is None:
                continue
            target = below(entry, self.shapes)
            if target is None or not self._leads(target):
                yield f"the value of {entry.value.structure} has no one way to memory"
                continue
            if fails(entry.dirty) not in self.shapes.complete:
                yield f"an execution may end with {entry.value.structure} {entry.dirty.word}"
            (flush,) = self.shapes.clearing[entry.dirty]
            flushes[flush.key] = entry.value, target
            for rule in clearing.get(entry.dirty, ()):
                if rule.key != flush.key:
                    yield f"{rule} drops what {entry.value.structure} has written"
            lower = self.shapes.of_value.get(target)
            if lower is not None and lower.dirty not in flush.sets(True):
                yield f"{flush.step} leaves what it brings where it stays"
        fetches = {it.key for steps in self.shapes.refreshing.values() for it in steps}
        for rule in self.rules:
            changed = [it for it in rule.changes if isinstance(it, Word) and self._leads(it)]
            if isinstance(rule, InstructionRule) and rule.instruction.mnemonic.writes:
                if not self._writes_once(rule):
                    yield f"it is not said that what {rule} begins to write is written once"
            if starts := self._starts(rule):
                if len(starts) != 1 or len(changed) != 1:
                    yield f"what {rule} writes goes to memory by several ways"
                elif not self._lasts(rule, changed[0]):
                    yield f"what {rule} writes is not flushed"
            elif rule.key in flushes:
                if changed != [flushes[rule.key][1]]:
                    yield f"{rule} changes more than one value"
            elif changed and rule.key not in fetches:
                yield f"{rule} brings values to where writes go"

    @cached_property
    def _of_instruction(self) -> Mapping[int, list[Rule]]:
        """By index of an instruction, its cases and later steps."""
        return by(self.rules, lambda it: [] if it.instruction is None else [it.instruction.index])

    def _writes_once(self, rule: InstructionRule) -> bool:
        """Whether an instruction writes just once in each execution, all its ways in one place.

        It writes itself, or it sets a bit that is false in the end, and whatever makes that false
        writes: a later step, which needs it.
        """
        its = self._of_instruction[rule.instruction.index]
        steps = [it for it in its if isinstance(it, StepRule) and self._starts(it)]
        if len({word for it in its for word in self._starts(it)}) != 1:
            return False
        if not steps:
            return bool(self._starts(rule))
        bits = {bit for it in steps for bit in it.cleared}
        if len(bits) != 1 or not all(it.cleared for it in steps):
            return False
        (bit,) = bits
        changing = [it for it in self.rules if bit in it.sets(True) or bit in it.sets(False)]
        return (
            fails(bit) in self.shapes.complete
            and (bit in rule.sets(True)) is not bool(self._starts(rule))
            and not self.shapes.starts_true(bit)
            and all(isinstance(it, InstructionRule) or it in steps for it in changing)
            and all(bit not in it.sets(True) for it in steps)
            and all(it.instruction == rule.instruction for it in changing)
        )

    def _lasts(self, rule: Rule, start: Word) -> bool:
        """Whether a rule writes to memory, or marks its write to be flushed."""
        entry = self.shapes.of_value.get(start)
        return entry is None or entry.dirty in rule.sets(True)
