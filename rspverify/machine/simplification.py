"""The parts of a machine that are left out because no outcome depends on them.

* Steps that only take away, steps that change only what nobody looks at, and the bits among that.
* A structure that is as good as memory: one cache for all threads, whose steps wait for nobody.

docs/proofs.md, «What the engines leave out», proves both.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain

from msgspec import Struct, field

from rspverify.assembly.program import ThreadId
from rspverify.machine import rules as ground
from rspverify.machine.routes import below
from rspverify.machine.rules import Bit, Fifo, Guard, Rule, StepRule, Structure, Update, Word, by
from rspverify.machine.shapes import Entry, Shapes
from rspverify.records import replace

_CELLS = Fifo, Bit, Word


class Simplification(Struct, frozen=True):
    """The parts left out. stands_for: word → the word to use instead. steps: by their keys."""

    structures: frozenset[Structure] = frozenset()
    bits: frozenset[Bit] = frozenset()
    stands_for: Mapping[Word, Word] = field(default_factory=dict)
    steps: frozenset[object] = frozenset()

    def keeps(self, cell: Bit | Word | Fifo | object) -> bool:
        """Whether a cell is still there."""
        if cell in self.bits:
            return False
        return not (isinstance(cell, _CELLS) and cell.structure in self.structures)

    def guards(self, guards: Sequence[Guard]) -> Iterator[Guard]:
        """The guards that are left."""
        for guard in guards:
            match guard:
                case ground.AnyBit(bits) if any(not self.keeps(bit) for bit, _ in bits):
                    pass
                case ground.Without(fifos, elements):
                    left = tuple(each for each in fifos if self.keeps(each))
                    if left:
                        yield guard if len(left) == len(fifos) else ground.Without(left, elements)
                case _:
                    yield guard

    def updates(self, updates: Sequence[Update]) -> Iterator[Update]:
        """The updates that are left."""
        stands_for = self.stands_for
        for update in updates:
            match update:
                case ground.SetBit(bit, _) if not self.keeps(bit):
                    pass
                case ground.Enqueue(fifo) | ground.Dequeue(fifo) if not self.keeps(fifo):
                    pass
                case ground.Copy(target, source) if target in stands_for or source in stands_for:
                    yield ground.Copy(self._word(target), self._word(source))
                case ground.Deliver(register, source) if source in stands_for:
                    yield ground.Deliver(register, self._word(source))
                case ground.Assign(target, value) if target in stands_for:
                    yield ground.Assign(self._word(target), value)
                case ground.When(guards, inner):
                    yield ground.When(tuple(self.guards(guards)), tuple(self.updates(inner)))
                case _:
                    yield update

    def _word(self, word: Word) -> Word:
        return self.stands_for.get(word, word)

    def rule(self, rule: ground.AnyRule) -> ground.AnyRule:
        """A rule without the parts that are left out."""
        guards, updates = tuple(self.guards(rule.guards)), tuple(self.updates(rule.updates))
        if guards == rule.guards and updates == rule.updates:
            return rule  # With its summary.
        return replace(rule, guards=guards, updates=updates)

    def is_idle(self, rule: Rule) -> bool:
        """Whether a rule is a step that changes nothing that is left, as a flush into itself."""
        left = self.updates(rule.updates)
        same = all(isinstance(it, ground.Copy) and it.target == it.source for it in left)
        return isinstance(rule, StepRule) and same

    def left(self, steps: Sequence[StepRule]) -> tuple[StepRule, ...]:
        """The steps that are left."""
        return tuple(self.rule(rule) for rule in steps if rule.key not in self.steps)


def simplification(
    shapes: Shapes,
    rules: Sequence[Rule],
    everyone: frozenset[ThreadId],
    *,
    elide: bool,
    evict: bool,
) -> Simplification:
    """The parts that can be left out of a machine. rules: all that any program can have.

    elide: also what is as good as memory. evict: keep the steps that only take away.
    """
    bits: frozenset[Bit] = frozenset()
    steps: frozenset[object] = frozenset()
    if not evict:
        steps = shapes.losing | _unseen(shapes)
        bits = frozenset(
            cell
            for rule in rules
            for cell in [*rule.changes, *rule.looks]
            if isinstance(cell, Bit) and shapes.ignored(cell)
        )
    if not elide:
        return Simplification(bits=bits, steps=steps)
    memory = _AsMemory(shapes, rules, everyone)
    entries = shapes.entries.values()
    found = frozenset(
        it for it in dict.fromkeys(it.value.structure for it in entries) if memory(it)
    )
    stands_for = {it.value: below(it, shapes) for it in entries if it.value.structure in found}
    words = {word: lower for word, lower in stands_for.items() if lower is not None}
    without = Simplification(found, bits, words, steps)
    return replace(without, steps=steps | {it.key for it in rules if without.is_idle(it)})


def _unseen(shapes: Shapes) -> frozenset[object]:
    """The keys of the steps that change nothing that an instruction, a step that is not among them,
    or the end looks at.

    What a word is while a bit is false is not looked at either, where whoever looks at the word
    needs the bit and clears it, and the word is new when the bit is true again.
    """
    seen: dict[object, frozenset[Bit]] = dict.fromkeys(shapes.final, frozenset())
    seen |= dict.fromkeys(chain.from_iterable(map(ground.cells_of, shapes.complete)), frozenset())
    unseen = [it for it in shapes.lasting if isinstance(it, StepRule)]
    looking: list[Rule] = [it for it in shapes.lasting if not isinstance(it, StepRule)]
    while looking:
        for rule in looking:
            needed = frozenset(rule.cleared)
            parts = chain.from_iterable(map(ground.cells_of, (*rule.guards, *rule.conditional)))
            for cell in (*parts, *rule.taken):
                seen[cell] = seen.get(cell, needed) & needed
        were, looking, unseen = unseen, [], []
        for it in were:
            (looking if _is_seen(it, seen, shapes) else unseen).append(it)
    return frozenset(it.key for it in unseen)


def _is_seen(step: StepRule, seen: Mapping[object, frozenset[Bit]], shapes: Shapes) -> bool:
    """Whether a step delivers a value, or changes a cell that is looked at.

    seen: by cell that is looked at, the bits that all who look at it need and clear.
    """
    for cell in map(ground.changed_by, step.flat):
        if cell is None:
            return True
        if cell in seen and not any(
            (bit, False) in step.needs and isinstance(cell, Word) and shapes.is_new_with(cell, bit)
            for bit in seen[cell]
        ):
            return True
    return False


class _AsMemory:
    """Which structures can always be kept equal to the structure below them."""

    def __init__(
        self, shapes: Shapes, rules: Sequence[Rule], everyone: frozenset[ThreadId]
    ) -> None:
        self._shapes, self._rules, self._everyone = shapes, rules, everyone
        self._touching = by(rules, lambda it: {*it.looks, *it.changes, *it.changed_words})

    def __call__(self, structure: Structure) -> bool:
        """Whether a structure can."""
        entries = [it for it in self._shapes.entries.values() if it.value.structure == structure]
        return (
            all(it.valid.structure == structure for it in entries)
            and all(map(self._kept_equal, entries))
            and all(self._harmless(rule, structure, entries) for rule in self._rules)
            and _can_be(ground.literals(self._shapes.complete), structure, entries)
        )

    def _kept_equal(self, entry: Entry) -> bool:
        """Whether it can be flushed after each change of it, and fetched before each use."""
        shapes, value, dirty = self._shapes, entry.value, entry.dirty
        lower, fetches = below(entry, shapes), shapes.refreshing.get(entry.valid, ())
        if lower is None or dirty is None or len(fetches) != 1:
            return False
        if dirty.structure != value.structure:
            return False
        (fetch,), (flush,) = fetches, shapes.clearing[dirty]
        flushes = {ground.Copy(lower, value), ground.SetBit(dirty, False)}
        return (
            ground.fails(dirty) in shapes.complete
            and self._is_free(flush.guards, ground.holds(dirty))
            and self._is_free(fetch.guards, ground.fails(dirty))
            and set(shapes.counting(flush)) == flushes
            and set(shapes.counting(fetch))
            == {ground.Copy(value, lower), ground.SetBit(entry.valid, True)}
            and all(
                (it.key == flush.key or not (lower in it.changed_words or dirty in it.sets(False)))
                and (it.key == fetch.key or lower not in it.taken)
                and (value in it.changes and it.key != fetch.key) is (dirty in it.sets(True))
                for cell in (lower, dirty, value)
                for it in self._touching.get(cell, ())
            )
        )

    def _is_free(self, guards: Sequence[Guard], but: Guard) -> bool:
        """Whether guards, but for one, are only of locks that are ready for everyone."""
        left = [guard for guard in guards if guard != but]
        return all(isinstance(it, ground.Ready) and it.threads >= self._everyone for it in left)

    def _harmless(self, rule: Rule, structure: Structure, entries: Sequence[Entry]) -> bool:
        """Whether the guards of a rule on a structure can be made true, and its updates undone."""
        shapes = self._shapes
        if any(
            cell.structure == structure for it in rule.conditional for cell in ground.cells_of(it)
        ):
            return False
        if rule.key in shapes.losing:
            return True
        needed = {it.dirty for it in entries if it.dirty and rule in shapes.clearing[it.dirty]}
        wanted = [each for each in rule.wants if each[0] not in needed]
        entered = [it for it in rule.enqueues if it.fifo.structure == structure]
        clean = {ground.fails(each.dirty) for each in entries if each.dirty}
        return (
            _can_be(wanted, structure, entries)
            and all((it.fifo, it.element) in shapes.leaving for it in entered)
            and all(
                clean.issuperset(it for it in rule.guards if it is not guard)
                and rule.updates == (ground.Dequeue(guard.fifo),)
                for guard in rule.oldest
                if guard.fifo.structure == structure
            )
        )


def _can_be(
    wanted: Iterable[tuple[Bit, bool]], structure: Structure, entries: Sequence[Entry]
) -> bool:
    """Whether a flush and a fetch can make these literals of a structure true."""
    had = {(it.valid, True) for it in entries} | {(it.dirty, False) for it in entries}
    return all(bit.structure != structure or (bit, value) in had for bit, value in wanted)
