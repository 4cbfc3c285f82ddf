"""Exhaustive search of the two machines of Sorensen's thesis: the weak (§4.1-4.2) and the strong one.

Every interleaving of issuing instructions and of what memory does is explored, state by state, with
no reduction but one that `outcomes` names.

A program is plain data::

    {"initial": {location: value}, "shared": {location, ...},
     "threads": [{"block": b, "code": [instruction, ...]}, ...]}

Instructions are ``("ld", register, x)``, ``("st", x, value)`` where the value is a number or a
register, ``("TFB",)`` and ``("TF",)``. A location that is not shared is global. Of several loads into
one register the last one in program order counts, whichever executes last, and a store of a register
drains once the load that it takes its value from has executed: the thesis stores constants only.
"""

from typing import Any, NamedTuple

from .machine import explore as search
from .machine import put

WEAK, STRONG = "ptx-weak", "ptx-strong"


class Copy(NamedTuple):
    """A copy of a location (§4.1). The strong machine has no use for B and LS."""

    data: int
    B: bool = False  # borrowed
    LS: bool = True  # shared within the block
    GS: bool = True  # shared with all blocks; no meaning for shared memory


class State(NamedTuple):
    """``memory``: by thread (weak) or by block (strong), a copy of each location."""

    pc: tuple  # per thread
    queues: tuple  # per thread and location: places in the code, the oldest first
    pool: tuple  # per thread: places in the code of loads (weak)
    read: tuple  # per thread: {(place in the code, value)}
    memory: tuple


def outcomes(program, machine, *, at_once=False, limit=1_000_000):
    """What the registers may be in the end: a set of tuples of ((thread, register), value).

    at_once: everything is issued before the search, which loses nothing, as issuing waits for
    nothing and only adds at the young end of queues.
    """
    return explore(program, machine, at_once=at_once, limit=limit)[0]


def explore(program, machine, *, at_once=False, limit=1_000_000):
    """The outcomes, and how many states there are."""
    model = {WEAK: Weak, STRONG: Strong}[machine](program, at_once)
    states = [*search(model, limit)]
    return {model.outcome(state) for state in states if model.done(state)}, len(states)


class Machine:
    """What both machines have: programs, registers, and a queue of instructions per location."""

    def __init__(self, program, at_once=False):
        self.at_once = at_once
        self.code = [list(map(tuple, each["code"])) for each in program["threads"]]
        self.block = [each["block"] for each in program["threads"]]
        self.threads = range(len(self.code))
        self.at_first = program["initial"]
        self.locations = sorted(self.at_first)
        self.shared = set(program.get("shared", ()))

    def owners(self):
        """How many memories there are."""
        raise NotImplementedError

    def memory_steps(self, state):
        """The states that memory and the queues lead to."""
        raise NotImplementedError

    def initial(self):
        none = tuple(() for _ in self.locations)
        memory = tuple(Copy(self.at_first[x]) for x in self.locations)
        count = len(self.code)
        start = State(
            pc=(0,) * count,
            queues=(none,) * count,
            pool=(frozenset(),) * count,
            read=(frozenset(),) * count,
            memory=(memory,) * self.owners(),
        )
        while self.at_once and (later := list(self.issue(start))):
            start = later[0]
        return start

    def done(self, state):
        """All programs are at their end, and nothing waits."""
        ended = all(state.pc[t] == len(self.code[t]) for t in self.threads)
        return ended and not any(any(state.queues[t]) or state.pool[t] for t in self.threads)

    def outcome(self, state):
        found = {}
        for t in self.threads:
            read = dict(state.read[t])
            for place, instruction in enumerate(self.code[t]):
                if instruction[0] == "ld":
                    found[t, instruction[1]] = read[place]
        return tuple(sorted(found.items()))

    def steps(self, state):
        yield from self.issue(state)
        yield from self.memory_steps(state)

    def issue(self, state):
        """The next instruction of a thread goes into the queue of its location, a fence into all."""
        for t in self.threads:
            place = state.pc[t]
            if place == len(self.code[t]):
                continue
            instruction = self.code[t][place]
            queues = state.queues[t]
            for i, x in enumerate(self.locations):
                if instruction[0] in ("TF", "TFB") or x in instruction:
                    queues = put(queues, i, (*queues[i], place))
            yield state._replace(
                pc=put(state.pc, t, place + 1), queues=put(state.queues, t, queues)
            )

    def head(self, state, t, i):
        """The place and the instruction at the head of a queue; None if it is empty."""
        queue = state.queues[t][i]
        return (queue[0], self.code[t][queue[0]]) if queue else None

    def without_head(self, state, t, i):
        queues = put(state.queues[t], i, state.queues[t][i][1:])
        return state._replace(queues=put(state.queues, t, queues))

    def fence_at_all_heads(self, state, t):
        """The fence that is at the head of all queues of a thread, if one is."""
        heads = {self.head(state, t, i) for i in range(len(self.locations))}
        if len(heads) == 1 and None not in heads:
            _, instruction = heads.pop()
            return instruction[0] if instruction[0] in ("TF", "TFB") else None
        return None

    def without_fence(self, state, t):
        for i in range(len(self.locations)):
            state = self.without_head(state, t, i)
        return state

    def value(self, state, t, place) -> Any:
        """What a store writes; None where the load that delivers it has not executed."""
        value = self.code[t][place][2]
        if isinstance(value, int):
            return value
        source = max(p for p in range(place) if self.code[t][p][:2] == ("ld", value))
        return dict(state.read[t]).get(source)

    def with_read(self, state, t, place, value):
        return state._replace(read=put(state.read, t, state.read[t] | {(place, value)}))

    def with_copy(self, state, owner, i, copy):
        return state._replace(memory=put(state.memory, owner, put(state.memory[owner], i, copy)))


class Weak(Machine):
    """§4.1-4.2: each thread has a copy of memory, and a pool of loads."""

    def owners(self):
        return len(self.code)

    def memory_steps(self, state):
        for t in self.threads:
            for i, x in enumerate(self.locations):
                yield from self.drain(state, t, i)
                yield from self.share(state, t, i, x)
            yield from self.execute_loads(state, t)
            yield from self.drain_fence(state, t)

    def drain(self, state, t, i):
        """A store goes to the own copy, a load into the pool."""
        at = self.head(state, t, i)
        if at is None:
            return
        place, instruction = at
        if instruction[0] == "ld":
            after = self.without_head(state, t, i)
            yield after._replace(pool=put(after.pool, t, after.pool[t] | {place}))
        if instruction[0] == "st":
            waits = any(self.code[t][load][2] == instruction[1] for load in state.pool[t])
            value = self.value(state, t, place)
            if not waits and value is not None:
                copy = Copy(value, B=False, LS=False, GS=instruction[1] in self.shared)
                yield self.with_copy(self.without_head(state, t, i), t, i, copy)

    def execute_loads(self, state, t):
        """Any load of the pool: from the own copy, or borrowed."""
        for place in state.pool[t]:
            x = self.code[t][place][2]
            i = self.locations.index(x)
            own = state.memory[t][i]
            after = state._replace(pool=put(state.pool, t, state.pool[t] - {place}))
            yield self.with_read(after, t, place, own.data)
            if own.B:
                continue
            for u in self.threads:
                other = state.memory[u][i]
                if self.block[u] == self.block[t]:
                    lends = u != t and not other.LS
                else:
                    lends = x not in self.shared and not other.GS
                if lends:
                    borrowed = Copy(other.data, B=True, LS=True, GS=True)
                    read = self.with_read(after, t, place, other.data)
                    yield self.with_copy(read, t, i, borrowed)

    def share(self, state, t, i, x):
        """A copy that is not wholly shared goes to those that do not have it yet."""
        own = state.memory[t][i]
        if x in self.shared:
            if own.LS or own.B:
                return
            reached = [u for u in self.others(t) if self.block[u] == self.block[t]]
        elif own.GS:
            return
        elif own.LS:
            reached = [u for u in self.threads if self.block[u] != self.block[t]]
        else:
            reached = self.others(t)
        after = state
        for u in reached:
            after = self.with_copy(after, u, i, Copy(own.data))
        yield self.with_copy(after, t, i, own._replace(LS=True, GS=True))

    def drain_fence(self, state, t):
        """The own copies are merged: TFB's within the block, TF's everywhere."""
        fence = self.fence_at_all_heads(state, t)
        if fence is None or state.pool[t]:
            return
        after = self.without_fence(state, t)
        for i, x in enumerate(self.locations):
            own = state.memory[t][i]
            for u in self.others(t):
                near = self.block[u] == self.block[t]
                if near and not own.LS:
                    after = self.with_copy(after, u, i, Copy(own.data))
                far = not near and fence == "TF" and x not in self.shared
                if far and not (own.LS and own.GS):
                    after = self.with_copy(after, u, i, Copy(own.data))
            own = own._replace(LS=True, GS=own.GS or fence == "TF")
            after = self.with_copy(after, t, i, own)
        yield after

    def others(self, t):
        return [u for u in self.threads if u != t]


class Strong(Machine):
    """§4.3: each block has a view of memory, and one flag, GS, for each location of it.

    What the thesis leaves open is decided so. Queues are those of the weak machine. A load reads the
    block's view as it drains. TFB waits as in the weak machine, and has nothing to share. TF shares
    each global location that the block has not shared yet, whichever of its threads wrote it. Who is
    shared with has the value, and has nothing left to share of that location: otherwise it could
    share an older value over a newer one.
    """

    def owners(self):
        return max(self.block) + 1

    def memory_steps(self, state):
        for t in self.threads:
            for i in range(len(self.locations)):
                yield from self.drain(state, t, i)
            yield from self.drain_fence(state, t)
        for b in range(self.owners()):
            for i in range(len(self.locations)):
                if not state.memory[b][i].GS:
                    yield self.shared_by(state, b, i)

    def drain(self, state, t, i):
        at = self.head(state, t, i)
        if at is None:
            return
        place, instruction = at
        after, view = self.without_head(state, t, i), state.memory[self.block[t]]
        if instruction[0] == "ld":
            yield self.with_read(after, t, place, view[i].data)
        if instruction[0] == "st":
            value = self.value(state, t, place)
            if value is not None:
                copy = Copy(value, GS=instruction[1] in self.shared)
                yield self.with_copy(after, self.block[t], i, copy)

    def drain_fence(self, state, t):
        fence = self.fence_at_all_heads(state, t)
        if fence is None:
            return
        after = self.without_fence(state, t)
        if fence == "TF":
            for i in range(len(self.locations)):
                if not state.memory[self.block[t]][i].GS:
                    after = self.shared_by(after, self.block[t], i)
        yield after

    def shared_by(self, state, b, i):
        copy = Copy(state.memory[b][i].data)
        for each in range(self.owners()):
            state = self.with_copy(state, each, i, copy)
        return state
