"""Facts about all executions of a machine, whatever the program, by which questions get smaller.

Each is a predicate over the summaries of the machine's rules, on two work-groups of one device, a
third on another, and two locations in each kind of memory (`everywhere`). docs/proofs.md proves
what follows from each; tests/machine/test_reductions.py has a planted machine for each condition.
"""

from __future__ import annotations

from collections.abc import Collection
from functools import lru_cache
from itertools import chain
from typing import assert_never

from rspverify.architecture.architecture import Architecture, Places, Sort, within
from rspverify.machine import rules as ground
from rspverify.machine.machine import Machine, everywhere
from rspverify.machine.placements import placements
from rspverify.machine.relevance import plain_fifos
from rspverify.machine.rules import Bit, Cell, Fifo, Guard, InstructionRule, Member, Rule, StepRule
from rspverify.records import replace

# ---- Instructions that wait or do nothing --------------------------------------------------------


def freeing(architecture: Architecture) -> str | None:
    """Why an instruction more, or one that reaches further, may allow more; None if none does.

    An instruction that clears bits or sets markers only holds others up where nobody wants such a
    bit false, or a step may make it false at any time, and nobody observes more of a fifo than that
    a marker has left it (docs/proofs.md, «Which code is weaker than another»).
    """
    machine = everywhere(architecture)
    lost = {it.takes_away for it in machine.steps}
    observed = set(machine.fifos) - plain_fifos(machine)
    for rule in chain.from_iterable(machine.code):
        if rule.instruction.mnemonic.reads or rule.instruction.mnemonic.writes:
            continue
        for bit in rule.sets(False):
            if (bit, False) in machine.shapes.wanted and bit not in lost:
                return f"{rule} makes {bit.word} false, which something waits for"
        for fifo in rule.marks:
            if fifo in observed:
                return f"{rule} sets a marker in the fifo of {fifo}, which something looks into"
    return None


@lru_cache
def idle(architecture: Architecture, kind: str) -> frozenset[tuple[str, str | None]]:
    """The instructions, by name and reach, that do nothing in programs of one kind of memory.

    They change nothing, and wait at most for what no such program does, as for accesses of local
    memory where this kind is global memory.
    """
    whole = everywhere(architecture, (kind,))
    may = {rule.instruction.index for code in whole.code for rule in code if not rule.never}
    code = tuple(tuple(it for it in those if it.index in may) for those in whole.program.code)
    machine = Machine(replace(whole.program, code=code), elide=False)
    rules = list(chain.from_iterable(machine.code))

    def names(found: list[InstructionRule]) -> frozenset[tuple[str, str | None]]:
        return frozenset((it.instruction.mnemonic.name, it.instruction.reach) for it in found)

    return names(rules) - names([it for it in rules if it.guards or it.updates])


# ---- Locations that leave no trace at each other -------------------------------------------------


@lru_cache
def locations_are_apart(architecture: Architecture) -> bool:
    """Whether the accesses of a location can be left out of any execution, with all their steps.

    Each rule is about one location, except for counters, which are only waited for to be empty, and
    queues of several locations, in which an access only waits for its turn. An instruction without
    a location only waits, or takes away, at once or later, what may be lost at any time
    (docs/proofs.md, «What need not be decided»).
    """
    machine = replace(everywhere(architecture), evict=True)
    lost = {rule.takes_away for rule in machine.steps}
    never = {it.instruction.index for code in machine.code for it in code if it.never}
    rules = [
        it for it in machine.rules if it.instruction is None or it.instruction.index not in never
    ]
    return (
        all(_only_waits(it) or _is_about_one(it) or _only_loses(it, lost) for it in rules)
        and all(_observes_no_other(guard, it, needed) for it in rules for guard, needed in it.asked)
        and not any(isinstance(it, ground.Ready | ground.Oldest) for it in machine.ending)
        and not any(
            value or machine.starts_true(bit) for bit, value in ground.literals(machine.ending)
        )
    )


def _only_waits(rule: Rule) -> bool:
    """Whether it is an instruction that names no location and only waits."""
    if not isinstance(rule, InstructionRule):
        return False
    return rule.instruction.location is None and not rule.updates


def _is_about_one(rule: Rule) -> bool:
    """Whether it is a step of the machine, or an access with its steps, and all cells that it looks
    at or changes are of one location, except for its own place in pools and queues.
    """
    it = rule.instruction
    if it is not None and it.location is None:
        return False
    found = _locations(rule)
    mine = all(bit.index == _own(rule) for bit in _entered(rule))
    return mine and _queues_itself(rule) and len(found) == 1 and None not in found


def _queues_itself(rule: Rule) -> bool:
    """Whether only its own instruction enters queues of several locations, and leaves in turn."""
    turns = {it.fifo for it in rule.oldest}
    return all(
        _is(it.element, _own(rule)) if isinstance(it, ground.Enqueue) else it.fifo in turns
        for it in rule.flat
        if isinstance(it, ground.Enqueue | ground.Dequeue) and it.fifo.location is None
    )


def _only_loses(rule: Rule, lost: Collection[Bit | None]) -> bool:
    """Whether it is an instruction without a location, or a later step of it, that only makes bits
    false that a step may make false at any time, and enters and leaves pools itself: a step for a
    location leaves pools of that location alone.
    """
    it = rule.instruction
    if it is None or it.location is not None or rule.oldest:
        return False
    own = _entered(rule)
    spoken = _locations(rule) | {bit.location for bit in own}
    return (
        all(bit.index == it.index for bit in own)
        and (isinstance(rule, InstructionRule) or not own or len(spoken) == 1)
        and all(
            isinstance(update, ground.SetBit)
            and (isinstance(update.bit, Member) or (not update.value and update.bit in lost))
            for update in rule.updates
        )
    )


def _own(rule: Rule) -> int | None:
    """The index of the instruction that it is of."""
    return None if rule.instruction is None else rule.instruction.index


def _is(element: ground.Element, own: int | None) -> bool:
    return isinstance(element, ground.Issued) and element.index == own


def _entered(rule: Rule) -> list[Member]:
    """The places in pools that it changes."""
    changed = (it.bit for it in rule.flat if isinstance(it, ground.SetBit))
    return [bit for bit in changed if isinstance(bit, Member)]


def _observes_no_other(guard: Guard, rule: Rule, needed: bool) -> bool:
    """Whether a guard cannot observe other locations: it can only hold sooner without them.

    Who else is in a pool of the instruction's own location is no matter of others. needed: whether
    the rule needs the guard to fire; if not, its failure matters as well.
    """
    own = _own(rule)
    here = None if rule.instruction is None else rule.instruction.location
    match guard:
        case ground.AnyBit(bits):
            others = [(bit, it) for bit, it in bits if isinstance(bit, Member) and bit.index != own]
            others = [(bit, it) for bit, it in others if here is None or bit.location != here]
            return not any(value or not needed for _, value in others)
        case ground.Oldest(fifo, element):
            return fifo.location is not None or (needed and _is(element, own))
        case ground.Without(fifos):
            return needed or all(it.location is not None for it in fifos)
        case ground.Ready():
            return False
        case _:
            assert_never(guard)


def _locations(rule: Rule) -> set[str | None]:
    """The locations of the cells that it looks at or changes; None of a cell that has none, pools
    and queues left out.
    """
    own = None if rule.instruction is None else rule.instruction.location
    cells = chain.from_iterable(map(ground.cells_of, (*rule.guards, *rule.updates)))
    found = {it.location for it in cells if it.location or not isinstance(it, Member | Fifo)}
    return found | {own} if own is not None else found


# ---- Places that may as well not be shared -------------------------------------------------------


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
    """Whether threads that share a place of a kind could as well have one each.

    It is a copy that steps of the place fill, and that may be lost at any time, and everyone speaks
    of the own place alone; or instructions wait there for their turn (docs/proofs.md, «Who shares a
    place»).
    """
    its = machine.program.machine
    sorts = {it.sort for it in its.cells if it.place == kind}
    if sorts <= {Sort.FIFO, Sort.POOL}:
        return (
            not _is_named((its.instructions, its.steps, its.always), kind)
            and not any(step.place == kind for step in its.steps)
            and not any(isinstance(it, ground.Oldest) for it in machine.ending)
            and all(_leaves_in_turn(rule, kind) for rule in machine.rules)
        )
    if _is_named(its, kind) or not sorts <= {Sort.VALUE, Sort.BIT}:
        return False
    become_true = {bit for rule in machine.rules for bit in rule.may_set}
    cells = [it for it in machine.cells if isinstance(it, Bit) and _of(it, kind)]
    bits = {it for it in cells if it in become_true or machine.starts_true(it)}
    return (
        bits <= {rule.takes_away for rule in machine.steps}
        and bits.isdisjoint(bit for bit, _ in ground.literals(machine.ending))
        and all(_fills(rule, kind) or _only_takes_away(rule, kind) for rule in machine.rules)
    )


def _leaves_in_turn(rule: Rule, kind: str) -> bool:
    """Whether a rule takes nothing but its own instruction out of fifos of a place, and no effect
    depends on what is there.
    """
    parts = (*rule.oldest, *rule.flat)
    left = [it.fifo for it in parts if isinstance(it, ground.Oldest | ground.Dequeue)]
    asked = (guard for guard, needed in rule.asked if not needed)
    return not any(_of(cell, kind) for guard in asked for cell in ground.cells_of(guard)) and all(
        fifo in rule.turns for fifo in left if _of(fifo, kind)
    )


def _is_named(part: object, kind: str) -> bool:
    """Whether variables stand for places of a kind, or for those inside or outside one."""
    return any(kind in (it.kind, it.inside, it.outside) for it in within(part, Places))


def _fills(rule: Rule, kind: str) -> bool:
    """Whether a step of a place only copies values from outside, whatever the copy was."""
    return (
        isinstance(rule, StepRule)
        and rule.structure.place.kind == kind
        and not any(_of(bit, kind) for bit, _ in rule.literals)
        and all(
            (isinstance(it, ground.Copy) and _of(it.target, kind) and not _of(it.source, kind))
            or (isinstance(it, ground.SetBit) and it.value and _of(it.bit, kind))
            for it in rule.updates
        )
    )


def _only_takes_away(rule: Rule, kind: str) -> bool:
    """Whether a rule changes nothing in places of a kind, except that it makes bits false."""
    changed: list[Cell] = [*rule.may_set, *rule.changed_words]
    return not any(_of(it, kind) for it in changed)


def _of(cell: Cell | Fifo, kind: str) -> bool:
    return cell.structure.place.kind == kind
