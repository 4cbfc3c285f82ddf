"""Whether a loop that only spins may be read as its last iteration alone, under a model.

Take a consistent execution, and leave out an iteration that goes on. What is left must be
consistent too, with the same races (docs/semantics.md, Loops, has the argument).
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache, partial
from typing import assert_never

from msgspec import Struct

from rspverify.axiomatic.model import Axiom, Let, LetRec, Linearisation, MemoryModel
from rspverify.axiomatic.vocabulary import CO, DERIVED, FINAL_WRITES, MO, RF
from rspverify.graph import circles
from rspverify.limits import LimitReached
from rspverify.litmus.program import Operation, Order, Program, Scope, Thread, one_subgroup
from rspverify.relation.expression import (
    Complement,
    Composition,
    Difference,
    Domain,
    Identity,
    Intersection,
    Inverse,
    Nothing,
    Operator,
    Optionally,
    Plus,
    Product,
    Range,
    Star,
    Union,
    fold,
)
from rspverify.value import Constant, conjuncts, evaluate, reads

_PROVED_FOR = frozenset(
    {
        "ee799bc69ff5aa48ecf9350df33008a0740dfaf92cc18aaf084ca45abcdd6969",  # opencl-rsp
        "4215d6c9c886721a218139c7852d19b10c5dbc5adfd9d91384e148301ecce8dc",  # opencl-hrf
        "4aa19c7535d44d67f9068bd099cb6f3f06d97bc311f6759bca8587936abfd8a9",  # opencl-rsp-fig2
        "47bba28f86abfc3c9b34bd116303beba70b547e81c586d0e50dc14b81b62b8b2",  # opencl-scoped-sc
        "0cbf4d36190aa5500fb831b7a44ee4b720c61e73099aca5a573fec16f49fae53",  # c11-simp
        "40a0ddd8e1552b42d331606c8350b5e64c2f34078ed810b030aeacaab3522156",  # rc11
    }
)
_PROVED_WHERE_ALL_IS_SEQ_CST = frozenset(
    {
        "198f9c7139aab6c448eca6449ef2b55087421b69268b9965d11af6cca36dc899",  # opencl
        "cb8a27ffca120f2110dbf44c1f934309110358d4ce5cd511d765f1b1dc152a8a",  # c11-orig
        "238cf3411cd630e950971633a0f9371e1ac450f7878cde55c2e2fc7a0a4bb7e9",  # c11-partial-sc
    }
)
"""The models (`meaning_digest`) for which docs/semantics.md argues more than their operators tell:
that plain reads see the same, and that a read-modify-write may go that writes what it read; of the
second kind only where every write to its location is seq_cst."""


class _Change(Struct, frozen=True):
    """What becomes of a set or relation as reads and fences are left out, between what is kept.

    shrinks: it has nothing that it did not have; grows: it has all that it had. kept: whether all
    of the set, all on the left, or all on the right is kept, being written, locks or barriers.
    """

    shrinks: bool = True
    grows: bool = True
    left: bool = False
    right: bool = False


_EXACT = _Change()
_KEPT = _Change(left=True, right=True)
_NAMED: Mapping[str, _Change] = {
    **dict.fromkeys(("W", "I", "IW", FINAL_WRITES, MO, CO), _KEPT),
    **dict.fromkeys(("EF", "entry_fence", "XF", "exit_fence", "B"), _KEPT),
    **dict.fromkeys(("LK", "LS", "lk", "ls", "UL", "ul", "lo"), _KEPT),
    RF: _Change(left=True),
    "amo": _Change(right=True),
}


def awaited(program: Program, model: MemoryModel) -> Program:
    """The program to decide under a model: its spins are unrolled where they must be.

    Raises LimitReached where such a spin never ends.
    """
    needed = iterations_needed(model, program) if program.spins else None
    if needed is None:
        return program
    if program.unrolled is None:
        raise LimitReached(f"a loop that never ends cannot be unrolled, and {needed}")
    return program.unrolled


def iterations_needed(model: MemoryModel, program: Program) -> str | None:
    """Why the iterations of spins that go on must be looked at; None if they need not."""
    always = model.meaning_digest in _PROVED_FOR
    proved = always or model.meaning_digest in _PROVED_WHERE_ALL_IS_SEQ_CST
    changed = _not_kept(model)
    if changed is not None and not proved:
        return f"an iteration more may satisfy {changed} of {model.name}"
    rmws = any(spin.rmws for spin in program.spins)
    if rmws and not (proved and _may_leave_out_rmws(program, always)):
        return f"{model.name} may tell a read-modify-write that changes nothing from none"
    if model.chooses and _at_times_seq_cst(program):
        return "a seq_cst operation is only in iterations that go on"
    if changed is not None and _may_circle(program):
        return "values may flow in a circle through accesses that do not synchronise"
    return None


@lru_cache(maxsize=16)
def _not_kept(model: MemoryModel) -> str | None:
    """The first axiom or condition that may change as reads and fences are left out."""
    known: dict[str, _Change] = {}
    of_name = partial(_of_name, known)
    for it in model.statements:
        match it:
            case Let(definitions):
                known |= {name: fold(each, of_name, _applied) for name, each in definitions}
            case LetRec(definitions):
                assumed = _Change(grows=False)
                known |= {name: assumed for name, _ in definitions}
                found = [fold(each, of_name, _applied) for _, each in definitions]
                agreed = _Change(all(each.shrinks for each in found), False)
                known |= {name: agreed for name, _ in definitions}
            case Linearisation(name, _, events, order):
                members, given = (fold(each, of_name, _applied) for each in (events, order))
                exact = members.shrinks and members.grows and given.shrinks
                known[name] = _Change(exact, exact, members.left, members.left)
            case Axiom(name, _, expression, negated):
                change = fold(expression, of_name, _applied)
                broken = it in model.conditions
                stays = change.grows and (broken or (change.left and change.right))
                if not (stays if broken != negated else change.shrinks):
                    return name
            case _:
                assert_never(it)
    return None


def _of_name(known: Mapping[str, _Change], name: str) -> _Change:
    if name in known:
        return known[name]
    if name in DERIVED:
        return fold(DERIVED[name], partial(_of_name, known), _applied)
    return _NAMED.get(name, _EXACT)


def _applied(operator: Operator, operands: tuple[_Change, ...]) -> _Change:
    match operator, operands:
        case Nothing(), ():
            return _KEPT
        case Union(), (a, b):
            left, right = a.left and b.left, a.right and b.right
            return _Change(a.shrinks and b.shrinks, a.grows and b.grows, left, right)
        case Intersection(), (a, b):
            left, right = a.left or b.left, a.right or b.right
            return _Change(a.shrinks and b.shrinks, a.grows and b.grows, left, right)
        case Difference(), (a, b):
            return _Change(a.shrinks and b.grows, a.grows and b.shrinks, a.left, a.right)
        case Composition(), (a, b):
            between = a.right or b.left
            return _Change(
                a.shrinks and b.shrinks, a.grows and b.grows and between, a.left, b.right
            )
        case Product(), (a, b):
            return _Change(a.shrinks and b.shrinks, a.grows and b.grows, a.left, b.left)
        case Identity(), (a,):
            return _Change(a.shrinks, a.grows, a.left, a.left)
        case Domain(), (a,):
            return _Change(a.shrinks, a.grows and a.right, a.left, a.left)
        case Range(), (a,):
            return _Change(a.shrinks, a.grows and a.left, a.right, a.right)
        case Complement(), (a,):
            return _Change(a.grows, a.shrinks)
        case Inverse(), (a,):
            return _Change(a.shrinks, a.grows, a.right, a.left)
        case Optionally(), (a,):
            return _Change(a.shrinks, a.grows)
        case Plus(), (a,):
            return _Change(a.shrinks, a.grows and (a.left or a.right), a.left, a.right)
        case Star(), (a,):
            return _Change(a.shrinks, a.grows and (a.left or a.right))
        case _:
            raise AssertionError(f"an operator without a meaning here: {operator}")


def _may_leave_out_rmws(program: Program, always: bool) -> bool:
    """Whether the argument holds for those that write what they read."""
    operations = program.operations
    rmws = {index for spin in program.spins for index in spin.rmws}
    if any(it.order is Order.CONSUME for it in operations):
        return False
    locations = {operations[index].location for index in rmws}
    accesses = [it for it in operations if it.location in locations]
    if any(it.order is None for it in accesses):
        return False
    writes = (it for it in accesses if it.writes)
    return always or all(it.order is Order.SEQ_CST for it in writes)


def _at_times_seq_cst(program: Program) -> bool:
    """Whether a spin has a seq_cst operation that its last iteration may leave out."""
    for spin in program.spins:
        iteration = program.operations[spin.first : spin.end]
        if any(it.order is Order.SEQ_CST and it.guard != iteration[0].guard for it in iteration):
            return True
    return False


def _may_circle(program: Program) -> bool:
    """Whether a plain read may lie on a circle of sequenced-before and reads-from.

    Atomic reads of two locations on it do not synchronise, then: between those of one location the
    rest would be hb, and by coherence their writes go round in mo. What is read in iterations that
    go on counts once at the most, as a race has at most one of these.
    """
    threads = {thread.index: thread for thread in program.threads}
    plain = {each.name for each in program.locations if not each.atomic}
    follows = [
        (a.index, b.index)
        for thread in program.threads
        for a, b in zip(thread.operations, thread.operations[1:], strict=False)
    ]
    flows = [
        (a.index, b.index)
        for a in program.operations
        if a.writes
        for b in program.operations
        if b.reads and b.location == a.location and b.thread != a.thread
    ]
    operations = program.operations
    loose = [
        (a, b)
        for a, b in flows
        if operations[a].location not in plain
        and not _synchronise(operations[a], operations[b], threads)
    ]
    plain_reads = {it.index for it in operations if it.reads and it.location in plain}
    for ring in circles([*follows, *flows]):
        inside = [(operations[a], operations[b]) for a, b in loose if a in ring and b in ring]
        going = {b.location for a, b in inside if _goes_on(program, a, b)}
        ending = {b.location for a, b in inside if not _goes_on(program, a, b)}
        several = len(ending) > 1 or (ending and going - ending)
        if several and not plain_reads.isdisjoint(ring):
            return True
    return False


def _goes_on(program: Program, a: Operation, b: Operation) -> bool:
    """Whether b is in a loop that only spins, which goes on where b reads what a writes."""
    if not isinstance(a.value, Constant):
        return False
    written = {it.location for it in program.operations if it.writes}
    initial = {it.name: it.initial for it in program.locations if it.name not in written}
    known = {
        it.index: initial[it.location]
        for it in program.operations
        if it.reads and it.location in initial
    }
    known[b.index] = a.value.value
    holds = [*conjuncts(b.guard)]
    return any(
        spin.first <= b.index < spin.end
        and all(
            it in holds or (reads(it) <= known.keys() and evaluate(it, known) != 0)
            for it in conjuncts(spin.guard)
        )
        for spin in program.spins
    )


def _synchronise(a: Operation, b: Operation, threads: Mapping[int, Thread]) -> bool:
    """Whether a read from a write is certain to synchronise, under each of these models."""
    releases = a.order in (Order.RELEASE, Order.ACQ_REL, Order.SEQ_CST)
    acquires = b.order in (Order.ACQUIRE, Order.ACQ_REL, Order.SEQ_CST)
    if not (releases and acquires):
        return False
    one, other = threads[a.thread], threads[b.thread]
    ways = [_reaches(a, one, other), _reaches(b, other, one)]
    if a.remote or b.remote:
        return (a.remote and ways[0]) or (b.remote and ways[1])
    return a.scope is b.scope and all(ways)


def _reaches(it: Operation, own: Thread, other: Thread) -> bool:
    match it.scope:
        case None | Scope.ALL:
            return True
        case Scope.DV:
            return own.device == other.device
        case Scope.WG:
            return (own.device, own.workgroup) == (other.device, other.workgroup)
        case Scope.SG:
            return one_subgroup(own, other)
        case Scope.WI:
            return False
        case _:
            assert_never(it.scope)
