"""What Vulkan allows of small programs, by nothing that is the package's.

Programs are straight lines of accesses, atomics, barriers and operations of the device. Every write
for every read and every order of atomic writes is tried, and the model, written by hand from the
Vulkan specification 1.4, appendix B, is asked. As there, a read-modify-write is one operation, and
availability is found by chains from the write. A rule may be left out, to see where it matters.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from itertools import combinations, permutations, product
from typing import NamedTuple

from oracle.processors import Pairs, closed, has_cycle, table

Final = tuple[tuple[str, int], ...]
"""The registers and locations at the end, by their names."""

LEVELS = ("dv", "qf", "wg", "sg")
"""Scopes and their memory domains, by how many numbers of a place threads share in an instance."""


class Op(NamedTuple):
    """A line of a thread. words: all that stands behind its first point. value: a number to store,
    a register by its name, or the number of a control barrier."""

    kind: str
    words: tuple[str, ...] = ()
    name: str = ""
    register: str = ""
    value: int | str = 0

    def text(self) -> str:
        said = ".".join([self.kind, *self.words])
        match self.kind:
            case "ld":
                return f"{said} {self.register}, {self.name}"
            case "st":
                return f"{said} {self.name}, {self.value}"
            case "rmw":
                return f"{said} {self.register}, {self.name}, {self.value}"
            case "cbar":
                return f"{said} {self.value}"
        return said

    @property
    def location(self) -> str:
        return "x" if self.name == "a" else self.name

    @property
    def reads(self) -> bool:
        return self.kind in ("ld", "rmw")

    @property
    def writes(self) -> bool:
        return self.kind in ("st", "rmw")

    @property
    def halves(self) -> str:
        return "R" * self.reads + "W" * self.writes

    @property
    def atomic(self) -> bool:
        return "atom" in self.words

    @property
    def releases(self) -> bool:
        return not {"rel", "acq_rel"}.isdisjoint(self.words)

    @property
    def acquires(self) -> bool:
        return not {"acq", "acq_rel"}.isdisjoint(self.words)

    @property
    def is_barrier(self) -> bool:
        return self.kind in ("membar", "cbar") and (self.releases or self.acquires)

    @property
    def nonprivate(self) -> bool:
        return not {"atom", "av", "vis", "nonpriv"}.isdisjoint(self.words)

    @property
    def classes(self) -> set[str]:
        """The storage class of an access."""
        return {it for it in self.words if it.startswith("sc")}

    @property
    def semantics(self) -> set[str]:
        """The storage classes of its semantics."""
        return {it[3:] for it in self.words if it.startswith("semsc")}

    @property
    def level(self) -> int | None:
        return next((LEVELS.index(it) for it in self.words if it in LEVELS), None)

    def covers(self, access: Op, how: str) -> bool:
        """Whether its operations of availability or visibility, av or vis, are for the location and
        the reference of an access."""
        own = self.writes if how == "av" else self.reads
        if own and (self.atomic or how in self.words) and self.name == access.name:
            return True
        return f"sem{how}" in self.words and access.classes <= self.semantics


class Program(NamedTuple):
    """places: the queue family, work-group and sub-group of each thread. ssw: threads that the system
    orders. given: what registers must have; other executions count for nothing."""

    places: Sequence[tuple[int, int, int]]
    threads: Sequence[Sequence[Op]]
    ssw: frozenset[tuple[int, int]] = frozenset()
    given: Mapping[str, int] = {}

    def text(self) -> str:
        columns = [[op.text() for op in code] for code in self.threads]
        heads = [f"P{at}@sg {sg},wg {wg},qf {qf}" for at, (qf, wg, sg) in enumerate(self.places)]
        asked = "; ".join(["x", "y", *self.registers()])
        ssw = "".join(f"ssw {a} {b}; " for a, b in sorted(self.ssw))
        claims = " /\\ ".join(f"{it}={value}" for it, value in self.given.items())
        return (
            "Vulkan random\n{ x=0; y=0; a aliases x; }\n"
            + (f"{{ {ssw}}}\n" if ssw else "")
            + f"{table(heads, columns)}\nlocations [{asked};]\n"
            + (f"filter ({claims})\n" if claims else "")
            + "exists (x=0)\n"
        )

    def registers(self) -> list[str]:
        return [
            f"{at}:{op.register}" for at, code in enumerate(self.threads) for op in code if op.reads
        ]


class Answer(NamedTuple):
    """racy: whether a consistent execution has a data race."""

    racy: bool
    finals: frozenset[Final]


def answer(test: Program, without: str = "") -> Answer:
    """What the model says of a program."""
    ops = [(at, op) for at, code in enumerate(test.threads) for op in code]
    judge = Judge(test, ops, without)
    reads = [at for at, (_, op) in enumerate(ops) if op.reads]
    writes = {
        name: [at for at, (_, op) in enumerate(ops) if op.writes and op.location == name]
        for name in ("x", "y")
    }
    offered = [[None, *(it for it in writes[ops[at][1].location] if it != at)] for at in reads]
    orders = [permutations(it for it in them if ops[it][1].atomic) for them in writes.values()]
    racy, found = False, set[Final]()
    modified = {frozenset(judge.modified([*x, *y])) for x, y in product(*map(list, orders))}
    for sources in product(*offered):
        rf = dict(zip(reads, sources, strict=True))
        values = valued(ops, rf)
        if values is None:
            continue
        own = {f"{ops[at][0]}:{ops[at][1].register}": values[at][0] for at in reads}
        if any(own[it] != value for it, value in test.given.items()):
            continue
        for order in modified:
            execution = Execution(judge, rf, set(order))
            if execution.consistent():
                racy = racy or execution.racy()
                last = [
                    [values[it][1] for it in execution.last(them)] or [0]
                    for them in writes.values()
                ]
                for ends in product(*last):
                    memory = dict(zip(writes, ends, strict=True))
                    found.add(tuple(sorted({**own, **memory}.items())))
    return Answer(racy, frozenset(found))


def valued(
    ops: Sequence[tuple[int, Op]], rf: Mapping[int, int | None]
) -> dict[int, tuple[int, int]] | None:
    """What each operation reads and writes; None where a value comes from itself."""
    known: dict[int, tuple[int, int]] = {}
    bearers = {(thread, op.register): at for at, (thread, op) in enumerate(ops) if op.reads}

    def value(at: int, above: frozenset[int]) -> tuple[int, int] | None:
        if at in above:
            return None
        if at not in known:
            thread, op = ops[at]
            old = new = 0
            own = above | {at}
            if op.reads and (source := rf[at]) is not None:
                read = value(source, own)
                if read is None:
                    return None
                old = read[1]
            if isinstance(op.value, int):
                new = op.value
            else:
                held = value(bearers[thread, op.value], own)
                if held is None:
                    return None
                new = held[0]
            known[at] = old, new + old if "add" in op.words else new
        return known[at]

    accesses = [at for at, (_, op) in enumerate(ops) if op.reads or op.writes]
    return known if all(value(at, frozenset()) is not None for at in accesses) else None


class Judge:
    """What the program alone decides."""

    def __init__(self, test: Program, ops: Sequence[tuple[int, Op]], without: str) -> None:
        self.test, self.ops, self.without = test, [op for _, op in ops], without
        self.thread = [thread for thread, _ in ops]
        self.every = range(len(ops))
        self.po = {(a, b) for a, b in combinations(self.every, 2) if self.one_thread(a, b)}
        system = closed(set(test.ssw))
        self.system = {
            (a, b)
            for a, b in permutations(self.every, 2)
            if (self.thread[a], self.thread[b]) in system
        }
        self.mutual = {(a, b) for a, b in permutations(self.every, 2) if self._mutually(a, b)}
        self.accesses = [at for at in self.every if self.ops[at].reads or self.ops[at].writes]
        self.conflicts = {
            (a, b, how)
            for a, b in permutations(self.accesses, 2)
            if self.ops[a].location == self.ops[b].location
            for how in ("RR", "RW", "WR", "WW")
            if how[0] in self.ops[a].halves and how[1] in self.ops[b].halves
        }
        self.sets = [
            frozenset(it)
            for size in range(1, 5)
            for it in combinations(sorted({c for op in self.ops for c in op.semantics}), size)
        ] or [frozenset({"sc0"})]

    def one_thread(self, a: int, b: int) -> bool:
        return self.thread[a] == self.thread[b]

    def together(self, a: int, b: int, level: int) -> bool:
        """Whether two operations are in one instance of a scope."""
        one, other = (self.test.places[self.thread[it]] for it in (a, b))
        return one[:level] == other[:level] or self.one_thread(a, b)

    def in_scope(self, a: int, b: int) -> bool:
        """Whether each is in the instance of the other's scope."""
        levels = [self.ops[it].level for it in (a, b)]
        return all(it is not None and self.together(a, b, it) for it in levels)

    def _mutually(self, a: int, b: int) -> bool:
        one, other = self.ops[a], self.ops[b]
        return one.atomic and other.atomic and one.name == other.name and self.in_scope(a, b)

    def modified(self, order: Sequence[int]) -> Pairs:
        """The scoped modification orders of all atomic writes, of an order of them."""
        found: Pairs = set()
        for a in order:
            found |= set(combinations(self.own_order(a, order), 2))
        return found

    def own_order(self, a: int, order: Sequence[int]) -> list[int]:
        return [it for it in order if it == a or (a, it) in self.mutual]


class Execution:
    """One reads-from and one order of atomic writes."""

    def __init__(self, judge: Judge, rf: Mapping[int, int | None], modified: Pairs) -> None:
        self.judge, self.ops, self.rf, self.modified = judge, judge.ops, rf, modified
        self.without = judge.without

    # ---- synchronizes-with -----------------------------------------------------------------------

    def _sequence(self, a: int) -> set[int]:
        """The release sequence, or hypothetical one, that a write heads."""
        own = [
            it
            for it in self.judge.every
            if (a, it) in self.modified and (a, it) in self.judge.mutual
        ]
        own.sort(key=lambda it: sum((before, it) in self.modified for before in own))
        found = {a}
        for it in own if self.without != "release sequences" else ():
            if self.ops[it].kind != "rmw":
                break
            found.add(it)
        return found

    @cached_property
    def synchronizes(self) -> Pairs:
        ops, judge = self.ops, self.judge
        releases = [it for it in judge.every if ops[it].releases]
        acquires = [it for it in judge.every if ops[it].acquires]
        return {
            (a, b)
            for a in releases
            for b in acquires
            if a != b and judge.in_scope(a, b) and (self._by_atomics(a, b) or self._met(a, b))
        }

    def _by_atomics(self, a: int, b: int) -> bool:
        """Whether b, or a read before it, reads what a, or a write behind it, has released."""
        ops, po = self.ops, self.judge.po
        heads, ends = [a], [b]
        if not ops[a].atomic:
            fenced = self.without != "fences"
            heads = [x for y, x in po if y == a and ops[x].writes and ops[x].atomic and fenced]
            heads = [x for x in heads if ops[x].classes <= ops[a].semantics]
        if not ops[b].atomic:
            ends = [y for y, x in po if x == b and ops[y].reads and ops[y].atomic]
            ends = [y for y in ends if ops[y].classes <= ops[b].semantics]
        return any(
            (x, y) in self.judge.mutual and self.rf[y] in self._sequence(x)
            for x in heads
            for y in ends
        )

    def _met(self, a: int, b: int) -> bool:
        """Whether a control barrier at which both threads meet is between two barriers."""
        if not (self.ops[a].is_barrier and self.ops[b].is_barrier) or self.without == "barriers":
            return False
        here = [it for it in self.judge.every if it == a or (a, it) in self.judge.po]
        there = [it for it in self.judge.every if it == b or (it, b) in self.judge.po]
        return any(
            c != d
            and self._instance(c) == self._instance(d) is not None
            and self.judge.in_scope(c, d)
            for c in here
            for d in there
        )

    def _instance(self, at: int) -> tuple[object, ...] | None:
        """The dynamic instance of a control barrier: its work-group, number, and time in the thread."""
        op, judge = self.ops[at], self.judge
        if op.kind != "cbar":
            return None
        before = [a for a, b in judge.po if b == at and self.ops[a].kind == "cbar"]
        times = sum(self.ops[it].value == op.value for it in before)
        return *judge.test.places[judge.thread[at]][:2], op.value, times

    # ---- happens-before --------------------------------------------------------------------------

    @cached_property
    def happens(self) -> Pairs:
        return self.judge.po.union(*map(self._between_threads, self.judge.sets))

    def _between_threads(self, classes: frozenset[str]) -> Pairs:
        """Inter-thread-happens-before of a set of storage classes."""
        ops = self.ops
        all_of = {it for it in self.judge.every if classes <= ops[it].semantics}
        some = all_of | {it for it in self.judge.every if ops[it].classes & classes}
        if self.without == "storage classes":
            all_of = some = set(self.judge.every)
        return closed(
            self.judge.system
            | {(a, b) for a, b in self.synchronizes if {a, b} <= all_of}
            | {(a, b) for a, b in self.judge.po if a in some and b in all_of and ops[b].releases}
            | {(a, b) for a, b in self.judge.po if a in all_of and ops[a].acquires and b in some}
        )

    # ---- availability and visibility -------------------------------------------------------------

    def _reaching(self, access: int, how: str) -> list[set[int]]:
        """By domain the last operations of chains that make a write available to it, or the first
        ones of chains that make what is available in it visible to a read."""
        ops, judge = self.ops, self.judge
        of_it = [it for it in judge.every if ops[it].covers(ops[access], how)]
        own = {
            it
            for it in of_it
            if it == access or ((access, it) if how == "av" else (it, access)) in judge.po
        }
        found: list[set[int]] = [set() for _ in LEVELS]
        for level in reversed(range(len(LEVELS))):
            for it in of_it:
                reach = ops[it].level
                if reach is not None and reach <= level:
                    narrower = ((e, at) for at in range(level + 1, len(LEVELS)) for e in found[at])
                    if it in own or any(
                        judge.together(e, it, at)
                        and ((e, it) if how == "av" else (it, e)) in self.happens
                        for e, at in narrower
                        if self.without != "chains"
                    ):
                        found[level].add(it)
        return found

    @cached_property
    def ordered(self) -> set[tuple[int, int, str]]:
        """Location-ordered, of operations as reads and writes: RR, RW, WR or WW.

        To the letter a read-modify-write is ordered as both if it is as either.
        """
        available = {at: self._reaching(at, "av") for at in self.judge.accesses}
        visible = {at: self._reaching(at, "vis") for at in self.judge.accesses}
        found = {
            (a, b, how)
            for a, b, how in self.judge.conflicts
            if self._ordered(a, b, how, available[a], visible[b])
        }
        if self.without == "halves":
            either = {(a, b) for a, b, _ in found}
            found = {(a, b, how) for a, b, how in self.judge.conflicts if (a, b) in either}
        return found

    def _ordered(
        self, a: int, b: int, how: str, available: Sequence[set[int]], visible: Sequence[set[int]]
    ) -> bool:
        one, other, happens = self.ops[a], self.ops[b], self.happens
        if self.judge.one_thread(a, b) and one.name == other.name and (a, b) in happens:
            return True
        private = not (one.nonprivate and other.nonprivate) and self.without != "private"
        if how[0] == "R":
            return (not private and (a, b) in happens) or (a, b) in self.judge.system
        if one.name == other.name and not private:
            for level in range(len(LEVELS)):
                ends = {b} if how == "WW" else visible[level]
                if self.judge.together(a, b, level) and any(
                    (e, f) in happens for e in available[level] for f in ends
                ):
                    return True
        return self._through_the_device(a, b, how)

    def _through_the_device(self, a: int, b: int, how: str) -> bool:
        kinds = {at: self.ops[at].kind for at in self.judge.every}
        made = [it for it, kind in kinds.items() if kind == "avdevice" and (a, it) in self.happens]
        seen = [it for it, kind in kinds.items() if kind == "visdevice" and (it, b) in self.happens]
        ends = [b] if how == "WW" else seen
        return any((e, f) in self.happens for f in ends for e in made)

    # ---- what must be ----------------------------------------------------------------------------

    @cached_property
    def overwritten(self) -> Pairs:
        """A write, and one behind it."""
        return self.modified | {(a, b) for a, b, how in self.ordered if how == "WW"}

    @cached_property
    def from_reads(self) -> Pairs:
        return {
            (r, w)
            for r, w, how in self.judge.conflicts
            if how == "RW" and (self.rf[r] is None or (self.rf[r], w) in self.overwritten)
        }

    def consistent(self) -> bool:
        rf = {(w, r) for r, w in self.rf.items() if w is not None}
        hidden = any(
            (w, z) in self.overwritten and (z, r, "WR") in self.ordered
            for w, r in rf
            if not self.ops[r].atomic
            for z in self.judge.accesses
        )
        order = {(a, b) for a, b, _ in self.ordered}
        return not hidden and not has_cycle(order | rf | self.from_reads | self.modified)

    def racy(self) -> bool:
        return any(
            how != "RR"
            and (a, b) not in self.judge.mutual
            and (a, b, how) not in self.ordered
            and (b, a, how[::-1]) not in self.ordered
            for a, b, how in self.judge.conflicts
        )

    def last(self, writes: Sequence[int]) -> list[int]:
        """The writes to a location that may be left: a read by the host, which the device domain
        orders behind all, would see no other."""
        return [it for it in writes if not any((it, other) in self.overwritten for other in writes)]
