"""What the lemmas of the enumeration ask of a scheme and of its machine.

docs/engineering.md has the proofs.
"""

from __future__ import annotations

from rspverify.architecture import Architecture, CellKind
from rspverify.scheme import Scheme
from rspverify.scheme.mutants import locks_of

_PROVED_FOR = frozenset(
    {
        "cece1e1725844e66738da049ce2532e430082d8c562ff452c21f6525cb9e3035",  # rsp
        "58e40983b302495ef1199900bb54e4db8a32a51409d2bdbfb85714196fcbeda7",  # rsp-coherent-l2
        "5412d0cdbd068a4cbcb244bd3b23f6717553653c2557b1619097a0b2774aa6d4",  # rsp-inv-l2
        "64697b82f5fc9b0a3d18a03992e6523d30e4a4c37b8d1fb39e09f6aadbf9c819",  # rsp-st-waits
        "c923af6006052d82ad44e6741dee333215899ddd352b5a6394b4d803b1bcf611",  # rsp-lines
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
