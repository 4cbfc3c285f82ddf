"""Codes that are equivalent on a machine, inferred from the effects of their instructions.

What neither waits for anything nor changes anything may stand anywhere, or go: its step makes no
difference.

Three facts, each about instructions that only wait until counters of the own thread are empty. What
such a counter has only the own thread puts there, when it executes an access: once empty, it stays
so until the next one.

* Waits that stand together may stand in any order, and one of two that wait for the same may go.
  Whatever the order, the thread goes on when all hold, and they go on to hold.
* A wait before an access may go where the same wait follows it, if all that is counted is performed
  in turn. Take an execution without it, and move the execution of the access to where it is
  performed: it is the oldest in its fifo then, so that nothing before it is counted any more, and
  the wait holds. Meanwhile the thread has executed nothing but waits, and nobody else looks at its
  fifo or its counter.
* A wait may be repeated behind an instruction that puts nothing into its counter, as that is still
  empty then: whoever comes there goes on, and nothing is changed.

And one about all that only wait: a code that waits longer does nothing that another cannot.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from itertools import chain

from msgspec import Struct

from rspverify.architecture.acts import Act, Deed, acts
from rspverify.architecture.architecture import (
    All,
    Architecture,
    CellKind,
    Condition,
    Each,
    Effect,
    Element,
    Enter,
    If,
    InSpace,
    IsOldest,
    IsSwitched,
    Lacks,
    Leave,
    Mnemonic,
    cells_of,
    within,
)
from rspverify.scheme.row import Template

Code = tuple[Template, ...]
NOTHING = "it does nothing on this machine"
ANY_ORDER = "what waits for the own accesses may stand in any order"
LONGER = "it waits for all that the scheme waits for there, and else does the same"
HELD = "what it waits for has been waited for, and nothing has been put there since"
TWICE = "the accesses that it waits for are performed in turn, and waited for behind this one"


class _Parts(Struct, frozen=True):
    """A code without what does nothing: the counters that it waits for before each instruction that
    does more than wait, and at its end; and these instructions."""

    waits: tuple[frozenset[Act], ...]
    others: Code

    @property
    def names(self) -> list[tuple[str, str | None]]:
        return [*map(_name, self.others)]


def equivalent(one: Code, other: Code, machine: Architecture) -> str | None:
    """Why two codes are the same to everybody; None where these facts do not say so."""
    one, other = _without_idle(one, machine), _without_idle(other, machine)
    if [*map(_name, one)] == [*map(_name, other)]:
        return NOTHING
    mine, its = _parts(one, machine), _parts(other, machine)
    if mine.names != its.names:
        return None
    if mine.waits == its.waits:
        return ANY_ORDER
    mine, its = _held(mine, machine), _held(its, machine)
    if mine.waits == its.waits:
        return HELD
    return TWICE if _filled(mine, machine).waits == _filled(its, machine).waits else None


def waits_longer(one: Code, other: Code, machine: Architecture) -> bool:
    """Whether the one waits for all that the other waits for, and else does the same, so that each
    execution of it is one of the other: without a wait a thread need not wait, and nobody else
    looks at that.
    """
    one, other = _without_idle(one, machine), _without_idle(other, machine)
    left = list(other)
    for each in one:
        if left and _name(left[0]) == _name(each):
            left.pop(0)
        elif not _is_wait(each):
            break
    else:
        if not left:
            return True
    mine, its = (_filled(_held(_parts(it, machine), machine), machine) for it in (one, other))
    return mine.names == its.names and all(
        more >= fewer for more, fewer in zip(mine.waits, its.waits, strict=True)
    )


def _name(template: Template) -> tuple[str, str | None]:
    return template.mnemonic.name, template.reach


def _is_wait(it: Template) -> bool:
    """Whether an instruction does nothing, but may wait."""
    return not (it.accesses or it.mnemonic.effects or it.mnemonic.later)


def _without_idle(code: Code, machine: Architecture) -> Code:
    """A code without what does nothing, and waits for nothing."""
    if machine.always:
        return code
    return tuple(it for it in code if it.mnemonic.conditions or not _is_wait(it))


def _parts(code: Code, machine: Architecture) -> _Parts:
    waits, others = [frozenset[Act]()], []
    for each in code:
        counters = _counters(each.mnemonic, machine)
        if counters is not None:
            waits[-1] |= counters
        else:
            waits.append(frozenset())
            others.append(each)
    return _Parts(tuple(waits), tuple(others))


def _held(parts: _Parts, machine: Architecture) -> _Parts:
    """The same, as if all that has been waited for were so again behind each instruction that puts
    nothing there.
    """
    waits = list(parts.waits)
    for place, each in enumerate(parts.others):
        effects = _flat(each.mnemonic.effects, machine)
        entered = {it.where.kind for it in effects if isinstance(it, Enter)}
        if not machine.always:  # Which one more instruction would wait for, too.
            waits[place + 1] |= {it for it in waits[place] if it.kind not in entered}
    return _Parts(tuple(waits), parts.others)


def _filled(parts: _Parts, machine: Architecture) -> _Parts:
    """The same, as if counters that are waited for behind an instruction were before it, too, where
    that makes no difference.
    """
    waits = list(parts.waits)
    for place, each in enumerate(parts.others):
        waits[place] |= {
            it for it in waits[place + 1] if it.kind and _in_turn(each.mnemonic, it.kind, machine)
        }
    return _Parts(tuple(waits), parts.others)


def _counters(mnemonic: Mnemonic, machine: Architecture) -> frozenset[Act] | None:
    """What an instruction waits for, if it does nothing but wait for counters of the own thread.

    A counter that nothing ever enters is none: it is always empty. One for each location is another
    where only that of the access is waited for, or those of one memory.
    """
    done = acts(mnemonic)
    if mnemonic.effects or not done or any(it.deed is not Deed.DRAIN for it in done):
        return None
    if not all(isinstance(it, Lacks | All) for it in mnemonic.conditions):
        return None
    waits = frozenset(it for it in done if it.kind and _is_entered(it.kind, machine))
    own = (it.reach == it.kind.place and _own(it.kind, machine) for it in waits if it.kind)
    return waits if all(own) else None


def _own(kind: CellKind, machine: Architecture) -> bool:
    """Whether only instructions of the own thread put something there, when they are executed."""
    return kind.place == machine.places[0] and all(
        mnemonic is not None and it.where.place is None and it.element is Element.SELF
        for mnemonic, it in _entering(kind, machine)
    )


def _is_entered(kind: CellKind, machine: Architecture) -> bool:
    return any(_entering(kind, machine))


def _entering(kind: CellKind, machine: Architecture) -> Iterator[tuple[Mnemonic | None, Enter]]:
    """The instructions that enter a fifo or a pool, and None for steps that do so later."""
    mnemonics = machine.instructions.values()
    later = chain.from_iterable(it.later for it in mnemonics)
    bodies = [(it, it.effects) for it in mnemonics]
    for mnemonic, effects in (*bodies, *((None, it.effects) for it in (*machine.steps, *later))):
        for effect in _flat(effects, machine):
            if isinstance(effect, Enter) and effect.where.kind == kind:
                yield mnemonic, effect


def _in_turn(access: Mnemonic, counter: CellKind, machine: Architecture) -> bool:
    """Whether an access waits for nothing and does nothing at first but to be counted, and all that
    are so are performed in the turn of one fifo of the thread, which they leave when they are
    counted no more.
    """
    if machine.always or not all(isinstance(it, InSpace) for it in access.conditions):
        return False  # What it waits for may hold no more when it is performed.
    entered = [it.where.kind for it in access.effects if isinstance(it, Enter)]
    fifos = [it for it in entered if it != counter and it.place == machine.places[0]]
    if len(entered) != len(access.effects) or set(entered) != {counter, *fifos} or len(fifos) != 1:
        return False
    (fifo,) = fifos
    return (
        not fifo.located
        and _is_private({counter, fifo}, machine)
        and all(
            any(isinstance(it, Enter) and it.where.kind == fifo for it in mnemonic.effects)
            and all(
                any(isinstance(it, IsOldest) and it.fifo.kind == fifo for it in step.conditions)
                and {fifo, counter}
                <= {it.where.kind for it in step.effects if isinstance(it, Leave)}
                for step in mnemonic.later
            )
            for mnemonic, _ in _entering(counter, machine)
            if mnemonic is not None
        )
    )


def _is_private(kinds: Collection[CellKind], machine: Architecture) -> bool:
    """Whether the own thread alone looks into fifos or pools, and no effect depends on them."""
    mnemonics = machine.instructions.values()
    later = [step for it in mnemonics for step in it.later]
    own: list[Condition | Effect] = [*machine.always]
    own += (each for it in mnemonics for each in (*it.conditions, *it.effects))
    own += (each for it in later for each in (*it.conditions, *it.effects))
    steps = [each for it in machine.steps for each in (*it.conditions, *it.effects)]
    effects = [*(it.effects for it in mnemonics), *(it.effects for it in later)]
    decide = [it.conditions for it in within(effects, If)]
    return not (
        any(it.kind in kinds for it in cells_of((*steps, *decide)))
        or any(it.kind in kinds and it.place is not None for it in cells_of(own))
    )


def _flat(effects: tuple[Effect, ...], machine: Architecture) -> Iterator[Effect]:
    """Effects, those that may happen alone; not those of a switch that is off."""
    for effect in effects:
        match effect:
            case If(conditions, inner):
                switched = (it for it in conditions if isinstance(it, IsSwitched))
                if all(machine.is_on(it.switch) is it.on for it in switched):
                    yield from _flat(inner, machine)
            case Each(_, inner):
                yield from _flat(inner, machine)
            case _:
                yield effect
