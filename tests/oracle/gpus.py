"""What PTX allows of small programs, by nothing that is the package's.

Programs are straight lines of accesses, atomics, fences and barriers. Every write for every read,
every partial order of the writes to a location and every order of the fences in SC is tried, and
the model, written by hand from the PTX ISA 8.5, ch. 8, and 6.0, ch. 8, is asked. A rule may be left
out, to see where it matters.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from itertools import combinations, permutations, product
from typing import NamedTuple

from oracle.processors import Pairs, closed, has_cycle, table, then

Final = tuple[tuple[str, int], ...]
"""The registers and locations at the end, by their names."""

NAMES = {"x": "x", "y": "y", "a": "x", "s": "x"}
"""The location of each name: `a` is another address of x, and `s` the same one as a surface."""


class Op(NamedTuple):
    """A line of a thread. kind: ld, st, suld, sust, add, exch, fence, proxy, sync or arrive. value: a
    number to store, or a register by its name."""

    kind: str
    order: str = ""
    scope: str = ""
    name: str = ""
    register: str = ""
    value: int | str = 0

    def text(self) -> str:
        how = f".{self.order}.{self.scope}".rstrip(".")
        match self.kind:
            case "ld" | "suld":
                return f"{self.kind}{how} {self.register}, {self.name}"
            case "st" | "sust":
                return f"{self.kind}{how} {self.name}, {self.value}"
            case "add" | "exch":
                return f"atom{how}.{self.kind} {self.register}, {self.name}, {self.value}"
            case "sync" | "arrive":
                return f"bar.cta.{self.kind} 0"
            case "proxy":
                return f"fence.proxy.{self.order}"
        return f"fence{how}"


class Event(NamedTuple):
    """What is done; thread: -1 of an initial write. partner: of the write of an atomic its read."""

    thread: int
    kind: str
    op: Op
    order: str = ""
    partner: int | None = None

    @property
    def location(self) -> str | None:
        return NAMES.get(self.op.name)

    @property
    def strong(self) -> bool:
        return self.kind == "F" or self.order in ("relaxed", "acquire", "release")

    @property
    def proxy(self) -> str:
        if self.op.kind == "proxy":
            return self.op.order
        return "surface" if self.op.kind in ("suld", "sust") else "generic"


class Program(NamedTuple):
    """places: the gpu and the cta of each thread."""

    places: Sequence[tuple[int, int]]
    threads: Sequence[Sequence[Op]]

    def text(self) -> str:
        columns = [[op.text() for op in code] for code in self.threads]
        heads = [f"P{at}@cta {cta},gpu {gpu}" for at, (gpu, cta) in enumerate(self.places)]
        names = {op.name for code in self.threads for op in code}
        aliases = "a aliases x; " * ("a" in names) + "s @ surface aliases x;" * ("s" in names)
        asked = "; ".join(["x", "y", *self.registers()])
        return f"PTX random\n{{ x=0; y=0; {aliases} }}\n{table(heads, columns)}\nlocations [{asked};]\nexists (x=0)\n"

    def registers(self) -> list[str]:
        return [
            f"{at}:{op.register}"
            for at, code in enumerate(self.threads)
            for op in code
            if op.register
        ]

    def events(self) -> list[Event]:
        found = [Event(-1, "W", Op("st", name=name)) for name in ("x", "y")]
        for thread, code in enumerate(self.threads):
            for op in code:
                if op.kind in ("add", "exch"):
                    read = "acquire" if op.order in ("acquire", "acq_rel") else "relaxed"
                    write = "release" if op.order in ("release", "acq_rel") else "relaxed"
                    found.append(Event(thread, "R", op, read))
                    found.append(Event(thread, "W", op, write, len(found) - 1))
                else:
                    kinds = {"ld": "R", "suld": "R", "st": "W", "sust": "W"}
                    kind = kinds.get(op.kind, "B" if op.kind in ("sync", "arrive") else "F")
                    found.append(Event(thread, kind, op, op.order))
        return found


@cache
def partial_orders(count: int) -> list[Pairs]:
    """The strict partial orders of some things."""
    pairs = list(permutations(range(count), 2))
    some = (set(it) for size in range(len(pairs) + 1) for it in combinations(pairs, size))
    return [it for it in some if then(it, it) <= it and not any((b, a) in it for a, b in it)]


def finals(test: Program, model: str, without: str = "") -> set[Final]:
    """The endings that a model allows, ptx or ptx-6.0."""
    events = test.events()
    reads = [at for at, it in enumerate(events) if it.kind == "R"]
    writes = {
        name: [at for at, it in enumerate(events) if it.kind == "W" and it.location == name]
        for name in ("x", "y")
    }
    found: set[Final] = set()
    for sources in product(*(writes[events[at].location or ""] for at in reads)):
        rf = dict(zip(reads, sources, strict=True))
        values = valued(events, rf)
        if values is not None:
            found.update(Judge(test, events, rf, model, without).endings(writes, values))
    return found


def valued(events: Sequence[Event], rf: Mapping[int, int]) -> dict[int, int] | None:
    """What each event reads or writes; None where a value comes from itself."""
    known: dict[int, int] = {}
    bearers = {(it.thread, it.op.register): at for at, it in enumerate(events) if it.kind == "R"}

    def value(at: int, above: frozenset[int]) -> int | None:
        if at in above:
            return None
        if at not in known:
            it, own = events[at], above | {at}
            if it.kind == "R":
                new = value(rf[at], own)
            else:
                given = it.op.value
                new = given if isinstance(given, int) else value(bearers[it.thread, given], own)
                if it.op.kind == "add" and new is not None and it.partner is not None:
                    old = value(it.partner, own)
                    new = None if old is None else new + old
            if new is None:
                return None
            known[at] = new
        return known[at]

    for at, it in enumerate(events):
        if it.kind in ("R", "W") and value(at, frozenset()) is None:
            return None
    return known


class Judge:
    """The rules, asked of executions that have one reads-from."""

    def __init__(
        self,
        test: Program,
        events: Sequence[Event],
        rf: Mapping[int, int],
        model: str,
        without: str,
    ) -> None:
        self.events, self.test, self.without = events, test, without
        self.old = model == "ptx-6.0"
        every = range(len(events))
        self.rf = {(w, r) for r, w in rf.items()}
        self.rmw = {(it.partner, at) for at, it in enumerate(events) if it.partner is not None}
        self.po = {
            (a, b)
            for a in every
            for b in every
            if a < b and events[a].thread == events[b].thread >= 0
        }
        self.thin_air = without != "no thin air" and has_cycle(self.rf | self._dependencies())
        self.memory = {at for at in every if events[at].kind in ("R", "W")}
        self.strong = {
            (a, b) for a in every for b in every if a != b and self._morally_strong(a, b)
        }
        self.observed = self.rf & self.strong
        chain = then(self.rmw, self.observed) if without != "through atomics" else set()
        self.observation = self.observed | then(self.observed, closed(chain))

    def _dependencies(self) -> Pairs:
        """Reads with the writes that have their registers, and those of their atomics."""
        it = self.events
        own = {(a, b) for a, b in self.po if it[a].kind == "R" and it[b].kind == "W"}
        return self.rmw | {(a, b) for a, b in own if it[a].op.register == it[b].op.value}

    def _one_name(self, a: int, b: int) -> bool:
        one, other = self.events[a], self.events[b]
        return one.location == other.location and (
            self.old or (one.op.name == "a") == (other.op.name == "a")
        )

    def _reaches(self, a: int, b: int) -> bool:
        """Whether a's scope has b's thread (§8.5)."""
        (gpu, cta), (other_gpu, other_cta) = (
            self.test.places[self.events[it].thread] for it in (a, b)
        )
        match self.events[a].op.scope:
            case "cta":
                return (gpu, cta) == (other_gpu, other_cta)
            case "gpu":
                return gpu == other_gpu
        return self.events[a].op.scope == "sys"

    def _one_cta(self, a: int, b: int) -> bool:
        one, other = self.events[a].thread, self.events[b].thread
        return min(one, other) >= 0 and self.test.places[one] == self.test.places[other]

    def _morally_strong(self, a: int, b: int) -> bool:
        """§8.7."""
        one, other = self.events[a], self.events[b]
        if min(one.thread, other.thread) < 0 or "B" in one.kind + other.kind:
            return False
        apart = one.thread != other.thread
        reach = one.strong and other.strong and self._reaches(a, b) and self._reaches(b, a)
        if (apart and not reach) or (one.proxy != other.proxy and not self.old):
            return False
        return not {a, b} <= self.memory or self._one_name(a, b)

    def _patterns(self) -> tuple[Pairs, Pairs]:
        """Release patterns and acquire patterns (§8.7), by their first and last events."""
        it = self.events
        fences = {at for at, e in enumerate(it) if e.op.kind == "fence"}
        if self.without == "fence.sc is acq_rel":
            fences = {at for at in fences if it[at].order != "sc"}
        before_writes = {at for at in fences if it[at].order != "acquire"}
        behind_reads = {at for at in fences if it[at].order != "release"}
        if self.without == "fences of one side":
            before_writes = behind_reads = before_writes & behind_reads
        releasing, acquiring = set(), set()
        for at, event in enumerate(it):
            if event.kind == "W" and event.strong:
                before = {a for a, b in self.po if b == at}
                if event.order == "release":
                    releasing.add((at, at))
                releasing |= {(a, at) for a in before & before_writes}
                releasing |= {
                    (a, at)
                    for a in before
                    if it[a].kind == "W" and it[a].order == "release" and self._one_name(a, at)
                }
            if event.kind == "R" and event.strong:
                behind = {b for a, b in self.po if a == at}
                if event.order == "acquire":
                    acquiring.add((at, at))
                acquiring |= {(at, b) for b in behind & behind_reads}
                acquiring |= {
                    (at, b)
                    for b in behind
                    if it[b].kind == "R" and it[b].order == "acquire" and self._one_name(at, b)
                }
        return releasing, acquiring

    def _fence_orders(self) -> Iterator[Pairs]:
        """Orders of the fences in SC, between those that are morally strong."""
        fences = [at for at, e in enumerate(self.events) if (e.op.kind, e.order) == ("fence", "sc")]
        for order in permutations(fences):
            yield set(combinations(order, 2)) & self.strong

    def endings(
        self, writes: Mapping[str, list[int]], values: Mapping[int, int]
    ) -> Iterator[Final]:
        if self.thin_air:
            return
        releasing, acquiring = self._patterns()
        synchronizes = then(then(releasing, self.observation), acquiring) & self.strong
        barriers = {at for at, it in enumerate(self.events) if it.kind == "B"}
        time = {it: sum((a, it) in self.po for a in barriers) for it in barriers}
        synchronizes |= {
            (a, b)
            for a, b in permutations(barriers, 2)
            if self._one_cta(a, b)
            and time[a] == time[b]
            and self.events[b].op.kind == "sync"
            and self.without != "barriers"
        }
        own = {
            f"{it.thread}:{it.op.register}": values[at]
            for at, it in enumerate(self.events)
            if it.kind == "R"
        }
        seen: set[frozenset[tuple[int, int]]] = set()
        for fences in self._fence_orders():
            if frozenset(fences) in seen:
                continue
            seen.add(frozenset(fences))
            causality = self._causality(synchronizes | fences)
            if any((b, a) in causality for a, b in self.rf):
                continue
            orders = []
            for them in writes.values():
                others = them[1:]
                ours = []
                for order in partial_orders(len(others)):
                    co = {(others[a], others[b]) for a, b in order} | {(them[0], b) for b in others}
                    if self._coherent(co, causality):
                        last = [it for it in them if not any(a == it for a, _ in co)]
                        ours.append((co, last))
                orders.append(ours)
            for (one, x), (other, y) in product(*orders):
                if self._consistent(one | other, causality, fences):
                    for ends in product(x, y):
                        memory = dict(zip(writes, (values[it] for it in ends), strict=True))
                        yield tuple(sorted({**own, **memory}.items()))

    def _causality(self, synchronizes: Pairs) -> Pairs:
        """§8.9.5 and 6."""
        if self.old:
            around = self.po | {(at, at) for at in range(len(self.events))}
            base = closed(then(then(around, synchronizes), around))
            local = {(a, b) for a, b in self.po if {a, b} <= self.memory and self._one_name(a, b)}
            return base | then(self.observation, base | local)
        base = closed(self.po | synchronizes)
        preserved = {
            (a, b) for a, b in base if {a, b} <= self.memory and self._preserved(a, b, base)
        }
        return preserved | then(self.observation, preserved)

    def _fences_of(self, at: int) -> list[int]:
        """The proxy fences of the cta for the proxy of an access."""
        return [
            it
            for it, event in enumerate(self.events)
            if event.op.kind == "proxy"
            and event.order == self.events[at].proxy
            and self._one_cta(it, at)
        ]

    def _preserved(self, a: int, b: int, base: Pairs) -> bool:
        """Whether base causality is preserved between two accesses: by one name through the generic
        proxy, or through another in one cta, or with fences of the proxies on the way; by two names,
        if a fence of aliases is between."""
        one, other = self.events[a], self.events[b]
        if one.location != other.location:
            return False
        if self._one_name(a, b) and one.proxy == other.proxy and self._one_cta(a, b):
            return True
        none = self.without == "proxies"
        leaving = [it for it in self._fences_of(a) if (a, it) in base]
        entering = [it for it in self._fences_of(b) if (it, b) in base]
        starts = leaving + [a] * (one.proxy == "generic" or none)
        ends = entering + [b] * (other.proxy == "generic" or none)
        aliases = [
            it for it, e in enumerate(self.events) if (e.op.kind, e.order) == ("proxy", "alias")
        ]
        for start, end in product(starts, ends):
            if (start, end) in base and (self._one_name(a, b) or none):
                return True
            if any((start, it) in base and (it, end) in base for it in aliases):
                return True
        return False

    def _coherent(self, co: Pairs, causality: Pairs) -> bool:
        if self.without == "coherence":
            return True
        them = {at for pair in co for at in pair}
        return all(
            not ((a, b) in causality and (a, b) not in co)
            and not ((a, b) in self.strong and (a, b) not in co and (b, a) not in co)
            for a, b in permutations(them, 2)
        )

    def _consistent(self, co: Pairs, causality: Pairs, fences: Pairs) -> bool:
        fr = then({(r, w) for w, r in self.rf}, co)
        local = {
            (a, b)
            for a, b in self.po
            if {a, b} <= self.memory
            and self._one_name(a, b)
            and (self.old or self.events[a].proxy == self.events[b].proxy)
        }
        sc = {at for at, it in enumerate(self.events) if (it.op.kind, it.order) == ("fence", "sc")}
        rules = {
            "causality": not any((b, a) in causality for a, b in fr),
            "fence-sc": not any(
                {a, b} <= sc and (a, b) not in fences for a, b in causality & self.strong
            ),
            "atomicity": not self.rmw & then(fr & self.strong, co & self.strong),
            "sc-per-location": not has_cycle(local | (self.strong & (self.rf | co | fr))),
        }
        return all(holds for name, holds in rules.items() if name != self.without)
