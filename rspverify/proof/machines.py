"""Machines for which the proof is known: what each fact about executions needs of the file.

The facts (docs/proof.md) are about rsp. They hold of every machine all of whose executions are
executions of rsp. So it is with an edited one whose instructions and steps do the same and wait for
no less. A condition that some facts alone need may be missing; these facts are not used then.
"""

from __future__ import annotations

from collections.abc import Iterable

from msgspec import Struct

from rspverify.architecture.architecture import (
    Architecture,
    Condition,
    IsReady,
    Mnemonic,
    StepKind,
    within,
)
from rspverify.architecture.machines import machine_named

BASE = "rsp"
"""The machine whose executions the facts are about."""

LOCKS = frozenset({"lock", "rmw"})
"""Its locks by name: each keeps others out as long as all that should wait for it does."""

_NEEDED_BY = {
    "LD": "a look finds the last store of its L1, or what its fetch got",
    "ST": "a store makes the entry of its L1 DIRTY and VALID",
    "INC_L1": "it looks and stores at once",
    "RMW_L1": "it looks and stores at once",
    "INC_L2": "it reads the L2 and writes it at once, after its own L1 is clean",
    "RMW_L2": "it reads the L2 and writes it at once, after its own L1 is clean",
    "FLU_L1": "what was stored before a flush has arrived when its markers have left",
    "INV_L1": "after an invalidation a look finds a later fetch or store",
    "FLUSH_L1": "stores of one L1 to one location arrive in their order",
    "FETCH_L1": "a fetch gets what has arrived last, and never over a store that has not left",
    "DEQLOC_L1": "a location leaves the fifo once its store has arrived",
    "DEQMARKER_L1": "a marker leaves the fifo after all that is older",
}
"""What would not hold if an instruction or a step were another."""
_FREELY = frozenset({"EVICT_L1", "EVICT_L2", "DEQLOC_L2"})
"""Steps of whose conditions no fact needs any."""


def is_base(machine: Architecture) -> bool:
    """Whether a machine is the one that the facts are about."""
    return machine.meaning_digest == machine_named(BASE).meaning_digest


class MachineFacts(Struct, frozen=True):
    """What is known of all executions of a machine.

    locks: those that keep others out, by name. unknown: why nothing is known; None if it is. less:
    the instructions and steps that wait for less than in rsp, whether or not that counts.
    """

    locks: frozenset[str] = LOCKS
    unknown: str | None = None
    less: tuple[str, ...] = ()


def facts_of(machine: Architecture) -> MachineFacts:
    """What is known of the executions of a machine, as its file tells."""
    base = machine_named(BASE)
    if (machine.kinds, machine.cells, machine.final) != (base.kinds, base.cells, base.final):
        return MachineFacts(unknown="its state is another")
    if machine.reaches != base.reaches:
        return MachineFacts(unknown="its reaches are others")
    if not _waits_for(machine.always, base.always):
        return MachineFacts(unknown="markers may be on their way when a thread goes on")
    if not _waits_for(machine.complete, base.complete):
        return MachineFacts(unknown="an execution may end before all stores have arrived")
    parts: dict[str, Mnemonic | StepKind] = {
        **base.instructions,
        **{it.name: it for it in base.steps},
    }
    lost: set[str] = set()
    less: list[str] = []
    owns: list[Mnemonic | StepKind] = [*machine.instructions.values(), *machine.steps]
    for own in owns:
        known = parts.get(own.name)
        if known is None and isinstance(own, Mnemonic):
            continue  # Rows that have it are refused.
        if known is None or not _does_the_same(own, known):
            return MachineFacts(unknown=_in_doubt(f"{own.name} does something else", own.name))
        missing = [it for it in known.conditions if it not in own.conditions]
        less += [own.name] if missing else []
        locks = [it.lock.kind.structure for it in within(tuple(missing), IsReady)]
        if len(locks) == len(missing):
            lost.update(locks)
        elif own.name not in _FREELY:
            return MachineFacts(unknown=_in_doubt(f"{own.name} waits for less", own.name))
    return MachineFacts(LOCKS - lost, None, tuple(less))


def _in_doubt(what: str, name: str) -> str:
    """What an instruction or a step does otherwise, and the fact that may not hold then."""
    why = _NEEDED_BY.get(name)
    return f"{what} than in {BASE}{f', so that it may be false that {why}' if why else ''}"


def _does_the_same(own: Mnemonic | StepKind, known: Mnemonic | StepKind) -> bool:
    """Whether an instruction or a step does the same as another, whatever it waits for."""
    if isinstance(own, Mnemonic) and isinstance(known, Mnemonic):
        alike = (own.operands, own.reaches, own.later) == (known.operands, known.reaches, ())
    elif isinstance(own, StepKind) and isinstance(known, StepKind):
        alike = (own.place, own.variables) == (known.place, known.variables)
    else:
        alike = False
    return alike and own.effects == known.effects


def _waits_for(own: Iterable[Condition], known: Iterable[Condition]) -> bool:
    """Whether all of some conditions are among others."""
    given = [*own]
    return all(it in given for it in known)
