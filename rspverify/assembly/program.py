"""A program of the assembly language: per thread a list of guarded instructions (§5.2)."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping

from msgspec import Struct, field

from rspverify.architecture.architecture import Architecture, Mnemonic
from rspverify.value import Expression, evaluate
from rspverify.verdict import Outcome

_DEPTH = {"system": 0, "device": 1, "workgroup": 2, "thread": 3}
"""How much of (device, work-group, thread) says which place of a kind it is."""


WIDEST = " of the widest scope"
"""Behind the kind of memory of a location that operations access whose scope is the system."""


class ThreadId(Struct, frozen=True):
    """The paper's (d, w, t): device, work-group in it, thread; t is unique in the program."""

    device: int
    workgroup: int
    thread: int

    def path(self, kind: str = "thread") -> tuple[int, ...]:
        """Which place of a kind that programs say it is in: its device, work-group and thread."""
        return (self.device, self.workgroup, self.thread)[: _DEPTH[kind]]

    def __str__(self) -> str:
        return f"P{self.thread}"


ARRIVE = Mnemonic("arrive", "", (), (), ())
"""The first half of a barrier, which every machine has: the thread has come there."""

DEPART = Mnemonic("depart", "", (), (), ())
"""The second half: blocks until each other thread of the work-group has arrived (§6.13.8)."""


class Instruction(Struct, frozen=True):
    """One instruction in its place.

    index: unique in the program, ascending by thread and then by program order.
    operation: the index of the source operation that it was compiled from.
    register: for an instruction that reads, the index i such that `Read(i)` is what it read.
    value: for one that writes, the value; an RMW finds what it reads as `Read(register)`.
    success: of a compare-exchange, the condition under which `value` is another than what it has
    read, as far as the source is concerned; where it is 0 the source has a load (docs/machine.md).
    guard: executed when this is not 0; otherwise skipped without a step.
    label: of ARRIVE and DEPART, the barrier.
    waits: instructions of its thread, by index, that must be complete before it is executed.
    """

    index: int
    mnemonic: Mnemonic
    thread: ThreadId
    operation: int
    guard: Expression
    location: str | None = None
    reach: str | None = None
    register: int | None = None
    value: Expression | None = None
    success: Expression | None = None
    label: str | None = None
    waits: frozenset[int] = frozenset()

    def __str__(self) -> str:
        """By name: `LD r y`, `FLU_L1 DV`, `arrive B1`."""
        operands = {"r": "r", "x": self.location or "", "s": self.reach or ""}
        words = [operands[it] for it in self.mnemonic.operands]
        return " ".join([self.mnemonic.written(words), *([self.label] if self.label else [])])


class SpinLoop(Struct, frozen=True):
    """A loop of a thread that only spins, read as its last iteration alone.

    guard: not 0 where that iteration goes on. first, end: the places in the thread's code of its
    first instruction and after its last.
    """

    thread: int
    guard: Expression
    first: int
    end: int


Placement = tuple[tuple[str, tuple[int, ...]], ...]
"""By kind of place of which programs do not say who is in it, the one that each thread is in."""


class Seen(Struct, frozen=True):
    """What a read of the source has read, over reads of the compiled program, where its guard is
    not 0."""

    operation: int
    guard: Expression
    value: Expression


def outcome_seen(seen: Iterable[Seen], whole: Outcome) -> Outcome:
    """What the reads of the source have read in an execution of the compiled program. whole: the
    outcome by its own reads."""
    reads = dict(whole.reads)
    # A value may name a read that is not executed where nothing looks at it.
    known = defaultdict(int, reads)
    told = ((it.operation, evaluate(it.value, known)) for it in seen if evaluate(it.guard, known))
    return Outcome(tuple(told), whole.memory)


class AssemblyProgram(Struct, frozen=True):
    """A compiled program.

    threads: the thread ids, thread i at place i; code: their instructions; initial: the value of
    each location in global memory before the program starts.
    cuts: executions in which one of these is not 0 go on where the unrolling of a loop has ended,
    and are left out; within: the bounds that what is said of this program depends on therefore.
    machine: what it is compiled for. spaces: of locations that are in another kind of memory than
    the machine's first, which; with `WIDEST` where the machine asks for that. placement: who shares
    which place, as far as programs do not say it; where none is said, the least is shared. spins:
    the loops that only spin; where one goes on, an execution is not complete. seen: what the reads
    of the source have read, where they are not one by one those of the compiled program; None where
    they are.
    """

    threads: tuple[ThreadId, ...]
    code: tuple[tuple[Instruction, ...], ...]
    initial: Mapping[str, int]
    machine: Architecture
    cuts: tuple[Expression, ...] = ()
    within: Mapping[str, int] = field(default_factory=dict)
    spaces: Mapping[str, str] = field(default_factory=dict)
    spins: tuple[SpinLoop, ...] = ()
    placement: Placement = ()
    seen: tuple[Seen, ...] | None = None

    @property
    def goes_on(self) -> tuple[Expression, ...]:
        """Where one of these is not 0, a thread is still in a loop: no complete execution."""
        return (*self.cuts, *(each.guard for each in self.spins))

    @property
    def instructions(self) -> tuple[Instruction, ...]:
        """All instructions; the one with index i stands at place i."""
        return tuple(instruction for thread in self.code for instruction in thread)

    @property
    def completes_later(self) -> bool:
        """Whether some of its instructions begin what a later step completes."""
        return any(it.mnemonic.later for it in self.instructions)
