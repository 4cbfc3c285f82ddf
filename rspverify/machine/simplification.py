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
                case ground.Enqueue(fifo, _) if not self.keeps(fifo):
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
    touching = by(rules, lambda rule: {*rule.looks, *rule.changes, *rule.changed_words})
    found = [
        each
        for each in {entry.value.structure: None for entry in shapes.entries.values()}
        if _as_memory(each, shapes, rules, touching, everyone)
    ]
    inside = {entry for entry in shapes.entries.values() if entry.value.structure in found}
    stands_for = {entry.value: below(entry, shapes) for entry in inside}
    gone = {rule.key for rule in rules if _is_inside(rule, inside, frozenset(found), shapes)}
    return Simplification(
        frozenset(found),
        bits,
        {word: lower for word, lower in stands_for.items() if lower is not None},
        steps | gone,
    )


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
        looking = [it for it in unseen if _is_seen(it, seen, shapes)]
        unseen = [it for it in unseen if it not in looking]
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


def _is_inside(
    rule: Rule, entries: set[Entry], structures: frozenset[Structure], shapes: Shapes
) -> bool:
    """Whether a step only flushes, fetches, drops or dequeues parts that are left out."""
    if not isinstance(rule, StepRule):
        return False
    if rule.oldest:
        return rule.oldest[0].fifo.structure in structures
    if rule.key in shapes.losing:
        return all(bit.structure in structures for bit in rule.sets(False) + rule.sets(True))
    return any(
        rule in shapes.refreshing[entry.valid] or rule in shapes.clearing.get(entry.dirty, ())
        for entry in entries
        if entry.dirty is not None
    )


def _as_memory(
    structure: Structure,
    shapes: Shapes,
    rules: Sequence[Rule],
    touching: Mapping[object, Sequence[Rule]],
    everyone: frozenset[ThreadId],
) -> bool:
    """Whether a structure can always be kept equal to the structure below it."""
    entries = [each for each in shapes.entries.values() if each.value.structure == structure]
    return (
        all(_kept_equal(entry, shapes, touching, everyone) for entry in entries)
        and all(_harmless(rule, structure, entries, shapes) for rule in rules)
        and _can_be(ground.literals(shapes.complete), structure, entries)
    )


def _kept_equal(
    entry: Entry,
    shapes: Shapes,
    touching: Mapping[object, Sequence[Rule]],
    everyone: frozenset[ThreadId],
) -> bool:
    """Whether it can be flushed after each change of it, and fetched before each use."""
    lower, dirty = below(entry, shapes), entry.dirty
    fetches = shapes.refreshing.get(entry.valid, ())
    if lower is None or dirty is None or len(fetches) != 1:
        return False
    (fetch,), (flush,) = fetches, shapes.clearing[dirty]

    def is_free(guards: Sequence[Guard], but: Guard) -> bool:
        left = [guard for guard in guards if guard != but]
        return all(isinstance(it, ground.Ready) and it.threads >= everyone for it in left)

    wanted = (
        ground.fails(dirty) in shapes.complete,
        is_free(flush.guards, ground.holds(dirty)),
        is_free(fetch.guards, ground.fails(dirty)),
        set(shapes.counting(flush))
        == {ground.Copy(lower, entry.value), ground.SetBit(dirty, False)},
        set(shapes.counting(fetch))
        == {ground.Copy(entry.value, lower), ground.SetBit(entry.valid, True)},
    )
    if not all(wanted):
        return False
    for rule in touching.get(lower, ()):
        if lower in rule.changed_words and rule.key != flush.key:
            return False
        if lower in rule.taken and rule.key != fetch.key:
            return False
    for rule in (*touching.get(dirty, ()), *touching.get(entry.value, ())):
        if dirty in rule.sets(False) and rule.key != flush.key:
            return False
        changed = entry.value in rule.changes and rule.key != fetch.key
        if changed is not (dirty in rule.sets(True)):
            return False
    return True


def _harmless(rule: Rule, structure: Structure, entries: Sequence[Entry], shapes: Shapes) -> bool:
    """Whether the guards of a rule on a structure can be made true, and its updates undone."""
    if any(it.structure == structure for when in rule.conditional for it in ground.cells_of(when)):
        return False
    if rule.key in shapes.losing:
        return True
    needed = {it.dirty for it in entries if it.dirty and rule in shapes.clearing[it.dirty]}
    wanted = [each for each in rule.wants if each[0] not in needed]
    if not _can_be(wanted, structure, entries):
        return False
    if any(
        it.fifo.structure == structure and (it.fifo, it.element) not in shapes.leaving
        for it in rule.enqueues
    ):
        return False
    clean = {ground.fails(each.dirty) for each in entries if each.dirty}
    return all(
        clean.issuperset(it for it in rule.guards if it is not guard)
        and rule.updates == (ground.Dequeue(guard.fifo),)
        for guard in rule.oldest
        if guard.fifo.structure == structure
    )


def _can_be(
    wanted: Iterable[tuple[Bit, bool]], structure: Structure, entries: Sequence[Entry]
) -> bool:
    """Whether a flush and a fetch can make these literals of a structure true."""
    had = {(it.valid, True) for it in entries} | {(it.dirty, False) for it in entries}
    return all(bit.structure != structure or (bit, value) in had for bit, value in wanted)
