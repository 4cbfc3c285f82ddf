"""Makes a disagreement as small as it goes: whatever can be left out while it is still shown."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from itertools import chain

from rspverify.assembly import MACHINES
from rspverify.litmus.program import Kind, Scope
from rspverify.programs import STRONG, Access, LitmusTest, Thread, litmus_test
from rspverify.selftest.compare import Difference
from rspverify.selftest.schemes import (
    Code,
    Key,
    Table,
    accesses,
    general,
    key_of,
    near,
    needs_general,
)
from rspverify.value import Constant, Expression, constants, reads

Shown = Callable[[LitmusTest, Table], Difference | None]
"""The disagreement of the kind in question that a pair shows, or None."""

MAX_TRIES = 2_000
"""Beyond so many candidates the smallest pair so far is good enough."""


def shrink(
    test: LitmusTest, table: Table, shown: Shown, difference: Difference
) -> tuple[LitmusTest, Table, Difference]:
    """The first smaller pair that shows it, again and again, until no smaller pair does."""
    tries = 0
    while True:
        for smaller_test, smaller_table in _smaller(test, table):
            if (smaller_test, smaller_table) == (test, table):
                continue
            tries += 1
            if tries > MAX_TRIES:
                return test, table, difference
            found = shown(smaller_test, smaller_table)
            if found is not None:
                test, table, difference = smaller_test, smaller_table, found
                break
        else:
            return test, table, difference


def _smaller(test: LitmusTest, table: Table) -> Iterator[tuple[LitmusTest, Table]]:
    """Candidates, those that leave out most first; each is smaller than the pair it comes from."""
    tests = chain(
        _without_thread(test),
        _without_access(test),
        _with_fewer_locations(test),
        _in_fewer_places(test),
        _simpler_accesses(test),
        _simpler_initial(test),
    )
    for each in tests:
        yield each, _rows_for(each, table)
    for rows in _simpler_tables(table):
        yield test, rows


def _rows_for(test: LitmusTest, table: Table) -> Table:
    """The rows that a test uses; one that the table lacks has the code of one that is not used."""
    used = {key_of(each) for each in test.accesses}
    used |= {Key(Kind.LOAD, None, False) for each in test.accesses if each.expected}
    keys = sorted(used, key=str)
    spare = [(key.kind, code) for key, code in table.rows.items() if key not in keys]
    rows = {}
    for key in keys:
        fitting = [code for kind, code in spare if kind is key.kind]
        code = table.rows.get(key, next(iter(fitting), near(key.kind)))
        rows[key] = general(code) if needs_general(test, key) else code
    return replace(table, rows=rows)


# ---- the test -----------------------------------------------------------------------------------


def _without_thread(test: LitmusTest) -> Iterator[LitmusTest]:
    for place in range(len(test.threads)):
        if len(test.threads) > 1:
            yield test.with_threads(test.threads[:place] + test.threads[place + 1 :])


def _without_access(test: LitmusTest) -> Iterator[LitmusTest]:
    for number, thread in enumerate(test.threads):
        for place, gone in enumerate(thread.accesses):
            rest = thread.accesses[:place] + thread.accesses[place + 1 :]
            kept = tuple(_without_register(each, gone.register) for each in rest)
            yield _with_accesses(test, number, kept)


def _without_register(access: Access, register: int | None) -> Access:
    """An access that does not look at a register: guards on it are dropped."""
    if register is None:
        return access
    value = access.value
    if value is not None and register in reads(value):
        value = Constant(1)
    guards = tuple(each for each in access.guards if register not in reads(each))
    return replace(access, value=value, guards=guards)


def _with_accesses(test: LitmusTest, number: int, accesses: tuple[Access, ...]) -> LitmusTest:
    changed = Thread(test.threads[number].place, accesses)
    return test.with_threads((*test.threads[:number], changed, *test.threads[number + 1 :]))


def _with_fewer_locations(test: LitmusTest) -> Iterator[LitmusTest]:
    """One location instead of two; both must be atomic or both not."""
    for gone in test.locations:
        for kept in test.locations:
            if kept.name < gone.name and kept.atomic == gone.atomic:
                renamed = (
                    tuple(_renamed(each, gone.name, kept.name) for each in thread.accesses)
                    for thread in test.threads
                )
                yield test.with_threads(
                    Thread(thread.place, own)
                    for thread, own in zip(test.threads, renamed, strict=True)
                )


def _renamed(access: Access, gone: str, kept: str) -> Access:
    return replace(access, location=kept) if access.location == gone else access


def _in_fewer_places(test: LitmusTest) -> Iterator[LitmusTest]:
    """All threads of one place in another: fewer work-groups, or fewer devices.

    Places are ordered, so that this ends: threads only ever move to an earlier one.
    """
    places = sorted({thread.place for thread in test.threads})
    for gone in places:
        for kept in places:
            if kept < gone:
                yield test.with_threads(
                    replace(each, place=kept) if each.place == gone else each
                    for each in test.threads
                )


def _simpler_accesses(test: LitmusTest) -> Iterator[LitmusTest]:
    for number, thread in enumerate(test.threads):
        for place, access in enumerate(thread.accesses):
            for simpler in _simpler(access):
                later = thread.accesses[place + 1 :]
                if simpler.register is None:
                    later = tuple(_without_register(each, access.register) for each in later)
                own = (*thread.accesses[:place], simpler, *later)
                yield _with_accesses(test, number, own)


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
        plain = replace(access, operator=None, expected=None)
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


def _simpler_tables(table: Table) -> Iterator[Table]:
    for key, code in table.rows.items():
        for simpler in _simpler_codes(code):
            yield _with_row(table, key, simpler)
    plain = all(each.split()[0] in _RSP for code in table.rows.values() for each in code)
    if table.machine != "rsp" and plain:
        yield replace(table, machine="rsp")


def _simpler_codes(code: Code) -> Iterator[Code]:
    """Without an instruction, or with one that reaches less far."""
    for place, instruction in enumerate(code):
        again = instruction.startswith("ST ") and any(map(accesses, code[:place]))
        if again or not accesses(instruction):
            yield code[:place] + code[place + 1 :]
        for wide, narrow in _NARROWER:
            if instruction.endswith(wide):
                shorter = instruction.removesuffix(wide) + narrow
                yield (*code[:place], shorter, *code[place + 1 :])


_RSP = MACHINES["rsp"].instructions
_NARROWER = ((" SY", " DV"), ("L1 DV", "L1 WG"))


def _with_row(table: Table, key: Key, code: Code) -> Table:
    return replace(table, rows={**table.rows, key: code})
