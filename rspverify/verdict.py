"""Verdicts and what they rest on: plain data that every room may see."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from enum import StrEnum
from typing import assert_never

from msgspec import Struct, field


class Word(StrEnum):
    """The one word of a verdict (docs/semantics.md, Verdicts)."""

    SOUND = "SOUND"
    UNSOUND = "UNSOUND"
    OPEN = "OPEN"
    RACY = "RACY"
    VACUOUS = "VACUOUS"
    UNKNOWN = "UNKNOWN"
    UNSUPPORTED = "UNSUPPORTED"
    ERROR = "ERROR"


WRONG = frozenset({Word.UNSOUND, Word.OPEN})
"""Verdicts that an outcome shows: on every machine that the document allows, or on some of them."""

WITHOUT_PROGRESS = frozenset({Word.RACY, Word.UNSUPPORTED, Word.ERROR})
"""Verdicts beside which progress has no meaning: the source has none, or nothing was compiled."""


class Engine(StrEnum):
    """How the machine's executions are found (docs/machine.md, docs/proofs.md)."""

    EVENTS = "events"
    UNROLL = "unroll"
    EXPLICIT = "explicit"

    @property
    def summary(self) -> str:
        """A line about it, for lists."""
        match self:
            case Engine.EVENTS:
                return "the solver over all executions at once; exact (default)"
            case Engine.UNROLL:
                return "the solver over K steps; exact at the K that is enough"
            case Engine.EXPLICIT:
                return "every reachable state; the reference"
            case _:
                assert_never(self)


class Reading(StrEnum):
    """What soundness asks of a machine execution (docs/semantics.md, Soundness).

    outcome: that some allowed execution has its outcome; witness: that its own rf and mo are
    allowed, too.
    """

    OUTCOME = "outcome"
    WITNESS = "witness"


class Outcome(Struct, frozen=True, order=True):
    """What can be observed of one execution (docs/semantics.md, Executions and outcomes).

    reads: (operation, value) of every executed read, ascending; memory: (location, value) of
    every location at the end, in the order of the program's locations.
    """

    reads: tuple[tuple[int, int], ...]
    memory: tuple[tuple[str, int], ...]


class Event(Struct, frozen=True):
    """An event of a source execution, to be shown: who, where in the file, and what.

    thread: None for an initial write; line: also for the start of a thread, which is an event where
    it may be the only one. location: empty for a fence, a barrier or a start.
    """

    thread: int | None
    line: int | None
    access: str
    location: str


class Race(Struct, frozen=True):
    """Two conflicting accesses that nothing orders, in a consistent execution (Fig. 2, Dr).

    events: every event of that execution, in order; edges: its rf and mo by name, and its sw and hb
    where the model defines them. condition: the name that the model gives to what is broken.
    second: None for a fault of another kind, as an index out of bounds: `first` is no event of the
    execution then, but says where it is and what.
    divergence: in words, where it is no race but two threads that come to different barriers.
    """

    first: Event
    second: Event | None
    events: tuple[Event, ...] = ()
    edges: Mapping[str, tuple[tuple[int, int], ...]] = field(default_factory=dict)
    condition: str = ""
    divergence: str = ""


class ExecutionGraph(Struct, frozen=True):
    """A consistent execution under a model: every event in order, and edges as those of a race."""

    events: tuple[Event, ...]
    edges: Mapping[str, tuple[tuple[int, int], ...]]


class Entry(Struct, frozen=True):
    """A cache entry to be shown: value, C or D, V or I (Fig. 4).

    value: None where there are bits alone. dirty, valid: None where the machine has no such bit.
    bits: the names of others that are true.
    """

    value: int | None
    dirty: bool | None
    valid: bool | None
    bits: tuple[str, ...] = ()

    def __str__(self) -> str:
        """As in Fig. 4: `42 D,V`."""
        hygiene = () if self.dirty is None else ("D" if self.dirty else "C",)
        freshness = () if self.valid is None else ("V" if self.valid else "I",)
        flags = ",".join((*hygiene, *freshness, *self.bits))
        return " ".join(filter(None, ("" if self.value is None else str(self.value), flags)))


class CacheState(Struct, frozen=True):
    """A cache to be shown, or another part of a machine: its entries by location, and its fifos.

    entries: None of what has neither values nor bits. fifos: of each fifo or pool that is not
    empty, its name, which is empty where it is the only one, and its elements, oldest first; those
    of a pool in the order of the program.
    """

    entries: Mapping[str, Entry] | None
    fifos: tuple[tuple[str, tuple[str, ...]], ...]

    @property
    def queues(self) -> tuple[str, ...]:
        """Its fifos as the paper draws them, the oldest element on the right: `[y x]`."""
        return tuple(_queue(name, elements) for name, elements in self.fifos)


def _queue(name: str, elements: Sequence[str]) -> str:
    comma = ", " if any(" " in each for each in elements) else " "
    text = f"[{comma.join(reversed(elements))}]"
    return f"{name}: {text}" if name else text


class Snapshot(Struct, frozen=True):
    """A machine state to be shown: caches by name, memory, and the locks that are held."""

    caches: Mapping[str, CacheState]
    memory: Mapping[str, int]
    locks: Mapping[str, str]


class Delivered(Struct, frozen=True):
    """The value that a step delivers to a read, and the part of the machine that it is from."""

    location: str
    value: int
    source: str


class Step(Struct, frozen=True):
    """One step of a machine execution, and the state after it.

    label: as the paper writes it; thread: the executing thread, None for an environment step;
    cache: the name of the cache that an environment step belongs to, None for an instruction.
    instruction: the thread, and the place in its code, of the instruction that happens, or that an
    environment step goes on with; open: whether it is on its way after the step. beside: of what
    happens in full, older instructions that are still on their way: those of its thread, and writes
    of its location.
    """

    label: str
    thread: int | None
    cache: str | None
    line: int | None
    after: Snapshot
    instruction: tuple[int, int] | None = None
    open: bool = False
    reads: Delivered | None = None
    beside: tuple[tuple[int, int], ...] = ()


class Execution(Struct, frozen=True):
    """A machine execution, step by step, from a state in which every cache is empty.

    threads: the name of each thread's own L1 cache; caches: all cache names in display order.
    shortest: whether no execution that shows the same has fewer steps. code: of each thread, the
    source line and the text of its instructions in program order. shared: of each cache, the
    threads in whose place it is. queues: those of the caches that have nothing but instructions on
    their way. notes: what the machine's file says of caches and steps, by their names.
    """

    initial: Snapshot
    steps: tuple[Step, ...]
    threads: tuple[str, ...]
    caches: tuple[str, ...]
    shortest: bool = True
    code: tuple[tuple[tuple[int, str], ...], ...] = ()
    shared: tuple[tuple[int, ...], ...] = ()
    queues: tuple[str, ...] = ()
    notes: Mapping[str, str] = field(default_factory=dict)


class ProgressWord(StrEnum):
    """Whether a compiled program can always go on (docs/semantics.md, Progress)."""

    LIVE = "LIVE"
    STUCK = "STUCK"
    UNKNOWN = "UNKNOWN"


class Progress(Struct, frozen=True):
    """Whether from every reachable state of a compiled program some complete one is reachable.

    execution and blocked belong to STUCK: an execution that ends where no instruction can ever be
    dispatched again, or nothing but a flush is missing that can never happen; and what each thread,
    each fifo and each entry there waits for, in words. scheduler: the one under which it was asked
    with all states, where threads may also go round in loops for ever.
    """

    word: ProgressWord
    reason: str
    execution: Execution | None = None
    blocked: tuple[str, ...] = ()
    scheduler: str | None = None


class Verdict(Struct, frozen=True):
    """The answer for one test under one scheme.

    within: every bound that it depends on, by name; empty means exact. outcome, axioms, and
    execution or graph belong to UNSOUND and OPEN, race to RACY, blocked to VACUOUS (what each
    thread waits for). execution: of a target that is a machine; graph: of one that is a model,
    whose race belongs to UNSOUND as well, where it alone is undefined.
    confirmed: the second solver that said the same of a SOUND, if one was asked. sound_if: of an
    OPEN, the switches that decide, of which the machine's document says nothing: each of them makes
    it SOUND, or together, as `A+B`.
    """

    word: Word
    reason: str
    within: Mapping[str, int] = field(default_factory=dict)
    outcome: Outcome | None = None
    axioms: tuple[str, ...] = ()
    race: Race | None = None
    execution: Execution | None = None
    blocked: tuple[str, ...] = ()
    confirmed: str | None = None
    sound_if: tuple[str, ...] = ()
    graph: ExecutionGraph | None = None
