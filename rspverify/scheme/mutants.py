"""One-step mutants of a scheme: what a slip of whoever wrote the table would have made of it."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from enum import StrEnum
from itertools import zip_longest

from msgspec import Struct

from rspverify.architecture.acts import Deed, acts
from rspverify.architecture.architecture import CellKind, Mnemonic
from rspverify.convert import Place
from rspverify.litmus.program import Scope
from rspverify.records import replace
from rspverify.scheme.memory import serves
from rspverify.scheme.row import Row, Template
from rspverify.scheme.scheme import Scheme

Code = tuple[Template, ...]


class Mutation(StrEnum):
    """The kinds of step from a code to a mutant of it."""

    DROP = "drop"
    DROP_PAIR = "drop pair"
    NARROW = "narrow"
    SWAP = "swap"
    WIDEN = "widen"


class Step(Struct, frozen=True):
    """A step at one instruction of a code.

    place: of the instruction, from 1; instruction: as the code has it. words: the step in words,
    as in `swap with ST r x`. removes: the places of the instructions that are gone after it.
    """

    mutation: Mutation
    place: Place
    instruction: str
    words: str
    removes: tuple[Place, ...] = ()


class Mutant(Struct, frozen=True):
    """A code that is one step from that of a row, and no other mutant of the row has it.

    also: other steps that lead to the same code, as dropping either of two equal neighbours does.
    """

    row: Row
    step: Step
    code: Code
    also: tuple[Step, ...] = ()

    @property
    def steps(self) -> tuple[Step, ...]:
        """Every step that leads to it."""
        return (self.step, *self.also)

    @property
    def name(self) -> str:
        """A name among the mutants of the scheme, as in `row6-2-narrow`."""
        mutation = self.step.mutation.value.replace(" ", "-")
        return f"row{self.row.number}-{self.step.place}-{mutation}"

    def of(self, scheme: Scheme) -> Scheme:
        """The scheme with this code in place of its row's, under a name that says so."""
        changed = scheme.with_code(self.row.number, self.code)
        return replace(changed, name=f"{scheme.name}-{self.name}")


class RowMutants(Struct, frozen=True):
    """The mutants of a row, in the order of its code; unchanged: steps that lead to its own."""

    row: Row
    mutants: tuple[Mutant, ...]
    unchanged: tuple[Step, ...] = ()


def mutants_of(scheme: Scheme) -> tuple[RowMutants, ...]:
    """Every mutant of every row: one without an instruction, with a narrower one, and so on.

    The access of a row stays, as without it a row means nothing; of several stores of its value
    any but one may go. A read-modify-write stays before what stores its value again.
    """
    return tuple(_different(row, _weaker(row, scheme)) for row in scheme.rows)


def wider_mutants_of(scheme: Scheme) -> tuple[RowMutants, ...]:
    """Every mutant in which one instruction reaches one step further.

    On one device the whole system is no more than that device, so that nothing is widened to it but
    in schemes that have a row for the scope of all devices.
    """
    across = any(Scope.ALL in row.scopes for row in scheme.rows)
    reaches, system = scheme.machine.reaches, scheme.machine.places[-1]
    pointless = {it for it, kind in reaches.items() if kind == system and not across}
    return tuple(_different(row, _wider(row, scheme, pointless)) for row in scheme.rows)


def _different(row: Row, steps: Iterator[tuple[Step, Code]]) -> RowMutants:
    """Each code once, with every step that leads to it."""
    found: dict[tuple[str, ...], tuple[Code, list[Step]]] = {}
    for step, code in steps:
        found.setdefault(tuple(map(str, code)), (code, []))[1].append(step)
    _, unchanged = found.pop(tuple(map(str, row.code)), ((), []))
    mutants = (Mutant(row, first, code, tuple(also)) for code, (first, *also) in found.values())
    return RowMutants(row, tuple(mutants), tuple(unchanged))


def _weaker(row: Row, scheme: Scheme) -> Iterator[tuple[Step, Code]]:
    """Every step at each instruction in turn; a pair belongs to the one that takes the lock."""
    code = row.code
    pairs = dict(lock_pairs(code))
    for place, (template, after) in enumerate(zip_longest(code, code[1:])):
        here, name = place + 1, str(template)
        before, rest = code[:place], code[place + 1 :]
        if not template.accesses or stored_elsewhere(code, place):
            yield Step(Mutation.DROP, here, name, "drop", (here,)), (*before, *rest)
        if place in pairs:
            other = pairs[place]
            words, removes = f"drop with {code[other]}", (here, other + 1)
            left = (*before, *code[place + 1 : other], *code[other + 1 :])
            yield Step(Mutation.DROP_PAIR, here, name, words, removes), left
        if narrower := _reach(template, -1):
            step = Step(Mutation.NARROW, here, name, f"narrow to {narrower}")
            yield step, (*before, replace(template, reach=narrower), *rest)
        for fewer in _with_other_bits(row, template, scheme, fewer=True):
            lost = " ".join(it for it in template.mnemonic.modifiers if it not in fewer.modifiers)
            step = Step(Mutation.NARROW, here, name, f"without {lost}")
            yield step, (*before, replace(template, mnemonic=fewer), *rest)
        if after and not (template.accesses and after.accesses):
            step = Step(Mutation.SWAP, here, name, f"swap with {after}")
            yield step, (*before, after, template, *rest[1:])


def stored_elsewhere(code: Code, place: int) -> bool:
    """Whether an instruction only stores what another one of the code writes, too."""
    writes = [at for at, each in enumerate(code) if each.mnemonic.writes]
    return place in writes and not code[place].mnemonic.reads and len(writes) > 1


def _wider(row: Row, scheme: Scheme, pointless: Collection[str]) -> Iterator[tuple[Step, Code]]:
    code = row.code
    for place, template in enumerate(code):
        wider = _reach(template, +1)
        if wider and wider not in pointless:
            step = Step(Mutation.WIDEN, place + 1, str(template), f"widen to {wider}")
            yield step, (*code[:place], replace(template, reach=wider), *code[place + 1 :])
        for more in _with_other_bits(row, template, scheme, fewer=False):
            added = " ".join(it for it in more.modifiers if it not in template.mnemonic.modifiers)
            step = Step(Mutation.WIDEN, place + 1, str(template), f"with {added}")
            yield step, (*code[:place], replace(template, mnemonic=more), *code[place + 1 :])


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
