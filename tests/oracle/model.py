"""Brute force of the axiomatic language model: Fig. 2 of the RSP paper, with the ``incl`` of §3.

Two differences from Fig. 2: memory orders restrict ``sw``, and in ``dr`` the relation ``incl``
excuses only pairs of atomic operations while pairs in one thread never race.

A program is plain data::

    {"locations": {x: {"atomic": bool, "initial": int}},
     "constants": [int, ...],                        # optional
     "threads": [{"device": d, "workgroup": w, "operations": [
         {"id": int, "kind": "load"|"store"|"rmw", "location": x,
          "order": None|"relaxed"|"acquire"|"release"|"acq_rel"|"seq_cst",
          "scope": None|"WG"|"DV"|"ALL", "remote": bool,
          "guard": fn(env) -> bool,
          "value": fn(env) -> int},                  # for a store or rmw: the value written
     ]}]}

``env`` maps the ids of the reads that this thread has executed to the values read; for the value
of an rmw it holds the rmw's own read as well.  Order and scope are None for a non-atomic
operation, and for no other.
"""

from dataclasses import dataclass
from itertools import permutations, product
from typing import NamedTuple

RELEASES = ("release", "acq_rel", "seq_cst")
ACQUIRES = ("acquire", "acq_rel", "seq_cst")


@dataclass(frozen=True, eq=False)
class Event:
    """An event.  Initial writes have no thread; an event that does not read has read None.

    (eq=False: an event equals only itself.)
    """

    eid: object  # the id of the operation, or ("init", location)
    kind: str
    location: str
    read: int | None
    written: int | None
    order: str | None
    scope: str | None
    remote: bool
    thread: int | None
    workgroup: int | None
    device: int | None
    position: int  # place in its thread


class Candidate(NamedTuple):
    """A candidate execution: a pre-execution (its events), rf and mo, and what follows."""

    events: tuple
    rf: frozenset
    mo: frozenset
    violated: frozenset  # names of the consistency axioms it violates
    races: frozenset
    hb: frozenset


def wrap(value):
    """The 32-bit signed integer congruent to ``value``."""
    return (value + 2**31) % 2**32 - 2**31


# ---- pre-executions ----


def check(program):
    ids = [op["id"] for thread in program["threads"] for op in thread["operations"]]
    if len(ids) != len(set(ids)):
        raise ValueError("operation ids are not unique")
    for thread in program["threads"]:
        for op in thread["operations"]:
            if (op["order"] is None) != (op["scope"] is None):
                raise ValueError(f"operation {op['id']}: an order without a scope, or vice versa")
            if op["kind"] == "rmw" and op["scope"] is None:
                raise ValueError(f"operation {op['id']}: a non-atomic rmw")


def thread_runs(program, number, readable):
    """Every run of one thread, as a list of events, when a read of x may give any readable[x]."""
    thread = program["threads"][number]

    def runs(position, env):
        if position == len(thread["operations"]):
            yield []
            return
        op = thread["operations"][position]
        if not op["guard"](env):
            yield from runs(position + 1, env)
            return
        reads = sorted(readable[op["location"]]) if op["kind"] != "store" else [None]
        for read in reads:
            env_after = env if read is None else {**env, op["id"]: read}
            written = None if op["kind"] == "load" else wrap(op["value"](env_after))
            event = Event(
                eid=op["id"],
                kind=op["kind"],
                location=op["location"],
                read=read,
                written=written,
                order=op["order"],
                scope=op["scope"],
                remote=op["remote"],
                thread=number,
                workgroup=thread["workgroup"],
                device=thread["device"],
                position=position,
            )
            for rest in runs(position + 1, env_after):
                yield [event] + rest

    return runs(0, {})


def written_values(program, readable):
    """Per location, the values that some run of some thread writes to it."""
    written = {x: set() for x in program["locations"]}
    for number in range(len(program["threads"])):
        for run in thread_runs(program, number, readable):
            for event in run:
                if event.written is not None:
                    written[event.location].add(event.written)
    return written


def value_set(program):
    """Initial values and constants, closed as often as there are writing operations."""
    values = {wrap(location["initial"]) for location in program["locations"].values()}
    values |= {wrap(value) for value in program.get("constants", ())}
    writers = [
        op for thread in program["threads"] for op in thread["operations"] if op["kind"] != "load"
    ]
    for _ in writers:
        readable = dict.fromkeys(program["locations"], values)
        values = values.union(*written_values(program, readable).values())
    return values


def readable_values(program):
    """Per location, the values that its reads are tried with.

    Any value of the program, to start with; then values that no write could supply are dropped,
    until nothing changes.  This loses no candidate: each read needs a write of its value.
    """
    values = value_set(program)
    readable = {x: set(values) for x in program["locations"]}
    while True:
        written = written_values(program, readable)
        kept = {
            x: readable[x] & (written[x] | {wrap(location["initial"])})
            for x, location in program["locations"].items()
        }
        if kept == readable:
            return readable
        readable = kept


def pre_executions(program):
    """Every pre-execution, as a tuple of events, the initial writes first."""
    initial = [
        Event(("init", x), "store", x, None, wrap(loc["initial"]), None, None, False,
              None, None, None, 0)
        for x, loc in sorted(program["locations"].items())
    ]  # fmt: skip
    readable = readable_values(program)
    runs = [list(thread_runs(program, n, readable)) for n in range(len(program["threads"]))]
    for choice in product(*runs):
        yield tuple(initial + [event for run in choice for event in run])


def reads_from_choices(events):
    """Every rf: each read reads from exactly one write of its location and value."""
    reads = [e for e in events if e.read is not None]
    sources = [
        [w for w in events if w.location == r.location and w.written == r.read] for r in reads
    ]
    for choice in product(*sources):
        yield frozenset(zip(choice, reads, strict=True))


def modification_order_choices(program, events):
    """Every mo: per atomic location a total order on its writes, the initial write first."""
    orders = []
    for x, location in sorted(program["locations"].items()):
        if location["atomic"]:
            initial = [e for e in events if e.location == x and e.thread is None]
            others = [
                e
                for e in events
                if e.location == x and e.written is not None and e.thread is not None
            ]
            orders.append([initial + list(order) for order in permutations(others)])
    for choice in product(*orders):
        yield frozenset(
            (order[i], order[j])
            for order in choice
            for i in range(len(order))
            for j in range(i + 1, len(order))
        )


# ---- relations, as sets of pairs ----


def seq(*relations):
    """Relational composition: r1 ; r2 ; ..."""
    result = relations[0]
    for relation in relations[1:]:
        successors = {}
        for a, b in relation:
            successors.setdefault(a, []).append(b)
        result = {(a, c) for a, b in result for c in successors.get(b, ())}
    return result


def inverse(relation):
    return {(b, a) for a, b in relation}


def transitive_closure(relation):
    result = set(relation)
    while True:
        more = result | seq(result, relation)
        if more == result:
            return result
        result = more


def identity(events):
    return {(e, e) for e in events}


def irreflexive(relation):
    return all(a != b for a, b in relation)


def evaluate(program, events, rf, mo):
    """The axioms that a candidate violates, its races and its hb: Fig. 2, line by line."""
    # Sets of events.
    R = {e for e in events if e.kind in ("load", "rmw")}
    W = {e for e in events if e.kind in ("store", "rmw")}
    A = {e for e in events if e.thread is not None and e.scope is not None}
    WG = {e for e in events if e.scope == "WG"}
    DV = {e for e in events if e.scope == "DV"}
    ALL = {e for e in events if e.scope == "ALL"}
    REL = {e for e in events if e.order in RELEASES}
    ACQ = {e for e in events if e.order in ACQUIRES}
    rem = {e for e in events if e.remote}
    nal = {e for e in events if not program["locations"][e.location]["atomic"]}

    # Primitive relations.
    unv = set(product(events, events))
    id_ = identity(events)
    inside = {(a, b) for a, b in unv if a.thread is not None and b.thread is not None}
    thd = {(a, b) for a, b in inside if a.thread == b.thread}
    wg = {(a, b) for a, b in inside if (a.device, a.workgroup) == (b.device, b.workgroup)}
    dv = {(a, b) for a, b in inside if a.device == b.device}
    loc = {(a, b) for a, b in unv if a.location == b.location}
    sb = {(a, b) for a, b in thd if a.position < b.position} | {
        (a, b) for a, b in unv if a.thread is None and b.thread is not None
    }

    # Derived relations.
    rs_ = thd | seq(unv, identity(R & W))
    rs = (mo & rs_) - seq(mo - rs_, mo)
    incl1 = seq(identity(WG), wg) | seq(identity(DV), dv) | seq(identity(ALL), unv)
    incl = (incl1 & inverse(incl1)) | seq(identity(rem), incl1) | seq(inverse(incl1), identity(rem))
    sw = (seq(identity(W & REL), rs | id_, rf, identity(R & ACQ)) & incl) - thd
    hb = transitive_closure(sb | sw)
    hbl = hb & loc
    vis = hb - seq(hb, identity(W), hbl)
    conflict = (set(product(W, W)) | set(product(W, R)) | set(product(R, W))) & loc
    dr = conflict - hb - inverse(hb) - (incl & set(product(A, A))) - thd - id_

    # Consistency axioms.
    holds = {
        "Hb": irreflexive(hb),
        "Coh": irreflexive(seq(inverse(rf) | id_, mo, rf | id_, hb)),
        "Rf": irreflexive(seq(rf, hb)),
        "Narf": not (seq(rf, identity(nal)) - vis),
        "Rmw": irreflexive(rf | seq(mo, mo, inverse(rf)) | seq(mo, rf)),
    }
    violated = frozenset(name for name, ok in holds.items() if not ok)
    return violated, frozenset(dr), frozenset(hb)


def candidates(program):
    """Every candidate execution, consistent or not."""
    check(program)
    for events in pre_executions(program):
        for rf in reads_from_choices(events):
            for mo in modification_order_choices(program, events):
                violated, races, hb = evaluate(program, events, rf, mo)
                yield Candidate(events, rf, mo, violated, races, hb)


# ---- outcomes ----


def final_values(program, candidate, x):
    """The values that x may have in the end: of its mo-last write, or its hb-maximal ones."""
    before = candidate.mo if program["locations"][x]["atomic"] else candidate.hb
    writes = [e for e in candidate.events if e.location == x and e.written is not None]
    return {w.written for w in writes if not any((w, other) in before for other in writes)}


def outcomes_of(program, candidate):
    """The outcomes of one candidate (several, when non-atomic writes are unordered)."""
    reads = tuple(sorted((e.eid, e.read) for e in candidate.events if e.read is not None))
    names = sorted(program["locations"])
    finals = [sorted(final_values(program, candidate, x)) for x in names]
    return {(reads, tuple(zip(names, values, strict=True))) for values in product(*finals)}


def outcomes(program):
    """(outcomes of the consistent executions, whether one of them has a race, their number)."""
    found, racy, executions = set(), False, 0
    for candidate in candidates(program):
        if not candidate.violated:
            found |= outcomes_of(program, candidate)
            racy = racy or bool(candidate.races)
            executions += 1
    return frozenset(found), racy, executions


def why_not(program, outcome):
    """Per candidate execution with this outcome, the axioms it violates (a set of frozensets).

    A frozenset with nothing in it means that the outcome is allowed.  A candidate whose hb has a
    cycle through all writes of a non-atomic location has no final value there, so no outcome.
    """
    return {
        candidate.violated
        for candidate in candidates(program)
        if outcome in outcomes_of(program, candidate)
    }
