"""The parts of a machine, as a `.machine` file declares them: places, cells, instructions, steps.

Names are resolved and definitions expanded. Nothing here is of one program: a *place* is a kind of
place, and which there are is said by the threads of a program. An instruction is executed by a
thread, which is its *own* place; a step of the environment has a place of its own, too. A cell
without a place variable is that of the own place, or of the place that the own one lies in.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from enum import Enum, StrEnum
from functools import cached_property
from hashlib import sha256
from typing import TypeVar

import msgspec
from msgspec import Struct

from rspverify.records import fields_of, is_record, replace

OPERAND = "x"
"""The location variable of an instruction: its location."""

REACH = "s"
"""The operand that says how far an instruction reaches."""

OFF = "=off"
"""Behind the name of a switch that is turned off."""


class Sort(Enum):
    """The content of a cell."""

    VALUE = "value"
    BIT = "bit"
    LOCK = "lock"
    FIFO = "fifo"
    POOL = "pool"


class CellKind(Struct, frozen=True):
    """A kind of cell: one for each place of a kind, and for each location if `located`.

    structure: the part of the machine that it belongs to, such as `L1`; field: which of its cells,
    such as `VALID`, or "" where the structure is this cell alone. start: what a bit is at first.
    A value is at first what the location holds before the program starts.
    """

    structure: str
    field: str
    sort: Sort
    place: str
    located: bool
    start: bool = False

    @property
    def name(self) -> str:
        """Its name in a file, without a location: `L1.VALID`."""
        return f"{self.structure}.{self.field}" if self.field else self.structure

    def __str__(self) -> str:
        return f"{self.name}[x]" if self.located else self.name


class CellAt(Struct, frozen=True):
    """A cell: of the place that a variable stands for, or of the own place where `place` is None.

    location: the location variable, of a located cell.
    """

    kind: CellKind
    place: str | None = None
    location: str | None = None


class Element(Enum):
    """An element of a fifo or a pool, besides locations."""

    SELF = "self"
    """The instruction that is executed, or whose later step this is."""


class MarkerOf(Struct, frozen=True):
    """The flush marker of a thread: that of a variable, or the own one."""

    thread: str | None = None


class LocationElement(Struct, frozen=True):
    """A location, as an element of a fifo: that of a variable."""

    location: str


FifoElement = Element | MarkerOf | LocationElement


# ---- Who is spoken of ----------------------------------------------------------------------------


class Places(Struct, frozen=True):
    """A variable for each place of a kind.

    inside: only those in the own place of that kind, or that lie around it; REACH stands for the
    operand. outside: only those that are not in it. other: the own one is left out.
    """

    variable: str
    kind: str
    inside: str | None = None
    outside: str | None = None
    other: bool = False


class Locations(Struct, frozen=True):
    """A variable for each location, or for each of a space."""

    variable: str
    space: str | None = None


Binder = Places | Locations


# ---- Conditions ----------------------------------------------------------------------------------


class Holds(Struct, frozen=True):
    """A bit has this value."""

    bit: CellAt
    value: bool


class Occupied(Struct, frozen=True):
    """A pool is not empty."""

    where: CellAt


class Either(Struct, frozen=True):
    """One of these bits has its value, or one of these pools is not empty."""

    bits: tuple[Holds | Occupied, ...]


class IsReady(Struct, frozen=True):
    """A lock is free, or held by a thread of the own place; in the end it is free."""

    lock: CellAt


class IsOldest(Struct, frozen=True):
    """The oldest element of a fifo is this one."""

    fifo: CellAt
    element: FifoElement


class Lacks(Struct, frozen=True):
    """A fifo or pool has no such element: a marker, or an instruction of one of these names.

    Without either it is empty. own: only instructions of the own thread count. located: only those
    of the location that this variable stands for.
    """

    where: CellAt
    marker: MarkerOf | None = None
    instructions: tuple[str, ...] = ()
    own: bool = False
    location: str | None = None


class IsIn(Struct, frozen=True):
    """The instruction itself is in a pool."""

    pool: CellAt


class InSpace(Struct, frozen=True):
    """The location that a variable stands for is one of this space, or is not."""

    location: str
    space: str
    value: bool = True


class OfWidestScope(Struct, frozen=True):
    """Some operation of the program whose scope is the whole system accesses the location that a
    variable stands for, or none does."""

    location: str
    value: bool = True


class All(Struct, frozen=True):
    """Conditions for each place or location that a variable stands for."""

    binder: Binder
    conditions: tuple[Condition, ...]


class IsSwitched(Struct, frozen=True):
    """A switch of the machine is on, or is not."""

    switch: str
    on: bool = True


Condition = (
    Holds
    | Either
    | IsReady
    | IsOldest
    | Lacks
    | Occupied
    | IsIn
    | InSpace
    | OfWidestScope
    | IsSwitched
    | All
)


# ---- Effects -------------------------------------------------------------------------------------


class Written(Enum):
    """The value that is written: the instruction's own, or a function of the value read.

    The value of an instruction that reads and writes is f(r), for the operation f of the source.
    """

    VALUE = "r"
    SUM = "r + n"
    ANY = "f(r)"


class SetTo(Struct, frozen=True):
    """A bit becomes true or false."""

    bit: CellAt
    value: bool


class CopyTo(Struct, frozen=True):
    """A value becomes a copy of another."""

    target: CellAt
    source: CellAt


class Read(Struct, frozen=True):
    """The register gets a value."""

    source: CellAt


class Write(Struct, frozen=True):
    """A value becomes the one that the instruction writes."""

    target: CellAt
    what: Written = Written.VALUE


class Take(Struct, frozen=True):
    """A lock becomes the own thread's."""

    lock: CellAt


class Free(Struct, frozen=True):
    """A lock becomes free, whoever held it."""

    lock: CellAt


class Enter(Struct, frozen=True):
    """An element goes to the young end of a fifo, or into a pool."""

    where: CellAt
    element: FifoElement


class Leave(Struct, frozen=True):
    """The oldest element leaves a fifo, or the instruction itself a pool."""

    where: CellAt


class If(Struct, frozen=True):
    """Effects that happen only where conditions hold before."""

    conditions: tuple[Condition, ...]
    effects: tuple[Effect, ...]


class Each(Struct, frozen=True):
    """Effects for each place or location that a variable stands for."""

    binder: Binder
    effects: tuple[Effect, ...]


Effect = SetTo | CopyTo | Read | Write | Take | Free | Enter | Leave | If | Each


_Part = TypeVar("_Part")


def within(part: object, wanted: type[_Part]) -> Iterator[_Part]:
    """The records of a class in conditions, effects, or a whole machine, in order."""
    if isinstance(part, wanted):
        yield part
    if isinstance(part, tuple | list | dict):
        for each in part.values() if isinstance(part, dict) else part:
            yield from within(each, wanted)
    elif is_record(part) and not isinstance(part, CellKind):
        for name in fields_of(part):
            yield from within(getattr(part, name), wanted)


def cells_of(parts: Iterable[object]) -> Iterator[CellAt]:
    """The cells that conditions and effects speak of, in order."""
    return within([*parts], CellAt)


def asked(conditions: Iterable[Condition]) -> Iterator[Condition]:
    """Conditions without their binders."""
    for each in conditions:
        if isinstance(each, All):
            yield from asked(each.conditions)
        else:
            yield each


def plain(effects: tuple[Effect, ...]) -> Iterator[Effect]:
    """Effects without their binders and conditions."""
    for effect in effects:
        if isinstance(effect, If | Each):
            yield from plain(effect.effects)
        else:
            yield effect


# ---- The machine ---------------------------------------------------------------------------------


class StepKind(Struct, frozen=True):
    """A step of the environment: it may happen wherever its conditions hold.

    place: the kind of its own place. variables: what it is for besides, one after the other; the
    first of them is what it is shown with. A later step of an instruction belongs to the thread.
    """

    name: str
    place: str
    variables: tuple[Binder, ...]
    conditions: tuple[Condition, ...]
    effects: tuple[Effect, ...]


class Mnemonic(Struct, frozen=True, dict=True):
    """An instruction: it blocks unless its conditions hold; its effects happen at once.

    name: a word, or a word and modifiers, which code has behind the operands. operands: any of "r"
    (register), "x" (location), "s" (a reach out of `reaches`), in the order in which they are
    written. Of two effects on one cell the later one counts. later: steps that complete what it
    begins.
    """

    name: str
    operands: str
    reaches: tuple[str, ...]
    conditions: tuple[Condition, ...]
    effects: tuple[Effect, ...]
    later: tuple[StepKind, ...] = ()

    def __hash__(self) -> int:
        return hash(self.name)

    @property
    def stem(self) -> str:
        """Its name without modifiers."""
        return self.name.partition(" ")[0]

    @property
    def modifiers(self) -> tuple[str, ...]:
        """The rest of its name, such as `glc`."""
        return tuple(self.name.split()[1:])

    @property
    def spellings(self) -> list[str]:
        """How an instruction is written: `LD r x`; `FLU_L2 DV` and `FLU_L2 SY`."""
        ways = [[reach if it == REACH else it for it in self.operands] for reach in self.reaches]
        return [self.written(way) for way in ways or [[*self.operands]]]

    def written(self, operands: Iterable[str]) -> str:
        """As code has it: `LD r x`, `global_load_dword r x glc`."""
        return " ".join((self.stem, *operands, *self.modifiers))

    @cached_property
    def plain_effects(self) -> tuple[Effect, ...]:
        """All its effects, immediate or later, without binders and conditions."""
        later = (effect for step in self.later for effect in step.effects)
        return tuple(plain((*self.effects, *later)))

    @cached_property
    def reads(self) -> bool:
        """Whether it delivers a value into its register."""
        return any(isinstance(effect, Read) for effect in self.plain_effects)

    @cached_property
    def writes(self) -> bool:
        """Whether it writes a value to its location."""
        return any(isinstance(effect, Write) for effect in self.plain_effects)

    def serves(self, space: str) -> bool:
        """Whether it may be of a location of this kind of memory."""
        own = (it for it in self.conditions if isinstance(it, InSpace) and it.location == OPERAND)
        return all((it.space == space) is it.value for it in own)

    @property
    def accessed(self) -> tuple[CellAt, ...]:
        """The values that it reads or writes for the program."""
        found = (it for it in self.plain_effects if isinstance(it, Read | Write))
        return tuple(it.source if isinstance(it, Read) else it.target for it in found)

    @cached_property
    def operator(self) -> str | None:
        """Of one that reads and writes, the operator that it can do; None if it can do any."""
        sums = (isinstance(it, Write) and it.what is Written.SUM for it in self.plain_effects)
        return "+" if any(sums) else None


class Kinds(Struct, frozen=True):
    """Kinds of places.

    names: the innermost first; the first is the thread, the last the whole system. alike: of a kind
    that there is one of for each place of another kind, that kind. open: those of which programs do
    not say who is in which. around: by kind, those that each of its places lies in.
    """

    names: tuple[str, ...]
    alike: Mapping[str, str] = msgspec.field(default_factory=dict)
    open: tuple[str, ...] = ()
    around: Mapping[str, tuple[str, ...]] = msgspec.field(default_factory=dict)

    def __hash__(self) -> int:
        return hash((self.names, self.open))

    def contains(self, outer: str, inner: str) -> bool:
        """Whether each place of a kind lies in one of another kind, or is one."""
        first, second = self.alike.get(outer, outer), self.alike.get(inner, inner)
        return first == second or first in self.around[second]


class Status(StrEnum):
    """What a document says of a property of the hardware.

    intended: it states the property as a guarantee or a purpose; on, if nobody turns it off. open:
    it does not say; hardware may have the property or not. contradicted: it says the opposite.
    """

    INTENDED = "intended"
    OPEN = "open"
    CONTRADICTED = "contradicted"


class Switch(Struct, frozen=True):
    """A property that a machine may have; on, it allows less.

    summary: what holds if it is on; document: what the machine's document says of it. chosen:
    whether the user has said that it is on, or off.
    """

    name: str
    summary: str
    status: Status = Status.OPEN
    on: bool = False
    document: str = ""
    chosen: bool = False

    @property
    def about(self) -> str:
        """Its status, its meaning, and what the document says."""
        said = f"; the document: {self.document}" if self.document else ""
        return f"{self.status}: {self.summary}{said}"


@dataclass(frozen=True)
class Architecture:
    """A machine.

    reaches: the kind of place that each reach names. always: what every instruction waits for
    besides. complete: when an execution is. final: the located value that holds memory in the end;
    None where the machine has none. spaces: the kinds of memory that locations are of, the first
    where a test says nothing. switches: properties that it may have. executes: the instruction set
    that its instructions are of, "" where the file names none; no part of its meaning, which
    follows from the rules alone. path: the file that it is from, "" if it ships. notes: what the
    file's comments say of parts of the state, instructions and steps, by name; they mean nothing.
    """

    name: str
    summary: str
    kinds: Kinds
    reaches: Mapping[str, str]
    cells: tuple[CellKind, ...]
    instructions: Mapping[str, Mnemonic]
    steps: tuple[StepKind, ...]
    always: tuple[Condition, ...]
    complete: tuple[Condition, ...]
    final: CellKind | None
    spaces: tuple[str, ...] = ("global",)
    switches: tuple[Switch, ...] = ()
    executes: str = field(default="", repr=False)
    path: str = field(default="", compare=False)
    notes: Mapping[str, str] = field(default_factory=dict, compare=False, repr=False)

    def named(self, file: str = "") -> str:
        """Its name for schemes and `--machine`: name or file, and switches.

        file: the path that it is named by, if not as it was read.
        """
        _, *on = self.name.split("+")
        return "+".join([file or self.path, *on]) if self.path else self.name

    @property
    def places(self) -> tuple[str, ...]:
        """The kinds of places, the innermost first; the last is the whole system."""
        return self.kinds.names

    @cached_property
    def completes_later(self) -> bool:
        """Whether some of its instructions have later steps."""
        return any(it.later for it in self.instructions.values())

    @cached_property
    def identity(self) -> str:
        """Its part of cache keys: the name of a machine that ships, of others all content."""
        return f"{self.name} {self.meaning_digest}" if self.path else self.name

    @cached_property
    def meaning_digest(self) -> str:
        """A digest of all that it says but its name and summary."""
        said = repr(replace(self, name="", summary="", path=""))
        return sha256(said.encode()).hexdigest()

    def __hash__(self) -> int:
        return hash(self.name)

    def switched(self, names: str) -> Architecture:
        """The same with one more switch on, with those joined by `+`, or off, as `SWITCH=off`.

        Raises KeyError where it has none of such a name.
        """
        chosen = {name.removesuffix(OFF): not name.endswith(OFF) for name in names.split("+")}
        for name in chosen:
            if all(it.name != name for it in self.switches):
                raise KeyError(name)
        switches = tuple(
            replace(it, on=chosen[it.name], chosen=True) if it.name in chosen else it
            for it in self.switches
        )
        return replace(self, name=f"{self.name}+{names}", switches=switches)

    @property
    def off(self) -> dict[str, str]:
        """What those of its switches are that are off, by name."""
        return {it.name: it.about for it in self.switches if not it.on}

    def undecided(self, status: Status) -> list[str]:
        """The switches of a status that matter and are off, if the user has not turned them off."""
        off = (it for it in self.switches if not (it.on or it.chosen) and it.name in self._asked)
        return [it.name for it in off if it.status is status]

    @cached_property
    def _asked(self) -> frozenset[str]:
        """The switches that some rule asks for."""
        rules = self.instructions, self.steps, self.always, self.complete
        return frozenset(it.switch for it in within(rules, IsSwitched))

    @cached_property
    def tells_widest_scope(self) -> bool:
        """Whether it matters which locations operations of the scope of the system access."""
        return bool([*within((self.instructions, self.steps), OfWidestScope)])

    def is_on(self, switch: str) -> bool:
        """Whether one of its switches is on."""
        return any(it.on for it in self.switches if it.name == switch)

    def reach_in(self, mnemonic: Mnemonic, kind: str) -> str | None:
        """The reach of an instruction that is a kind of place, or the next wider one.

        Where it has none so wide it is the widest; None of an instruction without reaches.
        """
        wanted = self.places.index(kind)
        for reach in mnemonic.reaches:
            if self.places.index(self.reaches[reach]) >= wanted:
                return reach
        return mnemonic.reaches[-1] if mnemonic.reaches else None


class ForMachine:
    """A translator from OpenCL and C whose code a machine executes (rspverify/translators.py)."""

    __slots__ = ()
    machine: Architecture

    @property
    def runs_on(self) -> str:
        """The name of its machine."""
        return self.machine.name

    @property
    def identity(self) -> str:
        """What keys have of its machine."""
        return self.machine.identity

    @property
    def path(self) -> str:
        """The file of its machine, empty where that ships."""
        return self.machine.path

    @property
    def language(self) -> str | None:
        """It translates from OpenCL and C."""
        return None


InstructionSet = Mapping[str, Mnemonic]
"""Instructions by their names."""
