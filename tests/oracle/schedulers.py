"""Does a program hang, and how does it end? Every interleaving, the scheduler an automaton.

Loops are loops here: nothing is unrolled, and no last iteration is guessed. Memory is sequentially
consistent, so that a program must have seq_cst atomics that reach everybody. A run hangs if it ends
up in states that it goes through for ever, in which no thread of a group that is scheduled is
left out, and some thread of such a group never ends.
"""

from dataclasses import dataclass
from itertools import chain, combinations

SCHEDULERS = ("fair", "obe", "obe:1", "obe:2", "hsa", "hsa-obe", "lobe", "unfair")


class TooMany(Exception):
    """More states than were asked for."""


@dataclass(frozen=True)
class Load:
    register: str
    location: str


@dataclass(frozen=True)
class Store:
    location: str
    value: int


@dataclass(frozen=True)
class Add:
    register: str
    location: str
    amount: int


@dataclass(frozen=True)
class Exchange:
    register: str
    location: str
    value: int


@dataclass(frozen=True)
class CompareExchange:
    """register: 1 where it succeeds, otherwise 0."""

    register: str
    location: str
    expected: int
    desired: int


@dataclass(frozen=True)
class Barrier:
    """Of the work-group."""


@dataclass(frozen=True)
class If:
    register: str
    value: int
    then: tuple
    otherwise: tuple = ()


@dataclass(frozen=True)
class Repeat:
    """`do body while (register == value || …)`, with `!=` where not equal.

    conditions: (register, equal, value) of each.
    """

    body: tuple
    conditions: tuple


@dataclass(frozen=True)
class Concurrent:
    """groups: for each work-group its threads, each a tuple of statements. One device."""

    groups: tuple

    @property
    def threads(self):
        return [(number, code) for number, group in enumerate(self.groups) for code in group]


# ---- steps --------------------------------------------------------------------------------------


def flat(code):
    """Statements as instructions: accesses, and ("unless", register, equal, value, where to)."""
    found = []
    for each in code:
        match each:
            case If(register, value, then, otherwise):
                then, otherwise = flat(then), flat(otherwise)
                if otherwise:
                    then = [*then, ("go", len(otherwise) + 1)]
                found += [("unless", register, True, value, len(then) + 1), *then, *otherwise]
            case Repeat(body, conditions):
                body = flat(body)
                for register, equal, value in conditions:
                    body.append(("unless", register, not equal, value, -len(body)))
                found += body
            case _:
                found.append(each)
    return found


def settled(code, place, registers):
    """Where the next access of a thread is: what it decides by registers alone takes no time."""
    while place < len(code) and isinstance(code[place], tuple):
        match code[place]:
            case ("go", distance):
                place += distance
            case ("unless", register, equal, value, distance):
                holds = (dict(registers).get(register, 0) == value) == equal
                place += 1 if holds else distance
    return place


def access(instruction, registers, memory):
    """The registers and the memory after an access."""
    memory, registers = dict(memory), dict(registers)
    there = memory.get(getattr(instruction, "location", None), 0)
    match instruction:
        case Load(register, _):
            registers[register] = there
        case Store(location, value):
            memory[location] = value
        case Add(register, location, amount):
            registers[register], memory[location] = there, there + amount
        case Exchange(register, location, value):
            registers[register], memory[location] = there, value
        case CompareExchange(register, location, expected, desired):
            registers[register] = int(there == expected)
            if there == expected:
                memory[location] = desired
    return tuple(sorted(registers.items())), tuple(sorted(memory.items()))


class Interleavings:
    """The states of a program: (memory, for each thread its place and registers, groups started).

    most: groups that are occupant at once. edges: state → (thread, next state).
    """

    def __init__(self, program, most, states):
        self.group_of = [group for group, _ in program.threads]
        self.code = [flat(code) for _, code in program.threads]
        self.groups = range(len(program.groups))
        start = ((), tuple((settled(code, 0, ()), ()) for code in self.code), frozenset())
        self.edges, waiting = {}, [start]
        while waiting:
            state = waiting.pop()
            if state in self.edges:
                continue
            if len(self.edges) >= states:
                raise TooMany
            self.edges[state] = list(self.steps(state, most))
            waiting += [after for _, after in self.edges[state]]

    def ended(self, state, thread):
        return state[1][thread][0] == len(self.code[thread])

    def unfinished(self, state):
        """The groups some of whose threads have not ended."""
        threads = range(len(self.code))
        return frozenset(self.group_of[it] for it in threads if not self.ended(state, it))

    def steps(self, state, most):
        memory, threads, started = state
        occupant = started & self.unfinished(state)
        met = set()
        for thread, (place, registers) in enumerate(threads):
            group = self.group_of[thread]
            if self.ended(state, thread) or (group not in started and len(occupant) >= most):
                continue
            instruction = self.code[thread][place]
            if instruction == Barrier():
                if group not in met and self.all_wait(state, group):
                    met.add(group)
                    yield from self.through(state, group)
                continue
            registers, after = access(instruction, registers, memory)
            place = settled(self.code[thread], place + 1, registers)
            changed = (*threads[:thread], (place, registers), *threads[thread + 1 :])
            yield thread, (after, changed, started | {group})

    def all_wait(self, state, group):
        """Whether all threads of a group are at a barrier."""
        own = [it for it in range(len(self.code)) if self.group_of[it] == group]
        return all(
            not self.ended(state, it) and self.code[it][state[1][it][0]] == Barrier() for it in own
        )

    def through(self, state, group):
        """The step of a group through a barrier, as one of each of its threads."""
        memory, threads, started = state
        own = {it for it in range(len(self.code)) if self.group_of[it] == group}
        changed = tuple(
            (settled(self.code[it], place + 1, registers), registers)
            if it in own
            else (place, registers)
            for it, (place, registers) in enumerate(threads)
        )
        for it in own:
            yield it, (memory, changed, started | {group})

    def hangs(self):
        """Each way to hang, as (groups stopped, groups unfinished, groups started)."""
        found = set()
        for stopped in map(frozenset, subsets(self.groups)):
            moving = {
                state: [(it, after) for it, after in steps if self.group_of[it] not in stopped]
                for state, steps in self.edges.items()
            }
            for component in components(moving):
                state = next(iter(component))
                _, _, started = state
                unfinished = self.unfinished(state)
                running = unfinished - stopped
                if not (stopped <= unfinished and running and running <= started):
                    continue
                there = {it for each in component for it, _ in moving[each]}
                inside = {
                    it for each in component for it, after in moving[each] if after in component
                }
                if there <= inside:  # whoever can go on does so, and stays
                    found.add((stopped, unfinished, started))
        return found

    def ends(self):
        """How runs may come to their end: (memory, for each thread its registers)."""
        for state in self.edges:
            if not self.unfinished(state):
                memory, threads, _ = state
                yield memory, tuple(registers for _, registers in threads)


def subsets(groups):
    return chain.from_iterable(combinations(groups, size) for size in range(len(groups) + 1))


def components(edges):
    """The strongly connected components of state → (thread, next state), those of one state too."""
    number, low, on_path, path, found = {}, {}, set(), [], []
    for root in edges:
        if root in number:
            continue
        work = [(root, iter(edges[root]))]
        number[root] = low[root] = len(number)
        path.append(root)
        on_path.add(root)
        while work:
            state, steps = work[-1]
            for _, after in steps:
                if after not in number:
                    number[after] = low[after] = len(number)
                    path.append(after)
                    on_path.add(after)
                    work.append((after, iter(edges[after])))
                    break
                if after in on_path:
                    low[state] = min(low[state], number[after])
            else:
                work.pop()
                if work:
                    low[work[-1][0]] = min(low[work[-1][0]], low[state])
                if low[state] == number[state]:
                    component = set()
                    while state not in component:
                        component.add(path.pop())
                    on_path -= component
                    found.append(component)
    return found


# ---- schedulers ---------------------------------------------------------------------------------


def stuck(program, states=20_000):
    """The schedulers under which a program may hang. Raises TooMany."""
    most = range(1, len(program.groups) + 1)
    return stuck_under({it: Interleavings(program, it, states).hangs() for it in most})


def stuck_under(bounded):
    """The schedulers that allow one of some ways to hang, by the groups that are occupant at once:
    each as (groups stopped, groups unfinished, groups started)."""
    groups = max(bounded)
    everywhere = bounded[groups]

    def by_occupancy(most):
        for stopped, unfinished, started in bounded[min(most, groups)]:
            occupant = started & unfinished
            if not stopped or (not stopped & started and len(occupant) >= most):
                yield stopped, unfinished, started

    def not_the_lowest(hang):
        stopped, unfinished, _ = hang
        return not stopped or min(unfinished) not in stopped

    def in_line(hang):
        stopped, _, started = hang
        return all(a > b for a in stopped for b in started) and not stopped & started

    obe = {hang for most in bounded for hang in by_occupancy(most)}
    found = {
        "fair": any(not stopped for stopped, _, _ in everywhere),
        "obe": bool(obe),
        "obe:1": any(by_occupancy(1)),
        "obe:2": any(by_occupancy(2)),
        "hsa": any(map(not_the_lowest, everywhere)),
        "hsa-obe": any(map(not_the_lowest, obe)),
        "lobe": any(map(in_line, everywhere)),
        "unfair": bool(everywhere),
    }
    return frozenset(name for name, hangs in found.items() if hangs)


def endings(program, most, states=20_000):
    """How runs may end in which so many groups are occupant at once: as of Interleavings.ends.

    Raises TooMany.
    """
    return frozenset(Interleavings(program, most, states).ends())
