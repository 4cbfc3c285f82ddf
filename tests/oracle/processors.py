"""What processors allow of small programs, by nothing that is the package's.

Programs are lists of operations that Arm, RISC-V and Power share. They are run with every value
that a load could return, and the models, written by hand from the manuals rule by rule, are asked
of every execution: Arm's as of today and of 2021 (Arm ARM, B2.3), Power's and Armv7's («Herding
cats», TOPLAS 2014, figures 5, 18 and 25, table VII), and RISC-V's (The RISC-V Instruction Set
Manual, vol. I, ch. 17), which searches for a global memory order. A rule may be left out, to see where it matters.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from itertools import chain, islice, permutations, product, zip_longest
from math import prod
from typing import Any, NamedTuple

Op = tuple[Any, ...]
Pairs = set[tuple[int, int]]
Final = tuple[tuple[str, Any], ...]
"""The registers and locations at the end, by their names."""

LOCATIONS = ("x", "y", "z", "p")
BASE = 20
"""The register of the first location's address; the others are behind it."""

NONE = frozenset[int]()


class Event(NamedTuple):
    """A fence, or an access: R, W, or U, which is both. number: in its thread. partner: the load of
    a store's pair. Dependencies are numbers of events, and `~n` if n only decides between others."""

    thread: int
    number: int
    kind: str
    location: str = ""
    read: Any = None
    written: Any = None
    tags: frozenset[str] = frozenset()
    address: frozenset[int] = NONE
    data: frozenset[int] = NONE
    control: frozenset[int] = NONE
    partner: int | None = None

    @property
    def reads(self) -> bool:
        return self.kind in ("R", "U")

    @property
    def writes(self) -> bool:
        return self.kind in ("W", "U")


# ---- programs and their text ---------------------------------------------------------------------


def table(heads: Sequence[str], columns: Sequence[Sequence[str]]) -> str:
    """Threads beside each other."""
    rows = zip_longest(*columns, fillvalue="")
    return "\n".join(f" {' | '.join(row)} ;" for row in (heads, *rows))


SPELLED = """
const  | MOV W{0},#{1}                   | li x{0},{1}                | li r{0},{1}             | MOV %r{0},#{1}
xor    | EOR W{0},W{1},W{2}              | xor x{0},x{1},x{2}         | xor r{0},r{1},r{2}      | EOR %r{0},%r{1},%r{2}
add    | ADD W{0},W{1},#{2}              | addi x{0},x{1},{2}         | addi r{0},r{1},{2}      | ADD %r{0},%r{1},#{2}
index  | ADD X{0},X{1},W{2},SXTW         | add x{0},x{1},x{2}         | add r{0},r{1},r{2}      | ADD %r{0},%r{1},%r{2}
choose | CMP W{3},#0;CSEL W{0},W{1},W{2},EQ
load   | LD{2}R W{0},[X{1}]              | lw{2} x{0},0(x{1})         | lwz r{0},0(r{1})        | LDR %r{0},[%r{1}]
loadx  | LDR W{0},[X{1},W{3},SXTW]       |                            | lwzx r{0},r{3},r{1}     | LDR %r{0},[%r{1},%r{3}]
store  | ST{2}R W{0},[X{1}]              | sw{2} x{0},0(x{1})         | stw r{0},0(r{1})        | STR %r{0},[%r{1}]
storex | STR W{0},[X{1},W{3},SXTW]       |                            | stwx r{0},r{3},r{1}     | STR %r{0},[%r{1},%r{3}]
lx     | LD{2}XR W{0},[X{1}]             | lr.w{2} x{0},0(x{1})       | lwarx r{0},r0,r{1}      | LDREX %r{0},[%r{1}]
sx     | ST{3}XR W{0},W{1},[X{2}]        | sc.w{3} x{0},x{1},0(x{2})  | stwcx. r{1},r0,r{2}     | STREX %r{0},%r{1},[%r{2}]
swap   | SWP{3} W{1},{zr},[X{2}]         | amoswap.w{3} {zr},x{1},(x{2})
plus   | LDADD{3} W{1},{zr},[X{2}]       | amoadd.w{3} {zr},x{1},(x{2})
or     | LDSET{3} W{1},{zr},[X{2}]       | amoor.w{3} {zr},x{1},(x{2})
cas    | CAS{3} W{0},W{1},[X{2}]
eqz    | CBZ W{0},{2}                    | beq x{0},x0,{2}            | cmpwi r{0},0;beq {2}    | CMP %r{0},#0;BEQ {2}
nez    | CBNZ W{0},{2}                   | bnez x{0},{2}              | cmpwi r{0},0;bne {2}    | CMP %r{0},#0;BNE {2}
eq     | CMP W{0},W{1};B.EQ {2}          | beq x{0},x{1},{2}          | cmpw r{0},r{1};beq {2}  | CMP %r{0},%r{1};BEQ {2}
ne     | CMP W{0},W{1};B.NE {2}          | bne x{0},x{1},{2}          | cmpw r{0},r{1};bne {2}  | CMP %r{0},%r{1};BNE {2}
jump   | B {0}                           | j {0}                      | b {0}                   | B {0}
fence  | {0}                             | {0}                        | {0}                     | {0}
label  | {0}:                            | {0}:                       | {0}:                    | {0}:
"""
ISAS = ("AArch64", "RISCV", "PPC", "ARM")
FORMS = {
    isa: {row[0].strip(): row[at].strip() for row in rows if len(row) > at}
    for at, isa in enumerate(ISAS, 1)
    for rows in [[line.split("|") for line in SPELLED.strip().splitlines()]]
}
WIDE = {
    "AArch64": (r"\bW(?!\d+,SXTW)", "X"),
    "RISCV": (r"\b([ls]|\w+\.)w\b", r"\1d"),
    "PPC": (r"\b(l|st)wz?(x|arx|cx\.)? ", r"\1d\2 "),
}
"""What makes words of instructions that access half a word."""
REGISTER = {"AArch64": "X", "RISCV": "x", "PPC": "r", "ARM": "%r"}
RMW = ("swap", "plus", "or", "cas")
RESULTS = {"const", "xor", "add", "choose", "load", "loadx", "lx", "sx", *RMW}


class Program(NamedTuple):
    isa: str
    threads: list[list[Op]]
    initial: Mapping[str, Any]
    wide: bool = False

    def registers(self) -> list[list[int]]:
        """Those of each thread that get a value, and are no calculated address."""
        kinds = RESULTS - {"sx"} if self.isa == "PPC" else RESULTS
        return [sorted({op[1] for op in code if op[0] in kinds} - {None}) for code in self.threads]

    def text(self) -> str:
        name = REGISTER[self.isa]
        columns = [list(chain.from_iterable(map(self._spelled, code))) for code in self.threads]
        shown = table([f"P{number}" for number in range(len(columns))], columns)
        start = [f"{place}={value};" for place, value in self.initial.items()]
        places = list(LOCATIONS)
        for number, own in enumerate(self.registers()):
            start += [f"{number}:{name}{BASE + it}={each};" for it, each in enumerate(LOCATIONS)]
            places += [f"{number}:{name}{each}" for each in own]
        return (
            f"{self.isa} random\n{{ {' '.join(start)} }}\n{shown}\n"
            f"locations [{'; '.join(places)}]\nexists (x=0)\n"
        )

    def _spelled(self, op: Op) -> list[str]:
        zero = "x0" if self.isa == "RISCV" else "WZR"
        zr = zero if op[1] is None else f"{zero[0]}{op[1]}"
        text = FORMS[self.isa][op[0]].format(*op[1:], zr=zr)
        return (re.sub(*WIDE[self.isa], text) if self.wide and self.isa in WIDE else text).split(
            ";"
        )


# ---- what a thread does --------------------------------------------------------------------------

Run = tuple[tuple[Event, ...], Mapping[int, tuple[Any, frozenset[int]]]]
"""Events, and what registers have in the end, with the reads that it comes from."""


def deciding(sources: frozenset[int]) -> frozenset[int]:
    return frozenset(min(it, ~it) for it in sources)


def tags_of(isa: str, text: str) -> frozenset[str]:
    if isa == "RISCV":
        return frozenset(it for it in ("aq", "rl") if it in text)
    return frozenset("Q" if text == "AP" else text)


def runs(test: Program, thread: int, offered: Mapping[str, set[Any]]) -> Iterator[Run]:
    """All ways through a thread where loads return what is offered."""
    isa, code = test.isa, test.threads[thread]
    labels = {op[1]: at for at, op in enumerate(code) if op[0] == "label"}

    def follow(at, held, events, control, reserved) -> Iterator[Run]:  # type: ignore[no-untyped-def]
        if at == len(code):
            yield events, held
            return
        kind, *rest = code[at]
        own = frozenset({len(events)})

        def has(register):  # type: ignore[no-untyped-def]
            return held.get(register, (0, NONE))

        def on(*more, puts=None, value=(0, NONE), to=at + 1, control=control, reserved=reserved):  # type: ignore[no-untyped-def]
            after = held if puts is None else {**held, puts: value}
            return follow(to, after, events + more, control, reserved)

        def event(kind, place, tags=NONE, further=0, **more):  # type: ignore[no-untyped-def]
            more |= {"address": place[1], "control": control, "tags": frozenset(tags)}
            return Event(thread, len(events) + further, kind, place[0], **more)

        if kind in ("const", "add", "xor", "index", "choose"):
            (a, from_a), (b, from_b) = has(rest[1]), has(rest[-1])
            if kind == "choose":
                other, from_other = has(rest[2])
                chosen = (a if b == 0 else other, from_a | deciding(from_b) | from_other)
                yield from on(puts=rest[0], value=chosen)
            else:
                new = {"const": rest[1], "index": a}.get(kind)
                new = new if new is not None else a + rest[2] if kind == "add" else a ^ b
                sources = {"const": NONE, "add": from_a}.get(kind, from_a | from_b)
                yield from on(puts=rest[0], value=(new, sources))
        elif kind in ("fence", "label"):
            more = [event("F", ("", NONE), tags={rest[0]})] if kind == "fence" else []
            yield from on(*more)
        elif kind == "jump":
            yield from on(to=labels[rest[0]])
        elif kind[:2] in ("eq", "ne"):
            (a, from_a), (b, from_b) = has(rest[0]), has(rest[1] if len(kind) == 2 else None)
            taken = (a == b) == (kind[:2] == "eq")
            to = labels[rest[2]] if taken else at + 1
            yield from on(to=to, control=control | from_a | from_b)
        elif kind in ("load", "loadx", "lx", "store", "storex"):
            where, address = has(rest[1])
            place = (where, address | (has(rest[3])[1] if kind[-1] == "x" != kind[1] else NONE))
            tags = tags_of(isa, rest[2])
            if kind[:2] == "st":
                value, data = has(rest[0])
                yield from on(event("W", place, written=value, data=data, tags=tags))
                return
            for value in sorted(offered[where], key=str):
                it = event("R", place, read=value, tags=tags | ({"LX"} if kind == "lx" else NONE))
                now = it if kind == "lx" else reserved
                yield from on(it, puts=rest[0], value=(value, own), reserved=now)
        elif kind == "sx":
            (value, data), place = has(rest[1]), has(rest[2])
            status = None if isa == "PPC" else rest[0]
            yield from on(puts=status, value=(1, NONE), reserved=None)
            if reserved and (isa in ("AArch64", "ARM") or reserved.location == place[0]):
                tags, source = tags_of(isa, rest[3]) | {"SX"}, own if isa == "RISCV" else NONE
                pair = {"written": value, "data": data, "partner": reserved.number}
                it = event("W", place, tags=tags, **pair)
                yield from on(it, puts=status, value=(0, source), reserved=None)
        else:
            (value, data), place, tags = has(rest[1]), has(rest[2]), tags_of(isa, rest[3])
            for old in sorted(offered[place[0]], key=str):
                result = {"puts": rest[0], "value": (old, own)}
                new = {"swap": value, "cas": value}.get(kind)
                new = new if new is not None else old + value if kind == "plus" else old | value
                if isa == "RISCV":
                    whole = {"read": old, "written": new, "data": data}
                    yield from on(event("U", place, tags=tags | {"AMO"}, **whole), **result)
                    continue
                kept = tags - {"L"} if rest[0] is not None else {"NoRet"}
                kept |= {{"swap": "", "cas": "CAS"}.get(kind, "CALC")}
                load = event("R", place, kept, read=old)
                expected, from_it = has(rest[0]) if kind == "cas" else (old, NONE)
                also = {"AMO"} | (tags & {"L"}) | ({"AL"} if "A" in kept and "L" in tags else NONE)
                pair = {"written": new, "data": data | deciding(from_it), "partner": load.number}
                store = event("W", place, also, 1, **pair)
                yield from on(load, *([store] if old == expected else []), **result)

    bases = {BASE + it: (name, NONE) for it, name in enumerate(LOCATIONS)}
    return follow(0, bases, (), NONE, None)


def ways_of(test: Program) -> list[list[Run]] | None:
    """The runs of each thread with all values that stores may leave; None if there are many."""
    offered = {name: {test.initial[name]} for name in LOCATIONS}
    while True:
        ways = [[*islice(runs(test, it, offered), 60)] for it in range(len(test.threads))]
        if prod(map(len, ways)) > 250 or max(map(len, ways)) == 60:
            return None
        before = sum(map(len, offered.values()))
        for it in chain.from_iterable(events for events, _ in chain.from_iterable(ways)):
            if it.writes:
                offered[it.location].add(it.written)
        if sum(map(len, offered.values())) == before:
            return ways


# ---- executions ----------------------------------------------------------------------------------


def finals(test: Program, model: str, without: str = "") -> set[Final]:
    """What a model allows, by its name in the package; `without` a rule."""
    found: set[Final] = set()
    initial = enumerate(LOCATIONS)
    start = [Event(-1, it, "W", name, written=test.initial[name]) for it, name in initial]
    for way in product(*ways_of(test) or ()):
        registers = [
            (f"{thread}:{register}", way[thread][1].get(register, (0, NONE))[0])
            for thread, own in enumerate(test.registers())
            for register in own
        ]
        events = [*start, *chain.from_iterable(own for own, _ in way)]
        loads = [at for at, it in enumerate(events) if it.reads]
        places = [
            [at for at, it in enumerate(events) if it.writes and at != load and
             (it.location, it.written) == (events[load].location, events[load].read)]
            for load in loads
        ]  # fmt: skip
        for chosen in product(*places):
            rf = dict(zip(loads, chosen, strict=True))
            find = in_global_orders if test.isa == "RISCV" else in_coherence_orders
            for last, is_allowed in find(events, rf, model, without):
                memory = zip(LOCATIONS, (events[it].written for it in last), strict=True)
                final = tuple(sorted([*registers, *memory]))
                if final not in found and is_allowed():
                    found.add(final)
    return found


def in_coherence_orders(
    events: list[Event], rf: Mapping[int, int], model: str, without: str
) -> Iterator[tuple[tuple[int, ...], Callable[[], bool]]]:
    """The last writes of each order of writes, and whether a model allows it."""
    writes = [
        [at for at, it in enumerate(events) if it.writes and it.location == name][1:]
        for name in LOCATIONS
    ]

    def is_allowed(orders: Sequence[Sequence[int]]) -> bool:
        it = Execution(events, rf, [[at, *own] for at, own in enumerate(orders)])
        if not it.is_coherent():
            return False
        return arm(it, model, without) if model[:7] == "aarch64" else cats(it, model, without)

    for orders in product(*map(permutations, writes)):
        last = tuple(own[-1] if own else at for at, own in enumerate(orders))
        yield last, partial(is_allowed, orders)


def then(first: Pairs, second: Pairs) -> Pairs:
    after: dict[int, list[int]] = {}
    for a, b in second:
        after.setdefault(a, []).append(b)
    return {(a, c) for a, b in first for c in after.get(b, ())}


def closed(it: Pairs) -> Pairs:
    while not (more := then(it, it)) <= it:
        it = it | more
    return it


def has_cycle(it: Pairs) -> bool:
    before = -1
    while before != (before := len(it)):
        targets = {b for _, b in it}
        it = {(a, b) for a, b in it if a in targets}
    return bool(it)


class Execution:
    """Events by their places in a list, the initial writes first, and what relates them."""

    def __init__(self, events: list[Event], rf: Mapping[int, int], orders: list[list[int]]) -> None:
        self.events = events
        at = {(it.thread, it.number): place for place, it in enumerate(events)}

        def named(numbers: str) -> Pairs:
            each = [(it, b, getattr(it, numbers)) for b, it in enumerate(events)]
            return {(at[it.thread, max(a, ~a)], b) for it, b, found in each for a in found}

        self.address, self.data, self.control = map(named, ("address", "data", "control"))
        self.direct = {
            name: {
                (at[it.thread, a], b)
                for b, it in enumerate(events)
                for a in getattr(it, name)
                if a >= 0
            }
            for name in ("address", "data", "control")
        }
        pairs = [(it, b) for b, it in enumerate(events) if it.partner is not None]
        self.rmw = {(at[it.thread, it.partner], b) for it, b in pairs}
        self.po = {
            (a, b)
            for b, it in enumerate(events)
            for a in range(b)
            if events[a].thread == it.thread >= 0
        }
        self.po_loc = {(a, b) for a, b in self.po if events[a].location == events[b].location != ""}
        self.rf = {(write, read) for read, write in rf.items()}
        self.co = {(own[a], own[b]) for own in orders for b in range(len(own)) for a in range(b)}
        self.fr = then({(read, write) for write, read in self.rf}, self.co)

    def external(self, it: Pairs) -> Pairs:
        return {(a, b) for a, b in it if self.events[a].thread != self.events[b].thread}

    def is_coherent(self) -> bool:
        """Each location is sequentially consistent, and pairs are atomic."""
        between = then(self.external(self.fr), self.external(self.co))
        return not self.rmw & between and not has_cycle(self.po_loc | self.rf | self.co | self.fr)


# ---- Arm -----------------------------------------------------------------------------------------


def arm(it: Execution, model: str, without: str) -> bool:
    """Nothing is ordered before itself."""
    today, observed = model == "aarch64", it.external(it.rf | it.fr | it.co)
    by = dependencies(it, today)
    local = {(a, b) for a, b in it.po if arm_rules(it, a, b, today, by) - {without}}
    if today and without != "pick, local":
        leads = by["picked"] | by["address picked"] | by["control picked"] | by["data picked"]
        local |= {(a, b) for a, b in then(leads, closed(local)) if it.events[b].writes}
    return not has_cycle(observed | local)


def dependencies(it: Execution, today: bool) -> dict[str, Pairs]:
    """Who depends on whom, through registers, and today through memory. `next`: the reads that a
    write may serve in its own thread. picked: where reads may only decide, as that of a CAS that
    succeeds does, to reads that depend and in `address picked` and its like to what depends."""

    def pairs_with(*tags: str) -> Pairs:
        return {(r, w) for r, w in it.rmw if it.events[r].tags & {*tags}}

    def to(kind: str, pairs: Pairs) -> Pairs:
        return {(a, b) for a, b in pairs if getattr(it.events[b], kind)}

    writes = {(a, b) for a, b in it.po_loc if it.events[a].writes and it.events[b].writes}
    following = {(a, b) for a, b in it.po_loc if it.events[a].writes and it.events[b].reads}
    following -= then(writes, following)
    every = {"address": it.address, "data": it.data, "control": it.control}
    if not today:
        return {**every, "next": following}
    compared = {r for r, _ in pairs_with("CAS")}
    exact = {
        name: {(a, b) for a, b in pairs if a not in compared} for name, pairs in it.direct.items()
    }
    on = closed(
        then(to("writes", exact["address"] | exact["data"] | pairs_with("CALC")), following)
    )
    chosen = to("writes", it.address | it.data | pairs_with("CALC", "CAS"))
    picked = closed(then(chosen, following) | to("reads", it.address))
    found = {name: pairs | then(on, pairs) for name, pairs in exact.items()}
    found |= {f"{name} picked": pairs | then(picked, pairs) for name, pairs in every.items()}
    return {**found, "next": following, "picked": picked}


def arm_rules(it: Execution, a: int, b: int, today: bool, by: Mapping[str, Pairs]) -> set[str]:
    """Why a is locally ordered before b."""
    one, other, between = it.events[a], it.events[b], range(a + 1, b)
    if "F" in (one.kind, other.kind):
        return set()
    fences = [name for at in between if it.events[at].kind == "F" for name in it.events[at].tags]
    full, loads, stores = (
        [name for name in fences if name.endswith(end)] for end in (("SY", "SH"), "LD", "ST")
    )
    how = " picked" if today else ""
    address, data, control = (by[f"{name}{how}"] for name in ("address", "data", "control"))
    addressed = {at for at in range(a, b) if (a, at) in address}
    served = {w for w, r in by["next"] if r == b}
    lately = {r for r, w in it.rmw if w in served} if today else {w for _, w in it.rmw} & served
    both = {w for r, w in it.rmw if "AL" in it.events[w].tags}
    rules = {
        "address": (a, b) in by["address"] or (other.writes and (a, b) in address),
        "data": (a, b) in by["data"] or (other.writes and (a, b) in data),
        "control": (a, b) in control and other.writes,
        "address, po": other.writes and bool(addressed),
        "forwarded": any((a, w) in by["address"] | by["data"] for w in served),
        "control, ISB": any("ISB" in it.events[at].tags and (a, at) in control for at in between),
        "address, ISB": any(
            "ISB" in it.events[at].tags and min(addressed, default=b) < at for at in between
        ),
        "pair": (a, b) in it.rmw,
        "pair, acquired": a in lately and bool(other.tags & {"A", "Q"}),
        "full": bool(full),
        "loads": bool(loads) and one.reads and not (today and "NoRet" in one.tags),
        "stores": bool(stores) and one.writes and other.writes,
        "DSB ST": today and any(name[:3] == "DSB" for name in stores) and one.writes,
        "L, A": "L" in one.tags and "A" in other.tags,
        "A": bool(one.tags & {"A", "Q"}),
        "L": "L" in other.tags,
        "AL": a in both if today else bool(both & {*between} - {a + 1}),
        "local write": other.writes and (a, b) in it.po_loc,
    }
    return {name for name, holds in rules.items() if holds}


# ---- Power and Armv7 -----------------------------------------------------------------------------


def cats(it: Execution, model: str, without: str) -> bool:
    """No thin air, observation, propagation."""
    is_power = model == "power"

    def rule(name: str, pairs: Pairs) -> Pairs:
        return set() if name == without else pairs

    def among(pairs: Pairs, kinds: str) -> Pairs:
        return {(a, b) for a, b in pairs if it.events[a].kind + it.events[b].kind in kinds.split()}

    def fenced(name: str, kinds: str, *names: str) -> Pairs:
        """Accesses with a fence between, which has one of some names."""
        before = {(a, b) for a, b in it.po if it.events[b].tags & {name, *names}}
        return rule(name, among(then(before, it.po), kinds))

    rfe, fre, coe = map(it.external, (it.rf, it.fr, it.co))
    depends = rule("address", it.address) | rule("data", it.data)
    isyncs = {(a, b) for a, b in it.control if it.events[b].tags & {"isync", "ISB"}}
    ii = depends | rule("rdw", it.po_loc & then(fre, rfe)) | rule("rfi", it.rf - rfe)
    ci = rule("isync", then(isyncs, it.po)) | rule("detour", it.po_loc & then(coe, rfe))
    cc = depends | rule("control", it.control)
    cc |= rule("po-loc", it.po_loc if is_power else set())
    cc |= rule("address, po", then(it.address, it.po))
    ic: Pairs = set()
    before = -1
    while before != (before := sum(map(len, (ii, ci, cc, ic)))):
        ii = ii | ci | then(ic, ci) | then(ii, ii)
        ci = ci | then(ci, ii) | then(cc, ci)
        ic = ic | ii | cc | then(ic, cc) | then(ii, ic)
        cc = cc | ci | then(ci, ic) | then(cc, cc)
    if is_power:
        full = fenced("sync", "RR RW WR WW")
        fences = full | fenced("lwsync", "RR RW WW") | fenced("eieio", "WW")
    else:
        ends = (f"{barrier} {domain}" for barrier in ("DMB", "DSB") for domain in ("ISH", "OSH"))
        domains = [*ends]
        full = fenced("DMB", "RR RW WR WW", "DSB", *domains)
        stores = [f"{it}ST" for it in ("DSB ", *domains)]
        fences = full = full | fenced("DMB ST", "WW", *stores)
    hb = closed(among(ii, "RR") | among(ic, "RW") | fences | rfe)

    def maybe_hb(pairs: Pairs) -> Pairs:
        return pairs | then(pairs, hb)

    base = maybe_hb(fences | rule("A-cumulativity", then(rfe, fences)))
    strong = full | then(closed(base), full)
    strong |= then(closed(it.rf | it.co | it.fr), strong)
    prop = rule("prop of writes", among(base, "WW")) | rule("strong prop", maybe_hb(strong))
    return not (
        (has_cycle(hb) and without != "no thin air")
        or (any(a == b for a, b in then(fre, maybe_hb(prop))) and without != "observation")
        or (has_cycle(it.co | prop) and without != "propagation")
    )


# ---- RISC-V --------------------------------------------------------------------------------------


def riscv_rules(events: list[Event], rf: Mapping[int, int], a: int, b: int, model: str) -> set[str]:
    """Why a is before b in preserved program order. model: with Zalasr orders of plain loads and
    stores are RCsc, and not RCpc, as in herd's tests; with Ztso loads acquire, stores release, and
    AMOs do both, RCsc."""
    zalasr, ztso = model == "riscv-zalasr", model == "riscv-ztso"
    one, other = events[a], events[b]
    between = [(at, events[at]) for at in range(a + 1, b)]
    same, number = one.location == other.location, one.number
    unwritten = not any(it.writes and it.location == one.location for _, it in between)
    special = {"AMO", "LX", "SX"}
    rules = (
        same and other.writes,
        same and one.reads and other.reads and unwritten and rf[a] != rf[b],
        bool(one.tags & {"AMO", "SX"}) and other.reads and rf[b] == a,
        any(it.kind == "F" and fence_orders(*it.tags, one, other) for _, it in between),
        "aq" in one.tags or (ztso and one.reads),
        "rl" in other.tags or (ztso and other.writes),
        all(
            (it.tags & {"aq", "rl"} and (zalasr or it.tags & special))
            or (ztso and "AMO" in it.tags)
            for it in (one, other)
        ),
        other.partner == number,
        number in other.address,
        number in other.data,
        number in other.control and other.writes,
        other.reads
        and any(it.writes and number in it.address | it.data and rf[b] == at for at, it in between),
        other.writes and any(number in it.address for _, it in between),
    )
    return {f"rule {at}" for at, holds in enumerate(rules, 1) if holds}


def fence_orders(name: str, one: Event, other: Event) -> bool:
    if name == "fence.tso":
        return one.reads or (one.writes and other.writes)
    before, _, after = name.removeprefix("fence ").partition(",")
    return name != "fence.i" and all(
        (it.reads and "r" in kinds) or (it.writes and "w" in kinds)
        for it, kinds in ((one, before), (other, after))
    )


def in_global_orders(
    events: list[Event], rf: Mapping[int, int], model: str, without: str
) -> Iterator[tuple[tuple[int, ...], Callable[[], bool]]]:
    """The last writes of the global memory orders that keep the preserved program order, in which
    loads read the latest store that is earlier there or in their thread, and in which no other
    thread stores between what a load-reserved reads and its store-conditional."""
    every = frozenset(at for at, it in enumerate(events) if it.kind != "F" and it.thread >= 0)
    earlier, own = {}, {}
    for b in every:
        before = [a for a in every if a < b and events[a].thread == events[b].thread]
        earlier[b] = {a for a in before if riscv_rules(events, rf, a, b, model) - {without}}
        stores = (a for a in before if events[a].writes)
        own[b] = [a for a in sorted(stores) if events[a].location == events[b].location]
    place = {(it.thread, it.number): at for at, it in enumerate(events)}
    start = (frozenset[int](), tuple((at,) for at in range(len(LOCATIONS))))
    waiting, seen = [start], {start}
    while waiting:
        placed, orders = waiting.pop()
        for at in every - placed:
            it = events[at]
            which = LOCATIONS.index(it.location)
            order = orders[which]
            latest = ([a for a in own[at] if a not in placed] or order)[-1]
            if earlier[at] - placed or (it.reads and rf[at] != latest):
                continue
            if it.partner is not None and without != "atomicity":
                read = rf[place[it.thread, it.partner]]
                since = order[order.index(read) + 1 :] if read in order else start[1]
                if {events[each].thread for each in since} - {it.thread}:
                    continue
            new = (*orders[:which], (*order, at), *orders[which + 1 :]) if it.writes else orders
            state = (placed | {at}, new)
            if state not in seen:
                seen.add(state)
                waiting.append(state)
    for placed, orders in seen:
        if placed == every:
            yield tuple(own[-1] for own in orders), lambda: True
