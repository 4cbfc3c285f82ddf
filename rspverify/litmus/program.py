"""A source program: threads of guarded memory operations, grouped into work-groups and devices.

Control flow is gone by the time a Program exists: an operation under an `if` has a guard, and
registers are expressions over values read (SEMANTICS §1).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum

from rspverify.source import Source, Span
from rspverify.value import Expression


class Kind(Enum):
    """What an operation does to memory (Fig. 2: R, W, RMW)."""

    LOAD = "load"
    STORE = "store"
    RMW = "rmw"


class Order(Enum):
    """The memory order of an atomic operation."""

    RELAXED = "relaxed"
    ACQUIRE = "acquire"
    RELEASE = "release"
    ACQ_REL = "acq_rel"
    SEQ_CST = "seq_cst"


class Scope(Enum):
    """How far through the execution hierarchy an atomic operation reaches (§2.1)."""

    WG = "WG"
    DV = "DV"
    ALL = "ALL"


@dataclass(frozen=True)
class Location:
    """A location of memory. Its declaration, not its accesses, decides whether it is atomic.

    region: "global" or "local"; initial: its value before the program starts.
    """

    name: str
    atomic: bool
    region: str
    initial: int
    span: Span | None = None


@dataclass(frozen=True)
class Operation:
    """One memory operation of a thread, executed when its guard is not 0.

    index: unique in the program, ascending by thread and then by program order; `Read(index)` is
    the value that it reads. order and scope are None for a non-atomic operation.
    value: what a STORE or an RMW writes (for an RMW, an expression over `Read(index)` itself).
    operator, operand: of an RMW, so that value = Read(index) operator operand; None otherwise.
    """

    index: int
    thread: int
    kind: Kind
    location: str
    order: Order | None
    scope: Scope | None
    remote: bool
    guard: Expression
    value: Expression | None
    span: Span
    operator: str | None = None
    operand: Expression | None = None

    @property
    def atomic(self) -> bool:
        """Whether the operation, not its location, is atomic."""
        return self.order is not None

    @property
    def reads(self) -> bool:
        """Whether it reads memory."""
        return self.kind is not Kind.STORE

    @property
    def writes(self) -> bool:
        """Whether it writes memory."""
        return self.kind is not Kind.LOAD

    def __str__(self) -> str:
        """The operation in the paper's notation, e.g. `load DV,R y` or `store na x`."""
        if self.scope is None:
            return f"{self.kind.value} na {self.location}"
        return f"{self.kind.value} {self.scope.value},{'R' if self.remote else 'N'} {self.location}"


@dataclass(frozen=True)
class Thread:
    """A thread and its place: its device, and its work-group within that device (from 0).

    registers: the final value of each register, an expression over the thread's own reads that
    looks only at reads which were executed.
    """

    name: str
    index: int
    device: int
    workgroup: int
    operations: tuple[Operation, ...]
    registers: Mapping[str, Expression]


@dataclass(frozen=True)
class Atom:
    """`thread:register = value`, or `location = value` where thread is None."""

    thread: int | None
    name: str
    value: int


@dataclass(frozen=True)
class Negation:
    """`~ f`."""

    argument: Formula


@dataclass(frozen=True)
class Junction:
    """`f /\\ g /\\ …` or `f \\/ g \\/ …`; `conjunctive` tells which.

    The empty ones are true and false.
    """

    conjunctive: bool
    arguments: tuple[Formula, ...]


Formula = Atom | Negation | Junction


@dataclass(frozen=True)
class Condition:
    """The final condition of a test: `exists`, `~exists` or `forall` over a formula."""

    quantifier: str
    formula: Formula
    span: Span


@dataclass(frozen=True)
class Program:
    """A litmus test. Threads are in the order of their numbers: `threads[i].name == f"P{i}"`."""

    title: str
    source: Source
    locations: tuple[Location, ...]
    threads: tuple[Thread, ...]
    condition: Condition | None = None

    @property
    def operations(self) -> tuple[Operation, ...]:
        """All operations; the operation with index i stands at place i."""
        return tuple(operation for thread in self.threads for operation in thread.operations)

    @property
    def devices(self) -> int:
        """How many devices the program runs on."""
        return len({thread.device for thread in self.threads})


def satisfies(
    formula: Formula, registers: Mapping[tuple[int, str], int], memory: Mapping[str, int]
) -> bool:
    """Whether a final state satisfies a formula; registers by (thread, name)."""
    match formula:
        case Atom(None, name, value):
            return memory[name] == value
        case Atom(thread, name, value):
            assert thread is not None
            return registers[thread, name] == value
        case Negation(argument):
            return not satisfies(argument, registers, memory)
        case Junction(conjunctive, arguments):
            quantifier = all if conjunctive else any
            return quantifier(satisfies(each, registers, memory) for each in arguments)
