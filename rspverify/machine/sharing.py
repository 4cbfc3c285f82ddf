"""Which places it matters to share. Of others nothing is lost if as few as may be share one.

docs/machine.md, «Who shares a place», has the argument.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache

from rspverify.architecture import Architecture, CellKind, Places, Sort
from rspverify.machine.machine import Machine, everywhere
from rspverify.machine.placements import placements
from rspverify.machine.rules import (
    AnyBit,
    Assign,
    Bit,
    Cell,
    Copy,
    Dequeue,
    Fifo,
    Issued,
    Oldest,
    Rule,
    SetBit,
    StepRule,
    cells_of,
    plain,
)
from rspverify.records import fields_of, is_record, replace


def placed(machine: Machine) -> list[Machine]:
    """A machine for each placement of its threads that matters; itself if one is said."""
    program = machine.program
    if program.placement or not program.machine.kinds.open:
        return [machine]
    shared = shared_with_effect(program.machine)
    ways = placements(program.machine.kinds, program.threads, shared)
    return [replace(machine, program=replace(program, placement=it)) for it in ways]


@lru_cache
def shared_with_effect(architecture: Architecture) -> tuple[str, ...]:
    """The kinds of places of which programs do not say who is in them, and where that matters."""
    machine = replace(everywhere(architecture), evict=True)
    return tuple(kind for kind in architecture.kinds.open if not _may_be_own(machine, kind))


def _may_be_own(machine: Machine, kind: str) -> bool:
    """Whether what several have in one place of a kind could as well be each one's own.

    It is a copy that steps of the place fill, and that may be lost at any time, and everyone speaks
    of the own place alone; or what waits there for its turn.
    """
    architecture = machine.program.machine
    sorts = {it.sort for it in architecture.cells if it.place == kind}
    if sorts <= {Sort.FIFO, Sort.POOL}:
        return _only_holds_up(machine, kind)
    spoken_of = {name for it in _binders(architecture) for name in (it.kind, it.inside, it.outside)}
    if kind in spoken_of or not sorts <= {Sort.VALUE, Sort.BIT}:
        return False
    cells = [it for it in machine.cells if isinstance(it, Bit) and _of(it, kind)]
    become_true = {bit for rule in machine.rules for bit in rule.may_set}
    bits = {it for it in cells if it in become_true or machine.starts_true(it)}
    wanted = {bit for guard in machine.ending if isinstance(guard, AnyBit) for bit, _ in guard.bits}
    lost = {rule.takes_away for rule in machine.steps}
    return (
        bits <= lost
        and not bits & wanted
        and all(_fills(rule, kind) or _takes(rule, kind) for rule in machine.rules)
    )


def _only_holds_up(machine: Machine, kind: str) -> bool:
    """Whether a place has instructions alone, which wait for their turn or for others to be gone.

    Those that are in another place hold up nobody.
    """
    its = machine.program.machine
    said = (its.instructions, its.steps, its.always)
    spoken_of = {name for it in _binders(said) for name in (it.kind, it.inside, it.outside)}
    if kind in spoken_of or any(step.place == kind for step in its.steps):
        return False
    ends = not any(isinstance(it, Oldest) for it in machine.ending)
    return ends and all(_leaves_in_turn(rule, kind) for rule in machine.rules)


def _leaves_in_turn(rule: Rule, kind: str) -> bool:
    """Whether a rule takes nothing out of fifos but its own instruction, and asks no more of them.

    What it does depends on nothing in such a place.
    """
    asked = [guard for when in rule.conditional for guard in when.guards]
    oldest = [it for it in rule.guards if isinstance(it, Oldest) and _of(it.fifo, kind)]
    own = {it.fifo for it in oldest if isinstance(it.element, Issued)}
    left = [it.fifo for it in plain(rule.updates) if isinstance(it, Dequeue)]
    return (
        not any(_of(cell, kind) for guard in asked for cell in cells_of(guard))
        and all(it.fifo in own for it in oldest)
        and all(it in own for it in left if _of(it, kind))
    )


def _binders(part: object) -> Iterator[Places]:
    """The places that variables stand for, wherever."""
    if isinstance(part, Places):
        yield part
    elif isinstance(part, CellKind):
        return
    elif is_record(part):
        for each in fields_of(part):
            yield from _binders(getattr(part, each))
    elif isinstance(part, dict):
        for it in part.values():
            yield from _binders(it)
    elif isinstance(part, tuple):
        for it in part:
            yield from _binders(it)


def _fills(rule: Rule, kind: str) -> bool:
    """Whether a step of a place does nothing but to copy what is outside, whatever the copy is."""
    if not isinstance(rule, StepRule) or rule.structure.place.kind != kind:
        return False
    if any(bit.structure.place.kind == kind for bit, _ in rule.literals):
        return False
    return all(
        (isinstance(it, Copy) and _of(it.target, kind) and not _of(it.source, kind))
        or (isinstance(it, SetBit) and it.value and _of(it.bit, kind))
        for it in rule.updates
    )


def _takes(rule: Rule, kind: str) -> bool:
    """Whether a rule, of what is in places of a kind, only takes away."""
    return not any(
        (isinstance(it, SetBit) and it.value and _of(it.bit, kind))
        or (isinstance(it, Copy | Assign) and _of(it.target, kind))
        for it in rule.may_change
    )


def _of(cell: Cell | Fifo, kind: str) -> bool:
    return cell.structure.place.kind == kind
