"""Exhaustive search of QuickRelease's caches (Hechtman et al., HPCA 2014, §3), state by state.

A compute unit (here: a work-group) has a reading cache rL1, a writing cache wL1 that holds nothing
but what is dirty, and a FIFO of the addresses written; a device has rL2, wL2 and their FIFO. An
entry of a reading cache has a written bit: the value that counts is in the writing cache. What
leaves wL1 is invalidated in the own rL1; what leaves wL2, in rL2 and in every rL1.

Programs are those of ``machine``. The instructions::

    ("LD", rid, x)     ("ST", value_fn, x)      ("INC_L1" | "INC_L2", rid, x, value_fn)
    ("FLU_L1", "WG"|"DV")    ("FLU_L2", "DV")   ("LK_rmw" | "UL_rmw", "DV")
    ("REL", "WG"|"DV")      a marker that passes from the FIFO of wL1 to that of wL2
"""

from typing import NamedTuple

from . import machine
from .machine import FREE, complete_outcomes, put, wrap


class Level(NamedTuple):
    """A reading cache, a writing cache, each a value or None per location, and the FIFO.

    ``written`` has the locations whose entry of the reading cache has its written bit set.
    """

    read: tuple
    written: frozenset
    dirty: tuple
    fifo: tuple


class State(NamedTuple):
    threads: tuple  # per thread: (position in its code, ((rid, value), ...))
    l1: tuple  # per work-group: Level
    l2: tuple  # per device: Level
    rmw: tuple  # per work-group: FREE or a thread
    memory: tuple


def found(level, x):
    """What a load finds at a level, or None."""
    if level.read[x] is not None and x not in level.written:
        return level.read[x]
    return level.dirty[x]


def stored(level, x, value):
    written = level.written | {x} if level.read[x] is not None else level.written
    return Level(level.read, written, put(level.dirty, x, value), (*level.fifo, ("LOC", x)))


def invalidated(level, x):
    return level._replace(read=put(level.read, x, None), written=level.written - {x})


def fetched(level, x, value):
    return level._replace(read=put(level.read, x, value), written=level.written - {x})


def evicted(level, x):
    """Without what was dirty, and without the entry for reading."""
    return invalidated(level._replace(dirty=put(level.dirty, x, None)), x)


class Machine(machine.Machine):
    """One program on QuickRelease.

    rl2: whether the reading cache of the second level is there; without it, it never holds
    anything. atomics: "L2" puts what INC_L2 writes into wL2; "memory" sends it there at once.
    eager: what may leave a FIFO leaves before anything else happens.
    """

    def __init__(self, program, rl2=True, atomics="L2", eager=False):
        super().__init__(program)
        self.rl2, self.atomics, self.eager = rl2, atomics, eager
        if len(self.all_devices) > 1:
            raise ValueError("QuickRelease is described for one GPU")

    def initial(self):
        nothing = (None,) * len(self.locations)
        empty = Level(nothing, frozenset(), nothing, ())
        return State(
            threads=tuple((self.skip(t, 0, ()), ()) for t in range(len(self.codes))),
            l1=(empty,) * len(self.device_of_group),
            l2=(empty,),
            rmw=(FREE,) * len(self.device_of_group),
            memory=self.initial_values,
        )

    def is_complete(self, state):
        return all(
            position == len(self.codes[t]) for t, (position, _) in enumerate(state.threads)
        ) and not any(v is not None for level in state.l1 + state.l2 for v in level.dirty)

    def steps(self, state):
        """All successors."""
        for after in self.all_steps(state):
            yield self.settled(after) if self.eager else after

    def all_steps(self, state):
        for t in range(len(self.codes)):
            after = self.execute(state, t)
            if after is not None:
                yield after
        for w in range(len(state.l1)):
            yield from self.l1_steps(state, w)
        yield from self.l2_steps(state)
        yield from self.dequeues(state)

    def settled(self, state):
        for after in self.dequeues(state):
            return self.settled(after)
        return state

    # ---- instructions ----

    def execute(self, state, t):
        position, reads = state.threads[t]
        if position == len(self.codes[t]):
            return None
        if any(el in level.fifo for level in state.l1 + state.l2 for el in markers(t)):
            return None
        name, *operands = self.codes[t][position][1]
        w = self.group_of[t]
        own = state.l1[w]
        groups = range(len(state.l1)) if operands[-1] == "DV" else [w]
        match name:
            case "LD":
                rid, x = operands[0], self.index[operands[1]]
                value = found(own, x)
                return None if value is None else self.advance(state, t, (rid, value))
            case "ST":
                value = wrap(operands[0](dict(reads)))
                level = stored(own, self.index[operands[1]], value)
                return self.advance(state._replace(l1=put(state.l1, w, level)), t)
            case "INC_L1":
                rid, x = operands[0], self.index[operands[1]]
                old = found(own, x)
                if state.rmw[w] not in (FREE, t) or old is None:
                    return None
                level = stored(own, x, wrap(operands[2]({**dict(reads), rid: old})))
                return self.advance(state._replace(l1=put(state.l1, w, level)), t, (rid, old))
            case "INC_L2":
                rid, x = operands[0], self.index[operands[1]]
                if state.rmw[w] not in (FREE, t) or own.dirty[x] is not None:
                    return None
                if self.atomics == "memory" and state.l2[0].dirty[x] is not None:
                    return None
                old = self.below(state, x)
                new = wrap(operands[2]({**dict(reads), rid: old}))
                after = state._replace(l1=put(state.l1, w, invalidated(own, x)))
                if self.atomics == "memory":
                    after = self.written_to_memory(after, x, new)
                else:
                    after = after._replace(l2=(stored(state.l2[0], x, new),))
                return self.advance(after, t, (rid, old))
            case "FLU_L1" | "REL":
                l1 = state.l1
                for each in groups:
                    level = l1[each]
                    marker = ("FLUSH" if name == "FLU_L1" else "RELEASE", t)
                    l1 = put(l1, each, level._replace(fifo=(*level.fifo, marker)))
                return self.advance(state._replace(l1=l1), t)
            case "FLU_L2":
                (level,) = state.l2
                level = level._replace(fifo=(*level.fifo, ("FLUSH", t)))
                return self.advance(state._replace(l2=(level,)), t)
            case "LK_rmw":
                if any(state.rmw[each] not in (FREE, t) for each in groups):
                    return None
                return self.advance(state._replace(rmw=(t,) * len(state.rmw)), t)
            case "UL_rmw":
                return self.advance(state._replace(rmw=(FREE,) * len(state.rmw)), t)
        raise ValueError(f"no instruction {name!r}")

    # ---- what the hardware does by itself ----

    def below(self, state, x):
        """What a read that misses the first level gets."""
        value = found(state.l2[0], x)
        return state.memory[x] if value is None else value

    def written_to_memory(self, state, x, value):
        return state._replace(
            memory=put(state.memory, x, value),
            l2=(evicted(state.l2[0], x),),
            l1=tuple(invalidated(level, x) for level in state.l1),
        )

    def l1_steps(self, state, w):
        level = state.l1[w]
        for x in range(len(self.locations)):
            if level.dirty[x] is not None:  # wL1 evicts x, which rL1 loses
                yield state._replace(
                    l1=put(state.l1, w, evicted(level, x)),
                    l2=(stored(state.l2[0], x, level.dirty[x]),),
                )
            else:  # rL1 fetches x; a load of what is dirty would have been a hit
                yield state._replace(l1=put(state.l1, w, fetched(level, x, self.below(state, x))))

    def l2_steps(self, state):
        (level,) = state.l2
        for x in range(len(self.locations)):
            if level.dirty[x] is not None:  # wL2 evicts x, which every reading cache loses
                yield self.written_to_memory(state, x, level.dirty[x])
            elif self.rl2:  # rL2 fetches x
                yield state._replace(l2=(fetched(level, x, state.memory[x]),))

    def dequeues(self, state):
        (below,) = state.l2
        for w, level in enumerate(state.l1):
            if may_dequeue(level):
                rest = level._replace(fifo=level.fifo[1:])
                after = state._replace(l1=put(state.l1, w, rest))
                if level.fifo[0][0] == "RELEASE":  # It goes the way of what was written before it.
                    passed = below._replace(fifo=(*below.fifo, level.fifo[0]))
                    after = after._replace(l2=(passed,))
                yield after
        if may_dequeue(below):
            yield state._replace(l2=(below._replace(fifo=below.fifo[1:]),))


def markers(t):
    return ("FLUSH", t), ("RELEASE", t)


def may_dequeue(level):
    if not level.fifo:
        return False
    kind, item = level.fifo[0]
    return kind != "LOC" or level.dirty[item] is None


def outcomes(program, limit=1_000_000, **how):
    """The outcomes of all complete executions, as ``machine.outcomes`` has them."""
    return complete_outcomes(Machine(program, **how), limit)
