"""The rules of a machine for one program: guards and updates over named cells.

The instructions and steps of a machine's file become rules over named cells
(machine/grounding.py). The engines interpret these rules and know nothing else about the machine.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import ClassVar, TypeVar, assert_never

from msgspec import Struct

from rspverify.assembly.program import Instruction, ThreadId
from rspverify.value import Expression

# ---- Places and cells ----------------------------------------------------------------------------


class Place(Struct, frozen=True):
    """A place of a kind: path has its device, work-group and thread, as far as it has them.

    number: of a place of which programs do not say who is in it; it has no path.
    """

    kind: str
    path: tuple[int, ...]
    number: int | None = None

    def __str__(self) -> str:
        """As in `d0 w1`; a thread is `P2`, one with a number `cu 0`."""
        if self.number is not None:
            return f"{self.kind} {self.number}"
        if len(self.path) == 3:
            return f"P{self.path[2]}"
        return " ".join(f"{it}{number}" for it, number in zip("dw", self.path, strict=False))


class Structure(Struct, frozen=True):
    """A part of the machine at a place, such as the L1 of a work-group."""

    name: str
    place: Place

    def __str__(self) -> str:
        return f"{self.name} {self.place}".strip()


class _Cell(Struct, frozen=True, cache_hash=True):
    """A cell of a structure, by its field; of a location, where it is located."""

    structure: Structure
    field: str
    location: str | None = None

    @property
    def word(self) -> str:
        """Its name: the field, or the structure if this is its only cell."""
        return self.field or self.structure.name


class Bit(_Cell, frozen=True):
    """True or false."""


class Word(_Cell, frozen=True):
    """A value."""


class Lock(_Cell, frozen=True):
    """Free, or held by a thread."""

    def __str__(self) -> str:
        name, place = self.word, self.structure.place
        return f"{name} of {self.location} on {place}" if self.location else f"{name} {place}"


class Fifo(_Cell, frozen=True):
    """Elements in the order in which they entered."""

    def __str__(self) -> str:
        of = f" for {self.location}" if self.location else ""
        return f"{self.structure}{of}"


class Member(Bit, frozen=True):
    """Whether an instruction, by its index, is in a pool."""

    index: int = -1


Cell = Bit | Word | Lock


class Marker(Struct, frozen=True):
    """FLUSH(d,w,t): the flush marker of a thread."""

    thread: ThreadId

    def __str__(self) -> str:
        return f"FLUSH({self.thread})"


@dataclass(frozen=True)
class Issued:
    """An instruction, by its index, that waits in a fifo to go on."""

    index: int
    name: str = field(compare=False, default="")

    def __str__(self) -> str:
        return self.name


Element = str | Marker | Issued
"""An element of a fifo: a location, a marker, or an instruction."""


# ---- Guards --------------------------------------------------------------------------------------


Literal = tuple[Bit, bool]
"""A bit, and a value of it."""


class AnyBit(Struct, frozen=True):
    """Guard: one of these bits has this value; of none, never."""

    bits: tuple[Literal, ...]

    @property
    def only(self) -> Literal | None:
        """The one bit that it is about, and its value; None where there are several, or none."""
        return self.bits[0] if len(self.bits) == 1 else None


def holds(bit: Bit) -> AnyBit:
    """Guard: a bit is true."""
    return AnyBit(((bit, True),))


def fails(bit: Bit) -> AnyBit:
    """Guard: a bit is false."""
    return AnyBit(((bit, False),))


def literals(guards: Iterable[Guard]) -> list[Literal]:
    """All literals of guards, also those of which one of several has to hold."""
    return [each for guard in guards if isinstance(guard, AnyBit) for each in guard.bits]


class Ready(Struct, frozen=True):
    """Guard: a lock is free, or held by one of these threads."""

    lock: Lock
    threads: frozenset[ThreadId]


class Oldest(Struct, frozen=True):
    """Guard: the oldest element of a fifo is this one."""

    fifo: Fifo
    element: Element


class Without(Struct, frozen=True):
    """Guard: none of these elements is in any of these fifos; elements None: these are empty."""

    fifos: tuple[Fifo, ...]
    elements: frozenset[Element] | None

    @property
    def of_markers(self) -> bool:
        """Whether it asks for markers alone."""
        return bool(self.elements) and all(isinstance(it, Marker) for it in self.elements or ())


Wait = AnyBit | Ready | Without
"""A guard of an instruction."""

Guard = Wait | Oldest


# ---- Updates -------------------------------------------------------------------------------------


class SetBit(Struct, frozen=True):
    """A bit becomes true or false."""

    bit: Bit
    value: bool


class Copy(Struct, frozen=True):
    """A word gets the value that another word had before the rule."""

    target: Word
    source: Word


class Deliver(Struct, frozen=True):
    """Read number `register` gets the value that a word had before the rule."""

    register: int
    source: Word


class Assign(Struct, frozen=True):
    """A word becomes the value of an expression over values read, this rule's read included."""

    target: Word
    value: Expression


class SetLock(Struct, frozen=True):
    """A lock gets a holder, or becomes free."""

    lock: Lock
    holder: ThreadId | None


class Enqueue(Struct, frozen=True):
    """An element goes to the young end of a fifo."""

    fifo: Fifo
    element: Element


class Dequeue(Struct, frozen=True):
    """The oldest element of a fifo leaves it."""

    fifo: Fifo


class When(Struct, frozen=True):
    """Updates that happen only where guards hold before the rule."""

    guards: tuple[Guard, ...]
    updates: tuple[Update, ...]


Change = SetBit | Copy | Deliver | Assign | SetLock
Plain = Change | Enqueue | Dequeue
Update = Plain | When


def plain(updates: Iterable[Update]) -> Iterator[Plain]:
    """Updates, those under conditions included."""
    for update in updates:
        if isinstance(update, When):
            yield from plain(update.updates)
        else:
            yield update


def changed_by(update: Plain) -> Cell | Fifo | None:
    """The cell that an update changes, None where it delivers a value."""
    match update:
        case SetBit(cell, _) | SetLock(cell, _) | Copy(cell, _) | Assign(cell, _):
            return cell
        case Enqueue(fifo, _) | Dequeue(fifo):
            return fifo
        case Deliver():
            return None
        case _:
            assert_never(update)


def cells_of(part: Guard | Update) -> Iterator[Cell | Fifo]:
    """The cells and fifos that a guard or an update names, also under conditions."""
    match part:
        case AnyBit(bits):
            yield from (bit for bit, _ in bits)
        case Without(fifos, _):
            yield from fifos
        case Copy(target, source):
            yield target
            yield source
        case When(guards, updates):
            for each in (*guards, *updates):
                yield from cells_of(each)
        case Ready(cell, _) | SetBit(cell, _) | SetLock(cell, _) | Assign(cell, _):
            yield cell
        case Deliver(_, cell):
            yield cell
        case Oldest(fifo, _) | Enqueue(fifo, _) | Dequeue(fifo):
            yield fifo
        case _:
            assert_never(part)


# ---- Rules ---------------------------------------------------------------------------------------


class _Rule(Struct, frozen=True, dict=True):
    """It may fire where its guards hold, and changes what its updates name.

    Guards and the right sides of updates see the state before the rule; of two updates of one cell
    the later one counts. All analyses read a rule through the summary here: what it needs, sets and
    clears, which values it takes, what it puts into fifos and takes out.
    """

    guards: tuple[Guard, ...]
    updates: tuple[Update, ...]

    @cached_property
    def changes(self) -> Mapping[object, Change]:
        """The updates of cells that count, by the cell, or ("read", register), that they set.

        What happens only under conditions is not among them.
        """
        found: dict[object, Change] = {}
        for update in self.updates:
            if isinstance(update, Deliver):
                found["read", update.register] = update
            elif not isinstance(update, Enqueue | Dequeue | When):
                found[changed_by(update)] = update
        return found

    @cached_property
    def conditional(self) -> tuple[When, ...]:
        """The updates that happen only under conditions."""
        return tuple(update for update in self.updates if isinstance(update, When))

    @cached_property
    def flat(self) -> tuple[Plain, ...]:
        """Its updates, those under conditions included."""
        return tuple(plain(self.updates))

    @cached_property
    def changed_words(self) -> list[Word]:
        """The words whose values it changes, also under conditions."""
        return [it.target for it in self.flat if isinstance(it, Copy | Assign)]

    @cached_property
    def may_set(self) -> tuple[Bit, ...]:
        """The bits that it makes true, also under conditions."""
        return tuple(it.bit for it in self.flat if isinstance(it, SetBit) and it.value)

    @cached_property
    def asked(self) -> tuple[tuple[Guard, bool], ...]:
        """Its guards and those of its conditional updates; whether it needs each to fire."""
        return tuple(_asked(self.guards, self.updates, needed=True))

    @cached_property
    def never(self) -> bool:
        """Whether it fires in no state: an access of memory that the instruction is not for."""
        return AnyBit(()) in self.guards

    @cached_property
    def literals(self) -> list[Literal]:
        """The literals of its guards, also those of which one of several has to hold."""
        return literals(self.guards)

    @cached_property
    def needs(self) -> frozenset[Literal]:
        """The bits that must have a value for it to fire, whatever else holds."""
        found = (guard.only for guard in self.guards if isinstance(guard, AnyBit))
        return frozenset(literal for literal in found if literal is not None)

    @cached_property
    def wants(self) -> list[Literal]:
        """The literals, and both values of each bit on which a part of its updates depends."""
        conditions = literals(guard for guard, needed in self.asked if not needed)
        return [*self.literals, *((bit, it) for bit, _ in conditions for it in (True, False))]

    @cached_property
    def looks(self) -> list[Cell]:
        """The cells that decide whether it may fire, and those whose values it takes."""
        cells = (cell for guard, _ in self.asked for cell in cells_of(guard))
        return [*(it for it in cells if not isinstance(it, Fifo)), *self.taken]

    @cached_property
    def takes(self) -> list[Copy | Deliver]:
        """The updates that take the value of a word."""
        return [update for update in self.changes.values() if isinstance(update, Copy | Deliver)]

    @cached_property
    def taken(self) -> list[Word]:
        """The words whose values it takes, also under conditions."""
        others = [it for it in plain(self.conditional) if isinstance(it, Copy | Deliver)]
        return [it.source for it in (*self.takes, *others)]

    @cached_property
    def enqueues(self) -> tuple[Enqueue, ...]:
        """The elements that it puts into fifos, in order."""
        return tuple(update for update in self.updates if isinstance(update, Enqueue))

    @cached_property
    def marks(self) -> list[Fifo]:
        """The fifos into which it puts a marker."""
        return [each.fifo for each in self.enqueues if isinstance(each.element, Marker)]

    @cached_property
    def oldest(self) -> tuple[Oldest, ...]:
        """The elements that must be the oldest of their fifo."""
        return tuple(guard for guard in self.guards if isinstance(guard, Oldest))

    @cached_property
    def turns(self) -> list[Fifo]:
        """The fifos in which its instruction must be the oldest."""
        return [it.fifo for it in self.oldest if isinstance(it.element, Issued)]

    @cached_property
    def holders(self) -> dict[Lock, ThreadId | None]:
        """The locks that it sets, and who holds each then."""
        return {it.lock: it.holder for it in self.changes.values() if isinstance(it, SetLock)}

    def sets(self, value: bool) -> tuple[Bit, ...]:
        """The bits that it makes true, or false."""
        return self._set_bits[value]

    @cached_property
    def _set_bits(self) -> Mapping[bool, tuple[Bit, ...]]:
        found = [it for it in self.changes.values() if isinstance(it, SetBit)]
        return {
            value: tuple(it.bit for it in found if it.value is value) for value in (False, True)
        }

    def awaits(self, bit: Bit) -> bool:
        """Whether it waits until a bit is true, whatever else holds."""
        return (bit, True) in self.needs


def _asked(
    guards: Iterable[Guard], updates: Iterable[Update], *, needed: bool
) -> Iterator[tuple[Guard, bool]]:
    for guard in guards:
        yield guard, needed
    for update in updates:
        if isinstance(update, When):
            yield from _asked(update.guards, update.updates, needed=False)


AnyRule = TypeVar("AnyRule", bound=_Rule)
_Key = TypeVar("_Key")


def by(
    rules: Iterable[AnyRule], found: Callable[[AnyRule], Iterable[_Key]]
) -> dict[_Key, list[AnyRule]]:
    """The rules by each thing that is found in them, in order."""
    index: dict[_Key, list[AnyRule]] = {}
    for rule in rules:
        for key in dict.fromkeys(found(rule)):
            index.setdefault(key, []).append(rule)
    return index


class InstructionRule(_Rule, frozen=True, dict=True):
    """An instruction in its place. It also waits for its turn, and fires at most once.

    case: which of the things it is that the instruction may do (machine/cases.py).
    """

    guards: tuple[Wait, ...]
    instruction: Instruction
    case: int = 0

    @cached_property
    def thread(self) -> int:
        """The number of its thread."""
        return self.instruction.thread.thread

    @property
    def key(self) -> object:
        """An identifier, the same in every machine that runs the same program."""
        index = self.instruction.index
        return (index, self.case) if self.case else index

    dequeues: ClassVar[bool] = False
    """Whether it does nothing but to let an element leave a fifo: no instruction does."""

    cleared: ClassVar[Sequence[Bit]] = ()
    """The bits that a step needs and takes away: no instruction does."""

    def __str__(self) -> str:
        """By name: `LD r y`, `FLU_L1 DV`."""
        return str(self.instruction)


class StepRule(_Rule, frozen=True, dict=True):
    """A step of the environment.

    step: its name in the machine's file. structure: where it is shown. about: what it is for, a
    location, or the places and threads that its variables stand for. instruction: the one that it
    completes, if it is a later step of one.
    """

    step: str
    structure: Structure
    about: tuple[object, ...] = ()
    instruction: Instruction | None = None

    @cached_property
    def key(self) -> object:
        """An identifier, the same in every machine that runs the same program."""
        index = None if self.instruction is None else self.instruction.index
        return self.step, self.structure, self.about, index

    @cached_property
    def dequeues(self) -> bool:
        """Whether it does nothing but to let an element leave a fifo."""
        return self.instruction is None and all(isinstance(it, Dequeue) for it in self.updates)

    @cached_property
    def loses(self) -> Bit | None:
        """The bit that it makes false, where it does nothing else."""
        match self.updates:
            case (SetBit(bit, False),):
                return bit
        return None

    @cached_property
    def takes_away(self) -> Bit | None:
        """The bit that it makes false, where it does nothing else and needs nothing else."""
        bit = self.loses
        return bit if bit is not None and set(self.guards) <= {holds(bit)} else None

    @cached_property
    def cleared(self) -> Sequence[Bit]:
        """The bits that it needs and takes away."""
        return [bit for bit in self.sets(False) if self.awaits(bit)]

    def __str__(self) -> str:
        """By name: `FLUSH_L1 x`, `DEQMARKER_L1 of P0`."""
        about = [f"of {each}" if isinstance(each, ThreadId) else str(each) for each in self.about]
        if self.instruction is not None:
            about = [f"of {self.instruction.thread} at {self.instruction}", *about]
        return " ".join([self.step, *about])


Rule = InstructionRule | StepRule
