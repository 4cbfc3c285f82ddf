"""Which row of a scheme a program shows to be too weak."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import combinations

from msgspec import Struct

from rspverify.architecture import Act, Architecture, CellKind, Deed, Mnemonic, acts
from rspverify.limits import Limits
from rspverify.litmus import Scope
from rspverify.machine import effect_of
from rspverify.records import replace
from rspverify.scheme import Row, Scheme, Template, rows_used
from rspverify.scheme.variants import variants
from rspverify.soundness.case import Case
from rspverify.soundness.check import check
from rspverify.soundness.source import SourceExecutions
from rspverify.verdict import Word

_SCOPES = (None, *Scope)


class Blame(Struct, frozen=True):
    """mends: each smallest set of rows that mends a program if made as strong as can be.

    blamed: of these, the one with the widest scope, and of two like that the remote one; empty if
    no row and no two mend it. mended: the scheme with these made stronger. Keeping work-groups in
    step is for the operations that reach across them: what they fail to do, a plain access could
    mend, too, at a cost that schemes are there to avoid.
    """

    blamed: tuple[Row, ...]
    mends: tuple[tuple[Row, ...], ...]
    mended: Scheme


def blame(case: Case, *, devices: int, limits: Limits | None = None) -> Blame:
    """The rows to blame for a program that a scheme breaks. devices: for which rows are made.

    Only if no row and no two mend it within their reach, rows are tried that reach everywhere.
    limits: on all checks together, beside those that the case sets to each. Raises LimitReached.
    """
    limits = limits or Limits()
    program, scheme, model, settings = case.program, case.scheme, case.model, case.settings
    assert isinstance(scheme, Scheme)  # A compiler has no rows.
    source = SourceExecutions(program, model)
    rows = rows_used(program, scheme)
    for anywhere in (False, True):
        for count in (1, 2):
            mends = {}
            for chosen in combinations(rows, count):
                mended = _strengthened(scheme, chosen, devices, anywhere=anywhere)
                word = check(Case(program, mended, model, settings), source).word
                limits.remaining()
                if word is Word.SOUND:
                    mends[chosen] = mended
            if mends:
                widest = max(mends, key=_width)
                return Blame(widest, tuple(mends), mends[widest])
    return Blame((), (), scheme)


def _strengthened(scheme: Scheme, rows: Sequence[Row], devices: int, *, anywhere: bool) -> Scheme:
    """A scheme with some rows made as strong as can be."""
    for row in rows:
        scheme = scheme.with_code(row.number, strongest(row, scheme, devices, anywhere=anywhere))
    return scheme


def strongest(
    row: Row, scheme: Scheme, devices: int, *, anywhere: bool = False
) -> tuple[Template, ...]:
    """The strongest code of a row: it flushes, waits and invalidates before its access and after.

    That is done as near to memory as can be; a fence has none. A row for remote
    operations (or any, `anywhere`) does this to every cache, under every lock that reaches as far;
    another one to its own caches. What else the row has of its own, as what writes back some time
    later, stays, and what waits stands before it and behind it: so the code is never weaker.
    """
    machine = scheme.machine
    far = anywhere or row.remotes == {True}
    wide = machine.places[-1] if devices > 1 else machine.places[-2]

    def made(mnemonic: Mnemonic, kind: str) -> Template:
        return Template(mnemonic, machine.reach_in(mnemonic, kind), row.span)

    def does(each: Template) -> bool:
        waits = any(it.deed is Deed.DRAIN for it in acts(each.mnemonic))
        return waits or bool(effect_of(machine, each.mnemonic, each.reach, devices).updates)

    emptying = [made(mnemonic, wide if far else own) for mnemonic, own in _emptying(machine)]
    around = [each for each in emptying if does(each)]
    known = {acts(each.mnemonic) for each in emptying}

    def beside(own: Sequence[Template]) -> tuple[Template, ...]:
        kept = [it for it in own if acts(it.mnemonic) not in known and not _locks(it) and does(it)]
        return (*around, *kept, *around) if kept else tuple(around)

    place = next((place for place, each in enumerate(row.code) if each.accesses), None)
    code = beside(row.code)
    if place is not None:
        access = row.code[place]
        nearest = replace(access, mnemonic=_farthest(row, access.mnemonic, scheme))
        behind = [each for each in row.code[place + 1 :] if not each.accesses]
        code = (*beside(row.code[:place]), nearest, *beside(behind))
    locks = _locking(machine)
    if not far or locks is None:
        return code
    take, free = locks
    return (made(take, wide), *code, made(free, wide))


def _emptying(machine: Architecture) -> Iterator[tuple[Mnemonic, str]]:
    """What flushes caches, what waits, then what empties them whole, those farthest away first, as
    a cache is filled from the next; each with the kind of place of its own.
    """
    for deed in (Deed.MARK, Deed.DRAIN, Deed.LOSE):
        found: dict[tuple[Act, ...], tuple[Mnemonic, str]] = {}
        for mnemonic in machine.instructions.values():
            done = acts(mnemonic)
            kinds = [
                it.kind.place for it in done if it.kind and (it.every or deed is not Deed.LOSE)
            ]
            alone = not (mnemonic.reads or mnemonic.writes)
            if alone and kinds and all(it.deed is deed for it in done):
                found.setdefault(done, (mnemonic, max(kinds, key=machine.places.index)))
        yield from sorted(found.values(), key=lambda it: -machine.places.index(it[1]))


def _farthest(row: Row, mnemonic: Mnemonic, scheme: Scheme) -> Mnemonic:
    """Of the instructions that do the same access, the one that does it nearest to memory."""
    places = scheme.machine.places

    def nearness(it: Mnemonic) -> tuple[int, int]:
        found = [places.index(each.kind.place) for each in it.accessed]
        return (min(found), max(found))

    return max([mnemonic, *variants(row, mnemonic, scheme)], key=nearness)


def _locks(each: Template) -> bool:
    return any(act.deed in (Deed.TAKE, Deed.FREE) for act in acts(each.mnemonic))


def _locking(machine: Architecture) -> tuple[Mnemonic, Mnemonic] | None:
    """What takes the locks in a reach, and what frees them; None where nothing does."""
    found: dict[tuple[Deed, CellKind], Mnemonic] = {}
    for mnemonic in machine.instructions.values():
        for act in acts(mnemonic):
            if mnemonic.reaches and act.kind and act.deed in (Deed.TAKE, Deed.FREE):
                found.setdefault((act.deed, act.kind), mnemonic)
    for (deed, lock), mnemonic in found.items():
        if deed is Deed.TAKE and (Deed.FREE, lock) in found:
            return mnemonic, found[Deed.FREE, lock]
    return None


def _width(rows: Sequence[Row]) -> tuple[tuple[int, bool, int], ...]:
    """How far rows reach; of equal ones those later in the table."""
    return tuple(
        sorted(
            (max(map(_SCOPES.index, row.scopes)), True in row.remotes, row.number) for row in rows
        )
    )
