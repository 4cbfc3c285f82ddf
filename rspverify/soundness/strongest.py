"""The code of a row made as strong as can be, told from the effects of a machine's instructions."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from typing import NamedTuple

from rspverify.architecture.acts import (
    Deed,
    acts,
    completes,
    does_the_same,
    invalidations,
    place_of,
    waits,
    write_backs,
)
from rspverify.architecture.architecture import Architecture, CellKind, Mnemonic, cells_of
from rspverify.machine.machine import effect_of
from rspverify.records import replace
from rspverify.scheme.row import Row, Template
from rspverify.scheme.scheme import Scheme
from rspverify.scheme.steps import variants

Code = tuple[Template, ...]


def strongest(row: Row, scheme: Scheme, devices: int, *, anywhere: bool = False) -> Code:
    """The code of a row that waits, writes back and invalidates before its accesses and after.

    These are done as near to memory as can be; a fence has none. A row for remote operations (or
    any, `anywhere`) does this to every cache, under every lock that reaches as far; another one to
    its own caches, or as far as it reaches itself. devices: of the programs.

    The row's own code is in it, in its order: each instruction, or the same with a wider reach; a
    lock may be taken earlier and freed later. So it is no weaker (docs/proofs.md, «Which code
    is weaker than another»). Only of an access that is done nearer to memory that is not proved.
    """
    machine = scheme.machine
    far = anywhere or row.remotes == {True}
    wide = machine.places[-1] if devices > 1 else machine.places[-2]

    def made(mnemonic: Mnemonic) -> Template:
        own = [it for it in row.code if does_the_same(it.mnemonic, mnemonic)]
        kinds = [wide if far else place_of(mnemonic, machine)]
        kinds += (machine.reaches[it.reach] for it in own if it.reach)
        widest = max(kinds, key=machine.places.index)
        mnemonic = own[0].mnemonic if own else mnemonic  # As the row spells it.
        return Template(mnemonic, machine.reach_in(mnemonic, widest), row.span)

    def does(each: Template) -> bool:
        """Whether it waits, or does something that anybody looks at."""
        stays = each.accesses or bool(each.mnemonic.conditions)
        return stays or _changes(machine, each.mnemonic, each.reach, devices)

    def nearest(each: Template) -> Template:
        if not each.accesses:
            return each
        return replace(each, mnemonic=_farthest(row, each.mnemonic, scheme))

    locks = _locking(machine) if far else ()
    own = tuple(it for it in row.code if does(it) and not _is_of(it, locks))
    empties = filter(does, map(made, [*write_backs(machine), *invalidations(machine)]))
    around = _Around(tuple(empties), tuple(map(made, waits(machine))))
    code = _between([*_parts(map(nearest, own), machine)], around)
    return (*map(made, locks[:1]), *code, *map(made, locks[1:]))


class _Around(NamedTuple):
    """What is done beside an access: what empties caches, and what waits."""

    empties: Code
    waits: Code

    def has(self, each: Template) -> bool:
        """Whether an instruction is one of these."""
        return any(_alike(each, it) for it in (*self.empties, *self.waits))

    def code(self, own: Sequence[Template]) -> Code:
        """All waits, then what empties caches, each followed by the waits that complete it.

        It has what a row has there in it, in the row's order: by more waits, or by repetition.
        """
        mine = [it for each in own for it in self.waits if _alike(it, each)]
        waits = tuple(dict.fromkeys((*mine, *self.waits)))
        ways = (self._code(waits, ()), self._code(waits, mine))
        return min((way * _times(own, way) for way in ways), key=len)

    def _code(self, waits: Code, everywhere: Sequence[Template]) -> Code:
        found = [*waits]
        for each in self.empties:
            found.append(each)
            found += (
                it for it in waits if it in everywhere or completes(it.mnemonic, each.mnemonic)
            )
        return tuple(found)


def _parts(code: Iterable[Template], machine: Architecture) -> Iterator[Code]:
    """A code by instructions. One part is all from where a lock is taken that steps of the machine
    wait for, to where it is freed: there nothing is added, as a flush could wait for it for ever.
    """
    awaited = {it.kind for step in machine.steps for it in cells_of(step.conditions)}
    part: list[Template] = []
    held: set[CellKind | None] = set()
    for each in code:
        part.append(each)
        done = acts(each.mnemonic)
        held |= {it.kind for it in done if it.deed is Deed.TAKE and it.kind in awaited}
        held -= {it.kind for it in done if it.deed is Deed.FREE}
        if not held:
            yield tuple(part)
            part = []
    if part:
        yield tuple(part)


def _between(parts: Sequence[Code], around: _Around) -> Iterator[Template]:
    """The parts of a code, and what empties caches beside each but locks. It stands for what
    the row has of that, in the row's order: as often as that takes.
    """
    beside = not any(it.accesses for part in parts for it in part)
    own: list[Template] = []
    for part in (*parts, ()):
        if len(part) == 1 and around.has(part[0]):
            own += part
            continue
        stands = bool(part) and not (len(part) == 1 and _locks(part[0]))
        if own or beside or stands:
            yield from around.code(own)
        yield from part
        own, beside = [], stands


def _times(own: Sequence[Template], around: Code) -> int:
    """How often a code has to be repeated so that another one is in it, in its order."""
    times = 0
    left = [*own]
    while left or not times:
        times += 1
        for each in around:
            if left and _alike(left[0], each):
                left.pop(0)
    return times


def _alike(one: Template, other: Template) -> bool:
    return does_the_same(one.mnemonic, other.mnemonic)


def _farthest(row: Row, mnemonic: Mnemonic, scheme: Scheme) -> Mnemonic:
    """Of the instructions that do the same access, the one that does it nearest to memory."""
    places = scheme.machine.places

    def nearness(it: Mnemonic) -> tuple[int, int]:
        found = [places.index(each.kind.place) for each in it.accessed]
        return (min(found), max(found))

    return max([mnemonic, *variants(row, mnemonic, scheme)], key=nearness)


def _locks(each: Template) -> bool:
    return any(act.deed in (Deed.TAKE, Deed.FREE) for act in acts(each.mnemonic))


@lru_cache
def _changes(machine: Architecture, mnemonic: Mnemonic, reach: str | None, devices: int) -> bool:
    return bool(mnemonic.effects and effect_of(machine, mnemonic, reach, devices).updates)


def _is_of(each: Template, locks: Sequence[Mnemonic]) -> bool:
    """Whether an instruction only waits for, takes or frees the lock that others take and free."""
    kinds = {act.kind for it in locks for act in acts(it)}
    done = acts(each.mnemonic)
    locking = (Deed.AWAIT, Deed.TAKE, Deed.FREE)
    return (
        bool(done)
        and not each.accesses
        and all(it.deed in locking and it.kind in kinds for it in done)
    )


def _locking(machine: Architecture) -> tuple[Mnemonic, ...]:
    """What takes the locks in a reach, and what frees them; empty where nothing does."""
    found: dict[tuple[Deed, CellKind], Mnemonic] = {}
    for mnemonic in machine.instructions.values():
        for act in acts(mnemonic):
            if mnemonic.reaches and act.kind and act.deed in (Deed.TAKE, Deed.FREE):
                found.setdefault((act.deed, act.kind), mnemonic)
    for (deed, lock), mnemonic in found.items():
        if deed is Deed.TAKE and (Deed.FREE, lock) in found:
            return mnemonic, found[Deed.FREE, lock]
    return ()
