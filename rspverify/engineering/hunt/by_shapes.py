"""By shapes: all programs at once that differ only in the orders and scopes of their operations.

For tables and compilers whose target is judged by a model (axiomatic/together.py). What the source
allows and what the target does is calculated for all of them, a bit for each. A compiler is given
each thread by itself.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Generator, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from functools import cached_property
from itertools import product
from math import prod
from typing import Any

from msgspec import Struct

from rspverify.axiomatic.model import MemoryModel
from rspverify.axiomatic.together import (
    Body,
    Together,
    Unfit,
    body_of,
    keeps_locations,
    keeps_pairs,
    require_fit,
)
from rspverify.axiomatic.vocabulary import OF_PLACES
from rspverify.compilers.cpus import ForCpu
from rspverify.compilers.programs import unwatched
from rspverify.engineering.hunt.by_programs import CHUNK
from rspverify.engineering.hunt.finding import By, UsedRow
from rspverify.engineering.hunt.strategy import Hunted, Strategy, programs_of
from rspverify.enumeration.lemmas import in_turn
from rspverify.enumeration.naming import named, size_of
from rspverify.enumeration.packed import PackedTest, canonical, decoded, encoded, symmetric
from rspverify.enumeration.space import Space
from rspverify.enumeration.survey import Counts, Survey, chunks, digest_of, no_races
from rspverify.judge.question import Question
from rspverify.litmus.program import GLOBAL, Kind, Location, Program, Scope
from rspverify.litmus.program import Thread as Place
from rspverify.mapping.mapped import seen_but
from rspverify.mapping.table import Table
from rspverify.programs.litmus_test import Access, Thread, litmus_test
from rspverify.programs.meaning import program_of
from rspverify.records import replace
from rspverify.source import InputError, in_one_line
from rspverify.translators import Translator
from rspverify.value import Constant, Read, constants, reads
from rspverify.verdict import Word

_ALONE = 2
"""Programs of one thread with more operations are sound if those with as many are."""


_WRITTEN, _EXPECTED = Constant(77), Constant(7_777)
"""What an operation writes, and expects, where any value does."""


def why_not(survey: Survey, scheme: Translator) -> str | None:
    """Why the programs of a space cannot be decided by shapes under a scheme; None if they can."""
    if not isinstance(scheme, Table | ForCpu):
        return "shapes are for targets that are judged by a model"
    try:
        require_fit(survey.model)
        require_fit(scheme.model)
    except Unfit as why:
        return f"its programs {why}"
    if scheme.target.dialect.partial:
        return f"{scheme.runs_on} has no total order of the writes of a location"
    if scheme.model.conditions:
        return f"{scheme.model.name} may call the code undefined"
    return None


def are_alike(scheme: Translator, model: MemoryModel) -> bool:
    """Whether it is the same wherever threads run: to the model of the source, to the rows of a
    table, and to the model of its target."""
    if not isinstance(scheme, Table | ForCpu) or scheme.has_scopes:
        return False
    return not scheme.target.dialect.place and model.names.isdisjoint(OF_PLACES)


class Found(Struct, frozen=True):
    """What came of some shapes.

    programs: those without a race, up to symmetry; racy: the others. words: how many have each
    verdict. broken: of each smallest set of rows that programs break together, the smallest of
    these, packed. unknown: why some have no verdict.
    """

    programs: int
    racy: int
    words: dict[str, int]
    broken: dict[str, tuple[int, ...]]
    unknown: tuple[str, ...] = ()


@dataclass(eq=False)
class ByShapes(Strategy):
    """Decides shape by shape, and finds of all rows that break a program together the smallest."""

    by = By.SHAPES
    goes_on = True

    _words: Counter[str] = field(init=False, default_factory=Counter)
    _unknown: list[str] = field(init=False, default_factory=list)
    _rows: list[frozenset[int]] = field(init=False, default_factory=list)

    @property
    def words(self) -> Counter[Word]:
        """How many programs have each verdict."""
        return Counter({Word(word): count for word, count in self._words.items()})

    @property
    def unknown(self) -> tuple[str, ...]:
        """Why some programs have no verdict."""
        return tuple(self._unknown)

    @property
    def done(self) -> int:
        """How many programs were decided."""
        return sum(self._words.values())

    def broken(self) -> Generator[bytes, None, None]:
        """The smallest program that breaks each set of rows of which no part is broken, packed."""
        hunted = HuntedShapes(self.survey, self.scheme, self.settings, self.file)
        shapes = hunted.shapes
        for phase in shapes.survey.phases():
            if phase.threads == 1 and phase.events > _ALONE and shapes.one_suffices:
                alone = sum(map(shapes.number, phase.core))
                self.add(phase, 0, Counts(larger=alone))
                continue
            asked = [it for it in phase.core if not shapes.in_turn(it)]
            in_turn = len(phase.core) - len(asked)
            self.shown.count(f"deciding {programs_of(phase.events, phase.threads)}", len(asked))
            questions = [ShapeQuestion(hunted, each) for each in chunks(asked, CHUNK)]
            found: dict[frozenset[int], bytes] = {}
            counts = Counts(alone=in_turn)
            with closing(self.survey.judge.run(questions, here=len(questions) <= 1)) as coming:
                for question, answer in zip(questions, coming, strict=True):
                    counts += Counts(core=answer.programs, racy=answer.racy)
                    self._words.update(answer.words)
                    self._unknown += answer.unknown
                    for program, rows in answer.broken.items():
                        _keep(found, frozenset(rows), bytes.fromhex(program), self.survey.space)
                    self.shown.advance(len(question.shapes))
            self.add(phase, counts.core, counts)
            for those, smallest in sorted(found.items(), key=lambda it: self._size(it[1])):
                if not any(each <= those for each in self._rows):
                    self._rows.append(those)
                    yield smallest
        self.complete = True

    @property
    def uses(self) -> tuple[UsedRow, ...]:
        """The rows that break a table together in the last program that was found."""
        if not isinstance(self.scheme, Table):
            return ()
        rows = (it for it in self.scheme.rows if it.number in self._rows[-1])
        return tuple(UsedRow(it.number, str(it), it.text) for it in rows)

    def _size(self, program: bytes) -> tuple[Any, ...]:
        return size_of(decoded(program), self.survey.space)


def _keep(
    found: dict[frozenset[int], bytes], rows: frozenset[int], program: bytes, space: Space
) -> None:
    """Keep a program that some rows break, if none is smaller that a part of them breaks."""
    known = found.get(rows)
    if known is not None:
        least = min(known, program, key=lambda it: size_of(decoded(it), space))
        found[rows] = least
    elif not any(each <= rows for each in found):
        for each in [it for it in found if rows < it]:
            del found[each]
        found[rows] = program


class HuntedShapes(Hunted, frozen=True, dict=True):
    """What all questions of a hunt by shapes share."""

    @cached_property
    def shapes(self) -> Shapes:
        """What is made once for all of them."""
        return Shapes(self)


class _Way(Struct, frozen=True):
    """What a thread may be: its operations by their numbers in the space, and its two bodies; why:
    there is no code for it."""

    operations: tuple[int, ...]
    source: Body
    target: Body | None = None
    why: str = ""


class Shapes:
    """What all shapes of a hunt share.

    survey: of programs in which all that is left open has one order and scope.
    """

    def __init__(self, hunted: Hunted) -> None:
        self._of = hunted
        space = hunted.survey.space
        assert isinstance(hunted.scheme, Table | ForCpu)
        self.table = hunted.scheme
        alike: dict[Access, list[int]] = {}
        for number, access in enumerate(space.accesses):
            usual = replace(access, order=None, scope=access.scope and Scope.DV, remote=False)
            alike.setdefault(replace(usual, instruction=""), []).append(number)
        self.groups = tuple(map(tuple, alike.values()))
        names = tuple(space.operations[its[0]] for its in self.groups)
        one = replace(space, operations=names)
        self.survey = Survey(one, no_races(), hunted.survey.judge, hunted.survey.listener)
        self._known: dict[object, list[_Way]] = {}
        self._locations: dict[tuple[str, bool], Location] = {}
        self._threads: dict[tuple[int, int, int], Place] = {}

    def decided(self, shapes: Sequence[bytes]) -> Found:
        """What comes of some shapes."""
        space = self._of.survey.space
        programs = racy = 0
        words: Counter[str] = Counter()
        found: dict[frozenset[int], bytes] = {}
        unknown: dict[str, None] = {}
        for shape in map(decoded, shapes):
            it = _Shape(self, shape)
            racing, verdicts = it.verdicts()
            racy += it.count(racing)
            worse = 0
            for word in (Word.UNSOUND, Word.VACUOUS, Word.UNSUPPORTED, Word.SOUND):
                if bits := verdicts[word]:
                    words[word.value] += (count := it.count(bits, worse))
                    programs, worse = programs + count, worse | bits
            for rows, program in it.broken(verdicts[Word.UNSOUND]):
                _keep(found, rows, program, space)
            if verdicts[Word.UNSUPPORTED]:
                unknown |= dict.fromkeys(each.why for ways in it.ways for each in ways if each.why)
        broken = {it.hex(): tuple(sorted(rows)) for rows, it in found.items()}
        return Found(programs, racy, dict(words), broken, tuple(unknown))

    def number(self, shape: bytes) -> int:
        """How many programs of one thread have a shape."""
        (thread,) = decoded(shape).threads
        return prod(len(self.groups[it.operation]) for it in thread.accesses)

    def in_turn(self, shape: bytes) -> bool:
        """Whether the one program of a shape surely does only what happens in turn, which the
        source allows."""
        packed = decoded(shape)
        one_each = all(len(self.groups[it]) == 1 for it in packed.operations)
        alone = len(packed.threads) < 2
        return not alone and self._pairs and one_each and in_turn(packed, self.survey.tables)

    @cached_property
    def _pairs(self) -> bool:
        """Whether all that the target does is one access for each of the source, or a pair that
        nothing comes between, each location is in one order, and no program of the source races."""
        its, model = self._each, self.table.model
        if self._of.survey.model.conditions or not (self.one_suffices and keeps_pairs(model)):
            return False
        for program in its:
            source = program.operations[0]
            try:
                made = self.table.compiled(program).all
            except InputError:
                return False
            for one in made:
                writes = [it for it in one.program.operations if it.writes]
                if len(writes) != source.writes:
                    return False
                if source.reads and any(it.kind is Kind.STORE and it.pair is None for it in writes):
                    return False
        return True

    def ways(
        self, at: int, thread: Thread, group: Sequence[Sequence[int]], atomic: Mapping[str, bool]
    ) -> list[_Way]:
        """All that a thread of a shape may be. atomic: whether each location is declared so."""
        key = at, thread, tuple(atomic.items())
        if key not in self._known:
            its = self._of.survey.space.accesses
            kinds = [
                [
                    replace(it, order=its[n].order, scope=its[n].scope, remote=its[n].remote)
                    for n in numbers
                ]
                for it, numbers in zip(thread.accesses, group, strict=True)
            ]
            declared = [it for it, own in atomic.items() if own]
            programs = [
                program_of(litmus_test([replace(thread, accesses=accesses)], declared), "")
                for accesses in product(*kinds)
            ]
            self.table.prepare(programs)
            place = self._threads.setdefault(
                (at, *thread.place), Place(f"P{at}", at, *thread.place, (), {})
            )
            self._known[key] = [
                way
                for numbers, program in zip(product(*group), programs, strict=True)
                for way in self._made(place, program, numbers, atomic)
            ]
        return self._known[key]

    def _made(
        self, place: Place, program: Program, numbers: tuple[int, ...], atomic: Mapping[str, bool]
    ) -> Iterator[_Way]:
        here = {it: self.location(it, own) for it, own in atomic.items()}
        there = {it: self.location(it, False) for it in atomic}
        untold = unwatched(program) if isinstance(self.table, ForCpu) else ()
        seen = seen_but(program, untold)
        source = body_of(program, self._of.survey.model, place, here, seen)
        try:
            made = self.table.compiled(program)
        except InputError as error:
            yield _Way(numbers, source, None, in_one_line(error.problems))
            return
        for it in made.all:
            if not all(isinstance(each.value, Read) for each in it.seen):
                why = "a read is none of the code, so that it must be decided --by programs"
                yield _Way(numbers, source, None, why)
                continue
            yield _Way(numbers, source, body_of(it.program, it.model, place, there, it.seen))

    def location(self, name: str, atomic: bool) -> Location:
        """A location, the same each time."""
        return self._locations.setdefault((name, atomic), Location(name, atomic, GLOBAL, 0))

    @cached_property
    def rows(self) -> tuple[int, ...]:
        """The number of the row of each operation of the space; its own, below 0, where any of
        several tables has its row, and of a compiler."""
        found = (self.table.row_for(it.operations[0]) for it in self._each)
        return tuple(~at if row is None else row.number for at, row in enumerate(found))

    @cached_property
    def _each(self) -> Sequence[Program]:
        """Each operation of the space as a program."""
        its = [
            replace(
                it,
                location=None if it.kind is Kind.FENCE else "x",
                value=_WRITTEN if it.brings else it.value,
                expected=it.expected and _EXPECTED,
            )
            for it in self._of.survey.space.accesses
        ]
        return [program_of(litmus_test([Thread((0, 0), (it,))]), "") for it in its]

    @cached_property
    def one_suffices(self) -> bool:
        """Whether programs of one thread are sound if those of two operations are.

        So it is where the target's model has the accesses of a location in one order, and no code
        does something else by what it has read, but for a compare-exchange by what it expects.
        """
        if self.table.whole or not keeps_locations(self.table.model):
            return False
        for program in self._each:
            try:
                made = self.table.compiled(program).all
            except InputError:
                continue  # Programs with it are UNSUPPORTED.
            compares = {*({_EXPECTED.value} if program.operations[0].success else ()), 0, 1}
            for it in (each for one in made for each in one.program.operations):
                read = {each.index for one in made for each in one.program.operations if each.reads}
                conditions = [it.guard, *([it.success] if it.success else [])]
                on = frozenset[int]().union(*map(reads, conditions)) & read
                known = frozenset[int]().union(*map(constants, conditions))
                if on and not (program.operations[0].success and known <= compares):
                    return False
        return True


class _Shape:
    """A shape, with all that its threads may be, and the programs by bits."""

    def __init__(self, shapes: Shapes, shape: PackedTest) -> None:
        self._shapes, self._of = shapes, shapes._of
        space = self._of.survey.space
        groups = [[shapes.groups[it.operation] for it in each.accesses] for each in shape.threads]
        first = [tuple(it[0] for it in each) for each in groups]
        self._shape = shape.with_operations(first)
        test = named(self._shape, space)
        atomic = {it.name: it.atomic for it in test.locations}
        self._source = [shapes.location(it, own) for it, own in atomic.items()]
        self._target = [shapes.location(it, False) for it in atomic]
        self.ways = [
            shapes.ways(
                at,
                thread,
                group,
                {
                    it: own
                    for it, own in atomic.items()
                    if any(it in each.locations for each in thread.accesses)
                },
            )
            for at, (thread, group) in enumerate(zip(test.threads, groups, strict=True))
        ]
        self.size = prod(map(len, self.ways))
        self._every = (1 << self.size) - 1
        self._masks, step = list[list[int]](), 1
        for ways in self.ways:
            period = step * len(ways)
            one = ((1 << step) - 1) * (self._every // ((1 << period) - 1))
            self._masks.append([one << step * at for at in range(len(ways))])
            step = period

    def verdicts(self) -> tuple[int, dict[Word, int]]:
        """The programs that race, and those of the others that have each verdict."""
        model = self._of.survey.model
        threads = [
            [(way.source, mask) for way, mask in zip(ways, masks, strict=True)]
            for ways, masks in zip(self.ways, self._masks, strict=True)
        ]
        allowed, racing = Together(model, self._source, threads, self._every).endings()
        left = self._every & ~racing
        found = dict.fromkeys((Word.SOUND, Word.UNSOUND, Word.VACUOUS, Word.UNSUPPORTED), 0)
        for chosen in product(*map(self._alike, range(len(self.ways)))):
            programs = left
            for masks in chosen:
                programs &= sum(mask for _, mask in masks)
            if not programs:
                continue
            target = Together(self._shapes.table.model, self._target, chosen, programs)
            wrong = done = 0
            for ending, bits in target.endings()[0].items():
                done |= bits
                wrong |= bits & ~allowed.get(ending, 0)
            found[Word.UNSOUND] |= wrong
            found[Word.VACUOUS] |= programs & ~done
            found[Word.SOUND] |= done & ~wrong
        bad = found[Word.SOUND] | found[Word.UNSOUND] | found[Word.VACUOUS]
        found[Word.UNSUPPORTED] = left & ~bad
        return racing, found

    def _alike(self, at: int) -> list[list[tuple[Body, int]]]:
        """What a thread may be, by the shape of its code."""
        found: dict[object, list[tuple[Body, int]]] = {}
        for way, mask in zip(self.ways[at], self._masks[at], strict=True):
            if way.target is not None:
                found.setdefault(way.target.shape, []).append((way.target, mask))
        return [*found.values()]

    def count(self, bits: int, others: int = 0) -> int:
        """How many programs these are, up to symmetry, that no code makes one of the others."""
        if self._plain:
            return bits.bit_count()
        these, those = (
            {encoded(canonical(self._program(at))) for at in _places(each)}
            for each in (bits, others)
        )
        return len(these - those)

    @cached_property
    def _plain(self) -> bool:
        """Whether each bit is another program."""
        mixed = any(len({it.operations for it in ways}) < len(ways) for ways in self.ways)
        return not mixed and not symmetric(self._shape)

    def _chosen(self, place: int) -> list[_Way]:
        found = []
        for ways in self.ways:
            place, at = divmod(place, len(ways))
            found.append(ways[at])
        return found

    def _program(self, place: int) -> PackedTest:
        return self._shape.with_operations(it.operations for it in self._chosen(place))

    def broken(self, bits: int) -> Iterator[tuple[frozenset[int], bytes]]:
        """Of the rows that some programs use, the smallest program."""
        found: dict[frozenset[int], int] = {}
        for place in _places(bits):
            used = {it for way in self._chosen(place) for it in way.operations}
            found.setdefault(frozenset(self._shapes.rows[it] for it in used), place)
        for rows, place in found.items():
            yield rows, encoded(canonical(self._program(place)))


def _places(bits: int) -> Iterator[int]:
    while bits:
        lowest = bits & -bits
        yield lowest.bit_length() - 1
        bits ^= lowest


class ShapeQuestion(Question[Found], frozen=True):
    """What comes of the programs of some shapes?"""

    kind = "shapes"
    answer = Found

    of: HuntedShapes
    shapes: Sequence[bytes]

    @property
    def name(self) -> str:
        """By its first shape."""
        return self.shapes[0].hex()

    @property
    def content(self) -> tuple[Any, ...] | None:
        """Of a compiler which version it is, and for what; None if that does not tell."""
        it, table = self.of, self.of.scheme
        if isinstance(table, ForCpu) and not table.version_tells:
            return None
        space = it.survey.space
        step = space.widest_value_step
        return (
            digest_of(self.shapes),
            space.operations,
            step,
            table.source.digest,
            table.identity,
            table.origin if isinstance(table, ForCpu) else "",
            *it.content,
        )

    def decide(self) -> Found:
        return self.of.shapes.decided(self.shapes)
