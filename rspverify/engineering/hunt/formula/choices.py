"""What is chosen of a program of a sketch: in each slot an operation, its location, and an `if`.

And what is learnt from one that races: all that begin alike race, too.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import product
from math import prod

from rspverify.engineering.hunt.formula.sketch import Sketch
from rspverify.enumeration.lemmas import strength_tells
from rspverify.enumeration.packed import NONE, PackedAccess, PackedTest, PackedThread
from rspverify.enumeration.races import races
from rspverify.enumeration.space import Space
from rspverify.enumeration.tables import Tables
from rspverify.smt.choice import Choice, pick
from rspverify.smt.solver import Model
from rspverify.smt.term import Term, all_of, any_of

Slot = tuple[int, int]
"""A thread, and a place in it."""
Picked = tuple[int, ...]
"""An operation of the space by its number, and a location; NONE of a fence. A compare-exchange also
has what it expects, as a condition has it: thread and place of a store, and increments since."""
Condition = tuple[int, int, int, int] | None
"""What an `if` tests: place of a read, thread and place of a store, how many increments since."""


class Choices:
    """The terms that choose among the programs of a sketch.

    picked: slot → its operation and location; conditions: slot → what an `if` before it tests, None
    where there is none. constraints: that exactly one of each is chosen. All programs of the space
    that have the sketch can be chosen, and more: any value of a store may be tested, and an `if`
    within another may test the same read.
    """

    def __init__(self, sketch: Sketch, space: Space) -> None:
        self.sketch, self.space, self.tables = sketch, space, Tables(space)
        self.constraints: list[Term] = []
        self.slots = [(t, p) for t, n in enumerate(sketch.lengths) for p in range(n)]
        self.picked: dict[Slot, Choice[Picked]] = {}
        self.conditions: dict[Slot, Choice[Condition]] = {}
        for slot in self.slots:
            self._choose(slot)

    @property
    def most_increments(self) -> int:
        """How many increments a value that is read may have had: by all operations but the read,
        where there are any."""
        return len(self.slots) - 1 if any(self.tables.adds) else 0

    def when(self, slot: Slot, wanted: Iterable[Picked]) -> Term:
        """That one of these is chosen in a slot."""
        return any_of(self.picked[slot][each] for each in wanted)

    def chosen(self, test: PackedTest) -> Iterator[Term]:
        """That the program is this one, or begins like this where a thread of it is shorter."""
        for number, thread in enumerate(test.threads):
            for place, access in enumerate(thread.accesses):
                yield self.picked[number, place][self.picked_of(access)]
                yield self.conditions[number, place][condition_of(access)]

    def picked_of(self, access: PackedAccess) -> Picked:
        """What is picked of an access."""
        return access[:2] + (access[6:] if self.tables.cas[access[0]] else ())

    def test(self, model: Model) -> PackedTest:
        """The program that a model of the formula has chosen."""
        threads = []
        for number, place in enumerate(self.sketch.places):
            accesses = []
            for slot in (each for each in self.slots if each[0] == number):
                picked = next(it for it, term in self.picked[slot].items() if model[term])
                condition = next(it for it, term in self.conditions[slot].items() if model[term])
                accesses.append(access_of(picked, condition))
            threads.append(PackedThread(*place, tuple(accesses)))
        return PackedTest(tuple(threads), self.sketch.atomic, self.sketch.local)

    def can_be(self, operation: int, location: int) -> bool:
        """Whether an operation of the space may access such a location; NONE of a fence."""
        plain = self.space.accesses[operation].plain
        return location == NONE or plain != self.sketch.atomic[location]

    def _choose(self, slot: Slot) -> None:
        stores = [(NONE, NONE), *(each for each in self.slots if each != slot)]
        values = [(*each, plus) for each in stores for plus in range(self.most_increments + 1)]
        choices: list[Picked] = [
            (number, x, *expected)
            for number, access in enumerate(self.space.accesses)
            for x in ([NONE] if self.tables.fence[number] else range(len(self.sketch.atomic)))
            if self.sketch.reaches(slot[0], x) and self.can_be(number, x)
            for expected in (values if access.compares else [()])
        ]
        self.picked[slot], constraints = pick(f"op{slot}", choices)
        self.constraints += constraints
        conditions: list[Condition] = [None]
        conditions += [
            (place, thread, at, plus)
            for place in range(slot[1])
            for thread, at, plus in values
            if (thread, at) != (slot[0], place)
        ]
        self.conditions[slot], constraints = pick(f"if{slot}", conditions)
        self.constraints += constraints

    # What every program of the sketch fulfils that must be decided and does not race

    def well_formed(self) -> Iterator[Term]:
        """Tests are of reads, for a store to the same location, and of a compare-exchange for what
        it expects, which is alike; each location is written, and
        accessed by two threads, if there are two, or else by a seq_cst operation; no thread has
        fences alone."""
        locations = range(len(self.sketch.atomic))
        for (number, _), conditions in self.conditions.items():
            for condition, term in conditions.items():
                if condition is not None:
                    read, store = (number, condition[0]), condition[1:3]
                    yield term.implies(self._is(read, self.tables.kept))
                    yield from (
                        ~(term & picked)
                        for it, picked in self.picked[read].items()
                        if it[2:] not in ((), condition[1:])
                    )
                    if store != (NONE, NONE):
                        yield term.implies(self._is(store, self.tables.brings))
                        for x in locations:
                            yield all_of((term, self._at(read, x))).implies(self._at(store, x))
        for slot in self.slots:
            for it, term in self.picked[slot].items():
                if it[2:4] not in ((), (NONE, NONE)):
                    store = it[2], it[3]
                    yield term.implies(self._is(store, self.tables.brings))
                    yield term.implies(self._at(store, it[1]))
        count = len(self.sketch.lengths)
        for x in locations:
            ordered = self._accessed(x, self.tables.seq_cst)
            for number in range(count if count > 1 else 0):
                elsewhere = [self._at(each, x) for each in self.slots if each[0] != number]
                yield any_of([*elsewhere, ordered])
            yield self._accessed(x, self.tables.writes) | ordered
        if self.space.has_fences:
            for number in range(count):
                own = [each for each in self.slots if each[0] == number]
                yield any_of(~self._is(each, self.tables.fence) for each in own)
        yield from self._first_of_symmetric()

    def _is(self, slot: Slot, wanted: list[bool]) -> Term:
        return self.when(slot, [each for each in self.picked[slot] if wanted[each[0]]])

    def _at(self, slot: Slot, x: int) -> Term:
        return self.when(slot, [each for each in self.picked[slot] if each[1] == x])

    def _accessed(self, x: int, wanted: list[bool]) -> Term:
        """That a location is accessed by some of these operations."""
        return any_of(
            self.picked[slot][each]
            for slot in self.slots
            for each in self.picked[slot]
            if each[1] == x and wanted[each[0]]
        )

    def _first_of_symmetric(self) -> Iterator[Term]:
        """One of two programs that differ in names: of two equally long threads that are all there
        are, the first has the lesser first operation; of two locations of one kind, the
        very first access is of the first. (The order of operations does not speak of
        locations, so that both can be had.)"""
        lengths, atomic = self.sketch.lengths, self.sketch.atomic
        owners = set(self.sketch.owners) - {()}
        exchangeable = all(len(those) == len(lengths) for those in owners)
        if len(lengths) == 2 and lengths[0] == lengths[1] and exchangeable:
            for one, other in product(self.picked[0, 0], self.picked[1, 0]):
                if one[0] > other[0]:
                    yield ~(self.picked[0, 0][one] & self.picked[1, 0][other])
        alike = len(owners) == 0 or len(set(self.sketch.owners)) == 1
        if len(atomic) == 2 and atomic[0] == atomic[1] and alike:
            fences: list[Term] = []
            for slot in (each for each in self.slots if each[0] == 0):
                yield all_of(fences).implies(~self._at(slot, 1))
                fences.append(self._is(slot, self.tables.fence))

    def not_plainly_racing(self) -> Iterator[Term]:
        """Of two accesses that conflict, and whose scopes are not inclusive, one is under an `if`:
        otherwise some interleaving has them next to each other."""
        for one, other in product(self.slots, self.slots):
            if one[0] >= other[0]:
                continue
            apart = self.sketch.apart(one[0], other[0])
            free = [
                self.conditions[slot][None]
                for end in (one, other)
                for slot in self.slots
                if slot[0] == end[0] and slot[1] <= end[1]
            ]
            for a, b in product(self.picked[one], self.picked[other]):
                if self.tables.surely_conflicting(access_of(a), access_of(b), apart):
                    yield ~all_of((self.picked[one][a], self.picked[other][b], *free))


def access_of(picked: Picked, condition: Condition = None) -> PackedAccess:
    """The access that is picked, behind an `if` or not."""
    expected = picked[2:] or (NONE, NONE, 0)
    return PackedAccess._make((*picked[:2], *(condition or (NONE, NONE, NONE, 0)), *expected))


def condition_of(access: PackedAccess) -> Condition:
    """What the `if` before an access tests."""
    return None if access.tests < 0 else (access.tests, access.of, access.at, access.plus)


_TRIES = 1_000
"""So many programs are looked at to widen what one racy candidate excludes."""

Box = dict[Slot, tuple[set[Picked], set[Condition]]]
"""Some choices for the slots at the beginnings of threads."""


def racing_like(test: PackedTest, choices: Choices) -> Term:
    """That a program of the sketch begins like one that races, in a way that makes it race."""
    box = widened(racy_beginning(test, choices), choices)
    return all_of(
        any_of(choices.picked[slot][each] for each in picks)
        & any_of(choices.conditions[slot][each] for each in conditions)
        for slot, (picks, conditions) in box.items()
    )


def racy_beginning(test: PackedTest, choices: Choices) -> Box:
    """The accesses of the shortest beginnings of the threads that race by themselves.

    Whatever follows, the race stays: a consistent execution can be gone on with, each next access
    reading what is last, and no later access orders two earlier ones.
    """
    for ends in sorted(product(*(range(len(it.accesses) + 1) for it in test.threads)), key=sum):
        threads = [
            it._replace(accesses=it.accesses[:end])
            for it, end in zip(test.threads, ends, strict=True)
        ]
        if races(test._replace(threads=tuple(threads)), choices.tables):
            return {
                (number, place): ({choices.picked_of(access)}, {condition_of(access)})
                for number, thread in enumerate(threads)
                for place, access in enumerate(thread.accesses)
            }
    raise AssertionError("it races")


def widened(box: Box, choices: Choices) -> Box:
    """More choices for each slot, as long as every program of the box races.

    Where what is weaker than an operation races as well, only the strongest are looked at.
    """
    left = _TRIES
    stronger = _stronger(choices)

    def race(slot: Slot, picks: set[Picked], conditions: set[Condition]) -> bool:
        """Whether all do that have these in a slot, as long as not too many were looked at."""
        nonlocal left
        wider = {
            at: ({it for it in some if stronger[it].isdisjoint(some)}, tests)
            for at, (some, tests) in {**box, slot: (picks, conditions)}.items()
        }
        left -= prod(len(some) for sides in wider.values() for some in sides)
        return left >= 0 and all(races(each, choices.tables) for each in members(wider, choices))

    for slot, (picks, conditions) in box.items():
        for picked in sorted(choices.picked[slot], key=lambda it: len(stronger[it])):
            if picked not in picks and (
                not stronger[picked].isdisjoint(picks) or race(slot, {picked}, conditions)
            ):
                picks.add(picked)
        for condition in choices.conditions[slot]:
            if condition not in conditions and race(slot, picks, {condition}):
                conditions.add(condition)
    return box


def _stronger(choices: Choices) -> dict[Picked, set[Picked]]:
    """What is stronger than each operation at its location, where strength tells."""
    picks = {each for slot in choices.slots for each in choices.picked[slot]}
    if not strength_tells(choices.sketch.atomic):
        return {each: set() for each in picks}
    weaker = choices.tables.weaker
    return {a: {b for b in picks if a[1:] == b[1:] and weaker(a[0], b[0])} for a in picks}


def members(box: Box, choices: Choices) -> Iterator[PackedTest]:
    """The beginnings of programs in a box; those that no program of the sketch has are left out."""
    for chosen in product(*(product(*sides) for sides in box.values())):
        accesses = {
            slot: access_of(picked, condition)
            for slot, (picked, condition) in zip(box, chosen, strict=True)
        }
        if all(_well_formed(slot, accesses, choices) for slot in box):
            threads = tuple(
                PackedThread(*place, tuple(it for at, it in accesses.items() if at[0] == number))
                for number, place in enumerate(choices.sketch.places)
            )
            yield PackedTest(threads, choices.sketch.atomic, choices.sketch.local)


def _well_formed(slot: Slot, accesses: dict[Slot, PackedAccess], choices: Choices) -> bool:
    """Whether its `if` tests a read, for a store to the same location as far as it is there, or a
    compare-exchange for what it expects; and whether it expects what is alike."""
    access, tables = accesses[slot], choices.tables

    def may_be_in(location: int, of: Slot) -> bool:
        store = accesses.get(of)
        return store is None or (tables.brings[store.operation] and store.location == location)

    if not may_be_in(access.location, (access.expects, access.expects_at)):
        return False
    if access.tests < 0:
        return True
    read = accesses[slot[0], access.tests]
    if tables.cas[read.operation] and read[6:] != access[3:6]:
        return False
    return tables.kept[read.operation] and may_be_in(read.location, (access.of, access.at))
