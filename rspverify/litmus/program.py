"""A source program: threads of guarded memory operations, grouped into work-groups and devices.

Control flow is gone by the time a Program exists: an operation under an `if` has a guard, and
registers are expressions over values read (docs/semantics.md, Programs).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from enum import Enum

from msgspec import Struct

from rspverify.isa.lines import Tags
from rspverify.litmus.formula import Condition, Formula
from rspverify.records import replace
from rspverify.source import Source, Span
from rspverify.value import Expression, evaluate, reads, renumbered


class Kind(Enum):
    """What an operation does (Fig. 2: R, W, RMW; fences and barriers access no location).

    EVENT: what is in no set but those of its instruction. CHOICE: what nothing decides, as whether
    a store-exclusive succeeds; it is no event.
    """

    LOAD = "load"
    STORE = "store"
    RMW = "rmw"
    FENCE = "fence"
    BARRIER = "barrier"
    LOCK = "lock"
    UNLOCK = "unlock"
    EVENT = "event"
    CHOICE = "choice"

    @property
    def reads(self) -> bool:
        """Whether such an operation reads memory."""
        return self in (Kind.LOAD, Kind.RMW)

    @property
    def writes(self) -> bool:
        """Whether such an operation writes memory, a compare-exchange where it succeeds."""
        return self in (Kind.STORE, Kind.RMW)


class Order(Enum):
    """The memory order of an atomic operation or a fence. Only C11 has consume."""

    RELAXED = "relaxed"
    CONSUME = "consume"
    ACQUIRE = "acquire"
    RELEASE = "release"
    ACQ_REL = "acq_rel"
    SEQ_CST = "seq_cst"


class Scope(Enum):
    """How far through the execution hierarchy an operation reaches (§2.1); WI is one thread."""

    WI = "WI"
    SG = "SG"
    WG = "WG"
    DV = "DV"
    ALL = "ALL"


GLOBAL = "global"
"""The region of a location of which nothing is said."""

LOCAL = "local"
"""The region of what belongs to a work-group."""


class Location(Struct, frozen=True):
    """A location of memory. Its declaration, not its accesses, decides whether it is atomic.

    region: "global" or "local", in assembly the kind of memory by its name; initial: its value
    before the program starts. mutex: whether it is a mutex of C11, which only LOCK and UNLOCK
    access. fine_grained: whether it is in a fine-grain SVM buffer with atomics of OpenCL 2.0
    (§3.3.3), which matters to seq_cst there.
    """

    name: str
    atomic: bool
    region: str
    initial: int
    span: Span | None = None
    mutex: bool = False
    fine_grained: bool = False


class Choice(Struct, frozen=True):
    """Which element of an array an access is of, where its index is computed.

    Such an access is one operation for each element that it may be of, with the guard
    `path && index == i`; at most one of them is executed.
    """

    path: Expression
    index: Expression

    def moved(self, place: Callable[[int], int]) -> Choice:
        """The same with other indices of reads."""
        return Choice(renumbered(self.path, place), renumbered(self.index, place))


class Dependencies(Struct, frozen=True):
    """The earlier operations of its thread that one depends on, by the text of the code.

    picked: those that only decide, on the way, which of others it is; they are among them, too.
    """

    address: frozenset[int] = frozenset()
    data: frozenset[int] = frozenset()
    control: frozenset[int] = frozenset()
    picked: Dependencies | None = None

    def moved(self, place: Callable[[int], int]) -> Dependencies:
        """The same with other indices of operations."""
        address, data, control = (
            frozenset(map(place, it)) for it in (self.address, self.data, self.control)
        )
        return Dependencies(address, data, control, self.picked and self.picked.moved(place))

    @staticmethod
    def of(address: frozenset[int], data: frozenset[int], control: frozenset[int]) -> Dependencies:
        """By their sources, with `~i` where i only decides."""
        decided = [frozenset(~it for it in each if it < 0) for each in (address, data, control)]
        alone = [one - each for one, each in zip(decided, (address, data, control), strict=True)]
        address, data, control = (
            frozenset(max(it, ~it) for it in each) for each in (address, data, control)
        )
        picked = Dependencies(alone[0], alone[1], alone[2]) if any(alone) else None
        return Dependencies(address, data, control, picked)


class Operation(Struct, frozen=True, kw_only=True, cache_hash=True):
    """One operation of a thread, executed when its guard is not 0.

    index: unique in the program, ascending by thread and then by program order; `Read(index)` is
    the value that it reads. location: None for a fence or a barrier.
    order: None for a non-atomic access, a barrier, a lock and an unlock. scope: None where order
    is (but a barrier has one), and in C11, which has no scopes.
    value: what a STORE or an RMW writes (for an RMW, an expression over `Read(index)` itself).
    operator, operand: of an RMW, so that value = Read(index) operator operand; the operator is one
    of OPERATORS. None otherwise.
    success, failure: of a compare-exchange: it writes where `success`, over `Read(index)` too, is
    not 0, and otherwise is a load with the order `failure`. weak: whether it may fail although it
    finds what it expects, as C allows; such executions are left out (`Program.within`).
    regions: of a fence or a barrier, the regions of memory that it orders; of an access in
    OpenCL, that of its location. label, meets: of a barrier; at the barriers of one label the
    threads of a work-group meet, or those of a device. used: of an RMW, whether anything looks at
    what its call gives (litmus/frames.py).
    unsequenced: the earlier operations of its thread that it is not sequenced after, as they are in
    another operand of one expression (C11 §6.5 paragraph 3).
    choice: of an element of an array whose index is computed.
    instruction: in a test in assembly, the name of the instruction that it is; tags: the sets of
    a model that its instruction set puts its events into; textual: its dependencies there. pair: of
    a store-exclusive, the load that it is paired with. alias: the name by which it accesses its
    location, if that is another than the location's own. whole: of an RMW, whether it is one event
    for every model.
    """

    index: int
    thread: int
    kind: Kind
    location: str | None
    order: Order | None
    scope: Scope | None
    remote: bool
    guard: Expression
    value: Expression | None
    span: Span
    operator: str | None = None
    operand: Expression | None = None
    success: Expression | None = None
    failure: Order | None = None
    regions: frozenset[str] = frozenset({GLOBAL})
    label: str | None = None
    weak: bool = False
    used: bool = True
    unsequenced: frozenset[int] = frozenset()
    choice: Choice | None = None
    instruction: str | None = None
    tags: Tags = Tags()
    textual: Dependencies | None = None
    pair: int | None = None
    alias: str | None = None
    whole: bool = False
    meets: Scope = Scope.WG

    @property
    def atomic(self) -> bool:
        """Whether the operation, not its location, is an atomic access."""
        return self.order is not None and self.location is not None

    @property
    def reads(self) -> bool:
        """Whether it reads memory."""
        return self.kind.reads

    @property
    def gives(self) -> bool:
        """Whether `Read(index)` is a value: what it reads, or 0 or 1 of a choice."""
        return self.reads or self.kind is Kind.CHOICE

    @property
    def writes(self) -> bool:
        """Whether it writes memory, for a compare-exchange where it succeeds."""
        return self.kind.writes

    @property
    def data(self) -> frozenset[int]:
        """The reads that what it writes is computed from, its own aside."""
        if self.textual is not None:
            return self.textual.data
        parts = [each for each in (self.value, self.success) if each is not None]
        return frozenset[int]().union(*map(reads, parts)) - {self.index}

    @property
    def control(self) -> frozenset[int]:
        """The reads that decide whether it is executed, whichever its location is."""
        if self.textual is not None:
            return self.textual.control
        return reads(self.guard if self.choice is None else self.choice.path)

    @property
    def address(self) -> frozenset[int]:
        """The reads that its location is computed from."""
        if self.textual is not None:
            return self.textual.address
        return frozenset() if self.choice is None else reads(self.choice.index)

    @property
    def failed(self) -> Operation:
        """A compare-exchange as the load that it is when it fails."""
        assert self.success is not None
        return replace(
            self,
            kind=Kind.LOAD,
            order=self.failure,
            value=None,
            operator=None,
            operand=None,
            success=None,
            failure=None,
            weak=False,
        )

    def __str__(self) -> str:
        """The operation in the paper's notation, e.g. `load DV,R y` or `store na x`."""
        words = [self.kind.value]
        if self.scope is not None:
            words.append(f"{self.scope.value},{'R' if self.remote else 'N'}")
        elif self.order is not None:
            words.append(self.order.value)
        elif self.kind in (Kind.LOAD, Kind.STORE):
            words.append("na")
        return " ".join([*words, self.location or self.label or ""]).rstrip()


OPERATORS = ("+", "-", "|", "^", "&", "min", "max", "exchange", "compare_exchange")
"""What a read-modify-write may do with its operand.

`exchange` writes the operand, and so does `compare_exchange` where it succeeds.
"""


class Cut(Struct, frozen=True):
    """Where the unrolling of a loop ends: an execution in which `guard` is not 0 goes on there.

    Such executions are left out: what is said of a program with cuts is said of `iterations` of
    the loop at most. at: the operation before which it is.
    """

    thread: int
    guard: Expression
    iterations: int
    span: Span
    at: int


class Fault(Struct, frozen=True):
    """What makes a program undefined, beside the races of a model: it may do anything then.

    name: the condition that it breaks, beside those that models have. guard: not 0 in the
    executions that have it. at: the index that the next operation of its thread has, or would have.
    what: in words, with `{}` for the value that it comes from.
    """

    name: str
    thread: int
    at: int
    guard: Expression
    span: Span
    what: str
    value: Expression | None = None

    def said(self, reads: Mapping[int, int]) -> str:
        """What it is in an execution with the values of these reads."""
        return self.what if self.value is None else self.what.format(evaluate(self.value, reads))


class Spin(Struct, frozen=True):
    """A loop that only spins, read as its last iteration alone (docs/semantics.md, Loops).

    guard: not 0 where that iteration goes on, and the thread goes round once more; such an
    execution is not complete. first, end: the operations first, …, end - 1 are the iteration. rmws:
    those of them that are no compare-exchange and that write what they read, where it goes on.
    faults: those that the iteration may have, which are among the faults of the program.
    """

    thread: int
    guard: Expression
    first: int
    end: int
    span: Span
    rmws: frozenset[int] = frozenset()
    faults: tuple[Fault, ...] = ()


class Thread(Struct, frozen=True):
    """A thread and its place: its device, and its work-group within that device (from 0).

    subgroup: its sub-group within its work-group; None if it is alone in one. synchronises: the
    threads, by index, that come after it by other means than memory (Vulkan's
    system-synchronizes-with). registers: the final
    value of each register, an expression over the thread's own reads that looks only at reads which
    were executed.
    """

    name: str
    index: int
    device: int
    workgroup: int
    operations: tuple[Operation, ...]
    registers: Mapping[str, Expression]
    subgroup: int | None = None
    synchronises: frozenset[int] = frozenset()


class Program(Struct, frozen=True):
    """A litmus test. Threads are in the order of their numbers: `threads[i].name == f"P{i}"`.

    language: "OpenCL", "C", or that of its assembly, by the header. cuts: where
    loops were unrolled as far as was asked for and their end was not certain; empty if the program
    is all there. watched: what `locations […]` names, registers by thread and name, locations by
    None and name. spins: its loops that only spin, by thread and as they are met; unrolled: the
    same test with these loops unrolled, too, None where there are none or one never ends. faults:
    what makes the program undefined if a consistent execution has it. blocked: where one of these
    is not 0, a thread waits for ever at a barrier. given: the final states that the test speaks of,
    all if it is None; in assembly, what breaks rules elsewhere does not count. folded: whether a
    compiler may fold dependencies away that carry no value.
    """

    title: str
    source: Source
    locations: tuple[Location, ...]
    threads: tuple[Thread, ...]
    condition: Condition | None = None
    language: str = "OpenCL"
    cuts: tuple[Cut, ...] = ()
    watched: tuple[tuple[int | None, str], ...] = ()
    spins: tuple[Spin, ...] = ()
    unrolled: Program | None = None
    faults: tuple[Fault, ...] = ()
    blocked: tuple[Expression, ...] = ()
    given: Formula | None = None
    folded: bool = False

    @property
    def operations(self) -> tuple[Operation, ...]:
        """All operations; the operation with index i stands at place i."""
        return tuple(operation for thread in self.threads for operation in thread.operations)

    @property
    def goes_on(self) -> tuple[Expression, ...]:
        """Where one of these is not 0, a thread is in a loop or waits: no complete execution."""
        return (*(each.guard for each in self.loops), *self.blocked)

    @property
    def loops(self) -> tuple[Cut | Spin, ...]:
        """Where threads may go round in a loop once more."""
        return (*self.cuts, *self.spins)

    @property
    def within(self) -> Mapping[str, int]:
        """The bounds that what is said of this program depends on; empty if there are none."""
        bounds = {}
        if self.cuts:
            bounds["iterations"] = max(cut.iterations for cut in self.cuts)
        if any(operation.weak for operation in self.operations):
            bounds["spurious failures"] = 0
        return bounds

    @property
    def in_assembly(self) -> bool:
        """Whether its operations are instructions of a machine, which no scheme compiles."""
        return self.language not in ("OpenCL", "C")

    @property
    def barriers_of_assembly(self) -> tuple[Operation, ...]:
        """The barriers of a test in assembly, which are fences besides, or not."""
        return tuple(it for it in self.operations if it.label and it.kind is not Kind.BARRIER)

    def party(self, barrier: Operation) -> tuple[Thread, ...]:
        """The threads that must come to a barrier, its own among them."""
        own = self.threads[barrier.thread]
        return tuple(it for it in self.threads if meet(barrier, own, it))

    @property
    def devices(self) -> int:
        """How many devices the program runs on."""
        return len({thread.device for thread in self.threads})


def one_barrier(one: Operation, other: Operation) -> bool:
    """Whether two operations are barriers at which threads that must come there meet."""
    return one.label is not None and (one.label, one.meets) == (other.label, other.meets)


def one_subgroup(one: Thread, other: Thread) -> bool:
    """Whether two threads, which may be the same, are in one sub-group."""
    if one.index == other.index:
        return True
    places = {(it.device, it.workgroup, it.subgroup) for it in (one, other)}
    return one.subgroup is not None and len(places) == 1


def meet(barrier: Operation, own: Thread, other: Thread) -> bool:
    """Whether a thread must come to a barrier of another."""
    if barrier.meets is Scope.DV:
        return own.device == other.device
    return (own.device, own.workgroup) == (other.device, other.workgroup)
