"""What instructions of a machine's scheme are one step away from, told from their effects."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from rspverify.architecture.acts import Deed, acts
from rspverify.architecture.architecture import CellKind, Mnemonic
from rspverify.litmus.program import Scope
from rspverify.records import replace
from rspverify.scheme.equivalence import equivalent, waits_longer
from rspverify.scheme.memory import serves
from rspverify.scheme.row import Row, Template
from rspverify.scheme.rows import Steps

if TYPE_CHECKING:
    from rspverify.scheme.scheme import Scheme

Code = tuple[Template, ...]


@dataclass(frozen=True)
class StepsOnMachine(Steps):
    """The steps of a scheme (rspverify/scheme/rows.py)."""

    scheme: Scheme

    def stays(self, code: Code, place: int) -> bool:
        """An access stays, unless another stores the same."""
        return code[place].accesses and not stored_elsewhere(code, place)

    def pairs(self, code: Code) -> dict[int, int]:
        """Locks with their unlocks."""
        return dict(lock_pairs(code))

    def weaker(self, row: Row, place: int) -> Iterator[tuple[str, Code]]:
        """A reach that is narrower, and fewer modifiers of an access."""
        it = row.code[place]
        if narrower := _reach(it, -1):
            yield f"narrow to {narrower}", (replace(it, reach=narrower),)
        for fewer in _with_other_bits(row, it, self.scheme, fewer=True):
            lost = " ".join(m for m in it.mnemonic.modifiers if m not in fewer.modifiers)
            yield f"without {lost}", (replace(it, mnemonic=fewer),)

    def stronger(self, row: Row, place: int) -> Iterator[tuple[str, Code]]:
        """A reach that is wider, and more modifiers of an access."""
        it = row.code[place]
        wider = _reach(it, +1)
        if wider and wider not in self._pointless:
            yield f"widen to {wider}", (replace(it, reach=wider),)
        for more in _with_other_bits(row, it, self.scheme, fewer=False):
            added = " ".join(m for m in more.modifiers if m not in it.mnemonic.modifiers)
            yield f"with {added}", (replace(it, mnemonic=more),)

    def no_less(self, one: Template, other: Template) -> bool:
        """The same instruction that reaches as far."""
        if one.accesses or other.accesses:
            return one.accesses and other.accesses
        if one.mnemonic.name != other.mnemonic.name:
            return False
        reaches = one.mnemonic.reaches
        return other.reach is None or reaches.index(one.reach) >= reaches.index(other.reach)

    @cached_property
    def _pointless(self) -> frozenset[str]:
        """The reaches of all devices, where no row is for these: on one device the whole system is
        no more than that device."""
        across = any(Scope.ALL in row.scopes for row in self.scheme.rows)
        reaches, system = self.scheme.machine.reaches, self.scheme.machine.places[-1]
        return frozenset(it for it, kind in reaches.items() if kind == system and not across)

    def swap(self, one: Template, other: Template) -> bool:
        """All but two accesses."""
        return not (one.accesses and other.accesses)

    def mean(self, row: Row, code: Code) -> bool:
        """A row may have any code with its access."""
        return True

    def equivalent(self, one: Code, other: Code) -> str | None:
        """Why two codes are the same to everybody on the machine."""
        return equivalent(one, other, self.scheme.machine)

    def waits_longer(self, one: Code, other: Code, switches: str | None = None) -> bool:
        """Whether the one only waits longer, on the machine with these switches on."""
        machine = self.scheme.machine
        return waits_longer(one, other, machine.switched(switches) if switches else machine)


def stored_elsewhere(code: Code, place: int) -> bool:
    """Whether an instruction only stores what another one of the code writes, too."""
    writes = [at for at, each in enumerate(code) if each.mnemonic.writes]
    return place in writes and not code[place].mnemonic.reads and len(writes) > 1


def lock_pairs(code: Code) -> Iterator[tuple[int, int]]:
    """The places, from 0, of each instruction that takes a lock and the one that frees it.

    An instruction that frees a lock belongs to the last before it that takes the same with the
    same reach and has no such partner yet.
    """
    open_: dict[tuple[CellKind, str | None], list[int]] = {}
    for place, template in enumerate(code):
        for lock, taken in locks_of(template):
            if taken:
                open_.setdefault((lock, template.reach), []).append(place)
            elif partners := open_.get((lock, template.reach)):
                yield partners.pop(), place


def locks_of(template: Template) -> Iterator[tuple[CellKind, bool]]:
    """The locks that an instruction takes (True) and frees (False), in its order."""
    for act in acts(template.mnemonic):
        if act.deed in (Deed.TAKE, Deed.FREE) and act.kind is not None:
            yield act.kind, act.deed is Deed.TAKE


def _reach(template: Template, by: int) -> str | None:
    """The reach that is so many steps wider, where the instruction can have it."""
    reaches = template.mnemonic.reaches
    place = reaches.index(template.reach) + by if template.reach else -1
    return reaches[place] if 0 <= place < len(reaches) else None


def variants(row: Row, own: Mnemonic, scheme: Scheme) -> Iterator[Mnemonic]:
    """The instructions that access memory as that of a row does, and are not the same to others.

    Whether one that reads and writes returns what it has read, a machine does not say where it has
    it in several spellings. The table does: such a one must be in another of its rows for the same
    operation, whose result is used as well or is not.
    """
    known = scheme.machine.instructions.values()
    rows = [it for it in scheme.rows if it.kind is row.kind and it.results & row.results]
    elsewhere = {each.mnemonic for it in rows for each in it.code}
    for each in known:
        if _access(each) != _access(own) or not serves(each, row.memories, scheme.machine):
            continue
        spelt = each.reads and each.writes and sum(it.stem == each.stem for it in known) > 1
        if _does(each) != _does(own) and (each in elsewhere or not spelt):
            yield each


def _with_other_bits(
    row: Row, template: Template, scheme: Scheme, *, fewer: bool
) -> list[Mnemonic]:
    """Of these, those that have some modifiers less than an access, or more, as few as can be."""
    if not template.accesses:
        return []
    own = template.mnemonic
    found = [it for it in variants(row, own, scheme) if it.stem == own.stem]
    if fewer:
        less = [it for it in found if _fewer(it, own)]
        return [it for it in less if not any(_fewer(it, other) for other in less)]
    more = [it for it in found if _fewer(own, it)]
    return [it for it in more if not any(_fewer(other, it) for other in more)]


def _fewer(one: Mnemonic, other: Mnemonic) -> bool:
    """Whether an instruction has some of another's modifiers, and no others."""
    return {*one.modifiers} < {*other.modifiers}


def _access(it: Mnemonic) -> tuple[bool, bool, str | None]:
    return it.reads, it.writes, it.operator


def _does(it: Mnemonic) -> tuple[object, ...]:
    return it.conditions, it.effects, it.later
