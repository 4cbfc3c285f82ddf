"""What the lemmas of the enumeration ask of a scheme and of its machine.

docs/engineering.md has the proofs.
"""

from __future__ import annotations

from rspverify.architecture import Architecture, CellKind
from rspverify.scheme import Scheme
from rspverify.scheme.mutants import locks_of

_PROVED_FOR = frozenset(
    {
        "480ecb2da0514e2869546e42367da3cef51d1241ca1b0236cc66c2352e6e3203",  # rsp
        "2814e52faffc912f0cd405c8352c352c5c6e33c49c2db64cc40a7d6a9836818b",  # rsp-coherent-l2
        "35fc04692244aa1213a2dfbabe4aef644febb86d5f3c6dcdde3ed521360c9c67",  # rsp-inv-l2
        "fbf46d670ea82c6e60e8545f59f2630c65d3d5a52a0c08aa131de46452478c70",  # rsp-st-waits
    }
)
"""What the machines say that the lemmas are proved for (`Architecture.meaning_digest`)."""


def proved_for(machine: Architecture) -> bool:
    """Whether the lemmas are proved for a machine. Of any other every program is decided."""
    return machine.meaning_digest in _PROVED_FOR


def alone_may_break(scheme: Scheme) -> bool:
    """Whether a program may break a scheme although no work-groups share what is written."""
    return stores_again(scheme) or not proved_for(scheme.machine)


def smaller_stand(scheme: Scheme) -> bool:
    """Whether programs are sound that smaller ones stand for, if these are."""
    return gives_back(scheme) and proved_for(scheme.machine)


def gives_back(scheme: Scheme) -> bool:
    """Whether each row frees exactly the locks that it has taken itself, and holds none at its end.

    Then no thread ever frees a lock of another. A row that takes a kind of lock while it holds one
    does not count: locks are not counted, so that the first of two that frees it frees it for all,
    and the second may free that of another thread.
    """
    for row in scheme.rows:
        held: dict[CellKind, str | None] = {}
        for template in row.code:
            for lock, taken in locks_of(template):
                if taken == (lock in held):
                    return False
                if taken:
                    held[lock] = template.reach
                elif held.pop(lock) != template.reach:
                    return False
        if held:
            return False
    return True


def stores_again(scheme: Scheme) -> bool:
    """Whether some row stores again what its operation has written.

    Then another store of the same work-group may come in between, and be lost.
    """
    return any(sum(each.mnemonic.writes for each in row.code) > 1 for row in scheme.rows)
