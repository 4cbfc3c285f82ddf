"""All programs of a sketch as one program, and its compiled form.

The instructions of all choices of a slot are merged into one sequence, each under a guard that is a
term over the choices; so are the events of the model, one for each way of accessing a location.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import reduce

from rspverify.assembly.program import AssemblyProgram, Instruction, ThreadId
from rspverify.engineering.hunt.formula.choices import Choices, Picked, Slot
from rspverify.engineering.hunt.formula.sketch import Sketch
from rspverify.engineering.hunt.operations import Token, row_in, token
from rspverify.enumeration.packed import NONE
from rspverify.enumeration.space import Space
from rspverify.litmus.operations import Operations
from rspverify.litmus.problems import Problems
from rspverify.litmus.program import GLOBAL, LOCAL, Kind, Location, Operation, Program
from rspverify.litmus.program import Thread as SourceThread
from rspverify.programs.meaning import call_of
from rspverify.records import replace
from rspverify.scheme.compile import spaces_of, written_by
from rspverify.scheme.memory import IN_BOTH, IN_GLOBAL
from rspverify.scheme.row import Row
from rspverify.scheme.row import Template as RowTemplate
from rspverify.scheme.scheme import Scheme
from rspverify.smt.choice import Choice
from rspverify.smt.term import FALSE, TRUE, Term, all_of, any_of
from rspverify.source import Source, Span
from rspverify.value import Constant, Read
from rspverify.value.domain import Domains

_SOURCE = Source("unknown", "")
_SPAN = Span(_SOURCE, 1, 1, 1, 1)
_TRUE = Constant(1)
_User = tuple[int, bool]
"""An operation of the space by its number, and whether it accesses local memory: what has a row."""


def parted(row: Row) -> tuple[tuple[RowTemplate, ...], list[list[RowTemplate]]]:
    """The accesses of a row's code, and what comes before the first, between them, and after the
    last."""
    beside: list[list[RowTemplate]] = [[]]
    for each in row.code:
        if each.accesses:
            beside.append([])
        else:
            beside[-1].append(each)
    return tuple(each for each in row.code if each.accesses), beside


def merged(codes: Sequence[Sequence[Token]]) -> list[Token]:
    """A short sequence that has each of these as a subsequence."""
    return reduce(_pair, sorted(map(list, codes), key=len, reverse=True), [])


def embedded(code: Sequence[Token], whole: Sequence[Token]) -> list[int]:
    """The places of a code in the sequence that it is merged into, the first that fit."""
    places, at = [], 0
    for each in code:
        at = whole.index(each, at)
        places.append(at)
        at += 1
    return places


def _pair(one: list[Token], other: list[Token]) -> list[Token]:
    """A shortest common supersequence of two."""
    best: dict[tuple[int, int], list[Token]] = {}
    for i in range(len(one), -1, -1):
        for j in range(len(other), -1, -1):
            if i == len(one) or j == len(other):
                best[i, j] = [*one[i:], *other[j:]]
            elif one[i] == other[j]:
                best[i, j] = [one[i], *best[i + 1, j + 1]]
            else:
                choices = [one[i], *best[i + 1, j]], [other[j], *best[i, j + 1]]
                best[i, j] = min(choices, key=len)
    return best[0, 0]


def has_programs(sketch: Sketch, space: Space, scheme: Scheme) -> bool:
    """Whether each thread of a sketch has something to do but fences: an operation that is compiled
    where the thread may access a location."""
    local = sketch.local
    return all(
        any(
            access.plain != atomic
            and sketch.reaches(thread, x)
            and row_in(scheme, access, among_local=bool(local), local=x in local)
            for access in space.accesses
            if access.kind is not Kind.FENCE
            for x, atomic in enumerate(sketch.atomic)
        )
        for thread in range(len(sketch.places))
    )


@dataclass
class _Way:
    """One way of accessing a location in a slot, or of being a fence. accesses: the instructions
    that do, the first one and those that store again. location: NONE of a fence. picks: the
    operations that are compiled to it."""

    slot: Slot
    accesses: tuple[RowTemplate, ...]
    location: int
    picks: list[Picked] = field(default_factory=list)


class Template(Choices):
    """The one program of a sketch under a scheme.

    program, assembly: it, with guards that are all true. executed: operation → that it is executed,
    after `bind`, which has the guards of instructions. domains: the values of locations, those of
    all programs: a store writes a value of its own slot, so far from all others that increments do
    not make two of them meet.
    """

    def __init__(self, sketch: Sketch, space: Space, scheme: Scheme) -> None:
        self._scheme = scheme
        super().__init__(sketch, space)
        self._ways = [way for slot in self.slots for way in self._ways_of(slot)]
        self._machine = scheme.machine
        self._guards: list[tuple[Slot, Term]] = []
        self.program = self._program()
        self.assembly = self._assembly()
        self.executed: dict[int, Term] = {}

    @property
    def domains(self) -> Domains:
        """Every value that a location may have when it is read."""
        bases = [0, *map(self._stored, self.slots)]
        values = [base + plus for base in bases for plus in range(self.most_increments + 1)]
        return Domains(dict.fromkeys(self.assembly.initial, frozenset(values)), {})

    def _stored(self, slot: Slot) -> int:
        """The value of a store in a slot."""
        return 100 * (1 + self.slots.index(slot))

    def _ways_of(self, slot: Slot) -> list[_Way]:
        found: dict[tuple[str, tuple[Token, ...], int], _Way] = {}
        for picked in self.picked[slot]:
            number, x, *_ = picked
            accesses, _ = parted(self._row(number, x))
            alike = (self.space.accesses[number].operation, tuple(map(token, accesses)), x)
            way = found.setdefault(alike, _Way(slot, accesses, x))
            way.picks.append(picked)
        return list(found.values())

    def can_be(self, operation: int, location: int) -> bool:
        return super().can_be(operation, location) and self._row_in(operation, location) is not None

    def _row_in(self, number: int, location: int) -> Row | None:
        access, local = self.space.accesses[number], self.sketch.local
        return row_in(self._scheme, access, among_local=bool(local), local=location in local)

    def _row(self, number: int, location: int) -> Row:
        """The row of an operation of the space that accesses a location; NONE of a fence."""
        row = self._row_in(number, location)
        assert row is not None
        return row

    def _region(self, location: int) -> str:
        return LOCAL if location in self.sketch.local else GLOBAL

    def slot_of(self, operation: int) -> Slot:
        """The slot of an operation."""
        return self._ways[operation].slot

    def alternatives(self, operation: int) -> list[tuple[Operation, Term]]:
        """What an operation may be, and when it is that."""
        way = self._ways[operation]
        numbers = dict.fromkeys(each[0] for each in way.picks)
        return [
            (
                self._operation(operation, way, (number,)),
                self.when(way.slot, (each for each in way.picks if each[0] == number)),
            )
            for number in numbers
        ]

    @property
    def values(self) -> Mapping[int, Choice[int]]:
        """What compare-exchanges expect, by the number of the read that stands for it."""
        found = {}
        for slot in self.slots:
            values: dict[int, list[Term]] = {}
            for picked, term in self.picked[slot].items():
                if expected := picked[2:]:
                    values.setdefault(self._value(*expected), []).append(term)
            if values:
                nothing = ~any_of(term for terms in values.values() for term in terms)
                values[0].append(nothing)
                found[self._expected(slot)] = {it: any_of(terms) for it, terms in values.items()}
        return found

    def _expected(self, slot: Slot) -> int:
        """The number of the read that stands for what a compare-exchange in a slot expects."""
        return len(self._ways) + self.slots.index(slot)

    def _value(self, thread: int, place: int, plus: int) -> int:
        """The value of a store, or the initial one, after so many increments."""
        return plus + (0 if thread == NONE else self._stored((thread, place)))

    def _program(self) -> Program:
        threads = []
        for number, place in enumerate(self.sketch.places):
            operations = tuple(
                self._operation(index, way, way.picks[0])
                for index, way in enumerate(self._ways)
                if way.slot[0] == number
            )
            threads.append(SourceThread(f"P{number}", number, *place, operations, {}))
        locations = tuple(
            Location(_name(x), atomic, self._region(x), 0)
            for x, atomic in enumerate(self.sketch.atomic)
        )
        return Program("unknown", _SOURCE, locations, tuple(threads))

    def _operation(self, index: int, way: _Way, picked: Picked) -> Operation:
        it = self.space.accesses[picked[0]]
        operand = Constant(self._stored(way.slot)) if it.brings else it.value
        expected = Read(self._expected(way.slot)) if it.compares else None
        alone = Operations(way.slot[0], index, Problems())
        x = None if way.location == NONE else _name(way.location)
        fenced = IN_BOTH if self.sketch.local else IN_GLOBAL
        region = self._region(way.location)
        alone.add(call_of(it, fenced), x, _TRUE, _SPAN, operand, expected, region=region)
        return alone.found[0]

    def _assembly(self) -> AssemblyProgram:
        threads = self.sketch.threads
        code: list[list[Instruction]] = [[] for _ in threads]
        for slot in self.slots:
            for instruction, term in self._code(slot, threads[slot[0]]):
                code[slot[0]].append(replace(instruction, index=len(self._guards)))
                self._guards.append((slot, term))
        initial = {each.name: 0 for each in self.program.locations}
        return AssemblyProgram(
            threads,
            tuple(map(tuple, code)),
            initial,
            self._machine,
            spaces=spaces_of(self.program, self._machine),
            placement=self.sketch.placement,
        )

    def _code(self, slot: Slot, place: ThreadId) -> Iterator[tuple[Instruction, Term]]:
        """The instructions of a slot, each with when it is part of the chosen operation: what comes
        before the access of any row, the accesses, what comes after; and so on where some rows
        access their location again."""
        parts = {user: parted(self._row(*each))[1] for each, user in self._users(slot).items()}
        ways = [(index, way) for index, way in enumerate(self._ways) if way.slot == slot]
        for at in range(max(map(len, parts.values()))):
            for index, way in ways if at else ():
                for template in way.accesses[at - 1 : at]:
                    it = self._instruction(template, place, index, way.location)
                    yield it, self.when(slot, way.picks)
            beside = {user: those[at] for user, those in parts.items() if at < len(those)}
            yield from self._beside(slot, place, ways[0][0], beside)

    def _user(self, picked: Picked) -> _User:
        return picked[0], picked[1] in self.sketch.local

    def _users(self, slot: Slot) -> dict[tuple[int, int], _User]:
        """Of each row that a slot may have one operation and location, and whose it is."""
        found = {self._user(it): it[:2] for it in sorted(self.picked[slot])}
        return {(number, x): user for user, (number, x) in found.items()}

    def _instruction(
        self, template: RowTemplate, place: ThreadId, index: int, location: int | None
    ) -> Instruction:
        """An instruction of the code of an operation."""
        mnemonic, operation = template.mnemonic, self.program.operations[index]
        return Instruction(
            index=-1,
            mnemonic=mnemonic,
            thread=place,
            operation=index,
            guard=_TRUE,
            location=None if location is None else _name(location),
            reach=template.reach,
            register=index if mnemonic.reads else None,
            value=written_by(operation) if mnemonic.writes else None,
            success=operation.success if mnemonic.writes else None,
        )

    def _beside(
        self, slot: Slot, place: ThreadId, index: int, codes: Mapping[_User, list[RowTemplate]]
    ) -> Iterator[tuple[Instruction, Term]]:
        """Instructions that access nothing; once for each location where they name one."""
        for template, users in _together(codes):
            mnemonic = template.mnemonic
            for x in range(len(self.sketch.atomic)) if "x" in mnemonic.operands else [None]:
                wanted = [
                    it for it in self.picked[slot] if self._user(it) in users and x in (None, it[1])
                ]
                if wanted:
                    yield self._instruction(template, place, index, x), self.when(slot, wanted)

    def awaited(self) -> Iterator[tuple[int, int, Term]]:
        """Which read must be complete before an instruction, by their indices, and when.

        An instruction behind an `if` waits for what the `if` tests.
        """
        reading = [it for it in self.assembly.instructions if it.register is not None]
        for it, (slot, term) in zip(self.assembly.instructions, self._guards, strict=True):
            for condition, tested in self.conditions[slot].items():
                if condition is not None:
                    for read in reading:
                        way = self._ways[read.operation]
                        if way.slot == (slot[0], condition[0]):
                            wanted = self.when(way.slot, way.picks)
                            yield read.index, it.index, all_of((term, tested, wanted))

    def bind(self, reads: Mapping[int, Choice[int]]) -> dict[int, Term]:
        """The guards of instructions, where reads have these values."""
        reached: dict[Slot, Term] = {}
        for slot in self.slots:
            before = reached[slot[0], slot[1] - 1] if slot[1] else TRUE
            holds = [self.conditions[slot][None]]
            for condition, term in self.conditions[slot].items():
                if condition is not None:
                    place, *tests = condition
                    value = self._value(*tests)
                    tested = any_of(
                        all_of((self.when(way.slot, way.picks), reads[index].get(value, FALSE)))
                        for index, way in enumerate(self._ways)
                        if way.slot == (slot[0], place) and index in reads
                    )
                    holds.append(term & tested)
            reached[slot] = before & any_of(holds)
        self.executed = {
            index: reached[way.slot] & self.when(way.slot, way.picks)
            for index, way in enumerate(self._ways)
        }
        return {index: reached[slot] & term for index, (slot, term) in enumerate(self._guards)}


def _together(
    codes: Mapping[_User, list[RowTemplate]],
) -> Iterator[tuple[RowTemplate, set[_User]]]:
    """Parts of rows merged into one sequence: each instruction, and whose it is."""
    tokens = {number: [token(each) for each in code] for number, code in codes.items()}
    whole = merged(list(tokens.values()))
    users: list[set[_User]] = [set() for _ in whole]
    for number, those in tokens.items():
        for at in embedded(those, whole):
            users[at].add(number)
    templates = {token(each): each for code in codes.values() for each in code}
    for at, each in enumerate(whole):
        yield templates[each], users[at]


def _name(location: int) -> str:
    return f"x{location}"
