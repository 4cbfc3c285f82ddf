"""The obligations once more, from docs/proof.md alone, as formulas of linear arithmetic for Z3.

Times are integers. An operation is a list of words, as `("FLU_L1", "WG")`; nothing here is shared
with rspverify/proof but what a table is.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import pairwise

import z3

Word = tuple[str, ...]
Span = tuple[z3.ArithRef, z3.ArithRef]

LOADS, STORES = ("LD",), ("ST",)
AT_L1, AT_L2 = ("INC_L1", "RMW_L1"), ("INC_L2", "RMW_L2")


class Side:
    """An operation in time. name: that tells its moments from those of others."""

    def __init__(self, name: str, code: Sequence[str]) -> None:
        self.words: list[Word] = [tuple(it.split()) for it in code]
        self.begins, self.ends, self.arrives = z3.Ints(f"{name}.begins {name}.ends {name}.arrives")
        self.times = [z3.Int(f"{name}.{place}") for place in range(len(code))]
        self.done = {
            place: z3.Int(f"{name}.{place}.done")
            for place, it in enumerate(self.words)
            if it[0] == "FLU_L1"
        }
        kinds = (*LOADS, *STORES, *AT_L1, *AT_L2)
        (self.place,) = (place for place, it in enumerate(self.words) if it[0] in kinds)
        self.access = self.words[self.place][0]
        self.looks = self.times[self.place]

    @property
    def writes(self) -> bool:
        return self.access not in LOADS

    @property
    def is_rmw(self) -> bool:
        return self.access in (*AT_L1, *AT_L2)

    def in_order(self) -> list[z3.BoolRef]:
        """One instruction after the other; who sent markers waits for them."""
        moments = [self.begins]
        for place, time in enumerate(self.times):
            moments += [time, self.done[place]] if place in self.done else [time]
        found = [a < b for a, b in pairwise((*moments, self.ends))]
        if self.access in AT_L2:
            found.append(self.arrives == self.looks)
        elif self.writes:
            found.append(self.arrives > self.looks)
        return found

    def reaching(self, name: str, *, other: bool) -> list[int]:
        """The places of flushes or invalidations of its own L1, or of another's."""
        return [
            p for p, it in enumerate(self.words) if it[0] == name and (not other or it[1] != "WG")
        ]

    def flushes(self, *, other: bool) -> list[Span]:
        return [(self.times[it], self.done[it]) for it in self.reaching("FLU_L1", other=other)]

    def invalidations(self, *, other: bool) -> list[z3.ArithRef]:
        return [self.times[it] for it in self.reaching("INV_L1", other=other)]

    def holds(self, lock: str) -> list[Span]:
        """When it holds a lock: at its end, too, if it keeps it."""
        found: list[Span] = []
        taken = None
        for time, it in zip(self.times, self.words, strict=True):
            if it[0] == f"LK_{lock}":
                taken = time if taken is None else taken
            elif it[0] == f"UL_{lock}" and taken is not None:
                found.append((taken, time))
                taken = None
        return [*found, *([] if taken is None else [(taken, self.ends)])]


def outside(time: z3.ArithRef, spans: Iterable[Span]) -> list[z3.BoolRef]:
    """No moment within a hold."""
    return [z3.Or(time <= since, time >= until) for since, until in spans]


def locked_out(b: Side, c: Side, lock: str) -> list[z3.BoolRef]:
    """A lock is not held by two, and what waits for it does not happen while another holds it."""
    found = [z3.Or(u <= s2, u2 <= s) for s, u in b.holds(lock) for s2, u2 in c.holds(lock)]
    for holder, other in ((b, c), (c, b)):
        if lock == "rmw" and other.is_rmw:
            found += outside(other.looks, holder.holds(lock))
        if lock == "L2" and other.writes:
            found += outside(other.arrives, holder.holds(lock))
    return found


def flushed(
    written: z3.ArithRef, arrives: z3.ArithRef, flushes: Iterable[Span]
) -> list[z3.BoolRef]:
    """What was written before a flush has arrived when that is done."""
    return [z3.Implies(written < at, arrives < done) for at, done in flushes]


def undisturbed(
    since: z3.ArithRef, until: z3.ArithRef, by: Iterable[z3.ArithRef]
) -> list[z3.BoolRef]:
    """No invalidation between two moments."""
    return [z3.Not(z3.And(since < it, it < until)) for it in by]


def holds(
    kind: str,
    first: Sequence[str],
    second: Sequence[str],
    *,
    rmw: bool,
    l2: bool,
    afresh: bool = False,
) -> bool:
    """Whether SYNC or ATOM holds of two codes. rmw, l2: whether these locks keep others out.
    afresh: whether every look in an L1 comes after an invalidation."""
    b, c = Side("b", first), Side("c", second)
    common = [*b.in_order(), *c.in_order(), *[t >= 0 for t in (b.begins, c.begins)]]
    for lock, excludes in (("rmw", rmw), ("L2", l2)):
        common += locked_out(b, c, lock) if excludes else []
    b_flushes = [*b.flushes(other=False), *c.flushes(other=True)]
    c_flushes = [*c.flushes(other=False), *b.flushes(other=True)]
    c_invalidations = [*c.invalidations(other=False), *b.invalidations(other=True)]
    common += flushed(b.looks, b.arrives, b_flushes)
    if kind == "SYNC":
        common += _got(b, c, l2=l2)
        if afresh:
            return not _possible([*common, *_late(b, c.ends, b_flushes, "afresh")])
        return not _possible([*common, *_sync(b, c, b_flushes, c_invalidations)])
    if c.access in AT_L2:
        return True
    common += [b.arrives < c.arrives, *flushed(c.looks, c.arrives, c_flushes)]
    if b.access in AT_L1:
        agreed = z3.Int("agreed")
        b_invalidations = [*b.invalidations(other=False), *c.invalidations(other=True)]
        common += [agreed <= b.looks, *undisturbed(agreed, b.looks, b_invalidations)]
        common += outside(agreed, c.holds("L2")) if l2 else []
    store, left, fetch = z3.Ints("store left fetch")
    b_locks = b.holds("L2") if l2 else []
    own = [store < c.looks, store < left, left <= c.looks, left < c.arrives, left <= b.arrives]
    own += [*outside(left, b_locks), *flushed(store, left, c_flushes)]
    own += undisturbed(store, c.looks, c_invalidations)
    fetched = [fetch < c.looks, fetch <= b.arrives, *outside(fetch, b_locks)]
    fetched += undisturbed(fetch, c.looks, c_invalidations)
    return not (_possible([*common, *own]) or _possible([*common, *fetched]))


def _got(b: Side, c: Side, *, l2: bool) -> list[z3.BoolRef]:
    """What c looks at was got from the L2 after b arrived there."""
    got = z3.Int("got")
    found = [b.arrives < got, got <= c.looks]
    found += [got == c.looks] if c.access in AT_L2 else []
    return [*found, *(outside(got, b.holds("L2")) if l2 else [])]


def _late(b: Side, until: z3.ArithRef, flushes: Iterable[Span], name: str) -> list[z3.BoolRef]:
    """Something that b's L1 had when b began arrives no earlier than at some moment."""
    data, arrives = z3.Ints(f"data.{name} arrives.{name}")
    late = [data < b.begins, data < arrives, until <= arrives]
    return [*late, *flushed(data, arrives, flushes)]


def _sync(
    b: Side, c: Side, flushes: Sequence[Span], invalidations: Iterable[z3.ArithRef]
) -> list[z3.BoolRef]:
    """For each invalidation that could bring what was written before b, something comes later."""
    return [
        z3.Or(each >= c.ends, each < b.begins, z3.And(*_late(b, each, flushes, str(number))))
        for number, each in enumerate(invalidations)
    ]


def _possible(claims: Iterable[z3.BoolRef]) -> bool:
    solver = z3.SolverFor("QF_LIA")
    solver.add(*claims)
    answer = solver.check()
    assert answer != z3.unknown
    return bool(answer == z3.sat)
