"""All programs of a frame as one program: every slot has all operations, chosen by selectors.

A frame says how many operations each thread has, its work-group, and which locations are atomic. In
each slot one operation is chosen, and before it perhaps an `if`, as in the space of `hunt`. The
instructions of all choices of a slot are merged into one sequence, each under a guard that is a
term over the selectors; so are the events of the model, one for each way of accessing a location.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from itertools import product

from bench.unknown.merged import embedded, halves, merged, token
from rspverify.assembly import AssemblyProgram, Instruction, Mnemonic, ThreadId
from rspverify.engineering.hunt.decide import row_shape
from rspverify.engineering.hunt.shape import NONE, Shape, Step, Thread
from rspverify.engineering.hunt.space import Access, Space
from rspverify.engineering.hunt.tables import Tables
from rspverify.litmus import Kind, Location, Operation, Program
from rspverify.litmus import Thread as SourceThread
from rspverify.scheme import Row, Scheme
from rspverify.scheme import Template as RowTemplate
from rspverify.smt import FALSE, TRUE, Choice, Model, Term, all_of, any_of, pick
from rspverify.source import Source, Span
from rspverify.value import Binary, Constant, Expression, Read

Slot = tuple[int, int]
Picked = tuple[int, int]
"""An operation of the space by its number, and a location."""
Test = tuple[int, int, int, int] | None
"""What an `if` tests: place of a read, thread and place of a store, how many increments since."""
_SOURCE = Source("unknown", "")
_NAMES = "xyz"
_SPAN = Span(_SOURCE, 1, 1, 1, 1)


@dataclass(frozen=True)
class Frame:
    """lengths, groups: of each thread; atomic: of each location."""

    lengths: tuple[int, ...]
    groups: tuple[int, ...]
    atomic: tuple[bool, ...]


@dataclass
class _Way:
    """One way of accessing a location in a slot. picks: the operations that are compiled to it."""

    slot: Slot
    mnemonic: Mnemonic
    location: int
    picks: list[Picked] = field(default_factory=list)


class Template:
    """The one program, and the terms that choose among those of its frame.

    picked: slot → its operation and location; tests: slot → what an `if` before it tests. slots: as
    (thread, place). program, assembly: the one program, whose own guards are all true. executed:
    operation → that it is executed, and guards: instruction → the same; both are set by `bind`.
    """

    def __init__(self, frame: Frame, space: Space, scheme: Scheme) -> None:
        self.frame, self.space, self.tables = frame, space, Tables(space)
        self._rows = [self._row(scheme, each) for each in space.accesses]
        self.constraints: list[Term] = []
        self.slots = [(t, p) for t, n in enumerate(frame.lengths) for p in range(n)]
        self.picked: dict[Slot, Choice[Picked]] = {}
        self.tests: dict[Slot, Choice[Test]] = {}
        for slot in self.slots:
            self._choose(slot)
        self._ways = [way for slot in self.slots for way in self._ways_of(slot)]
        self.program = self._program()
        self._conditions: list[tuple[Slot, Term]] = []
        self.assembly = self._assembly()
        self.guards: dict[int, Term] = {}
        self.executed: dict[int, Term] = {}

    @property
    def largest(self) -> int:
        """How many increments a value may have had."""
        return len(self.slots) - 1

    def base(self, slot: Slot) -> int:
        """The value of a store in a slot."""
        return 100 * (1 + self.slots.index(slot))

    def values(self) -> list[int]:
        """Every value that a location may have."""
        bases = [0, *map(self.base, self.slots)]
        return [base + plus for base in bases for plus in range(self.largest + 1)]

    def _row(self, scheme: Scheme, access: Access) -> Row:
        return scheme.table[row_shape(access)]

    # What is chosen

    def _choose(self, slot: Slot) -> None:
        accesses, atomic = self.space.accesses, self.frame.atomic
        choices = [
            (number, x)
            for number, access in enumerate(accesses)
            for x, is_atomic in enumerate(atomic)
            if access.plain != is_atomic
        ]
        self.picked[slot], constraints = pick(f"op{slot}", choices)
        self.constraints += constraints
        stores = [(NONE, NONE), *(each for each in self.slots if each != slot)]
        tests: list[Test] = [None]
        tests += [
            (place, *store, plus)
            for place in range(slot[1])
            for store in stores
            for plus in range(self.largest + 1)
            if store != (slot[0], place)
        ]
        self.tests[slot], constraints = pick(f"if{slot}", tests)
        self.constraints += constraints

    def when(self, slot: Slot, wanted: Iterator[Picked] | list[Picked]) -> Term:
        """That one of these is chosen in a slot."""
        return any_of(self.picked[slot][each] for each in wanted)

    def _ways_of(self, slot: Slot) -> list[_Way]:
        found: dict[tuple[str, int], _Way] = {}
        for number, x in self.picked[slot]:
            _, access, _ = halves(self._rows[number])
            way = found.setdefault((access.mnemonic.name, x), _Way(slot, access.mnemonic, x))
            way.picks.append((number, x))
        return list(found.values())

    # The programs

    def _program(self) -> Program:
        threads = []
        for number, group in enumerate(self.frame.groups):
            operations = tuple(
                self._operation(index, way, way.picks[0])
                for index, way in enumerate(self._ways)
                if way.slot[0] == number
            )
            threads.append(SourceThread(f"P{number}", number, 0, group, operations, {}))
        locations = tuple(
            Location(_NAMES[x], atomic, "global", 0) for x, atomic in enumerate(self.frame.atomic)
        )
        return Program("unknown", _SOURCE, locations, tuple(threads))

    def _operation(self, index: int, way: _Way, picked: Picked) -> Operation:
        access = self.space.accesses[picked[0]]
        value: Expression | None = None
        if access.kind is Kind.STORE:
            value = Constant(self.base(way.slot))
        elif access.kind is Kind.RMW:
            value = Binary("+", Read(index), Constant(1))
        return Operation(
            index,
            way.slot[0],
            access.kind,
            _NAMES[way.location],
            access.order,
            access.scope,
            access.remote,
            Constant(1),
            value,
            _SPAN,
            operator="+" if access.kind is Kind.RMW else None,
            operand=Constant(1) if access.kind is Kind.RMW else None,
        )

    def slot_of(self, operation: int) -> Slot:
        """The slot of an operation."""
        return self._ways[operation].slot

    def alternatives(self, operation: int) -> list[tuple[Operation, Term]]:
        """What an operation may be, and when it is that."""
        way = self._ways[operation]
        return [
            (self._operation(operation, way, each), self.picked[way.slot][each])
            for each in way.picks
        ]

    def _assembly(self) -> AssemblyProgram:
        threads, code = [], []
        index = 0
        for number, group in enumerate(self.frame.groups):
            place = ThreadId(0, group, number)
            block: list[Instruction] = []
            for slot in (each for each in self.slots if each[0] == number):
                for instruction, term in self._code(slot, place):
                    block.append(replace(instruction, index=index))
                    self._conditions.append((slot, term))
                    index += 1
            threads.append(place)
            code.append(tuple(block))
        initial = {each.name: 0 for each in self.program.locations}
        return AssemblyProgram(tuple(threads), tuple(code), initial)

    def _code(self, slot: Slot, place: ThreadId) -> Iterator[tuple[Instruction, Term]]:
        """The instructions of a slot, each with when it is part of the chosen operation."""
        numbers = sorted({number for number, _ in self.picked[slot]})
        parts = {number: halves(self._rows[number]) for number in numbers}
        first = next(i for i, way in enumerate(self._ways) if way.slot == slot)
        for side in (0, None, 2):
            if side is None:
                for index, way in enumerate(self._ways):
                    if way.slot == slot:
                        yield self._access(index, way, place), self.when(slot, way.picks)
                continue
            codes = {n: [token(each) for each in parts[n][side]] for n in numbers}
            whole = merged(list(codes.values()))
            users: list[set[int]] = [set() for _ in whole]
            for number, tokens in codes.items():
                for at in embedded(tokens, whole):
                    users[at].add(number)
            templates = {token(e): e for n in numbers for e in parts[n][side]}
            for at, each in enumerate(whole):
                yield from self._plain(slot, place, first, templates[each], users[at])

    def _plain(
        self, slot: Slot, place: ThreadId, first: int, template: RowTemplate, users: set[int]
    ) -> Iterator[tuple[Instruction, Term]]:
        """An instruction that accesses nothing; once for each location if it names one."""
        mnemonic = template.mnemonic
        names = range(len(self.frame.atomic)) if "x" in mnemonic.operands else [None]
        for x in names:
            wanted = [it for it in self.picked[slot] if it[0] in users and x in (None, it[1])]
            if wanted:
                location = None if x is None else _NAMES[x]
                true = Constant(1)
                instruction = Instruction(
                    -1, mnemonic, place, first, true, location, template.reach
                )
                yield instruction, self.when(slot, wanted)

    def _access(self, index: int, way: _Way, place: ThreadId) -> Instruction:
        operation = self._operation(index, way, way.picks[0])
        mnemonic = way.mnemonic
        return Instruction(
            -1,
            mnemonic,
            place,
            index,
            Constant(1),
            operation.location,
            None,
            index if mnemonic.reads else None,
            operation.value if mnemonic.writes else None,
        )

    # What makes it a program of the space

    def bind(self, reads: Mapping[int, Choice[int]]) -> dict[int, Term]:
        """The guards of instructions, where reads have these values."""
        reached: dict[Slot, Term] = {}
        for slot in self.slots:
            before = reached[slot[0], slot[1] - 1] if slot[1] else TRUE
            holds = [self.tests[slot][None]]
            for test, term in self.tests[slot].items():
                if test is not None:
                    place, thread, at, plus = test
                    value = plus + (0 if thread == NONE else self.base((thread, at)))
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
        self.guards = {
            index: reached[slot] & term for index, (slot, term) in enumerate(self._conditions)
        }
        return self.guards

    def well_formed(self) -> Iterator[Term]:
        """Tests are of reads and of stores to their location; nothing is there for nothing."""
        for slot in self.slots:
            for test, term in self.tests[slot].items():
                if test is None:
                    continue
                place, thread, at, _ = test
                yield term.implies(self._is((slot[0], place), self.tables.reads))
                if thread == NONE:
                    continue
                stores = [
                    w and not r for w, r in zip(self.tables.writes, self.tables.reads, strict=True)
                ]
                yield term.implies(self._is((thread, at), stores))
                for x in range(len(self.frame.atomic)):
                    here = self._at((slot[0], place), x)
                    yield all_of((term, here)).implies(self._at((thread, at), x))
        for x in range(len(self.frame.atomic)):
            for number in range(len(self.frame.lengths)):
                yield any_of(self._at(each, x) for each in self.slots if each[0] != number)
            writing = [
                self.picked[slot][each]
                for slot in self.slots
                for each in self.picked[slot]
                if each[1] == x and self.tables.writes[each[0]]
            ]
            yield any_of(writing)
        yield from self._first_of_symmetric()

    def _stores(self) -> list[bool]:
        kinds = zip(self.tables.writes, self.tables.reads, strict=True)
        return [writes and not reads for writes, reads in kinds]

    def _is(self, slot: Slot, wanted: list[bool]) -> Term:
        return self.when(slot, [each for each in self.picked[slot] if wanted[each[0]]])

    def _at(self, slot: Slot, x: int) -> Term:
        return self.when(slot, [each for each in self.picked[slot] if each[1] == x])

    def _first_of_symmetric(self) -> Iterator[Term]:
        lengths, atomic = self.frame.lengths, self.frame.atomic
        if len(set(lengths)) == 1 and len(lengths) == 2:
            for one, other in product(self.picked[0, 0], self.picked[1, 0]):
                if one[0] > other[0]:
                    yield ~(self.picked[0, 0][one] & self.picked[1, 0][other])
        if len(atomic) == 2 and atomic[0] == atomic[1]:
            yield self._at((0, 0), 0)

    def not_plainly_racing(self) -> Iterator[Term]:
        """Of two steps that conflict, and whose scopes are not inclusive, one is under an `if`:
        otherwise some interleaving has them next to each other."""
        for one, other in product(self.slots, self.slots):
            if one[0] >= other[0]:
                continue
            apart = int(self.frame.groups[one[0]] != self.frame.groups[other[0]])
            free = [
                self.tests[slot][None]
                for end in (one, other)
                for slot in self.slots
                if slot[0] == end[0] and slot[1] <= end[1]
            ]
            for a, b in product(self.picked[one], self.picked[other]):
                if self.tables.conflicting(Step(*a), Step(*b), apart):
                    yield ~all_of((self.picked[one][a], self.picked[other][b], *free))

    def shape(self, model: Model) -> Shape:
        """The program that a model of the formula has chosen."""
        threads = []
        for number, group in enumerate(self.frame.groups):
            steps = []
            for slot in (each for each in self.slots if each[0] == number):
                picked = next(it for it, term in self.picked[slot].items() if model[term])
                test = next(it for it, term in self.tests[slot].items() if model[term])
                steps.append(Step(*picked, *(test or ())))
            threads.append(Thread(0, group, tuple(steps)))
        return Shape(tuple(threads), self.frame.atomic)
