"""Codes: sequences of instructions around an access, with matched locks; and which is weaker.

A code is a tuple of letters (alphabet.py). It has one access (a fence has none), after which what
was written may be stored again, and for
each kind of lock one section at most, which begins with the instruction that takes the lock, ends
with the one that frees it, and has something in it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache, cached_property

from rspverify.assembly import Lock
from rspverify.engineering.repair.alphabet import Alphabet, Role

Code = tuple[int, ...]


@dataclass(frozen=True)
class Section:
    """The part of a code in which a lock is held: `body[start:end]`."""

    take: int
    start: int
    end: int


@dataclass(frozen=True)
class Form:
    """A code as a body of accesses and order instructions, and the sections of its locks."""

    body: tuple[int, ...]
    sections: tuple[tuple[Lock, Section], ...]

    @cached_property
    def by_lock(self) -> dict[Lock, Section]:
        """The sections by their kind of lock."""
        return dict(self.sections)


def form_of(code: Code, alphabet: Alphabet) -> Form | None:
    """The form of a code; None if its locks are not matched as codes must have them."""
    body: list[int] = []
    open_locks: dict[Lock, tuple[int, int]] = {}
    sections: dict[Lock, Section] = {}
    for each in code:
        letter = alphabet.letters[each]
        if letter.lock is None:
            body.append(each)
        elif letter.role is Role.TAKE:
            if letter.lock in open_locks or letter.lock in sections:
                return None
            open_locks[letter.lock] = each, len(body)
        else:
            take, start = open_locks.pop(letter.lock, (-1, 0))
            if take < 0 or alphabet.frees[take] != each or start == len(body):
                return None
            sections[letter.lock] = Section(take, start, len(body))
    return None if open_locks else Form(tuple(body), tuple(sections.items()))


def weaker(one: Form, other: Form, alphabet: Alphabet) -> bool:
    """Whether one leaves every execution that the other leaves, by embedding.

    Each instruction of the one has a place in the other where one at least as strong stands, in
    their order; what is in a lock's section has its place in the section of such a lock there. The
    accesses are the same.
    """
    theirs = other.by_lock
    for lock, section in one.sections:
        there = theirs.get(lock)
        if there is None or there.take not in alphabet.covered_by[section.take]:
            return False
    place = 0
    body = other.body
    for at, letter in enumerate(one.body):
        end = len(body)
        for lock, section in one.sections:
            if section.start <= at < section.end:
                place = max(place, theirs[lock].start)
                end = min(end, theirs[lock].end)
        enough = alphabet.covered_by[letter]
        while place < end and body[place] not in enough and body[place] not in alphabet.accesses:
            place += 1
        if place >= end or body[place] not in enough:
            return False
        place += 1
    return not any(letter in alphabet.accesses for letter in body[place:])


@dataclass(frozen=True)
class Kinds:
    """What codes of a row may be made of.

    accesses: alternatives, none for a fence; order, takes: letters; length: the most instructions.
    again: what stores again what was written; repeats: how often at the most.
    """

    accesses: tuple[int, ...]
    order: tuple[int, ...]
    takes: tuple[int, ...]
    length: int
    again: tuple[int, ...] = ()
    repeats: int = 0


def codes(
    kinds: Kinds, alphabet: Alphabet, most: int | None = None, over: int = -1
) -> Iterator[Code]:
    """Every code of these kinds that costs at most `most`, and more than `over`."""
    return _Maker(kinds, alphabet, most, over).codes()


@dataclass(frozen=True)
class _Part:
    """The beginning of a code.

    spent: with what the access costs, and what frees the locks. held: the locks that are open, and
    whether anything is in their sections yet. used: kinds of lock. repeats: stores that are left.
    """

    code: Code
    spent: int
    done: bool
    held: tuple[tuple[int, bool], ...]
    used: frozenset[Lock]
    repeats: int

    def and_then(self, letter: int, cost: int = 0) -> _Part:
        """The part with an instruction more in its body."""
        held = tuple((take, True) for take, _ in self.held)
        return replace(self, code=(*self.code, letter), spent=self.spent + cost, held=held)


class _Maker:
    """Makes codes, an instruction after the other, by their cost."""

    def __init__(self, kinds: Kinds, alphabet: Alphabet, most: int | None, over: int) -> None:
        self._kinds, self._alphabet = kinds, alphabet
        self._most, self._over = most, over
        self._cheapest = min((alphabet.cost[each] for each in kinds.accesses), default=0)

    def codes(self) -> Iterator[Code]:
        """All of them."""
        done = not self._kinds.accesses
        start = _Part((), self._cheapest, done, (), frozenset(), self._kinds.repeats)
        if self._most is None or self._cheapest <= self._most:
            yield from self._from(start)

    def _from(self, part: _Part) -> Iterator[Code]:
        if part.done and not part.held and part.spent > self._over:
            yield part.code
        for more in self._longer(part):
            if self._most is None or more.spent <= self._most:
                yield from self._from(more)

    def _longer(self, part: _Part) -> Iterator[_Part]:
        """The part with one instruction more."""
        kinds, alphabet = self._kinds, self._alphabet
        cost = alphabet.cost
        room = kinds.length - len(part.code) - len(part.held) - (not part.done)
        if room > 0:
            last = part.code[-1] if part.code else -1
            for each in kinds.order:
                if (last, each) not in alphabet.pointless_beside:
                    yield part.and_then(each, cost[each])
            if part.done and part.repeats:
                for each in kinds.again:
                    yield replace(part.and_then(each, cost[each]), repeats=part.repeats - 1)
        if not part.done:
            for each in kinds.accesses:
                yield replace(part.and_then(each, cost[each] - self._cheapest), done=True)
        if room > 1:
            for take in kinds.takes:
                lock = alphabet.letters[take].lock
                if lock is not None and lock not in part.used:
                    price = cost[take] + cost[alphabet.frees[take]]
                    yield replace(
                        part,
                        code=(*part.code, take),
                        spent=part.spent + price,
                        held=(*part.held, (take, False)),
                        used=part.used | {lock},
                    )
        for take, some in part.held:
            if some:
                rest = tuple(each for each in part.held if each[0] != take)
                yield replace(part, code=(*part.code, alphabet.frees[take]), held=rest)


def count(kinds: Kinds, alphabet: Alphabet) -> int:
    """How many codes of these kinds there are."""
    locks = sorted({alphabet.letters[take].lock for take in kinds.takes}, key=str)
    takes = [sum(alphabet.letters[take].lock is lock for take in kinds.takes) for lock in locks]

    @cache
    def ways(left: int, last: int, done: bool, repeats: int, state: tuple[int, ...]) -> int:
        """state: per kind of lock 0 unused, 1 open and empty, 2 open, 3 used."""
        held = sum(each in (1, 2) for each in state)
        found = int(done and not held)
        room = left - held - (not done)
        filled = tuple(2 if each == 1 else each for each in state)
        if room > 0:
            found += sum(
                ways(left - 1, each, done, repeats, filled)
                for each in kinds.order
                if (last, each) not in alphabet.pointless_beside
            )
            if done and repeats:
                found += len(kinds.again) * ways(left - 1, -1, done, repeats - 1, filled)
        if not done:
            found += len(kinds.accesses) * ways(left - 1, -1, True, repeats, filled)
        for place, each in enumerate(state):
            changed = {0: 1, 2: 3}.get(each)
            if changed is None or (each == 0 and room <= 1):
                continue
            after = (*state[:place], changed, *state[place + 1 :])
            ways_in = takes[place] if each == 0 else 1
            found += ways_in * ways(left - 1, -1, done, repeats, after)
        return found

    return ways(kinds.length, -1, not kinds.accesses, kinds.repeats, (0,) * len(locks))


def cost_of(code: Sequence[int], alphabet: Alphabet) -> int:
    """What a code costs."""
    return sum(alphabet.cost[each] for each in code)


def distance(one: Sequence[int], other: Sequence[int]) -> int:
    """The least number of instructions put in, left out or replaced between the two."""
    row = list(range(len(other) + 1))
    for i, mine in enumerate(one, start=1):
        before, row[0] = row[0], i
        for j, its in enumerate(other, start=1):
            before, row[j] = row[j], min(row[j] + 1, row[j - 1] + 1, before + (mine != its))
    return row[-1]
