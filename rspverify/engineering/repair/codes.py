"""Codes: sequences of instructions around an access, with matched locks; and which is weaker.

A code is a tuple of numbers of instructions (instructions.py). It has one access (a fence has
none), after which what was written may be stored again, and for each kind of lock one section at
most, which begins with the instruction that takes the lock, ends with the one that frees it, and
has something in it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cache, lru_cache
from typing import NamedTuple

from msgspec import Struct

from rspverify.architecture.architecture import CellKind
from rspverify.engineering.repair.instructions import InstructionPool, Role

Code = tuple[int, ...]


class Section(Struct, frozen=True):
    """The part of a code in which a lock is held: `body[start:end]`."""

    take: int
    start: int
    end: int


class ParsedCode(Struct, frozen=True):
    """A code as a body of accesses and order instructions, and the sections of its locks."""

    body: Code
    sections: dict[CellKind, Section]


@lru_cache(maxsize=1 << 16)
def parsed(code: Code, pool: InstructionPool) -> ParsedCode | None:
    """The parts of a code; None if its locks are not matched as codes must have them."""
    body: list[int] = []
    open_locks: dict[CellKind, tuple[int, int]] = {}
    sections: dict[CellKind, Section] = {}
    for each in code:
        it = pool.instructions[each]
        if it.lock is None:
            body.append(each)
        elif it.role is Role.TAKE:
            if it.lock in open_locks or it.lock in sections:
                return None
            open_locks[it.lock] = each, len(body)
        else:
            take, start = open_locks.pop(it.lock, (-1, 0))
            if take < 0 or pool.frees[take] != each or start == len(body):
                return None
            sections[it.lock] = Section(take, start, len(body))
    return None if open_locks else ParsedCode(tuple(body), sections)


def weaker(code: Code, other: Code, pool: InstructionPool) -> bool:
    """Whether one leaves every execution that the other leaves, by embedding; locks are matched.

    Each instruction of the one has a place in the other where one at least as strong stands, in
    their order; what is in a lock's section has its place in the section of such a lock there. The
    accesses are the same.
    """
    one, there = parsed(code, pool), parsed(other, pool)
    assert one is not None and there is not None
    theirs, body = there.sections, there.body
    for lock, section in one.sections.items():
        if lock not in theirs or theirs[lock].take not in pool.covered_by[section.take]:
            return False
    place = 0
    for at, instruction in enumerate(one.body):
        end = len(body)
        for lock, section in one.sections.items():
            if section.start <= at < section.end:
                place = max(place, theirs[lock].start)
                end = min(end, theirs[lock].end)
        enough = pool.covered_by[instruction]
        while place < end and body[place] not in enough and body[place] not in pool.accesses:
            place += 1
        if place >= end or body[place] not in enough:
            return False
        place += 1
    return pool.accesses.isdisjoint(body[place:])


class Kinds(Struct, frozen=True):
    """What codes of a row may be made of.

    accesses: alternatives, none for a fence; order, takes: instructions; length: the most of them.
    again: what stores again what was written; repeats: how often at the most.
    """

    accesses: Code
    order: Code
    takes: Code
    length: int
    again: Code = ()
    repeats: int = 0


class _State(NamedTuple):
    """All of the beginning of a code that decides how it may go on.

    left: so many instructions more. last: the one before, where that matters. done: whether the
    access was there. held: the locks that are open, and whether anything is in their sections yet.
    used: kinds of lock. repeats: stores that are left.
    """

    left: int
    last: int
    done: bool
    held: tuple[tuple[int, bool], ...]
    used: frozenset[CellKind]
    repeats: int

    @property
    def complete(self) -> bool:
        return self.done and not self.held


class _Grammar:
    """Which instructions may follow in a code of these kinds."""

    def __init__(self, kinds: Kinds, pool: InstructionPool) -> None:
        self._kinds, self._pool = kinds, pool
        self.cheapest = min((pool.cost[each] for each in kinds.accesses), default=0)
        done = not kinds.accesses
        self.start = _State(kinds.length, -1, done, (), frozenset(), kinds.repeats)

    def next(self, state: _State) -> Iterator[tuple[int, int, _State]]:
        """An instruction, what it adds to the cost, and the state after it.

        What the cheapest access costs is spent before the first; what frees a lock, with the take.
        """
        kinds, pool, cost = self._kinds, self._pool, self._pool.cost
        room = state.left - len(state.held) - (not state.done)
        after = state._replace(left=state.left - 1, last=-1)
        filled = after._replace(held=tuple((take, True) for take, _ in state.held))
        if room > 0:
            for each in kinds.order:
                there = state.done or each not in pool.behind
                if there and (state.last, each) not in pool.pointless_beside:
                    yield each, cost[each], filled._replace(last=each)
            if state.done and state.repeats:
                for each in kinds.again:
                    yield each, cost[each], filled._replace(repeats=state.repeats - 1)
        if not state.done:
            for each in kinds.accesses:
                yield each, cost[each] - self.cheapest, filled._replace(done=True)
        if room > 1:
            for take in kinds.takes:
                lock = pool.instructions[take].lock
                if lock is not None and lock not in state.used:
                    held, used = (*state.held, (take, False)), state.used | {lock}
                    price = cost[take] + cost[pool.frees[take]]
                    yield take, price, after._replace(held=held, used=used)
        for take, some in state.held:
            if some:
                rest = tuple(each for each in state.held if each[0] != take)
                yield pool.frees[take], 0, after._replace(held=rest)


def codes(
    kinds: Kinds, pool: InstructionPool, most: int | None = None, over: int = -1
) -> Iterator[Code]:
    """Every code of these kinds that costs at most `most`, and more than `over`."""
    grammar = _Grammar(kinds, pool)

    def longer(code: Code, spent: int, state: _State) -> Iterator[Code]:
        if most is not None and spent > most:
            return
        if state.complete and spent > over:
            yield code
        for each, price, after in grammar.next(state):
            yield from longer((*code, each), spent + price, after)

    yield from longer((), grammar.cheapest, grammar.start)


def count(kinds: Kinds, pool: InstructionPool) -> int:
    """How many codes of these kinds there are."""
    grammar = _Grammar(kinds, pool)

    @cache
    def ways(state: _State) -> int:
        return state.complete + sum(ways(after) for _, _, after in grammar.next(state))

    return ways(grammar.start)


def distance(one: Sequence[int], other: Sequence[int]) -> int:
    """The least number of instructions put in, left out or replaced between the two."""
    row = list(range(len(other) + 1))
    for i, mine in enumerate(one, start=1):
        before, row[0] = row[0], i
        for j, its in enumerate(other, start=1):
            before, row[j] = row[j], min(row[j] + 1, row[j - 1] + 1, before + (mine != its))
    return row[-1]
