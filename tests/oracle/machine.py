"""Exhaustive search of the machine of Fig. 3, Tab. 1 and Tab. 2 of the RSP paper.

Every interleaving of instructions (Tab. 1) and environment steps (Tab. 2) is explored, state by
state, with no reduction.

A program is plain data::

    {"initial": {location: value},
     "threads": [{"device": d, "workgroup": w, "code": [(guard, instruction), ...]}, ...]}

A thread's number is its place in the list; work-group numbers are per device.  ``guard(env)``
gives a truth value and ``value_fn(env)`` a number, where ``env`` maps the ids of the reads that
this thread has executed to the values read.  An instruction with a false guard is skipped without
a step.  The instructions:

    ("LD", rid, x)                  ("ST", value_fn, x)
    ("INC_L1", rid, x, value_fn)    ("INC_L2", rid, x, value_fn)
    ("FLU_L1", "WG"|"DV"|"SY")      ("FLU_L2", "DV"|"SY")       ("INV_L1", "WG"|"DV"|"SY")
    ("LK_L2", x)                    ("UL_L2", x)
    ("LK_rmw", "DV"|"SY")           ("UL_rmw", "DV"|"SY")
    ("ARRIVE", label)               ("DEPART", label)

DEPART blocks until every other thread of the work-group has executed an ARRIVE with the label.

The ``value_fn`` of INC_L1 and INC_L2 gives the value *written*, from an ``env`` that already holds
the instruction's own read (so the paper's increment is ``lambda env: env[rid] + 1``).
"""

from typing import NamedTuple

CLEAN, DIRTY = "CLEAN", "DIRTY"
VALID, INVD = "VALID", "INV'D"
FREE = None  # a lock is FREE or the number of the thread that holds it
VARIANTS = ("rsp", "rsp-st-waits")


class TooLarge(Exception):
    """More than ``limit`` states were visited."""


class Entry(NamedTuple):
    """A cache entry (Fig. 3a, CacheEntry); an absent one is None."""

    value: int
    hygiene: str
    freshness: str


class Cache(NamedTuple):
    """A cache (Fig. 3a, Cache): an entry per location, and the fifo, its oldest element first.

    Fifo elements are ("LOC", x) and ("FLUSH", thread).
    """

    entries: tuple
    fifo: tuple


class State(NamedTuple):
    """A machine state (Fig. 3a, SyState).  ``x`` below is a location's index."""

    threads: tuple  # per thread: (position in its code, ((rid, value), ...))
    l1: tuple  # per work-group: Cache
    rmw: tuple  # per work-group: lock
    l2: tuple  # per device: Cache
    lockfile: tuple  # per device: a lock per location
    memory: tuple  # per location: value


def wrap(value):
    """The 32-bit signed integer congruent to ``value``."""
    return (value + 2**31) % 2**32 - 2**31


def put(items, index, item):
    """The tuple ``items`` with one element replaced."""
    return items[:index] + (item,) + items[index + 1 :]


def enqueue(cache, element):
    return Cache(cache.entries, cache.fifo + (element,))


def dequeue(cache):
    return Cache(cache.entries, cache.fifo[1:])


def set_entry(cache, x, entry):
    return Cache(put(cache.entries, x, entry), cache.fifo)


def store(cache, x, value):
    """Tab. 1, store(C, x, v)."""
    return enqueue(set_entry(cache, x, Entry(value, DIRTY, VALID)), ("LOC", x))


def invalidate(cache, x):
    """Tab. 1, invalidate(C, x): whatever the hygiene."""
    entry = cache.entries[x]
    if entry is None:
        return cache
    return set_entry(cache, x, Entry(entry.value, entry.hygiene, INVD))


def is_valid(cache, x):
    return cache.entries[x] is not None and cache.entries[x].freshness == VALID


def is_dirty(cache, x):
    return cache.entries[x] is not None and cache.entries[x].hygiene == DIRTY


def is_clean(cache, x):
    return cache.entries[x] is not None and cache.entries[x].hygiene == CLEAN


class Machine:
    """One program on the machine: its initial state, its steps, and which states are complete."""

    def __init__(self, program, variant="rsp", evict=True, l2_is_memory=False, coherent=False):
        if variant not in VARIANTS:
            raise ValueError(f"unknown variant {variant!r}")
        self.variant = variant
        self.evict = evict
        self.l2_is_memory = l2_is_memory
        threads = program["threads"]
        self.codes = [list(thread["code"]) for thread in threads]
        self.locations = sorted(
            set(program["initial"])
            | {x for code in self.codes for _, ins in code for x in locations_of(ins)}
        )
        self.index = {name: x for x, name in enumerate(self.locations)}
        self.initial_values = tuple(wrap(program["initial"].get(x, 0)) for x in self.locations)
        # Devices and work-groups are numbered 0, 1, ... in order.
        devices = sorted({thread["device"] for thread in threads})
        groups = sorted({(thread["device"], thread["workgroup"]) for thread in threads})
        self.device_of = [devices.index(thread["device"]) for thread in threads]
        self.group_of = [
            groups.index((thread["device"], thread["workgroup"])) for thread in threads
        ]
        self.device_of_group = [devices.index(device) for device, _ in groups]
        self.all_devices = range(len(devices))
        self.all_groups = range(len(groups))
        self.all_locations = range(len(self.locations))
        if l2_is_memory and len(devices) > 1 and not coherent:
            raise ValueError("with several devices the L2s cannot be treated as memory")

    # ---- states ----

    def initial(self):
        nothing = Cache((None,) * len(self.locations), ())
        return State(
            threads=tuple((self.skip(t, 0, ()), ()) for t in range(len(self.codes))),
            l1=tuple(nothing for _ in self.all_groups),
            rmw=tuple(FREE for _ in self.all_groups),
            l2=tuple(nothing for _ in self.all_devices),
            lockfile=tuple((FREE,) * len(self.locations) for _ in self.all_devices),
            memory=self.initial_values,
        )

    def skip(self, t, position, reads):
        """The first position from ``position`` on whose guard holds (or the end)."""
        code = self.codes[t]
        while position < len(code) and not code[position][0](dict(reads)):
            position += 1
        return position

    def is_complete(self, state):
        """Every instruction has been dispatched and nothing is DIRTY (§6.1)."""
        return all(
            position == len(self.codes[t]) for t, (position, _) in enumerate(state.threads)
        ) and not any(
            is_dirty(cache, x) for cache in state.l1 + state.l2 for x in self.all_locations
        )

    def outcome(self, state):
        reads = [read for _, thread_reads in state.threads for read in thread_reads]
        memory = [(self.locations[x], state.memory[x]) for x in self.all_locations]
        return tuple(sorted(reads)), tuple(sorted(memory))

    def steps(self, state):
        """All successors of a state."""
        for t in range(len(self.codes)):
            after = self.execute(state, t)
            if after is not None:
                yield after
        for w in self.all_groups:
            yield from self.l1_steps(state, w)
        if not self.l2_is_memory:
            for d in self.all_devices:
                yield from self.l2_steps(state, d)

    # ---- Tab. 1 ----

    def groups_in(self, t, scope):
        """The work-groups that thread ``t`` means by WG, DV or SY."""
        if scope == "WG":
            return [self.group_of[t]]
        if scope == "DV":
            return [w for w in self.all_groups if self.device_of_group[w] == self.device_of[t]]
        if scope == "SY":
            return list(self.all_groups)
        raise ValueError(f"not a scope of groups: {scope!r}")

    def devices_in(self, t, scope):
        if scope == "DV":
            return [self.device_of[t]]
        if scope == "SY":
            return list(self.all_devices)
        raise ValueError(f"not a scope of devices: {scope!r}")

    def execute(self, state, t):
        """The state after thread ``t``'s next instruction, or None when it blocks."""
        position, _ = state.threads[t]
        if position == len(self.codes[t]):
            return None
        if any(("FLUSH", t) in cache.fifo for cache in state.l1 + state.l2):
            return None
        _, instruction = self.codes[t][position]
        return getattr(self, "execute_" + instruction[0])(state, t, *instruction[1:])

    def advance(self, state, t, new_read=None):
        """Thread ``t`` has executed its instruction (and read a value)."""
        position, reads = state.threads[t]
        if new_read is not None:
            reads = reads + (new_read,)
        thread = (self.skip(t, position + 1, reads), reads)
        return state._replace(threads=put(state.threads, t, thread))

    def execute_LD(self, state, t, rid, name):
        x, w = self.index[name], self.group_of[t]
        if not is_valid(state.l1[w], x):
            return None
        return self.advance(state, t, (rid, state.l1[w].entries[x].value))

    def execute_ST(self, state, t, value_fn, name):
        x, w = self.index[name], self.group_of[t]
        cache = state.l1[w]
        if self.variant == "rsp-st-waits" and is_dirty(cache, x) and not is_valid(cache, x):
            return None
        value = wrap(value_fn(dict(state.threads[t][1])))
        return self.advance(state._replace(l1=put(state.l1, w, store(cache, x, value))), t)

    def execute_INC_L1(self, state, t, rid, name, value_fn):
        x, w = self.index[name], self.group_of[t]
        cache = state.l1[w]
        if state.rmw[w] not in (FREE, t):
            return None
        if not is_valid(cache, x):
            return None
        old = cache.entries[x].value
        new = wrap(value_fn({**dict(state.threads[t][1]), rid: old}))
        return self.advance(
            state._replace(l1=put(state.l1, w, store(cache, x, new))), t, (rid, old)
        )

    def execute_INC_L2(self, state, t, rid, name, value_fn):
        x, w, d = self.index[name], self.group_of[t], self.device_of[t]
        if state.rmw[w] not in (FREE, t):
            return None
        if is_dirty(state.l1[w], x):
            return None
        if state.lockfile[d][x] not in (FREE, t):
            return None
        old = self.l2_value(state, d, x)
        if old is None:
            return None
        new = wrap(value_fn({**dict(state.threads[t][1]), rid: old}))
        state = state._replace(l1=put(state.l1, w, invalidate(state.l1[w], x)))
        return self.advance(self.l2_store(state, d, x, new), t, (rid, old))

    def execute_FLU_L1(self, state, t, scope):
        l1 = state.l1
        for w in self.groups_in(t, scope):
            l1 = put(l1, w, enqueue(l1[w], ("FLUSH", t)))
        return self.advance(state._replace(l1=l1), t)

    def execute_FLU_L2(self, state, t, scope):
        l2 = state.l2
        for d in self.devices_in(t, scope):
            if not self.l2_is_memory:
                l2 = put(l2, d, enqueue(l2[d], ("FLUSH", t)))
        return self.advance(state._replace(l2=l2), t)

    def execute_INV_L1(self, state, t, scope):
        l1 = state.l1
        for w in self.groups_in(t, scope):
            for x in self.all_locations:
                l1 = put(l1, w, invalidate(l1[w], x))
        return self.advance(state._replace(l1=l1), t)

    def execute_INV_L2(self, state, t, scope):
        l2 = state.l2
        for d in self.devices_in(t, scope):
            for x in self.all_locations:
                if not self.l2_is_memory:
                    l2 = put(l2, d, invalidate(l2[d], x))
        return self.advance(state._replace(l2=l2), t)

    def execute_LK_L2(self, state, t, name):
        x, d = self.index[name], self.device_of[t]
        if state.lockfile[d][x] not in (FREE, t):
            return None
        return self.advance(self.set_lockfile(state, d, x, t), t)

    def execute_UL_L2(self, state, t, name):
        x, d = self.index[name], self.device_of[t]
        return self.advance(self.set_lockfile(state, d, x, FREE), t)

    def execute_LK_rmw(self, state, t, scope):
        groups = self.rmw_groups(t, scope)
        if any(state.rmw[w] not in (FREE, t) for w in groups):
            return None
        return self.advance(self.set_rmw(state, groups, t), t)

    def execute_UL_rmw(self, state, t, scope):
        return self.advance(self.set_rmw(state, self.rmw_groups(t, scope), FREE), t)

    def execute_ARRIVE(self, state, t, label):
        return self.advance(state, t)

    def execute_DEPART(self, state, t, label):
        for other, (position, reads) in enumerate(state.threads):
            if other != t and self.group_of[other] == self.group_of[t]:
                passed = self.codes[other][:position]
                if not any(guard(dict(reads)) for guard, it in passed if it == ("ARRIVE", label)):
                    return None
        return self.advance(state, t)

    def rmw_groups(self, t, scope):
        if scope not in ("DV", "SY"):
            raise ValueError(f"not a scope of rmw locks: {scope!r}")
        return self.groups_in(t, scope)

    @staticmethod
    def set_lockfile(state, d, x, lock):
        return state._replace(lockfile=put(state.lockfile, d, put(state.lockfile[d], x, lock)))

    @staticmethod
    def set_rmw(state, groups, lock):
        return state._replace(
            rmw=tuple(lock if w in groups else old for w, old in enumerate(state.rmw))
        )

    # ---- what a device's L2 holds (or memory, when it is treated as memory) ----

    def l2_value(self, state, d, x):
        """The VALID value of x in the L2 of device d, or None."""
        if self.l2_is_memory:
            return state.memory[x]
        if is_valid(state.l2[d], x):
            return state.l2[d].entries[x].value
        return None

    def l2_store(self, state, d, x, value):
        """Invalidate x in every device's L2, then store it in that of device d."""
        if self.l2_is_memory:
            return state._replace(memory=put(state.memory, x, value))
        l2 = tuple(invalidate(cache, x) for cache in state.l2)
        return state._replace(l2=put(l2, d, store(l2[d], x, value)))

    # ---- Tab. 2 ----

    def l1_steps(self, state, w):
        """The environment steps that threads of work-group w may trigger on its L1."""
        cache, d = state.l1[w], self.device_of_group[w]

        def with_l1(state, cache):
            return state._replace(l1=put(state.l1, w, cache))

        for x in self.all_locations:
            entry, lock = cache.entries[x], state.lockfile[d][x]
            # Ready for some thread of this work-group (settled point (a)).
            ready = lock is FREE or self.group_of[lock] == w
            if self.evict and is_clean(cache, x):  # EVICT_L1
                yield with_l1(state, set_entry(cache, x, None))
            if is_dirty(cache, x) and ready:  # FLUSH_L1
                cleaned = set_entry(cache, x, Entry(entry.value, CLEAN, entry.freshness))
                yield with_l1(self.l2_store(state, d, x, entry.value), cleaned)
            value = self.l2_value(state, d, x)
            if not is_dirty(cache, x) and value is not None and ready:  # FETCH_L1
                yield with_l1(state, set_entry(cache, x, Entry(value, CLEAN, VALID)))
        if self.may_dequeue(cache):  # DEQLOC_L1, DEQMARKER_L1
            yield with_l1(state, dequeue(cache))

    def l2_steps(self, state, d):
        """The environment steps that threads of device d may trigger on its L2."""
        cache = state.l2[d]

        def with_l2(state, cache):
            return state._replace(l2=put(state.l2, d, cache))

        for x in self.all_locations:
            entry, lock = cache.entries[x], state.lockfile[d][x]
            # Ready for some thread of this device (settled point (a)).
            ready = lock is FREE or self.device_of[lock] == d
            if self.evict and is_clean(cache, x) and ready:  # EVICT_L2
                yield with_l2(state, set_entry(cache, x, None))
            if is_dirty(cache, x) and ready:  # FLUSH_L2
                cleaned = set_entry(cache, x, Entry(entry.value, CLEAN, entry.freshness))
                yield with_l2(state._replace(memory=put(state.memory, x, entry.value)), cleaned)
            if not is_dirty(cache, x) and ready:  # FETCH_L2
                yield with_l2(state, set_entry(cache, x, Entry(state.memory[x], CLEAN, VALID)))
        if self.may_dequeue(cache):  # DEQLOC_L2, DEQMARKER_L2
            yield with_l2(state, dequeue(cache))

    @staticmethod
    def may_dequeue(cache):
        if not cache.fifo:
            return False
        kind, item = cache.fifo[0]
        return kind == "FLUSH" or not is_dirty(cache, item)


def locations_of(instruction):
    """The locations that an instruction names."""
    mnemonic = instruction[0]
    if mnemonic in ("LD", "ST", "INC_L1", "INC_L2"):
        return [instruction[2]]
    if mnemonic in ("LK_L2", "UL_L2"):
        return [instruction[1]]
    return []


def explore(machine, limit):
    """All reachable states, each exactly once, in the order of their discovery."""
    start = machine.initial()
    seen, pending = {start}, [start]
    while pending:
        state = pending.pop()
        yield state
        for after in machine.steps(state):
            if after not in seen:
                seen.add(after)
                pending.append(after)
                if len(seen) > limit:
                    raise TooLarge(f"more than {limit} states")


def outcomes_and_stuck(machine, limit=1_000_000):
    """The outcomes of all complete executions, and whether some reachable state cannot reach a
    complete one.

    An outcome is (((rid, value), ...) of the executed reads, ((location, value), ...) of global
    memory at the end), both sorted.  Raises TooLarge when more than ``limit`` states were visited.
    """
    start = machine.initial()
    before, complete, pending = {start: []}, [], [start]
    while pending:
        state = pending.pop()
        if machine.is_complete(state):
            complete.append(state)
        for after in machine.steps(state):
            if after not in before:
                before[after] = []
                pending.append(after)
                if len(before) > limit:
                    raise TooLarge(f"more than {limit} states")
            before[after].append(state)
    can_complete, pending = set(complete), list(complete)
    while pending:
        new = set(before[pending.pop()]) - can_complete
        can_complete |= new
        pending += new
    return frozenset(map(machine.outcome, complete)), len(can_complete) < len(before)


def outcomes(program, variant="rsp", limit=1_000_000, **how):
    """The outcomes of all complete executions; the empty set when none completes."""
    return complete_outcomes(Machine(program, variant, **how), limit)


def complete_outcomes(machine, limit):
    """The same of a machine, in less memory."""
    return frozenset(
        machine.outcome(state) for state in explore(machine, limit) if machine.is_complete(state)
    )


def stuck(program, variant="rsp", limit=1_000_000, **how):
    """Whether some reachable state cannot reach a complete one."""
    return outcomes_and_stuck(Machine(program, variant, **how), limit)[1]
