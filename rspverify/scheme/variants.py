"""Which instructions may do the access of a row in place of its own, told from their effects."""

from __future__ import annotations

from collections.abc import Iterator

from rspverify.architecture import Mnemonic
from rspverify.scheme.memory import serves
from rspverify.scheme.scheme import Row, Scheme


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


def with_fewer_bits(row: Row, own: Mnemonic, scheme: Scheme) -> list[Mnemonic]:
    """Of these, those that lack a modifier of its own, and as few as can be."""
    mine = set(own.modifiers)
    found = [
        each
        for each in variants(row, own, scheme)
        if each.stem == own.stem and set(each.modifiers) < mine
    ]
    return [it for it in found if not any(set(it.modifiers) < set(o.modifiers) for o in found)]


def with_more_bits(row: Row, own: Mnemonic, scheme: Scheme) -> list[Mnemonic]:
    """Of these, those that have a modifier more, and as few as can be."""
    mine = set(own.modifiers)
    found = [
        each
        for each in variants(row, own, scheme)
        if each.stem == own.stem and set(each.modifiers) > mine
    ]
    return [it for it in found if not any(set(it.modifiers) > set(o.modifiers) for o in found)]


def _access(it: Mnemonic) -> tuple[bool, bool, str | None]:
    return it.reads, it.writes, it.operator


def _does(it: Mnemonic) -> tuple[object, ...]:
    return it.conditions, it.effects, it.later
