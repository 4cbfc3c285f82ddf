"""Makes a disagreement as small as it goes: whatever can be left out while it is still shown."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from itertools import chain

from rspverify.assembly import MACHINES
from rspverify.litmus.program import Kind, Location, Scope
from rspverify.selftest.compare import Difference
from rspverify.selftest.draft import Draft, Formula, Statement, ThreadDraft, constant
from rspverify.selftest.operations import completed
from rspverify.selftest.programs import STRONG
from rspverify.selftest.schemes import (
    NEAR,
    Code,
    Key,
    Table,
    accesses,
    general,
    key_of,
    needs_general,
)

Shown = Callable[[Draft, Table], Difference | None]
"""The disagreement of the kind in question that a pair shows, or None."""

MAX_TRIES = 2_000
"""Beyond so many candidates the smallest pair so far is good enough."""


def shrink(
    draft: Draft, table: Table, shown: Shown, difference: Difference
) -> tuple[Draft, Table, Difference]:
    """The first smaller pair that shows it, again and again, until no smaller pair does."""
    tries = 0
    while True:
        for smaller_draft, smaller_table in _smaller(draft, table):
            if (smaller_draft, smaller_table) == (draft, table):
                continue  # a location that was left out came back
            tries += 1
            if tries > MAX_TRIES:
                return draft, table, difference
            found = shown(smaller_draft, smaller_table)
            if found is not None:
                draft, table, difference = smaller_draft, smaller_table, found
                break
        else:
            return draft, table, difference


def _smaller(draft: Draft, table: Table) -> Iterator[tuple[Draft, Table]]:
    """Candidates, those that leave out most first; each is smaller than the pair it comes from."""
    drafts = chain(
        _without_thread(draft),
        _without_statement(draft),
        _with_fewer_locations(draft),
        _in_fewer_places(draft),
        _simpler_statements(draft),
        _simpler_initial(draft),
    )
    for each in drafts:
        trimmed = _trimmed(each)
        yield trimmed, _rows_for(trimmed, table)
    for rows in _simpler_tables(table):
        yield draft, rows


def _rows_for(draft: Draft, table: Table) -> Table:
    """The rows that a test uses; one that the table lacks has the code of one that is not used."""
    used = {key_of(each) for each in draft.statements}
    used |= {Key(Kind.LOAD, None, False) for each in draft.statements if each.compares}
    keys = sorted(used, key=str)
    spare = [(key.kind, code) for key, code in table.rows.items() if key not in keys]
    rows = {}
    for key in keys:
        fitting = [code for kind, code in spare if kind is key.kind]
        code = table.rows.get(key, next(iter(fitting), NEAR[key.kind]))
        rows[key] = general(code) if needs_general(draft, key) else code
    return replace(table, rows=rows)


def _trimmed(draft: Draft) -> Draft:
    """Without locations that nobody accesses; one must remain, if only to have a test."""
    used = {each.location for each in draft.statements}
    locations = tuple(x for x in draft.locations if x.name in used)
    return completed(replace(draft, locations=locations or draft.locations[:1]))


# ---- the test -----------------------------------------------------------------------------------


def _without_thread(draft: Draft) -> Iterator[Draft]:
    for place in range(len(draft.threads)):
        if len(draft.threads) > 1:
            yield replace(draft, threads=draft.threads[:place] + draft.threads[place + 1 :])


def _without_statement(draft: Draft) -> Iterator[Draft]:
    for number, thread in enumerate(draft.threads):
        for place, gone in enumerate(thread.statements):
            rest = thread.statements[:place] + thread.statements[place + 1 :]
            kept = tuple(_without_register(each, gone.register) for each in rest)
            yield _with_thread(draft, number, replace(thread, statements=kept))


def _without_register(statement: Statement, register: int | None) -> Statement:
    """A statement that does not look at a register: guards on it are dropped."""
    if register is None:
        return statement
    value = statement.value
    if value is not None and value.register == register:
        value = constant(value.constant)
    guards = tuple(each for each in statement.guards if each.register != register)
    return replace(statement, value=value, guards=guards)


def _with_thread(draft: Draft, number: int, thread: ThreadDraft) -> Draft:
    threads = (*draft.threads[:number], thread, *draft.threads[number + 1 :])
    return replace(draft, threads=threads)


def _with_fewer_locations(draft: Draft) -> Iterator[Draft]:
    """One location instead of two; both must be atomic or both not."""
    for gone in draft.locations:
        for kept in draft.locations:
            if kept.name < gone.name and kept.atomic == gone.atomic:
                yield _renamed(draft, gone, kept)


def _renamed(draft: Draft, gone: Location, kept: Location) -> Draft:
    threads = tuple(
        replace(
            thread,
            statements=tuple(
                replace(each, location=kept.name) if each.location == gone.name else each
                for each in thread.statements
            ),
        )
        for thread in draft.threads
    )
    return Draft(threads, tuple(x for x in draft.locations if x != gone))


def _in_fewer_places(draft: Draft) -> Iterator[Draft]:
    """All threads of one place in another: fewer work-groups, or fewer devices.

    Places are ordered, so that this ends: threads only ever move to an earlier one.
    """
    places = sorted({thread.place for thread in draft.threads})
    for gone in places:
        for kept in [(0, 0), *places]:
            if kept < gone:
                moved = [
                    replace(each, place=kept) if each.place == gone else each
                    for each in draft.threads
                ]
                yield replace(draft, threads=tuple(moved))


def _simpler_statements(draft: Draft) -> Iterator[Draft]:
    for number, thread in enumerate(draft.threads):
        for place, statement in enumerate(thread.statements):
            for simpler in _simpler(statement):
                later = thread.statements[place + 1 :]
                if simpler.register is None:
                    later = tuple(_without_register(each, statement.register) for each in later)
                own = (*thread.statements[:place], simpler, *later)
                yield _with_thread(draft, number, replace(thread, statements=own))


def _simpler(statement: Statement) -> Iterator[Statement]:
    for place in range(len(statement.guards)):
        yield replace(statement, guards=statement.guards[:place] + statement.guards[place + 1 :])
    if statement.value is not None:
        for value in (constant(1), constant(2)):
            if _size(value) < _size(statement.value):
                yield replace(statement, value=value)
    if statement.remote:
        yield replace(statement, remote=False)
    narrower = {Scope.ALL: Scope.DV, Scope.DV: Scope.WG}
    if statement.scope in narrower:
        yield replace(statement, scope=narrower[statement.scope])
    if statement.kind is Kind.RMW:
        plain = replace(statement, operator="+")
        yield replace(plain, kind=Kind.LOAD, order=STRONG[Kind.LOAD], value=None)
        yield replace(plain, kind=Kind.STORE, order=STRONG[Kind.STORE], register=None)
        if plain != statement:
            yield plain


def _size(value: Formula) -> tuple[bool, int]:
    return value.register is not None, abs(value.constant)


def _simpler_initial(draft: Draft) -> Iterator[Draft]:
    for place, location in enumerate(draft.locations):
        if location.initial:
            zero = replace(location, initial=0)
            locations = (*draft.locations[:place], zero, *draft.locations[place + 1 :])
            yield replace(draft, locations=locations)


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
