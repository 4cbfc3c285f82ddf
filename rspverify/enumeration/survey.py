"""All programs of a space without a race, a phase after the other, by workers, and kept.

A phase has the programs with so many operations in so many threads. What of it must be decided does
not depend on a scheme, so that every hunt in a space shares one survey.
"""

from __future__ import annotations

import base64
import zlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import closing
from functools import cache, cached_property
from itertools import chain, islice
from typing import Any

import msgspec
from msgspec import Struct
from msgspec.structs import astuple

from rspverify.axiomatic.cat import read_model
from rspverify.axiomatic.model import MemoryModel
from rspverify.axiomatic.question import Questions
from rspverify.enumeration.growth import Growth
from rspverify.enumeration.lemmas import PROVED_FOR, Sort, has_idle_if, sort_of
from rspverify.enumeration.naming import named, size_of
from rspverify.enumeration.packed import EMPTY, PackedTest, decoded, encoded
from rspverify.enumeration.space import Space
from rspverify.enumeration.tables import Tables
from rspverify.judge.judge import Judge
from rspverify.judge.question import Question
from rspverify.limits import Limits
from rspverify.programs.meaning import program_of
from rspverify.records import replace
from rspverify.source import Source, digest

BLOCK = 96
"""So many parents are extended at a time, and what comes of it is one entry of the cache."""


class Counts(Struct, frozen=True):
    """How many programs without a race are of each sort, in the order of `Sort`, up to symmetry.

    racy: how many extensions were found to race, a program perhaps several times.
    """

    alone: int = 0
    larger: int = 0
    guarded: int = 0
    core: int = 0
    racy: int = 0

    @property
    def programs(self) -> int:
        """All programs without a race."""
        return self.alone + self.larger + self.guarded + self.core

    def __add__(self, other: Counts) -> Counts:
        return Counts(*map(sum, zip(astuple(self), astuple(other), strict=True)))


class Phase(Struct, frozen=True):
    """The programs with so many operations in so many threads.

    core, larger: those that are of these sorts, always in one order; of `larger` only those
    without an `if` that could be left out.
    """

    events: int
    threads: int
    core: tuple[bytes, ...]
    larger: tuple[bytes, ...]
    counts: Counts

    def to_decide(self, space: Space, *, larger: bool) -> tuple[bytes, ...]:
        """What must be decided, the smallest first. larger: also what smaller programs do not
        stand for.
        """
        return in_order((*self.core, *self.larger) if larger else self.core, space)


class _Block(Struct, frozen=True):
    """What came of some parents, as the cache keeps it. growing: the programs that grow on."""

    counts: Counts
    growing: str
    core: str
    larger: str


@cache
def no_races() -> MemoryModel:
    """A model under which no program races: its survey lists every program."""
    return read_model(Source("any", "empty 0 as Nothing\n"), "any")


Listener = Callable[[int, int, int, int], None]
"""Told of how far a phase is: operations, threads, blocks done, and blocks in all."""


class Survey:
    """The phases of a space, each made when it is first asked for.

    `listener` is told how far it is. An interrupted survey goes on where it was: blocks are kept.
    """

    def __init__(
        self,
        space: Space,
        model: MemoryModel,
        judge: Judge | None = None,
        listener: Listener = lambda *_: None,
    ) -> None:
        self.space = space
        self.model = model
        self.judge = judge or Judge()
        self.tables = Tables(space)
        self.listener = listener
        self._phases: list[Phase] = []
        self._growing: list[dict[int, tuple[bytes, ...]]] = [{0: (encoded(EMPTY),)}]

    @cached_property
    def argued(self) -> bool:
        """Whether the model says what the lemmas are proved for; nothing else is argued about."""
        return self.model.meaning_digest == PROVED_FOR

    def phases(self, upto: int | None = None) -> Iterator[Phase]:
        """All phases, or those up to so many operations: the smaller ones first."""
        for number, (events, threads) in enumerate(self.plan):
            if upto is not None and events > upto:
                return
            if number == len(self._phases):
                self._phases.append(self._phase(events, threads))
            yield self._phases[number]

    @cached_property
    def plan(self) -> tuple[tuple[int, int], ...]:
        """The operations and threads of each phase."""
        return tuple(
            (events, threads)
            for events in range(1, self.space.events + 1)
            for threads in range(1, min(events, self.space.threads) + 1)
        )

    def growing(self, events: int) -> tuple[bytes, ...]:
        """The programs with so many operations that grow, fewer than the most that there may be."""
        return tuple(chain.from_iterable(self._growing[events].values()))

    def is_kept(self) -> bool:
        """Whether the cache knows something of the largest programs already."""
        events, threads = self.plan[-1]
        growing = _Growing(self, frozenset(), events, threads, True)
        return self.judge.known(BlockQuestion(growing, 0, ())) is not None

    def _phase(self, events: int, threads: int) -> Phase:
        before = self._growing[events - 1]
        parents = [each for count in (threads - 1, threads) for each in before.get(count, ())]
        known = frozenset(chain.from_iterable(before.values()))
        last = events == self.space.events
        growing = _Growing(self, known, events, threads, last)
        blocks = [BlockQuestion(growing, *it) for it in enumerate(chunks(parents, BLOCK))]
        found: list[_Block] = []
        self.listener(events, threads, 0, len(blocks))
        with closing(self.judge.run(blocks, here=len(blocks) <= 4)) as coming:
            for block in coming:
                found.append(block)
                self.listener(events, threads, len(found), len(blocks))
        if not last:
            grown = tuple(sorted(each for block in found for each in unpacked(block.growing)))
            if len(self._growing) == events:
                self._growing.append({})
            self._growing[events][threads] = grown
        core, larger = (
            tuple(chain.from_iterable(map(unpacked, texts)))
            for texts in ([it.core for it in found], [it.larger for it in found])
        )
        return Phase(events, threads, core, larger, sum((it.counts for it in found), Counts()))

    def __reduce__(self) -> tuple[type[Survey], tuple[Space, MemoryModel, Judge]]:
        """What a worker needs of it; neither what was found nor who listens."""
        return Survey, (self.space, self.model, self.judge)

    def races(self, packed: PackedTest) -> bool:
        """Whether a program races under the model, be it any."""
        if not self.model.conditions:
            return False
        program = program_of(named(packed, self.space), "enumerated")
        return Questions(program, self.model, Limits()).race() is not None


class _Growing(Struct, frozen=True, dict=True):
    """What the blocks of a phase share. known: the programs that grow."""

    survey: Survey
    known: frozenset[bytes]
    events: int
    threads: int
    last: bool

    @cached_property
    def growth(self) -> Growth:
        """How programs grow."""
        survey = self.survey
        return Growth(survey.tables, None if survey.argued else survey.races)


class BlockQuestion(Question[_Block], frozen=True):
    """What comes of a block of parents?"""

    kind = "survey"
    answer = _Block

    growing: _Growing
    number: int
    parents: Sequence[bytes]

    @property
    def name(self) -> str:
        it = self.growing
        return f"{it.events} operations, {it.threads} threads, block {self.number}"

    @property
    def content(self) -> tuple[Any, ...]:
        """Programs of fewer operations do not depend on how many there may be."""
        it = self.growing
        space, model = replace(it.survey.space, events=0), it.survey.model.text_digest
        return model, space, it.events, it.threads, self.number, BLOCK, it.last

    def decide(self) -> _Block:
        it, survey = self.growing, self.growing.survey
        sorts: dict[Sort, list[bytes]] = {sort: [] for sort in Sort}
        growing: list[bytes] = []
        racy = 0
        for parent in map(decoded, self.parents):
            grown = it.growth.children(parent, it.known.__contains__, it.threads)
            racy += grown.racy
            growing += [] if it.last else grown.children + grown.barren
            for child in grown.children:
                sort = sort_of(decoded(child), survey.tables) if survey.argued else Sort.CORE
                sorts[sort].append(child)
        counts = replace(Counts(*map(len, sorts.values())), racy=racy)
        larger = [it for it in sorts[Sort.LARGER] if not has_idle_if(decoded(it), survey.tables)]
        return _Block(counts, *map(packed, (growing, sorts[Sort.CORE], larger)))


def in_order(encodings: Iterable[bytes], space: Space) -> tuple[bytes, ...]:
    """Programs, the smallest first."""
    return tuple(sorted(encodings, key=lambda each: size_of(decoded(each), space)))


def packed(encodings: Iterable[bytes]) -> str:
    """Encodings as a short text."""
    whole = msgspec.msgpack.encode(sorted(encodings))
    return base64.b85encode(zlib.compress(whole, 6)).decode()


def unpacked(text: str) -> list[bytes]:
    """The encodings of a text of `packed`."""
    return msgspec.msgpack.decode(zlib.decompress(base64.b85decode(text)), type=list[bytes])


def digest_of(encodings: Sequence[bytes]) -> str:
    """What stands for some programs in the key of an answer."""
    return digest(packed(encodings))


def chunks(encodings: Sequence[bytes], size: int) -> list[tuple[bytes, ...]]:
    """Programs by so many, in their order."""
    rest = iter(encodings)
    return list(iter(lambda: tuple(islice(rest, size)), ()))
