"""Does a program of oracle.machine hang? Loops are loops here, and the scheduler an automaton.

A thread may have, beside its code, ``"loops": [(first, end, going, reads), ...]``: behind the
instructions from ``first`` to ``end`` it goes back to the first if ``going(env)``, and the
``reads`` are forgotten.  A run hangs if it ends up in states that it goes through for ever, out of
which no step leads but of groups that are stopped, and some group that is not stopped has not ended.
"""

from itertools import chain, combinations

from oracle.machine import Machine, TooLarge
from oracle.schedulers import components, stuck_under


class Looping(Machine):
    """A machine whose threads have loops."""

    def __init__(self, program, **how):
        super().__init__(program, **how)
        loops = [thread.get("loops", ()) for thread in program["threads"]]
        self.loops = [sorted(own, key=lambda it: -it[0]) for own in loops]

    def advance(self, state, t, new_read=None):
        position, reads = state.threads[t]
        if new_read is not None:
            reads = (*reads, new_read)
        thread = self.come(t, position + 1, reads)
        threads = (*state.threads[:t], thread, *state.threads[t + 1 :])
        return state._replace(threads=threads)

    def come(self, t, position, reads):
        """Where a thread is that has come to a position, and what it remembers."""
        while True:
            for first, end, going, own in self.loops[t]:
                if end == position and all(read in dict(reads) for read in own):
                    if going(dict(reads)):
                        reads = tuple(it for it in reads if it[0] not in own)
                        position = first
                        break
            else:
                if position == len(self.codes[t]) or self.codes[t][position][0](dict(reads)):
                    return position, reads
                position += 1

    def moves(self, state):
        """Each step, with the group that makes it, or None."""
        for t in range(len(self.codes)):
            after = self.execute(state, t)
            if after is not None:
                yield self.group_of[t], after
        for w in self.all_groups:
            yield from ((None, after) for after in self.l1_steps(state, w))
        if not self.l2_is_memory:
            for d in self.all_devices:
                yield from ((None, after) for after in self.l2_steps(state, d))

    def unfinished(self, state):
        ends = enumerate(state.threads)
        return frozenset(self.group_of[t] for t, (at, _) in ends if at < len(self.codes[t]))


def hangs(program, most, limit, **how):
    """Each way to hang, as (groups stopped, groups unfinished, groups started).

    most: groups that are occupant at once.
    """
    machine = Looping(program, **how)
    start = (machine.initial(), frozenset())
    edges, waiting = {}, [start]
    while waiting:
        here = waiting.pop()
        if here in edges:
            continue
        if len(edges) >= limit:
            raise TooLarge(f"more than {limit} states")
        state, started = here
        occupant = started & machine.unfinished(state)
        edges[here] = [
            (group, (after, started if group is None else started | {group}))
            for group, after in machine.moves(state)
            if group is None or group in started or len(occupant) < most
        ]
        waiting += [after for _, after in edges[here]]
    groups = range(len(machine.all_groups))
    found = set()
    for stopped in chain.from_iterable(combinations(groups, n) for n in range(len(groups) + 1)):
        left = {here: [it for it in steps if it[0] not in stopped] for here, steps in edges.items()}
        for component in components(left):
            if any(after not in component for here in component for _, after in left[here]):
                continue
            state, started = next(iter(component))
            unfinished = machine.unfinished(state)
            waiting = unfinished - set(stopped) - started
            if waiting and len(started & unfinished) >= most:
                continue  # Who is kept from starting is stopped.
            done = not unfinished and any(machine.is_complete(it) for it, _ in component)
            if (
                set(stopped) <= unfinished
                and not done
                and (not unfinished or unfinished - set(stopped))
            ):
                found.add((frozenset(stopped), unfinished, started))
    return found


def stuck(program, limit=20_000, **how):
    """The schedulers under which a program may hang. Raises TooLarge."""
    groups = len({(it["device"], it["workgroup"]) for it in program["threads"]})
    return stuck_under({it: hangs(program, it, limit, **how) for it in range(1, groups + 1)})
