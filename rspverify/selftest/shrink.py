"""Makes a disagreement as small as it goes: whatever can be left out while it is still shown."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from itertools import chain, product
from typing import TypeVar

from msgspec import Struct

from rspverify.architecture.machines import MACHINES
from rspverify.litmus.program import Kind, Order, Scope
from rspverify.programs.litmus_test import STRONG, Access, LitmusTest, litmus_test
from rspverify.records import replace
from rspverify.scheme.scheme import Scheme
from rspverify.selftest.compare import Difference
from rspverify.selftest.machines import RandomMachine
from rspverify.selftest.schemes import (
    PLAIN_LOAD,
    Code,
    general,
    in_order,
    near,
    needs_general,
    scheme_of,
    shape_for,
)
from rspverify.source import InputError
from rspverify.value import Constant, Expression, constants, reads


class Pair(Struct, frozen=True):
    """A program and a scheme for it, and the machine, if that was drawn too."""

    test: LitmusTest
    scheme: Scheme
    scheme_kind: str
    machine: RandomMachine | None = None


T = TypeVar("T")
F = TypeVar("F")

Shown = Callable[[Pair], Difference | None]
"""The disagreement of the kind in question that a pair shows, or None."""

MAX_TRIES = 2_000
"""Beyond so many candidates the smallest pair so far is good enough."""


def shrink(pair: Pair, shown: Shown, difference: Difference) -> tuple[Pair, Difference]:
    """The first smaller pair that shows it, again and again, until no smaller pair does."""
    return shrunk(pair, _smaller, shown, difference)


def shrunk(
    it: T, smaller: Callable[[T], Iterator[T]], shown: Callable[[T], F | None], found: F
) -> tuple[T, F]:
    """The first smaller thing that shows what was found, again and again, and what it shows."""
    candidates = smaller(it)
    for _ in range(MAX_TRIES):
        candidate = next((each for each in candidates if each != it), None)
        if candidate is None:
            break
        if (again := shown(candidate)) is not None:
            it, found, candidates = candidate, again, smaller(candidate)
    return it, found


def _smaller(pair: Pair) -> Iterator[Pair]:
    """Candidates, those that leave out most first; each is smaller than the pair it comes from."""
    test, scheme, machine = pair.test, pair.scheme, pair.machine
    for each in smaller_tests(test):
        yield replace(pair, test=each, scheme=_scheme_for(each, scheme))
    for simpler in _simpler_schemes(scheme):
        yield replace(pair, scheme=simpler)
    for less in machine.simpler() if machine is not None and scheme.machine.path else ():
        with suppress(InputError):
            yield replace(pair, scheme=scheme.on_machine(less.architecture), machine=less)


def smaller_tests(test: LitmusTest) -> Iterator[LitmusTest]:
    """Tests that are smaller than one, those that leave out most first."""
    return chain(
        _without_thread(test),
        _with_others(test, lambda _: [()]),
        _with_fewer_locations(test),
        _in_fewer_places(test),
        _with_others(test, lambda access: ((each,) for each in _simpler(access))),
        _simpler_initial(test),
    )


def _scheme_for(test: LitmusTest, scheme: Scheme) -> Scheme:
    """The rows that a test uses; one that the scheme lacks has the code of one that is not used."""
    used = {shape_for(each) for each in test.accesses}
    used |= {PLAIN_LOAD for each in test.accesses if each.expected}
    rows = {}
    for shape in in_order(used):
        spare = (it.code for it in scheme.rows if it.kind is shape.kind and not used & {*it.shapes})
        own = scheme.table[shape].code if shape in scheme.table else next(spare, near(shape.kind))
        rows[shape] = general(own) if needs_general(test, shape) else own
    return scheme_of(rows, scheme.machine)


# ---- the test -----------------------------------------------------------------------------------


def _without_thread(test: LitmusTest) -> Iterator[LitmusTest]:
    for place in range(len(test.threads)):
        if len(test.threads) > 1:
            yield test.with_threads(test.threads[:place] + test.threads[place + 1 :])


def _with_others(
    test: LitmusTest, others: Callable[[Access], Iterable[tuple[Access, ...]]]
) -> Iterator[LitmusTest]:
    """With others in the place of an access; nothing depends on its register if they have none."""
    for number, thread in enumerate(test.threads):
        for place, access in enumerate(thread.accesses):
            for these in others(access):
                later = thread.accesses[place + 1 :]
                if not any(each.register is not None for each in these):
                    later = tuple(_without_register(each, access.register) for each in later)
                changed = replace(thread, accesses=thread.accesses[:place] + these + later)
                yield test.with_threads(
                    (*test.threads[:number], changed, *test.threads[number + 1 :])
                )


def _without_register(access: Access, register: int | None) -> Access:
    """An access that does not look at a register: guards on it are dropped."""
    if register is None:
        return access
    value = access.value
    if value is not None and register in reads(value):
        value = Constant(1)
    guards = tuple(each for each in access.guards if register not in reads(each))
    return replace(access, value=value, guards=guards)


def _with_fewer_locations(test: LitmusTest) -> Iterator[LitmusTest]:
    """One location instead of two; both must be atomic or both not."""
    for gone, kept in product(test.locations, repeat=2):
        if kept.name < gone.name and kept.atomic == gone.atomic:
            yield test.with_threads(
                replace(
                    thread,
                    accesses=tuple(
                        replace(each, location=kept.name) if each.location == gone.name else each
                        for each in thread.accesses
                    ),
                )
                for thread in test.threads
            )


def _in_fewer_places(test: LitmusTest) -> Iterator[LitmusTest]:
    """All threads of one place in another: fewer work-groups, or fewer devices.

    Places are ordered, so that this ends: threads only ever move to an earlier one.
    """
    for gone, kept in product(sorted({thread.place for thread in test.threads}), repeat=2):
        if kept < gone:
            yield test.with_threads(
                replace(each, place=kept) if each.place == gone else each for each in test.threads
            )


def _simpler(access: Access) -> Iterator[Access]:
    for place in range(len(access.guards)):
        yield replace(access, guards=access.guards[:place] + access.guards[place + 1 :])
    if access.value is not None:
        for value in (Constant(1), Constant(2)):
            if _size(value) < _size(access.value):
                yield replace(access, value=value)
    if access.remote:
        yield replace(access, remote=False)
    narrower = {Scope.ALL: Scope.DV, Scope.DV: Scope.WG}
    if access.scope in narrower:
        yield replace(access, scope=narrower[access.scope])
    if access.kind is Kind.RMW:
        if access.weak:
            yield replace(access, weak=False)
        if access.failure is not Order.RELAXED:
            yield replace(access, failure=Order.RELAXED)
        plain = replace(access, operator=None, expected=None, failure=Order.RELAXED, weak=False)
        yield replace(plain, kind=Kind.LOAD, order=STRONG[Kind.LOAD], value=None)
        yield replace(plain, kind=Kind.STORE, order=STRONG[Kind.STORE], register=None)
        if access.operator != "+":
            yield replace(plain, operator="+")


def _size(value: Expression) -> tuple[bool, int]:
    return bool(reads(value)), max(map(abs, constants(value)), default=0)


def _simpler_initial(test: LitmusTest) -> Iterator[LitmusTest]:
    atomic = [x.name for x in test.locations if x.atomic]
    for gone in test.locations:
        if gone.initial:
            initial = {x.name: x.initial for x in test.locations if x is not gone}
            yield litmus_test(test.threads, atomic, initial)


# ---- the scheme ---------------------------------------------------------------------------------


def _simpler_schemes(scheme: Scheme) -> Iterator[Scheme]:
    for row in scheme.rows:
        for simpler in _simpler_codes(row.code):
            yield scheme.with_code(row.number, simpler)
    if scheme.machine.name != "rsp":
        with suppress(InputError):
            yield scheme.on_machine(MACHINES["rsp"])


def _simpler_codes(own: Code) -> Iterator[Code]:
    """Without an instruction, or with one that reaches less far."""
    for place, each in enumerate(own):
        again = each.mnemonic.name == "ST" and any(it.accesses for it in own[:place])
        if again or not each.accesses:
            yield own[:place] + own[place + 1 :]
        reaches = each.mnemonic.reaches
        if each.reach and (farther := reaches.index(each.reach)):
            narrower = replace(each, reach=reaches[farther - 1])
            yield (*own[:place], narrower, *own[place + 1 :])
