"""The ways by which writes go to memory: from entry to entry, by the steps that flush them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property

from rspverify.machine.entries import Entry
from rspverify.machine.rules import Assign, Copy, InstructionRule, Rule, Word, fails
from rspverify.machine.shapes import Shapes


def below(entry: Entry, shapes: Shapes) -> Word | None:
    """Where the one step that flushes an entry takes its value; None where there are others."""
    flushes = [] if entry.dirty is None else shapes.clearing.get(entry.dirty, [])
    if len(flushes) != 1:
        return None
    targets = [
        it.target for it in flushes[0].takes if isinstance(it, Copy) and it.source == entry.value
    ]
    return targets[0] if len(targets) == 1 else None


@dataclass(frozen=True)
class Routes:
    """The ways of all writes to memory. Where they are not all known, `unknown` says of which.

    memory: the words that are memory in the end.
    """

    shapes: Shapes
    rules: Sequence[Rule]
    memory: frozenset[Word]

    def start(self, rule: Rule) -> Word:
        """The word from which what a rule writes goes to memory, or where it is there."""
        (found,) = self._starts(rule)
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
            for rule in self.rules:
                if rule.key != flush.key and entry.dirty in rule.sets(False):
                    yield f"{rule} drops what {entry.value.structure} has written"
            lower = self.shapes.of_value.get(target)
            if lower is not None and lower.dirty not in flush.sets(True):
                yield f"{flush.step} leaves what it brings where it stays"
        fetches = {it.key for steps in self.shapes.refreshing.values() for it in steps}
        for rule in self.rules:
            changed = [it for it in rule.changes if isinstance(it, Word) and self._leads(it)]
            if any(isinstance(it, Assign) for it in rule.changes.values()):
                if len(self._starts(rule)) != 1 or len(changed) != 1:
                    yield f"what {rule} writes goes to memory by several ways, or by none"
                elif not self._lasts(rule, changed[0]):
                    yield f"what {rule} writes is not flushed"
            elif isinstance(rule, InstructionRule) and rule.instruction.mnemonic.writes:
                yield f"{rule} only begins to write"
            elif rule.key in flushes:
                if changed != [flushes[rule.key][1]]:
                    yield f"{rule} changes more than one value"
            elif changed and rule.key not in fetches:
                yield f"{rule} brings values to where writes go"

    def _lasts(self, rule: Rule, start: Word) -> bool:
        """Whether what a rule writes is memory, or marked to be flushed."""
        entry = self.shapes.of_value.get(start)
        return entry is None or entry.dirty in rule.sets(True)
