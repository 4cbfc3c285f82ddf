"""The machine of ``machine`` with cachelines of several locations (RSP paper, §5.3, Remark 1).

What moves, moves a line: a fetch fills all of it, a flush brings out all of it that is dirty, an
invalidate, an eviction and a lock of L2 concern all of it, and the fifo holds lines. One device, so
that L2 is memory.
"""

from .machine import (
    CLEAN,
    DIRTY,
    FREE,
    VALID,
    Entry,
    Machine,
    dequeue,
    enqueue,
    invalidate,
    is_dirty,
    is_valid,
    put,
    set_entry,
    wrap,
)


class LinesMachine(Machine):
    """One program on the machine with lines.

    lines: the lines, as sets of names of locations; a location in none is a line of its own.
    mask: a line has a dirty bit for each location, as Remark 1 says; without it, one for all, and
    a flush brings out whatever the line holds. merging: a fetch fills what is clean of a line that
    is dirty in part; without it, it waits until all is clean. allocating: a store waits until the
    line is there and VALID, so that one bit says so for the line.
    """

    def __init__(self, program, lines, mask=True, merging=True, allocating=False, evict=False):
        super().__init__(program, evict=evict, l2_is_memory=True)
        self.mask, self.merging, self.allocating = mask, merging, allocating
        groups = [{self.index[x] for x in line if x in self.index} for line in lines]
        self.line_of = tuple(
            tuple(sorted(next((g for g in groups if x in g), {x}))) for x in self.all_locations
        )
        self.lines = sorted(set(self.line_of))

    def line_is_dirty(self, cache, x):
        return any(is_dirty(cache, y) for y in self.line_of[x])

    def store(self, cache, x, value):
        if not self.mask:  # one dirty bit: what else the line holds goes out with it
            for y in self.line_of[x]:
                if cache.entries[y] is not None:
                    cache = set_entry(cache, y, cache.entries[y]._replace(hygiene=DIRTY))
        return enqueue(set_entry(cache, x, Entry(value, DIRTY, VALID)), ("LOC", self.line_of[x]))

    def invalidate_line(self, cache, x):
        for y in self.line_of[x]:
            cache = invalidate(cache, y)
        return cache

    def execute_ST(self, state, t, value_fn, name):
        x, w = self.index[name], self.group_of[t]
        cache = state.l1[w]
        if self.allocating and not all(is_valid(cache, y) for y in self.line_of[x]):
            return None
        value = wrap(value_fn(dict(state.threads[t][1])))
        return self.advance(state._replace(l1=put(state.l1, w, self.store(cache, x, value))), t)

    def execute_INC_L1(self, state, t, rid, name, value_fn):
        x, w = self.index[name], self.group_of[t]
        cache = state.l1[w]
        needed = self.line_of[x] if self.allocating else (x,)
        if state.rmw[w] not in (FREE, t) or not all(is_valid(cache, y) for y in needed):
            return None
        old = cache.entries[x].value
        new = wrap(value_fn({**dict(state.threads[t][1]), rid: old}))
        l1 = put(state.l1, w, self.store(cache, x, new))
        return self.advance(state._replace(l1=l1), t, (rid, old))

    def execute_INC_L2(self, state, t, rid, name, value_fn):
        x, w, d = self.index[name], self.group_of[t], self.device_of[t]
        cache = state.l1[w]
        if state.rmw[w] not in (FREE, t) or self.line_is_dirty(cache, x):
            return None
        if state.lockfile[d][x] not in (FREE, t):
            return None
        old = state.memory[x]
        new = wrap(value_fn({**dict(state.threads[t][1]), rid: old}))
        l1 = put(state.l1, w, self.invalidate_line(cache, x))
        after = state._replace(l1=l1, memory=put(state.memory, x, new))
        return self.advance(after, t, (rid, old))

    def set_lockfile(self, state, d, x, lock):
        file = state.lockfile[d]
        for y in self.line_of[x]:
            file = put(file, y, lock)
        return state._replace(lockfile=put(state.lockfile, d, file))

    def l1_steps(self, state, w):
        cache, d = state.l1[w], self.device_of_group[w]

        def with_l1(state, cache):
            return state._replace(l1=put(state.l1, w, cache))

        for line in self.lines:
            lock = state.lockfile[d][line[0]]
            ready = lock is FREE or self.group_of[lock] == w
            dirty = [y for y in line if is_dirty(cache, y)]
            if self.evict and not dirty:  # EVICT_L1
                yield with_l1(state, self.filled(cache, dict.fromkeys(line)))
            if dirty and ready:  # FLUSH_L1
                memory = state.memory
                for y in dirty:
                    memory = put(memory, y, cache.entries[y].value)
                cleaned = {y: cache.entries[y]._replace(hygiene=CLEAN) for y in dirty}
                yield with_l1(state._replace(memory=memory), self.filled(cache, cleaned))
            if ready and (self.merging or not dirty):  # FETCH_L1
                fetched = {y: Entry(state.memory[y], CLEAN, VALID) for y in line if y not in dirty}
                if self.allocating and dirty and any(not is_valid(cache, y) for y in dirty):
                    continue  # one VALID bit: only a clean line can become VALID again
                yield with_l1(state, self.filled(cache, fetched))
        if cache.fifo:  # DEQLOC_L1, DEQMARKER_L1
            kind, item = cache.fifo[0]
            if kind == "FLUSH" or not any(is_dirty(cache, y) for y in item):
                yield with_l1(state, dequeue(cache))

    @staticmethod
    def filled(cache, entries):
        for y, entry in entries.items():
            cache = set_entry(cache, y, entry)
        return cache
